"""Recursive (c,l)-diversity: the most frequent value is not much more frequent than the rare ones together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.base.checks import check_integer, check_number
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import ClassCounts, Population
from ldiversity.models._exact import as_written, less_than
from ldiversity.models._measured import Figures, Measured

__all__ = ["RecursiveDiversity"]


@dataclass(frozen=True)
class RecursiveDiversity(PrivacyModel):
    """With counts sorted descending, ``r_1 < c (r_l + r_{l+1} + ... + r_m)`` in every class.

    Reached is ``r_1 / (r_l + ... + r_m)``: the class satisfies every greater c. It is infinite with fewer than l
    values, which satisfy no c at all.

    Parameters
    ----------
    c
        Greater than 0.
    l
        At least 2.

    Notes
    -----
    Monotone: let R and T be the greatest count and the rare ones' sum of a class. In a merged class the greatest count
    is at most R + R'; the l - 1 greatest counts together are at most those of both classes, so the rare ones are at
    least T + T'. Hence R + R' < c (T + T').

    The share of one value is below c / (1 + c), because the class has at least ``r_1 + T > r_1 + r_1 / c`` records.
    For l = 2 no smaller bound holds.

    References
    ----------
    Machanavajjhala et al., "l-diversity", 2007, Definition 4.2.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut", "burn")), np.array([101, 3, 3]))
    >>> counts = np.array([[3, 2, 2], [98, 1, 1]])
    >>> RecursiveDiversity(c=2, l=3).holds(counts, everyone).tolist()
    [True, False]
    >>> RecursiveDiversity(c=2, l=3).reached(counts, everyone).tolist()
    [1.5, 98.0]
    """

    name: ClassVar[str] = "recursive"
    monotone: ClassVar[bool] = True
    only_counts: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    strict: ClassVar[bool] = True
    scale: ClassVar[str] = "c"
    example: ClassVar[str] = "recursive:3:2"
    probes: ClassVar[tuple[tuple[Any, ...], ...]] = ((1.0, 2),)
    measured: ClassVar[Measured] = Measured(
        "recursive_c",
        "for each l: how many times the rarer values the most frequent one has, in the worst class",
        infinite="A class has one value only, so that no c holds.",
    )

    c: float
    l: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", check_number("RecursiveDiversity", "c", self.c, above=0))
        object.__setattr__(self, "l", check_integer("RecursiveDiversity", "l", self.l, minimum=2))

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:  # noqa: ARG002 - the class alone decides
        """The greatest count over the sum of the rare ones; infinite when there are none."""
        greatest, rare = self._sums(counts)
        reached: FloatArray = np.full(len(counts), np.inf)
        np.divide(greatest, rare, out=reached, where=rare > 0)
        return reached

    def overall(self, classes: ClassCounts, smallest: int) -> Figures:  # noqa: ARG002 - the values alone decide
        """The c that is reached for each l, all in one pass: every greater c holds. Infinite ones are left out.

        Examples
        --------
        >>> from ldiversity.models import count_classes
        >>> from ldiversity.schema import Domain
        >>> values = np.repeat([0, 1, 2], [3, 2, 1])
        >>> classes = count_classes(np.zeros(6, dtype=np.int64), values, 1, Domain(("a", "b", "c")))
        >>> RecursiveDiversity(1, 2).overall(classes, 6)
        {'2': 1.0, '3': 3.0}
        """
        worst = np.zeros(max(len(classes.domain) - 1, 0))
        for _, dense in classes.different.blocks():
            ordered = -np.sort(-dense, axis=1)
            rare = ordered[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
            reached = np.full(rare.shape, np.inf)
            np.divide(ordered[:, :1], rare, out=reached, where=rare > 0)
            worst = np.maximum(worst, reached.max(axis=0, initial=0.0))
        return {str(l): float(c) for l, c in enumerate(worst, start=2) if np.isfinite(c)}

    def of_all(self, figures: Sequence[Figures]) -> Figures:
        """The greatest c of each l that is finite everywhere."""
        return self.worst_of(figures) or {}

    def worst_of(self, figures: Sequence[Figures]) -> Figures | None:
        """The greatest c of each l for which every attribute has one."""
        by_l = [one for one in figures if isinstance(one, Mapping)]
        shared = set.intersection(*(set(one) for one in by_l))
        return {l: max(one[l] for one in by_l) for l in sorted(shared, key=int)} or None

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:  # noqa: ARG002 - the class alone decides
        """Whether the greatest count is less than c times the sum of the rare ones."""
        greatest, rare = self._sums(counts)
        return less_than(greatest, as_written(self.c), rare)

    @property
    def posterior(self) -> float:
        """C / (1 + c), which is not reached."""
        return self.c / (1 + self.c)

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return (
            f"In every class the most frequent value of {attribute!r} has fewer than {self.c:g} times the records of "
            f"all values but the {self.l - 1} most frequent."
        )

    def _sums(self, counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The greatest count, and the sum of the l-th greatest and all below."""
        n_values = counts.shape[1]
        greatest = counts.max(axis=1)
        if n_values < self.l:
            return greatest, np.zeros_like(greatest)
        n_rare = n_values - self.l + 1
        return greatest, np.partition(counts, n_rare, axis=1)[:, :n_rare].sum(axis=1)
