"""A CSV file of which parsed rows are held reads as one that is parsed in every pass."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from ldiversity.engines import LocalEngine
from ldiversity.errors import SchemaError
from ldiversity.tables import Source, open_source
from ldiversity.tables import _csv as csv_files
from ldiversity.tables import _held_rows as held_rows
from ldiversity.tables._csv import CsvSource

COLUMNS = {
    "whole numbers": [f"{i % 7}" for i in range(60)],
    "leading zeros": [f"{i % 7:02d}" for i in range(60)],
    "numbers that differ": [f"{i * 37 + 1000}" for i in range(60)],
    "decimals after whole numbers": [f"{i + 100}" for i in range(50)] + [f"{i}.5" for i in range(10)],
    "texts after numbers": [f"{i}.25" for i in range(50)] + ["unknown"] * 10,
    "a wide number at the end": [f"{i}.5" for i in range(59)] + ["9007199254740993"],
    "spelled as no number is at the end": [f"{i}" for i in range(59)] + ["007"],
    "minus zero": [f"{i}" for i in range(59)] + ["-0"],
    "minus zero before a fraction": [f"{i * 37}" for i in range(1, 40)] + ["-0"] + [f"{i}.5" for i in range(20)],
    "empty at first": [""] * 40 + [f"{i}" for i in range(20)],
    "days": [f"2020-01-{i % 28 + 1:02d}" for i in range(60)],
    "days that differ": [f"20{i + 10}-01-31" for i in range(60)],
    "booleans": ["true", "FALSE", ""] * 20,
    "nothing": [""] * 60,
    "texts that differ": [f"name {i}" for i in range(60)],
    "quoted": [f'"say ""{i % 3}"", or, not"' for i in range(60)],
    "texts with gaps": ["a", "", "b"] * 20,
}


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_BLOCK_BYTES", 128)
    monkeypatch.setattr(held_rows, "HELD_ROWS", 16)


def written(folder: Path, name: str) -> Path:
    file = folder / "table.csv"
    file.write_text("x,row\n" + "".join(f"{cell},{row}\n" for row, cell in enumerate(COLUMNS[name])))
    return file


def rows_of(source: Source, columns: list[str], encoded: tuple[str, ...] = ()) -> pa.Table:
    batches = [
        pa.record_batch(
            {one: column.cast(source.columns[one]) for one, column in zip(columns, batch.columns, strict=True)}
        )
        for batch in source.batches(columns, chunk_rows=9, encoded=encoded)
    ]
    return pa.Table.from_batches(batches).combine_chunks()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_held_is_what_is_parsed(tmp_path: Path, name: str) -> None:
    file = written(tmp_path, name)
    parsed, held = open_source(file), open_source(file, hold=1 << 20)

    assert held.columns == parsed.columns
    assert held.n_rows == parsed.n_rows == 60
    for columns in (["x", "row"], ["row"], ["row", "x"]):
        assert rows_of(held, columns).equals(rows_of(parsed, columns))
    assert rows_of(held, ["x"], ("x",)).equals(rows_of(parsed, ["x"], ("x",)))
    assert str(rows_of(held, ["x"]).to_pylist()) == str(rows_of(parsed, ["x"]).to_pylist())  # zeros have a sign


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["text", "number"])
def test_declared_types_are_held_as_they_were_declared(tmp_path: Path, kind: str) -> None:
    file = written(tmp_path, "whole numbers")
    parsed, held = (open_source(file, types={"x": kind}, hold=most) for most in (0, 1 << 20))

    assert held.columns == parsed.columns
    assert rows_of(held, ["x"]).equals(rows_of(parsed, ["x"]))


@pytest.mark.usefixtures("small_blocks")
def test_texts_are_parsed_once_unless_they_take_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, "whole numbers")
    reads = []
    parse = CsvSource._parsed
    monkeypatch.setattr(CsvSource, "_parsed", lambda self, *rest: reads.append(rest) or parse(self, *rest))
    for hold, passes in ((1 << 20, 2), (600, 4), (0, 3)):  # the first of two looks at one block
        reads.clear()
        source = open_source(file, hold=hold)
        rows_of(source, ["x"])
        rows_of(source, ["x"])
        assert len(reads) == passes, hold


def test_a_file_that_changes_is_refused_though_its_rows_are_held(tmp_path: Path) -> None:
    file = written(tmp_path, "whole numbers")
    source = open_source(file, hold=1 << 20)
    file.write_text(file.read_text().replace("6", "5"))

    with pytest.raises(SchemaError, match="must stay as it is"):
        rows_of(source, ["x"])


def test_nothing_is_held_where_memory_is_limited(tmp_path: Path) -> None:
    file = written(tmp_path, "whole numbers")
    held = [
        LocalEngine(**given).open(file)._held is not None for given in ({}, {"chunk_rows": 10}, {"memory": "500MB"})
    ]

    assert held == [True, False, False]


@pytest.mark.parametrize(("numbers", "fits"), [([1, 5], True), ([0, 5], False)])
def test_zeros_among_whole_numbers_are_parsed_again_where_there_are_fractions(numbers: list[int], fits: bool) -> None:  # noqa: FBT001
    held = held_rows.HeldRows(1000)
    held.add(pa.record_batch({"x": numbers}))

    assert held.settle({"x": pa.float64()}) == fits


@pytest.mark.parametrize("most_rows", [1, 3, 4, 100])
def test_few_rows_are_read_at_once_where_few_are_wanted(most_rows: int) -> None:
    held = held_rows.HeldRows(1 << 20)
    texts = pa.array(["f", "m", None, "f", "m", "x", "f"])
    held.add(
        pa.record_batch(
            {"age": list(range(1, 8)), "sex": texts.dictionary_encode(), "size": [f"{i}" for i in range(7)]}
        )
    )
    assert held.settle({"age": pa.float64(), "sex": pa.string(), "size": pa.int64()})
    batches = list(held.read(["size", "sex", "age"], most_rows))
    assert [batch.num_rows for batch in batches] == [min(most_rows, 7 - start) for start in range(0, 7, most_rows)]
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert rows == [{"size": i, "sex": text, "age": i + 1.0} for i, text in enumerate(texts.to_pylist())]
