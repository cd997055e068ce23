"""Published sets with P(set | member): all of them if they can be listed, otherwise a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray, SetArray
from ldiversity.errors import UnsupportedError
from ldiversity.mechanisms._base import SetMechanism
from ldiversity.mechanisms._compatibility import Compatibility

__all__ = ["EnumeratedSets", "distinct_rows", "enumerate_or_sample", "list_sets"]

_MOST_SETS: Final = 2_000_000
_MOST_WORK: Final = 500_000_000
_SAMPLED_SETS: Final = 200_000
_FEW_KEYS: Final = 1 << 16
_SAMPLE_SEED: Final = 20_170_301  # not secret: it only decides which sets a simulation examines


@dataclass(frozen=True, eq=False)
class EnumeratedSets:
    """Sets that a mechanism publishes.

    Attributes
    ----------
    sets, likelihood
        Shape (n, l): the sets, and P(set | member).
    weights
        The likelihood, if all sets are there. For a sample, weights such that a weighted sum over the sample estimates
        the sum over all sets of likelihood times the same term.
    exact
        Whether all sets are there.
    """

    sets: SetArray
    likelihood: FloatArray
    weights: FloatArray
    exact: bool


def list_sets(l: int, compatibility: Compatibility, work: int) -> SetArray | None:
    """Return all valid sets, or None if there are too many.

    `work` is the number of steps to compute the likelihood of one set: the more, the fewer sets are listed.
    """
    try:
        return compatibility.enumerate_sets(l, min(_MOST_SETS, _MOST_WORK // work))
    except UnsupportedError:
        return None


def enumerate_or_sample(mechanism: SetMechanism, listed: SetArray | None, work: int) -> EnumeratedSets:
    """Take all valid sets as `list_sets` returned them, or draw a fixed sample if there were too many."""
    if listed is not None:
        likelihood = mechanism.likelihood(listed)
        return EnumeratedSets(listed, likelihood, likelihood, exact=True)
    size = mechanism.n_values
    sets = _draw(mechanism, -(-min(_SAMPLED_SETS, _MOST_WORK // work) // size))
    likelihood = mechanism.likelihood(sets)
    # The true values of the sample are uniform: divide by the probability of the set, then scale each value to sum one.
    weights = likelihood / likelihood.sum(axis=1, keepdims=True)
    totals = np.bincount(sets.ravel(), weights.ravel(), minlength=size)
    return EnumeratedSets(sets, likelihood, weights / totals[sets], exact=False)


def _draw(mechanism: SetMechanism, per_value: int) -> SetArray:
    """Draw sets for computing facts; they are never published."""
    codes = np.repeat(np.arange(mechanism.n_values, dtype=np.int32), per_value)
    words = np.random.PCG64(_SAMPLE_SEED).random_raw(len(codes) * mechanism.words_per_record)
    sets, short = mechanism.sample(codes, words.reshape(len(codes), -1))
    return sets[~short]


def distinct_rows(rows: SetArray, n_values: int) -> tuple[SetArray, NDArray[np.intp]]:
    """Return the distinct rows, and for each row which of them it is.

    Examples
    --------
    >>> distinct, back = distinct_rows(np.array([[0, 2], [1, 2], [0, 2]]), n_values=3)
    >>> distinct.tolist(), back.tolist()
    ([[0, 2], [1, 2]], [0, 1, 0])
    """
    l = rows.shape[1]
    if float(n_values) ** l < 2.0**62:
        keys = rows @ (n_values ** np.arange(l, dtype=np.int64))
        if n_values**l <= max(_FEW_KEYS, len(rows)):  # a table of all keys is faster than sorting
            first = np.full(n_values**l, -1, dtype=np.intp)
            first[keys[::-1]] = np.arange(len(rows))[::-1]
            present = np.flatnonzero(first >= 0)
            place = np.zeros(n_values**l, dtype=np.intp)
            place[present] = np.arange(len(present))
            return np.ascontiguousarray(rows[first[present]]), place[keys]
        _, first, back = np.unique(keys, return_index=True, return_inverse=True)
        return np.ascontiguousarray(rows[first]), back.reshape(-1)
    distinct, back = np.unique(rows, axis=0, return_inverse=True)
    return np.ascontiguousarray(distinct), back.reshape(-1)
