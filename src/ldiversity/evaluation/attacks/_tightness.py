"""What follows for certain from regions that are as tight as they can be: who is at their ends, or under nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.evaluation.attacks._shown import People, Shown
from ldiversity.evaluation.attacks._shown_columns import Between, Condition, OneOf
from ldiversity.release import Grid, Region, Release, grid_of

__all__ = ["Claimed", "Deduction", "deductions"]

_Narrower: TypeAlias = tuple[tuple[Condition, Condition], Grid | None]


@dataclass(frozen=True, eq=False)
class Claimed:
    """What is claimed about the people within a region: there is somebody for each of `some`, and nobody for `none`."""

    some: tuple[Condition, ...]
    none: tuple[Condition, ...] = ()


@dataclass(frozen=True, eq=False)
class Deduction:
    """A cell of a class that can be narrowed: two of its records lie in two narrower cells.

    Parameters
    ----------
    column
        The column of the cell.
    size
        How many records the class has.
    region
        What is published of the class, in all quasi-identifiers.
    ends
        The two narrower cells; somebody of the class is in each.
    grid
        The public grid of the column, if it has one; None for a node.
    """

    column: str
    size: int
    region: Mapping[str, Condition]
    ends: tuple[Condition, Condition]
    grid: Grid | None = None

    @property
    def claimed(self) -> Claimed:
        """What minimality tells."""
        return Claimed(self.ends)

    def guessed(self, rng: np.random.Generator, *, whole: bool) -> Claimed:
        """What somebody claims who spreads the records evenly over the cell, as if nothing were minimal."""
        first, last = self.ends
        if isinstance(first, Between) and isinstance(last, Between):
            drawn = rng.uniform(first.low, last.high, self.size)
            ends = np.array([drawn.min(), drawn.max()])
            return Claimed(tuple(_single(end, self.grid) for end in (np.rint(ends) if whole else ends).tolist()))
        here = rng.integers(2, size=self.size)
        some = tuple(end for place, end in enumerate(self.ends) if (here == place).any())
        return Claimed(some, tuple(end for end in self.ends if end not in some))

    def holds(self, claimed: Claimed, shown: Shown, people: People) -> bool:
        """Whether the claim is true of these people."""
        others = {name: condition for name, condition in self.region.items() if name != self.column}
        return all(shown.fit({self.column: one, **others}, people) > 0 for one in claimed.some) and not any(
            shown.fit({self.column: one, **others}, people) for one in claimed.none
        )


def deductions(shown: Shown, release: Release) -> list[Deduction]:
    """Every cell of a class that can be narrowed."""
    regions = {name: release.region(name) for name in shown.quasi}
    if not regions:
        return []
    of_row = next(iter(regions.values())).of_row
    classes, first = np.unique(of_row, return_index=True)
    sizes = np.bincount(of_row[of_row >= 0], minlength=int(classes.max(initial=0)) + 1)
    rng, found = np.random.default_rng(0), []
    cells = {name: list(_narrower(region, shown)) for name, region in regions.items()}
    for number, row in zip(classes.tolist(), first.tolist(), strict=True):
        if number < 0:
            continue
        here = {name: one for name in shown.quasi if cells[name] and (one := cells[name][number]) is not None}
        stated = {
            name: shown.columns[name].stated(int(shown.columns[name].of_row[row]), rng) for name in shown.quasi if here
        }
        for name, (ends, grid) in here.items():
            found.append(Deduction(name, int(sizes[number]), stated, ends, grid))
    return found


def _narrower(region: Region, shown: Shown) -> Iterator[_Narrower | None]:
    """For each class: the two narrower cells with the grid, or None; nothing for columns that cannot be narrowed."""
    if region.form.kind == "interval":
        grid = None if region.form.grid is None else grid_of(region.form.grid, region.kind)
        intervals = region.intervals
        for low, high, unknown in zip(intervals.low, intervals.high, intervals.unknown, strict=True):
            first, last = _lowest(low, grid), _highest(high, grid)
            yield None if unknown or first.high >= last.low else ((first, last), grid)
    elif region.form.kind == "node" and not shown.columns[region.name].numeric:
        pairs = _pairs(region)
        for label in region.column.to_pylist():
            yield (pairs[label], None) if label in pairs else None


def _single(number: float, grid: Grid | None) -> Between:
    if grid is None:
        return Between(number, number)
    one = np.array([number])
    return Between(float(grid.below(one)[0]), float(grid.above(one)[0]))


def _lowest(low: Any, grid: Grid | None) -> Between:  # noqa: ANN401 - a number of the column
    return Between(float(low), float(low if grid is None else grid.above(np.array([low]))[0]))


def _highest(high: Any, grid: Grid | None) -> Between:  # noqa: ANN401 - a number of the column
    if grid is None:
        return Between(float(high), float(high))
    last = np.nextafter(high, -np.inf) if grid.half_open else high
    return Between(float(grid.below(np.array([last]))[0]), float(high))


def _pairs(region: Region) -> dict[str, tuple[OneOf, OneOf]]:
    """The two children of each node that has exactly two, by its label."""
    form, tree = region.form, region.form.hierarchy
    if tree is None:
        return {}
    place = {label: position for position, label in enumerate(form.labels)}
    leaves = np.array([place.get(leaf, len(form.labels)) for leaf in tree.leaves], dtype=np.int64)
    found = {}
    for level in range(tree.depth - 1, 0, -1):  # a label of two levels names the same leaves in both
        for position, label in enumerate(tree.labels[level]):
            under = np.flatnonzero(tree.nodes[:, level] == position)
            children = np.unique(tree.nodes[under, level - 1])
            if len(children) == 2:  # noqa: PLR2004 - records of a tight class lie under two children at least
                masks = [_mask(leaves[under[tree.nodes[under, level - 1] == child]], len(place)) for child in children]
                found[label] = (OneOf(masks[0]), OneOf(masks[1]))
    return found


def _mask(places: NDArray[np.int64], n_values: int) -> NDArray[np.bool_]:
    mask = np.zeros(n_values + 1, dtype=np.bool_)
    mask[places] = True
    mask[n_values] = False
    return mask
