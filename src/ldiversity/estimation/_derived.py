"""What users ask of an estimate besides counts: how groups differ, means and quantiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.checks import check_number
from ldiversity.base.numbers import number
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation._moments import CellMoments, Moments
from ldiversity.estimation._people import DRAWN_TOGETHER
from ldiversity.estimation._quantity import (
    Quantity,
    Ratios,
    Told,
    ValuesLike,
    fieller,
    numbers_of_domain,
    selected,
    value_factors,
)
from ldiversity.schema import label_text
from ldiversity.tables import python_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from ldiversity.base.arrays import BoolArray, FloatArray
    from ldiversity.schema import Domain

__all__ = ["Derived", "half_a_bin", "moments_of", "off_by_bins"]

_UNBIASED_COUNTS = "This figure is made from the unbiased counts of linear, because those of the estimate are biased."
_MIDDLES = (
    "Numbers within a bin count as its middle. So {} may be off by up to {}, half the width of the bins on average; "
    "the interval does not include that."
)
_IN_BINS = "Ends of the interval are ends of bins; within a bin, numbers are taken to be spread evenly."


class Derived:
    """Figures that follow from estimated counts. Each has its own interval; many of them are many questions.

    Groups are cells of the estimate: a label, such as ``"F"``; a tuple with a label for each by-column; or a mapping
    from some by-columns to labels, ``{"sex": "F"}``, which takes all cells with them together.
    """

    sensitive: tuple[str, ...]
    by: tuple[str, ...]
    labels: pa.Table
    domains: tuple[Domain, ...]
    estimator: tuple[str, ...]
    caveats: tuple[str, ...]
    confidence: float
    count: FloatArray
    _cells: Any
    _covariance: Callable[[int], FloatArray] | None
    _moments: Moments | None

    def proportion(self, value: ValuesLike | None, at: object = None, *, population: bool = False) -> Quantity:
        """Give the share of a value, or of several together, in a group.

        Parameters
        ----------
        value
            A sensitive value, or several; None for records without one, where they are a category.
        at
            The group; all cells together when None.
        population
            Whether the records are a sample, and the share of its population is asked for. The interval then has the
            error of sampling, too.
        """
        name, wanted = self._asked([None] if value is None else value)  # None is how frames show a missing value
        ratios = self._ratios(wanted, [self._chosen(at)], population=population)
        told = self._told(population=population)
        return told.around(_within(name, at), float(ratios.values[0]), float(ratios.errors[0]))

    def mean(self, at: object = None, *, population: bool = False) -> Quantity:
        """Give the mean of a sensitive attribute of numbers in a group; bins count as their middles.

        Records without a number do not take part.
        """
        name, wanted = self._asked(None)
        chosen = [self._chosen(at)]
        ratios = self._ratios(wanted, chosen, population=population)
        told = self._told(*self._of_bins(chosen), population=population)
        return told.around(_within(name, at), float(ratios.values[0]), float(ratios.errors[0]))

    def difference(
        self, value: ValuesLike | None = None, *, between: tuple[object, object], population: bool = False
    ) -> Quantity:
        """Give the share of a value in one group minus that in another; of the means when no value is named.

        Parameters
        ----------
        value
            A sensitive value, or several whose shares are added up; None for the difference of the means.
        between
            Two groups that have no cell in common.
        population
            As for `proportion`.

        Examples
        --------
        >>> import ldiversity as ld
        >>> release = ld.anonymize(
        ...     ld.datasets.patients(4000), quasi=["sex", "age"], sensitive="disease",
        ...     method=ld.RandomizedAddition(l=2), drop=["name", "zip", "job"],
        ... )
        >>> found = ld.estimate(release, by="sex").difference("R21 asthma", between=("female", "male"))
        >>> found.low < found.value < found.high
        True
        """
        name, wanted = self._asked(value)
        pair = self._pair(between)
        ratios = self._ratios(wanted, pair, population=population)
        contrast = np.array([1.0, -1.0])
        error = float(np.sqrt(max(contrast @ ratios.covariance @ contrast, 0.0)))
        told = self._told(*(self._of_bins(pair) if value is None else []), population=population)
        return told.around(f"{name}: {_group(between[0])} minus {_group(between[1])}", *_minus(ratios), error)

    def ratio(
        self, value: ValuesLike | None = None, *, between: tuple[object, object], population: bool = False
    ) -> Quantity:
        """Give the share of a value in one group divided by that in another; of the means when no value is named.

        The interval is Fieller's, which holds for small shares, too. It has no upper end where the second share may be
        zero, and begins at zero where the first may be zero, too.
        """
        name, wanted = self._asked(value)
        pair = self._pair(between)
        ratios = self._ratios(wanted, pair, population=population)
        told = self._told(*(self._of_bins(pair) if value is None else []), population=population)
        (first, second), words = ratios.values, f"{name}: {_group(between[0])} divided by {_group(between[1])}"
        signed = bool((wanted[0] < 0).any())
        if second <= 0:
            return told.between(words, np.inf, None, (-np.inf if signed else 0.0, np.inf))
        gradient = np.array([1.0 / second, -first / second**2])
        error = float(np.sqrt(max(gradient @ ratios.covariance @ gradient, 0.0)))
        ends = fieller(ratios.values, ratios.covariance, told.z, signed=signed)
        return told.between(words, float(first / second), error, ends)

    def quantile(self, q: float, at: object = None, *, population: bool = False) -> Quantity:
        """Give the number below which a share `q` of a group lies: 0.5 for the median.

        The interval holds the numbers at which the estimated share of records below is not far from `q` (Woodruff).
        """
        if not 0 < check_number("Estimate.quantile", "q", q) < 1:
            raise ParameterError("Estimate.quantile", "q", "must be between 0 and 1", got=repr(q))
        (name,), (domain,) = self._single(), self.domains
        numbers, known = numbers_of_domain(name, domain)
        order = np.flatnonzero(known)[np.argsort(numbers[known], kind="stable")]
        chosen = self._chosen(at)
        steps = np.zeros((len(order), len(numbers)))
        for place in range(len(order)):
            steps[place, order[: place + 1]] = 1.0
        above = steps[:, None, :] * chosen[None, :, None]
        below = np.broadcast_to(known[None, None, :] * chosen[None, :, None], above.shape).astype(np.float64)
        ratios = Ratios.of(self._known(), above, below, population=population)
        told = self._told(*([_IN_BINS] if domain.edges else []), population=population)
        return _quantile(told, _within(f"quantile {number(q)} of {name}", at), q, ratios, domain, numbers[order], order)

    def _single(self) -> tuple[str]:
        if len(self.sensitive) > 1:
            raise UnsupportedError(
                "Estimate", "such figures are offered for one sensitive attribute, not for a joint distribution"
            ).with_hint("Ask for one attribute, and name the other one in by.")
        return (self.sensitive[0],)

    def _asked(self, value: ValuesLike | None) -> tuple[str, tuple[FloatArray, FloatArray]]:
        """What a figure is about, and the factors of values above and below the line."""
        (name,), (domain,) = self._single(), self.domains
        if value is None:
            numbers, known = numbers_of_domain(name, domain)
            return f"mean of {name}", (numbers, known.astype(np.float64))
        shown = [value] if isinstance(value, str | int | float | bool) else list(value)
        words = f"share of {name} {' or '.join(map(label_text, shown))}"
        return words, (value_factors(domain, value), np.ones(len(domain)))

    def _ratios(self, wanted: tuple[FloatArray, FloatArray], groups: list[BoolArray], *, population: bool) -> Ratios:
        above, below = (np.stack([factor[None, :] * group[:, None] for group in groups]) for factor in wanted)
        return Ratios.of(self._known(), above, below, population=population)

    def _of_bins(self, groups: list[BoolArray]) -> list[str]:
        """The caveat of the means of these groups, if numbers are in bins."""
        return [] if self.domains[0].edges is None else [off_by_bins([half_a_bin(self, group) for group in groups])]

    def _chosen(self, at: object) -> BoolArray:
        return selected(self._labels_of_cells, self.by, at)

    @cached_property
    def _labels_of_cells(self) -> list[Mapping[str, str]]:
        rows = python_rows(self.labels) if self.by else [{}]
        return [{name: label_text(label) for name, label in row.items()} for row in rows]

    def _pair(self, between: tuple[object, object]) -> list[BoolArray]:
        if not isinstance(between, tuple | list) or len(between) != 2:  # noqa: PLR2004 - a pair
            raise ParameterError("Estimate", "between", "must be two groups, such as ('F', 'M')", got=repr(between))
        first, second = (self._chosen(at) for at in between)
        if (first & second).any():
            raise ParameterError("Estimate", "the two groups must have no cell in common")
        return [first, second]

    def _known(self) -> Moments:
        return moments_of(self) if self._moments is None else self._moments

    def _told(self, *caveats: str, population: bool) -> Told:
        moments = self._known()
        own = () if moments.counts is self.count else (_UNBIASED_COUNTS,)
        shared = (caveat for caveat in self.caveats if caveat == DRAWN_TOGETHER)
        return Told(self.confidence, population or not moments.fixed, (*caveats, *own, *shared))


def half_a_bin(estimate: Derived, group: BoolArray | None = None) -> float:
    """How far the mean of a group, or of all records, may be off because bins count as their middles."""
    edges = np.array(estimate.domains[0].edges)
    counts = np.maximum(estimate._known().counts, 0.0)[:, : len(edges) - 1]  # noqa: SLF001 - of the same room
    inside = (counts if group is None else counts[group]).sum(axis=0)
    return float(inside @ np.diff(edges) / (2 * max(inside.sum(), 1e-300)))


def off_by_bins(halves: Sequence[float]) -> str:
    """The caveat of one mean of bins, or of several together, each with the half of its bins."""
    *first, last = dict.fromkeys(map(number, halves))
    most = f"{', '.join(first)} and {last}" if first else last
    return _MIDDLES.format({1: "the mean", 2: "the two means"}.get(len(halves), "the means"), most)


def moments_of(estimate: Derived) -> Moments:
    """The counts of a grouped release and their covariance, from which figures can be derived."""
    if estimate._covariance is None:  # noqa: SLF001 - of the same room
        raise UnsupportedError(
            "Estimate", f"the estimator {estimate.estimator[0]!r} has no covariance, so derived figures have no errors"
        ).with_hint("Take the limits of single counts, low and high; or ask a release of sets.")
    if len(estimate.count) > 1:
        raise UnsupportedError(
            "Estimate", "cells of a grouped release are not independent, so figures are offered for one cell alone"
        ).with_hint("Select the group with where, and leave by out.")
    return CellMoments(estimate.count, estimate._covariance)  # noqa: SLF001


def _minus(ratios: Ratios) -> tuple[float]:
    return (float(ratios.values[0] - ratios.values[1]),)


def _quantile(
    told: Told, name: str, q: float, ratios: Ratios, domain: Domain, numbers: FloatArray, order: NDArray[np.intp]
) -> Quantity:
    below, reach = ratios.values, told.z * ratios.errors
    last = len(below) - 1
    # The last share is 1 whatever the noise; rounding must not lose it.
    at, low, high = (
        int(np.argmax(np.append(share[:-1] >= q, True)))
        for share in (np.maximum.accumulate(below), below + reach, np.minimum.accumulate((below - reach)[::-1])[::-1])
    )
    if domain.edges is None:
        return told.between(name, float(numbers[at]), None, (float(numbers[low]), float(numbers[max(high, at)])))
    edges = np.array(domain.edges)
    start = 0.0 if at == 0 else float(np.maximum.accumulate(below)[at - 1])
    end = 1.0 if at == last else float(np.maximum.accumulate(below)[at])
    inside = float(np.clip((q - start) / (end - start), 0, 1)) if end > start else 0.5
    code = int(order[at])
    value = edges[code] + inside * (edges[code + 1] - edges[code])
    return told.between(name, float(value), None, (float(edges[order[low]]), float(edges[order[max(high, at)] + 1])))


def _group(at: object) -> str:
    if isinstance(at, Mapping):
        return ", ".join(f"{name} {label_text(value)}" for name, value in at.items())
    return ", ".join(map(str, at)) if isinstance(at, tuple | list) else label_text(at)


def _within(name: str, at: object) -> str:
    return name if at is None else f"{name} ({_group(at)})"
