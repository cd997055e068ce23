"""Ladders: the levels at which a quasi-identifier can be published, each coarser than the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.limits import are_measurable
from ldiversity.hierarchies import Hierarchy, Origin, are_codes, doubling_widths
from ldiversity.publish._levels import UNITS, CalendarLevel, Level, NumberLevel
from ldiversity.publish._text_levels import PrefixLevel, SuppressLevel, TreeLevel
from ldiversity.release import Reach
from ldiversity.schema import MISSING_LABEL

__all__ = ["Ladder", "ladder_of"]

_MOST_RUNGS: Final = 24


def ladder_of(values: pa.Array, declared: Level | None, tree: Hierarchy | None = None) -> tuple[Level, ...]:
    """Levels of a column above its declared one, or above its exact values, up to the one that says nothing.

    Every label of a level lies under one label of the next. `values` are the distinct values of the column. A column
    with a hierarchy has its levels. Otherwise numbers have widths that double, dates the calendar, texts of one length
    with a digit their beginnings, and others nothing in between. A level that nobody declared is left out when a value
    has no label there: numbers may be too large, and dates too far away.

    Examples
    --------
    >>> [str(level) for level in ladder_of(pa.array([17, 90]), None)]
    ['width:5', 'width:10', 'width:20', 'width:40', 'suppress']
    >>> [str(level) for level in ladder_of(pa.array(["13053", "14850"]), PrefixLevel(3))]
    ['prefix:2', 'prefix:1', 'suppress']
    """
    known = values.drop_null()
    if isinstance(declared, SuppressLevel):
        return ()
    if isinstance(declared, TreeLevel):
        above: Sequence[Level] = _nodes(declared.public_tree(missing=False), declared.level + 1)
    elif tree is not None and declared is None:
        above = _nodes(tree, 1)
    elif pa.types.is_date(known.type) or pa.types.is_timestamp(known.type):
        above = _calendar(declared if isinstance(declared, CalendarLevel) else None)
    elif isinstance(declared, PrefixLevel) or (declared is None and _has_codes(known)):
        longest = declared.length if isinstance(declared, PrefixLevel) else len(known[0].as_py())
        above = [PrefixLevel(length) for length in range(longest - 1, 0, -1)]
    elif pa.types.is_integer(known.type) or pa.types.is_floating(known.type):
        above = _widths(known, declared if isinstance(declared, NumberLevel) else NumberLevel())
    else:
        above = []
    usable = [level for level in above if isinstance(level, TreeLevel) or level.fits("", values)]
    return (*usable, SuppressLevel())


@dataclass(frozen=True, eq=False)
class Ladder:
    """A column that begins at a declared level, for methods that generalize it further.

    Attributes
    ----------
    tree
        Its leaves are the labels of the declared level.
    rungs
        The level of each level of the tree; none where a declared hierarchy says what its nodes are.
    """

    tree: Hierarchy
    rungs: tuple[Level, ...]

    @classmethod
    def of(cls, name: str, values: pa.Array, declared: Level) -> Ladder:
        """The ladder of a column with these distinct values, missing ones among them where there are any."""
        if isinstance(declared, TreeLevel):
            missing = values.null_count > 0
            rows = [row[declared.level :] for row in declared.public_tree(missing=missing).rows]
            return cls(Hierarchy.from_rows(dict.fromkeys(rows)), ())
        rungs = (declared, *ladder_of(values, declared))
        columns = [level.labels(name, values).to_pylist() for level in rungs]
        rows = list(dict.fromkeys(zip(*columns, strict=True)))
        return cls(Hierarchy.from_rows(rows, origin=Origin("level")), rungs)

    def reach(self, label: str, level: int, kind: pa.DataType) -> Reach | None:
        """What a label of a level of the tree stands for; None for a single text, and for the missing values."""
        return None if label == MISSING_LABEL else self.rungs[level].reach(label, kind)


def _nodes(tree: Hierarchy, first: int) -> list[Level]:
    # The root says as much as the level that says nothing.
    return [TreeLevel(tree, level) for level in range(first, tree.depth - 1)]


def _calendar(declared: CalendarLevel | None) -> list[Level]:
    ends = CalendarLevel("month") if declared is None else declared
    first = 0 if declared is None else list(UNITS).index(declared.unit) + 1
    days = [day for day in (ends.bottom, ends.top) if day is not None]
    return [
        replace(ends, unit=unit)
        for unit, months in list(UNITS.items())[first:]
        # An end within a longer part of the calendar would cut it in two.
        if all((day.year * 12 + day.month - 1) % months == 0 for day in days)
    ]


def _widths(known: pa.Array, declared: NumberLevel) -> list[Level]:
    numbers = np.asarray(known)
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers) or not are_measurable(numbers):
        return []
    low, high = numbers.min().item(), numbers.max().item()
    low = low if declared.bottom is None else max(low, declared.bottom)
    high = high if declared.top is None else min(high, declared.top)
    if declared.width is None:
        widths = doubling_widths(low, high, whole=numbers.dtype.kind != "f") if high > low else []
    else:
        doubled = (declared.width * 2**step for step in range(1, _MOST_RUNGS))
        widths = [width for width in doubled if width <= high - low]
    return [replace(declared, width=width) for width in widths]


def _has_codes(known: pa.Array) -> bool:
    texts = pa.types.is_string(known.type) or pa.types.is_large_string(known.type)
    return texts and len(known) > 0 and are_codes(pc.unique(known).to_pylist())
