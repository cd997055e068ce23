"""An entry that a stranger registers works everywhere: its own class, one registration, and no list elsewhere.

Toys of the smaller registries: an estimator without a formula for its errors, an attack, a distance, a way to make
hierarchies, and an input format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.base.arrays import FloatArray
from ldiversity.base.registry import Registry
from ldiversity.datasets import patients
from ldiversity.distances import DISTANCES, parse_distance
from ldiversity.entries import ENTRIES
from ldiversity.estimation import (
    CLASS_ESTIMATORS,
    ESTIMATORS,
    CellData,
    ClassCells,
    ClassEstimator,
    ClassSolution,
    Solution,
)
from ldiversity.evaluation.attacks import ATTACKS, Beliefs, Targets
from ldiversity.faces.cli import cli
from ldiversity.hierarchies import HIERARCHY_MAKERS, HierarchyMaker
from ldiversity.mechanisms import MECHANISMS, SetMechanism, UniformSelection
from ldiversity.methods import RandomizingMethod
from ldiversity.tables import FILE_ENDINGS, open_source

QUASI = ["age", "sex"]


class EvenCounts(ld.Estimator):
    """Says that all values are equally frequent, and nothing about how wrong that is."""

    name: ClassVar[str] = "toy-even"
    summary: ClassVar[str] = "Equal counts."

    def _solve(self, cells: CellData) -> Solution:
        even = np.repeat(cells.records[:, None] / cells.n_values, cells.n_values, axis=1)
        return Solution(even, (self.name,) * cells.n_cells)


class EvenClasses(ClassEstimator):
    """The same for grouped releases."""

    name: ClassVar[str] = "toy-even"
    summary: ClassVar[str] = "Equal counts."

    def solve(self, cells: ClassCells) -> ClassSolution:
        counts = np.clip(cells.counts.mean(axis=1, keepdims=True), cells.least, cells.greatest)
        return ClassSolution(counts, counts, None, self.name, ())


@dataclass(frozen=True)
class FirstValue(ld.Attack):
    """Names the first value of the domain for everyone."""

    name: ClassVar[str] = "toy-first"
    compared: ClassVar[bool] = True

    @property
    def knowledge(self) -> str:
        return "They know the domain."

    def beliefs(self, release: ld.Release, targets: Targets, attribute: str) -> Beliefs:
        probability = np.eye(1, len(release.domain(attribute)))
        return Beliefs(probability, np.zeros(targets.n, dtype=np.int64))


@dataclass(frozen=True)
class LengthDistance(ld.Distance):
    """How much the lengths of two texts differ."""

    kind: ClassVar[str] = "toy-length"
    form: ClassVar[str] = "toy-length"

    def matrix(self, domain: ld.Domain) -> FloatArray:
        lengths = np.array([len(str(value)) for value in domain.values], dtype=float)
        return np.abs(lengths[:, None] - lengths)

    def to_dict(self, domain: ld.Domain) -> dict[str, Any]:  # noqa: ARG002 - the same on every domain
        return {"kind": self.kind}

    @classmethod
    def from_dict(cls, described: dict[str, Any], domain: ld.Domain) -> ld.Distance:  # noqa: ARG003 - same
        return cls()


class Lottery(UniformSelection):
    """Uniform selection under a name of its own."""

    kind: ClassVar[str] = "toy-lottery"


@dataclass(frozen=True)
class LotteryMethod(RandomizingMethod):
    """Hides each value among two others by the lottery; it has no parameter."""

    name: ClassVar[str] = "toy-lottery"

    def fit(self, domain: ld.Domain) -> SetMechanism:
        return Lottery(len(domain), 3)


class ParityMaker(HierarchyMaker):
    """Odd and even numbers."""

    form: ClassVar[str] = "toy-parity"

    def make(self, argument: str, limits: Mapping[str, float | str]) -> ld.Hierarchy:  # noqa: ARG002 - has none
        rows = [(str(value), "odd" if int(str(value)) % 2 else "even", "any") for value in self.values]
        return ld.Hierarchy.from_rows(rows)


def open_semicolons(path: Path, types: Mapping[str, str] | None) -> Any:
    """A table with semicolons."""
    lines = [line.split(";") for line in path.read_text(encoding="utf-8").splitlines()]
    columns = dict(zip(lines[0], zip(*lines[1:], strict=True), strict=True))
    return open_source(pa.table({name: list(cells) for name, cells in columns.items()}), types=types)


TOYS: list[tuple[Registry[Any], str, Any]] = [
    (ESTIMATORS, "toy-even", EvenCounts),
    (CLASS_ESTIMATORS, "toy-even", EvenClasses),
    (ATTACKS, "toy-first", FirstValue),
    (DISTANCES, "toy-length", LengthDistance),
    (MECHANISMS, "toy-lottery", Lottery),
    (HIERARCHY_MAKERS, "toy-parity", ParityMaker),
    (FILE_ENDINGS, ".toysemi", open_semicolons),
]


@pytest.fixture(autouse=True)
def toys() -> Iterator[None]:
    for registry, name, toy in TOYS:
        registry.register(name, toy)
    yield
    for registry, name, _ in TOYS:
        registry.withdraw(name)


@pytest.fixture(params=[ld.RandomizedAddition(l=3), ld.Mondrian(l=3), ld.Anatomy(l=3)], ids=lambda one: one.name)
def release(request: pytest.FixtureRequest) -> ld.Release:
    return ld.anonymize(patients(200, seed=3), quasi=QUASI, sensitive="disease", drop="name", method=request.param)


def run(*words: str) -> str:
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert done.exit_code in {0, 1}, done.output
    return done.output


def test_there_is_a_toy_of_every_registry() -> None:
    """Toys of models and methods have a file of their own, `test_toy_model_and_method.py`."""
    assert {registry.kind for registry, _, _ in TOYS} | {"models"} == set(ENTRIES)


def test_a_mechanism_is_saved_loaded_checked_and_estimated_from(tmp_path: Path) -> None:
    people = patients(300, seed=3)
    how = {"quasi": QUASI, "sensitive": "disease", "method": LotteryMethod()}
    ld.anonymize(people, **how, output=tmp_path / "release")

    loaded = ld.load_release(tmp_path / "release")

    loaded.verify()
    assert ld.audit(loaded).passed
    assert ld.estimate(loaded, estimator="linear").records.sum() == 300
    assert "toy-lottery" in ld.user_report(loaded).to_html()
    assert "toy-lottery" in repr(loaded)


@pytest.mark.parametrize("kind", ENTRIES)
def test_every_entry_has_the_name_under_which_it_is_registered(kind: str) -> None:
    for name, entry in Registry[Any](kind, ENTRIES[kind]).items():
        assert getattr(entry, "name", getattr(entry, "kind", name)) == name


def test_an_estimator_without_errors_states_none_in_any_face(release: ld.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "release")

    result = ld.estimate(release, by="sex", estimator="toy-even")

    assert set(result.estimator) == {"toy-even"}
    unknown = result.low != result.high
    assert np.isnan(result.std_error[unknown]).all()
    assert any("errors" in caveat and "are empty" in caveat for caveat in result.caveats)
    assert result._repr_html_()
    assert "toy-even" in run("estimate", str(tmp_path / "release"), "--by", "sex", "--estimator", "toy-even")
    assert ld.estimate(release, estimator=type(EvenCounts())() if release.layout == "sets" else EvenClasses()).n_cells


def test_an_attack_runs_in_every_face(release: ld.Release, tmp_path: Path) -> None:
    people = patients(200, seed=3)
    release.save(tmp_path / "release")

    (result,) = ld.attack(release, people, attacks="toy-first").results

    assert result.found == 200
    assert any(one.attack == "toy-first" for one in ld.attack(release, people, targets=20).results)
    assert "toy-first" in run("attack", str(tmp_path / "release"), "--attacks", "toy-first")
    assert "toy-first" in ld.holder_report(release, people).to_html()


def test_an_attack_of_a_stranger_is_run_in_comparisons() -> None:
    roles = {"quasi": QUASI, "sensitive": "disease"}
    found = ld.compare(patients(150, seed=3), **roles, l=[2], methods=["anatomy"], queries=5, seed=1)

    assert found.rows[0].reason is None
    assert "toy-first" in str(found.rows[0].attacks)


def test_a_distance_publishes_is_saved_and_loaded(tmp_path: Path) -> None:
    method = ld.SemanticDiversity(l=2, d=1, distance=parse_distance("toy-length"))
    people = patients(200, seed=3)

    release = ld.anonymize(people, quasi=QUASI, sensitive="job", method=method, output=tmp_path / "release")

    loaded = ld.load_release(tmp_path / "release")
    loaded.verify()
    assert loaded.mechanism("job").to_dict() == release.mechanism("job").to_dict()
    assert ld.audit(loaded).passed
    with pytest.raises(ld.ParameterError, match=r"must be written toy-length, got 'toy-length:3'"):
        parse_distance("toy-length:3")


def test_a_made_hierarchy_and_an_input_format_work_on_the_command_line(tmp_path: Path) -> None:
    table = tmp_path / "people.toysemi"
    rows = [f"{20 + i % 30};{'abcd'[i % 4]}" for i in range(120)]
    table.write_text("age;disease\n" + "\n".join(rows), encoding="utf-8")
    words = ["anonymize", str(table), "--quasi", "age", "--sensitive", "disease", "--type", "age=integer"]

    run(*words, "--method", "incognito", "-l", "2", "--hierarchy", "age=toy-parity", "-o", str(tmp_path / "release"))

    published = pa.table(ld.load_release(tmp_path / "release").table)
    assert set(published["age"].to_pylist()) <= {str(age) for age in range(20, 50)} | {"odd", "even", "any"}
