"""Anatomy: exact quasi-identifiers in one table, the values of each class in another (Xiao and Tao, 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ldiversity.base.arrays import Json
from ldiversity.base.checks import check_choice, check_integer
from ldiversity.methods._anatomy_classes import check_shares, divide, join_losses, losses, only_column
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._part_facts import PartFacts
from ldiversity.methods._people import check_people
from ldiversity.models import UniqueDiversity
from ldiversity.schema import Domain

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

    Notes
    -----
    One record is taken from each of the l most frequent values, again and again. With n records, none of whose values
    has more than n/l, this gives floor(n/l) classes of l and leaves fewer than l records, all with different values;
    each of them joins a class without its value, which exists because its value has at most floor(n/l) records. So the
    values of a class never repeat. O(n log F) for F values.

    Where a person has several rows, classes then exchange rows until none holds two of one person. This always works
    if nobody has more than floor(n/l) rows; otherwise it is refused, or rows of that person are suppressed.

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

    def __post_init__(self) -> None:
        check_integer("Anatomy", "l", self.l, minimum=2)
        check_choice("Anatomy", "overflow", self.overflow, ("refuse", "suppress"))

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:  # noqa: ARG002 - one pass, in one thread
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
        check_shares("Anatomy", column.name, column.counts, self.l, overflow=self.overflow)
        check_people("Anatomy", table, self.l, overflow=self.overflow)
        partition = divide(column.codes, len(column.domain), self.l, table.several)
        return Grouping((partition,), facts=losses(partition, self.l))

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse a value with more than 1/l of the records, unless some are left out."""
        column = only_column("Anatomy", columns)
        check_shares("Anatomy", column.name, column.population.counts, self.l, overflow=self.overflow)

    def join_facts(self, parts: Sequence[PartFacts]) -> dict[str, Json]:
        """The losses of all parts together."""
        return join_losses(parts, self.l)

    def promises(self, domain: Domain) -> tuple[UniqueDiversity]:  # noqa: ARG002 - the same for every domain
        """At least l records in every class, all with different values."""
        return (UniqueDiversity(self.l),)
