"""MBF: classes from the fullest cells of a grid of several sensitive columns (Yang, Wang, Wang and Yu, 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ldiversity.base.arrays import Json
from ldiversity.base.checks import check_integer
from ldiversity.methods._anatomy_classes import join_losses
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._mbf_classes import Cells, best_of, check_columns, describe, has_levels
from ldiversity.methods._part_facts import PartFacts
from ldiversity.methods._parts_rule import PartCounts, PartRule
from ldiversity.methods._people import check_people
from ldiversity.models import UniqueDiversity
from ldiversity.schema import Domain

__all__ = ["MBF"]


@dataclass(frozen=True)
class MBF(GroupingMethod):
    """Classes of `l` records that differ in every sensitive column, the fullest cells of their grid first.

    Stops an attacker who finds a person in the table from naming any of the values with more certainty than 1/l.
    Records that fit nowhere are hidden. It is here for comparison: `LLMSU` hides fewer.

    Parameters
    ----------
    l
        Least number of records in a class.

    Notes
    -----
    A cell holds the records that agree on all sensitive columns. One record is taken from the fullest cell that shares
    no value with those already taken, until l are taken. A cell that cannot begin a class is set aside and the next
    fullest is tried. Records that are left join classes none of whose values they repeat.

    In parts: with one column the hidden records are decided by the counts of the whole table. With several, each part
    hides what fits nowhere in it; a part needs l values of each column.

    References
    ----------
    Yang, Wang, Wang and Yu, Privacy preserving approaches for multiple sensitive attributes in data publishing, 2008:
    multi-dimensional bucket, maximal bucket first.

    Examples
    --------
    >>> import numpy as np
    >>> from ldiversity.methods import SensitiveColumn
    >>> job = SensitiveColumn("job", np.array([0, 0, 1, 1], dtype=np.int32), Domain(("baker", "smith")))
    >>> disease = SensitiveColumn("disease", np.array([0, 1, 0, 1], dtype=np.int32), Domain(("flu", "cut")))
    >>> MBF(l=2).group(CodedTable((), (job, disease)), GroupingRun()).partitions[0].class_of.tolist()
    [0, 1, 1, 0]
    """

    name: ClassVar[str] = "mbf"
    strength: ClassVar[str | None] = "l"
    for_comparison: ClassVar[bool] = True
    layout: ClassVar[Literal["generalized", "bucketized"]] = "bucketized"
    blind: ClassVar[bool] = True
    leaves_out: ClassVar[bool] = True
    parts: ClassVar[Literal["near", "random", "alike"] | None] = "random"

    l: int

    def __post_init__(self) -> None:
        check_integer("MBF", "l", self.l, minimum=2)

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
        """Divide the rows into classes that differ in every sensitive column, and hide the rest.

        Raises
        ------
        InfeasibleError
            When no class can be formed.
        """
        columns = [column.codes for column in table.sensitive]
        check_columns("MBF", table.sensitive, [column.counts for column in table.sensitive], self.l)
        check_people("MBF", table, self.l, overflow="suppress")
        partition = best_of("MBF", [Cells.of(columns, table.several)], self.l, (0.0,), run)
        return describe(partition, self.l)

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse columns with fewer than l values."""
        check_columns("MBF", columns, [column.population.counts for column in columns], self.l)

    def join_facts(self, parts: Sequence[PartFacts]) -> dict[str, Json]:
        """The losses of all parts together."""
        return join_losses(parts, self.l)

    def part_rule(self, n_sensitive: int) -> PartRule:
        """One column: eligible parts of what is not hidden. Several: parts as they are."""
        return PartRule(self.l, leave_out=True) if n_sensitive == 1 else PartRule(None)

    def feasible(self, part: PartCounts) -> bool:
        """Whether every column has l values, and there are l people."""
        return super().feasible(part) if len(part.values) == 1 else has_levels(self, part, self.l)

    def promises(self, domain: Domain) -> tuple[UniqueDiversity]:  # noqa: ARG002 - the same for every domain
        """At least l records in every class, all with different values."""
        return (UniqueDiversity(self.l),)
