"""Who shows which combination of quasi-identifiers: counted once, then rolled up to coarser levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import different
from ldiversity.methods import number_combinations
from ldiversity.models import PrivacyModel, sizes_as_classes

__all__ = ["Shown"]

Ints: TypeAlias = NDArray[np.int64]

_MOST_TRIED: Final = 1 << 10
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose multiples differ in their first bits, so that few combinations share a mark."""


@dataclass(frozen=True, eq=False)
class Shown:
    """The combinations that occur, with how many show each; a combination may occur in several parts.

    People who show one combination alone can be added up when combinations are joined. Those who show several could be
    counted twice, so each of their combinations is kept with whose it is.

    Parameters
    ----------
    codes
        One array per column: the code of each combination.
    labels
        One array per column, shape (codes, levels): the number of a code's label at each level.
    alone
        Shape (combinations,): records, or people who show this combination and no other.
    several, whose
        Combination and person, once for each combination of people who show several.
    """

    codes: tuple[Ints, ...]
    labels: tuple[Ints, ...]
    alone: Ints
    several: Ints
    whose: Ints

    @classmethod
    def of(
        cls,
        rows: Sequence[NDArray[np.integer]],
        labels: Sequence[Ints],
        person: NDArray[np.integer] | None,
        counts: Ints | None = None,
    ) -> Shown:
        """Count the rows of a table, each once or so many times, or the people whose rows they are.

        Examples
        --------
        >>> ages, tree = np.array([0, 0, 1]), np.array([[0, 0], [1, 0]])
        >>> Shown.of([ages], [tree], None).alone, Shown.of([ages], [tree], np.array([7, 7, 7])).alone
        (array([1, 1, 1]), array([0, 0]))
        """
        if person is None:  # rows that look alike are joined later, at the lowest levels that are possible
            none = np.zeros(0, dtype=np.int64)
            return cls(
                tuple(own.astype(np.int64, copy=False) for own in rows),
                tuple(labels),
                np.ones(len(rows[0]), dtype=np.int64) if counts is None else counts,
                none,
                none,
            )
        class_of, n = number_combinations(
            [(own, len(known)) for own, known in zip(rows, labels, strict=True)], len(rows[0])
        )
        codes = tuple(_of_classes(own, class_of, n) for own in rows)
        return cls(codes, tuple(labels), *_count_people(class_of, person, n))

    def only(self, columns: Sequence[int], levels: Sequence[int]) -> Shown:
        """The same for some columns, each at a level or coarser; a code stands for all with its label."""
        firsts = [_first_codes(self.labels[k][:, level]) for k, level in zip(columns, levels, strict=True)]
        places = [place[self.codes[k]] for k, (_, place) in zip(columns, firsts, strict=True)]
        labels = tuple(self.labels[k] for k in columns)
        class_of, n = number_combinations(
            [(own, len(first)) for own, (first, _) in zip(places, firsts, strict=True)], len(self.alone)
        )
        alone, several, whose = _count_people(class_of[self.several], self.whose, n)
        alone += _add_up(self.alone, class_of, n)
        codes = tuple(first[_of_classes(own, class_of, n)] for own, (first, _) in zip(places, firsts, strict=True))
        return Shown(codes, labels, alone, several, whose)

    def keep(self, levels: Sequence[int], models: Sequence[PrivacyModel]) -> bool:
        """Whether enough records, or people, look alike when every column is shown at its level."""
        at_level = [
            (own, known[:, level], int(known[:, level].max()) + 1)
            for own, known, level in zip(self.codes, self.labels, levels, strict=True)
        ]
        if self._too_many_differ(at_level, models):
            return False
        class_of, n = number_combinations([(known[own], size) for own, known, size in at_level], len(self.alone))
        alone = _add_up(self.alone, class_of, n)
        doubtful = _failing(alone, models)
        if not len(doubtful) or not len(self.several):
            return not len(doubtful)
        # More people never break such a promise, so only these classes need be counted.
        place = np.full(n, -1, dtype=np.int64)
        place[doubtful] = np.arange(len(doubtful))
        of_several = place[class_of[self.several]]
        chosen = of_several >= 0
        width = int(self.whose.max()) + 1
        pairs = different(of_several[chosen] * width + self.whose[chosen])
        people = alone[doubtful] + np.bincount(pairs // width, minlength=len(doubtful))
        return not len(_failing(people, models))

    def _too_many_differ(self, at_level: Sequence[tuple[Ints, Ints, int]], models: Sequence[PrivacyModel]) -> bool:
        """Whether so many combinations differ that one of them must be shown by too few; if not, nobody knows yet.

        Different marks in a table come from different combinations, so that they are at least as many as the marks.
        """
        needed = max((_fewest(model) for model in models), default=1)
        most = (int(self.alone.sum()) + len(self.several)) // needed
        if prod(size for *_, size in at_level) <= most:
            return False
        n_marks = 1 << (8 * most).bit_length()
        for some in (slice(2 * most), slice(None)):
            keys = np.zeros(len(self.alone[some]), dtype=np.uint64)
            for own, known, size in at_level:
                keys *= np.uint64(
                    size
                )  # a product that is too large begins anew at 0, which joins combinations at most
                keys += known.astype(np.uint64)[own[some]]
            keys *= _SPREAD
            marks = np.zeros(n_marks, dtype=np.bool_)
            marks[keys >> np.uint64(65 - n_marks.bit_length())] = True
            if np.count_nonzero(marks) > most:
                return True
            if len(keys) == len(self.alone):
                break
        return False


@cache
def _fewest(model: PrivacyModel) -> int:
    """How many must look alike at least, as far as it is a small number: any fewer break the rule."""
    sizes = np.arange(1, _MOST_TRIED)
    kept = np.setdiff1d(sizes - 1, model.failing(sizes_as_classes(sizes))) if model.only_counts else np.zeros(1, int)
    return int(kept[0]) + 1 if len(kept) else _MOST_TRIED


def _failing(sizes: Ints, models: Sequence[PrivacyModel]) -> Ints:
    if not all(model.only_counts for model in models):
        return np.unique(np.concatenate([model.failing(sizes_as_classes(sizes)) for model in models]))
    # Classes of one size keep a rule or break it together.
    different = np.flatnonzero(np.bincount(sizes))
    breaks = np.zeros(len(different), dtype=np.bool_)
    for model in models:
        breaks[model.failing(sizes_as_classes(different))] = True
    return np.flatnonzero(np.isin(sizes, different[breaks])) if breaks.any() else np.zeros(0, dtype=np.int64)


def _first_codes(labels: Ints) -> tuple[Ints, Ints]:
    """The first code of each label, and for each code the place of its label among them."""
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    return first, place


def _of_classes(codes: NDArray[np.integer], class_of: Ints, n_classes: int) -> Ints:
    own = np.zeros(n_classes, dtype=np.int64)
    own[class_of] = codes
    return own


def _add_up(counts: Ints, class_of: Ints, n_classes: int) -> Ints:
    return np.rint(np.bincount(class_of, weights=counts, minlength=n_classes)).astype(np.int64)


def _count_people(class_of: Ints, person: NDArray[np.integer], n_classes: int) -> tuple[Ints, Ints, Ints]:
    """How many people are in each class and in no other; then class and person of all others."""
    width = int(person.max(initial=0)) + 1
    pairs = different(class_of * width + person)
    classes, whose = pairs // width, pairs % width
    several = np.bincount(whose, minlength=width)[whose] > 1
    return np.bincount(classes[~several], minlength=n_classes), classes[several], whose[several]
