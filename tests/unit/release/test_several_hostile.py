"""Releases of several files that are damaged, or made to do harm."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from tests.unit.release.several_files import save

Manifest = dict[str, Any]


def edit(folder: Path, change: Callable[[Manifest], object]) -> None:
    manifest = json.loads((folder / "release.json").read_text())
    change(manifest)
    (folder / "release.json").write_text(json.dumps(manifest))


def files(manifest: Manifest) -> list[Manifest]:
    found: list[Manifest] = manifest["data"]["files"]
    return found


def replace_file(folder: Path, number: int, table: pa.Table) -> None:
    """Swap the rows of one file and mend what the manifest says of it, as someone who means harm would."""
    name = f"data_{number}.parquet"
    pq.write_table(table, folder / name)
    content = (folder / name).read_bytes()

    def mend(manifest: Manifest) -> None:
        entry = files(manifest)[number - 1]
        manifest["data"]["bytes"] += len(content) - entry["bytes"]
        entry.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())

    edit(folder, mend)


@pytest.fixture
def folder(release: ld.Release, tmp_path: Path) -> Path:
    return save(release, tmp_path / "release", 3)


@pytest.fixture
def buckets(bucketized: ld.ClassRelease, tmp_path: Path) -> Path:
    return save(bucketized, tmp_path / "release", 2)


ROWS = 10**12 + 40
ONE = {"file": "data_1.parquet", "rows": 0, "bytes": 0, "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda m: m.update(version=1), "must be of version 2 where there are several files"),
        (lambda m: m.update(version=3), "newer version"),
        (lambda m: m["data"].update(files=[]), r"damaged at data\.files"),
        (lambda m: m["data"].update(files=files(m)[:1]), r"damaged at data\.files"),
        (lambda m: m["data"].update(files=[ONE] * 100_001), r"damaged at data\.files"),
        (lambda m: m["data"].update(files=[ONE] * 100_000), "each once and in order"),
        (lambda m: m["data"].update(file="data.parquet", sha256="0" * 64), "either file and sha256 or files"),
        (lambda m: m["data"].update(file="data.parquet"), "either file and sha256 or files"),
        (lambda m: m["data"].pop("files"), "either file and sha256 or files"),
        (lambda m: files(m)[0].update(file="../data_1.parquet"), r"damaged at data\.files\.0\.file"),
        (lambda m: files(m)[0].update(file="/etc/passwd"), r"damaged at data\.files\.0\.file"),
        (lambda m: files(m)[0].update(file="data_1.parquet/../data_1.parquet"), r"damaged at data\.files"),
        (lambda m: files(m)[0].update(file="sensitive_1_1.parquet"), "each once and in order"),
        (lambda m: files(m)[1].update(file="data_1.parquet"), "each once and in order"),
        (lambda m: files(m)[1].update(file="data_2.csv"), "each once and in order"),
        (lambda m: files(m).reverse(), "each once and in order"),
        (lambda m: files(m)[0].update(rows=21), "as many rows as its files"),
        (lambda m: files(m)[0].update(bytes=1), "as many bytes as its files"),
        (lambda m: files(m)[0].update(rows=-1), r"damaged at data\.files\.0\.rows"),
        (lambda m: files(m)[2].update(sha256="0" * 64), r"data_3\.parquet must have the size and checksum"),
        (lambda m: (files(m).pop(), m["data"].update(rows=40)), "as its files together"),
        (
            lambda m: (
                files(m)[0].update(rows=10**12),
                m["data"].update(rows=10**12 + 40),
                m.update(records=10**12 + 40),
            ),
            "too small for the rows",
        ),
    ],
)
def test_a_tampered_manifest_is_refused(folder: Path, change: Callable[[Any], object], rule: str) -> None:
    edit(folder, change)

    with pytest.raises(ld.ReleaseFormatError, match=rule):
        ld.load_release(folder)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda t: t.update(files=list(reversed(t["files"]))), "each once and in order"),
        (lambda t: t["files"][0].update(file="data_1.parquet"), "each once and in order"),
        (lambda t: t["files"][1].update(file="sensitive_2_2.parquet"), "each once and in order"),
        (lambda t: t["files"][0].update(rows=7), "as many rows as its files"),
        (lambda t: t["files"][0].update(sha256="0" * 64), "size and checksum"),
    ],
)
def test_a_tampered_table_of_values_is_refused(buckets: Path, change: Callable[[Any], object], rule: str) -> None:
    edit(buckets, lambda m: change(m["classes"]["tables"][0]))

    with pytest.raises(ld.ReleaseFormatError, match=rule):
        ld.load_release(buckets)


def test_values_that_are_exchanged_between_files_are_refused(buckets: Path) -> None:
    first, second = (buckets / f"sensitive_1_{number}.parquet" for number in (1, 2))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)

    def exchange(manifest: Manifest) -> None:
        one, two = manifest["classes"]["tables"][0]["files"]
        one["file"], two["file"] = two["file"], one["file"]
        manifest["classes"]["tables"][0]["files"] = [two, one]

    edit(buckets, exchange)
    with pytest.raises(ld.ReleaseFormatError, match="in the order of classes and values"):
        ld.load_release(buckets).classes("disease")  # type: ignore[attr-defined]


def test_a_changed_file_is_noticed(folder: Path) -> None:
    content = bytearray((folder / "data_2.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "data_2.parquet").write_bytes(content)

    with pytest.raises(ld.ReleaseFormatError, match=r"data_2\.parquet must have the size and checksum"):
        ld.load_release(folder)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "data_2.parquet").unlink()

    with pytest.raises(ld.ReleaseFormatError, match=r"must contain data_2\.parquet as a regular file"):
        ld.load_release(folder)


def test_a_file_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "data_2.parquet").rename(tmp_path / "elsewhere")
    (folder / "data_2.parquet").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ld.ReleaseFormatError, match="regular file"):
        ld.load_release(folder)


@pytest.mark.parametrize("name", ["data_4.parquet", "data.parquet", "sensitive_1.parquet", "data-7a.csv"])
def test_a_file_that_is_not_listed_is_refused(folder: Path, name: str) -> None:
    """Other tools read all files of a folder that look alike."""
    (folder / name).write_bytes((folder / "data_1.parquet").read_bytes())

    with pytest.raises(ld.ReleaseFormatError, match=r"files of rows that release\.json does not name"):
        ld.load_release(folder)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda table: table.slice(1), r"data_2\.parquet must hold 20 rows"),
        (lambda table: table.drop_columns(["sex"]), r"data_2\.parquet must have the column 'sex'"),
        (lambda table: table.set_column(0, "age", pa.array(["x"] * 20)), "types that release"),
        (lambda table: table.set_column(2, "disease", pa.array([["angina"]] * 20)), "sets of 3 values"),
    ],
)
def test_one_file_that_breaks_the_description_is_refused(
    folder: Path, change: Callable[[pa.Table], pa.Table], rule: str
) -> None:
    replace_file(folder, 2, change(pq.read_table(folder / "data_2.parquet")))

    release = ld.load_release(folder)
    with pytest.raises(ld.ReleaseFormatError, match=rule):
        assert release.columns(["age", "sex"]).num_rows + len(release.sets("disease"))


def test_a_broken_claim_in_one_file_is_told(folder: Path) -> None:
    table = pq.read_table(folder / "data_3.parquet")
    sets = [["angina", "angina", "asthma"], *table["disease"].to_pylist()[1:]]
    replace_file(folder, 3, table.set_column(2, "disease", pa.array(sets)))

    with pytest.raises(ld.ClaimError, match="1 of 20 published sets breaks the claim"):
        ld.load_release(folder).verify()


def test_small_files_together_unfold_no_further_than_one_of_their_size(folder: Path) -> None:
    """A limit for each small file would let many of them fill the memory."""
    long = pa.array(["x" * 4_000_000]).dictionary_encode()
    for number in (1, 2, 3):
        cells = pa.DictionaryArray.from_arrays(pa.array([0] * 20), long.dictionary)
        table = pq.read_table(folder / f"data_{number}.parquet").set_column(1, "sex", cells.cast(pa.string()))
        replace_file(folder, number, table)
    assert sum(file.stat().st_size for file in folder.glob("data_*")) < 1_000_000

    # 80 MB in each file are within what a small file may hold by itself; three of them have a third of it each.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ldiversity.release._parquet._SMALL_FILE", 1 << 22)
        patch.setattr("ldiversity.release._parquet._MOST_EXPANSION", 30)
        with pytest.raises(ld.ReleaseFormatError, match="must not expand"):
            ld.load_release(folder).columns(["sex"])
