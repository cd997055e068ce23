"""Paper 003: what Mondrian loses when it publishes the regions that its cuts leave, instead of tight boxes.

Mondrian cuts the space of the quasi-identifiers. As first published, a class shows the region between the cuts around
it. This library shows the least box that holds the records of the class, which is smaller. The cuts are found again
from the classes: a cut goes through no class, and of those the one is taken that Mondrian tries first, on the column in
which the records differ most, and next to their median.

Cuts that are found again need not be those that were made. So a plain Mondrian, whose cuts are known, is beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.base.arrays import FloatArray
from ldiversity.methods import CategoryColumn, CodedTable, NumberColumn, Partition, QuasiColumn

__all__ = ["cut_loss", "plain_cut_loss"]

_NEAR_MIDDLE: Final = 0.25
"""A cut that leaves less than this share of the records on one side is made only where there is no other."""


def cut_loss(table: CodedTable, partition: Partition) -> float:
    """The mean loss of a cell when each class publishes the region between the cuts around it.

    Parameters
    ----------
    table, partition
        What was cut, and the classes.
    """
    axes = [_axis(column) for column in table.quasi]
    low, high = (np.full((partition.n_classes, len(axes)), end) for end in (np.inf, -np.inf))
    for place, axis in enumerate(axes):
        np.minimum.at(low[:, place], partition.class_of, axis.places)
        np.maximum.at(high[:, place], partition.class_of, axis.places)
    regions = _Cutter(axes, low, high, partition.sizes).regions()
    losses = np.stack([axis.loss(*regions[:, place].T) for place, axis in enumerate(axes)])
    return float((losses.mean(axis=0) * partition.sizes).sum() / partition.sizes.sum())


def plain_cut_loss(table: CodedTable, l: int) -> float:
    """The same of a plain Mondrian, which cuts at medians while both sides have at least l distinct values.

    It tries columns in the order of what a region that just holds the records would lose in them, the greatest first.

    Parameters
    ----------
    table, l
        What is cut, and how many distinct sensitive values each class has at least.
    """
    axes = [_axis(column) for column in table.quasi]
    places, values = np.stack([axis.places for axis in axes]), table.sensitive[0].codes
    total = 0.0
    pending = [(np.arange(table.n_rows), _whole(axes))]
    while pending:
        rows, region = pending.pop()
        cut = _median_cut(axes, places[:, rows], values[rows], l)
        if cut is None:
            losses = [float(axis.loss(*ends)) for axis, ends in zip(axes, region, strict=True)]
            total += float(np.mean(losses)) * len(rows)
            continue
        column, end = cut
        below = places[column, rows] <= end
        first, second = _divided(axes, region, column, end)
        pending += [(rows[below], first), (rows[~below], second)]
    return total / table.n_rows


def _median_cut(axes: list[_Axis], places: FloatArray, values: NDArray[np.integer], l: int) -> tuple[int, float] | None:
    """The column to cut, and the last place below the cut; None where no column can be cut."""
    low, high = places.min(axis=1), places.max(axis=1)
    spans = np.array([float(axis.loss(*ends)) for axis, *ends in zip(axes, low, high, strict=True)])
    for column in np.argsort(-spans, kind="stable").tolist():
        own = places[column]
        if low[column] == high[column]:
            continue
        end = float(np.partition(own, (len(own) - 1) // 2)[(len(own) - 1) // 2])
        if end == high[column]:
            end = float(own[own < end].max())
        below = own <= end
        if min(len(np.unique(values[below])), len(np.unique(values[~below]))) >= l:
            return column, end
    return None


def _whole(axes: list[_Axis]) -> FloatArray:
    """The whole space, shape (columns, 2): of numbers those that occur, and all categories."""
    ends = [
        (0, len(axis.nodes) - 1) if axis.nodes is not None else (axis.places.min(), axis.places.max()) for axis in axes
    ]
    return np.array(ends, dtype=np.float64)


def _divided(axes: list[_Axis], region: FloatArray, column: int, end: float) -> tuple[FloatArray, FloatArray]:
    """Both sides of a cut behind the place `end`: the numbers above it, or the next category."""
    first, second = region.copy(), region.copy()
    first[column, 1] = end
    second[column, 0] = end if axes[column].nodes is None else end + 1
    return first, second


@dataclass(frozen=True, eq=False)
class _Axis:
    """The place of each record on a column; categories are in the order of their tree."""

    places: FloatArray
    nodes: NDArray[np.integer] | None = None
    """Shape (leaves, levels), in the order of the tree; None for numbers."""
    costs: FloatArray | None = None

    @cached_property
    def _span(self) -> float:
        return float(np.ptp(self.places)) or 1.0

    def loss(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """The loss of regions from `low` to `high`."""
        if self.nodes is None or self.costs is None:
            return np.asarray((high - low) / self._span)
        first, last = np.asarray(low, dtype=np.int64), np.asarray(high, dtype=np.int64)
        level = (self.nodes[first] != self.nodes[last]).sum(axis=-1)  # of the node above both ends
        return np.asarray(self.costs[first, level])


def _axis(column: QuasiColumn) -> _Axis:
    if isinstance(column, NumberColumn):
        return _Axis(np.asarray(column.values, dtype=np.float64))
    if not isinstance(column, CategoryColumn):
        raise ld.InternalError("papers", "a column is neither a number nor a category.")
    order = np.lexsort(column.nodes.T)
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))
    return _Axis(rank[column.codes], column.nodes[order], column.costs[order].astype(np.float64))


class _Cutter:
    """Cuts the space between classes, given by the least boxes that hold them."""

    def __init__(self, axes: list[_Axis], low: FloatArray, high: FloatArray, sizes: NDArray[np.int64]) -> None:
        self.axes, self.low, self.high, self.sizes = axes, low, high, sizes

    def regions(self) -> FloatArray:
        """The region of each class, shape (classes, columns, 2)."""
        found = np.empty((*self.low.shape, 2))
        pending = [(np.arange(len(self.low)), _whole(self.axes))]
        while pending:
            classes, region = pending.pop()
            if len(classes) == 1:
                found[classes[0]] = region
                continue
            column, left = self._choose(classes)
            one, other = classes[left], classes[~left]
            end = self.high[one, column].max()
            first, second = _divided(self.axes, region, column, float(end))
            pending += [(one, first), (other, second)]
        return found

    def _choose(self, classes: NDArray[np.int64]) -> tuple[int, NDArray[np.bool_]]:
        """The column to cut, and the classes below the cut."""
        low, high, sizes = self.low[classes], self.high[classes], self.sizes[classes]
        ends = zip(self.axes, low.min(axis=0), high.max(axis=0), strict=True)
        spans = np.array([float(axis.loss(np.array(first), np.array(last))) for axis, first, last in ends])
        best: tuple[float, int, NDArray[np.bool_]] | None = None
        for column in np.argsort(-spans, kind="stable").tolist():
            order = np.argsort(low[:, column], kind="stable")
            reached = np.maximum.accumulate(high[order, column])
            free = np.flatnonzero(reached[:-1] < low[order[1:], column])
            if not len(free):
                continue
            shares = np.cumsum(sizes[order])[free] / sizes.sum()
            nearest = int(np.argmin(np.abs(shares - 0.5)))
            off = abs(float(shares[nearest]) - 0.5)
            if best is None or off < best[0]:
                below = np.zeros(len(classes), dtype=np.bool_)
                below[order[: free[nearest] + 1]] = True
                best = (off, column, below)
            if off <= 0.5 - _NEAR_MIDDLE:
                break
        if best is None:
            raise ld.InternalError("papers", "classes of Mondrian cannot be told apart by cuts.")
        return best[1:]
