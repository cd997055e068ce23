"""An audit of a release within a memory setting, or on an engine, says exactly what it says without.

That is so for every layout and method.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.base.budget import Budget
from ldiversity.base.spill import Buckets
from ldiversity.engines import LocalEngine, PartFactory, Rows
from ldiversity.evaluation.audit import _question, _release_on_engine, _tally

SETS = ld.SemanticDiversity(l=2, d=2, distance="ordered")
BOTH = ["level", "stage"]
METHODS: dict[str, dict[str, Any]] = {
    "sets": {"method": SETS, "sensitive": BOTH},
    "exploded": {"method": SETS, "layout": "exploded"},
    "simple": {"method": ld.RandomizedAddition(l=3), "sensitive": BOTH},
    "epsilon": {"method": ld.RandomizedAddition(l=2, epsilon=1.0)},
    "generalized": {"method": ld.BSGI(l=3), "sensitive": BOTH},
    "mondrian": {"method": ld.Mondrian(l=2)},
    "bucketized": {"method": ld.Anatomy(l=3)},
    "several": {"method": ld.LLMSU(l=2), "sensitive": BOTH},
    "alike": {"method": ld.Anatomy(l=3), "levels": {"age": "width:10", "weight": "width:2"}},
}


def people(n: int = 600) -> pa.Table:
    draw = np.random.default_rng(3)
    return pa.table(
        {
            "age": draw.integers(20, 50, n),
            "weight": draw.normal(size=n).round(1),
            "level": np.arange(n) % 6,
            "stage": draw.integers(0, 6, n),
        }
    )


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make memory full after some rows, and remember how many were dealt into buckets."""
    monkeypatch.setattr(_tally, "_BESIDE_BYTES", 400_000)
    monkeypatch.setattr(_tally, "_BUCKETS", 8)
    monkeypatch.setattr(Budget, "rows", lambda self, _: 100)  # noqa: ARG005 - whatever a row takes
    rows: list[int] = []
    deal = Buckets.deal

    def watched(self: Buckets, batch: pa.RecordBatch, numbers: NDArray[np.int64]) -> None:
        rows.append(batch.num_rows)
        deal(self, batch, numbers)

    monkeypatch.setattr(Buckets, "deal", watched)
    return rows


class Elsewhere(LocalEngine):
    """An engine that is not this machine: whatever its workers do travels to them."""

    name: ClassVar[str] = "elsewhere"
    n_judged: ClassVar[int] = 0

    def partition(self, factory: PartFactory, rows: Rows, *, n_parts: int, **others: Any) -> Rows:
        Elsewhere.n_judged = n_parts
        traveled = pickle.loads(pickle.dumps(factory))  # noqa: S301 - its own
        return super().partition(traveled, rows, n_parts=n_parts, **others)


@contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    """Such an engine; parts of releases are small while it works."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_question, "LocalEngine", type(None))  # as if the engine were none of this machine
        patch.setattr(_release_on_engine, "_READ_ROWS", 200)
        patch.setattr(_release_on_engine, "_JUDGED_ROWS", 100)
        yield Elsewhere()


def assert_same(release: Path, **how: Any) -> None:
    whole = ld.audit(release, **how)
    parts = ld.audit(release, memory="300MB", **how)
    with elsewhere() as engine:
        on_engine = ld.audit(release, engine=engine, **how)

    assert Elsewhere.n_judged == 6
    for found in (parts, on_engine):
        assert found.to_dict() == whole.to_dict()
        assert [one.verdict for one in found.asked] == [one.verdict for one in whole.asked]
        assert found == whole


@pytest.mark.parametrize("layout", METHODS)
def test_every_layout_is_audited_alike(layout: str, tmp_path: Path, little: list[int]) -> None:
    how = {"sensitive": "level", **METHODS[layout]}
    ld.anonymize(people(), quasi=["age", "weight"], output=tmp_path / "release", **how)

    assert_same(tmp_path / "release")
    assert_same(tmp_path / "release", quasi="age", sensitive="level", sample_fraction=0.3, models=["k-anonymity:2"])

    assert little


def test_a_release_without_sensitive_columns_is_audited_alike(tmp_path: Path, little: list[int]) -> None:
    table = people().select(["age", "weight"])
    ld.anonymize(table, quasi=["age", "weight"], method="mondrian:model=k-anonymity:3", output=tmp_path / "release")

    assert_same(tmp_path / "release")

    assert little


def test_what_needs_all_rows_says_so_before_work_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = people()
    ld.anonymize(table, quasi=["age", "weight"], sensitive="level", method=ld.Anatomy(l=3), output=tmp_path / "release")
    monkeypatch.setattr("ldiversity.evaluation.audit._release_parts._WHOLE_BYTES", 1_000_000)

    with pytest.raises(ld.UnsupportedError, match="memory must be at least 850 MB for a population") as caught:
        ld.audit(tmp_path / "release", population=table, memory="300MB")

    assert "851MB" in str(caught.value)


def test_what_an_engine_cannot_do_is_refused_in_one_sentence(tmp_path: Path) -> None:
    table, quasi = people(), ["age", "weight"]
    how: dict[str, Any] = {"quasi": quasi, "sensitive": "level"}
    ld.anonymize(table, **how, method=ld.Anatomy(l=3), output=tmp_path / "release")
    in_memory = ld.anonymize(table, **how, method=ld.Mondrian(l=2))

    with elsewhere() as engine:
        with pytest.raises(ld.UnsupportedError, match="engine must be left out for a population that is compared"):
            ld.audit(tmp_path / "release", population=table, engine=engine)
        with pytest.raises(ld.UnsupportedError, match="is in memory, but workers need a folder"):
            ld.audit(in_memory, engine=engine)


def test_parts_that_lose_a_row_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above would fail."""
    read = _release_on_engine.People.read

    def loses(self: Any, release: Any) -> Iterator[Any]:
        return ((cells.slice(1), totals) for cells, totals in read(self, release))

    ld.anonymize(people(), quasi="age", sensitive="level", drop=["weight", "stage"], method=SETS, output=tmp_path / "r")
    whole = ld.audit(tmp_path / "r")
    monkeypatch.setattr(_release_on_engine.People, "read", loses)

    with elsewhere() as engine:
        assert ld.audit(tmp_path / "r", engine=engine) != whole
