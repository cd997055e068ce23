"""Anatomy: exact quasi-identifiers in one table, the values of each class in another (Xiao and Tao, 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import Json
from ldiversity.base.checks import check_choice, check_integer
from ldiversity.base.numbers import counted
from ldiversity.errors import InfeasibleError
from ldiversity.methods._anatomy_classes import check_shares, divide, join_losses, losses, only_column
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun, Partition
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._gaps import Gaps, Line, check_gap_names, check_gaps, check_line, divide_line, on_line
from ldiversity.methods._mbf_classes import Cells, best_of
from ldiversity.methods._part_facts import PartFacts
from ldiversity.methods._parts_rule import PartCounts, PartRule
from ldiversity.methods._people import check_people
from ldiversity.models import GapDiversity, PrivacyModel, UniqueDiversity
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say

__all__ = ["Anatomy"]


@dataclass(frozen=True)
class Anatomy(GroupingMethod):
    """Classes of `l` records with pairwise different values; quasi-identifiers are published as they are.

    Stops an attacker who finds a person in the table from naming the value with more certainty than 1/l. Does not
    hide that the person is in the table.

    Parameters
    ----------
    l
        Least number of different values in a class.
    overflow
        When one value has more than 1/l of the records: ``"refuse"``, or ``"suppress"`` as few records as possible.
    gap
        For a column of numbers, by its name: two that are closer do not count as different, so that the numbers of a
        class are pairwise at least this far apart.

    Notes
    -----
    One record is taken from each of the l most frequent values, again and again. With n records, none of whose values
    has more than n/l, this gives floor(n/l) classes of l and leaves fewer than l records, all with different values;
    each of them joins a class without its value, which exists because its value has at most floor(n/l) records. So the
    values of a class never repeat. O(n log F) for F values.

    Where a person has several rows, classes then exchange rows until none holds two of one person. This always works
    if nobody has more than floor(n/l) rows; otherwise it is refused, or rows of that person are suppressed.

    With a gap, records are dealt to the classes in ascending order; `methods/_gaps.py` proves that this works exactly
    when no interval shorter than the gap has more than 1/l of the records. Where a person has several rows, classes are
    formed from the fullest values that fit, as by MBF, and rows may find no place.

    In parts: which records share a part is pure chance, as it is for classes, so estimates stay unbiased. What must be
    suppressed is decided by the counts of the whole table.

    References
    ----------
    Xiao and Tao, Anatomy: simple and effective privacy preservation, VLDB 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from ldiversity.methods import SensitiveColumn
    >>> diseases = SensitiveColumn("disease", np.array([0, 0, 1, 2], dtype=np.int32), Domain(("flu", "cut", "sty")))
    >>> Anatomy(l=2).group(CodedTable((), (diseases,)), GroupingRun()).partitions[0].class_of.tolist()
    [0, 1, 0, 1]
    """

    name: ClassVar[str] = "anatomy"
    strength: ClassVar[str | None] = "l"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "bucketized"
    blind: ClassVar[bool] = True
    parts: ClassVar[Literal["near", "random", "alike"] | None] = "random"

    l: int
    overflow: Literal["refuse", "suppress"] = "refuse"
    gap: Gaps | None = None

    def __post_init__(self) -> None:
        check_integer("Anatomy", "l", self.l, minimum=2)
        check_choice("Anatomy", "overflow", self.overflow, ("refuse", "suppress"))
        check_gaps("Anatomy", self.gap)

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
        """Divide the rows into classes of l different values.

        Raises
        ------
        InfeasibleError
            When a value or a person has more than 1/l of the records and none may be suppressed, or there are fewer
            than l values or people.
        UnsupportedError
            When there are several sensitive columns.
        """
        column = only_column("Anatomy", table.sensitive)
        self.check_names([column.name])
        self._check(column, column.counts)
        check_people("Anatomy", table, self.l, overflow=self.overflow)
        if self.gap is None:
            partition = divide(column.codes, len(column.domain), self.l, table.several)
        elif table.several is None:
            partition = divide_line(column.codes, self._line(column), self.l)
        else:
            partition = self._divide_people(column, table.several, run)
        return Grouping((partition,), facts=losses(partition, self.l))

    def check_names(self, sensitive: Sequence[str]) -> None:
        """Refuse gaps of other columns."""
        check_gap_names("Anatomy", self.gap, sensitive)

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse a value with more than 1/l of the records, unless some are left out."""
        column = only_column("Anatomy", columns)
        self._check(column, column.population.counts)

    def join_facts(self, parts: Sequence[PartFacts]) -> dict[str, Json]:
        """The losses of all parts together."""
        return join_losses(parts, self.l)

    def promises(self, domain: Domain) -> tuple[PrivacyModel, ...]:  # noqa: ARG002 - the same for every domain
        """At least l records in every class, all with different values; with a gap, that far apart."""
        return (UniqueDiversity(self.l) if self.gap is None else GapDiversity(self.l, next(iter(self.gap.values()))),)

    def part_rule(self, n_sensitive: int) -> PartRule:
        """With a gap, parts as they are."""
        return super().part_rule(n_sensitive) if self.gap is None else PartRule(None)

    def feasible(self, part: PartCounts) -> bool:
        """With a gap, also whether l values are so far apart, where records may be left out."""
        if self.gap is None or self.overflow == "refuse" or part.n_rows == 0:
            return super().feasible(part)
        (population,), (counts,), gap = part.populations, part.values, next(iter(self.gap.values()))
        return Line.of("Anatomy", "", population.domain, gap).n_apart(counts) >= self.l

    def _line(self, column: SensitiveColumn) -> Line:
        return Line.of("Anatomy", column.name, column.domain, (self.gap or {})[column.name])

    def _check(self, column: SensitiveColumn, counts: NDArray[np.int64]) -> None:
        if self.gap is None:
            check_shares("Anatomy", column.name, counts, self.l, overflow=self.overflow)
        else:
            gap = self.gap[column.name]
            check_line("Anatomy", column.name, self._line(column), counts, self.l, gap, overflow=self.overflow)

    def _divide_people(self, column: SensitiveColumn, person: NDArray[np.int64], run: GroupingRun) -> Partition:
        """Rows of a person are apart, and numbers are."""
        levels, first, last = on_line(column.codes, self._line(column))
        cells = Cells.of([levels], person, [np.column_stack([first, last])])
        partition = best_of("Anatomy", [cells], self.l, (0.0, 1.0, 3.0), run)
        if partition.suppressed and self.overflow == "refuse":
            raise InfeasibleError(
                "Anatomy",
                f"{counted(partition.suppressed, 'record')} found no class of other people whose "
                f"{column.name!r} is far enough",
            ).with_hint(say("Use a smaller l or gap; {} leaves them out.", Setting("overflow", "suppress")))
        return partition
