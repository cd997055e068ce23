"""How well columns, and small combinations of them, tell people apart.

Distinction and separation are those of Motwani and Xu, Efficient Algorithms for Masking and Finding Quasi-Identifiers,
2007: distinct values over rows, and the share of all pairs of rows that differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.tables._source import Source

__all__ = ["Combination", "SampledRows", "separate", "smallest_combinations"]

_MOST_ROWS: Final = 100_000
_MOST_CELLS: Final = 4_000_000
_MOST_COLUMNS: Final = 8
_LARGEST: Final = 3
_MOST_LISTED: Final = 3
_MOST_PEOPLE: Final = 0.5


@dataclass(frozen=True)
class Combination:
    """How far some columns together tell rows apart.

    Attributes
    ----------
    columns
        Their names.
    unique
        The share of rows that no other row equals in these columns.
    distinction
        Different combinations of values over rows.
    separation
        The share of all pairs of rows that differ in one of these columns.
    """

    columns: tuple[str, ...]
    unique: float
    distinction: float
    separation: float


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows of a table, drawn at random where it has too many to look at all of them.

    Attributes
    ----------
    n_rows
        How many rows were drawn.
    whole
        Whether these are all rows of the table. In a sample more rows are unique than in the table.
    cells
        The distinct cells of each column, and the code of each row; a missing cell has a code of its own.
    """

    n_rows: int
    whole: bool
    cells: Mapping[str, tuple[pa.Array, NDArray[np.int64]]]

    @classmethod
    def of(cls, source: Source, names: Sequence[str], n_rows: int) -> SampledRows:
        """Draw rows, always the same ones of the same table; memory is bounded.

        Examples
        --------
        >>> from ldiversity.tables import open_source
        >>> SampledRows.of(open_source(pa.table({"sex": ["f", "m", "f"]})), ["sex"], 3).cells["sex"][1].tolist()
        [0, 1, 0]
        """
        most = min(_MOST_ROWS, max(1, _MOST_CELLS // max(1, len(names))))
        whole = n_rows <= most
        drawn = None if whole else np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))
        parts: list[pa.RecordBatch] = []
        start = 0
        for batch in source.batches(names) if names else ():
            if drawn is None:
                parts.append(batch)
            else:
                low, high = np.searchsorted(drawn, [start, start + batch.num_rows])
                parts.append(batch.take(pa.array(drawn[low:high] - start)))
            start += batch.num_rows
        schema = pa.schema([(name, source.columns[name]) for name in names])
        table = pa.Table.from_batches(parts, schema) if parts else schema.empty_table()
        return cls(table.num_rows, whole, {name: _coded(table.column(name)) for name in names})


def separate(rows: SampledRows, columns: Sequence[str]) -> Combination:
    """How far columns together tell rows apart.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> table = open_source(pa.table({"sex": ["f", "m", "f"], "age": [30, 30, 40]}))
    >>> found = separate(SampledRows.of(table, ["sex", "age"], 3), ["sex"])
    >>> round(found.unique, 3), round(found.distinction, 3), round(found.separation, 3)
    (0.333, 0.667, 0.667)
    """
    combined = np.zeros(rows.n_rows, dtype=np.int64)
    for name in columns:
        distinct, codes = rows.cells[name]
        # Numbered again after each column, so that the product stays small.
        combined = np.unique(combined * (len(distinct) + 1) + codes, return_inverse=True)[1].reshape(-1)
    counts = np.bincount(combined) if rows.n_rows else np.zeros(0, dtype=np.int64)
    n = max(rows.n_rows, 1)
    pairs = n * (n - 1) or 1
    alike = float((counts.astype(np.float64) * (counts - 1)).sum())
    return Combination(
        tuple(columns),
        unique=float(np.count_nonzero(counts == 1)) / n,
        distinction=len(counts) / n,
        separation=1 - alike / pairs if rows.n_rows > 1 else 0.0,
    )


def smallest_combinations(rows: SampledRows, alone: Sequence[Combination]) -> tuple[Combination, ...]:
    """The smallest combinations, of up to three columns, that single out most people; else the best of each size.

    `alone` has the columns to combine; of more than eight, those that separate most are taken.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> table = open_source(pa.table({"sex": ["f", "m"] * 3, "age": [30, 30, 40, 40, 50, 50]}))
    >>> rows = SampledRows.of(table, ["sex", "age"], 6)
    >>> [one.columns for one in smallest_combinations(rows, [separate(rows, ["sex"]), separate(rows, ["age"])])]
    [('sex', 'age')]
    """
    chosen = sorted(alone, key=lambda one: -one.separation)[:_MOST_COLUMNS]
    names = [one.columns[0] for one in alone if one in chosen]
    best: list[Combination] = []
    for size in range(1, min(_LARGEST, len(names)) + 1):
        tried = list(chosen) if size == 1 else [separate(rows, several) for several in combinations(names, size)]
        ranked = sorted(tried, key=lambda one: (-one.unique, -one.separation))
        most = [one for one in ranked if one.unique > _MOST_PEOPLE]
        if most:
            return tuple(most[:_MOST_LISTED])
        best += [one for one in ranked[:1] if one.unique > 0]
    return tuple(best)


def _coded(cells: pa.ChunkedArray) -> tuple[pa.Array, NDArray[np.int64]]:
    """The distinct cells, and the code of each row; missing cells come after all others."""
    encoded = cells.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    return encoded.dictionary, codes.astype(np.int64)
