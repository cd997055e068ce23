"""The flat view: columns of single values instead of intervals, nodes, lists and sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.release._regions import Region, to_numbers

__all__ = ["flatten", "free_name"]

_PARTS: Final = ("low", "high", "label")


def flatten(rows: pa.Table, regions: Mapping[str, Region], taken: set[str]) -> tuple[pa.Table, dict[str, list[str]]]:
    """Replace generalized columns by columns of single values, without the names in `taken`.

    Returns the table, and the names of the columns with the ends of each generalized column.
    """
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    ends: dict[str, list[str]] = {}
    for name in rows.column_names:
        if name not in regions:
            columns[name] = rows.column(name)
            continue
        parts = _parts(regions[name])
        named = {part: free_name(f"{name}_{part}", taken) for part in parts}
        taken.update(named.values())
        columns.update({named[part]: column for part, column in parts.items()})
        ends[name] = [new for part, new in named.items() if part != "label"]
    return pa.table(columns), ends


def _parts(region: Region) -> dict[str, pa.Array]:
    kind, rows = region.kind, pa.array(region.of_row)
    parts = {"label": _labels(region).take(rows)}
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind):
        low, high = region.ends
        parts = {"low": low.take(rows), "high": high.take(rows), **parts}
    return parts


def _labels(region: Region) -> pa.DictionaryArray:
    """The text of each cell, as an ordered category: by its ends, or by the first and the last public value in it."""
    texts = region.texts
    first, last = _extremes(region)
    _, place = np.unique(np.asarray(pc.fill_null(texts, "")).astype(str), return_index=True)
    place = place[~np.asarray(texts.is_null())[place]]
    ordered = place[np.lexsort((last[place], first[place]))]
    categories = texts.take(pa.array(ordered))
    return pa.DictionaryArray.from_arrays(pc.index_in(texts, value_set=categories), categories, ordered=True)


def _extremes(region: Region) -> tuple[np.ndarray, np.ndarray]:
    low, high = region.ends
    # Intervals have an order even if every one of them says nothing; there is no list of values then.
    if region.form.kind == "interval" or low.null_count < len(low):
        (first, known), (last, _) = to_numbers(low), to_numbers(high)
        # Cells without ends, such as missing values, come last.
        return np.where(known, first.astype(np.float64), np.inf), np.where(known, last.astype(np.float64), np.inf)
    lists = region.lists
    pieces = (reduce.reduceat(lists.values, lists.starts[:-1]) for reduce in (np.minimum, np.maximum))
    first, last = (piece[lists.region_of] for piece in pieces)
    return first, last


def free_name(name: str, taken: set[str]) -> str:
    """The name, with ``_`` added at its end as long as it is taken."""
    while name in taken:
        name += "_"
    return name
