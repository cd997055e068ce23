"""Estimates whose rows an engine reads have the figures of those within a memory setting on this machine."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG
from ldiversity.engines import Engine, LocalEngine
from ldiversity.errors import SchemaError, UnsupportedError
from ldiversity.estimation import ESTIMATORS, Estimate, _engine_reader, bins, groups
from ldiversity.estimation._limits import Limits


class Elsewhere(LocalEngine):
    """An engine whose workers get nothing but what can be pickled."""

    name: ClassVar[str] = "elsewhere"

    def map(self, factory: Any, *args: Any, **named: Any) -> Any:
        """As the engine of one machine does."""
        return super().map(pickle.loads(pickle.dumps(factory)), *args, **named)  # noqa: S301 - our own

    def partition(self, factory: Any, *args: Any, **named: Any) -> Any:
        """As the engine of one machine does."""
        return super().partition(pickle.loads(pickle.dumps(factory)), *args, **named)  # noqa: S301 - our own


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_engine_reader, "_PART_ROWS", 250)
        yield Elsewhere()


SEMANTIC = ld.SemanticDiversity(l=3, d=2, distance=ld.OrderedDistance())


@pytest.fixture(scope="module", params=["parquet", "csv", "exploded", "levels"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(1)
    ages = rng.integers(18, 80, 2000)
    table = pa.table(
        {
            "sex": pa.array(["f", "m", None]).take(pa.array(rng.choice(3, 2000, p=[0.5, 0.45, 0.05]))),
            "age": pa.array(ages, mask=ages == 40),
            "wage": rng.normal(40, 12, 2000),
            "since": pa.array(1_600_000_000 + 40_003 * np.arange(2000)).cast(pa.timestamp("s")),
            "job": rng.integers(0, 9, 2000),
        }
    )
    known: dict[str, dict[str, Any]] = {
        "csv": {"data_format": "csv"},
        "exploded": {"layout": "exploded"},
        "levels": {"levels": {"age": "width:5"}},
    }
    more = known.get(request.param, {})
    target = tmp_path_factory.mktemp("release") / "release"
    ld.anonymize(
        table,
        quasi=["sex", "age", "wage", "since"],
        sensitive="job",
        method=SEMANTIC,
        output=target,
        insecure_seed=3,
        **more,
    )
    return target


def same(one: Estimate, other: Estimate) -> None:
    """Both are solved from the same counts, in the same order."""
    assert one.labels.equals(other.labels)
    for name in ("records", "count", "std_error", "low", "high"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert (one.estimator, one.caveats) == (other.estimator, other.caveats)


@pytest.mark.parametrize("estimator", list(ESTIMATORS))
def test_every_estimator_gives_the_same_figures(folder: Path, engine: Engine, estimator: str) -> None:
    release = ld.load_release(folder)
    if release.rows_per_record > 1 and ESTIMATORS[estimator].needs_sets:
        pytest.skip("needs sets")

    expected = ld.estimate(release, ["sex", "age"], estimator=estimator, where="wage < 50", memory="500MB")

    same(expected, ld.estimate(folder, ["sex", "age"], estimator=estimator, where="wage < 50", engine=engine))


@pytest.mark.parametrize(
    "by", [None, bins("wage", quantiles=3), bins("wage", width=20), groups("since", "month"), ["age", "sex"]]
)
def test_every_division_into_cells(folder: Path, engine: Engine, by: Any) -> None:
    same(ld.estimate(folder, by, memory="500MB"), ld.estimate(folder, by, engine=engine))


def test_a_refusal_of_a_worker_is_the_same(folder: Path, engine: Engine) -> None:
    with pytest.raises(SchemaError) as expected:
        ld.estimate(folder, groups("wage", "month"))
    with pytest.raises(SchemaError) as found:
        ld.estimate(folder, groups("wage", "month"), engine=engine)

    assert str(found.value) == str(expected.value)


def test_what_workers_cannot_read_is_refused(engine: Engine) -> None:
    how: dict[str, Any] = {"quasi": ["sex", "age"], "sensitive": "disease"}
    table = ld.datasets.hospital().select(["sex", "age", "disease"])
    for method in (ld.RandomizedAddition(l=2), ld.Anatomy(l=2)):
        with pytest.raises(UnsupportedError, match="in memory"):
            ld.estimate(ld.anonymize(table, method=method, **how), engine=engine)


GROUPING = [entry for entry in CATALOG.values() if entry.family == "classes"]
TREE = ld.Hierarchy.from_rows([(f"job {code}", f"group {code % 3}") for code in range(6)])
REQUIRED: dict[str, dict[str, Any]] = {"le-anatomy": {"e": 1, "tree": TREE}}


@pytest.fixture(scope="module", params=GROUPING, ids=[entry.name for entry in GROUPING])
def classes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of every method that groups, which workers read in several parts."""
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "sex": pa.array(["f", "m"]).take(pa.array(rng.integers(0, 2, 700))),
            "age": rng.integers(18, 60, 700),
            "job": [f"job {code}" for code in rng.integers(0, 6, 700)],
        }
    )
    module, _, name = request.param.home.partition(":")
    method = getattr(import_module(module), name).of_level(2, **REQUIRED.get(request.param.name, {}))
    folder = tmp_path_factory.mktemp("classes") / "release"
    with pytest.MonkeyPatch.context() as patch:
        write = pq.ParquetWriter.write_table
        patch.setattr(pq.ParquetWriter, "write_table", lambda self, rows: write(self, rows, row_group_size=250))
        release = ld.anonymize(table, quasi=["sex", "age"], sensitive="job", method=method, output=folder)
    assert len(release.parts(250)) > 1
    return folder


@pytest.mark.parametrize("by", [["sex", "age"], bins("age", quantiles=3)], ids=["cells", "bins"])
def test_classes_give_the_same_figures(classes: Path, engine: Engine, by: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Limits, "within", lambda _: Limits(10**6, 10**6, 10**6, 10**6, class_rows=150))
    question: dict[str, Any] = {"by": by, "where": "age >= 20"}

    same(ld.estimate(classes, **question, memory="500MB"), ld.estimate(classes, **question, engine=engine))
