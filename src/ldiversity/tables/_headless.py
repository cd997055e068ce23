"""Notice a file without a row of names: its first row is a person's, whose cells would be shown as names of columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from ldiversity.errors import SchemaError

__all__ = ["check_names_are_names"]

_ROWS: Final = 500
_LEAST_ROWS: Final = 3
_MOST: Final = 0.9
"""The share of cells that must be numbers or dates for a column of these; others may be marks such as n.a."""

_REPEATED: Final = 2
"""In how many rows a name must occur as a cell of its own column, so that it is taken for a cell."""

_NUMBER: Final = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")
_DATE: Final = re.compile(r"[0-9]{4}([-./])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-./])[0-9]{1,2}\2[0-9]{4}")


def check_names_are_names(owner: str, text: str, delimiter: str) -> None:
    """Refuse a text whose first row looks like those below it, without saying what it holds."""
    rows = list(islice(_rows(text, delimiter), _ROWS + 1))
    if _looks_like_data(rows):
        raise SchemaError(
            owner, "the first row must hold the names of columns", got="one that looks like the rows below it"
        ).with_hint("Write a row of names above it; if it does hold names, change those that are numbers or dates.")


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    try:
        yield from (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)
    except csv.Error:  # a cell that is too long for this reader
        return


@dataclass(frozen=True)
class _Column:
    name: str
    cells: Sequence[str]

    @cached_property
    def kind(self) -> str:
        """What its cells are: number, date or text."""
        kinds = [_kind(cell) for cell in self.cells]
        return next((one for one in ("number", "date") if kinds.count(one) >= _MOST * len(kinds) > 0), "text")

    @property
    def has_a_name(self) -> bool:
        """Whether its name is none of its cells for certain: a text above numbers or dates, or above nothing."""
        unlike = self.kind != "text" or not self.cells
        return bool(self.name) and unlike and (_kind(self.name) != self.kind or not self.cells)


def _kind(cell: str) -> str:
    return "date" if _DATE.fullmatch(cell) else "number" if _NUMBER.fullmatch(cell) else "text"


def _looks_like_data(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is one more row, not the names.

    Names may be numbers, such as years. So every column of numbers or dates must have a name like its cells, and there
    must be more: a date above dates, a text that its column repeats, or no text at all.

    Examples
    --------
    >>> _looks_like_data([["86", "m"], ["23", "f"], ["41", "m"], ["50", "m"]])
    True
    >>> _looks_like_data([["age", "m"], ["23", "f"], ["41", "m"], ["50", "m"]])
    False
    >>> _looks_like_data([["region", "2019", "2020"], ["a", "3", "4"], ["b", "5", "6"], ["c", "7", "8"]])
    False
    """
    if len(rows) <= _LEAST_ROWS:
        return False
    names, *others = ([cell.strip() for cell in row] for row in rows)
    cells = [[row[place] for row in others if len(row) > place and row[place]] for place in range(len(names))]
    columns = [_Column(name, own) for name, own in zip(names, cells, strict=True)]
    alike = {column.kind for column in columns if column.kind != "text" and _kind(column.name) == column.kind}
    if not alike or any(column.has_a_name for column in columns):
        return False
    texts = [column for column in columns if column.kind == "text" and column.cells]
    return "date" in alike or not texts or any(column.cells.count(column.name) >= _REPEATED for column in texts)
