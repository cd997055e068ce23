"""How the quasi-identifiers of a release are published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.hierarchies import Hierarchy
from ldiversity.release._grid import Step
from ldiversity.schema import MISSING_LABEL

__all__ = ["Form", "FormKind", "Marginal", "Reach"]

FormKind: TypeAlias = Literal["exact", "interval", "node", "values"]
UnboundedEnd: TypeAlias = Literal["low", "high"]


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


@dataclass(frozen=True)
class Reach:
    """What a node stands for, where the values under it are not public.

    Parameters
    ----------
    low, high
        The least and the greatest number under it, days and instants as integers of their unit.
    starts
        Beginnings of texts: a text that begins with one of them is under it. An empty beginning is anything, a
        missing value included.
    unbounded
        The end, ``"low"`` or ``"high"``, beyond which numbers are under it too, where a column is top- or bottom-coded.

    Examples
    --------
    >>> Reach(starts=("130",)).anything, Reach(starts=("",)).anything
    (False, True)
    """

    low: float | None = None
    high: float | None = None
    starts: tuple[str, ...] = ()
    unbounded: UnboundedEnd | None = None

    @property
    def anything(self) -> bool:
        """Whether it says nothing."""
        return "" in self.starts


@dataclass(frozen=True, eq=False)
class Form:
    """How a quasi-identifier is published.

    Parameters
    ----------
    kind
        ``exact``: as it was. ``interval``: least and greatest number of a class, ``{low, high}``; both missing when
        the number of a record of the class is missing or was suppressed. ``node``: the label of a node of the
        hierarchy above all values of a class. ``values``: the list of the values of a class. Where records share no
        class of quasi-identifiers, each shows its own node.
    hierarchy
        Of a ``node``: its leaves are the public values. Each label names one set of leaves. Where leaves were read off
        the table, only nodes that the rows show are in it.
    low, high
        Of an ``interval``, and of nodes that stand for numbers: the public range, days and instants as integers of
        their unit. None when no record has a value, or nothing is said of it.
    labels
        Of ``node`` and ``values``: the public values as texts, in code order; a missing value is ``(missing)``.
    marginal
        Counts of exact values, where the holder chose to publish them.
    reaches
        Of a ``node``, where leaves are not public: what each label stands for. A label that is not in it is a value,
        or the category of missing values. None where leaves are the values themselves.
    grid
        Of an ``interval``: the step to which all ends are rounded outward, a number or a unit of the calendar. None
        where ends are values of records.

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
    reaches: Mapping[str, Reach] | None = None
    grid: Step | None = None

    @property
    def spans(self) -> bool:
        """Whether nodes stand for intervals of numbers, so that they can be read as such."""
        reaches = self.reaches or {}
        numbers = any(reach.low is not None for reach in reaches.values())
        return numbers and all(
            label == MISSING_LABEL or (label in reaches and not self._begins(label)) for label in self.labels
        )

    def _begins(self, label: str) -> bool:
        reach = (self.reaches or {})[label]
        return reach.low is None and not reach.anything

    @property
    def span(self) -> float:
        """The length of the public range of numbers; 0 when there is none."""
        return 0.0 if self.low is None or self.high is None else float(self.high - self.low)
