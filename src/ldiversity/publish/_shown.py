"""Who shows which combination of quasi-identifiers: counted once, then rolled up to coarser levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.methods import number_combinations
from ldiversity.models import PrivacyModel, sizes_as_classes

__all__ = ["Shown"]

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Shown:
    """The combinations that occur, with how many show each.

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
        cls, rows: Sequence[NDArray[np.integer]], labels: Sequence[Ints], person: NDArray[np.integer] | None
    ) -> Shown:
        """Count the rows of a table, or the people whose rows they are.

        Examples
        --------
        >>> ages, tree = np.array([0, 0, 1]), np.array([[0, 0], [1, 0]])
        >>> Shown.of([ages], [tree], None).alone, Shown.of([ages], [tree], np.array([7, 7, 7])).alone
        (array([2, 1]), array([0, 0]))
        """
        class_of, n = number_combinations(
            [(own, len(known)) for own, known in zip(rows, labels, strict=True)], len(rows[0])
        )
        codes = tuple(_of_classes(own, class_of, n) for own in rows)
        if person is None:
            none = np.zeros(0, dtype=np.int64)
            return cls(codes, tuple(labels), np.bincount(class_of, minlength=n), none, none)
        return cls(codes, tuple(labels), *_count_people(class_of, person, n))

    def only(self, columns: Sequence[int], levels: Sequence[int]) -> Shown:
        """The same for some columns, each at a level or coarser; a code stands for all with its label."""
        firsts = [_first_codes(self.labels[k][:, level]) for k, level in zip(columns, levels, strict=True)]
        codes = [first[self.codes[k]] for k, first in zip(columns, firsts, strict=True)]
        labels = tuple(self.labels[k] for k in columns)
        class_of, n = number_combinations(
            [(own, len(known)) for own, known in zip(codes, labels, strict=True)], len(self.alone)
        )
        alone, several, whose = _count_people(class_of[self.several], self.whose, n)
        alone += _add_up(self.alone, class_of, n)
        return Shown(tuple(_of_classes(own, class_of, n) for own in codes), labels, alone, several, whose)

    def keep(self, levels: Sequence[int], models: Sequence[PrivacyModel]) -> bool:
        """Whether enough records, or people, look alike when every column is shown at its level."""
        at_level = [
            (known[:, level][own], int(known[:, level].max()) + 1)
            for own, known, level in zip(self.codes, self.labels, levels, strict=True)
        ]
        class_of, n = number_combinations(at_level, len(self.alone))
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
        pairs = np.unique(of_several[chosen] * width + self.whose[chosen])
        people = alone[doubtful] + np.bincount(pairs // width, minlength=len(doubtful))
        return not len(_failing(people, models))


def _failing(sizes: Ints, models: Sequence[PrivacyModel]) -> Ints:
    return np.unique(np.concatenate([model.failing(sizes_as_classes(sizes)) for model in models]))


def _first_codes(labels: Ints) -> Ints:
    """For each code the first one that has the same label."""
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    return first[place]


def _of_classes(codes: NDArray[np.integer], class_of: Ints, n_classes: int) -> Ints:
    own = np.zeros(n_classes, dtype=np.int64)
    own[class_of] = codes
    return own


def _add_up(counts: Ints, class_of: Ints, n_classes: int) -> Ints:
    return np.rint(np.bincount(class_of, weights=counts, minlength=n_classes)).astype(np.int64)


def _count_people(class_of: Ints, person: NDArray[np.integer], n_classes: int) -> tuple[Ints, Ints, Ints]:
    """How many people are in each class and in no other; then class and person of all others."""
    width = int(person.max(initial=0)) + 1
    pairs = np.unique(class_of * width + person)
    classes, whose = pairs // width, pairs % width
    several = np.bincount(whose, minlength=width)[whose] > 1
    return np.bincount(classes[~several], minlength=n_classes), classes[several], whose[several]
