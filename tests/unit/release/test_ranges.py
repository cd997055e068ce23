"""Rows that do not fit in memory are checked by ranges of classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.base.spill import Spill
from ldiversity.models import KAnonymity, count_classes
from ldiversity.release import AlikeClaim
from ldiversity.release._batches import CodedBatch
from ldiversity.release._cells import Cells
from ldiversity.release._check_classes import Recount
from ldiversity.release._dealt import deal_classes, from_arrow, to_arrow
from tests.unit.release.several_files import save

MEMORY = "300MB"


@pytest.fixture
def few_rows() -> Iterator[None]:
    """Let only a row or two be in memory at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ldiversity.release._class_ranges._ROW_BYTES", 30_000_000)
        patch.setattr("ldiversity.release._class_ranges._CELL_BYTES", 10_000_000)
        yield


def coded(classes: list[int]) -> pa.RecordBatch:
    """Rows of some classes, with a code, a cell of some numbers, and a text."""
    of = np.array(classes, dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum(of % 3)]).astype(np.int64)
    cells = {"age": Cells(starts, np.repeat(of, of % 3).astype(np.int64))}
    own = pa.table({"class": pa.array([f"{one}" for one in classes], pa.string())})
    return to_arrow(CodedBatch(of, {"disease": of % 2}, cells, own))


@given(
    st.lists(st.lists(st.integers(0, 40), max_size=30), min_size=1, max_size=5),
    st.integers(1, 50),
)
def test_ranges_hold_every_row_once_with_its_class(batches: list[list[int]], most: int) -> None:
    n_rows, seen, begin = sum(map(len, batches)), [], 0
    with Spill() as spill:
        for some in deal_classes(map(coded, batches), n_classes=41, n_rows=n_rows, most=most, spill=spill):
            assert some.first == begin
            begin += some.n_classes
            rows = 0
            for batch in (from_arrow(one, some.first) for one in some.batches):
                rows += len(batch.classes)
                own = batch.classes + some.first
                assert ((batch.classes >= 0) & (batch.classes < some.n_classes)).all()
                assert (batch.codes["disease"] == own % 2).all()
                assert (batch.cells["age"].lengths == own % 3).all()
                assert (batch.cells["age"].flat == np.repeat(own, own % 3)).all()
                assert batch.own["class"].to_pylist() == [f"{one}" for one in own]
                seen += own.tolist()
            assert rows == some.n_rows
            assert some.n_rows <= 2 * most or some.n_classes == 1 or n_rows <= most
    assert begin == 41
    assert sorted(seen) == sorted(one for batch in batches for one in batch)


def test_a_class_with_all_rows_is_alone_in_its_range() -> None:
    """Numbers of classes may be chosen to do harm: then ranges are as unequal as can be."""
    batches = [coded([77_777] * 100) for _ in range(20)]

    with Spill() as spill:
        ranges = [
            (some.first, some.n_classes, some.n_rows)
            for some in deal_classes(batches, n_classes=100_000, n_rows=2000, most=10, spill=spill)
        ]

    assert (77_777, 1, 2000) in ranges
    assert sum(n_classes for _, n_classes, _ in ranges) == 100_000


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=20), max_size=6))
def test_counting_batch_by_batch_is_counting_all(batches: list[list[tuple[int, int]]]) -> None:
    domain, recount = ld.Domain(("a", "b", "c", "d")), Recount(6, ld.Domain(("a", "b", "c", "d")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ldiversity.release._check_classes._WAITING", 5)
        for batch in batches:
            recount.add(np.array([one for one, _ in batch], int), np.array([one for _, one in batch], np.int32))

    every = np.array([pair for batch in batches for pair in batch], dtype=np.int32).reshape(-1, 2)
    expected = count_classes(every[:, 0], every[:, 1], 6, domain)
    assert recount.result().dense().tolist() == expected.dense().tolist()


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("kind", ["generalized", "bucketized", "separate", "release"])
def test_releases_verify_within_little_memory(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    release: Any = request.getfixturevalue(kind)
    loaded = ld.load_release(save(release, tmp_path / "release", 2))

    loaded.verify(memory=MEMORY)
    with pytest.raises(ld.ClaimError, match=r"there must be \d+ records, got \d+"):
        replace(loaded, n_rows=loaded.n_rows + 1).verify(memory=MEMORY)
    if kind != "release":
        broken = tuple(replace(claim, rule=ld.UniqueDiversity(l=3)) for claim in release.claims)
        with pytest.raises(ld.ClaimError) as limited:
            replace(loaded, claims=broken).verify(memory=MEMORY)
        with pytest.raises(ld.ClaimError) as unlimited:
            replace(loaded, claims=broken).verify()
        assert str(limited.value) == str(unlimited.value)


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("kind", ["bucketized", "release"])
@pytest.mark.parametrize("k", [2, 40])
def test_records_that_look_alike_are_counted_within_little_memory(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, k: int
) -> None:
    release: Any = request.getfixturevalue(kind)
    loaded = ld.load_release(save(release, tmp_path / "release", 2))
    claiming = replace(loaded, claims=(*loaded.claims, AlikeClaim("disease", KAnonymity(k))))

    with pytest.raises(ld.ClaimError, match=r"look alike breaks? the claim") as limited:
        claiming.verify(memory=MEMORY)
    with pytest.raises(ld.ClaimError) as unlimited:
        claiming.verify()
    assert str(limited.value) == str(unlimited.value)


def test_too_little_memory_is_refused_before_work_begins(release: ld.Release) -> None:
    with pytest.raises(ld.ParameterError, match="memory must be at least"):
        release.verify(memory="1MB")
