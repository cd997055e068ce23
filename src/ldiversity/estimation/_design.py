"""How records were sampled from a population: a published column of weights, and one of strata.

A record stands for as many people as its weight says. Records of different strata were drawn independently, those of a
stratum by the same rule. Then the sum of ``w_i y_i`` over the records has the variance estimate

    sum over strata of  n / (n - 1)  sum over the records of  (w_i y_i - mean) (w_i y_i - mean)'

for any numbers y_i. Let y_i be what the published set of a record says about its value, with the true one as its mean.
Then this one formula holds the error of sampling and that of the dummies: both make the y_i of a stratum differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.checks import column_name
from ldiversity.errors import SchemaError, UnsupportedError
from ldiversity.estimation._by import different_values
from ldiversity.schema import Role
from ldiversity.sentences import Parameter, Sentence, say
from ldiversity.tables import sampling_weights, stratum_numbers

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.release import Release

__all__ = ["Design", "effective", "read_design"]


@dataclass(frozen=True, eq=False)
class Design:
    """The weight and the stratum of every record of a release, in row order.

    Examples
    --------
    Two strata of two records. Within the first, both stand for the same, so only the second adds to the variance:

    >>> design = Design(np.array([2.0, 2.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
    >>> design.covariance(np.array([[1.0], [1.0], [0.0], [1.0]]))
    array([[1.]])
    """

    weights: FloatArray
    stratum_of: NDArray[np.int64]

    @property
    def n_strata(self) -> int:
        """The number of strata."""
        return int(self.stratum_of.max()) + 1 if len(self.stratum_of) else 0

    @property
    def freedom(self) -> int:
        """The degrees of freedom of variances: records less strata."""
        return len(self.weights) - self.n_strata

    def covariance(self, values: FloatArray) -> FloatArray:
        """The covariance of the weighted sums of the columns of `values`, shape (records, k); zero where unselected."""
        weighted = values * self.weights[:, None]
        sizes = np.bincount(self.stratum_of, minlength=self.n_strata).astype(np.float64)
        means = np.zeros((self.n_strata, values.shape[1]))
        np.add.at(means, self.stratum_of, weighted)
        means /= sizes[:, None]
        rest = weighted - means[self.stratum_of]
        rest *= np.sqrt(sizes / np.maximum(sizes - 1, 1))[self.stratum_of, None]
        found: FloatArray = rest.T @ rest
        return found


def read_design(owner: str, release: Release, weights: str | None, strata: str | None) -> Design | None:
    """Read weights and strata of all records; None when neither is given."""
    if weights is None and strata is None:
        return None
    n_rows = release.n_rows
    known = np.ones(n_rows) if weights is None else _weights(owner, release, column_name(owner, "weights", weights))
    if strata is None:
        return Design(known, np.zeros(n_rows, dtype=np.int64))
    column = _exact(owner, release, "strata", column_name(owner, "strata", strata))
    return Design(known, stratum_numbers(owner, strata, different_values(strata, column)[0]))


def _weights(owner: str, release: Release, name: str) -> FloatArray:
    return sampling_weights(owner, name, _exact(owner, release, "weights", name))


def _exact(owner: str, release: Release, parameter: str, name: str) -> pa.ChunkedArray:
    """A column that is published as it was."""
    if release.schema[name].role is Role.SENSITIVE:
        raise SchemaError(owner, "is sensitive, so no record shows its value", column=name).with_hint(
            say("Name a published column in {}.", Parameter(parameter))
        )
    if release.grouped or release.rows_per_record > 1:
        one = "weight" if parameter == "weights" else "stratum"
        had = f"classes, in which nobody can tell whose value has which {one}" if release.grouped else "single members"
        raise UnsupportedError(
            owner, f"{parameter} need a set of values for each record, but this release has {had}"
        ).with_hint(_leave_out(parameter))
    if name in release.coarse:
        raise SchemaError(
            owner, f"must be published as it was for {parameter}", column=name, got="a coarser form"
        ).with_hint(_leave_out(parameter))
    return release.columns((name,))[name]


def _leave_out(parameter: str) -> Sentence:
    return say("Leave {} out: figures are then about the records, not about the population.", Parameter(parameter))


def effective(weights: FloatArray) -> float:
    """How many records of equal weight would tell as much as these (Kish)."""
    return float(weights.sum() ** 2 / np.square(weights).sum())
