"""BSGI: classes of l records with l different values, formed so that little is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lcm
from typing import ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray, Json
from ldiversity.base.checks import check_choice, check_number
from ldiversity.errors import InfeasibleError, ParameterError
from ldiversity.methods._anatomy_classes import check_shares, divide_rest, keep_eligible
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun, Partition
from ldiversity.methods._bsgi_anneal import Valid, anneal
from ldiversity.methods._bsgi_effort import USUAL_EFFORT, effort_notes, given_effort
from ldiversity.methods._bsgi_gaps import group_apart, keep_apart
from ldiversity.methods._bsgi_near import group_near, group_paper
from ldiversity.methods._bsgi_refusals import check_most, none_left, unplaced
from ldiversity.methods._bsgi_repair import place_left_over
from ldiversity.methods._bsgi_shares import place_by_shares
from ldiversity.methods._bsgi_space import Keys, Space, make_keys, make_space
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._column_levels import (
    ColumnLevels,
    changed_level,
    check_levels,
    differ,
    levels_of,
    smallest_size,
    thriftiest_size,
)
from ldiversity.methods._gaps import Gaps, Line, check_gap_names, check_gaps, check_line
from ldiversity.methods._part_facts import PartFacts
from ldiversity.methods._parts_rule import PartCounts, PartRule
from ldiversity.methods._people import check_people
from ldiversity.methods._rule import Rules
from ldiversity.models import FrequencyDiversity, GapDiversity, PrivacyModel, UniqueDiversity
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say

__all__ = ["BSGI"]

_LEAST_L: Final = 2


@dataclass(frozen=True)
class BSGI(GroupingMethod):
    """Bucketize, select, group, incorporate: classes of `l` records, no two with the same sensitive value.

    As many classes are formed as there can be, ``n // l``; the fewer than `l` records that remain join classes that
    lack their value. Two records of one person never share a class, and with several sensitive columns the records
    of a class differ in each.

    Does not hide who is in the table, and a reader who can rule out values of a class learns from the others.

    Parameters
    ----------
    l
        How many values hide each other, at least 2: one number, or one for each sensitive column by name. Where these
        differ, a value of a column has at most 1/l of each class for its own l, and may occur more than once.
    selection
        ``near``: records that lie near each other, wherever their value allows it. ``paper``: the published greedy,
        which takes from the l largest buckets only; slower (it grows with the square of the rows) and at greater
        loss.
    effort
        How many moves each record gets once classes are formed, 150 unless you say so: two records of near classes
        change places if that lowers the loss, and at first sometimes if it does not (``near`` only). 0: none.
    overflow
        What to do when records cannot be placed, mostly because one value has more than 1/l of them: ``refuse``, or
        ``suppress`` as few of them as possible.
    weights
        How much the loss of each quasi-identifier counts; 1 for those that are not named.
    gap
        For columns of numbers, by name: two numbers that are closer do not count as different, so that of each class an
        interval shorter than the gap has at most 1/l. Classes are then formed by cuts, while both sides keep that.
    swaps
        The former name of `effort`: each pass counts as 50 moves a record.

    Notes
    -----
    In parts: if no value has more than 1/l of a part, its n records form n // l classes, so at most one class per part
    is missing altogether. With several sensitive columns, or several rows of a person, a part may leave records that
    cannot be placed, as a whole table may; it is then joined to the one beside it, or they are suppressed.

    References
    ----------
    Ye, Deng, Wang, Lv, Liu, Feng: BSGI, an effective algorithm towards stronger l-diversity.

    Examples
    --------
    >>> BSGI(l=4).promises(Domain(("flu", "cold", "cut", "sty", "gout")))
    (UniqueDiversity(l=4),)
    """

    name: ClassVar[str] = "bsgi"
    strength: ClassVar[str | None] = "l"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "generalized"
    parts: ClassVar[Literal["near", "random", "alike"] | None] = "near"

    l: ColumnLevels
    selection: str = "near"
    effort: int | None = None
    overflow: str = "refuse"
    weights: Mapping[str, float] | None = None
    gap: Gaps | None = None
    swaps: int | None = None

    def __post_init__(self) -> None:
        check_levels("BSGI", self.l)
        check_gaps("BSGI", self.gap)
        check_choice("BSGI", "selection", self.selection, ("near", "paper"))
        check_choice("BSGI", "overflow", self.overflow, ("refuse", "suppress"))
        object.__setattr__(self, "effort", given_effort(self.effort, self.swaps))
        object.__setattr__(self, "swaps", None)
        if self.selection == "paper" and (self.effort or self.gap):
            name, value = ("effort", self.effort) if self.effort else ("gap", dict(self.gap or {}))
            rule = say(
                "must be 0 with {}" if self.effort else "must be left out with {}", Setting("selection", "paper")
            )
            raise ParameterError("BSGI", name, rule, got=value, hint="Leave selection out.")
        for column, weight in (self.weights or {}).items():
            check_number("BSGI", f"weight of {column!r}", weight, minimum=0)

    @property
    def moves(self) -> int:
        """How many moves each record gets: the effort, or what it is where none was given.

        Examples
        --------
        >>> BSGI(l=4).moves, BSGI(l=4, effort=20).moves, BSGI(l=4, selection="paper").moves
        (150, 20, 0)
        """
        usual = 0 if self.selection == "paper" else USUAL_EFFORT
        return usual if self.effort is None else self.effort

    def plan_notes(self, n_rows: int) -> tuple[str, ...]:
        """What the effort costs, and what more or less of it would buy.

        Examples
        --------
        >>> BSGI(l=4, effort=0).plan_notes(1000)[0].partition(":")[0]
        'No record changes places once classes are formed (effort 0)'
        """
        return () if self.selection == "paper" else effort_notes(self.moves, n_rows)

    def parameters(self) -> dict[str, Json]:
        """The public parameters in JSON's types; the effort even where it is the usual one."""
        return {**super().parameters(), "effort": self.moves}

    @staticmethod
    def suggest_l(counts: Sequence[int] | NDArray[np.int64]) -> int:
        """The paper's choice of l for a column whose values occur so often: ``max(2, n // n_1)`` (Corollary 3).

        The greatest `l` that every value allows, unless one has more than half of the records: then no `l` is
        feasible without suppression, and 2 is returned all the same.

        Examples
        --------
        >>> BSGI.suggest_l([4, 3, 3, 2])
        3
        """
        known = np.asarray(counts, dtype=np.int64)
        most = int(known.max(initial=0))
        return max(_LEAST_L, int(known.sum()) // most) if most else _LEAST_L

    def promises(self, domain: Domain) -> tuple[PrivacyModel, ...]:  # noqa: ARG002 - the same for every domain
        """At least l records, all with different values; where columns have levels of their own, the least of these."""
        l = min(self.l.values()) if isinstance(self.l, Mapping) else self.l
        return (FrequencyDiversity(l) if self._repeats else UniqueDiversity(l),)

    def promises_of(self, column: str, domain: Domain) -> tuple[PrivacyModel, ...]:
        """What holds for the column's own l and gap."""
        l = self.l.get(column) if isinstance(self.l, Mapping) else self.l
        if l is None:
            return self.promises(domain)
        gap = (self.gap or {}).get(column)
        if gap is not None:
            return (GapDiversity(l, gap),)
        return (FrequencyDiversity(l) if self._repeats else UniqueDiversity(l),)

    @property
    def _repeats(self) -> bool:
        """Whether a class may have a value more than once."""
        return differ(self.l) or bool(self.gap)

    def check_names(self, sensitive: Sequence[str]) -> None:
        """Refuse levels and gaps of other columns."""
        levels_of("BSGI", self.l, sensitive)
        check_gap_names("BSGI", self.gap, sensitive)

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse a value with more than 1/l of the records, unless some are left out."""
        if self.overflow == "refuse":
            self._check_columns(columns)

    def feasible(self, part: PartCounts) -> bool:
        """As for every method; where columns have levels of their own and records may be left out, what is needed."""
        plain = not isinstance(self.l, Mapping) and not self.gap
        if plain or self.overflow == "refuse" or part.n_rows == 0:
            return super().feasible(part)
        names = part.names or ("",) * len(part.values)
        for name, l, own, population in zip(
            names, levels_of("BSGI", self.l, names), part.values, part.populations, strict=True
        ):
            gap = (self.gap or {}).get(name)
            line = None if gap is None else Line.of("BSGI", name, population.domain, gap)
            if (np.count_nonzero(own) if line is None else line.n_apart(own)) < l:
                return False
        return True

    def part_rule(self, n_sensitive: int) -> PartRule:
        """With a gap, parts as they are."""
        return PartRule(None) if self.gap else super().part_rule(n_sensitive)

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
        """Form the classes.

        Raises
        ------
        InfeasibleError
            When a value (or a person) has more than 1/l of the records, or records of several keys cannot be placed.
        """
        names = [column.name for column in table.sensitive]
        levels = levels_of("BSGI", self.l, names)
        if self.gap:
            partition = self._form_apart(table, levels, run)
            return Grouping((partition,), facts=self._facts(partition))
        space = make_space("BSGI", table, self.weights)
        size = self._size(table, levels)
        keys = make_keys(table, [size // l for l in levels])
        partition, lost = self._form(table, space, keys, levels, size, run)
        if lost and self.overflow == "refuse":
            raise unplaced(keys, lost, size, shared=differ(self.l), moved=self.moves > 0)
        run.progress(1.0, "grouping")
        return Grouping((partition,), facts=self._facts(partition))

    def _form_apart(self, table: CodedTable, levels: tuple[int, ...], run: GroupingRun) -> Partition:
        """Classes in which numbers are apart."""
        self.check_names([column.name for column in table.sensitive])
        lines = [self._line(column) for column in table.sensitive]
        rules = [Rules(self.promises_of(column.name, column.domain)) for column in table.sensitive]
        rows = np.arange(table.n_rows)
        if self.overflow == "suppress":
            rows = keep_apart(table.sensitive, lines, levels)
        if self.overflow == "refuse" or not len(rows):
            self._check_columns(table.sensitive)
        if table.n_rows and not len(rows):
            raise InfeasibleError(
                "BSGI", "each sensitive column allows its l and gap alone, but no record can be kept for all of them"
            ).with_hint("Use a smaller l or gap for one of them.")
        check_people("BSGI", table.only(rows), max(levels), overflow=self.overflow)
        kept = table.only(rows)
        found = group_apart(kept, rules, lines, levels, self.weights, run)
        space = make_space("BSGI", kept, self.weights)
        found = anneal(space, Valid.by_shares(kept, lines, levels), found, self.moves, run)
        class_of = np.full(table.n_rows, -1, dtype=np.int32)
        class_of[rows] = found.class_of
        return Partition(class_of, found.n_classes)

    def _line(self, column: SensitiveColumn) -> Line | None:
        gap = (self.gap or {}).get(column.name)
        return None if gap is None else Line.of("BSGI", column.name, column.domain, gap)

    def _size(self, table: CodedTable, levels: tuple[int, ...]) -> int:
        """How many records classes have: l, or where columns have levels of their own, what keeps them all."""
        if not differ(self.l):
            return levels[0]
        if self.overflow == "suppress":
            first = thriftiest_size([column.counts for column in table.sensitive], levels)
            # Columns that must each lose records may leave none together; other sizes leave them more room.
            for tried in (first, lcm(*levels), 2 * lcm(*levels)):
                keys = make_keys(table, [tried // l for l in levels])
                if len(keep_eligible(keys.codes, keys.sizes, np.arange(table.n_rows, dtype=np.int32), tried)):
                    return tried
            return first
        self._check_columns(table.sensitive)
        people = 1 if table.several is None else int(np.bincount(table.several).max())
        size = smallest_size(table.n_rows, [int(column.counts.max()) for column in table.sensitive], levels, people)
        if size is None:
            check_people("BSGI", table, max(levels))
            raise unplaced(make_keys(table), people, max(levels), shared=differ(self.l))
        return size

    def _form(
        self, table: CodedTable, space: Space, keys: Keys, levels: tuple[int, ...], l: int, run: GroupingRun
    ) -> tuple[Partition, int]:
        """Classes of `l` records that differ in all keys, and how many records found no place."""
        rows = np.arange(table.n_rows, dtype=np.int32)
        if self.overflow == "suppress":
            rows = keep_eligible(keys.codes, keys.sizes, rows, l)
            if table.n_rows and not len(rows):
                if differ(self.l):
                    self._check_columns(table.sensitive)
                raise none_left(keys, l, shared=differ(self.l))
        elif not differ(self.l):
            check_most(
                {
                    f"one {'value' if key < keys.n_sensitive else 'person'} of {name}": keys.counts(key)
                    for key, name in enumerate(keys.names)
                },
                l,
            )
        kept = np.zeros(table.n_rows, dtype=np.bool_)
        kept[rows] = True
        if len(rows):
            class_of, n_classes = self._select(space, keys, rows, l, run)
            # Before the others join, so that each of them joins the best of the classes that there will be.
            class_of = anneal(space, Valid.by_keys(keys), Partition(class_of, n_classes), self.moves, run).class_of
        else:
            class_of, n_classes = np.full(table.n_rows, -1, dtype=np.int32), 0
        if differ(self.l):
            partition = place_by_shares(space.points, table, levels, Partition(class_of, n_classes), kept)
        elif len(rows):
            partition = Partition(*place_left_over(space, keys, class_of, n_classes, kept, l))
        else:
            partition = Partition(class_of, n_classes)
        lost = int(np.count_nonzero(kept & (partition.class_of < 0)))
        if lost and keys.n_sensitive == 1 and table.several is not None:
            # With one value and one person per record there is always a way; see `divide_rest`.
            return self._divide_lost(keys, partition, kept, l), 0
        return partition, lost

    def _select(
        self, space: Space, keys: Keys, rows: NDArray[np.int32], l: int, run: GroupingRun
    ) -> tuple[CodeArray, int]:
        if self.selection == "paper":
            return group_paper(space, keys, rows, l, run)
        return group_near(space, keys, rows, l, run)

    def _divide_lost(self, keys: Keys, partition: Partition, kept: BoolArray, l: int) -> Partition:
        rows = np.flatnonzero(kept)
        codes = keys.codes[rows]
        own = Partition(partition.class_of[rows], partition.n_classes)
        found, _ = divide_rest(own, codes[:, 0], int(keys.sizes[0]), codes[:, 1].astype(np.int64), l)
        class_of = np.full(len(kept), -1, dtype=np.int32)
        class_of[rows] = found.class_of
        return Partition(class_of, found.n_classes)

    def join_facts(self, parts: Sequence[PartFacts]) -> dict[str, Json]:
        """The classes of all parts, and all records that are left out."""
        left_out = sum(part.n_rows - part.n_published for part in parts)
        return {"classes": sum(part.n_classes[0] for part in parts), "suppressed": left_out}

    @staticmethod
    def _facts(partition: Partition) -> dict[str, Json]:
        return {"classes": partition.n_classes, "suppressed": partition.suppressed}

    def _check_columns(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse a value with more than 1/l of the records, for the l of its column."""
        if not isinstance(self.l, Mapping) and not self.gap:
            by_name = {f"one value of {column.name!r}": column.population.counts for column in columns}
            check_most(by_name, self.l)
            return
        levels = levels_of("BSGI", self.l, [column.name for column in columns])
        for column, l in zip(columns, levels, strict=True):
            # Parts are judged by their own rows, and columns without rows by those of the whole table.
            counts = column.counts if len(column.codes) else column.population.counts
            setting, line = changed_level(self.l, column.name), self._line(column)
            if line is not None:
                gap = (self.gap or {})[column.name]
                check_line("BSGI", column.name, line, counts, l, gap, overflow=self.overflow, setting=setting)
                continue
            check_shares("BSGI", column.name, counts, l, overflow=self.overflow, setting=setting)
