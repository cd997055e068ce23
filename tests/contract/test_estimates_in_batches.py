"""An estimate within a memory setting has the figures of one without, for every estimator and every layout of sets."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import ParameterError, SchemaError, UnsupportedError
from ldiversity.estimation import ESTIMATORS, CellData, Estimate, Estimator, Solution, bins, groups
from ldiversity.release import _set_release as set_release

ROWS = 1_500
MEMORY = "500MB"


def people() -> pa.Table:
    rng = np.random.default_rng(3)
    ages = rng.integers(18, 80, ROWS)
    days = [None if i % 31 == 0 else dt.date(2020, 1, 1) + dt.timedelta(days=int(i) % 400) for i in range(ROWS)]
    wage = rng.normal(40, 12, ROWS)
    wage[::50] = np.nan
    return pa.table(
        {
            "sex": pa.array(["f", "m", None]).take(pa.array(rng.choice(3, ROWS, p=[0.5, 0.45, 0.05]))),
            "age": pa.array(ages, mask=ages == 40),
            "wage": wage,
            "zip": [f"{130 + i % 4}{i % 90:02d}" for i in range(ROWS)],
            "since": pa.array(days, pa.date32()),
            "at": pa.array(1_600_000_000 + 40_003 * np.arange(ROWS)).cast(pa.timestamp("s")),
            "member": [i % 3 == 0 for i in range(ROWS)],
            "job": rng.integers(0, 9, ROWS),
            "grade": rng.choice(5, ROWS, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
        }
    )


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_release, "BLOCK_ROWS", 400)


def publish(sensitive: list[str], method: Any, **more: Any) -> ld.Release:
    table = people()
    drop = [name for name in ("job", "grade") if name not in sensitive]
    quasi = ["sex", "age", "wage", "zip", "since", "at", "member"]
    return ld.anonymize(
        table.drop_columns(drop), quasi=quasi, sensitive=sensitive, method=method, insecure_seed=5, **more
    )


SEMANTIC = ld.SemanticDiversity(l=3, d=2, distance=ld.OrderedDistance())


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ld.Release]:
    folder = tmp_path_factory.mktemp("releases")
    uniform, semantic = publish(["job"], ld.RandomizedAddition(l=3)), publish(["job"], SEMANTIC)
    semantic.save(folder / "parquet")
    semantic.save(folder / "csv", data_format="csv")
    return {
        "uniform": uniform,
        "semantic": semantic,
        "parquet": ld.load_release(folder / "parquet"),
        "csv": ld.load_release(folder / "csv"),
        "exploded": publish(["job"], SEMANTIC, layout="exploded"),
        "joint": publish(["job", "grade"], ld.RandomizedAddition(l=2)),
    }


def same(one: Estimate, other: Estimate) -> None:
    """Likelihoods are searched until a step moves no share by more than 1e-7; all else differs by rounding alone."""
    assert one.labels.equals(other.labels)
    assert one.records.tolist() == other.records.tolist()
    scale = one.records[:, None]
    np.testing.assert_allclose(one.count / scale, other.count / scale, rtol=0, atol=1e-6)
    for name in ("std_error", "low", "high"):
        np.testing.assert_allclose(
            getattr(one, name) / scale, getattr(other, name) / scale, rtol=0, atol=1e-6, err_msg=name
        )
    assert (one.estimator, one.note, one.caveats, one.where) == (
        other.estimator,
        other.note,
        other.caveats,
        other.where,
    )


class FromRows(Estimator):
    """A stranger's, who reads all sets one by one and knows nothing of counts."""

    name = "from-rows"
    summary = "How many sets begin with each value."
    needs_sets = True

    def _solve(self, cells: CellData) -> Solution:
        counts = np.zeros(cells.counts.shape)
        for cell in range(cells.n_cells):
            rows = cells.sets[0][cells.starts[cell] : cells.starts[cell + 1]]
            np.add.at(counts[cell], rows[:, 0], 1.0)
        return Solution(counts + cells.marginal(), (self.name,) * cells.n_cells)


def both(release: ld.Release, by: Any = None, **question: Any) -> None:
    same(ld.estimate(release, by, **question), ld.estimate(release, by, memory=MEMORY, **question))


@pytest.mark.parametrize("estimator", [*ESTIMATORS, "from-rows"])
@pytest.mark.parametrize("layout", ["uniform", "semantic", "parquet", "csv", "exploded", "joint"])
def test_every_estimator_gives_the_same_figures(releases: dict[str, ld.Release], layout: str, estimator: str) -> None:
    sensitive = ["job", "grade"] if layout == "joint" else None
    with ESTIMATORS.registered("from-rows", FromRows):
        question: dict[str, Any] = {"sensitive": sensitive, "estimator": estimator, "where": "age >= 30"}
        if layout == "exploded" and ESTIMATORS[estimator].needs_sets:
            with pytest.raises(UnsupportedError, match="needs published sets"):
                ld.estimate(releases[layout], ["sex", "member"], memory=MEMORY, **question)
            return
        expected = ld.estimate(releases[layout], ["sex", "member"], **question)
        result = ld.estimate(releases[layout], ["sex", "member"], memory=MEMORY, **question)
    same(expected, result)
    if expected._covariance is not None and layout != "exploded":
        for cell in range(expected.n_cells):
            np.testing.assert_allclose(
                expected.covariance(cell), result.covariance(cell), rtol=1e-9, atol=1e-9 * expected.records[cell]
            )


BY = {
    "plain numbers": "age",
    "texts": ["zip", "sex"],
    "truth": "member",
    "fractions": bins("wage", width=10),
    "edges": bins("age", edges=[20, 30, 50]),
    "quantiles": bins("wage", quantiles=3),
    "integer quantiles": [bins("age", quantiles=4), "sex"],
    "width": [bins("age", width=10), "sex"],
    "days": "since",
    "months": groups("since", "month"),
    "instants by month": groups("at", "month"),
    "groups": groups("zip", {"north": [f"130{i:02d}" for i in range(90)]}, other="elsewhere"),
}


@pytest.mark.parametrize("name", list(BY))
@pytest.mark.parametrize("where", [None, ["sex = f", "wage < 50"]])
def test_every_division_into_cells(releases: dict[str, ld.Release], name: str, where: list[str] | None) -> None:
    both(releases["parquet"], BY[name], estimator="simplex", where=where)


WHERE = [
    "age >= 50",
    "age in 20,21,22",
    "zip starts with 131",
    "sex != m",
    "sex is missing",
    "wage is not missing",
    "since between 2020-02-01 and 2020-03-31",
    "at < 2021-06-01",
    "member = true",
]


@pytest.mark.parametrize("where", WHERE)
def test_every_filter(releases: dict[str, ld.Release], where: str) -> None:
    both(releases["parquet"], "sex", estimator="map", where=where)


def test_cells_that_borrow_from_each_other(releases: dict[str, ld.Release]) -> None:
    both(releases["parquet"], ["sex", bins("age", width=5)], estimator="hierarchical", where="age >= 30")


@pytest.mark.parametrize(
    ("by", "where", "error"),
    [
        ("sex", "age > 900", ParameterError),
        ("sex", ["age > 900", "sex = f"], ParameterError),
        ("sex", "age = old", ParameterError),
        (bins("sex", width=3), None, SchemaError),
        (groups("zip", {"x": ["nowhere"]}), None, ParameterError),
        (groups("zip", "month"), None, SchemaError),
        ("job", None, ParameterError),
    ],
)
def test_refusals_are_the_same(releases: dict[str, ld.Release], by: Any, where: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as expected:
        ld.estimate(releases["parquet"], by, where=where)
    with pytest.raises(error) as found:
        ld.estimate(releases["parquet"], by, where=where, memory=MEMORY)

    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("question", [{"where": "zip in 13000,00000"}, {"by": groups("sex", {"a": ["f"], "b": ["x"]})}])
def test_warnings_are_the_same(releases: dict[str, ld.Release], question: dict[str, Any]) -> None:
    with pytest.warns(ld.LDiversityWarning) as expected:
        ld.estimate(releases["parquet"], **question)
    with pytest.warns(ld.LDiversityWarning) as found:
        ld.estimate(releases["parquet"], memory=MEMORY, **question)

    assert [str(one.message) for one in found] == [str(one.message) for one in expected]


def test_columns_at_a_declared_level() -> None:
    release = publish(["job"], SEMANTIC, levels={"zip": "prefix:3", "age": "width:5,top:60"})

    both(release, ["zip", "sex"], where="zip in 130*,131*")
    both(release, [groups("zip", {"north": ["130*"]}, other="elsewhere"), bins("age", width=10)], where="age >= 30")


def test_a_folder_is_an_answer_too(releases: dict[str, ld.Release], tmp_path: Path) -> None:
    releases["uniform"].save(tmp_path / "release")

    same(ld.estimate(releases["uniform"], "sex"), ld.estimate(tmp_path / "release", "sex", memory=MEMORY))


def test_sets_with_more_digits_than_a_word(monkeypatch: pytest.MonkeyPatch, releases: dict[str, ld.Release]) -> None:
    from ldiversity.estimation import _words

    monkeypatch.setattr(_words, "_MOST", 200)

    both(releases["semantic"], ["sex", "age"], estimator="auto", where="member = true")
