"""Texts travel as numbers, and nothing but what the rows show reaches a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.engines import LocalEngine
from ldiversity.publish import _numbered_texts, _publish_sets
from ldiversity.publish._numbered_texts import NumberedTexts, TooManyTexts, repeated_texts
from ldiversity.release._coded import _as_written
from ldiversity.tables import open_source

UNUSED = "canary of another row"
N = 1_200
KEY = ld.Key.new()


def people(rows: int = N) -> pa.Table:
    rng = np.random.default_rng(7)
    towns = pa.array([None, *(f"town {i:04d}" for i in range(200))])
    return pa.table(
        {
            "id": np.arange(rows),
            "sex": pa.array(["f", "m"]).take(pa.array(rng.integers(0, 2, rows))),
            "town": towns.take(pa.array(rng.integers(0, 201, rows))),
            "note": [f"note {i}" for i in range(rows)],
            "illness": pa.array([f"illness {i}" for i in range(6)]).take(pa.array(rng.integers(0, 6, rows))),
        }
    )


def published(table: pa.Table, folder: Path, missing: str = "refuse", **given: object) -> ld.Release:
    source = folder / "source.parquet"
    pq.write_table(table, source, row_group_size=500)
    return ld.anonymize(
        source,
        quasi=["sex", "town"],
        plain=["note"],
        sensitive=ld.Sensitive("illness", missing=missing),
        method=ld.RandomizedAddition(l=2),
        key=KEY,
        record_id="id",
        stable_order=True,
        confirm=["note", "town"],
        engine=LocalEngine(chunk_rows=400),
        output=folder / "release",
        **given,
    )


texts_or_none = st.lists(st.none() | st.text(max_size=2), max_size=6)


@given(st.lists(st.tuples(texts_or_none, st.booleans()), max_size=4))
@settings(deadline=None)
def test_texts_come_back_as_they_were(batches: list[tuple[list[str | None], bool]]) -> None:
    cells = [pa.array(texts, pa.string()) for texts, _ in batches]
    given_cells = [
        one.dictionary_encode() if encoded else one for one, (_, encoded) in zip(cells, batches, strict=True)
    ]
    numbers = NumberedTexts(["x"])
    moved = list(numbers.numbered(pa.record_batch({"x": one}) for one in given_cells))

    assert all(batch.schema.field("x").type == pa.uint16() for batch in moved)
    assert [batch["x"].to_pylist() for batch in numbers.named(moved)] == [one.to_pylist() for one in cells]


def test_a_text_that_a_dictionary_lists_twice_has_one_number() -> None:
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["f", "m", "f"]))
    (batch,) = NumberedTexts(["x"]).numbered([pa.record_batch({"x": twice})])
    assert batch["x"].to_pylist() == [0, 1, 0]


def test_only_texts_that_repeat_are_numbered() -> None:
    assert repeated_texts(open_source(people()), people().column_names) == {"sex", "town", "illness"}


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_a_release_is_the_same_with_and_without_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_format: str
) -> None:
    found = []
    for place, numbered in enumerate([True, False]):
        folder = tmp_path / f"{place}"
        folder.mkdir()
        if not numbered:
            monkeypatch.setattr(_publish_sets, "repeated_texts", lambda *_: frozenset())
        release = published(people(), folder, data_format=data_format)
        found.append((release.columns(["sex", "town", "note"]).to_pydict(), release.sets("illness").tolist()))
    assert found[0] == found[1]


def test_more_texts_than_expected_travel_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    first.mkdir()
    second.mkdir()
    expected = published(people(), first)
    made = NumberedTexts.__init__
    monkeypatch.setattr(NumberedTexts, "__init__", lambda *said, **more: made(*said, **more, most_texts=50))
    tried = []
    begun = NumberedTexts.numbered
    monkeypatch.setattr(NumberedTexts, "numbered", lambda *said: tried.append(1) or begun(*said))
    found = published(people(), second)

    assert len(tried) == 2  # the column of 200 towns is given up, and the work begins anew
    assert (second / "release" / "data.parquet").stat().st_size
    assert found.columns(["sex", "town"]).equals(expected.columns(["sex", "town"]))
    assert (found.sets("illness") == expected.sets("illness")).all()


def test_long_texts_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_numbered_texts, "_MOST_BYTES", 1_000)
    with pytest.raises(TooManyTexts):
        list(NumberedTexts(["x"]).numbered([pa.record_batch({"x": ["long" * 400]})]))


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ["unused entry", "row left out", "row without a value"])
def test_a_text_that_no_published_row_has_is_in_no_file(tmp_path: Path, kind: str, data_format: str) -> None:
    table = people()
    town = table["town"].combine_chunks()
    illness = table["illness"].to_pylist()
    missing = {"unused entry": "refuse", "row left out": "drop", "row without a value": "category"}[kind]
    if kind == "unused entry":
        encoded = town.dictionary_encode()
        entries = pa.concat_arrays([encoded.dictionary, pa.array([UNUSED])])
        cells = pa.DictionaryArray.from_arrays(encoded.indices, entries)
    else:
        cells = pa.array([UNUSED, *town.to_pylist()[1:]], pa.string())
        illness[0] = None
    table = table.set_column(2, "town", cells).set_column(4, "illness", pa.array(illness, pa.string()))
    release = published(table, tmp_path, missing, data_format=data_format)

    content = b"".join(file.read_bytes() for file in (tmp_path / "release").rglob("*") if file.is_file())
    assert (UNUSED.encode() in content) == (kind == "row without a value")  # that row is published
    assert (UNUSED in release.columns(["town"])["town"].to_pylist()) == (kind == "row without a value")


def test_dictionaries_in_a_file_show_their_rows_alone_in_their_order(tmp_path: Path) -> None:
    published(people(), tmp_path)
    file = pq.ParquetFile(tmp_path / "release" / "data.parquet", read_dictionary=["town"])
    for group in range(file.num_row_groups):
        (cells,) = file.read_row_group(group, columns=["town"])["town"].chunks
        assert cells.dictionary.to_pylist() == list(dict.fromkeys(cells.drop_null().to_pylist()))


@given(st.lists(st.none() | st.sampled_from("abc"), max_size=8), st.permutations(["a", "b", "c", "d", "a"]))
@settings(deadline=None)
def test_what_is_written_does_not_depend_on_how_texts_came(texts: list[str | None], listed: list[str]) -> None:
    plain = pa.chunked_array([pa.array(texts, pa.string())])
    places = pa.array([None if text is None else listed.index(text) for text in texts], pa.int32())
    entries = pa.chunked_array([pa.DictionaryArray.from_arrays(places, pa.array(listed))])

    one, other = (_as_written(column, decoded=False).chunk(0) for column in (plain, entries))

    assert one.to_pylist() == texts
    assert (one.indices, one.dictionary) == (other.indices, other.dictionary)


def file_bytes(table: pa.Table, folder: Path) -> bytes:
    folder.mkdir()
    published(table, folder, "drop")
    return (folder / "release" / "data.parquet").read_bytes()


def nearly_repeating(cell: str) -> pa.Table:
    """Half of the first rows have a town of their own, or one less; the sixth row is not published."""
    towns = [f"town {i // 2:04d}" for i in range(N - 2)] + ["town 0000"] * 2
    towns[5] = cell
    table = people()
    illness = table["illness"].to_pylist()
    illness[5] = None
    return table.set_column(2, "town", pa.array(towns)).set_column(4, "illness", pa.array(illness))


def test_a_row_that_is_left_out_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.base.hashing._TRIED", N)
    tables = [nearly_repeating("town 0007"), nearly_repeating("another town")]
    chosen = [repeated_texts(open_source(table), ["town"]) for table in tables]

    assert chosen == [{"town"}, set()]  # they travel in two ways
    assert file_bytes(tables[0], tmp_path / "1") == file_bytes(tables[1], tmp_path / "2")


def test_the_order_of_the_source_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_numbered_texts, "_FIRST_ROWS", 40)
    table = people().sort_by("town")
    mixed = table.take(pa.array(np.random.default_rng(3).permutation(N)))
    chosen = [repeated_texts(open_source(one), ["town"]) for one in (table, mixed)]

    assert chosen == [{"town"}, set()]
    assert file_bytes(table, tmp_path / "1") == file_bytes(mixed, tmp_path / "2")


@pytest.mark.parametrize(
    ("n_values", "kind"), [(2, pa.int8()), (128, pa.int8()), (129, pa.int16()), (40_000, pa.int32())]
)
def test_codes_are_as_short_as_they_can_be_and_stay_the_same(n_values: int, kind: pa.DataType) -> None:
    codes = pa.array([0, n_values - 1, 1, n_values - 2], pa.int32())
    batch = pa.record_batch({"sets": pa.FixedSizeListArray.from_arrays(codes, 2), "members": codes.slice(1, 2)})
    numbers = NumberedTexts([], {"sets": n_values, "members": n_values})
    (moved,) = numbers.numbered([batch.slice(1)])
    assert moved.schema.types == [pa.list_(kind, 2), kind]
    assert moved.to_pylist() == batch.slice(1).to_pylist()
    assert next(numbers.named([moved])).to_pylist() == batch.slice(1).to_pylist()


def test_as_many_texts_as_are_held_have_numbers_of_their_own() -> None:
    texts = pa.array([f"{i}" for i in range(1 << 16)])
    numbers = NumberedTexts(["x"])
    (moved,) = numbers.numbered([pa.record_batch({"x": pa.concat_arrays([texts, pa.nulls(1, pa.string())])})])
    (named,) = numbers.named([moved])
    assert named["x"].to_pylist() == [*texts.to_pylist(), None]
    with pytest.raises(TooManyTexts):
        list(numbers.numbered([pa.record_batch({"x": ["one more"]})]))
