"""Small releases that would fill the memory or the time of whoever reads them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.base.limits import MOST_COLUMNS
from ldiversity.errors import SchemaError
from ldiversity.release import _json, _manifest
from ldiversity.release import _parquet_footer as footers
from ldiversity.release import _parquet_pages as pages
from ldiversity.release._parquet import parquet_batches
from ldiversity.release._thrift import CompactReader, compact

SAMPLE = Path(__file__).parents[2] / "data" / "release-v1-generalized-parquet"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "release"))


def insert(folder: Path, text: str) -> None:
    file = folder / "release.json"
    file.write_text(file.read_text(encoding="utf-8").replace("{", "{" + text, 1), encoding="utf-8")


def test_a_description_of_too_many_parts_is_refused_before_it_is_built(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert(folder, '"more": [' + "[]," * (1 << 22) + "[]],")  # at 700 bytes each, three gigabytes
    monkeypatch.setattr(_json.json, "loads", lambda *_, **__: pytest.fail("was built"))

    with pytest.raises(ld.ReleaseFormatError, match="at most 8388608 parts"):
        ld.load_release(folder)


def test_a_description_of_too_many_parts_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = _manifest.read_manifest(SAMPLE)
    monkeypatch.setattr(_json, "MOST_MANIFEST_PARTS", 10)

    with pytest.raises(SchemaError, match="parts together"):
        _manifest.manifest_text(manifest)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(columns=[{}] * 1000),
        lambda m: m.update(sensitive=[{}] * 1000),
        lambda m: m.update(not_protected=[1] * 1000),
        lambda m: m["sensitive"][0]["domain"].update(values=[[]] * 1000),
        lambda m: m["sensitive"][0]["domain"].update(positions=["x"] * 1000),
        lambda m: m["sensitive"][0]["domain"].update(edges=["x"] * 1000),
        lambda m: m["classes"].update(forms=[{}] * 1000),
        lambda m: m["classes"].update(tables=[{}] * 1000),
        lambda m: m["classes"].update(warnings=[1] * 1000),
        lambda m: m["classes"].update(columns={str(number): 1 for number in range(MOST_COLUMNS + 1)}),
        lambda m: m["classes"].update(numbers={str(number): 0 for number in range(MOST_COLUMNS + 1)}),
    ],
)
def test_a_thousand_faults_are_not_described_one_by_one(change: Callable[[dict[str, Any]], object]) -> None:
    said = _json.parse_json((SAMPLE / "release.json").read_bytes())
    change(said)

    with pytest.raises(_manifest.ValidationError) as caught:
        _manifest.Manifest.model_validate(said)

    assert caught.value.error_count() < 10


@pytest.mark.parametrize("kind", ["text", "struct"])
def test_long_texts_of_many_row_groups_are_measured_together(tmp_path: Path, kind: str) -> None:
    # Each group decodes to 50 MB, which is allowed; all of them to half a gigabyte.
    file, groups, rows = tmp_path / "data.parquet", 10, 1000
    texts = pa.array(["x" * 50_000]).take(pa.array([0] * rows))
    column = texts if kind == "text" else pa.StructArray.from_arrays([texts], names=["low"])
    table = pa.table({"a": column})
    with pq.ParquetWriter(file, table.schema, compression="zstd", store_schema=False) as writer:
        for _ in range(groups):
            writer.write_table(table)
    assert file.stat().st_size < 20_000

    with pytest.raises(ld.ReleaseFormatError, match="must not expand"):
        for _ in parquet_batches(file, ["a"], n_rows=groups * rows, longest=1):
            pass


def test_row_groups_without_rows_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "data.parquet"
    table = pa.table({"a": [1, 2, 3]})
    with pq.ParquetWriter(file, table.schema) as writer:
        for part in (table.slice(0, 0), table, *[table.slice(0, 0)] * 20):
            writer.write_table(part)
    assert pq.read_metadata(file).num_row_groups == 22

    batches = list(parquet_batches(file, ["a"], n_rows=3, longest=1))

    assert [batch.to_pydict() for batch in batches] == [{"a": [1, 2, 3]}]
    assert len(footers.read_footer(pa.OSFile(str(file))).groups) == 1


@pytest.mark.parametrize("values", [["x", "y", "x"], [1.5, 2.5, 1.5]], ids=["texts", "numbers"])
def test_a_dictionary_of_more_entries_than_bytes_is_refused(tmp_path: Path, values: list[Any]) -> None:
    # Arrow makes room for all entries at once, whatever there is: 34 GB of texts here.
    file = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": values}), file, compression="none", write_statistics=False)
    content = file.read_bytes()
    reader = CompactReader(content, 4)
    head = reader.structure(pages._PAGE)
    head["dictionary"]["values"] = 2**31 - 1
    written = compact(head, pages._PAGE)
    grown = len(written) - (reader.position - 4)
    first = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    said = CompactReader(content[first:-8]).structure(footers._FILE_READ)
    (group,) = said["groups"]
    (chunk,) = group["chunks"]
    chunk["column"].update(data=chunk["column"]["data"] + grown, bytes=chunk["column"]["bytes"] + grown)
    footer = compact(
        {**said, "elements": list(said["elements"]), "groups": [{**group, "chunks": [chunk]}]}, footers._FILE
    )
    parts = [content[:4], written, content[reader.position : first], footer, len(footer).to_bytes(4, "little"), b"PAR1"]
    file.write_bytes(b"".join(parts))
    (found,) = footers.read_footer(pa.OSFile(str(file))).groups

    with pytest.raises(footers.ThriftError, match="more entries than bytes"):
        pages.unfolded_bytes(pa.OSFile(str(file)), list(found.chunks))


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_groups_that_are_read_at_once_are_the_same_in_the_same_order(tmp_path: Path, workers: int) -> None:
    table = pa.table({"a": pa.array([f"text {i % 7}" for i in range(1000)]), "b": list(range(1000))})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=90, store_schema=False)
    tables = list(parquet_batches(tmp_path / "a.parquet", ["b", "a"], n_rows=1000, longest=1, workers=workers))
    assert [one.num_rows for one in tables] == [90] * 11 + [10]
    read = pa.concat_tables(tables)
    assert read["b"].to_pylist() == table["b"].to_pylist()
    assert read["a"].to_pylist() == table["a"].to_pylist()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_group_that_is_damaged_is_found_whoever_reads_it(tmp_path: Path, workers: int) -> None:
    file = tmp_path / "a.parquet"
    table = pa.table({"a": np.arange(3000).astype(float)})
    pq.write_table(table, file, row_group_size=1000, use_dictionary=False, compression="snappy", store_schema=False)
    start = pq.ParquetFile(file).metadata.row_group(2).column(0).data_page_offset
    content = bytearray(file.read_bytes())
    content[start + 60 : start + 5000] = bytes(4940)
    file.write_bytes(content)
    with pytest.raises(ld.ReleaseFormatError):
        list(parquet_batches(file, ["a"], n_rows=3000, longest=1, workers=workers))


def test_guesses_that_are_too_high_refuse_no_table_that_may_be_read(tmp_path: Path) -> None:
    # Each group of each column has one text that is long, which a guess takes for the length of all.
    columns = {f"c{k}": pa.array([f"{'x' * 500}{k}" if i % 100 == 0 else "y" for i in range(20_000)]) for k in range(9)}
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), file, row_group_size=100, store_schema=False)
    read = parquet_batches(file, list(columns), n_rows=20_000, longest=1)
    assert sum(one.num_rows for one in read) == 20_000
