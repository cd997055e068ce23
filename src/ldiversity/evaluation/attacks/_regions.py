"""Which regions of a generalized release contain a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.evaluation.attacks._matching import Matches, normalized, number_alike
from ldiversity.release import Membership, membership
from ldiversity.schema import Role

if TYPE_CHECKING:
    from ldiversity.evaluation.attacks._base import Targets
    from ldiversity.release import Region, Release

__all__ = ["match_regions", "people_inside"]

_PEOPLE_AT_ONCE: Final = 1024
_POINT: Final = 1e-9
"""The extent of a single number among reals, as a share of the public range."""


@dataclass(frozen=True, eq=False)
class _Side:
    """One quasi-identifier: where people are, and how large the regions are.

    `inside` says which regions hold whom. `extent` is the number of values in the region of each class, or of records
    by the published marginal.
    """

    inside: Membership
    extent: FloatArray


def match_regions(release: Release, targets: Targets, attribute: str) -> Matches:
    """Find every class whose region contains a target, weighted by its records over the size of its region.

    Classes are bits, so that the conditions of all quasi-identifiers are combined quickly.
    """
    from scipy.sparse import csr_array

    counts = release.evidence(attribute).candidates
    names = release.schema.names(Role.QUASI)
    (of_target,) = number_alike([targets.columns.select(names)], names) if names else (np.zeros(targets.n, np.int64),)
    _, first = np.unique(of_target, return_index=True)
    people = targets.columns.take(pa.array(first)) if names else targets.columns
    sides = [_side(release.region(name), people.column(name)) for name in names]
    weight = counts.sizes * np.exp(-sum((np.log(side.extent) for side in sides), np.zeros(counts.n_classes)))
    rows, columns = [], []
    for start in range(0, len(first), _PEOPLE_AT_ONCE):
        some = slice(start, min(start + _PEOPLE_AT_ONCE, len(first)))
        person, found = _contained(sides, some, counts.n_classes)
        rows.append(person + start)
        columns.append(found)
    row, column = np.concatenate(rows), np.concatenate(columns)
    # A class without records of this attribute cannot be theirs.
    matrix = csr_array((weight[column], (row, column)), shape=(len(first), counts.n_classes))
    return normalized(of_target, matrix)


def people_inside(
    release: Release, targets: Targets, classes: NDArray[np.integer]
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The targets that lie in the region of each class, class by class."""
    names = release.schema.names(Role.QUASI)
    sides = [membership(release.region(name), targets.columns.column(name)) for name in names]
    for one in classes.tolist():
        inside = np.ones(targets.n, dtype=np.bool_)
        for side in sides:
            inside &= side.holds(one)[side.code_of]
        yield one, np.flatnonzero(inside)


def _contained(sides: list[_Side], some: slice, n_classes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    width = -(-n_classes // 64) * 8
    marks = np.full((some.stop - some.start, width), 255, dtype=np.uint8)
    if n_classes < width * 8:  # bits beyond the last class
        marks[:] = np.packbits(np.arange(width * 8) < n_classes)
    for side in sides:
        values, back = np.unique(side.inside.code_of[some], return_inverse=True)
        packed = np.zeros((len(values), width), dtype=np.uint8)
        bits = np.packbits(side.inside.contains(values), axis=1)
        packed[:, : bits.shape[1]] = bits
        marks &= packed[back]
    person, word = np.nonzero(marks.view(np.uint64))
    inside = np.unpackbits(marks.reshape(len(marks), -1, 8)[person, word], axis=1)
    which, bit = np.nonzero(inside)
    return person[which], word[which] * 64 + bit


def _side(region: Region, cells: pa.ChunkedArray) -> _Side:
    inside = membership(region, cells)
    return _Side(
        inside, _lengths(region) if region.form.kind == "interval" else _numbers_of_values(region, inside, cells)
    )


def _lengths(region: Region) -> FloatArray:
    form, intervals = region.form, region.intervals
    low, high, unknown = intervals.low, intervals.high, intervals.unknown
    whole = np.issubdtype(low.dtype, np.integer)
    extent: FloatArray
    if form.marginal is not None:
        reached = np.concatenate([[0], np.cumsum(form.marginal.counts)])
        first = np.searchsorted(form.marginal.values, low, side="left")
        last = np.searchsorted(form.marginal.values, high, side="right")
        extent = np.where(unknown, form.marginal.n_records, reached[last] - reached[first]).astype(float)
        least = 0.5
    else:
        widest = form.span + (2 if whole else 0)
        extent = np.where(unknown, widest, (high - low).astype(float) + (1 if whole else 0))
        least = 1.0 if whole else max(form.span, 1.0) * _POINT
    extent = np.maximum(extent, least)
    return extent


def _numbers_of_values(region: Region, inside: Membership, cells: pa.ChunkedArray) -> FloatArray:
    form, measure = region.form, np.ones(inside.n_codes)
    if form.marginal is not None:
        measure[:] = 0.0
        measure[form.marginal.values.astype(np.int64)] = form.marginal.counts
    elif form.reaches is not None:
        # The number of values under a node is not public; attackers count those of the people they look for.
        measure = _count_values(cells, inside.code_of, inside.n_codes)
    return np.maximum(inside.total(measure), 0.5)


def _count_values(cells: pa.ChunkedArray, code_of: NDArray[np.int64], n_codes: int) -> FloatArray:
    (value_of,) = number_alike([pa.table({"": cells})], [""])
    pairs = np.unique(np.stack([code_of, value_of]), axis=1)
    return np.bincount(pairs[0], minlength=n_codes).astype(np.float64)
