"""Rows are numbered by their cells: in the order of the cells, whatever their type is and how far they are apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.base.arrays import different
from ldiversity.evaluation.audit._numbering import number_rows

N_ROWS = 300
FAR = 2**63 - 1
COLUMNS = {
    "near": pa.array(np.random.default_rng(1).integers(-4, 5, N_ROWS)),
    "narrow": pa.array(np.random.default_rng(2).integers(0, 256, N_ROWS), pa.uint8()),
    "missing": pa.array([None if row % 3 else row % 7 - 3 for row in range(N_ROWS)], pa.int32()),
    "none": pa.nulls(N_ROWS, pa.int64()),
    "low": pa.array([-FAR - 1 + row % 5 for row in range(N_ROWS)]),
    "far": pa.array([(-FAR - 1, 0, FAR)[row % 3] for row in range(N_ROWS)]),
    "unsigned": pa.array([(2**64 - 1, 0, 2**64 - 2)[row % 3] for row in range(N_ROWS)], pa.uint64()),
    "wide": pa.array(np.random.default_rng(3).integers(0, 2**31 - 1, N_ROWS)),
    "also wide": pa.array(np.random.default_rng(4).permutation(2**30 + np.arange(N_ROWS) * 2**20)),
    "text": pa.array([f"{row * 7 % 11}" for row in range(N_ROWS)]),
}


def numbered_slowly(table: pa.Table) -> tuple[list[int], list[int]]:
    """Sort the different rows, with missing cells first."""
    columns = [[(cell is not None, 0 if cell is None else cell) for cell in own.to_pylist()] for own in table.columns]
    rows = list(zip(*columns, strict=True))
    ordered = sorted(set(rows))
    places = {row: place for place, row in enumerate(ordered)}
    return [places[row] for row in rows], [rows.index(row) for row in ordered]


@pytest.mark.parametrize(
    "names",
    [
        *([name] for name in COLUMNS),
        ["near", "missing", "text"],
        ["low", "far", "unsigned", "none"],
        ["wide", "also wide", "near", "narrow"],
    ],
    ids="-".join,
)
@pytest.mark.parametrize("chunks", [1, 3])
def test_numbers_are_those_of_sorted_rows(names: list[str], chunks: int) -> None:
    whole = pa.table({name: COLUMNS[name] for name in names})
    table = pa.concat_tables([whole.slice(first, N_ROWS // chunks) for first in range(0, N_ROWS, N_ROWS // chunks)])

    ids, first = number_rows(table, names)

    assert (ids.tolist(), first.tolist()) == numbered_slowly(table)


def test_no_rows_have_no_numbers() -> None:
    ids, first = number_rows(pa.table({"near": pa.array([], pa.int64())}), ["near"])

    assert len(ids) == len(first) == 0


@pytest.mark.parametrize("span", [1, 10, 2**62])
def test_different_numbers_are_those_of_numpy(span: int) -> None:
    numbers = np.random.default_rng(5).integers(0, span, 1000)

    np.testing.assert_array_equal(different(numbers), np.unique(numbers))
    assert len(different(numbers[:0])) == 0
