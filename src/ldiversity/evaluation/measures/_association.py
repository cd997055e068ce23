"""What a release keeps of how a sensitive attribute depends on quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation import as_by, bins
from ldiversity.evaluation.measures._distributions import ComparedCells, compare_cells
from ldiversity.evaluation.measures._errors import shares_of
from ldiversity.evaluation.measures._original import Original, Records, chosen_sensitive
from ldiversity.release import to_numbers
from ldiversity.schema import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation import By, ByLike
    from ldiversity.release import Release

__all__ = ["Kept", "association_errors", "coefficient_error", "conditional_error", "telling"]

_COLUMNS: Final = 2
_N_BINS: Final = 5
_MOST_LABELS: Final = 40
_MOST_VALUES: Final = 5
_STEPS: Final = 30


@dataclass(frozen=True)
class Kept:
    """A figure of a release, beside that of the original table and of someone who knows only how frequent values are.

    Attributes
    ----------
    release
        The figure of the release.
    original
        The figure of the original table.
    baseline
        The figure of someone who knows only how frequent each value is in the whole table.

    Examples
    --------
    >>> Kept(release=0.06, original=0.0, baseline=0.2).lost, Kept(release=0.5, original=0.6, baseline=0.4).lost
    (0.3, 0.5)
    """

    release: float
    original: float
    baseline: float

    @property
    def lost(self) -> float:
        """How far the release is from the original on the way to the baseline: 0 is as good, 1 keeps nothing.

        Above 1, the release says less than how frequent values are. NaN where even the original says no more.
        """
        way = self.baseline - self.original
        return round((self.release - self.original) / way, 12) if way else float("nan")


def conditional_error(
    original: Any,  # noqa: ANN401 - a path or any frame
    release: Release,
    *,
    by: ByLike = None,
    sensitive: str | None = None,
    estimator: str = "auto",
) -> Kept:
    """Measure how far estimated distributions within small cells are from the true ones. Lower is better.

    The distance is the total variation, half the sum of the absolute differences of shares; its mean is over records.
    Beside it stands that of the product of marginals, which gives every cell the distribution of the whole table.
    Counts of large groups can be right where a release says nothing about cells; this figure shows that.

    Parameters
    ----------
    original
        The table that the release was made from: a path or any data frame. Only the holder has it.
    release
        What was published of it.
    by
        The cells, as in `estimate`. None uses the two quasi-identifiers that tell most about the attribute in the
        original, numbers in five bins of about as many records.
    sensitive
        The sensitive attribute; may be left out when there is one.
    estimator
        As in `estimate`.

    Examples
    --------
    Two classes, each with one d0 and one d1: at every age 1/2, 1/2 is estimated where the truth is 1, 0; and so does
    someone who knows only that half of the records have d0.

    >>> from ldiversity.evaluation.measures._samples import bucketized
    >>> original = pa.table({"age": [20, 21, 22, 23], "disease": ["d0", "d1", "d0", "d1"]})
    >>> conditional_error(original, bucketized([0, 0, 1, 1]), by="age", estimator="classes")
    Kept(release=0.5, original=0.0, baseline=0.5)
    """
    return _of_distributions(_cells("conditional_error", original, release, by, sensitive, estimator))


def _of_distributions(cells: ComparedCells) -> Kept:
    occurring = cells.records > 0
    truth, weights = shares_of(cells.truth[occurring]), cells.records[occurring]
    overall = cells.truth.sum(axis=0) / weights.sum()
    estimated = shares_of(np.maximum(cells.estimate[occurring], 0.0))
    estimated[estimated.sum(axis=1) == 0] = overall
    return Kept(_variation(truth, estimated, weights), 0.0, _variation(truth, overall, weights))


def coefficient_error(
    original: Any,  # noqa: ANN401 - a path or any frame
    release: Release,
    *,
    by: ByLike = None,
    sensitive: str | None = None,
    estimator: str = "auto",
) -> Kept:
    """Measure how far coefficients of logistic regressions are from those of the original. Lower is better.

    For each of the most frequent values, at most five, whether a record has it is explained by the by-columns, a
    coefficient for each of their labels but the first. The model is fitted to the true counts of cells and to the
    estimated ones. The figure is the root mean square of the differences of coefficients, in log-odds. The baseline
    is that of coefficients that are all 0, which is what the product of marginals has.

    Parameters
    ----------
    original, release, by, sensitive, estimator
        As in `conditional_error`.

    Notes
    -----
    Half a record is added to both sides of each cell, in both fits, so that all coefficients are finite. Estimated
    counts below 0 count as 0.

    Examples
    --------
    >>> from ldiversity.evaluation.measures._samples import bucketized
    >>> original = pa.table({"age": [20, 21, 22, 23], "disease": ["d0", "d1", "d0", "d1"]})
    >>> found = coefficient_error(original, bucketized([0, 0, 1, 1]), by="age", estimator="classes")
    >>> found.lost
    1.0
    """
    return _of_coefficients(_cells("coefficient_error", original, release, by, sensitive, estimator))


def association_errors(original: Any, release: Release, sensitive: str) -> tuple[Kept, Kept]:  # noqa: ANN401 - a path or any frame
    """Give both errors, of distributions and of coefficients, from one estimate."""
    cells = _cells("association_errors", original, release, None, sensitive, "auto")
    return _of_distributions(cells), _of_coefficients(cells)


def _of_coefficients(cells: ComparedCells) -> Kept:
    design = _design(cells.places)
    if design.shape[1] < 2:  # noqa: PLR2004 - the constant alone
        raise UnsupportedError("coefficient_error", "by-columns must have at least two labels")
    frequent = np.argsort(-cells.truth.sum(axis=0), kind="stable")[:_MOST_VALUES]
    true, estimated = (_fit(design, counts, frequent) for counts in (cells.truth, np.maximum(cells.estimate, 0.0)))
    return Kept(_root_mean_square(estimated - true), 0.0, _root_mean_square(true))


def telling(owner: str, records: Records, release: Release, most: int = _COLUMNS) -> tuple[By, ...]:
    """The quasi-identifiers that tell most about the values, and the cells that they make; at most `most`.

    Raises
    ------
    UnsupportedError
        When all quasi-identifiers have too many values to make cells.
    """
    quasi = release.schema.names(Role.QUASI)
    found = records.once(("telling", quasi, release.coarse), lambda: _by_information(records, release, quasi))
    if not found:
        raise UnsupportedError(owner, f"a quasi-identifier must be a number, or have at most {_MOST_LABELS} values")
    return found[:most]


def _by_information(records: Records, release: Release, quasi: Sequence[str]) -> tuple[By, ...]:
    """The cells of each quasi-identifier that can make some, that which tells most first."""
    table, found = records.table, []
    for column in quasi:
        cut = _cut(column, table[column], release)
        if cut is not None:
            coded = cut.encode(table[column]) if column not in release.coarse else None
            labels = table[column].combine_chunks().dictionary_encode().indices if coded is None else coded.codes
            found.append((_information(np.asarray(labels), records.codes), cut))
    found.sort(key=lambda one: -one[0])
    return tuple(cut for _, cut in found)


def _cells(
    owner: str,
    original: Any,  # noqa: ANN401 - a path or any frame
    release: Release,
    by: ByLike,
    sensitive: str | None,
    estimator: str,
) -> ComparedCells:
    name = chosen_sensitive(owner, release, sensitive)
    parts = None if by is None else as_by(by)
    columns = release.schema.names(Role.QUASI) if parts is None else tuple(part.column for part in parts)
    records = Original.of(original).records(owner, columns, name, release)
    if not records.n:
        raise ParameterError(owner, "original", "must have at least one record", got="none")
    cut = telling(owner, records, release) if parts is None else parts
    return compare_cells(records, release, cut, estimator)


def _cut(column: str, cells: pa.ChunkedArray, release: Release) -> By | None:
    """The cells of a quasi-identifier: bins of numbers, or its values; None when there are too many."""
    numeric = pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)
    if len(pc.unique(cells)) > (_N_BINS if numeric and column not in release.coarse else _MOST_LABELS):
        if not numeric or column in release.coarse:
            return None
        numbers, known = to_numbers(cells)
        edges = np.unique(np.quantile(numbers[known], np.linspace(0, 1, _N_BINS + 1)))
        return bins(column, edges=edges.tolist()) if len(edges) > 1 else None
    (plain,) = as_by(column)
    return plain


def _information(labels: NDArray[np.integer], codes: NDArray[np.int32]) -> float:
    """The mutual information of labels and values in nats, without what chance adds (Miller and Madow)."""
    _, labels = np.unique(labels, return_inverse=True)
    n_values = int(codes.max(initial=0)) + 1
    counts = np.bincount(labels.ravel() * n_values + codes).astype(np.float64)
    counts = np.append(counts, np.zeros(-len(counts) % n_values)).reshape(-1, n_values)
    n = counts.sum()
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / n
    seen = counts > 0
    chance = (np.count_nonzero(counts.sum(axis=1)) - 1) * (np.count_nonzero(counts.sum(axis=0)) - 1) / (2 * n)
    return float((counts[seen] * np.log(counts[seen] / expected[seen])).sum() / n - chance)


def _variation(truth: FloatArray, estimated: FloatArray, weights: FloatArray) -> float:
    return float(np.average(np.abs(truth - estimated).sum(axis=1) / 2, weights=weights))


def _design(places: NDArray[np.int64]) -> FloatArray:
    """Shape (cells, 1 + labels but the first of each column): a constant, and which label each cell has."""
    columns = [np.ones((len(places), 1))]
    columns += [(own[:, None] == np.unique(own)[1:]).astype(np.float64) for own in places.T]
    return np.concatenate(columns, axis=1)


def _fit(design: FloatArray, counts: FloatArray, values: NDArray[np.int64]) -> FloatArray:
    """Shape (values, labels): coefficients of whether a record has each value, by iterated least squares."""
    total = counts.sum(axis=1) + 1.0
    found = []
    for value in values:
        yes = counts[:, value] + 0.5
        beta = np.zeros(design.shape[1])
        beta[0] = np.log(yes.sum() / (total - yes).sum())
        for _ in range(_STEPS):
            likely = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
            weight = total * likely * (1 - likely)
            step = np.linalg.lstsq(design.T @ (weight[:, None] * design), design.T @ (yes - total * likely))[0]
            beta = beta + np.clip(step, -4, 4)
            if np.abs(step).max() < 1e-8:  # noqa: PLR2004 - far below any error
                break
        found.append(beta[1:])
    return np.array(found)


def _root_mean_square(numbers: FloatArray) -> float:
    return float(np.sqrt(np.mean(numbers**2)))
