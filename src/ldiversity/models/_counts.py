"""How often each sensitive value occurs in each class: all that a privacy model looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.schema import Domain

__all__ = ["ClassCounts", "Population", "SomeClasses", "count_classes", "of_sums", "sizes_as_classes"]

Found = TypeVar("Found")

_BLOCK_CELLS: Final = 1 << 20
"""Numbers in a dense block: memory is bounded by it, not by classes times values."""

_FEW_CLASSES: Final = 1000
_RECORDS: Final = Domain(("*",))
_ODD_OF_CODES: Final = np.uint64(0x9E3779B97F4A7C15)
_ODD_OF_COUNTS: Final = np.uint64(0xBF58476D1CE4E5B9)
"""Spread numbers over 64 bits; any odd numbers do."""


@dataclass(frozen=True, eq=False)
class Population:
    """The published records as a whole, to which some models compare a class.

    Parameters
    ----------
    domain
        The public values of the sensitive attribute.
    counts
        Shape (F,): how often each of them occurs in all classes together.
    """

    domain: Domain
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """The values of every class, only those that occur: row c of a sparse matrix is ``starts[c]:starts[c + 1]``.

    Parameters
    ----------
    starts
        Shape (classes + 1,).
    codes
        The values of each class, ascending within a class.
    counts
        How often each occurs there, at least once.
    domain
        The public values.

    Examples
    --------
    >>> classes = count_classes(np.array([0, 0, 1]), np.array([2, 2, 0]), 2, Domain(("a", "b", "c")))
    >>> classes.dense().tolist()
    [[0, 0, 2], [1, 0, 0]]
    """

    starts: NDArray[np.int64]
    codes: CodeArray
    counts: NDArray[np.int64]
    domain: Domain

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Shape (classes,): how many records each class has."""
        running = np.concatenate([[0], np.cumsum(self.counts)])
        sizes: NDArray[np.int64] = running[self.starts[1:]] - running[self.starts[:-1]]
        return sizes

    @cached_property
    def population(self) -> Population:
        """All classes together."""
        counts = np.bincount(self.codes, weights=self.counts, minlength=len(self.domain))
        return Population(self.domain, np.rint(counts).astype(np.int64))

    @cached_property
    def _found(self) -> dict[str, Any]:
        return {}

    def once(self, question: str, find: Callable[[], Found]) -> Found:
        """Find what follows from these counts alone, or give what was found before; it is forgotten with them."""
        if question not in self._found:
            self._found[question] = find()
        answer: Found = self._found[question]
        return answer

    @cached_property
    def different(self) -> ClassCounts:
        """The classes with different counts, each once, for all that depends on the worst class alone.

        In a table with many classes most are small, and few of those differ.

        Examples
        --------
        >>> numbers = np.arange(3000)
        >>> classes = count_classes(numbers, numbers % 2, 3000, Domain(("a", "b")))
        >>> sorted(classes.different.dense().tolist())
        [[0, 1], [1, 0]]
        """
        lengths = np.diff(self.starts)
        if self.n_classes < _FEW_CLASSES or not lengths.all():
            return self
        marks = (self.codes.astype(np.uint64) + np.uint64(1)) * _ODD_OF_CODES ^ self.counts.astype(np.uint64)
        marks *= _ODD_OF_COUNTS
        marks ^= marks >> np.uint64(29)
        marks *= _ODD_OF_CODES
        _, first, same = np.unique(np.add.reduceat(marks, self.starts[:-1]), return_index=True, return_inverse=True)
        alike = first[same.ravel()]
        # Equal marks are no proof, so all cells are compared with those of the class that stands for theirs.
        if not np.array_equal(lengths, lengths[alike]):
            return self
        places = np.arange(len(self.codes)) + np.repeat(self.starts[alike] - self.starts[:-1], lengths)
        if not (np.array_equal(self.codes, self.codes[places]) and np.array_equal(self.counts, self.counts[places])):
            return self
        starts = np.concatenate([[0], np.cumsum(lengths[first])])
        cells = np.arange(starts[-1]) + np.repeat(self.starts[first] - starts[:-1], lengths[first])
        return SomeClasses(starts, self.codes[cells], self.counts[cells], self.domain, self.population)

    def dense(self, first: int = 0, last: int | None = None) -> NDArray[np.int64]:
        """Shape (last - first, F): the counts of some classes, zeros included."""
        last = self.n_classes if last is None else last
        rows = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
        dense = np.zeros((last - first, len(self.domain)), dtype=np.int64)
        inside = slice(self.starts[first], self.starts[last])
        dense[rows, self.codes[inside]] = self.counts[inside]
        return dense

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """All classes as dense blocks of bounded size."""
        step = max(1, _BLOCK_CELLS // max(1, len(self.domain)))
        for first in range(0, self.n_classes, step):
            last = min(first + step, self.n_classes)
            yield slice(first, last), self.dense(first, last)


@dataclass(frozen=True, eq=False)
class SomeClasses(ClassCounts):
    """Some classes of a table, where the others are judged apart: `everyone` has the records of all.

    Examples
    --------
    >>> domain = Domain(("a", "b"))
    >>> half = count_classes(np.array([0, 0]), np.array([0, 0]), 1, domain)
    >>> SomeClasses.of(half, Population(domain, np.array([2, 2]))).population.counts.tolist()
    [2, 2]
    """

    everyone: Population

    @classmethod
    def of(cls, classes: ClassCounts, everyone: Population) -> SomeClasses:
        """These classes among all."""
        return cls(classes.starts, classes.codes, classes.counts, classes.domain, everyone)

    @property
    def population(self) -> Population:
        """All classes together, those elsewhere too."""
        return self.everyone


def sizes_as_classes(sizes: NDArray[np.int64]) -> ClassCounts:
    """Classes of which only the sizes are known, for models that look at nothing else.

    Examples
    --------
    >>> sizes_as_classes(np.array([3, 1])).sizes.tolist()
    [3, 1]
    """
    starts = np.arange(len(sizes) + 1, dtype=np.int64)
    return ClassCounts(starts, np.zeros(len(sizes), dtype=np.int32), sizes, _RECORDS)


def of_sums(judge: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a model that looks at counts, shown nothing but how many records each class has.

    Examples
    --------
    >>> shown = of_sums(lambda model, counts, population: (counts.tolist(), population.counts.tolist()))
    >>> shown(None, np.array([[1, 2], [0, 3]]), Population(Domain(("a", "b")), np.array([4, 5])))
    ([[3], [3]], [9])
    """

    @wraps(judge)
    def judged(model: object, counts: NDArray[np.int64], population: Population) -> Any:  # noqa: ANN401 - as it was
        if counts.shape[1] != 1:
            counts = counts.sum(axis=1, keepdims=True)
        if len(population.counts) != 1:
            population = Population(_RECORDS, population.counts.sum(keepdims=True))
        return judge(model, counts, population)

    return judged


def count_classes(class_of: NDArray[np.integer], codes: CodeArray, n_classes: int, domain: Domain) -> ClassCounts:
    """Count the values of each class; rows of class -1 are left out."""
    kept = class_of >= 0
    n_values = len(domain)
    keys = class_of[kept].astype(np.int64) * n_values + codes[kept]
    pairs, counts = np.unique(keys, return_counts=True)
    starts = np.searchsorted(pairs, np.arange(n_classes + 1, dtype=np.int64) * n_values)
    return ClassCounts(starts.astype(np.int64), (pairs % n_values).astype(np.int32), counts.astype(np.int64), domain)
