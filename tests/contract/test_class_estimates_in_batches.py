"""Estimates from grouped releases within a memory setting have the figures of those without."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import ParameterError, ReleaseFormatError, UnsupportedError
from ldiversity.estimation import CLASS_ESTIMATORS, ClassCells, ClassEstimator, ClassSolution, Estimate, bins, groups
from ldiversity.estimation._limits import Limits
from ldiversity.schema import Role

ROWS = 1_200
MEMORY = "500MB"
QUASI = ["sex", "age", "wage", "zip", "since"]


def people() -> pa.Table:
    rng = np.random.default_rng(3)
    ages = rng.integers(18, 80, ROWS)
    return pa.table(
        {
            "sex": pa.array(["f", "m"]).take(pa.array(rng.integers(0, 2, ROWS))),
            "age": pa.array(ages, mask=ages == 40),
            "wage": rng.normal(40, 12, ROWS),
            "zip": [f"{130 + i % 4}{i % 90:02d}" for i in range(ROWS)],
            "since": pa.array([dt.date(2020, 1, 1) + dt.timedelta(days=i % 400) for i in range(ROWS)], pa.date32()),
            "note": [f"n{i % 5}" for i in range(ROWS)],
            "job": rng.integers(0, 9, ROWS),
            "grade": rng.integers(0, 5, ROWS),
        }
    )


@pytest.fixture(autouse=True)
def _small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(10**6, 10**6, 10**6, 10**6, class_rows=150)
    monkeypatch.setattr(Limits, "within", lambda _: limits)


ZIPS = ld.Hierarchy(tuple((f"{a}{b:02d}", f"{a}**", "*") for a in range(130, 134) for b in range(90)))
METHODS: dict[str, tuple[Any, dict[str, Any]]] = {
    "anatomy": (ld.Anatomy(l=3), {}),
    "anatomy at levels": (ld.Anatomy(l=3), {"levels": {"zip": "prefix:3"}}),
    "bsgi": (ld.BSGI(l=3), {}),
    "mondrian": (ld.Mondrian(l=3), {"hierarchies": {"zip": ZIPS}}),
    "mondrian with frequencies": (ld.Mondrian(l=3), {"marginals": True}),
    "together": (ld.LLMSU(l=2), {"sensitive": ["job", "grade"]}),
}


@pytest.fixture(scope="module", params=list(METHODS))
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ld.Release:
    method, more = METHODS[request.param]
    decisions = {"sensitive": ["job"], **more}
    table = people().drop_columns([name for name in ("job", "grade") if name not in decisions["sensitive"]])
    folder = tmp_path_factory.mktemp("release") / "release"
    return ld.anonymize(table, quasi=QUASI, plain="note", method=method, insecure_seed=4, output=folder, **decisions)


def same(one: Estimate, other: Estimate) -> None:
    """Sums are those of the same numbers in nearly the same order: they differ by rounding alone."""
    assert one.labels.equals(other.labels)
    for name in ("records", "count", "std_error", "low", "high"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-7, atol=1e-7 * ROWS, err_msg=name)
    assert (one.estimator, one.note, one.caveats, one.where) == (
        other.estimator,
        other.note,
        other.caveats,
        other.where,
    )


class Halves(ClassEstimator):
    """A stranger's, who knows nothing of how rows were read."""

    name = "halves"
    summary = "Between the limits."

    def solve(self, cells: ClassCells) -> ClassSolution:
        middle = (cells.least + cells.greatest) / 2
        return ClassSolution(middle, middle, None, self.name, ())


def both(release: ld.Release, by: Any = None, **question: Any) -> None:
    question.setdefault("sensitive", "job")
    try:
        expected = ld.estimate(release, by, **question)
    except (UnsupportedError, ParameterError) as error:
        expected_error = error
    else:
        result = ld.estimate(release, by, memory=MEMORY, **question)
        same(expected, result)
        if result._covariance is not None:
            np.testing.assert_allclose(result.covariance(0), expected.covariance(0), rtol=1e-7, atol=1e-7 * ROWS)
        return
    with pytest.raises(type(expected_error)) as found:
        ld.estimate(release, by, memory=MEMORY, **question)
    assert str(found.value) == str(expected_error)


@pytest.mark.parametrize("estimator", [*CLASS_ESTIMATORS, "halves"])
def test_every_estimator_gives_the_same_figures(release: ld.Release, estimator: str) -> None:
    with CLASS_ESTIMATORS.registered("halves", Halves):
        both(release, ["sex", "note"], estimator=estimator, where="note != n4")
        both(release, None, estimator=estimator)


BY = {
    "numbers": "age",
    "texts": ["zip", "note"],
    "fractions": bins("wage", width=10),
    "edges": [bins("age", edges=[20, 30, 50]), "sex"],
    "quantiles": bins("wage", quantiles=3),
    "quantiles of the selected": [bins("age", quantiles=4), bins("wage", quantiles=2), "note"],
    "months": groups("since", "month"),
    "groups": groups("zip", {"north": [f"130{i:02d}" for i in range(90)]}, other="elsewhere"),
}


@pytest.mark.parametrize("name", list(BY))
@pytest.mark.parametrize("where", [None, ["sex = f", "wage < 50"], ["note = n1", "age >= 30"]])
def test_every_division_into_cells(release: ld.Release, name: str, where: list[str] | None) -> None:
    both(release, BY[name], where=where)


def test_spreads_and_joint_distributions(release: ld.Release) -> None:
    for spread in ("uniform", "marginal"):
        both(release, bins("age", width=10), spread=spread)
    if len(release.sensitive) > 1:
        both(release, "sex", sensitive=["job", "grade"])


@pytest.mark.parametrize("where", ["age > 900", "sex = x", "note = none"])
def test_nothing_selected_is_said_alike(release: ld.Release, where: str) -> None:
    both(release, "note", where=where)


def test_a_release_in_memory_is_read_alike() -> None:
    for method in (ld.Anatomy(l=3), ld.Mondrian(l=3)):
        release = ld.anonymize(
            people().drop_columns(["grade"]), quasi=QUASI, plain="note", sensitive="job", method=method, insecure_seed=1
        )
        both(release, [bins("age", width=10), "note"], where="sex = f")


def test_classes_of_their_own() -> None:
    release = ld.load_release(Path(__file__).parents[1] / "data" / "release-v1-separate-parquet")

    for name in release.sensitive:
        both(release, release.schema.names(Role.QUASI)[0], sensitive=name)


def test_rows_of_a_class_with_other_regions_are_damage(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from ldiversity.release import _class_read

    ld.anonymize(
        people().drop_columns(["grade"]),
        quasi=QUASI,
        plain="note",
        sensitive="job",
        method=ld.Mondrian(l=3),
        output=tmp_path / "r",
    )
    release = ld.load_release(tmp_path / "r")
    right = _class_read.FolderClassRows.coded_batches

    def wrong(*args: Any, **named: Any) -> Any:
        for batch in right(*args, **named):
            cells = {name: one.take(np.roll(np.arange(len(one)), 1)) for name, one in batch.cells.items()}
            yield type(batch)(batch.classes, batch.codes, cells, batch.own)

    monkeypatch.setattr(_class_read.FolderClassRows, "coded_batches", wrong)
    with pytest.raises(ReleaseFormatError, match="rows of one class must share"):
        ld.estimate(release, "age", memory=MEMORY)


@pytest.mark.parametrize(
    ("limits", "by", "method", "rule"),
    [
        ({"sets": 3}, "sex", ld.Anatomy(l=3), "more than 3 kinds of classes"),
        ({"numbers": 20}, "zip", ld.Anatomy(l=3), "cells times values may be at most 20"),
        ({"values": 3}, "age", ld.Mondrian(l=3), "'age' has more than 3 different regions"),
    ],
)
def test_what_does_not_fit_is_said(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, int], by: str, method: Any, rule: str
) -> None:
    given = Limits(**{"numbers": 10**6, "sets": 10**6, "values": 10**6, "rows": 10**6, **limits})
    monkeypatch.setattr(Limits, "within", lambda _: given)
    release = ld.anonymize(people().drop_columns(["grade"]), quasi=QUASI, plain="note", sensitive="job", method=method)

    with pytest.raises(UnsupportedError, match=rule) as found:
        ld.estimate(release, by, memory=MEMORY)
    assert found.value.hint
