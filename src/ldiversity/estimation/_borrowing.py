"""Counts of cells that borrow from each other, as far as the release says that they are alike.

Before its sets are seen, the shares of a cell are distributed around a mean m as if c records had been seen of it (a
Dirichlet prior with the parameters c m). The mean is what all cells have in common, or what the labels of the cell
suggest (`_cell_means`). For each mean and each strength c there are expected counts of the cell, and the chance that
its sets come out as they did: its evidence. How often each strength occurs among the cells is fitted to the evidence of
all of them. A cell then has the average of its expected counts, each weighted by how likely mean and strength are for
this cell. So a large cell that is unlike the others stays as it is, and a small one leans on them.

The evidence is approximated around the likeliest shares p, on the scale of logarithms (Laplace). With V the expected
counts, R the sum of r r' over the records, in which r has the chances that each value is the true one, and N records:

    log P(sets | p) + c sum of m log(p / m) - 1/2 log det(1 + D R D) + 1/2 log(1 + N / c),    D = diag(c m)^-1/2

Without sets it is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.estimation._cell_means import blocks, suggested_shares
from ldiversity.estimation._likelihood import SetLikelihood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ldiversity.base.arrays import FloatArray, IntArray
    from ldiversity.estimation._cells import CellData

__all__ = ["STRENGTHS", "borrow", "fit_strengths", "log_evidence"]

STRENGTHS: Final = tuple(4.0**power for power in range(7, -1, -1))
"""As how many records a prior may count, the strongest first: each search starts where the one before ended."""

_ROUNDS: Final = 100


def borrow(cells: CellData) -> tuple[FloatArray, int]:
    """Give the counts of all cells, and in how many of them a search stopped early."""
    likelihood = SetLikelihood.of(cells)
    means = suggested_shares(likelihood, cells)
    records = cells.records.astype(np.float64)
    parts = list(blocks(likelihood, len(means) * len(STRENGTHS)))
    voters = np.arange(cells.n_cells) if len(parts) == 1 else _voters(records, len(parts))
    found = _Beliefs.of(likelihood, means, records, voters)
    often = fit_strengths(found.evidence)
    if len(parts) == 1:
        return found.counts(often), found.early
    counts, early = np.empty(cells.counts.shape), 0
    for first, last in parts:
        some = _Beliefs.of(likelihood, means, records, np.arange(first, last))
        counts[first:last] = some.counts(often)
        early += some.early
    return counts, early


def fit_strengths(evidence: FloatArray) -> FloatArray:
    """How often each strength occurs among the cells, shape (strengths,), by expectation maximization.

    `evidence` has the shape (means, strengths, cells). All means are equally likely beforehand: cells with many records
    would decide for those with few, and it is the latter that lean on the mean. One cell more, which has every strength
    alike, keeps all of them possible: a single cell that is unlike all others must be able to say so.

    Examples
    --------
    Two of three cells say that the second strength is far more likely; the third knows nothing.

    >>> often = fit_strengths(np.array([[[0.0, 0.0, 0.0], [50.0, 50.0, 0.0]]]))
    >>> often.round(3).tolist()
    [0.167, 0.833]
    """
    _, n_strengths, n_cells = evidence.shape
    often = np.full(n_strengths, 1.0 / n_strengths)
    for _ in range(_ROUNDS):
        often = (_weights(evidence, often).sum(axis=(0, 2)) + 1.0 / n_strengths) / (n_cells + 1)
    return often


@dataclass(frozen=True, eq=False)
class _Beliefs:
    """Evidence, shape (means, strengths, cells), and expected counts, shape (means, strengths, cells, F), of cells."""

    evidence: FloatArray
    expected: FloatArray
    early: int

    @classmethod
    def of(
        cls, likelihood: SetLikelihood, means: Sequence[FloatArray], records: FloatArray, chosen: IntArray
    ) -> _Beliefs:
        """Search the likeliest shares of the chosen cells for every mean and strength."""
        some, n = likelihood.take(chosen), records[chosen]
        shape = (len(means), len(STRENGTHS), len(chosen))
        evidence, expected, early = np.empty(shape), np.empty((*shape, likelihood.n_values)), 0
        for which, mean in enumerate(means):
            own = mean if len(mean) == 1 else mean[chosen]
            shares = np.repeat(own, len(chosen), axis=0) if len(own) == 1 else own
            for at, strength in enumerate(STRENGTHS):
                shares, stopped = some.maximize(own, np.full(len(chosen), strength), shares)
                told = some.information(shares, 0, len(chosen))
                evidence[which, at] = log_evidence(some.logarithms(shares), told, shares, strength * own, n)
                expected[which, at] = told.sum(axis=2)
                early = max(early, stopped)
        return cls(evidence, expected, early)

    def counts(self, often: FloatArray) -> FloatArray:
        """The average of each cell's expected counts, when strengths are `often` those."""
        return np.asarray(np.einsum("msc,mscv->cv", _weights(self.evidence, often), self.expected), dtype=np.float64)


def log_evidence(
    logarithms: FloatArray, information: FloatArray, shares: FloatArray, prior: FloatArray, records: FloatArray
) -> FloatArray:
    """The logarithm of the chance of each cell's sets under a prior, as the module says.

    Parameters
    ----------
    logarithms
        Shape (cells,): that of the likelihood at the likeliest shares.
    information
        Shape (cells, F, F): the sum of r r' there.
    shares
        Shape (cells, F): the likeliest shares.
    prior
        Shape (1, F) or (cells, F): c m.
    records
        Shape (cells,).
    """
    strength = prior.sum(axis=1)
    pull = (prior * np.log(shares / prior * strength[:, None])).sum(axis=1)
    root = 1.0 / np.sqrt(prior)
    scaled = information * root[:, :, None] * root[:, None, :]
    diagonal = np.arange(scaled.shape[1])
    scaled[:, diagonal, diagonal] += 1.0
    known = np.linalg.slogdet(scaled)[1]
    found: FloatArray = logarithms + pull - (known - np.log1p(records / strength)) / 2
    return found


def _weights(evidence: FloatArray, often: FloatArray) -> FloatArray:
    # How likely each mean and strength is for each cell.
    logarithms = evidence + np.log(often)[None, :, None]
    weights = np.exp(logarithms - logarithms.max(axis=(0, 1)))
    return np.asarray(weights / weights.sum(axis=(0, 1)), dtype=np.float64)


def _voters(records: FloatArray, n_parts: int) -> IntArray:
    # As many cells as fit into memory at once, of all sizes alike.
    order = np.argsort(records, kind="stable")
    return np.sort(order[:: n_parts + 1])
