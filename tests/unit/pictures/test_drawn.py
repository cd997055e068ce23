"""Answers with a picture give it as a figure, as a file, within axes of others, and as text."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure

import ldiversity as ld
from ldiversity.pictures import Drawn

PEOPLE = ld.datasets.patients(300, seed=1)


def estimated(by: str | None) -> ld.Estimate:
    release = ld.anonymize(PEOPLE, quasi=["age", "sex"], sensitive="disease", method=ld.RandomizedAddition(l=3))
    return ld.estimate(release, by=by)


def compared() -> ld.Comparison:
    return ld.compare(PEOPLE, quasi="age", sensitive="disease", l=[2, 3], methods=["anatomy"], queries=5, seed=1)


@pytest.fixture(scope="module", params=["one cell", "few cells", "many cells", "comparison"])
def drawn(request: pytest.FixtureRequest) -> Drawn:
    by = {"one cell": None, "few cells": "sex", "many cells": "age"}
    return compared() if request.param == "comparison" else estimated(by[request.param])


def test_it_draws_into_given_axes_and_nowhere_else(drawn: Drawn) -> None:
    left, right = Figure().subplots(1, 2)

    assert drawn.plot(ax=right) is right
    assert right.has_data()
    assert not left.has_data()


def test_it_is_svg_text_without_a_file(drawn: Drawn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert ET.fromstring(drawn.svg()).tag.endswith("svg")  # noqa: S314 - our own text
    assert list(tmp_path.iterdir()) == []


def test_it_is_written_to_a_file(drawn: Drawn, tmp_path: Path) -> None:
    assert drawn.plot(tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_it_must_be_known_where_to_draw(drawn: Drawn, tmp_path: Path) -> None:
    with pytest.raises(ld.ParameterError, match="either path or ax must be given"):
        drawn.plot()  # type: ignore[call-overload]
    with pytest.raises(ld.ParameterError, match="either path or ax must be given"):
        drawn.plot(tmp_path / "picture.png", ax=Figure().subplots())  # type: ignore[call-overload]
