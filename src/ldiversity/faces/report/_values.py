"""Which values a report shows, and the limits of their shares.

Pictures have room for 30 values. Neighbors among numbers are added up; of other domains the most frequent values are
taken, also where they were declared in some order, which may mean nothing. These are chosen by their estimates, and the
largest of many estimates are mostly too high. So their intervals hold for all values of the domain at once, and
therefore for any that are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import NormalDist
from typing import Final

import numpy as np

from ldiversity.base.arrays import FloatArray
from ldiversity.base.typed import number_text
from ldiversity.errors import UnsupportedError
from ldiversity.estimation import By, Estimate, estimate
from ldiversity.faces.report._parts import Intervals
from ldiversity.release import Release
from ldiversity.schema import Domain, label_text

__all__ = ["CONFIDENCE", "MOST_VALUES", "Shown", "show_values"]

MOST_VALUES: Final = 30
"""The most sensitive values of a picture and its table."""

CONFIDENCE: Final = 0.95
_HALF_A_RECORD: Final = 0.5
_EQUAL: Final = 1e-9


@dataclass(frozen=True, eq=False)
class Shown:
    """An estimate, and what is shown of it.

    Attributes
    ----------
    found
        The estimate of all values and cells.
    rows
        The cells that are shown.
    members
        The codes of every value that is shown: one, or several neighbors.
    names
        What these are called.
    intervals
        ``"exact"``: counts are published; ``"bounds"``: limits that hold for certain; ``"pointwise"``: each interval
        holds as often as its confidence says; ``"simultaneous"``: those of all values of a cell do at once.
    low, high
        Limits of all shares, shape (cells, F).
    shown_low, shown_high
        Limits of what is shown, shape (rows, members).
    """

    found: Estimate
    rows: list[int]
    members: list[list[int]]
    names: list[str]
    intervals: Intervals
    low: FloatArray
    high: FloatArray
    shown_low: FloatArray
    shown_high: FloatArray

    @property
    def grouped(self) -> bool:
        """Whether neighbors were added up."""
        return any(len(codes) > 1 for codes in self.members)

    def added(self, counts: FloatArray) -> FloatArray:
        """Counts of all values, added up as they are shown, shape (cells, members)."""
        return _added(counts, self.members)


def show_values(release: Release, name: str, by: tuple[By, ...], most_cells: int) -> Shown:
    """Estimate a sensitive attribute in the cells of `by`, and choose what to show of it.

    At most `most_cells` are shown: those with the most records.
    """
    domain = release.domain(name)
    wide = len(domain) > MOST_VALUES
    found = estimate(release, by=by, sensitive=name, confidence=CONFIDENCE)
    rows = np.sort(np.argsort(-found.records, kind="stable")[:most_cells]).tolist()
    kind = _kind(release, found)
    if wide and (domain.positions is not None or domain.edges is not None):
        members = _neighbors(domain)
        limits = _limits_of_sums(release, found, name, by, rows, members, kind)
        if limits is not None:
            low, high = _shares(found, kind)
            return Shown(found, rows, members, _names(domain, members), kind, low, high, *limits)
    if wide and kind == "pointwise":
        kind = "simultaneous"
        found = estimate(release, by=by, sensitive=name, confidence=1 - (1 - CONFIDENCE) / len(domain))
    order = np.argsort(-found.count.sum(axis=0), kind="stable")[:MOST_VALUES] if wide else range(len(domain))
    members = [[int(code)] for code in order]
    low, high = _shares(found, kind)
    place = np.ix_(rows, [codes[0] for codes in members])
    return Shown(found, rows, members, _names(domain, members), kind, low, high, low[place], high[place])


def _kind(release: Release, found: Estimate) -> Intervals:
    if not release.grouped:
        return "pointwise"
    if bool(np.all(found.high - found.low <= _EQUAL)):
        return "exact"
    return "bounds" if found.certain else "pointwise"


def _shares(found: Estimate, kind: str) -> tuple[FloatArray, FloatArray]:
    return _divided(found.low, found.high, found.records, certain=kind in {"exact", "bounds"})


def _divided(
    low: FloatArray, high: FloatArray, records: FloatArray | np.ndarray, *, certain: bool
) -> tuple[FloatArray, FloatArray]:
    """Limits of shares from limits of counts.

    Where the records of a cell are known the counts are divided by them. Where classes lie across cells they are
    not: a share is least when its own count is least and all others are greatest.

    Examples
    --------
    >>> low, high = _divided(np.array([[1.0, 0.0]]), np.array([[2.0, 3.0]]), np.array([3.5]), certain=True)
    >>> low.tolist(), high.tolist()
    ([[0.25, 0.0]], [[1.0, 0.75]])
    """
    if not certain or np.issubdtype(records.dtype, np.integer):
        whole = np.where(records > 0, records, np.nan)[:, None]
        return low / whole, high / whole
    with np.errstate(invalid="ignore"):
        least = low / (low + high.sum(axis=1, keepdims=True) - high)
        greatest = high / (high + low.sum(axis=1, keepdims=True) - low)
    return least, greatest


def _neighbors(domain: Domain) -> list[list[int]]:
    """Codes of neighbors, about equally many in each group; a missing value stays alone.

    Examples
    --------
    >>> [len(codes) for codes in _neighbors(Domain((*range(89), None), ordered=True))][-2:]
    [1, 1]
    """
    known = [code for code, value in enumerate(domain.values) if value is not None]
    alone = [[code] for code, value in enumerate(domain.values) if value is None]
    width = ceil(len(known) / (MOST_VALUES - len(alone)))
    return [known[start : start + width] for start in range(0, len(known), width)] + alone


def _names(domain: Domain, members: Sequence[Sequence[int]]) -> list[str]:
    """What values, or neighbors together, are called.

    Examples
    --------
    >>> _names(Domain(("[0, 1)", "[1, 2)", "[2, 3]"), ordered=True, edges=(0, 1, 2, 3)), [[0, 1], [2]])
    ['[0, 2)', '[2, 3]']
    >>> _names(Domain((1, 2, 3), ordered=True), [[0, 1], [2]])
    ['1 to 2', '3']
    """
    labels = [label_text(value) for value in domain.values]
    names = []
    for codes in members:
        first, last = codes[0], codes[-1]
        if first == last:
            names.append(labels[first])
        elif domain.edges is not None and len(domain.edges) > last + 1:
            closing = "]" if last + 2 == len(domain.edges) else ")"
            names.append(f"[{number_text(domain.edges[first])}, {number_text(domain.edges[last + 1])}{closing}")
        else:
            names.append(f"{labels[first]} to {labels[last]}")
    return names


def _limits_of_sums(
    release: Release,
    found: Estimate,
    name: str,
    by: tuple[By, ...],
    rows: list[int],
    members: list[list[int]],
    kind: str,
) -> tuple[FloatArray, FloatArray] | None:
    """Limits of the shares of sums, shape (rows, members); None where their noise is not known."""
    records = found.records[rows]
    if kind in {"exact", "bounds"}:  # limits that hold for certain can be added
        low, high = _added(found.low[rows], members), _added(found.high[rows], members)
        return _divided(low, high, records, certain=True)
    linear = estimate(release, by=by, sensitive=name, estimator="linear", confidence=CONFIDENCE)
    try:
        matrices = [linear.covariance(row) for row in rows]
    except UnsupportedError:
        return None
    variances = np.array([[m[np.ix_(codes, codes)].sum() for codes in members] for m in matrices])
    # That estimate has noise of its own and may even be negative; single standard errors have a lower limit.
    least = np.array([[linear.std_error[row, codes].max() ** 2 for codes in members] for row in rows])
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    reach = z * np.sqrt(np.maximum(variances, least)) + _HALF_A_RECORD
    point, center = _added(found.count[rows], members), _added(linear.count[rows], members)
    whole = records[:, None].astype(np.float64)
    low, high = np.clip(center - reach, 0.0, whole), np.clip(center + reach, 0.0, whole)
    few = np.array([bool(found.note[row]) for row in rows])
    if few.any():  # too few records for a normal distribution: limits that hold for all members at once are added
        most = max(map(len, members))
        each = estimate(release, by=by, sensitive=name, confidence=1 - (1 - CONFIDENCE) / most)
        low = np.where(few[:, None], _added(each.low[rows], members), low)
        high = np.where(few[:, None], np.minimum(_added(each.high[rows], members), whole), high)
    return np.minimum(low, point) / whole, np.maximum(high, point) / whole


def _added(counts: FloatArray, members: Sequence[Sequence[int]]) -> FloatArray:
    return np.stack([counts[:, list(codes)].sum(axis=1) for codes in members], axis=1)
