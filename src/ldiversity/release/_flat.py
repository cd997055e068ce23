"""The flat view: columns of single values instead of intervals, nodes, lists and sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.release._regions import Region

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
    texts, categories = region.texts, region.ordered_texts
    return pa.DictionaryArray.from_arrays(pc.index_in(texts, value_set=categories), categories, ordered=True)


def free_name(name: str, taken: set[str]) -> str:
    """The name, with ``_`` added at its end as long as it is taken."""
    while name in taken:
        name += "_"
    return name
