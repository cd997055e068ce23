"""Numbers, types, promises and intervals of a report in plain words, and a glossary of what remains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ldiversity.base.answers import Scalar
from ldiversity.base.numbers import level, number, plain_level
from ldiversity.faces.report._parts import Contingency, Estimated
from ldiversity.pictures import shorten

__all__ = ["glossary", "interval_name", "interval_words", "limit_heads", "setting_words", "short", "type_words"]

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
_GLOSSARY: Final = (
    (
        "quasi-identifier",
        r"quasi",
        "A column such as age or zip code that others may know of a person. Several together can tell who it is.",
    ),
    ("sensitive", r"sensitive", "What nobody may learn about one person."),
    (
        "class",
        r"\bclass(es)?\b(?!=)",
        "Records that are published together: nothing says which of its values belongs to which of its records.",
    ),
    ("set", r"\bsets?\b", "The values that are published for one record, of which one is true."),
    # Each mark is looked at once, however long a name with an open bracket is.
    (
        "[20, 30)",
        r"\[[^\[\]<,]*(?:,(?! )[^\[\]<,]*)*, [^\[\]<]*[)\]]",
        "From 20 on, to below 30. With ] at its end, 30 belongs to it too.",
    ),
    (
        "interval",
        r"interval",
        "From a low to a high share, made so that it holds the true share as often as the page says.",
    ),
    ("percentage point", r"percentage point", "The step from 10 % to 11 % is one percentage point."),
    (
        "linear",
        r"\blinear\b",
        "An estimate that is right on average over what chance may draw; a single one may be off, or even negative.",
    ),
    ("mle", r"\bmle\b", "The counts that make what was published most likely."),
    ("map", r"\bmap\b (?=draws)", "The same for few records, drawn towards the counts of all records."),
    ("standard error", r"[Ss]tandard error", "How far an estimate is typically off."),
    ("posterior", r"posterior", "How likely a value is to someone who has seen the release."),
    (
        "prosecutor, journalist",
        r"prosecutor|journalist",
        "Someone who knows that a person is in the table, and someone who does not, both looking for one record.",
    ),
    ("marginal", r"\bmarginal", "How frequent each value is in the whole table."),
    ("prior", r"prior", "What someone knows or assumes before seeing the release, such as how frequent values are."),
    ("skewness", r"skewness", "An attacker who knows how frequent each value is in the whole table."),
    (
        "definetti",
        r"definetti",
        "An attacker who learns from all classes how values go with quasi-identifiers, and guesses within each.",
    ),
    ("l", r"\bl\b", "Among how many values the true one hides; more is safer, and less accurate."),
)


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


def glossary(text: str) -> list[tuple[str, str]]:
    """Words of a page that not everybody knows, and what they mean.

    Examples
    --------
    >>> [word for word, _ in glossary("<p>linear estimates by age [0, 10)</p>")]
    ['[20, 30)', 'linear']
    """
    return [(word, meaning) for word, pattern, meaning in _GLOSSARY if re.search(pattern, text)]
