"""Rows as whole numbers: the cells of several columns, each by its number, packed into 62 bits.

Numbers are sorted and counted several times as fast as rows are grouped. Where columns hold too many different cells,
rows are grouped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.encoded import encoded
from ldiversity.evaluation.audit._numbering import value_ranks

__all__ = ["PackedCounts"]

_MOST_BITS: Final = 62
_MOST_VALUES: Final = 1 << 17
"""A column with more different cells is not numbered: each batch would look for its cells among all of them."""

_MOST_PLACES: Final = 1 << 24

_Keys = NDArray[np.int64]


class PackedCounts:
    """How often each combination of some columns occurs, for columns of not too many different cells.

    Parameters
    ----------
    names
        The columns.
    merge_rows
        So many rows wait before they are merged; twice as many as there are combinations, if that is more.
    spacious
        Whether a place for every number that may occur may be held all the time: up to 32 bytes for each row.

    Examples
    --------
    >>> counts = PackedCounts(["sex"])
    >>> counts.add(pa.table({"sex": ["m", "f", "m"]}))
    True
    >>> rows, n = counts.result()
    >>> rows["sex"].to_pylist(), n.tolist()
    (['f', 'm'], [1, 2])
    """

    def __init__(self, names: Sequence[str], merge_rows: int = 1 << 20, *, spacious: bool = False) -> None:
        self._names, self._merge_rows, self._spacious = list(names), merge_rows, spacious
        self._columns: list[_Column] = []
        self._bits: list[int] = []
        self._keys: _Keys = np.zeros(0, dtype=np.int64)
        self._counts: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._places: NDArray[np.int64] | None = None
        self._waiting: list[_Keys] = []
        self._n_waiting = 0

    def add(self, batch: pa.Table) -> bool:
        """Count one more batch; False if its cells cannot be numbered, so that it was not counted."""
        if not self._columns:
            self._columns = [_Column(batch.column(name).type) for name in self._names]
        codes = [column.codes(batch.column(name)) for name, column in zip(self._names, self._columns, strict=True)]
        if max(column.n_codes for column in self._columns) > _MOST_VALUES or not self._widen():
            return False
        keys = np.zeros(batch.num_rows, dtype=np.int64)
        for bits, numbers in zip(self._bits, codes, strict=True):
            keys <<= bits
            keys |= numbers
        self._waiting.append(keys)
        self._n_waiting += len(keys)
        if self._n_waiting > max(self._merge_rows, 2 * len(self._keys), self._dense_rows()):
            self._merge()
        return True

    @property
    def n_merged(self) -> int:
        """How many different combinations were there when they were last merged."""
        return len(self._keys) if self._places is None else int(np.count_nonzero(self._places))

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted."""
        return not len(self._keys) and not self._n_waiting and self._places is None

    def result(self) -> tuple[pa.Table, NDArray[np.int64]]:
        """One row per combination, in the order of their cells, and how often each occurs."""
        self._merge()
        self._gather()
        codes = _unpacked(self._keys, self._bits)
        ranked = np.zeros(len(self._keys), dtype=np.int64)
        for bits, column, numbers in zip(self._bits, self._columns, codes, strict=True):
            ranked = ranked << bits | column.ranks()[numbers]
        order = np.argsort(ranked)
        cells = [column.cells(numbers[order]) for column, numbers in zip(self._columns, codes, strict=True)]
        return pa.table(cells, names=self._names), self._counts[order]

    def _widen(self) -> bool:
        """Make room for all numbers of cells; False if they need too many bits."""
        needed = [(column.n_codes - 1).bit_length() for column in self._columns]
        if not self._bits:
            self._bits = needed
        elif any(new > old for new, old in zip(needed, self._bits, strict=True)):
            wider = [max(new, old) for new, old in zip(needed, self._bits, strict=True)]
            if sum(wider) <= _MOST_BITS:
                self._gather()
                self._keys = _repacked(self._keys, self._bits, wider)
                self._waiting = [_repacked(keys, self._bits, wider) for keys in self._waiting]
                self._bits = wider
            return sum(wider) <= _MOST_BITS
        return sum(self._bits) <= _MOST_BITS

    def _dense_rows(self) -> int:
        """So many rows are counted faster with a place for every number that may occur than by sorting; -1 if none."""
        places = 1 << sum(self._bits)
        return places // 4 if places <= _MOST_PLACES else -1

    def _merge(self) -> None:
        if not self._n_waiting:
            return
        waiting = np.concatenate(self._waiting)
        self._waiting, self._n_waiting = [], 0
        if self._places is not None:
            np.add.at(self._places, waiting, 1)
            return
        if 0 <= self._dense_rows() <= len(waiting):
            dense = np.bincount(waiting, minlength=1 << sum(self._bits) if self._spacious else 1)
            if self._spacious:
                dense[self._keys] += self._counts
                self._places, self._keys, self._counts = dense, self._keys[:0], self._counts[:0]
                return
            keys = np.flatnonzero(dense)
            counts = dense[keys]
        else:
            keys, counts = np.unique(waiting, return_counts=True)
        places = np.searchsorted(self._keys, keys)
        known = np.zeros(len(keys), dtype=np.bool_)
        inside = places < len(self._keys)
        known[inside] = self._keys[places[inside]] == keys[inside]
        self._counts[places[known]] += counts[known]
        self._keys = np.insert(self._keys, places[~known], keys[~known])
        self._counts = np.insert(self._counts, places[~known], counts[~known])

    def _gather(self) -> None:
        """Hold the numbers that occur alone."""
        if self._places is not None:
            self._keys = np.flatnonzero(self._places)
            self._counts, self._places = self._places[self._keys], None


class _Column:
    """The different cells of a column, numbered from 1 as they come; 0 is a missing cell."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._values = pa.array([], kind.value_type if pa.types.is_dictionary(kind) else kind)

    @property
    def n_codes(self) -> int:
        return len(self._values) + 1

    def codes(self, cells: pa.ChunkedArray) -> NDArray[np.int64]:
        """The number of each cell."""
        if pa.types.is_null(cells.type) or not len(cells):  # a batch may have lost all its rows, and has no chunk then
            return np.zeros(len(cells), dtype=np.int64)
        parts = [self._codes(encoded(chunk)) for chunk in cells.chunks]
        return np.concatenate(parts) if len(parts) != 1 else parts[0]

    def _codes(self, coded: pa.DictionaryArray) -> NDArray[np.int64]:
        found = pc.index_in(coded.dictionary, value_set=self._values)
        new = pc.and_(pc.is_null(found), pc.is_valid(coded.dictionary))
        if pc.any(new).as_py():
            # A dictionary that came with the table may name a value twice.
            added = pc.unique(coded.dictionary.filter(new))
            self._values = pa.concat_arrays([self._values, added])
            found = pc.index_in(coded.dictionary, value_set=self._values)
        numbers = np.zeros(len(coded.dictionary) + 1, dtype=np.int64)
        numbers[:-1] = pc.fill_null(found, -1).to_numpy(zero_copy_only=False)
        numbers[:-1] += 1
        indices = coded.indices
        if indices.null_count:
            indices = pc.fill_null(indices.cast(pa.int64()), len(coded.dictionary))
        taken: NDArray[np.int64] = numbers[indices.to_numpy()]
        return taken

    def ranks(self) -> NDArray[np.int64]:
        """The rank of each number's cell, from 1; 0 of a missing one."""
        return np.concatenate([np.zeros(1, dtype=np.int64), value_ranks(self._values)])

    def cells(self, codes: NDArray[np.int64]) -> pa.Array:
        """The cells of these numbers."""
        if pa.types.is_null(self._kind):
            return pa.nulls(len(codes))
        missing = codes == 0
        indices = pa.array((codes - 1).astype(np.int32), mask=missing if missing.any() else None)
        if pa.types.is_dictionary(self._kind) or pa.types.is_string(self._kind):  # texts need not be written out
            return pa.DictionaryArray.from_arrays(indices, self._values)
        return self._values.take(indices)


def _unpacked(keys: _Keys, bits: Sequence[int]) -> list[NDArray[np.int64]]:
    """The numbers of each column."""
    codes, shift = [], sum(bits)
    for own in bits:
        shift -= own
        codes.append(keys >> shift & (1 << own) - 1)
    return codes


def _repacked(keys: _Keys, bits: Sequence[int], wider: Sequence[int]) -> _Keys:
    repacked = np.zeros(len(keys), dtype=np.int64)
    for own, codes in zip(wider, _unpacked(keys, bits), strict=True):
        repacked = repacked << own | codes
    return repacked
