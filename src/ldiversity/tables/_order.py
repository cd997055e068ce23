"""The order of categories, if a column declares one."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

__all__ = ["category_order"]


def category_order(chunks: Iterable[pa.Array]) -> pa.Array | None:
    """Return the categories of a column in order; None if they have no order, or its chunks contradict each other.

    A chunk may list fewer categories than another, but not in another order.

    Examples
    --------
    >>> stage = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["mild", "grave"]), ordered=True)
    >>> category_order([stage]).to_pylist()
    ['mild', 'grave']
    """
    longest: pa.Array | None = None
    for chunk in chunks:
        if not (pa.types.is_dictionary(chunk.type) and chunk.type.ordered):
            return None
        listed = chunk.dictionary
        if longest is None or listed.equals(longest):
            longest = listed
            continue
        shorter, longest = sorted((listed, longest), key=len)
        place_of = {value: place for place, value in enumerate(longest.to_pylist())}
        places = [place_of.get(value, -1) for value in shorter.to_pylist()]
        if -1 in places or places != sorted(places):
            return None
    return longest
