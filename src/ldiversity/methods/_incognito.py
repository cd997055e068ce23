"""Incognito: the least full-domain generalization that satisfies a privacy model (LeFevre, DeWitt, Ramakrishnan)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, Json
from ldiversity.base.checks import check_number, name_all
from ldiversity.errors import InfeasibleError, InternalError, ParameterError, UnsupportedError
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun, Partition
from ldiversity.methods._coded import CodedTable, NumberColumn, SensitiveColumn
from ldiversity.methods._combinations import number_combinations
from ldiversity.methods._parts_route import LevelParts, at_levels
from ldiversity.methods._parts_rule import PartRule
from ldiversity.methods._people import Dealer, check_people, not_apart
from ldiversity.methods._rule import Models, Rules, check_whole, describe_rules, given_models, rules_of
from ldiversity.models import PrivacyModel, as_written, count_classes
from ldiversity.schema import Domain
from ldiversity.sentences import Method, say

__all__ = ["Incognito"]

_MOST_LARGE: Final = 4_000
"""Classes with a smaller share of the records than one of so many are never divided."""


@dataclass(frozen=True, eq=False)
class _Large:
    """Classes of many records: their numbers, ascending, how many each has, and how many all classes have."""

    numbers: NDArray[np.uint64]
    sizes: NDArray[np.int64]
    n_rows: int

    def dealt(self, n_parts: int) -> tuple[tuple[int, int, int], ...]:
        """Into how many pieces each is divided, so that none fills more than half a part, and the part of the first.

        Pieces of all classes are dealt to one part after the other, so that no part has many.
        """
        half = max(self.n_rows // (2 * n_parts), 1)
        pieces = np.minimum(-(-self.sizes // half), n_parts)
        first = (np.cumsum(pieces) - pieces) % n_parts
        return tuple(zip(self.numbers.tolist(), pieces.tolist(), first.tolist(), strict=True))


@dataclass(frozen=True)
class Incognito(GroupingMethod):
    """Publish every quasi-identifier at one level of its hierarchy, the same for all records.

    Of all choices of levels that satisfy the model, the one of least loss is taken: the mean over records and columns
    of the share of the leaves that stand under the published node, 0 for a leaf. No other choice that satisfies the
    model is lower in one column and higher in none.

    Where a person has several rows, records that agree at these levels are published as several classes, each of which
    holds the person once; then each of these must satisfy the model.

    A table that does not fit into memory is counted first: levels are chosen by how often combinations occur. Then
    records that agree at these levels share a part. Of those that are too many for one, chance makes several classes,
    each of which satisfies the model too.

    Parameters
    ----------
    l
        Short for ``model=FrequencyDiversity(l)``. Given together with `model`, both are promised.
    model
        What every class must satisfy, for every sensitive column: a monotone privacy model, its text form, or several
        of them, which then all hold.
    suppression
        The largest share of the records that may be left out because their class does not satisfy the model.

    References
    ----------
    LeFevre, DeWitt, Ramakrishnan, Incognito: Efficient Full-Domain K-Anonymity, SIGMOD 2005.

    Examples
    --------
    >>> from ldiversity.hierarchies import Hierarchy
    >>> from ldiversity.methods import CategoryColumn, SensitiveColumn
    >>> tree = Hierarchy.from_rows([("131", "13*", "*"), ("132", "13*", "*"), ("148", "14*", "*"), ("149", "14*", "*")])
    >>> code = CategoryColumn("zip", np.array([0, 1, 2, 3], dtype=np.int32), tree.leaves, tree)
    >>> disease = SensitiveColumn("disease", np.array([0, 1, 1, 0], dtype=np.int32), Domain(("flu", "cut")))
    >>> Incognito(l=2).group(CodedTable((code,), (disease,)), GroupingRun()).levels
    {'zip': 1}
    """

    name: ClassVar[str] = "incognito"
    strength: ClassVar[str | None] = "l"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "generalized"
    needs_hierarchies: ClassVar[bool] = True
    parts: ClassVar[Literal["near", "random", "alike"] | None] = "alike"
    decides_by_counts: ClassVar[bool] = True

    l: int | None = None
    model: Models = None
    suppression: float = 0.0

    def __post_init__(self) -> None:
        check_number("Incognito", "suppression", self.suppression, minimum=0, maximum=1)
        object.__setattr__(self, "model", given_models(self.model))
        unruly = [model for model in self.rules.models if not model.monotone]
        if unruly:
            raise ParameterError("Incognito", "model", "must be monotone", got=repr(unruly[0])).with_hint(
                say(
                    "Two classes may satisfy it and their union not, so the lattice cannot be searched; use {}.",
                    Method("Mondrian"),
                )
            )

    @cached_property
    def rules(self) -> Rules:
        """What every class satisfies."""
        return rules_of("Incognito", self.l, self.model)

    def promises(self, domain: Domain) -> tuple[PrivacyModel, ...]:  # noqa: ARG002 - the same for every domain
        """What every class satisfies."""
        return self.rules.models

    @property
    def may_leave_out(self) -> float:
        """The share that was chosen."""
        return float(self.suppression)

    def parameters(self) -> dict[str, Json]:
        """The public parameters in JSON's types."""
        return describe_rules(self.l, self.rules) | {"suppression": float(self.suppression)}

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse models that not even all records together satisfy."""
        check_whole("Incognito", self.rules.models, columns, l=self.l)

    def part_rule(self, n_sensitive: int) -> PartRule:  # noqa: ARG002 - for any number
        """No record changes parts, because those that agree are one class."""
        return PartRule(None)

    def decided(self, table: CodedTable, counts: NDArray[np.int64]) -> Self:
        """The method at the levels of least loss."""
        from ldiversity.methods._incognito_counts import combine
        from ldiversity.methods._incognito_lattice import find_least

        full, _ = combine(table, table.categories, counts)
        found = find_least(full, self.rules, 0, GroupingRun(), lambda *_: Partition(np.zeros(0, dtype=np.int32), 0))
        if found is None:
            raise InternalError("Incognito", "the root of the lattice satisfies the model and was not found")
        numbers, places = np.unique(LevelParts(1, found[0]).combinations(table), return_inverse=True)
        sizes = np.bincount(places.ravel(), weights=counts).astype(np.int64)
        large = sizes * _MOST_LARGE > sizes.sum()
        made = copy(self)
        # No options: only publishing in parts decides before it groups.
        object.__setattr__(made, "_levels", found[0])
        object.__setattr__(made, "_large", _Large(numbers[large], sizes[large], int(sizes.sum())))
        return made

    def alike_parts(self, n_parts: int) -> LevelParts:
        """Records meet that agree at the levels that were decided, unless they would fill more than half a part."""
        large = self._large_classes
        return LevelParts(n_parts, self._decided or (), () if large is None else large.dealt(n_parts))

    @property
    def _large_classes(self) -> _Large | None:
        found: _Large | None = vars(self).get("_large")
        return found

    @property
    def _decided(self) -> tuple[int, ...] | None:
        levels: tuple[int, ...] | None = vars(self).get("_levels")
        return levels

    def _at_levels(self, table: CodedTable, levels: tuple[int, ...]) -> Grouping:
        known = [(column.codes, len(column.labels)) for column in at_levels(table, levels)]
        class_of, n_classes = number_combinations(known, table.n_rows)
        chosen = {column.name: level for column, level in zip(table.quasi, levels, strict=True)}
        partition = Partition(class_of.astype(np.int32), n_classes)
        self._check_pieces(table, levels)
        return Grouping((partition,), levels=chosen, facts={"levels": chosen})

    def _check_pieces(self, table: CodedTable, levels: tuple[int, ...]) -> None:
        """Refuse a part with a piece of a class that does not satisfy the model as the whole class does."""
        large = self._large_classes
        if large is None or not len(large.numbers):
            return
        numbers = LevelParts(1, levels).combinations(table)
        places = np.minimum(np.searchsorted(large.numbers, numbers), len(large.numbers) - 1)
        known = large.numbers[places] == numbers
        here = np.bincount(places[known], minlength=len(large.numbers))
        pieces = np.flatnonzero((here > 0) & (here < large.sizes))
        for column in table.sensitive:
            n_values = len(column.domain)
            keys = places[known] * n_values + column.codes[known]
            counts = np.bincount(keys, minlength=len(large.numbers) * n_values).reshape(-1, n_values)[pieces]
            for model in self.rules.models:
                if not model.holds(counts, column.population).all():
                    raise InfeasibleError(
                        "Incognito", "a class that is divided does not satisfy the model in each piece"
                    )

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
        """Find the levels of least loss, and the classes of records that agree at them."""
        from ldiversity.methods._incognito_counts import combine
        from ldiversity.methods._incognito_lattice import find_least

        if self._decided is not None:
            return self._at_levels(table, self._decided)
        numbers = [column.name for column in table.quasi if isinstance(column, NumberColumn)]
        if numbers:
            raise UnsupportedError(
                "Incognito",
                f"every quasi-identifier must have a hierarchy, but {name_all(numbers, 'has', 'have')} none",
            ).with_hint("Give one, or an automatic one.")
        most = int(as_written(self.suppression) * table.n_rows)  # without rounding: 0.29 of 100 are 29
        if most == 0 or not table.n_rows:
            check_whole("Incognito", self.rules.models, table.sensitive, l=self.l)
            check_people("Incognito", table, self.rules.least_size)
        full, combination_of = combine(table, table.categories)
        dealer = Dealer.of(table)

        def classes_of(levels: tuple[int, ...], left_out: BoolArray) -> Partition | None:
            class_of = full.classes(levels)[0][combination_of]
            if dealer is None:
                return _published(class_of, left_out)
            parts, whole = dealer.split(class_of, len(left_out))
            failing = _failing(table, parts, left_out[whole], self.rules)
            return None if np.count_nonzero(failing[parts]) > most or failing.all() else _published(parts, failing)

        found = find_least(full, self.rules, most, run, classes_of)
        if found is None:
            # One class of all records is a node too, so they cannot satisfy the rule.
            check_whole("Incognito", self.rules.models, table.sensitive, l=self.l)
            if dealer is not None:
                raise not_apart("Incognito", table)
            raise InternalError("Incognito", "the root of the lattice satisfies the model and was not found")
        levels, partition = found
        chosen = {column.name: level for column, level in zip(table.quasi, levels, strict=True)}
        return Grouping((partition,), levels=chosen, facts={"levels": chosen})


def _published(class_of: NDArray[np.int64], left_out: BoolArray) -> Partition:
    """The classes that are not left out, numbered without gaps."""
    renumbered = np.where(left_out, -1, np.cumsum(~left_out) - 1).astype(np.int32)
    return Partition(renumbered[class_of], int(np.count_nonzero(~left_out)))


def _failing(table: CodedTable, class_of: NDArray[np.int64], left_out: BoolArray, rules: Rules) -> BoolArray:
    """Which classes must be left out, besides those that are, so that all others satisfy the rules together."""
    failing = left_out.copy()
    changed = True
    while changed and not failing.all():
        changed = False
        for column in table.sensitive:
            partition = _published(class_of, failing)
            kept = np.flatnonzero(~failing)
            broken = kept[rules.failing(count_classes(partition.class_of, column.codes, len(kept), column.domain))]
            failing[broken] = True
            changed |= bool(broken.size)
            if failing.all():
                break
    return failing
