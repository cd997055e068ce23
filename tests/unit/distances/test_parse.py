"""Distances as the command line writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldiversity.distances import (
    CyclicDistance,
    DiscreteDistance,
    Distance,
    IcdDistance,
    MatrixDistance,
    NumericDistance,
    OrderedDistance,
    SemilatticeDistance,
    TreeDistance,
    parse_distance,
)
from ldiversity.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "distance"),
    [
        ("discrete", DiscreteDistance()),
        ("ordered", OrderedDistance()),
        (" ordered ", OrderedDistance()),
        ("cyclic", CyclicDistance()),
        ("numeric", NumericDistance()),
        ("numeric:10", NumericDistance(unit=10)),
        ("numeric:0.5", NumericDistance(unit=0.5)),
        ("tree:icd10cm", IcdDistance()),
    ],
)
def test_a_short_form_gives_its_distance(text: str, distance: Distance) -> None:
    assert parse_distance(text) == distance


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("tree", "a;x\nb;x\n", TreeDistance),
        ("semilattice", "a;x\nb;x\n", SemilatticeDistance),
        ("matrix", ";a;b\na;0;1\nb;1;0\n", MatrixDistance),
    ],
)
def test_a_file_is_found_from_the_base_folder(tmp_path: Path, kind: str, content: str, expected: type) -> None:
    (tmp_path / "some:file.csv").write_text(content, encoding="utf-8")

    assert isinstance(parse_distance(f"{kind}:some:file.csv", tmp_path), expected)


def test_an_absolute_path_needs_no_base(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("a;x\n", encoding="utf-8")

    assert parse_distance(f"tree:{path}", Path("elsewhere")) == TreeDistance.read(path)


def test_without_base_a_path_starts_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tree.csv").write_text("a;x\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert parse_distance("tree:tree.csv") == TreeDistance.read("tree.csv")


@pytest.mark.parametrize("kind", ["tree", "semilattice", "matrix"])
def test_a_missing_file_is_one_sentence(tmp_path: Path, kind: str) -> None:
    with pytest.raises(
        ParameterError, match=r"^distance: file '.*none.csv' cannot be opened: no such file or directory\.\nHint: Check"
    ):
        parse_distance(f"{kind}:none.csv", tmp_path)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "start with a known kind, got ''"),
        ("near", "start with a known kind, got 'near'"),
        ("near:file", "start with a known kind"),
        ("tree", "must be written tree:<file>"),
        ("matrix:", "must be written matrix:<file>"),
        ("ordered:3", "must be written ordered,"),
        ("discrete:", "must be written discrete,"),
        ("numeric:", "must be written numeric:<unit>"),
        ("numeric:ten", "must be written numeric:<unit>"),
    ],
)
def test_a_wrong_form_is_refused_with_the_known_ones(text: str, rule: str) -> None:
    with pytest.raises(ParameterError, match=rule + r"[^\n]*\nHint: Known are discrete, ordered, cyclic, numeric"):
        parse_distance(text)


@pytest.mark.parametrize("text", ["numeric:0", "numeric:-2", "numeric:nan", "numeric:inf"])
def test_a_wrong_unit_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="unit must be"):
        parse_distance(text)
