"""Estimates about a population, from a sample with weights and strata.

The set of record i gives a vector a_i whose mean is 1 at its value and 0 elsewhere (`_variance`). The sum of w_i a_i
is an unbiased estimate of how many people of the population have each value. Its variance is that of the design
(`_design`), but not less than that of a possible share near the estimate (`_least_variance`, `_least_of_sums`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.errors import UnsupportedError
from ldiversity.estimation._above_zero import limits_above_zero
from ldiversity.estimation._association import NOT_FOR_TESTS
from ldiversity.estimation._cells import CellData, CellIndex, product_sets
from ldiversity.estimation._errors import Asked
from ldiversity.estimation._intervals import HALF_A_RECORD
from ldiversity.estimation._least_of_sums import LeastOfSums
from ldiversity.estimation._least_variance import floor_of, greatest_variances, kish, least_variances
from ldiversity.estimation._linear_moments import hoeffding
from ldiversity.estimation._moments import Moments
from ldiversity.estimation._people import DRAWN_TOGETHER
from ldiversity.estimation._result import Estimate
from ldiversity.sentences import Setting, say

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._by import By
    from ldiversity.estimation._design import Design
    from ldiversity.estimation._where import Filter
    from ldiversity.release import Release

__all__ = ["WEIGHTED", "WeightedQuestion", "check_weighted", "weigh"]

WEIGHTED: Final = ("auto", "linear")
"""The estimators that take weights; both are the unbiased sum."""

_BLOCK: Final = 1 << 21
_STAND_FOR: Final = "Counts and numbers of records are those of the population that the weights stand for."
_STAND_ALIKE: Final = "Counts are numbers of records, each of which stands for equally many people of the population."
_DESIGN: Final = (
    "Standard errors and intervals hold the error of sampling and the noise of the dummies; they take records within a "
    "stratum as drawn independently, with replacement."
)


@dataclass(frozen=True, eq=False)
class WeightedQuestion:
    """A question to a sample, checked; `rows` are the selected rows of the release."""

    release: Release
    names: tuple[str, ...]
    by: tuple[By, ...]
    filters: tuple[Filter, ...]
    confidence: float
    min_records: int
    design: Design
    rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DesignMoments(Moments):
    """Weighted counts, and the covariance of sums of them by the design of the sample."""

    counts: FloatArray
    cells: CellData
    design: Design
    rows: NDArray[np.int64]
    least: FloatArray
    of_sums: LeastOfSums
    asked: Asked
    quantile: FloatArray
    half: FloatArray
    fixed: bool = False

    def reach(self, cell: int, errors: FloatArray, confidence: float) -> FloatArray:  # noqa: ARG002 - that of `asked`
        """Student's quantile, as few records tell the variance, and half a record of mean weight."""
        return np.asarray(self.quantile[cell] * errors + self.half[cell])

    def noise(self, factors: FloatArray) -> FloatArray:
        """The covariance of sampling and of the dummies together; no sum has less than its least variance.

        Below `min_records`, it is that of Hoeffding's inequality, as without weights.
        """
        found, least = self.of_design(factors), floor_of(self.least, factors)
        others = np.flatnonzero(np.isnan(least))
        if others.size:
            least[others] = self.of_sums.of(factors[others])
        records = factors.any(axis=2) @ self.cells.records
        few = np.flatnonzero((records < self.asked.min_records) & (records > 0))
        if few.size:
            greatest = hoeffding(self.cells, self.of_sums.squares, factors[few], self.asked.confidence)
            least[few] = np.maximum(least[few], greatest)
        np.fill_diagonal(found, np.maximum(np.diag(found), least))
        return found

    def of_design(self, factors: FloatArray) -> FloatArray:
        """The covariance as the records of the sample show it."""
        k, n_cells, n_values = factors.shape
        inverse = [mechanism.inverse.T for mechanism in self.cells.mechanisms]
        spread = self.cells.transform(inverse, factors.reshape(-1, n_values)).reshape(k, n_cells, n_values)
        values = np.zeros((len(self.design.weights), k))
        sets = combined_sets(self.cells)
        for place in range(k):
            values[self.rows, place] = spread[place][self.cells.of_row[:, None], sets].sum(axis=1)
        return self.design.covariance(values)

    def sampling(self, factors: FloatArray) -> FloatArray:
        """Nothing: the error of sampling is in `noise`."""
        return np.zeros((len(factors), len(factors)))


def combined_sets(cells: CellData) -> NDArray[np.int32]:
    """The sets of all records in row order, of several attributes as combinations."""
    return product_sets(cells.members or (), cells.sizes)


def check_weighted(estimator: object, *, bounded: bool) -> None:
    """Refuse estimators and limits that do not go with weights."""
    if estimator not in WEIGHTED:
        raise UnsupportedError(
            "estimate",
            "with weights or strata the estimator must be 'linear', whose counts are unbiased",
            got=estimator,
        ).with_hint(say("Use {}.", Setting("estimator", "linear")))
    if bounded:
        raise UnsupportedError(
            "estimate", "weights and strata need all rows in memory: leave out the setting of memory and the engine"
        )


def weigh(question: WeightedQuestion, cells: CellData, index: CellIndex) -> Estimate:
    """Estimate the counts of a population."""
    design, weights = question.design, question.design.weights[question.rows]
    counts, variance = _sums(cells, design, question.rows)
    records, squares = _by_cell(cells, weights), _by_cell(cells, weights**2)
    least = least_variances(cells, counts, records, squares)
    errors = np.sqrt(np.maximum(variance, least))
    few = cells.records < question.min_records
    variances = np.where(few[:, None], np.maximum(greatest_variances(cells, squares), variance), errors**2)
    quantile, half = _quantiles(question, squares, records), HALF_A_RECORD * records / np.maximum(cells.records, 1)
    reach = np.hypot(quantile[:, None] * np.sqrt(variances), half[:, None])
    # Noise takes the count of a rare value below zero, and no true count is.
    low, high = limits_above_zero(counts, reach, question.confidence)
    of_sums = LeastOfSums(cells, counts, records, squares, weights)
    asked = Asked(question.confidence, question.min_records)
    moments = DesignMoments(counts, cells, design, question.rows, least, of_sums, asked, quantile, half)
    note = f"fewer than {question.min_records} records"

    def covariance(cell: int) -> FloatArray:
        factors = np.zeros((cells.n_values, cells.n_cells, cells.n_values))
        factors[np.arange(cells.n_values), cell, np.arange(cells.n_values)] = 1.0
        return moments.of_design(factors)

    together = any(map(question.release.drawn_together, question.names))
    return Estimate(
        sensitive=question.names,
        by=tuple(part.column for part in question.by),
        labels=index.labels,
        domains=tuple(question.release.domain(name) for name in question.names),
        records=records,
        count=counts,
        std_error=errors,
        low=np.minimum(low, counts),
        high=high,
        estimator=("linear",) * cells.n_cells,
        note=tuple(note if marked else "" for marked in few),
        caveats=(
            f"{_STAND_ALIKE if (design.weights == 1).all() else _STAND_FOR} {_DESIGN}",
            *([DRAWN_TOGETHER] if together else []),
            NOT_FOR_TESTS,
        ),
        confidence=question.confidence,
        where=tuple(map(str, question.filters)),
        frame_kind=question.release.frame_kind,
        _cells=cells,
        _covariance=covariance,
        _moments=moments,
    )


def _quantiles(question: WeightedQuestion, squares: FloatArray, records: FloatArray) -> FloatArray:
    """Student's quantile for each cell.

    The degrees of freedom are those of the design, but not more than the records of the cell are worth.
    """
    from scipy.special import stdtrit

    freedom = np.clip(kish(squares, records) - 1, 1, max(question.design.freedom, 1))
    return np.asarray(stdtrit(freedom, (1 + question.confidence) / 2))


def _by_cell(cells: CellData, numbers: FloatArray) -> FloatArray:
    """The sum of the numbers of the records of each cell."""
    return np.bincount(cells.of_row, weights=numbers, minlength=cells.n_cells).astype(np.float64)


def _sums(cells: CellData, design: Design, rows: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Weighted counts and their variances, each of shape (cells, F), in one pass over the rows."""
    sizes = np.bincount(design.stratum_of, minlength=design.n_strata).astype(np.float64)
    # Sums of each stratum of each cell, as far as there are records.
    together, pair_of = np.unique(cells.of_row * design.n_strata + design.stratum_of[rows], return_inverse=True)
    of_cell, of_stratum = np.divmod(together, design.n_strata)
    first, second = np.zeros((2, len(together), cells.n_values))
    columns = [np.ascontiguousarray(mechanism.inverse.T) for mechanism in cells.mechanisms]
    step = max(1, _BLOCK // cells.n_values)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        block = np.ones((len(rows[part]), 1))
        for array, matrix in zip(cells.members or (), columns, strict=True):
            own = matrix[array[part]].sum(axis=1)
            block = (block[:, :, None] * own[:, None, :]).reshape(len(block), -1)
        block *= design.weights[rows[part], None]
        np.add.at(first, pair_of[part], block)
        np.add.at(second, pair_of[part], np.square(block))
    n = sizes[of_stratum, None]
    counts, variance = np.zeros((2, cells.n_cells, cells.n_values))
    np.add.at(counts, of_cell, first)
    np.add.at(variance, of_cell, (second - np.square(first) / n) * n / np.maximum(n - 1, 1))
    return counts, variance
