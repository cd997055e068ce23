"""Texts as numbers while rows are put in order: a text that many rows have is moved, encrypted and written once.

Numbers and codes are as short as they can be: what is moved then fits into the processor's cache.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.hashing import repeats
from ldiversity.tables import Source

__all__ = ["NumberedTexts", "TooManyTexts", "repeated_texts"]

_FIRST_ROWS: Final = 2_000
_MOST_TEXTS: Final = 1 << 16
_NUMBER: Final = pa.uint16()
_MOST_BYTES: Final = 1 << 23
"""What the texts of a column may take in memory."""


class TooManyTexts(Exception):  # noqa: N818 - no error: the same work is done again in another way
    """A column has more different texts than should be held in memory."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


def repeated_texts(source: Source, columns: Collection[str]) -> frozenset[str]:
    """The columns of texts of which many rows have the same, as far as the first rows show.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> table = open_source(pa.table({"sex": ["f", "m", "f", "f", "m"], "name": list("abcde"), "age": [1, 1, 1, 1, 1]}))
    >>> sorted(repeated_texts(table, ["sex", "name", "age"]))
    ['sex']
    """
    texts = [name for name in columns if source.columns[name] == pa.string()]
    first = source.first(texts, _FIRST_ROWS) if texts else None
    return frozenset(name for name in texts if first is not None and repeats(first.column(name)))


class NumberedTexts:
    """Numbers of the texts in some columns, the same in all batches.

    Columns of `codes`, or of lists of codes, are narrowed; each is below the number that is given.

    Examples
    --------
    >>> texts = NumberedTexts(["sex"])
    >>> moved = list(texts.numbered([pa.record_batch({"sex": ["f", "m"]}), pa.record_batch({"sex": ["m", None]})]))
    >>> [batch["sex"].to_pylist() for batch in moved]
    [[0, 1], [1, None]]
    >>> [batch["sex"].to_pylist() for batch in texts.named(moved)]
    [['f', 'm'], ['m', None]]
    """

    def __init__(
        self, columns: Iterable[str], codes: Mapping[str, int] | None = None, *, most_texts: int = _MOST_TEXTS
    ) -> None:
        self._columns = {name: _Numbers(name, most_texts) for name in columns}
        self._codes = {name: pa.from_numpy_dtype(np.min_scalar_type(-n)) for name, n in (codes or {}).items()}

    def numbered(self, batches: Iterable[pa.RecordBatch]) -> Generator[pa.RecordBatch]:
        """The batches with numbers in place of texts; raises `TooManyTexts`."""
        for batch in batches:
            cells = dict(zip(batch.schema.names, batch.columns, strict=True))
            cells |= {name: known.numbers(cells[name]) for name, known in self._columns.items()}
            cells |= {name: _narrowed(cells[name], kind) for name, kind in self._codes.items()}
            yield pa.RecordBatch.from_arrays(list(cells.values()), names=list(cells))

    def named(self, batches: Iterable[pa.RecordBatch]) -> Generator[pa.RecordBatch]:
        """Batches that `numbered` made, with texts: dictionaries of all that are known, also of other rows.

        Whoever writes them writes only what the rows show.
        """
        for batch in batches:
            cells = dict(zip(batch.schema.names, batch.columns, strict=True))
            for name, known in self._columns.items():
                cells[name] = pa.DictionaryArray.from_arrays(cells[name], known.texts, safe=False)
            yield pa.RecordBatch.from_arrays(list(cells.values()), names=list(cells))


def _narrowed(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_fixed_size_list(cells.type):
        return pa.FixedSizeListArray.from_arrays(cells.flatten().cast(kind), cells.type.list_size)
    return cells.cast(kind)


class _Numbers:
    """The texts of a column, in the order in which they were met."""

    def __init__(self, column: str, most: int) -> None:
        self.texts = pa.array([], pa.string())
        self._column, self._most = column, most
        self._last: tuple[pa.Array, pa.Array] | None = None

    def numbers(self, cells: pa.Array) -> pa.Array:
        coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
        return self._known(coded.dictionary).take(coded.indices)

    def _known(self, dictionary: pa.Array) -> pa.Array:
        """The number of each text of a dictionary; none for a missing one."""
        if self._last is not None and self._last[0].equals(dictionary):
            return self._last[1]
        new = dictionary.filter(pc.invert(pc.is_in(dictionary, value_set=self.texts))).drop_null().unique()
        if len(new):
            self.texts = pa.concat_arrays([self.texts, new])
            if len(self.texts) > self._most or self.texts.nbytes > _MOST_BYTES:
                raise TooManyTexts(self._column)
        known = pc.index_in(dictionary, value_set=self.texts, skip_nulls=True).cast(_NUMBER)
        self._last = (dictionary, known)
        return known
