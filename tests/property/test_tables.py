"""Laws of the border: cutting a table into chunks changes nothing, and codes lead back to values."""

from __future__ import annotations

import csv
import io
import itertools
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ldiversity.schema import Domain
from ldiversity.tables import Bins, Sensitive, decode_sets, encode_sets, fit_coder, open_source
from ldiversity.tables._csv_types import TypeGuess
from ldiversity.tables._rechunk import rechunk

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
SPELLINGS = st.sampled_from(
    ["1", "-7", "01", "1.5", ".5", "1e3", "true", "False", "2020-01-01", "2020-13-01", "x", "9007199254740993", "nan"]
)
COLUMNS = st.one_of(
    st.lists(st.none() | TEXT, min_size=1, max_size=30),
    st.lists(st.none() | st.integers(-50, 50), min_size=1, max_size=30),
    st.lists(st.none() | st.floats(-5, 5, allow_nan=False), min_size=1, max_size=30),
    st.lists(st.none() | st.booleans(), min_size=1, max_size=30),
)
CHUNKS = st.integers(1, 31)


def source_of(cells: list[Any]) -> Any:
    return open_source(pa.table({"s": pa.array(cells)}))


@given(cells=COLUMNS, chunk_rows=CHUNKS, missing=st.sampled_from(["category", "drop"]))
def test_chunking_changes_neither_domain_nor_counts_nor_codes(cells: list[Any], chunk_rows: int, missing: Any) -> None:
    cells = [*cells, next((cell for cell in cells if cell is not None), 0)]
    source = source_of(cells)

    whole, counts = fit_coder(source, Sensitive("s", missing=missing))
    cut, cut_counts = fit_coder(source, Sensitive("s", missing=missing), chunk_rows)
    codes = np.concatenate([cut.codes(batch.column(0)) for batch in source.batches(chunk_rows=chunk_rows)])

    assert (cut.domain.to_dict(), cut.type) == (whole.domain.to_dict(), whole.type)
    assert cut_counts.tolist() == counts.tolist()
    assert codes.tolist() == whole.codes(pa.array(cells)).tolist()


@given(cells=COLUMNS)
def test_codes_lead_back_to_the_values(cells: list[Any]) -> None:
    coder, counts = fit_coder(source_of(cells), Sensitive("s", missing="category"))

    decoded = [coder.domain.values[code] for code in coder.codes(pa.array(cells))]

    assert decoded == cells
    assert {value: n for value, n in zip(coder.domain.values, counts.tolist(), strict=True) if n} == Counter(cells)


@given(cells=COLUMNS, seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_change_the_domain(cells: list[Any], seed: int) -> None:
    shuffled = [cells[i] for i in np.random.default_rng(seed).permutation(len(cells))]

    one, _ = fit_coder(source_of(cells), Sensitive("s", missing="category"))
    other, _ = fit_coder(source_of(shuffled), Sensitive("s", missing="category"))

    assert one.domain.values == other.domain.values


@given(cells=st.lists(st.none() | SPELLINGS, max_size=12), cut=st.integers(0, 12), seed=st.integers(0, 99))
def test_types_of_texts_depend_on_the_set_of_cells_alone(cells: list[str | None], cut: int, seed: int) -> None:
    shuffled = [cells[i] for i in np.random.default_rng(seed).permutation(len(cells))]
    whole, parts = TypeGuess(), TypeGuess()

    whole.see(pa.array(cells, pa.string()))
    parts.see(pa.array(shuffled[:cut], pa.string()))
    parts.see(pa.array(shuffled[cut:], pa.string()))

    assert parts.type == whole.type


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.tuples(TEXT, SPELLINGS), min_size=1, max_size=12), chunk_rows=CHUNKS)
def test_a_csv_file_gives_its_texts_back(rows: list[tuple[str, str]], chunk_rows: int) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("first", "second", "last"), *((*row, ".") for row in rows)])

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(text.getvalue().encode())
        source = open_source(path, types={"first": "text", "second": "text"})
        read = [tuple(row.values())[:2] for batch in source.batches(chunk_rows=chunk_rows) for row in batch.to_pylist()]

    assert read == [(first or None, second) for first, second in rows]


@given(sizes=st.lists(st.integers(0, 9), max_size=8), chunk_rows=st.integers(1, 12))
def test_rechunking_keeps_rows_and_fills_chunks(sizes: list[int], chunk_rows: int) -> None:
    starts = itertools.accumulate(sizes, initial=0)
    batches = [
        pa.record_batch({"a": pa.array(range(s, s + n), pa.int64())}) for s, n in zip(starts, sizes, strict=False)
    ]

    chunks = list(rechunk(iter(batches), chunk_rows))

    assert [row for chunk in chunks for row in chunk.column(0).to_pylist()] == list(range(sum(sizes)))
    assert all(chunk.num_rows == chunk_rows for chunk in chunks[:-1])
    assert all(0 < chunk.num_rows <= chunk_rows for chunk in chunks)


@settings(deadline=None)
@given(
    numbers=st.lists(st.floats(-1e3, 1e3) | st.integers(-1000, 1000), min_size=1, max_size=30),
    width=st.sampled_from([0.1, 0.3, 0.25, 1, 7, 1000]),
)
def test_every_number_lies_in_its_bin_by_width(numbers: list[float], width: float) -> None:
    column = pa.array(numbers, pa.float64())

    edges = Bins(width=width).fit(column)
    codes = Bins.assign(column, edges)

    assert all(edges[code] <= number < edges[code + 1] for number, code in zip(column.to_pylist(), codes, strict=True))
    assert codes.min() == 0
    assert codes.max() == len(edges) - 2


@given(numbers=st.lists(st.integers(-20, 20), min_size=1, max_size=40), quantiles=st.integers(2, 6), chunk_rows=CHUNKS)
def test_quantile_bins_cover_the_column_however_it_is_cut(numbers: list[int], quantiles: int, chunk_rows: int) -> None:
    coder, counts = fit_coder(source_of(numbers), Sensitive("s", quantiles=quantiles), chunk_rows)

    codes = coder.codes(pa.array(numbers))

    assert coder.domain.edges == Bins(quantiles=quantiles).fit(pa.array(numbers))
    assert np.bincount(codes, minlength=len(coder.domain)).tolist() == counts.tolist()
    assert len(coder.domain) <= quantiles


@given(data=st.data(), n_values=st.integers(1, 12), n_rows=st.integers(1, 20))
def test_sets_come_back_from_lists(data: st.DataObject, n_values: int, n_rows: int) -> None:
    l = data.draw(st.integers(1, n_values))
    subsets = st.sets(st.integers(0, n_values - 1), min_size=l, max_size=l).map(sorted)
    sets = np.array(data.draw(st.lists(subsets, min_size=n_rows, max_size=n_rows)), dtype=np.int32)
    domain = Domain((*(f"v{i}" for i in range(n_values - 1)), None))

    assert np.array_equal(encode_sets(decode_sets(sets, domain), domain), sets)
