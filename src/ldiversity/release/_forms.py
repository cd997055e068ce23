"""How the quasi-identifiers of a grouped release are published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.hierarchies import Hierarchy

__all__ = ["Form", "FormKind", "Marginal"]

FormKind: TypeAlias = Literal["exact", "interval", "node", "values"]


@dataclass(frozen=True, eq=False)
class Marginal:
    """How often each exact value of a quasi-identifier occurs in the published records, where the holder says so.

    Parameters
    ----------
    values
        Shape (m,), distinct and ascending: numbers (days and instants as integers of their unit), or positions in the
        labels of the form.
    counts
        Shape (m,): how many records have each of them.
    missing
        How many records have none; a missing category is a label of its own.

    Examples
    --------
    >>> Marginal(np.array([20, 30]), np.array([3, 1])).n_records
    4
    """

    values: NDArray[Any]
    counts: NDArray[np.int64]
    missing: int = 0

    @property
    def n_records(self) -> int:
        """The number of records."""
        return int(self.counts.sum()) + self.missing


@dataclass(frozen=True, eq=False)
class Form:
    """How a quasi-identifier is published.

    Parameters
    ----------
    kind
        ``exact``: as it was. ``interval``: least and greatest number of a class, ``{low, high}``; both missing when
        the number of a record of the class is missing or was suppressed. ``node``: the label of a node of the
        hierarchy above all values of a class. ``values``: the list of the values of a class.
    hierarchy
        Of a ``node``: its leaves are the public values. Each label names one set of leaves.
    low, high
        Of an ``interval``: the public range, days and instants as integers of their unit. None when no record has
        a value.
    labels
        Of ``node`` and ``values``: the public values as texts, in code order; a missing value is ``(missing)``.
    marginal
        Counts of exact values, where the holder chose to publish them.

    Examples
    --------
    >>> Form("interval", low=17, high=90).span
    73.0
    """

    kind: FormKind
    hierarchy: Hierarchy | None = None
    low: float | None = None
    high: float | None = None
    labels: tuple[str, ...] = ()
    marginal: Marginal | None = None

    @property
    def span(self) -> float:
        """The length of the public range of numbers; 0 when there is none."""
        return 0.0 if self.low is None or self.high is None else float(self.high - self.low)
