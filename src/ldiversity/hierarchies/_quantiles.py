"""Put numbers into intervals that hold about equally many records, level by level."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ldiversity.base.checks import check_integer
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.hierarchies._distinct import distinct_values, listed
from ldiversity.hierarchies._text import text_of
from ldiversity.hierarchies._unambiguous import ROOT, with_missing
from ldiversity.hierarchies._widths import check_sizes
from ldiversity.sentences import Named, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ldiversity.base.arrays import Scalar

__all__ = ["quantile_rows"]


def quantile_rows(
    owner: str, values: Iterable[object], n_bins: Sequence[int], counts: Iterable[int] | None
) -> list[tuple[str, ...]]:
    """Return one row per number: the number, its interval of each level, and the root."""
    bins = _check_bins(owner, n_bins)
    weights, missing = _weights(owner, values, counts)
    numbers = list(weights)
    # Coarser levels join whole bins of the finest one, so that intervals are nested.
    finest = _positions(np.array(list(weights.values()), dtype=np.float64), bins[0])
    levels = [_labels(numbers, finest // (bins[0] // size)) for size in bins]
    rows = [(text_of(number), *labels, ROOT) for number, *labels in zip(numbers, *levels, strict=True)]
    return with_missing(rows, missing=missing)


def _weights(owner: str, values: Iterable[object], counts: Iterable[int] | None) -> tuple[Mapping[Scalar, int], bool]:
    given = listed(values)
    distinct = distinct_values(owner, given)
    if distinct.kind not in {"integer", "number"}:
        raise SchemaError(owner, "values", "must be numbers, at least one", got=distinct.noun).with_hint(
            say("Use {} for texts and {} for dates.", Named("by_prefix", "prefix"), Named("by_date", "date"))
        )
    check_sizes(owner, distinct)
    if counts is None:
        return distinct.counts, distinct.missing
    weights = dict.fromkeys(distinct.counts, 0)
    numbers = [check_integer(owner, "counts", count, minimum=0) for count in counts]
    if len(numbers) != len(given):
        raise ParameterError(owner, "counts", "must give one number for each value")
    for value, count in zip(given, numbers, strict=True):
        if value in weights:
            weights[value] += count
    if not any(weights.values()):
        raise ParameterError(owner, "counts", "must not all be 0")
    return weights, distinct.missing


def _positions(weights: NDArray[np.float64], n_bins: int) -> NDArray[np.int64]:
    """Return the bin of each value: the one that the middle of its records falls into, so that no value is split."""
    middles = np.cumsum(weights) - weights / 2
    positions: NDArray[np.int64] = np.floor(middles * n_bins / weights.sum()).astype(np.int64)
    return np.minimum(positions, n_bins - 1)


def _labels(numbers: Sequence[Scalar], positions: NDArray[np.int64]) -> list[str]:
    starts = [0, *(np.flatnonzero(np.diff(positions)) + 1).tolist()]
    limits = [*(text_of(numbers[start]) for start in starts), text_of(numbers[-1])]
    labels = [f"[{low}, {high})" for low, high in pairwise(limits)]
    labels[-1] = f"[{limits[-2]}, {limits[-1]}]"
    sizes = np.diff([*starts, len(numbers)]).tolist()
    return [label for label, size in zip(labels, sizes, strict=True) for _ in range(size)]


def _check_bins(owner: str, n_bins: Sequence[int]) -> list[int]:
    if isinstance(n_bins, str) or not hasattr(n_bins, "__len__") or len(n_bins) == 0:
        raise ParameterError(owner, "n_bins", "must be a list of numbers of intervals", got=repr(n_bins))
    bins = [check_integer(owner, "n_bins", number, minimum=1) for number in n_bins]
    for more, fewer in pairwise(bins):
        if fewer >= more or more % fewer:
            raise ParameterError(
                owner, "each number of intervals must divide the one before it", got=f"{fewer} after {more}"
            ).with_hint("Intervals of a level must lie inside those of the next: 16, 4 does, 16, 5 does not.")
    return bins
