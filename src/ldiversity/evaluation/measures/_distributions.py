"""How far estimated distributions are from the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.checks import check_choice, check_number
from ldiversity.errors import ParameterError
from ldiversity.estimation import as_by, bins, estimate
from ldiversity.evaluation.measures._errors import squared_errors
from ldiversity.evaluation.measures._original import Original, Records, as_type, chosen_sensitive
from ldiversity.release import to_numbers
from ldiversity.schema import Role
from ldiversity.sentences import Setting, say

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation import By, ByLike
    from ldiversity.release import Release

__all__ = ["ComparedCells", "compare_cells", "distribution_mse", "kl_divergence"]

_MANY_NUMBERS: Final = 100
_N_BINS: Final = 20


def distribution_mse(
    original: Any,  # noqa: ANN401 - a path or any frame
    release: Release,
    *,
    by: ByLike = None,
    sensitive: str | None = None,
    per: Literal["cell", "table"] = "cell",
    estimator: str = "auto",
) -> float:
    """Measure the mean squared error of estimated distributions. Lower is better.

    Parameters
    ----------
    original
        The table that the release was made from: a path or any data frame. Only the holder has it.
    release
        What was published of it.
    by
        The cells, as in `estimate`; ``()`` is one cell with all records. None uses one quasi-identifier after the other
        (numbers with more than 100 different values in 20 bins of equal width) and gives the mean.
    sensitive
        The sensitive attribute; may be left out when there is one.
    per
        ``"cell"``: paper 000, Eq. 2, shares of the cell. ``"table"``: paper 004, Eq. 18, shares of all records.
    estimator
        As in `estimate`.

    Notes
    -----
    With V the true counts of the F values in a cell, V^ the estimated ones, and N and N^ their sums, the error of a
    cell is ``sum of (V/N - V^/N^)^2 / F``, and the result is the mean over the cells that have a record. N^ is N, as in
    the paper, for all releases that keep quasi-identifiers. Where these are generalized, the number of records in a
    cell is an estimate too, and only ``"table"`` shows its error. There the error is ``(V/n - V^/n)^2`` with n the
    number of all records. The mean is over all cells that have a record or an estimate, and over their values.

    Examples
    --------
    Two classes, each with one d0 and one d1, ages 20 to 23: at every age the estimate is 1/2, 1/2 and the truth 1, 0.

    >>> import pyarrow as pa
    >>> from ldiversity.evaluation.measures._samples import bucketized
    >>> original = pa.table({"age": [20, 21, 22, 23], "disease": ["d0", "d1", "d0", "d1"]})
    >>> distribution_mse(original, bucketized([0, 0, 1, 1]), by="age", estimator="classes")
    0.25
    """
    check_choice("distribution_mse", "per", per, ["cell", "table"])
    errors = []
    for cells in _compare("distribution_mse", original, release, by, sensitive, estimator):
        if per == "cell":
            errors.append(float(np.mean(squared_errors(cells.truth, cells.estimate))))
        else:
            difference = (cells.truth - cells.estimate) / cells.records.sum()
            errors.append(float(np.mean(difference**2)))
    return float(np.mean(errors))


def kl_divergence(
    original: Any,  # noqa: ANN401 - a path or any frame
    release: Release,
    *,
    by: ByLike = None,
    sensitive: str | None = None,
    epsilon: float = 0.001,
    estimator: str = "auto",
) -> float:
    """Measure what the release loses about how the sensitive attribute depends on quasi-identifiers, in nats.

    This is the Kullback-Leibler divergence of the true from the estimated distribution of the sensitive attribute given
    the cell. It is 0 when every cell is estimated exactly. Lower is better.

    Parameters
    ----------
    original, release, by, sensitive, estimator
        As in `distribution_mse`.
    epsilon
        The weight of the uniform distribution that is mixed into the estimated one, so that a value which the release
        rules out does not make the divergence infinite.

    Notes
    -----
    ``sum over cells i of N_i/N * sum over v of p_iv log(p_iv / q_iv)`` with p_iv = V_iv / N_i the true shares, and
    q_iv = (1 - epsilon) r_iv + epsilon / F, where r_iv are the estimated counts with negative ones set to 0, divided by
    their sum; 1/F in a cell without an estimate.

    Examples
    --------
    Two classes, each with one d0 and one d1: at every age 1/2 is estimated where the truth is 1, which is log 2.

    >>> import pyarrow as pa
    >>> from ldiversity.evaluation.measures._samples import bucketized
    >>> original = pa.table({"age": [20, 21, 22, 23], "disease": ["d0", "d1", "d0", "d1"]})
    >>> round(kl_divergence(original, bucketized([0, 0, 1, 1]), by="age", epsilon=0, estimator="classes"), 4)
    0.6931
    """
    share = check_number("kl_divergence", "epsilon", epsilon, minimum=0, maximum=1)
    compared = _compare("kl_divergence", original, release, by, sensitive, estimator)
    return float(np.mean([_divergence(cells, share) for cells in compared]))


@dataclass(frozen=True, eq=False)
class ComparedCells:
    """True and estimated counts, shape (cells, F), and where each cell is, shape (cells, by-columns)."""

    truth: FloatArray
    estimate: FloatArray
    places: NDArray[np.int64]

    @property
    def records(self) -> FloatArray:
        """The true number of records of each cell."""
        records: FloatArray = self.truth.sum(axis=1)
        return records


def _divergence(cells: ComparedCells, epsilon: float) -> float:
    n_values = cells.truth.shape[1]
    occurring = cells.records > 0
    truth, records = cells.truth[occurring], cells.records[occurring]
    positive = np.maximum(cells.estimate[occurring], 0.0)
    sums = positive.sum(axis=1, keepdims=True)
    shares = np.divide(positive, sums, out=np.full_like(positive, 1 / n_values), where=sums > 0)
    estimated = (1 - epsilon) * shares + epsilon / n_values
    true = truth / records[:, None]
    seen = truth > 0
    with np.errstate(divide="ignore"):
        terms = np.log(true[seen]) - np.log(estimated[seen])
    return float(truth[seen] @ terms / records.sum())


def _compare(
    owner: str,
    original: Any,  # noqa: ANN401 - a path or any frame
    release: Release,
    by: ByLike,
    sensitive: str | None,
    estimator: str,
) -> list[ComparedCells]:
    """Compare truth and estimate in each division of the records into cells."""
    name = chosen_sensitive(owner, release, sensitive)
    quasi = release.schema.names(Role.QUASI)
    parts = as_by(by) if by is not None else ()
    columns = quasi if by is None else tuple(part.column for part in parts)
    records = Original.of(original).records(owner, columns, name, release)
    if not records.n:
        raise ParameterError(owner, "original", "must have at least one record", got="none")
    divisions: Sequence[tuple[By, ...]] = (
        [parts]
        if by is not None
        else records.once(
            ("cut", quasi, release.coarse), lambda: [(_cut(column, records.table, release),) for column in quasi]
        )
    )
    if not divisions:
        raise ParameterError(
            owner,
            "by",
            "must be given for a release without quasi-identifiers",
            hint=say("Use {}.", Setting("by", "", python="by=()")),
        )
    return [compare_cells(records, release, division, estimator) for division in divisions]


def compare_cells(records: Records, release: Release, by: tuple[By, ...], estimator: str) -> ComparedCells:
    """Count the records of each cell by their values, as they are and as they are estimated."""
    estimated = estimate(release, by=by, sensitive=records.name, estimator=estimator)
    true = records.cells(release, by)
    true_keys, estimated_keys = np.zeros(len(true.places), dtype=np.int64), np.zeros(estimated.n_cells, dtype=np.int64)
    sizes = []
    for part, own, places in zip(by, true.labels, true.places.T, strict=True):
        labels = estimated.labels[part.column]
        known = as_type(part.column, own, labels.type)
        every = pc.unique(pa.chunked_array([known, *labels.chunks]))  # the true ones first, in their order
        sizes.append(len(every))
        true_keys = true_keys * len(every) + np.asarray(pc.index_in(known, value_set=every))[places]
        estimated_keys = estimated_keys * len(every) + np.asarray(pc.index_in(labels, value_set=every))
    keys, cells = np.unique(np.concatenate([true_keys, estimated_keys]), return_inverse=True)
    truth, counts = np.zeros((2, len(keys), len(records.domain)))
    np.add.at(truth, cells[: len(true_keys)], true.counts)
    np.add.at(counts, cells[len(true_keys) :], estimated.count)
    places = np.column_stack(np.unravel_index(keys, sizes)) if by else np.zeros((len(keys), 0), dtype=np.int64)
    return ComparedCells(truth, counts, places)


def _cut(column: str, table: pa.Table, release: Release) -> By:
    """The cells that a quasi-identifier makes by default."""
    cells = table[column]
    numeric = pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)
    numeric = numeric and column not in release.coarse
    if not numeric or len(pc.unique(cells)) <= _MANY_NUMBERS:
        (plain,) = as_by(column)
        return plain
    numbers, known = to_numbers(cells)
    edges = np.linspace(float(numbers[known].min()), float(numbers[known].max()), _N_BINS + 1)
    return bins(column, edges=edges.tolist())
