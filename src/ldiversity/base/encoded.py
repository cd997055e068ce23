"""Cells as entries of a dictionary; whole numbers of a short range need no hashing for that."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.gather import gathered

__all__ = ["encoded"]

_SHORT_RANGE: Final = 1 << 18


def encoded(cells: pa.Array) -> pa.DictionaryArray:
    """The different cells, in any order, and the place of each cell among them.

    Examples
    --------
    >>> found = encoded(pa.array([41, 50, 41]))
    >>> found.dictionary.to_pylist(), found.indices.to_pylist()
    ([41, 50], [0, 1, 0])
    """
    if not pa.types.is_integer(cells.type) or cells.type == pa.uint64() or cells.null_count or not len(cells):
        return cells.dictionary_encode()
    least, greatest = (int(end.as_py()) for end in pc.min_max(cells).values())
    if greatest - least >= min(_SHORT_RANGE, len(cells)):
        return cells.dictionary_encode()
    offsets = cells.to_numpy().astype(np.int64) - least
    occurs = np.zeros(greatest - least + 1, dtype=np.bool_)
    occurs[offsets] = True
    places = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    different = pa.array(np.flatnonzero(occurs) + least, pa.int64()).cast(cells.type)
    return pa.DictionaryArray.from_arrays(pa.array(gathered(places, offsets, inside=True)), different, safe=False)
