"""Numbers, types, promises and intervals of a report in plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ldiversity.base.answers import Scalar
from ldiversity.base.numbers import level, number, plain_level
from ldiversity.faces.report._parts import Contingency, Estimated
from ldiversity.pictures import shorten

__all__ = ["interval_name", "interval_words", "limit_heads", "setting_words", "short", "type_words"]

_MOST_LETTERS: Final = 80
_TYPES: Final = (
    (r"u?int\d+", "whole number"),
    (r"(half)?float\d*|double|decimal.*", "number"),
    (r"(large_)?string(_view)?|dictionary<values=(large_)?string.*", "text"),
    (r"bool", "yes or no"),
    (r"date\d+.*", "date"),
    (r"timestamp.*", "date and time"),
    (r"time\d+.*", "time of day"),
)
_INTERVALS: Final = {
    "exact": "exact{among}. The values themselves are published, only shuffled within classes.",
    "bounds": "limits hold for certain{among}: they are the least and the greatest shares that the classes allow.",
    "pointwise": "each interval holds the true share{among} in {level} of 100 cases.",
    "simultaneous": "of {domain} values those with the largest estimates are shown. The largest of many estimates tend "
    "to be too high, and the intervals account for that: in {level} of 100 cases those of all {domain} values{each} "
    "hold the true share{among} at once.",
}
_NAMES: Final = {"exact": "", "bounds": "certain interval", "pointwise": "{level} % interval"} | {
    "simultaneous": "interval ({level} %: all values at once)"
}


def short(text: object, most: int = _MOST_LETTERS) -> str:
    """Fit any label into a line."""
    return shorten(str(text), most)


def type_words(kind: str) -> str:
    """Say an Arrow type in plain words.

    Examples
    --------
    >>> type_words("int64"), type_words("large_string"), type_words("date32[day]"), type_words("binary")
    ('whole number', 'text', 'date', 'binary')
    """
    return next((words for pattern, words in _TYPES if re.fullmatch(pattern, kind)), kind)


def setting_words(parameters: Mapping[str, Scalar]) -> str:
    """Write the settings of a method, without the number of values, which the page shows elsewhere.

    Examples
    --------
    >>> setting_words({"n_values": 24, "l": 3, "strict": True})
    'l = 3, strict = yes'
    """
    said = {True: "yes", False: "no"}
    return ", ".join(
        f"{key} = {said[value] if isinstance(value, bool) else value}"
        for key, value in parameters.items()
        if key != "n_values"
    )


def interval_name(one: Estimated) -> str:
    """Name the intervals of a distribution or contingency, for a legend; empty when it is exact."""
    return _NAMES[one.intervals].format(level=plain_level(one.confidence))


def interval_words(one: Estimated, *, left_out: int) -> str:
    """Say what the intervals of a distribution or contingency mean."""
    words = _INTERVALS[one.intervals].format(
        level=plain_level(one.confidence),
        domain=number(one.domain),
        each=" of a row" if isinstance(one, Contingency) else "",
        among=" among published records" if left_out else "",
    )
    return f"neighbors among {number(one.domain)} values are added up; {words}" if one.grouped else words


def limit_heads(one: Estimated) -> tuple[str, ...]:
    """Heads of the columns of a table that hold limits; none when it is exact."""
    if one.exact:
        return ()
    percentage = level(one.confidence)
    return ("least", "greatest") if one.intervals == "bounds" else (f"low ({percentage})", f"high ({percentage})")
