"""Releases are audited some rows at a time: memory is bounded by what is different, not by rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import ReleaseFormatError
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import _class_rows, _set_release
from ldiversity.release._cells import Cells
from ldiversity.release._class_read import FolderClassRows, SharedCells
from ldiversity.release._evidence import SetTally
from ldiversity.release._read import FolderData
from ldiversity.schema import Domain

SETS = ld.SemanticDiversity(l=2, d=2, distance="ordered")
METHODS: dict[str, dict[str, Any]] = {
    "sets": {"method": SETS},
    "exploded": {"method": SETS, "layout": "exploded"},
    "generalized": {"method": ld.BSGI(l=3)},
    "bucketized": {"method": ld.Anatomy(l=3)},
}
LAYOUTS = pytest.mark.parametrize("layout", METHODS)


def published(layout: str) -> ld.Release:
    rng = np.random.default_rng(3)
    columns = {"age": rng.integers(20, 30, 300), "weight": rng.normal(size=300).round(), "level": np.arange(300) % 6}
    sensitive = ld.Sensitive("level", domain=list(range(6)))
    return ld.anonymize(pa.table(columns), quasi=["age", "weight"], sensitive=sensitive, **METHODS[layout])


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("a whole column was asked for")


@LAYOUTS
@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_no_whole_column_is_read(
    layout: str, data_format: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(layout).save(tmp_path / "release", data_format=data_format)
    monkeypatch.setattr(FolderData, "columns", refuse)
    monkeypatch.setattr(FolderData, "sets", refuse)
    monkeypatch.setattr(FolderData, "members", refuse)
    monkeypatch.setattr(FolderClassRows, "columns", refuse)
    monkeypatch.setattr(FolderClassRows, "class_of", refuse)
    monkeypatch.setattr(FolderClassRows, "values", refuse)

    found = ld.audit(tmp_path / "release")

    assert (found.passed, found.records) == (True, 300)


@LAYOUTS
def test_batches_change_nothing(layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    release = published(layout)
    whole = ld.audit(release).to_dict()
    monkeypatch.setattr(_class_rows, "BLOCK_ROWS", 7)
    monkeypatch.setattr(_set_release, "BLOCK_ROWS", 7)

    assert ld.audit(release).to_dict() == whole


@LAYOUTS
@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_a_folder_says_the_same_as_memory(layout: str, data_format: Any, tmp_path: Path) -> None:
    release = published(layout)
    release.save(tmp_path / "release", data_format=data_format)

    assert ld.audit(tmp_path / "release").to_dict() == ld.audit(release).to_dict()


@pytest.mark.parametrize("layout", ["sets", "generalized", "bucketized"])
def test_an_attacker_who_knows_no_column_sees_one_class(layout: str) -> None:
    table = pa.table({"level": np.arange(300) % 6})
    sensitive = ld.Sensitive("level", domain=list(range(6)))
    release = ld.anonymize(table, quasi=[], sensitive=sensitive, **METHODS[layout])

    assert ld.audit(release).models["k_anonymity"].value == 300


def test_sets_are_counted_across_batches() -> None:
    tally = SetTally("level", Domain(tuple(range(4))), UniformSelection(4, 2), linked=True)
    tally.add_sets(np.array([[2, 3], [0, 1]], dtype=np.int32))
    tally.add_sets(np.array([[0, 1], [0, 3]], dtype=np.int32))

    found = tally.result()

    assert (found.sets.tolist(), found.records.tolist()) == ([[0, 1], [0, 3], [2, 3]], [2, 1, 1])
    assert found.of_row.tolist() == [2, 0, 0, 1]


def test_regions_are_gathered_across_batches() -> None:
    shared = SharedCells("age", 3)
    shared.add(Cells(np.array([0, 2, 4]), np.array([10, 19, 30, 39])), np.array([2, 0], dtype=np.int32))
    shared.add(Cells(np.array([0, 0, 2]), np.array([30, 39])), np.array([1, 0], dtype=np.int32))

    assert (shared.result().starts.tolist(), shared.result().flat.tolist()) == ([0, 2, 2, 4], [30, 39, 10, 19])


def test_rows_of_one_class_that_differ_are_found_across_batches() -> None:
    shared = SharedCells("age", 1)
    shared.add(Cells(np.array([0, 2]), np.array([10, 19])), np.array([0], dtype=np.int32))
    shared.add(Cells(np.array([0, 2]), np.array([10, 20])), np.array([0], dtype=np.int32))

    with pytest.raises(ReleaseFormatError, match="rows of one class must share 'age'"):
        shared.result()


def test_rows_that_are_all_left_out_are_refused_and_a_stretch_of_them_is_not() -> None:
    some = pa.table({"q": ["a"] * 4 + ["b"] * 4, "s": ["x", "y", "x", "y"] + [None] * 4})
    drop = ld.Sensitive("s", missing="drop")

    found = ld.audit(some, quasi="q", sensitive=drop)

    assert (found.records, found.classes.count) == (4, 1)
    with pytest.raises(ld.SchemaError, match="must have at least one row"):
        ld.audit(some.slice(4), quasi="q", sensitive=drop)
