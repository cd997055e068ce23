"""What an attacker sees of a sensitive attribute: for each class of people who look alike, a distribution of values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.base.numbers import number
from ldiversity.errors import UnsupportedError
from ldiversity.models import ClassCounts, PrivacyModel, Verdict, judge, sizes_as_classes
from ldiversity.schema import Domain

__all__ = ["MOST_CELLS", "ClassView", "View", "check_cells", "people_alike", "worst_reached"]

MOST_CELLS: Final = 1_000_000_000
"""The most classes times values to go through; a billion takes about a minute."""


def check_cells(n_classes: int, n_values: int) -> None:
    """Refuse classes and values that would take hours."""
    if n_classes * n_values > MOST_CELLS:
        raise UnsupportedError(
            "audit",
            f"classes times sensitive values must be at most {number(MOST_CELLS)}",
            got=f"{number(n_classes)} times {number(n_values)}",
        ).with_hint("Is the sensitive column an identifier or a fine measurement? Bin it, or leave it out.")


class View(ABC):
    """The classes of one sensitive attribute, as an attacker sees them."""

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The public values."""

    @property
    @abstractmethod
    def sizes(self) -> NDArray[np.int64]:
        """Shape (classes,): how many records each class has."""

    @property
    @abstractmethod
    def largest(self) -> FloatArray:
        """Shape (classes,): the probability of the likeliest value of each class."""

    @property
    def right(self) -> FloatArray:
        """Shape (classes,): for how many records of each class its likeliest value is expected to be right."""
        right: FloatArray = self.largest * self.sizes
        return right

    @property
    @abstractmethod
    def marginal(self) -> NDArray[np.int64]:
        """Shape (F,): how often each value occurs, as far as it is known."""

    @abstractmethod
    def picture(self, model: type[PrivacyModel]) -> ClassCounts:
        """The counts that a kind of model looks at, or `UnsupportedError`, which says why there are none."""

    def judge(self, model: PrivacyModel) -> Verdict:
        """Judge the classes by a model, or raise `UnsupportedError` when it does not suit them or they are too many."""
        self.check_size()
        return judge([model], self.picture(type(model)))[0]

    def check_size(self) -> None:
        """Refuse classes that would take hours: a model looks at every value of every class."""
        check_cells(len(self.sizes), len(self.domain))

    @property
    def largest_informed(self) -> FloatArray | None:
        """The same as `largest` to someone who knows the marginal; None where the marginal adds nothing."""
        return None

    @property
    def bound(self) -> float | None:
        """What the mechanism bounds the largest share by, where no set is published as such; else None."""
        return None

    @property
    def n_records(self) -> int:
        """The number of records."""
        return int(self.sizes.sum())


@dataclass(frozen=True, eq=False)
class ClassView(View):
    """Classes whose values are counted.

    Examples
    --------
    >>> from ldiversity.models import count_classes
    >>> view = ClassView(count_classes(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0]), 2, Domain(("a", "b"))))
    >>> view.largest.round(2).tolist()
    [0.67, 1.0]
    """

    counts: ClassCounts

    @property
    def domain(self) -> Domain:
        """The public values."""
        return self.counts.domain

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many records each class has."""
        return self.counts.sizes

    @cached_property
    def _most_frequent(self) -> NDArray[np.int64]:
        if not self.counts.n_classes:
            return np.zeros(0, dtype=np.int64)
        return np.maximum.reduceat(self.counts.counts, self.counts.starts[:-1])

    @property
    def largest(self) -> FloatArray:
        """The share of the most frequent value of each class."""
        largest: FloatArray = self._most_frequent / self.sizes
        return largest

    @property
    def right(self) -> FloatArray:
        """The records that have the most frequent value of their class."""
        return self._most_frequent.astype(np.float64)

    @property
    def marginal(self) -> NDArray[np.int64]:
        """How often each value occurs."""
        return self.counts.population.counts

    def picture(self, model: type[PrivacyModel]) -> ClassCounts:  # noqa: ARG002 - the same for all
        """The counts of the classes."""
        return self.counts


def people_alike(sizes: NDArray[np.int64]) -> ClassView:
    """Give classes of people who look alike, for models that look at nothing else.

    Examples
    --------
    >>> from ldiversity.models import KAnonymity
    >>> people_alike(np.array([3, 1])).judge(KAnonymity(3)).n_records_failing
    1
    """
    return ClassView(sizes_as_classes(sizes))


def worst_reached(view: View, models: Sequence[PrivacyModel]) -> list[float | str]:
    """The value that the worst class reaches by each model, or the sentence that says why there is none.

    Models that look at the same counts share one pass over them.
    """
    found: list[float | str] = [inf if model.higher_is_safer else 0.0 for model in models]
    sharing: dict[int, tuple[ClassCounts, list[int]]] = {}
    for place, model in enumerate(models):
        try:
            counts = view.picture(type(model))
        except UnsupportedError as refused:
            found[place] = refused.message
            continue
        sharing.setdefault(id(counts), (counts, []))[1].append(place)
    for counts, places in sharing.values():
        for _, dense in counts.different.blocks():
            for place in places:
                reached = models[place].reached(dense, counts.population)
                found[place] = _worse(models[place], float(found[place]), reached)
    return found


def _worse(model: PrivacyModel, known: float, reached: FloatArray) -> float:
    if not len(reached):
        return known
    return min(known, float(reached.min())) if model.higher_is_safer else max(known, float(reached.max()))
