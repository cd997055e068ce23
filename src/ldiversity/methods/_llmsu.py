"""L-LMSU: classes of L different levels of every sensitive column (Cui, Yang, Meng and Xie)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, Json
from ldiversity.errors import ParameterError
from ldiversity.methods._anatomy_classes import divide, join_losses, losses
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun, Partition
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._column_levels import (
    ColumnLevels,
    changed_level,
    check_levels,
    differ,
    in_slots,
    levels_of,
    thriftiest_size,
)
from ldiversity.methods._gaps import Gaps, Line, check_gap_names, check_gaps, check_line, divide_line, on_line
from ldiversity.methods._llmsu_merge import merge_levels
from ldiversity.methods._mbf_classes import Cells, best_of, check_columns, describe, has_levels
from ldiversity.methods._part_facts import PartFacts
from ldiversity.methods._parts_rule import PartCounts, PartRule
from ldiversity.methods._people import check_people
from ldiversity.models import FrequencyDiversity, GapDiversity, PrivacyModel, UniqueDiversity
from ldiversity.release import SEPARATE_CLASSES
from ldiversity.schema import Domain
from ldiversity.sentences import Parameter, say

__all__ = ["LLMSU", "POWERS"]

POWERS: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 16.0)
"""Ways to choose cells that are tried for several columns; the first is MBF's."""


@dataclass(frozen=True)
class LLMSU(GroupingMethod):
    """Classes of at least `l` records that differ in every sensitive column; what fits into none is hidden.

    Stops an attacker who finds a person in the table from naming any of the values with more certainty than 1/l.

    Parameters
    ----------
    l
        Least number of records in a class (the paper's L): one number, or one for each sensitive column by name, as in
        (l_1, ..., l_d)-uniqueness, on which the paper builds. Where these differ, a value of a column has at most 1/l
        of each class for its own l, and may occur more than once.
    merge
        Merge rare values into levels first, as published, and let levels differ rather than values. It never hides
        fewer records than without, because classes of different levels are classes of different values.
    joint
        One partition for all sensitive columns. False is the paper's separate mode, a partition for each of
        them, which breaks the claim for an attacker who knows how the columns go together: for comparison only.
    gap
        For columns of numbers, by name: two numbers that are closer do not count as different, so that of each class an
        interval shorter than the gap has at most 1/l.

    Notes
    -----
    One column: the largest number of classes is k, the largest number with ``sum(min(n_s, k)) >= k * l``, and
    ``max(0, n_s - k)`` records of each value s are hidden: no method can hide fewer. O(n log F). Where a person has
    several rows, these are kept apart, and more are hidden only if somebody has more than k.

    Several columns: records are taken from the cells of their grid. A cell is worth its number of records times
    ``(1 - share) ** power`` for each of its values, so that records which rule many others out do not use up the few
    that fit beside them; of several powers (power 0 is MBF), with and without merged levels, the one that hides the
    fewest records is kept. So no more are hidden than by MBF, or by merging.

    In parts: levels are merged by the counts of the whole table. With one column the hidden records are decided by them
    too, so no more are hidden than in one piece. With several, and in separate mode, each part hides what fits nowhere
    in it; a part needs l levels of each column.

    Several levels: classes have at least S records, and a value of a column at most ``S // l`` of them. S is the size
    at which the columns, one by one, hide the fewest records in sum.

    Numbers with a gap: one column is dealt to classes in ascending order, which hides the fewest records that any
    division could; see `methods/_gaps.py`. With several columns, a number rules out all that are closer than the gap.

    Hide loss is hidden / n; additional loss is the sum of (size - l) over the classes / (classes * l).

    References
    ----------
    Cui, Yang, Meng and Xie, A privacy protection algorithm based on hierarchical multiple sensitive attributes allowed
    by least mean square criterion.

    Examples
    --------
    >>> from ldiversity.methods import SensitiveColumn
    >>> table_1 = np.array([5, 5, 4, 4, 3, 2, 1, 0], dtype=np.int32)
    >>> countries = SensitiveColumn("country", table_1, Domain(tuple("bcfhja")))
    >>> LLMSU(l=4).group(CodedTable((), (countries,)), GroupingRun()).facts["hide_loss"]
    0.0
    """

    name: ClassVar[str] = "llmsu"
    strength: ClassVar[str | None] = "l"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "bucketized"
    blind: ClassVar[bool] = True
    leaves_out: ClassVar[bool] = True
    parts: ClassVar[Literal["near", "random", "alike"] | None] = "random"

    l: ColumnLevels
    merge: bool = False
    joint: bool = True
    gap: Gaps | None = None

    def __post_init__(self) -> None:
        check_levels("LLMSU", self.l)
        check_gaps("LLMSU", self.gap)
        for name in ("merge", "joint"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError("LLMSU", name, "must be True or False", got=repr(getattr(self, name)))
        if self.merge and self.gap:
            rule = say("must be False with {}", Parameter("gap"))
            raise ParameterError("LLMSU", "merge", rule, got="True", hint="Numbers of a level need not be apart.")

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
        """Divide the rows into classes that differ in every sensitive column, and hide the rest.

        Raises
        ------
        InfeasibleError
            When no class can be formed.
        """
        own = levels_of("LLMSU", self.l, [column.name for column in table.sensitive])
        levels = {
            column.name: self._levels(column.population.counts, l)
            for column, l in zip(table.sensitive, own, strict=True)
        }
        columns = [levels[column.name][column.codes] for column in table.sensitive]
        self.check_names([column.name for column in table.sensitive])
        lines = [self._line(column) for column in table.sensitive]
        self._check(table.sensitive, [column.counts for column in table.sensitive])
        check_people("LLMSU", table, max(own), overflow="suppress")
        if self.joint or len(columns) == 1:
            grouping = describe(self._divide(columns, lines, own, table.several, run), max(own))
        else:
            grouping = self._separately(columns, lines, own, table, run)
        if not self.merge:
            return grouping
        return replace(grouping, of_values={"levels": levels})

    def n_partitions(self, n_sensitive: int) -> int:
        """One, or one for each column in separate mode."""
        return 1 if self.joint else n_sensitive

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse columns with fewer than l levels."""
        self._check(columns, [column.population.counts for column in columns])

    def _check(self, columns: Sequence[SensitiveColumn], counts: Sequence[NDArray[np.int64]]) -> None:
        levels = levels_of("LLMSU", self.l, [column.name for column in columns])
        by_level = [
            np.bincount(self._levels(column.population.counts, l), own).astype(np.int64)
            for column, own, l in zip(columns, counts, levels, strict=True)
        ]
        check_columns("LLMSU", columns, by_level, self.l)
        for column, own, l in zip(columns, counts, levels, strict=True):
            line = self._line(column)
            if line is not None:
                gap = (self.gap or {})[column.name]
                setting = changed_level(self.l, column.name)
                check_line("LLMSU", column.name, line, own, l, gap, overflow="suppress", setting=setting)

    def check_names(self, sensitive: Sequence[str]) -> None:
        """Refuse levels and gaps of other columns."""
        levels_of("LLMSU", self.l, sensitive)
        check_gap_names("LLMSU", self.gap, sensitive)

    def join_facts(self, parts: Sequence[PartFacts]) -> dict[str, Json]:
        """The losses of all parts together."""
        return join_losses(parts, self._largest)

    def promises(self, domain: Domain) -> tuple[PrivacyModel, ...]:  # noqa: ARG002 - the same for every domain
        """At least l records, all with different values; where columns have levels of their own, the least of these.

        Values of different levels, into which they were merged, differ.
        """
        return (self._promise(min(self.l.values()) if isinstance(self.l, Mapping) else self.l),)

    def promises_of(self, column: str, domain: Domain) -> tuple[PrivacyModel, ...]:  # noqa: ARG002 - the same for all
        """What holds for the column's own l and gap."""
        own = self.l if not isinstance(self.l, Mapping) else self.l.get(column, min(self.l.values()))
        gap = (self.gap or {}).get(column)
        return (self._promise(own) if gap is None else GapDiversity(own, gap),)

    def part_rule(self, n_sensitive: int) -> PartRule:
        """One column: eligible parts of what is not hidden. Several: parts as they are."""
        one = n_sensitive == 1 and not self.gap
        return PartRule(self._largest, leave_out=True) if one else PartRule(None)

    def part_levels(self, domain: Domain, counts: NDArray[np.int64]) -> CodeArray:  # noqa: ARG002 - counts decide
        """Shape (F,): the level of each value."""
        return self._levels(counts, self._largest)

    def feasible(self, part: PartCounts) -> bool:
        """Whether every column has l levels, and there are l people."""
        if len(part.values) == 1 and not self.gap:
            return super().feasible(part)
        if part.n_rows == 0 or not has_levels(self, part, self.l):
            return part.n_rows == 0
        levels = levels_of("LLMSU", self.l, part.names or ("",) * len(part.values))
        for name, population, counts, l in zip(part.names, part.populations, part.values, levels, strict=False):
            gap = (self.gap or {}).get(name)
            if gap is not None and Line.of("LLMSU", name, population.domain, gap).n_apart(counts) < l:
                return False
        return True

    @property
    def _largest(self) -> int:
        return max(self.l.values()) if isinstance(self.l, Mapping) else self.l

    def _promise(self, l: int) -> PrivacyModel:
        repeats = self.joint and differ(self.l)
        return FrequencyDiversity(l) if repeats else UniqueDiversity(l)

    def _line(self, column: SensitiveColumn) -> Line | None:
        gap = (self.gap or {}).get(column.name)
        return None if gap is None else Line.of("LLMSU", column.name, column.domain, gap)

    def _levels(self, counts: NDArray[np.int64], l: int) -> CodeArray:
        return merge_levels(counts, l) if self.merge else np.arange(len(counts), dtype=np.int32)

    def _divide(
        self,
        columns: list[CodeArray],
        lines: Sequence[Line | None],
        levels: Sequence[int],
        person: NDArray[np.int64] | None,
        run: GroupingRun,
    ) -> Partition:
        """One partition, distinct on all columns; or, where their levels differ, on the slots of their values."""
        if len(columns) == 1:
            return self._divide_one(columns[0], lines[0], levels[0], person, run)
        grids = [columns]
        if not self.merge and not self.gap:
            merged = [merge_levels(np.bincount(codes), l)[codes] for codes, l in zip(columns, levels, strict=True)]
            grids.append(merged)
        counts = [np.bincount(codes).astype(np.int64) for codes in columns]
        judged = [
            own if line is None else line.blocks(np.bincount(codes, minlength=len(line.rank)))
            for own, codes, line in zip(counts, columns, lines, strict=True)
        ]
        size = thriftiest_size(judged, levels)
        slots = [[size // l for l in levels] for _ in grids]
        cells = [_cells(grid, lines, own, person) for grid, own in zip(grids, slots, strict=True)]
        return best_of("LLMSU", cells, size, POWERS, run)

    @staticmethod
    def _divide_one(
        codes: CodeArray, line: Line | None, l: int, person: NDArray[np.int64] | None, run: GroupingRun
    ) -> Partition:
        if line is None:
            found = divide(codes, int(codes.max(initial=0)) + 1, l, person)
            if person is None or not found.suppressed:
                return found
        elif person is None:
            return divide_line(codes, line, l)
        # Where people have too many rows, fewer may be hidden cell by cell.
        by_cells = best_of("LLMSU", [_cells([codes], [line], [1], person)], l, POWERS, run)
        return by_cells if line is not None or by_cells.suppressed < found.suppressed else found

    def _separately(
        self,
        columns: list[CodeArray],
        lines: Sequence[Line | None],
        levels: Sequence[int],
        table: CodedTable,
        run: GroupingRun,
    ) -> Grouping:
        """One partition for each column, all of the same rows.

        A record that is hidden for one column has one of its most frequent values there: published with its other
        classes it would give that value away. So it is hidden for all, and the columns are divided again without it.
        """
        rows = np.arange(table.n_rows)
        alone: list[dict[str, Json]] = []
        while True:
            person = None if table.several is None else table.several[rows]
            found = [
                self._divide([codes[rows]], [line], [l], person, run)
                for codes, line, l in zip(columns, lines, levels, strict=True)
            ]
            alone = alone or [losses(partition, l) for partition, l in zip(found, levels, strict=True)]
            kept = np.all([partition.class_of >= 0 for partition in found], axis=0)
            if kept.all():
                break
            rows = rows[kept]
            self._check(
                table.sensitive,
                [np.bincount(column.codes[rows], minlength=len(column.domain)) for column in table.sensitive],
            )
        partitions = []
        for partition in found:
            class_of = np.full(table.n_rows, -1, dtype=np.int32)
            class_of[rows] = partition.class_of
            partitions.append(Partition(class_of, partition.n_classes))
        facts: dict[str, Json] = {
            "hidden": table.n_rows - len(rows),
            "hide_loss": 1 - len(rows) / table.n_rows,
            "additional_loss": float(
                np.mean([losses(part, l)["additional_loss"] for part, l in zip(partitions, levels, strict=True)])
            ),
        }
        # For the holder alone: it tells because of which column records are missing.
        notes = [
            f"{column.name!r} alone would have hidden {own['hidden']} of {table.n_rows} records."
            for column, own in zip(table.sensitive, alone, strict=True)
        ]
        return Grouping(tuple(partitions), facts=facts, notes=tuple(notes), warnings=(SEPARATE_CLASSES,))


def _cells(
    grid: Sequence[CodeArray],
    lines: Sequence[Line | None],
    slots: Sequence[int],
    person: NDArray[np.int64] | None,
) -> Cells:
    """The cells of a grid, whose columns have slots, and numbers that exclude those that are near."""
    columns: list[CodeArray] = []
    near: list[NDArray[np.int64] | None] = []
    for codes, line, n_slots in zip(grid, lines, slots, strict=True):
        if line is None:
            columns.append(in_slots(codes, n_slots))
            near.append(None)
        else:
            levels, first, last = on_line(codes, line, n_slots)
            columns.append(levels)
            near.append(np.column_stack([first, last]))
    return Cells.of(columns, person, near)
