"""Faults planted in what was written are caught before anyone could read it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.release._class_publish import coded_counts
from ldiversity.release._class_verify import verify_class_rows

Change = Callable[[list[dict[str, Any]]], object]
Plant = Callable[[Path, str, Change], None]


def swap(rows: list[dict[str, Any]], column: str, first: int, second: int) -> None:
    rows[first][column], rows[second][column] = rows[second][column], rows[first][column]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda rows: rows[1].update(class_id=1), "2 of 3 published classes break the claim"),
        (lambda rows: swap(rows, "disease", 0, 1), r"breaks? the claim"),
        (lambda rows: rows[0].update(disease="cut"), "1 of 3 published classes breaks the claim"),
        (lambda rows: rows[0].update(age={"low": -4, "high": -3}), "must share 'age'"),
        (lambda rows: rows[0].update(age={"low": -6, "high": -3}), "within its public range"),
        (lambda rows: rows[0].update(age={"low": None, "high": None}), "must share 'age'"),
        (lambda rows: rows[0].update(place="Bonn"), "must share 'place'"),
        (lambda rows: rows[0].update(job=["a|b"]), "must share 'job'"),
        (lambda rows: swap(rows, "job", 0, 2), "must share 'job'"),
    ],
)
def test_a_fault_in_generalized_rows_is_caught(
    generalized: ld.ClassRelease, tmp_path: Path, plant: Plant, change: Change, rule: str
) -> None:
    generalized.save(tmp_path / "release")
    plant(tmp_path / "release", "data.parquet", change)

    with pytest.raises(ld.ClaimError, match=rule):
        ld.load_release(tmp_path / "release").verify()


def test_one_record_too_few_in_a_class_is_caught(generalized: ld.ClassRelease, tmp_path: Path, plant: Plant) -> None:
    generalized.save(tmp_path / "release")
    plant(tmp_path / "release", "data.parquet", lambda rows: rows.pop(0))
    manifest = json.loads((tmp_path / "release" / "release.json").read_text())
    (tmp_path / "release" / "release.json").write_text(json.dumps({**manifest, "records": 5}))

    with pytest.raises(ld.ClaimError, match="1 of 3 published classes breaks the claim"):
        ld.load_release(tmp_path / "release").verify()


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda rows: rows[0].update(class_id=1), "different numbers of rows and values"),
        (lambda rows: [row.update(class_id=1) for row in rows], "different numbers of rows and values"),
    ],
)
def test_a_fault_in_bucketized_rows_is_caught(
    bucketized: ld.ClassRelease, tmp_path: Path, plant: Plant, change: Change, rule: str
) -> None:
    bucketized.save(tmp_path / "release")
    plant(tmp_path / "release", "data.parquet", change)

    with pytest.raises(ld.ClaimError, match=rule):
        ld.load_release(tmp_path / "release").verify()


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda rows: rows[0].update(count=2), "different numbers of rows and values"),
        (lambda rows: rows[1].update(class_id=2), "in the order of classes"),
        (lambda rows: rows[2].update(class_id=1), "in the order of classes"),
        (lambda rows: (rows[0].update(count=2), rows.pop(1)), r"breaks? the claim"),
        (lambda rows: rows[0].update(value="flu"), "in the order of classes"),
    ],
)
def test_a_fault_in_the_table_of_values_is_caught(
    bucketized: ld.ClassRelease, tmp_path: Path, plant: Plant, change: Change, rule: str
) -> None:
    bucketized.save(tmp_path / "release")
    plant(tmp_path / "release", "sensitive_1.parquet", change)

    with pytest.raises(ld.ClaimError, match=rule):
        ld.load_release(tmp_path / "release").verify()


@pytest.mark.parametrize("n_records", [7, 9])
def test_records_that_are_neither_published_nor_counted_are_caught(
    generalized: ld.ClassRelease, n_records: int
) -> None:
    with pytest.raises(ld.ClaimError, match="published or counted as left out, got 6 and 2"):
        verify_class_rows(generalized._rows, generalized._description, n_rows=6, n_records=n_records)


def test_a_release_without_a_claim_does_not_verify(generalized: ld.ClassRelease) -> None:
    with pytest.raises(ld.ClaimError, match="must have a claim"):
        replace(generalized, claims=()).verify()


def test_a_release_with_fewer_rows_than_it_says_does_not_verify(generalized: ld.ClassRelease) -> None:
    with pytest.raises(ld.ClaimError, match="there must be 7 records, got 6"):
        replace(generalized, n_rows=7).verify()


def test_a_release_with_too_many_regions_does_not_verify(generalized: ld.ClassRelease) -> None:
    doubled = pa.concat_tables([generalized.regions()] * 2)
    rows = replace(generalized._rows, region_table=doubled)  # type: ignore[type-var]

    with pytest.raises(ld.ClaimError, match="one region"):
        replace(generalized, _rows=rows).verify()


def test_a_release_without_rows_is_not_saved(bucketized: ld.ClassRelease, tmp_path: Path) -> None:
    nothing = {"class_of": np.empty(0, dtype=np.int32), "values": {"disease": np.empty(0, dtype=np.int32)}}
    empty = ld.ClassRelease.in_memory(
        schema=bucketized.schema,
        layout="bucketized",
        rules={"disease": ld.UniqueDiversity(l=2)},
        columns=pa.table({"age": pa.array([], pa.int64())}),
        **nothing,
    )

    with pytest.raises(ld.SchemaError, match="no record is left"):
        empty.save(tmp_path / "release")


@pytest.mark.parametrize("kind", ["generalized", "bucketized"])
def test_what_breaks_the_claim_is_not_saved(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    release: ld.ClassRelease = request.getfixturevalue(kind)
    claim = replace(release.claims[0], rule=ld.UniqueDiversity(l=3))

    with pytest.raises(ld.ClaimError, match=r"breaks? the claim"):
        replace(release, claims=(claim,)).save(tmp_path / "release")

    assert list(tmp_path.iterdir()) == []


def test_the_check_reads_the_bytes_and_not_the_memory(
    bucketized: ld.ClassRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = coded_counts
    monkeypatch.setattr(
        "ldiversity.release._class_write.coded_counts",
        lambda *given: (t := honest(*given)).set_column(2, "count", pa.array(np.full(t.num_rows, 2))),
    )

    with pytest.raises(ld.ClaimError, match="different numbers of rows and values"):
        bucketized.save(tmp_path / "release")

    assert list(tmp_path.iterdir()) == []
