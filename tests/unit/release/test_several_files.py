"""Releases whose rows are in several files: written in parts, checked in parts and together, and read as one."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.errors import StorageError
from ldiversity.models import KAnonymity
from ldiversity.release import AlikeClaim, SetWriter, Written
from tests.unit.release.several_files import by_tasks, same, save

KINDS = ["release", "generalized", "bucketized", "separate"]
FORMATS = ["parquet", "csv"]


@pytest.fixture(params=KINDS)
def any_release(request: pytest.FixtureRequest) -> ld.Release:
    """One release of each kind."""
    found: ld.Release = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("n_parts", [2, 3])
def test_several_files_are_read_as_one(any_release: ld.Release, tmp_path: Path, n_parts: int, data_format: str) -> None:
    any_release.save(tmp_path / "one", data_format=data_format)  # type: ignore[arg-type]

    save(any_release, tmp_path / "several", n_parts, data_format=data_format)

    loaded = ld.load_release(tmp_path / "several")
    loaded.verify()
    assert same(loaded, ld.load_release(tmp_path / "one"))
    manifest = json.loads((tmp_path / "several" / "release.json").read_text())
    assert manifest["version"] == 2
    assert [entry["file"] for entry in manifest["data"]["files"]] == [
        f"data_{number}.{data_format}" for number in range(1, n_parts + 1)
    ]
    assert {path.name for path in (tmp_path / "several").iterdir()} == {
        "release.json",
        *(entry["file"] for entry in manifest["data"]["files"]),
        *(
            entry["file"]
            for table in manifest.get("classes", {}).get("tables", [])
            for entry in table.get("files", [table])
        ),
    }


def test_one_file_is_what_it_always_was(any_release: ld.Release, tmp_path: Path) -> None:
    any_release.save(tmp_path / "one")

    save(any_release, tmp_path / "part", 1)

    assert json.loads((tmp_path / "part" / "release.json").read_text())["version"] == 1
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "part" / file.name).read_bytes()


def test_parts_without_rows_have_no_file(release: ld.Release, tmp_path: Path) -> None:
    save(release, tmp_path / "release", 2, change=lambda parts: [parts[0].slice(0, 0), *parts, parts[0].slice(0, 0)])

    assert len(list((tmp_path / "release").iterdir())) == 3
    assert ld.load_release(tmp_path / "release").n_rows == release.n_rows


def test_no_rows_at_all_are_no_release(release: ld.Release, tmp_path: Path) -> None:
    empty = replace(
        release,
        _rows=replace(
            release._rows, plain=release._rows.plain.slice(0, 0), coded={"disease": release.sets("disease")[:0]}
        ),
    )  # type: ignore[type-var]

    with pytest.raises(ld.SchemaError, match="no record is left"):
        save(empty, tmp_path / "release")
    assert not list(tmp_path.iterdir())


def test_a_release_of_several_files_is_replaced_whole(any_release: ld.Release, tmp_path: Path) -> None:
    save(any_release, tmp_path / "release", 3)

    save(any_release, tmp_path / "release", 2, overwrite=True)

    assert same(ld.load_release(tmp_path / "release"), any_release)
    (tmp_path / "release" / "data_3.parquet").write_bytes(b"")
    with pytest.raises(ld.ParameterError, match="hold nothing else"):
        save(any_release, tmp_path / "release", 2, overwrite=True)


def test_exploded_rows_may_be_in_several_files(people: pa.Table, tmp_path: Path) -> None:
    how: Any = {"quasi": ["age", "sex"], "drop": "name", "sensitive": "disease", "layout": "exploded"}
    release = ld.anonymize(people, **how, method=ld.RandomizedAddition(l=3))

    save(release, tmp_path / "release", 4)

    loaded = ld.load_release(tmp_path / "release")
    loaded.verify()
    assert same(loaded, release)


def test_categories_of_all_parts_are_told(tmp_path: Path) -> None:
    stages = pa.DictionaryArray.from_arrays([0, 0, 2, 2], pa.array(["low", "mid", "high", "none"]), ordered=True)
    table = pa.table({"stage": stages, "disease": ["cold", "flu", "cut", "cold"]})
    release = ld.anonymize(table, quasi="stage", sensitive="disease", method=ld.RandomizedAddition(l=2))

    save(release, tmp_path / "release", 4)

    assert ld.load_release(tmp_path / "release").schema["stage"].categories == ("low", "high")


# --- planted faults --------------------------------------------------------------------------------------------------


def flip(folder: Path) -> None:
    """Change one byte of the second file of rows."""
    file = sorted(folder.glob("data-*a.*"))[1]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def swap(folder: Path) -> None:
    """Exchange two files of rows."""
    first, second = sorted(folder.glob("data-*a.*"))[:2]
    first.rename(folder / "between")
    second.rename(first)
    (folder / "between").rename(second)


@pytest.mark.parametrize(
    ("tamper", "rule"),
    [
        (flip, "was changed after it was checked"),
        (swap, "was changed after it was checked"),
        (lambda folder: sorted(folder.glob("data-*a.*"))[1].unlink(), "is missing"),
        (shutil.rmtree, "is missing|cannot be written"),
    ],
    ids=["changed", "exchanged", "missing", "no folder"],
)
def test_a_file_that_is_not_what_a_task_wrote_is_refused(
    any_release: ld.Release, tmp_path: Path, tamper: Callable[[Path], object], rule: str
) -> None:
    with pytest.raises(StorageError, match=rule):
        save(any_release, tmp_path / "release", 2, tamper=tamper)

    assert not list(tmp_path.iterdir())


def test_a_file_that_is_named_twice_is_refused(release: ld.Release, tmp_path: Path) -> None:
    writer = SetWriter("parquet", release._description)
    (one,) = by_tasks(tmp_path, writer, [release._coded()])

    with pytest.raises(StorageError, match="written twice"):
        ld.release.finish_release(tmp_path, writer, [one, one])


@pytest.mark.parametrize("lost", [0, 1])
def test_a_lost_row_is_noticed(any_release: ld.Release, tmp_path: Path, lost: int) -> None:
    def lose(parts: list[pa.Table]) -> list[pa.Table]:
        parts[lost] = parts[lost].slice(1)
        return parts

    with pytest.raises(ld.ClaimError, match=r"there must be|records must be published|breaks? the claim"):
        save(any_release, tmp_path / "release", 2, change=lose)
    assert not list(tmp_path.iterdir())


def test_a_repeated_row_is_noticed(any_release: ld.Release, tmp_path: Path) -> None:
    with pytest.raises(ld.ClaimError, match=r"there must be|records must be published"):
        save(any_release, tmp_path / "release", 2, change=lambda parts: [*parts, parts[0].slice(0, 1)])
    assert not list(tmp_path.iterdir())


def test_a_set_that_breaks_the_claim_in_one_file_is_refused(release: ld.Release, tmp_path: Path) -> None:
    sets = release.sets("disease").copy()
    sets[-1] = [4, 4, 5]
    broken = replace(release, _rows=replace(release._rows, coded={"disease": sets}))  # type: ignore[type-var]

    with pytest.raises(ld.ClaimError, match="1 of 20 published sets breaks the claim"):
        save(broken, tmp_path / "release", 3)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["generalized", "bucketized", "separate"])
def test_classes_across_files_keep_the_claim_together(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    release: ld.ClassRelease = request.getfixturevalue(kind)
    claims = tuple(replace(claim, rule=ld.UniqueDiversity(l=3)) for claim in release.claims)

    with pytest.raises(ld.ClaimError, match=r"published class(es)? breaks? the claim"):
        save(replace(release, claims=claims), tmp_path / "release", 2)
    assert not list(tmp_path.iterdir())


def test_records_that_look_alike_are_counted_across_files(tmp_path: Path) -> None:
    table = pa.table({"sex": ["F", "M"] * 6, "disease": ["cold", "cut", "flu"] * 4})
    release = ld.anonymize(table, quasi="sex", sensitive="disease", method=ld.RandomizedAddition(l=2))

    def claiming(k: int) -> ld.Release:
        return replace(release, claims=(*release.claims, AlikeClaim("disease", KAnonymity(k))))

    save(claiming(6), tmp_path / "holds", 5)
    ld.load_release(tmp_path / "holds").verify()
    with pytest.raises(ld.ClaimError, match="2 of 2 groups of records that look alike break the claim"):
        save(claiming(7), tmp_path / "broken", 5)
    assert not (tmp_path / "broken").exists()


def test_values_are_listed_in_the_order_of_classes(bucketized: ld.ClassRelease, tmp_path: Path) -> None:
    save(bucketized, tmp_path / "release", 2)

    read = [pq.read_table(tmp_path / "release" / f"sensitive_1_{number}.parquet") for number in (1, 2)]
    assert [set(one["class_id"].to_pylist()) for one in read] == [{1}, {2}]


@pytest.mark.parametrize(
    "name", ["data_1.parquet", "../data-1.parquet", "data-1.csv", "data-A.parquet", "release.json"]
)
def test_a_writer_refuses_names_that_are_not_its_own(release: ld.Release, tmp_path: Path, name: str) -> None:
    with pytest.raises(ld.ParameterError, match=r"must be as data-TOKEN\.parquet"):
        SetWriter("parquet", release._description)(tmp_path, name, [release._coded()])
    assert not list(tmp_path.iterdir())


def test_what_attempts_left_is_removed(any_release: ld.Release, tmp_path: Path) -> None:
    def leave(folder: Path) -> None:
        for name in ("data-9z.parquet", "data.csv", "sensitive_1-9z.parquet", "sensitive_7-9z.csv"):
            (folder / name).write_bytes(b"of an attempt that failed")

    save(any_release, tmp_path / "release", 2, tamper=leave)

    assert not list((tmp_path / "release").glob("*-*"))
    assert same(ld.load_release(tmp_path / "release"), any_release)


def test_what_a_task_sends_back_is_small(release: ld.Release, tmp_path: Path) -> None:
    (one,) = by_tasks(tmp_path, SetWriter("parquet", release._description), [release._coded()])

    assert Written.from_json(one.to_json()) == one == pickle.loads(pickle.dumps(one))  # noqa: S301 - made here
    assert len(one.to_json()) < 500
