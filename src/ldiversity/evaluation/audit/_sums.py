"""Sums over classes that come out the same however the classes are divided: sizes, links and beliefs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray

__all__ = ["BANDS", "BeliefSums", "LinkSums", "SizeCounts", "exact_sum", "from_units", "sum_beliefs", "sum_links"]

BANDS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Beliefs are counted in quarters."""

_LIKELY: Final = 0.5
_NEARLY_SURE: Final = 0.9
_ROUNDING: Final = 1e-12
_BITS: Final = 50
_HALF_BITS: Final = _BITS // 2


def exact_sum(numbers: FloatArray) -> int:
    """Sum numbers that are at least 0 as multiples of 2^-50, so that neither order nor division changes the sum.

    Examples
    --------
    >>> numbers = np.array([0.1, 0.7, 1e9, 0.2])
    >>> exact_sum(numbers) == exact_sum(numbers[:1]) + exact_sum(numbers[1:])
    True
    >>> from_units(exact_sum(np.array([0.25, 1.5])))
    1.75
    """
    whole = np.floor(numbers)
    rest = np.rint((numbers - whole) * (1 << _BITS)).astype(np.int64)
    high, low = rest >> _HALF_BITS, rest & ((1 << _HALF_BITS) - 1)
    return (int(whole.astype(np.int64).sum()) << _BITS) + (int(high.sum()) << _HALF_BITS) + int(low.sum())


def from_units(units: int, over: int = 1) -> float:
    """A sum as a number, or its mean over so many."""
    return units / (over << _BITS)


@dataclass(frozen=True, eq=False)
class SizeCounts:
    """How many classes there are of each size.

    Parameters
    ----------
    sizes
        The different sizes, ascending.
    classes
        How many classes have each.

    Examples
    --------
    >>> counts = SizeCounts.of(np.array([4, 1, 1]))
    >>> counts.sizes.tolist(), counts.classes.tolist(), counts.n_records, counts.median
    ([1, 4], [2, 1], 6, 1.0)
    """

    sizes: NDArray[np.int64]
    classes: NDArray[np.int64]

    @classmethod
    def of(cls, sizes: NDArray[np.int64]) -> SizeCounts:
        """Count the sizes of some classes."""
        different, counts = np.unique(sizes, return_counts=True)
        return cls(different.astype(np.int64), counts.astype(np.int64))

    @classmethod
    def together(cls, parts: Sequence[SizeCounts]) -> SizeCounts:
        """The sizes of all classes."""
        different, back = np.unique(np.concatenate([part.sizes for part in parts]), return_inverse=True)
        classes = np.zeros(len(different), dtype=np.int64)
        np.add.at(classes, back.ravel(), np.concatenate([part.classes for part in parts]))
        return cls(different, classes)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.classes.sum())

    @property
    def n_records(self) -> int:
        """The number of records."""
        return int(self.sizes @ self.classes)

    @property
    def smallest(self) -> int | None:
        """The size of the smallest class, if there is one."""
        return int(self.sizes[0]) if len(self.sizes) else None

    @property
    def median(self) -> float:
        """The median of the sizes; 0 without a class."""
        if not len(self.sizes):
            return 0.0
        until, n_classes = np.cumsum(self.classes), self.n_classes
        middle = np.searchsorted(until, [(n_classes - 1) // 2, n_classes // 2], side="right")
        return float(self.sizes[middle].mean())

    def between(self, low: int, high: int | None) -> int:
        """How many classes have a size from `low` to `high`."""
        inside = (self.sizes >= low) & (self.sizes <= (np.inf if high is None else high))
        return int(self.classes[inside].sum())


@dataclass(frozen=True)
class LinkSums:
    """How likely records are linked: the greatest probability, the sum over records, and what lies above a limit."""

    most: float = 0.0
    units: int = 0
    records_above: int = 0
    classes_above: int = 0

    def __add__(self, other: LinkSums) -> LinkSums:
        """The links of both."""
        return LinkSums(
            max(self.most, other.most),
            self.units + other.units,
            self.records_above + other.records_above,
            self.classes_above + other.classes_above,
        )


def sum_links(
    risks: FloatArray, sizes: NDArray[np.int64], threshold: float, classes: NDArray[np.int64] | None = None
) -> LinkSums:
    """Sum the risks of classes; `classes` says how many there are of each kind."""
    most, above = float(risks.max(initial=0.0)), risks > threshold + _ROUNDING
    if classes is None:
        return LinkSums(most, exact_sum(risks * sizes), int(sizes[above].sum()), int(np.count_nonzero(above)))
    units = sum(exact_sum(np.array([one])) * n for one, n in zip(risks * sizes, classes.tolist(), strict=True))
    return LinkSums(most, units, int((sizes * classes)[above].sum()), int(classes[above].sum()))


@dataclass(frozen=True)
class BeliefSums:
    """How sure an attacker is of the likeliest value: numbers of classes and records, and sums over records.

    `units` is the sum of the records for which a guess is right, `most` the greatest probability, `bands` has the
    records of each quarter.
    """

    classes: int
    records: int
    classes_with_one_value: int
    records_read_off: int
    records_at_least_50: int
    records_at_least_90: int
    units: int
    most: float
    bands: tuple[int, ...]

    @classmethod
    def together(cls, parts: Iterable[BeliefSums]) -> BeliefSums:
        """The beliefs about all classes."""
        several = list(parts)
        return cls(
            sum(one.classes for one in several),
            sum(one.records for one in several),
            sum(one.classes_with_one_value for one in several),
            sum(one.records_read_off for one in several),
            sum(one.records_at_least_50 for one in several),
            sum(one.records_at_least_90 for one in several),
            sum(one.units for one in several),
            max(one.most for one in several),
            tuple(sum(of_band) for of_band in zip(*(one.bands for one in several), strict=True)),
        )


def sum_beliefs(largest: FloatArray, right: FloatArray, sizes: NDArray[np.int64]) -> BeliefSums:
    """Sum the beliefs about some classes.

    `largest` is the probability of the likeliest value of each, `right` for how many of its records it is right.
    """
    sure = largest >= 1 - _ROUNDING
    bands = np.searchsorted(BANDS[1:], largest - _ROUNDING)
    return BeliefSums(
        classes=len(sizes),
        records=int(sizes.sum()),
        classes_with_one_value=int(np.count_nonzero(sure)),
        records_read_off=int(sizes[sure].sum()),
        records_at_least_50=int(sizes[largest >= _LIKELY - _ROUNDING].sum()),
        records_at_least_90=int(sizes[largest >= _NEARLY_SURE - _ROUNDING].sum()),
        units=exact_sum(right),
        most=float(largest.max(initial=0.0)),
        bands=tuple(np.rint(np.bincount(bands, weights=sizes, minlength=len(BANDS) - 1)).astype(np.int64).tolist()),
    )
