"""What claims to be text, entries or lists, and is not, is refused wherever Arrow's own full check refuses it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.base.well_formed import check_well_formed

WORDS = pa.array(["flu", "cold", "none"])
BROKEN_TEXT = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xff\xfe"))


def _entries(places: list[int | None], words: pa.Array = WORDS, kind: pa.DataType | None = None) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(places, kind or pa.int32()), words, safe=False)


def _lists(offsets: list[int], values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


WELL_FORMED: dict[str, Callable[[], pa.Array]] = {
    "numbers": lambda: pa.array([1, None, 3]),
    "texts": lambda: WORDS,
    "entries": lambda: _entries([0, 2, 1]),
    "short entries": lambda: _entries([0, 2, 1], kind=pa.int8()),
    "entries that are missing": lambda: _entries([0, None, 1]),
    "no entries": lambda: _entries([]),
    "no entries of no words": lambda: _entries([], pa.array([], pa.string())),
    "a part of entries": lambda: _entries([0, 2, 1, 1])[1:3],
    "lists": lambda: _lists([0, 2, 3], _entries([0, 2, 1])),
    "no lists": lambda: _lists([0], _entries([])),
    "a part of lists": lambda: _lists([0, 2, 3], _entries([0, 2, 1]))[1:],
    "lists that are missing": lambda: pa.array([["flu"], None], pa.list_(pa.dictionary(pa.int32(), pa.string()))),
}
BROKEN: dict[str, Callable[[], pa.Array]] = {
    "an entry behind the last": lambda: _entries([0, 3]),
    "an entry before the first": lambda: _entries([0, -1]),
    "an entry far before the first": lambda: _entries([0, -128], kind=pa.int8()),
    "an entry of no words": lambda: _entries([0], pa.array([], pa.string())),
    "an entry behind the last, and one missing": lambda: _entries([None, 3]),
    "entries of a broken text": lambda: _entries([0], BROKEN_TEXT),
    "a broken text": lambda: BROKEN_TEXT,
    "lists of an entry behind the last": lambda: _lists([0, 1], _entries([3])),
    "lists of a broken text": lambda: _lists([0, 1], _entries([0], BROKEN_TEXT)),
    "lists that end before they begin": lambda: _lists([0, 3, 1, 3], _entries([0, 1, 2])),
    "lists longer than what they hold": lambda: _lists([0, 9], _entries([0])),
}


@pytest.mark.parametrize("name", WELL_FORMED)
def test_what_is_well_formed_passes_as_it_does_with_arrow(name: str) -> None:
    cells = WELL_FORMED[name]()
    cells.validate(full=True)
    check_well_formed(cells)


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_refused_as_it_is_by_arrow(name: str) -> None:
    with pytest.raises(pa.ArrowInvalid):
        BROKEN[name]().validate(full=True)
    with pytest.raises(pa.ArrowInvalid):
        check_well_formed(BROKEN[name]())
