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
    check_levels,
    differ,
    in_slots,
    levels_of,
    thriftiest_size,
)
from ldiversity.methods._llmsu_merge import merge_levels
from ldiversity.methods._mbf_classes import Cells, best_of, check_columns, describe, has_levels
from ldiversity.methods._part_facts import PartFacts
from ldiversity.methods._parts_rule import PartCounts, PartRule
from ldiversity.methods._people import check_people
from ldiversity.models import FrequencyDiversity, PrivacyModel, UniqueDiversity
from ldiversity.release import SEPARATE_CLASSES
from ldiversity.schema import Domain

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
    parts: ClassVar[Literal["near", "random", "alike"] | None] = "random"

    l: ColumnLevels
    merge: bool = False
    joint: bool = True

    def __post_init__(self) -> None:
        check_levels("LLMSU", self.l)
        for name in ("merge", "joint"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError("LLMSU", name, "must be True or False", got=repr(getattr(self, name)))

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
        check_columns("LLMSU", table.sensitive, [np.bincount(codes) for codes in columns], self.l)
        check_people("LLMSU", table, max(own), overflow="suppress")
        if self.joint or len(columns) == 1:
            grouping = describe(self._divide(columns, own, table.several, run), max(own))
        else:
            grouping = self._separately(columns, own, table, run)
        if not self.merge:
            return grouping
        return replace(grouping, of_values={"levels": levels})

    def n_partitions(self, n_sensitive: int) -> int:
        """One, or one for each column in separate mode."""
        return 1 if self.joint else n_sensitive

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse columns with fewer than l levels."""
        levels = levels_of("LLMSU", self.l, [column.name for column in columns])
        counts = [
            np.bincount(self._levels(column.population.counts, l), column.population.counts).astype(np.int64)
            for column, l in zip(columns, levels, strict=True)
        ]
        check_columns("LLMSU", columns, counts, self.l)

    def check_names(self, sensitive: Sequence[str]) -> None:
        """Refuse levels of other columns."""
        levels_of("LLMSU", self.l, sensitive)

    def join_facts(self, parts: Sequence[PartFacts]) -> dict[str, Json]:
        """The losses of all parts together."""
        return join_losses(parts, self._largest)

    def promises(self, domain: Domain) -> tuple[PrivacyModel, ...]:  # noqa: ARG002 - the same for every domain
        """At least l records, all with different values; where columns have levels of their own, the least of these.

        Values of different levels, into which they were merged, differ.
        """
        return (self._promise(min(self.l.values()) if isinstance(self.l, Mapping) else self.l),)

    def promises_of(self, column: str, domain: Domain) -> tuple[PrivacyModel, ...]:
        """What holds for the column's own l."""
        if not isinstance(self.l, Mapping) or column not in self.l:
            return self.promises(domain)
        return (self._promise(self.l[column]),)

    def part_rule(self, n_sensitive: int) -> PartRule:
        """One column: eligible parts of what is not hidden. Several: parts as they are."""
        return PartRule(self._largest, leave_out=True) if n_sensitive == 1 else PartRule(None)

    def part_levels(self, domain: Domain, counts: NDArray[np.int64]) -> CodeArray:  # noqa: ARG002 - counts decide
        """Shape (F,): the level of each value."""
        return self._levels(counts, self._largest)

    def feasible(self, part: PartCounts) -> bool:
        """Whether every column has l levels, and there are l people."""
        return super().feasible(part) if len(part.values) == 1 else has_levels(self, part, self.l)

    @property
    def _largest(self) -> int:
        return max(self.l.values()) if isinstance(self.l, Mapping) else self.l

    def _promise(self, l: int) -> PrivacyModel:
        return FrequencyDiversity(l) if self.joint and differ(self.l) else UniqueDiversity(l)

    def _levels(self, counts: NDArray[np.int64], l: int) -> CodeArray:
        return merge_levels(counts, l) if self.merge else np.arange(len(counts), dtype=np.int32)

    def _divide(
        self, columns: list[CodeArray], levels: Sequence[int], person: NDArray[np.int64] | None, run: GroupingRun
    ) -> Partition:
        """One partition, distinct on all columns; or, where their levels differ, on the slots of their values."""
        if len(columns) == 1:
            found = divide(columns[0], int(columns[0].max(initial=0)) + 1, levels[0], person)
            if person is None or not found.suppressed:
                return found
            # Where people have too many rows, fewer may be hidden cell by cell.
            by_cells = best_of("LLMSU", [Cells.of(columns, person)], levels[0], POWERS, run)
            return found if found.suppressed <= by_cells.suppressed else by_cells
        grids = [columns]
        if not self.merge:
            merged = [merge_levels(np.bincount(codes), l)[codes] for codes, l in zip(columns, levels, strict=True)]
            grids.append(merged)
        size = thriftiest_size([np.bincount(codes).astype(np.int64) for codes in columns], levels)
        slots = [[in_slots(codes, size // l) for codes, l in zip(grid, levels, strict=True)] for grid in grids]
        return best_of("LLMSU", [Cells.of(grid, person) for grid in slots], size, POWERS, run)

    def _separately(
        self, columns: list[CodeArray], levels: Sequence[int], table: CodedTable, run: GroupingRun
    ) -> Grouping:
        """One partition for each column, all of the same rows.

        A record that is hidden for one column has one of its most frequent values there: published with its other
        classes it would give that value away. So it is hidden for all, and the columns are divided again without it.
        """
        rows = np.arange(table.n_rows)
        alone: list[dict[str, Json]] = []
        while True:
            person = None if table.several is None else table.several[rows]
            found = [self._divide([codes[rows]], [l], person, run) for codes, l in zip(columns, levels, strict=True)]
            alone = alone or [losses(partition, l) for partition, l in zip(found, levels, strict=True)]
            kept = np.all([partition.class_of >= 0 for partition in found], axis=0)
            if kept.all():
                break
            rows = rows[kept]
            check_columns("LLMSU", table.sensitive, [np.bincount(codes[rows]) for codes in columns], self.l)
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
