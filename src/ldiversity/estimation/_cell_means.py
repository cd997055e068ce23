"""What the cells of an estimate have in common: shares of all of them together, and those that their labels suggest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.estimation._likelihood import MARGINAL_PRIOR, SetLikelihood

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray, IntArray
    from ldiversity.estimation._cells import CellData

__all__ = ["blocks", "common_shares", "fit_effects", "suggested_shares"]

BLOCK: Final = 1 << 22
"""How many numbers a block of cells may take at once."""

CELLS_PER_LABEL: Final = 2
"""Shares that labels suggest are taken from this many cells per label on: fewer would only repeat themselves."""

_MOST_STEPS: Final = 40
_TOLERANCE: Final = 0.1
"""The fit ends when the logarithm of the likelihood grows by less: nothing better is needed of a prior."""

_LEAST: Final = 1e-9


def suggested_shares(likelihood: SetLikelihood, cells: CellData) -> list[FloatArray]:
    """Prior means of the cells, each of shape (1, F) or (cells, F): common shares, and those that labels suggest.

    Cells that are made by several columns have labels that tell how they may differ. Of what labels suggest, cells may
    have nothing, half or all, on the scale of logarithms: combinations that are rare are often less unlike the rest
    than each of their labels.
    """
    common = common_shares(likelihood, cells)
    places = [np.unique(codes, return_inverse=True)[1].astype(np.int64) for codes in cells.places]
    n_labels = sum(int(codes.max()) + 1 for codes in places)
    if len(places) < 2 or cells.n_cells < CELLS_PER_LABEL * n_labels:  # noqa: PLR2004 - one column has nothing to add up
        return [common[None, :]]
    whole = fit_effects(likelihood, common, places, cells.records.astype(np.float64))
    half = np.sqrt(whole * common)
    return [common[None, :], half / half.sum(axis=1, keepdims=True), whole]


def common_shares(likelihood: SetLikelihood, cells: CellData) -> FloatArray:
    """The shares of all cells together; those of the whole release count as F records, so that none is zero."""
    together = np.array([0, len(likelihood.weights)], dtype=np.int64)
    pooled = SetLikelihood(likelihood.n_values, likelihood.sets, likelihood.likelihood, likelihood.weights, together)
    marginal = cells.marginal()[None, :]
    shares, _ = pooled.maximize(marginal, np.array([float(likelihood.n_values)]), marginal)
    common: FloatArray = shares[0]
    return common


def fit_effects(
    likelihood: SetLikelihood, common: FloatArray, places: Sequence[IntArray], records: FloatArray
) -> FloatArray:
    """Fit shares whose logarithms are sums of one term for each label (a log-linear model), shape (cells, F).

    Expectation maximization: expected counts follow from shares, and shares are scaled, column after column, until each
    label has the expected counts of its cells (iterative proportional fitting).

    Parameters
    ----------
    common
        Shape (F,): the shares of all cells together.
    places
        For each column, the code of each cell's label; every code from 0 on occurs.
    records
        Shape (cells,): how many records each cell has.
    """
    columns = [_Column(codes, records) for codes in places]
    shares = np.repeat(common[None, :], likelihood.n_cells, axis=0)
    reached = -np.inf
    for _ in range(_MOST_STEPS):
        before, reached = reached, float(likelihood.logarithms(shares).sum())
        if reached - before < _TOLERANCE:
            break
        expected = _expected_counts(likelihood, shares)
        fitted = shares * records[:, None]
        for column in columns:
            fitted *= column.scale(expected, fitted, common)
        shares = np.maximum(fitted / fitted.sum(axis=1, keepdims=True), _LEAST)
        shares /= shares.sum(axis=1, keepdims=True)
    return shares


class _Column:
    """Sums over the cells of each label of a column."""

    def __init__(self, codes: IntArray, records: FloatArray) -> None:
        self._codes = codes
        self._order = np.argsort(codes, kind="stable")
        self._starts = np.searchsorted(codes[self._order], np.arange(codes.max() + 1))
        self._records = self._sums(records[:, None])

    def scale(self, expected: FloatArray, fitted: FloatArray, common: FloatArray) -> FloatArray:
        """By what the counts of each cell must be multiplied for each label to have its expected ones."""
        # Half a record per value is added to each label, in the common shares, so that no share is zero.
        added = MARGINAL_PRIOR * len(common)
        wanted = (self._sums(expected) + added * common) * self._records / (self._records + added)
        factors: FloatArray = wanted / np.maximum(self._sums(fitted), np.finfo(np.float64).tiny)
        return factors[self._codes]

    def _sums(self, counts: FloatArray) -> FloatArray:
        return np.asarray(np.add.reduceat(counts[self._order], self._starts, axis=0), dtype=np.float64)


def _expected_counts(likelihood: SetLikelihood, shares: FloatArray) -> FloatArray:
    # The chances of a record's values sum to 1, so the rows of the sum of r r' sum to that of r.
    expected = np.empty_like(shares)
    for first, last in blocks(likelihood, 1):
        expected[first:last] = likelihood.information(shares, first, last).sum(axis=2)
    return expected


def blocks(likelihood: SetLikelihood, counts: int) -> Iterator[tuple[int, int]]:
    """Divide the cells into ranges that fit into memory; each cell has some `counts` of every value, and a matrix."""
    size = likelihood.n_values
    cost = size * (size + counts) + np.diff(likelihood.starts) * likelihood.sets.shape[1]
    block = np.cumsum(cost) // BLOCK
    bounds = np.flatnonzero(np.diff(block, prepend=-1))
    yield from zip(bounds.tolist(), [*bounds[1:].tolist(), likelihood.n_cells], strict=True)
