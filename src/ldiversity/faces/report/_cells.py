"""Which cells a report shows: those that were asked for, or some that suit the published columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.limits import LARGEST_NUMBER
from ldiversity.base.typed import number_text
from ldiversity.estimation import BinnedColumn, By, CalendarColumn, GroupedColumn, PlainColumn, as_by, bins, parse_by
from ldiversity.release import Release
from ldiversity.schema import Role

if TYPE_CHECKING:
    from ldiversity.estimation import ByLike

__all__ = ["Division", "divisions"]

_MOST_CELLS: Final = 24
_MOST_BINS: Final = 12
_MOST_DIVISIONS: Final = 2
_QUOTED: Final = frozenset(',:@" ')


@dataclass(frozen=True)
class Division:
    """How the records are divided into cells, and the same as the command line writes it."""

    by: tuple[By, ...]
    text: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that make the cells."""
        return tuple(part.column for part in self.by)


def divisions(release: Release, by: ByLike, *, paths: bool = True) -> tuple[Division, ...]:
    """Give the division that was asked for, or up to two quasi-identifiers on their own.

    A text is read as on the command line: ``"sex,age:10"``. Without `paths` the files that it names are called FILE.
    """
    if isinstance(by, str):
        parts = parse_by(by)
        return (Division(parts, by if paths else ",".join(map(_text, parts))),)
    if by is not None:
        parts = as_by(by)
        return (Division(parts, ",".join(map(_text, parts))),) if parts else ()
    found = [part for name in release.schema.names(Role.QUASI) if (part := _suits(release, name)) is not None]
    return tuple(Division((part,), _text(part)) for part in found[:_MOST_DIVISIONS])


def _suits(release: Release, name: str) -> By | None:
    """A way to cut one column into few cells; None when there is none that means something."""
    form = release.forms[name]
    if name in release.coarse and len(release.region(name).column) <= _MOST_CELLS:
        return PlainColumn(name)
    if form.kind == "interval" or form.spans:
        dated = "date" in release.schema[name].type or "time" in release.schema[name].type
        return None if dated or form.low is None or form.high is None else _cut(name, form.low, form.high)
    if form.kind != "exact":
        reaches = form.reaches or {}
        told = any(label not in reaches or not reaches[label].anything for label in form.labels)
        return PlainColumn(name) if told and len(form.labels) <= _MOST_CELLS else None
    column = release.columns([name]).column(name)
    distinct = pc.unique(column.drop_null())
    if len(distinct) <= _MOST_BINS:
        return PlainColumn(name)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        numbers = np.asarray(distinct, dtype=np.float64)
        numbers = numbers[np.isfinite(numbers)]
        return _cut(name, float(numbers.min()), float(numbers.max())) if len(numbers) == len(distinct) else None
    return PlainColumn(name) if len(distinct) <= _MOST_CELLS else None


def _cut(name: str, low: float, high: float) -> By | None:
    """Bins of a round width, at most a dozen; None when numbers are too large to be cut.

    Examples
    --------
    >>> bins = _cut("age", 17, 90)
    >>> None if bins is None else _text(bins)
    'age:10'
    """
    span = high - low
    if span <= 0:
        return PlainColumn(name)
    if max(-low, high) > LARGEST_NUMBER:
        return None
    unit = 10.0 ** math.floor(math.log10(span / _MOST_BINS))
    width = next(unit * step for step in (1, 2, 5, 10, 20) if span / (unit * step) <= _MOST_BINS - 1)
    return bins(name, width=width)


def _text(part: By) -> str:
    """Write a by-column as the command line reads it; a file of groups is named FILE.

    Examples
    --------
    >>> [_text(part) for part in parse_by('sex,"home, zip",age:10,age:0/18/65,age:q4,born:year')]
    ['sex', '"home, zip"', 'age:10', 'age:0/18/65', 'age:q4', 'born:year']
    """
    name = f'"{part.column}"' if set(part.column) & _QUOTED else part.column
    if isinstance(part, GroupedColumn):
        return f"{name}@FILE"
    if isinstance(part, CalendarColumn):
        return f"{name}:{part.period}"
    if not isinstance(part, BinnedColumn):
        return name
    rule = part.rule
    if rule.quantiles is not None:
        return f"{name}:q{rule.quantiles}"
    numbers: Sequence[float] = (rule.width,) if rule.width is not None else (rule.edges or ())
    return f"{name}:{'/'.join(number_text(number) for number in numbers)}"
