"""A mechanism that a stranger writes from scratch, with partition draws, works everywhere."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.faces.cli import cli
from ldiversity.mechanisms import MECHANISMS, UniformSelection, mechanism_from_dict
from ldiversity.methods import METHODS

TOYS = Path(__file__).parent / "toys"
DISEASES = ld.Domain(("cold", "cut", "flu", "gout", "mumps", "sty"))
ROLES: dict[str, Any] = {"quasi": "age", "sensitive": {"disease": DISEASES}, "method": "decks:l=3"}


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(TOYS))
    module = importlib.import_module("toy_mechanism")
    with MECHANISMS.registered("deck", module.Deck), METHODS.registered("decks", module.Decks):
        yield module


@pytest.fixture(scope="module")
def visits() -> pa.Table:
    """Everybody twice."""
    drawn = np.random.default_rng(3)
    who = np.repeat(np.arange(150), 2)
    return pa.table({"who": who, "age": 20 + who % 60, "disease": drawn.choice(DISEASES.values, 300)})


def test_its_facts_are_those_of_uniform_selection_which_draws_the_same_sets(toy: Any) -> None:
    deck, uniform = toy.Deck(6, 3), UniformSelection(6, 3)

    np.testing.assert_allclose(deck.inclusion, uniform.inclusion)
    np.testing.assert_allclose(deck.variance_factors, uniform.variance_factors)
    prior = np.array([5.0, 1, 1, 2, 1, 1])
    assert deck.worst_posterior(prior) == pytest.approx(uniform.worst_posterior(prior))


def test_a_frozen_mechanism_is_read_with_the_version_that_drew_it(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy.Deck, "version", 2)
    described = toy.Deck(6, 3).to_dict() | {"version": 1}

    assert mechanism_from_dict(described, DISEASES).version == 1


def test_sets_of_a_person_are_equal_or_disjoint(visits: pa.Table, tmp_path: Path) -> None:
    ld.anonymize(visits, **ROLES, plain="who", person="who", confirm="who", output=tmp_path / "release")

    release = ld.load_release(tmp_path / "release")

    release.verify()
    table = pa.table(release.table)
    sets: dict[int, set[tuple[str, ...]]] = {}
    for who, members in zip(table["who"].to_pylist(), table["disease"].to_pylist(), strict=True):
        sets.setdefault(who, set()).add(tuple(members))
    assert any(len(own) > 1 for own in sets.values())
    assert all(len(set().union(*own)) == 3 * len(own) for own in sets.values())


def test_it_works_in_every_face(visits: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pc.write_csv(visits, "visits.csv")
    roles = ("--quasi", "age", "--sensitive", "disease", "--person", "who", "--method", "decks")
    for words in (
        ("plan", "visits.csv", *roles),
        ("anonymize", "visits.csv", *roles, "-o", "release"),
        ("audit", "release"),
        ("estimate", "release"),
        ("attack", "release", "--original", "visits.csv", "--attacks", "mechanism"),
        ("report", "release", "-o", "report.html"),
        ("compare", "visits.csv", *roles[:4], "--methods", "decks", "-l", "2", "--queries", "5", "--seed", "1"),
    ):
        done = CliRunner().invoke(cli, words, prog_name="ldiversity", catch_exceptions=False)
        assert done.exit_code == 0, done.output
    assert "equal or disjoint" in ld.user_report(ld.load_release("release")).to_html()
