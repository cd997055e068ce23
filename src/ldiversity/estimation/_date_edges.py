"""Days and instants divided at declared days."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.errors import ParameterError
from ldiversity.estimation._calendar import CalendarColumn, begins

if TYPE_CHECKING:
    from ldiversity.base.arrays import CodeArray

__all__ = ["DatedColumn", "are_days", "by_days"]


@dataclass(frozen=True)
class DatedColumn(CalendarColumn):
    """Days and instants between declared days. Made by `by_days`."""

    days: tuple[dt.date, ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """The label of each cell: before the first day, between two days, from the last one on."""
        texts = [day.isoformat() for day in self.days]
        return (f"< {texts[0]}", *(f"[{low}, {high})" for low, high in pairwise(texts)), f">= {texts[-1]}")

    def _label(self, distinct: pa.Array, frequency: Callable[[], NDArray[np.int64]]) -> tuple[CodeArray, pa.Array]:  # noqa: ARG002
        found = np.array([day.toordinal() for day in self._days(distinct)], dtype=np.int64)
        starts = np.array([day.toordinal() for day in self.days], dtype=np.int64)
        return np.searchsorted(starts, found, side="right").astype(np.int32), pa.array(self.cells, pa.string())

    def edges(self, kind: pa.DataType, low: float, high: float) -> tuple[float, ...]:  # noqa: ARG002
        """Where cells begin, in the column's unit; the first and the last one have no end."""
        return (-np.inf, *begins(self.days, kind), np.inf)

    def names(self, edges: Sequence[float], kind: pa.DataType) -> pa.Array:  # noqa: ARG002
        """The label of each cell."""
        return pa.array(self.cells, pa.string())


def are_days(edges: Sequence[Any]) -> bool:
    """Whether edges are days, or texts that are meant to be days."""
    return any(isinstance(edge, str | dt.date) for edge in edges)


def by_days(column: str, edges: Sequence[str | dt.date]) -> DatedColumn:
    """Divide a column of days or instants at declared days; each begins a cell.

    Examples
    --------
    >>> by_days("birth", ["1950-01-01", "1980-01-01"]).cells
    ('< 1950-01-01', '[1950-01-01, 1980-01-01)', '>= 1980-01-01')
    """
    days = tuple(_day(column, edge) for edge in edges)
    if not days or any(not low < high for low, high in pairwise(days)):
        raise ParameterError(
            "bins", f"the days at which {column!r} is divided must be at least one, each after the one before"
        )
    return DatedColumn(column, "/".join(day.isoformat() for day in days), days)


def _day(column: str, edge: object) -> dt.date:
    if isinstance(edge, dt.datetime):
        return edge.date()
    if isinstance(edge, dt.date):
        return edge
    try:
        return dt.date.fromisoformat(str(edge))
    except ValueError:
        raise ParameterError(
            "bins", f"the edges of {column!r} must be numbers, or days such as 2020-01-31", got=repr(edge)
        ) from None
