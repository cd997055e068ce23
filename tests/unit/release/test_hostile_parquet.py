"""Parquet files that are damaged, or made to do harm: the reader is neither ended nor exhausted by them."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import ldiversity as ld
from ldiversity.release import _parquet_footer as footers
from ldiversity.release._parquet import parquet_batches
from ldiversity.release._thrift import CompactReader, compact

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "tests" / "data"
MOST_MEMORY = 1_000_000_000
MOST_MEMORY_FOR_A_BOMB = 500_000_000

AUDIT = """
import sys
import ldiversity as ld
try:
    ld.audit(sys.argv[1])
except ld.ReleaseFormatError as error:
    print(error.message)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from the kernel of Linux")


def run(*arguments: str, given: str = "") -> list[str]:
    """The lines that a process prints: one that is ended by a file is told apart from a failing test."""
    done = subprocess.run([sys.executable, *arguments], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-500:]}"
    return done.stdout.splitlines()


def footer_bits(file: Path) -> range:
    content = file.read_bytes()
    first = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return range(first * 8, len(content) * 8)


@linux_only
@pytest.mark.parametrize(
    ("sample", "way", "step"),
    [
        # An odd step reaches each bit of a byte in turn; `benchmarks/run.py hostile` flips them all.
        ("release-v1-generalized-parquet", "rows", 37),
        ("release-v1-separate-parquet", "all", 125),
        ("release-v1-balanced-parquet", "all", 125),
        ("release-v1-two-attributes-parquet", "table", 51),
    ],
)
def test_no_flipped_bit_of_a_footer_ends_or_exhausts_the_reader(sample: str, way: str, step: int) -> None:
    bits = footer_bits(SAMPLES / sample / "data.parquet")[::step]
    given = "\n".join(map(str, bits))

    *lines, last = run(str(ROOT / "benchmarks" / "_flips.py"), str(SAMPLES / sample), "data.parquet", way, given=given)

    assert len(lines) == len(bits)
    assert {line.split()[1] for line in lines} == {"read", "refused"}
    assert int(last.split()[1]) < MOST_MEMORY


@linux_only
@pytest.mark.parametrize("name", ["table.parquet", "table.feather", "table.arrow"])
def test_no_flipped_bit_of_an_input_table_ends_or_exhausts_the_reader(tmp_path: Path, name: str) -> None:
    table = pa.table({name: ALL_KINDS[name] for name in ("whole", "real", "text", "day", "moment")})
    table = table.append_column("category", table["text"].dictionary_encode()).slice(0, 12)
    file = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(table, file)
    elif name.endswith("feather"):
        feather.write_feather(table, file, compression="lz4")
    else:
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    bits = range(0, file.stat().st_size * 8, 125)
    given = "\n".join(map(str, bits))

    *lines, last = run(str(ROOT / "benchmarks" / "_flips.py"), str(tmp_path), name, "table", given=given)

    assert len(lines) == len(bits)
    assert {line.split()[1] for line in lines} == {"read", "refused"}
    assert int(last.split()[1]) < MOST_MEMORY


@linux_only
@pytest.mark.parametrize(("pages", "rule"), [("honest", "must not expand"), ("lying", "cannot be read as Parquet")])
def test_a_file_that_lies_about_its_size_is_refused_before_it_unfolds(tmp_path: Path, pages: str, rule: str) -> None:
    folder = str(tmp_path / "bomb")
    (size,) = run(str(ROOT / "benchmarks" / "_bomb.py"), folder, "900000000", pages)
    assert int(size) < 100_000

    said, peak = run("-c", AUDIT, folder)

    assert rule in said
    assert int(peak) * 1024 < MOST_MEMORY_FOR_A_BOMB


ALL_KINDS = pa.table(
    {
        "whole": pa.array([1, None, -3] * 20),
        "small": pa.array([1, 2, None] * 20, pa.uint8()),
        "real": [0.5, None, -1e300] * 20,
        "single": pa.array([0.5, None, 2.0] * 20, pa.float32()),
        "truth": [True, None, False] * 20,
        "text": ["ä", None, "b" * 300] * 20,
        "income.class": ["low", "high", None] * 20,
        "day": [dt.date(2020, 2, 29), None, dt.date(1, 1, 1)] * 20,
        "moment": pa.array([1_582_938_120_000_001, None, -1] * 20, pa.timestamp("us")),
        "zoned": pa.array([1_582_938_120_001] * 60, pa.timestamp("ms", tz="UTC")),
        "members": [["a", "b"], ["b", "c"], ["a", None]] * 20,
        "region": pa.array([{"low": 1, "high": 2}, {"low": None, "high": None}, {"low": 3, "high": 4}] * 20),
        "nothing": pa.nulls(60),
    }
)


@pytest.mark.parametrize(
    "options",
    [
        {},
        *({"compression": codec} for codec in ("none", "gzip", "zstd", "lz4", "brotli")),
        {"store_schema": False},
        {"data_page_version": "2.0"},
        {"use_dictionary": False},
        {"row_group_size": 7, "data_page_size": 1},
        {"write_statistics": False},
        {"write_page_index": True, "write_page_checksum": True},
        {"version": "1.0"},
    ],
    ids=str,
)
def test_honest_files_are_read_as_arrow_reads_them(tmp_path: Path, options: dict[str, Any]) -> None:
    file = tmp_path / "data.parquet"
    pq.write_table(ALL_KINDS, file, **options)
    names = ALL_KINDS.schema.names[::-1]

    read = pa.concat_tables(parquet_batches(file, names, n_rows=60, longest=2))

    assert read.to_pylist() == pq.read_table(file, columns=names).to_pylist()


def test_a_column_is_read_whatever_others_are_named_like_it(tmp_path: Path) -> None:
    file = tmp_path / "data.parquet"
    pq.write_table(pa.table({"income": [1], "income.class": ["low"], "income.list.element": ["x"]}), file)

    (batch,) = parquet_batches(file, ["income"], n_rows=1, longest=1)

    assert batch.to_pylist() == [{"income": 1}]


def test_texts_that_share_their_beginnings_are_refused(tmp_path: Path) -> None:
    # A few bytes of this encoding stand for a text of any length, and no page says how long.
    file = tmp_path / "data.parquet"
    table = pa.table({"text": ["x" * 1000] * 100})
    pq.write_table(table, file, use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"})

    with pytest.raises(ld.ReleaseFormatError, match="cannot be read as Parquet"):
        list(parquet_batches(file, ["text"], n_rows=100, longest=1))


def test_a_column_is_refused_whose_values_would_fill_the_memory(tmp_path: Path) -> None:
    # Forty million missing numbers in a file of a few kilobytes.
    file = tmp_path / "data.parquet"
    rows = 40_000_000
    pq.write_table(pa.table({"number": pa.nulls(rows, pa.int64())}), file, row_group_size=rows)
    assert file.stat().st_size < 100_000

    with pytest.raises(ld.ReleaseFormatError, match="must not expand"):
        list(parquet_batches(file, ["number"], n_rows=rows, longest=1))


def edit_footer(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a file says of itself."""
    content = file.read_bytes()
    first = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    said = CompactReader(content[first:-8]).structure(footers._FILE_READ)
    said["elements"] = list(said["elements"])
    said["groups"] = [{**group, "chunks": list(group["chunks"])} for group in said["groups"]]
    change(said)
    group = {**footers._GROUP, 1: ("chunks", footers.LongList(footers._CHUNK_READ))}
    written = compact(said, {**footers._FILE_READ, 4: ("groups", footers.LongList(group))})
    file.write_bytes(b"".join([content[:first], written, len(written).to_bytes(4, "little"), b"PAR1"]))


def column(said: dict[str, Any], number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = said["groups"][0]["chunks"][number]["column"]
    return found


def place(said: dict[str, Any], number: int) -> dict[str, Any]:
    return {name: column(said, number)[name] for name in ("data", "dictionary", "bytes")}


HARMFUL: dict[str, Callable[[dict[str, Any]], object]] = {
    "chunks that are one and the same": lambda said: column(said, 1).update(place(said, 0), bytes=400),
    "pages behind the file": lambda said: column(said).update(bytes=10**15),
    "pages before the file": lambda said: column(said).update(data=-5, dictionary=-9),
    "pages that end early": lambda said: column(said).update(bytes=column(said)["bytes"] - 1),
    "more values than pages": lambda said: column(said).update(values=119),
    "fewer values than none": lambda said: column(said).update(values=-1),
    "another codec": lambda said: column(said).update(codec=0),
    "another type": lambda said: column(said).update(type=5),
    "another column": lambda said: column(said).update(path=[b"b"]),
    "a chunk without a type": lambda said: column(said).pop("type"),
    "a chunk without a description": lambda said: said["groups"][0]["chunks"][0].pop("column"),
    "a chunk in another file": lambda said: said["groups"][0]["chunks"][0].update(other_file=b"/etc/passwd"),
    "a chunk under a cipher": lambda said: said["groups"][0]["chunks"][0].update(cipher={}),
    "a file under a cipher": lambda said: said.update(cipher={}),
    "a chunk too many": lambda said: said["groups"][0]["chunks"].append(said["groups"][0]["chunks"][0]),
    "a chunk too few": lambda said: said["groups"][0]["chunks"].pop(),
    "a row group without rows": lambda said: said["groups"][0].pop("rows"),
    "rows below zero": lambda said: said["groups"][0].update(rows=-1),
    "other rows in the group": lambda said: said["groups"][0].update(rows=59),
    "no rows in the file": lambda said: said.pop("rows"),
    "no columns": lambda said: said["elements"].clear(),
    "a column without a name": lambda said: said["elements"][1].pop("name"),
    "a column twice": lambda said: said["elements"][2].update(name=b"a"),
    "a name that is no text": lambda said: said["elements"][1].update(name=b"\xff"),
    "a name of dots": lambda said: said["elements"][1].update(name=b"." * 100),
    "a leaf with children": lambda said: said["elements"][1].update(children=1),
    "children that are missing": lambda said: said["elements"][0].update(children=3),
    "children nobody has": lambda said: said["elements"][0].update(children=1),
    "a tree without end": lambda said: said["elements"].__setitem__(
        slice(1, None), [{"name": b"a", "children": 1, "repetition": 0}] * 60_000 + [said["elements"][1]]
    ),
    "too many columns": lambda said: said["elements"].extend([said["elements"][1]] * 70_000),
}


@pytest.mark.parametrize("change", HARMFUL.values(), ids=HARMFUL)
def test_a_footer_that_cannot_be_is_refused(tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    file = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": [1, 2, 3] * 20, "b": ["x", "y", "z"] * 20}), file)
    edit_footer(file, lambda said: said)  # by itself, writing a footer anew changes nothing
    assert len(list(parquet_batches(file, ["a", "b"], n_rows=60, longest=2))) == 1

    edit_footer(file, change)

    with pytest.raises(ld.ReleaseFormatError, match=r"data\.parquet"):
        list(parquet_batches(file, ["a", "b"], n_rows=60, longest=2))


def test_texts_that_are_no_texts_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": [b"\xff\xfe", b"x"]}), file, store_schema=False)
    edit_footer(file, lambda said: said["elements"][1].update(converted=0, logical={"text": {}}))

    with pytest.raises(ld.ReleaseFormatError, match="cannot be read as Parquet"):
        list(parquet_batches(file, ["a"], n_rows=2, longest=1))


def test_columns_of_types_that_no_release_has_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": pa.array([b"1234"], pa.binary(4))}), file)

    with pytest.raises(ld.ReleaseFormatError, match="types that release"):
        list(parquet_batches(file, ["a"], n_rows=1, longest=1))
