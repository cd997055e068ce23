"""What records add to sums by chance, over the values that their sets leave open.

The sum of its squares is a variance that is never below zero. Where nearly all records have one value, it is nearly
certain which value that is, and so is this variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.estimation._cells import CellData, product_sets
from ldiversity.estimation._likelihood import SetLikelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldiversity.base.arrays import FloatArray, SetArray

__all__ = ["Published", "added", "ranges"]

_PSEUDO: Final = 0.5


@dataclass(frozen=True, eq=False)
class Published:
    """The sets of a cell, and how much each of them counts: how often it occurs, or a sum of squared weights."""

    sets: tuple[SetArray, ...]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, cells: CellData, cell: int) -> Published:
        """Every record counts once."""
        counted = cells.counted
        if counted is not None:
            rows = slice(counted.starts[cell], counted.starts[cell + 1])
            return cls(tuple(array[rows] for array in counted.sets), counted.weights[rows].astype(np.float64))
        rows = slice(cells.starts[cell], cells.starts[cell + 1])
        sets = tuple(array[rows] for array in cells.sets)
        return cls(sets, np.ones(len(sets[0])))

    def by_chance(self, cells: CellData, counts: FloatArray, factors: FloatArray) -> FloatArray:
        """The sums of squares of what records add by chance, shape (k,), for factors of shape (k, F).

        `counts` are possible counts of each value, shape (F,), near the truth.
        """
        likelihood = SetLikelihood.made(cells.mechanisms, self.sets, self.weights, np.array([0, len(self.weights)]))
        chances = (counts + _PSEUDO)[likelihood.sets] * (likelihood.likelihood if len(likelihood.likelihood) else 1.0)
        chances *= (self.weights / chances.sum(axis=1))[:, None]
        members = product_sets(self.sets, cells.sizes)
        return np.array(
            [
                (chances * (own[members].sum(axis=1)[:, None] - factor[likelihood.sets]) ** 2).sum()
                for own, factor in zip(added(cells, factors), factors, strict=True)
            ]
        )


def added(cells: CellData, factors: FloatArray) -> FloatArray:
    """What each published member adds to the sums with these factors, shape (k, F)."""
    inverses: Sequence[FloatArray] = [mechanism.inverse.T for mechanism in cells.mechanisms]
    return cells.transform(inverses, factors)


def ranges(cells: CellData, factors: FloatArray) -> FloatArray:
    """How far apart two sets may be in what they add to the sums, shape (k,): the greatest members, and the least."""
    own = np.sort(added(cells, factors), axis=1)
    size = prod(mechanism.l for mechanism in cells.mechanisms)
    widths: FloatArray = own[:, -size:].sum(axis=1) - own[:, :size].sum(axis=1)
    return widths
