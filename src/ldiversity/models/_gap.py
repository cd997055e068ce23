"""l-diversity of numbers: no interval shorter than a gap holds more than 1/l of a class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.base.checks import check_integer, check_number
from ldiversity.base.typed import number_text
from ldiversity.errors import SchemaError
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import Population
from ldiversity.models._measured import Measured
from ldiversity.schema import EXACT_POSITION, Domain

__all__ = ["GapDiversity"]


@dataclass(frozen=True)
class GapDiversity(PrivacyModel):
    """No interval shorter than `gap` holds more than ``1/l`` of the records of a class.

    Stops an attacker who gains from knowing roughly what a number is: values closer than the gap count as one. Every
    class then has l values that are pairwise at least the gap apart. Of numbers in bins, two count as apart when no
    number of one bin is closer than the gap to one of the other. A missing value is apart from every number.

    Reached is the size of the class over the most records in such an interval.

    Parameters
    ----------
    l
        At least 2.
    gap
        Greater than 0, in the unit of the column.

    Notes
    -----
    Monotone: of two classes, an interval holds at most 1/l of each, so of both.

    l values apart: number the records of a class of m by size, from 0. Let w be the most in such an interval. Records
    0, w, 2w, ... are pairwise at least the gap apart: if two neighbors of these were not, the w + 1 records from one to
    the other would lie in one interval. There are at least m / w of them, and m / w >= l.

    Examples
    --------
    >>> pay = Domain((20, 22, 30, 40), ordered=True, positions=(20.0, 22.0, 30.0, 40.0))
    >>> everyone = Population(pay, np.array([3, 3, 3, 3]))
    >>> GapDiversity(2, gap=5).holds(np.array([[1, 1, 0, 0], [1, 0, 1, 0]]), everyone).tolist()
    [False, True]
    """

    name: ClassVar[str] = "gap"
    monotone: ClassVar[bool] = True
    needs_fit: ClassVar[bool] = True
    example: ClassVar[str] = "gap:3:5000"
    words: ClassVar[str] = "no interval shorter than {gap} has more than 1 of {l} records"
    measured: ClassVar[Measured] = Measured(
        "gap_frequency", "the greatest share of an interval shorter than the gap in a class", "share"
    )

    l: int
    gap: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_integer("GapDiversity", "l", self.l, minimum=2))
        object.__setattr__(self, "gap", check_number("GapDiversity", "gap", self.gap, above=0))

    @property
    def phrase(self) -> str:
        """The rule in a few words, with every digit of the gap."""
        return self.words.format(gap=number_text(self.gap), l=self.l)

    def unfit(self, domain: Domain) -> str | None:
        """Numbers alone have gaps, and only where their differences can be told."""
        if domain.positions is None:
            return "The values are not numbers."
        return None if domain.has_exact_positions else "Some numbers are too large for their differences to be exact."

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:
        """The size of each class over the most records in an interval shorter than the gap."""
        reached: FloatArray = counts.sum(axis=1) / self._fullest(counts, population.domain)
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:
        """Whether no interval shorter than the gap has more than 1/l of the class."""
        holds: BoolArray = self._fullest(counts, population.domain) * self.l <= counts.sum(axis=1)
        return holds

    @property
    def posterior(self) -> float:
        """1/l: of an interval, so of a value too."""
        return 1 / self.l

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        gap = number_text(self.gap)
        return (
            f"In every class no interval shorter than {gap} holds {attribute!r} of more than 1 of {self.l} "
            f"records: {self.l} values are pairwise at least {gap} apart."
        )

    def _fullest(self, counts: NDArray[np.int64], domain: Domain) -> NDArray[np.int64]:
        """Shape (classes,): the most records in an interval shorter than the gap, or without a value."""
        order, first_beyond, missing = _windows(domain, self.gap)
        running = np.zeros((len(counts), len(order) + 1), dtype=np.int64)
        np.cumsum(counts[:, order], axis=1, out=running[:, 1:])
        fullest = (running[:, first_beyond] - running[:, :-1]).max(axis=1, initial=0)
        most: NDArray[np.int64] = np.maximum(fullest, counts[:, missing].max(axis=1, initial=0))
        return most


@lru_cache(maxsize=32)
def _windows(domain: Domain, gap: float) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The values in ascending order, for each of these the place of the first that is apart from it, and the others."""
    if domain.positions is None:
        raise SchemaError("GapDiversity", "the values of the domain must be numbers or bins of numbers").with_hint(
            "Declare gaps for columns of numbers alone."
        )
    if not domain.has_exact_positions:
        raise SchemaError(
            "GapDiversity", f"the numbers of the domain must lie from -{EXACT_POSITION} to {EXACT_POSITION}"
        ).with_hint("Differences of larger ones are not exact: give the column in a larger unit.")
    positions = np.asarray(domain.positions, dtype=np.float64)
    numbers = np.flatnonzero(~np.isnan(positions))
    low = high = positions
    if domain.edges is not None:
        edges = np.asarray(domain.edges, dtype=np.float64)
        low, high = positions.copy(), positions.copy()
        low[numbers], high[numbers] = edges[:-1], edges[1:]
    order = numbers[np.argsort(low[numbers], kind="stable")]
    starts, ends = low[order], high[order]
    beyond = np.array([int(np.argmax(np.append(starts[i:] - ends[i] >= gap, True))) + i for i in range(len(order))])
    return order, beyond.astype(np.int64), np.flatnonzero(np.isnan(positions))
