"""A CSV file that is compared with what was meant is read in small blocks, and any byte that differs is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import ldiversity as ld
from ldiversity.errors import SchemaError
from ldiversity.release import _files as files
from ldiversity.release import _written as written
from ldiversity.release._files import DataFile
from ldiversity.release._sinks import write_tables
from ldiversity.release._survival import Content
from ldiversity.tables import MANY_CELLS

TEXTS = {"x": pa.string(), "y": pa.string()}


def file_of(folder: Path, table: pa.Table, *, compared: bool) -> DataFile:
    file = folder / "data.csv"
    rows = write_tables(file, [table], "csv")
    return DataFile(folder, file.name, "csv", rows, file.stat().st_size, TEXTS, compared=compared)


@pytest.mark.parametrize("place", [0, 1, 50, 99])
def test_a_row_that_is_longer_than_a_small_block_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    monkeypatch.setattr(files, "_SMALL_BLOCK", 256)
    texts = [f'{i},\n"{i}"\r\n' for i in range(100)]
    texts[place] = "long\n" * 200
    table = pa.table({"x": texts, "y": [None, ""] * 50})
    once, slow = (
        pa.concat_tables(file_of(tmp_path, table, compared=compared).checked(["x", "y"])) for compared in (True, False)
    )

    assert once.equals(slow)
    assert once.combine_chunks().equals(table.combine_chunks())


def test_a_row_that_is_longer_than_any_block_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_SMALL_BLOCK", 256)
    monkeypatch.setattr(files, "_BLOCK_BYTES", 512)
    table = pa.table({"x": ["a"] * 100 + ["long " * 1000] + ["a"] * 500, "y": ["b"] * 601})
    with pytest.raises(ld.errors.ReleaseFormatError, match="cannot be read as CSV"):
        list(file_of(tmp_path, table, compared=True).checked(["x", "y"]))


def test_only_what_is_compared_is_not_looked_at_for_utf8(tmp_path: Path) -> None:
    table = pa.table({"x": ["ab", "cd"], "y": ["e", "f"]})
    for compared in (False, True):
        file = file_of(tmp_path, table, compared=compared)
        path = tmp_path / file.name
        path.write_bytes(path.read_bytes().replace(b"cd", b"\xc3("))
        if not compared:
            with pytest.raises(ld.errors.ReleaseFormatError, match="cannot be read as CSV"):
                list(file.checked(["x", "y"]))
            continue
        meant, read = Content(by_bytes=True), Content(by_bytes=True)
        meant.add(table)
        for batch in file.checked(["x", "y"]):
            read.add(batch, meant.types)
        assert meant.differences(read) == ["x"]


PLANTED = [
    (b'"value 3"', b'"value 4"', "s"),
    (b'"value 3"', b'"value x"', "s"),
    (b'"value 3"', b'"valu\xff 3"', "s"),
    (b'"job 17"', b'"job 18"', "job"),
    (b'"job 17"', b'"jo\xffb17"', "job"),
    (b"\n", b" ", ""),
]


@pytest.mark.parametrize(("before", "after", "column"), PLANTED)
def test_one_change_of_a_large_file_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes, after: bytes, column: str
) -> None:
    rows, rng = MANY_CELLS // 2 + 1, np.random.default_rng(1)
    jobs = pa.array([f"job {i}" for i in range(30)]).take(pa.array(rng.integers(0, 30, rows)))
    table = pa.table({"job": jobs, "s": [f"value {i % 7}" for i in range(rows)]})
    pa_csv.write_csv(table, tmp_path / "table.csv")

    def planted(file: Path, *rest: object) -> int:
        n_rows = write_tables(file, *rest)  # type: ignore[arg-type]
        content = file.read_bytes()
        place = content.index(before, len(content) // 2)
        file.write_bytes(content[:place] + after + content[place + len(before) :])
        return n_rows

    def publish(name: str) -> ld.Release:
        method = ld.RandomizedAddition(l=2)
        return ld.anonymize(tmp_path / "table.csv", quasi="job", sensitive="s", method=method, output=tmp_path / name)

    assert publish("right").n_rows == rows
    monkeypatch.setattr(written, "write_tables", planted)
    with pytest.raises(ld.errors.LDiversityError) as caught:
        publish("wrong")

    assert not (tmp_path / "wrong").exists()
    assert isinstance(caught.value, SchemaError) or not column
    assert f"'{column}'" in str(caught.value) or not column


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_long_texts_are_compared_by_their_lengths_too(step: int) -> None:
    """Lengths that a byte does not hold: the same bytes, cut elsewhere, are other texts."""
    lengths = [3, 254, 255, 256, 300, 0, 255, 1000, 5]
    others = [3, 254, 256, 255, 300, 0, 255, 1000, 5]
    contents = []
    for sizes in (lengths, lengths, others, [*lengths[:-2], 999, 6]):
        contents.append(Content(by_bytes=True))
        texts = pa.array(["a" * size for size in sizes])
        for start in range(0, len(texts), step if len(contents) > 1 else 4):
            contents[-1].add(pa.table({"x": texts.slice(start, step if len(contents) > 1 else 4)}))

    assert [contents[0].differences(one) for one in contents] == [[], [], ["x"], ["x"]]
