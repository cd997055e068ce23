"""The first lines of a text file: titles, the separator and the column names."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ldiversity.sentences import Sentence, Setting, say

__all__ = ["Head", "find_head", "skip_hint", "table_start", "title_lines", "without_lines"]

_DELIMITERS: Final = (",", ";", "\t")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_LOOKED_AT: Final = 100


@dataclass(frozen=True)
class Head:
    """The separator, the names, how many rows there are up to the names, and whether nothing follows them."""

    delimiter: str
    names: list[str]
    rows: int
    bare: bool


def find_head(text: str, delimiter: str | None) -> Head:
    r"""Read the names in the first row of a text; the separator is the one that gives most of them.

    Where no separator gives several names, but one separates most lines below, the first row is a title or too short:
    reading with that separator shows it.

    Examples
    --------
    >>> find_head("age;sex\n41;f\n", None)
    Head(delimiter=';', names=['age', 'sex'], rows=1, bare=False)
    """
    options = [_first_rows(text, sep) for sep in ([delimiter] if delimiter else _DELIMITERS)]
    best = max(options, key=lambda head: len(head.names))
    return best if len(best.names) > 1 else max(options, key=lambda head: _usual(_filled(text, head.delimiter)))


def without_lines(text: str, number: int) -> str:
    r"""The text after so many lines.

    Examples
    --------
    >>> without_lines("Report\r\n2024\nage,sex\n", 2)
    'age,sex\n'
    """
    start = 0
    for _ in range(number):
        end = _LINE_END.search(text, start)
        if end is None:
            return ""
        start = end.end()
    return text[start:]


def title_lines(text: str) -> int:
    r"""How many lines seem to stand above the names: those before the first that has as many cells as most lines have.

    Examples
    --------
    >>> title_lines("Ward 3\n\nage;sex\n41;f\n50;m\n")
    2
    """
    return table_start(max((_filled(text, delimiter) for delimiter in _DELIMITERS), key=_usual))


def table_start(cells: Sequence[int]) -> int:
    """The place of the first row that has as many cells as most rows have, from their numbers of filled cells.

    Examples
    --------
    >>> table_start([1, 0, 3, 3, 2, 3])
    2
    """
    usual = _usual(cells)
    return next((place for place, count in enumerate(cells) if count >= usual), 0) if usual > 1 else 0


def skip_hint(number: int) -> Sentence | None:
    """How to skip lines above the names; None when there are none."""
    if not number:
        return None
    setting = Setting("skip_rows", number, python=f"read={{'skip_rows': {number}}}")
    return say("If lines stand above the column names, leave them out with {}.", setting)


def _usual(cells: Sequence[int]) -> int:
    """The number of filled cells that most rows have; 0 when no number is usual."""
    filled = [count for count in cells if count]
    number, rows = max(Counter(filled).items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))
    return number if 2 * rows >= len(filled) else 0


def _filled(text: str, delimiter: str) -> list[int]:
    """The number of filled cells in each of the first lines."""
    lines = _LINE_END.split(text, maxsplit=_LOOKED_AT)[:_LOOKED_AT]
    try:
        return [sum(bool(cell) for cell in next(csv.reader([line], delimiter=delimiter), ())) for line in lines]
    except csv.Error:  # a cell that is too long for this reader
        return []


def _first_rows(text: str, delimiter: str) -> Head:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names: list[str] = []
    read = 0
    try:
        for row in rows:
            if names and row:
                return Head(delimiter, names, read, bare=False)
            if not names:
                read += 1
                names = row
    except csv.Error:  # a cell is too long for this reader: it is data, or there is no header
        return Head(delimiter, names, read, bare=False)
    return Head(delimiter, names, read, bare=True)
