"""A table as the distinct combinations of its quasi-identifiers, with how often each sensitive value occurs in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray
from ldiversity.methods._coded import CategoryColumn, CodedTable
from ldiversity.methods._combinations import number_combinations
from ldiversity.methods._rule import Rules
from ldiversity.models import ClassCounts, Population
from ldiversity.schema import Domain

__all__ = ["Combinations", "combine"]

_DENSE_CELLS: Final = 1 << 22
_ROUNDING: Final = 1e-6

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Values:
    """How often values of one sensitive column occur: only pairs of combination and value that do."""

    combinations: Ints
    values: Ints
    counts: Ints
    domain: Domain

    def roll_up(self, class_of: Ints, n_classes: int) -> _Values:
        """The same for unions of combinations."""
        n_values = len(self.domain)
        keys = class_of[self.combinations] * n_values + self.values
        if n_classes * n_values <= max(_DENSE_CELLS, len(keys)):
            dense = np.bincount(keys, weights=self.counts, minlength=n_classes * n_values)
            pairs = np.flatnonzero(dense)
            counts = np.rint(dense[pairs]).astype(np.int64)
        else:
            pairs, found = np.unique(keys, return_inverse=True)
            counts = np.rint(np.bincount(found, weights=self.counts)).astype(np.int64)
        return _Values(pairs // n_values, pairs % n_values, counts, self.domain)

    def largest(self, n_classes: int) -> Ints:
        """How often the most frequent value of each combination occurs."""
        found = np.zeros(n_classes, dtype=np.int64)
        first = np.flatnonzero(np.diff(self.combinations, prepend=-1))
        if first.size:
            found[self.combinations[first]] = np.maximum.reduceat(self.counts, first)
        return found

    def classes(self, n_classes: int, kept: BoolArray) -> tuple[ClassCounts, Ints]:
        """The counts of the kept classes, numbered anew, and their old numbers."""
        chosen = kept[self.combinations]
        renumbered = (np.cumsum(kept) - 1)[self.combinations[chosen]]
        old = np.flatnonzero(kept[:n_classes])
        starts = np.searchsorted(renumbered, np.arange(len(old) + 1)).astype(np.int64)
        codes = self.values[chosen].astype(np.int32)
        return ClassCounts(starts, codes, self.counts[chosen], self.domain), old


@dataclass(frozen=True, eq=False)
class Combinations:
    """Distinct combinations of some quasi-identifiers.

    Parameters
    ----------
    columns
        The quasi-identifiers.
    codes
        One array per quasi-identifier, shape (combinations,).
    sizes
        Shape (combinations,): records of each.
    values
        What occurs in them, one per sensitive column.
    """

    columns: tuple[CategoryColumn, ...]
    codes: tuple[Ints, ...]
    sizes: Ints
    values: tuple[_Values, ...]

    def only(self, chosen: Sequence[int], levels: Sequence[int]) -> Combinations:
        """The combinations of fewer quasi-identifiers at a node, rolled up; any leaf stands for the node above it.

        Nodes above are rolled up from them as from all combinations.
        """
        columns = tuple(self.columns[k] for k in chosen)
        known = tuple(self.codes[k] for k in chosen)
        class_of, n_classes = self._number(_at_levels(columns, known, levels))
        codes = tuple(np.zeros(n_classes, dtype=np.int64) for _ in chosen)
        for old, new in zip(known, codes, strict=True):
            new[class_of] = old
        sizes = _add_up(self.sizes, class_of, n_classes)
        return Combinations(columns, codes, sizes, tuple(v.roll_up(class_of, n_classes) for v in self.values))

    def classes(self, levels: Sequence[int]) -> tuple[Ints, int]:
        """The class of each combination when every column is published at its level, and their number."""
        return self._number(_at_levels(self.columns, self.codes, levels))

    def at(self, levels: Sequence[int]) -> Combinations:
        """One combination for each class of a node; classes of nodes above have the same numbers as in all of them."""
        return self.only(range(len(self.columns)), levels)

    def lost_at_least(self, rules: Rules) -> int:
        """How many records must be left out at least, at this node and at every one below it.

        If classes are divided, those parts that are kept satisfy the rules, so no value has more than a share p of any
        part, nor of all kept parts together. Of n records, m of them with the most frequent value, at most
        (n - m) / (1 - p) are kept then. Classes with too few records or values for a rule have no part that keeps it.
        """
        lost = np.where(self.sizes < rules.least_size, self.sizes, 0)
        too_few = [model for model in rules.models if model.fails_in_parts]
        for column in self.values:
            if rules.posterior < 1:
                kept = (self.sizes - column.largest(len(self.sizes))) / (1 - rules.posterior)
                np.maximum(lost, self.sizes - np.floor(kept + _ROUNDING).astype(np.int64), out=lost)
            if too_few:
                counted, _ = column.classes(len(self.sizes), np.ones(len(self.sizes), dtype=np.bool_))
            for model in too_few:
                failing = model.failing(counted)
                lost[failing] = self.sizes[failing]
        return int(lost.sum())

    def suppressed(self, levels: Sequence[int], rules: Rules, most: int) -> BoolArray | None:
        """Which classes must be left out so that all others satisfy the rule; None when that is over `most` records.

        What is left is checked against itself, again and again, because some rules compare a class with all others.
        """
        class_of, n_classes = self.classes(levels)
        sizes = _add_up(self.sizes, class_of, n_classes)
        if sizes[sizes < rules.least_size].sum() > most:
            return None
        values = tuple(column.roll_up(class_of, n_classes) for column in self.values)
        return _left_out(sizes, values, rules, most)

    def left_out(self, rules: Rules, most: int) -> BoolArray | None:
        """The same where every combination is a class."""
        return _left_out(self.sizes, self.values, rules, most)

    def _number(self, codes: Sequence[tuple[NDArray[np.integer], int]]) -> tuple[Ints, int]:
        return number_combinations(codes, len(self.sizes))


def combine(
    table: CodedTable, columns: tuple[CategoryColumn, ...], counts: Ints | None = None
) -> tuple[Combinations, Ints]:
    """The distinct combinations of a table, and the number of each row's combination; `counts` has how often a row is.

    Without `counts`, each row is there once.
    """
    known = [(column.codes, len(column.labels)) for column in columns]
    row_of, n_rows = number_combinations(known, table.n_rows)
    ones = np.ones(table.n_rows, dtype=np.int64) if counts is None else counts
    every = tuple(_Values(np.arange(table.n_rows), s.codes.astype(np.int64), ones, s.domain) for s in table.sensitive)
    codes = tuple(np.zeros(n_rows, dtype=np.int64) for _ in columns)
    for column, new in zip(columns, codes, strict=True):
        new[row_of] = column.codes
    values = tuple(each.roll_up(row_of, n_rows) for each in every)
    return Combinations(columns, codes, _add_up(ones, row_of, n_rows), values), row_of


def _left_out(sizes: Ints, values: Sequence[_Values], rules: Rules, most: int) -> BoolArray | None:
    kept = sizes >= rules.least_size
    if sizes[~kept].sum() > most:
        return None
    changed = True
    while changed and kept.any():
        changed = False
        for column in values:
            counted, old = column.classes(len(sizes), kept)
            failing = _failing(rules, counted)
            kept[old[failing]] = False
            changed |= bool(failing.size)
            if sizes[~kept].sum() > most:
                return None
            if not kept.any():
                break
    return ~kept if kept.any() else None


def _at_levels(
    columns: Sequence[CategoryColumn], codes: Sequence[Ints], levels: Sequence[int]
) -> list[tuple[NDArray[np.integer], int]]:
    """The nodes of codes at a level of each column, and how many nodes there are."""
    known = zip(columns, codes, levels, strict=True)
    return [(column.nodes[own, level], int(column.nodes[:, level].max()) + 1) for column, own, level in known]


def _add_up(sizes: Ints, class_of: Ints, n_classes: int) -> Ints:
    return np.rint(np.bincount(class_of, weights=sizes, minlength=n_classes)).astype(np.int64)


def _failing(rules: Rules, classes: ClassCounts) -> Ints:
    """The classes that break the rule."""
    if classes.n_classes * len(classes.domain) > _DENSE_CELLS:
        return rules.failing(classes)
    population = Population(classes.domain, classes.population.counts)
    return np.flatnonzero(~rules.holds(classes.dense(), population))
