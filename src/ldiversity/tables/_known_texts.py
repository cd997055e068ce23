"""Texts that many rows have, as entries of one dictionary for all blocks of a file."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.tables._short_texts import MANY_CELLS, ShortTexts

__all__ = ["KnownTexts"]

_MOST_TEXTS: Final = 1 << 12
_MOST_BYTES: Final = 1 << 17
"""Every block is looked up in all texts that are known; above this, a dictionary of its own costs less."""


class KnownTexts:
    """The different texts of a column, in the order in which they were met.

    Looking texts up takes less time than making a dictionary of each block, and what is true of a text needs to be
    found out once.

    Examples
    --------
    >>> known = KnownTexts()
    >>> first, new = known.entries(pa.array(["m", None, "m"]))
    >>> first.to_pylist(), new.to_pylist()
    (['m', None, 'm'], ['m'])
    >>> again, new = known.entries(pa.array(["f", "m"]))
    >>> again.indices.to_pylist(), again.dictionary.to_pylist(), new.to_pylist()
    ([1, 0], ['m', 'f'], ['f'])
    """

    def __init__(self, *, most_texts: int = _MOST_TEXTS, many_cells: int = MANY_CELLS) -> None:
        self._texts = pa.array([], pa.string())
        self._most_texts, self._many_cells = most_texts, many_cells
        self._many = False
        self._short: ShortTexts | None = None
        self._n_cells = 0

    def entries(self, cells: pa.Array) -> tuple[pa.DictionaryArray, pa.Array]:
        """The cells as entries of a dictionary, and the texts among them that may be new.

        Once there are too many texts to look all of them up, each block gets a dictionary of its own. Bytes that are no
        text in UTF-8 are a `pyarrow.ArrowInvalid`; each different text is looked at once.
        """
        if not self._many:
            found, new = self._looked_up(cells)
            if found is not None:
                return pa.DictionaryArray.from_arrays(found, self._texts, safe=False), new
            self._many, self._texts = True, self._texts[:0]
        own = cells.dictionary_encode()
        own.dictionary.validate(full=True)
        return own, own.dictionary

    def _looked_up(self, cells: pa.Array) -> tuple[pa.Array | None, pa.Array]:
        """The place of each cell among the texts, and texts that are new; no places where there are too many."""
        self._n_cells += len(cells)
        found = self._places(cells)
        if found.null_count == cells.null_count:
            return found, self._texts[:0]
        new = cells.filter(pc.is_null(found)).unique().drop_null()
        new.validate(full=True)
        texts = pa.concat_arrays([self._texts, new])
        if len(texts) > self._most_texts or texts.nbytes > _MOST_BYTES:
            return None, new
        self._texts = texts
        if self._short is not None:
            self._short.add(new)
        return self._places(cells), new

    def _places(self, cells: pa.Array) -> pa.Array:
        """The place of each cell; missing where it is not known."""
        if self._short is None:
            if self._n_cells > self._many_cells:
                self._short = ShortTexts(self._texts)
            return pc.index_in(cells, value_set=self._texts, skip_nulls=True)
        places = self._short.places(cells)
        other = np.flatnonzero(places < 0)
        if len(other) == 0:
            return pa.array(places)
        rest = pc.index_in(cells.take(pa.array(other)), value_set=self._texts, skip_nulls=True)
        places[other] = pc.fill_null(rest, -1).to_numpy()
        return pa.array(places, mask=places < 0)
