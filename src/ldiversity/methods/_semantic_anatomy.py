"""(l, e)-Anatomy: Anatomy whose values also differ at depth e of a tree (Wang, Han, Wang and Wang, 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, Json
from ldiversity.base.checks import check_choice, check_integer
from ldiversity.errors import InfeasibleError, ParameterError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods._anatomy_classes import check_shares, divide, join_losses, losses, only_column
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._part_facts import PartFacts
from ldiversity.methods._people import check_people
from ldiversity.models import LevelUnique
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say

__all__ = ["SemanticAnatomy"]


@dataclass(frozen=True)
class SemanticAnatomy(GroupingMethod):
    """Classes of `l` records whose values have pairwise different ancestors at depth `e` of a tree.

    Anatomy accepts a class of three kinds of cancer; this method does not. Quasi-identifiers are published as they are.

    Parameters
    ----------
    l
        Least number of different ancestors in a class.
    e
        Depth at which they must differ, counted from the root: the root has depth 0, its children depth 1, and the
        values themselves the last one. The smaller e, the less alike the values of a class. In a tree with unequal
        branches a value stands for itself at the depths below its own.
    tree
        A hierarchy of the sensitive values, or the path of its file.
    overflow
        When one ancestor has more than 1/l of the records: ``"refuse"``, or ``"suppress"`` as few as possible.

    Notes
    -----
    In parts: no ancestor may have more than 1/l of a part; parts are random, as for Anatomy.

    References
    ----------
    Wang, Han, Wang and Wang, (l, e)-Diversity: a privacy preserving model to resist semantic similarity attack, 2014.

    Examples
    --------
    >>> tree = Hierarchy.from_rows([("flu", "lung"), ("cold", "lung"), ("cut", "skin"), ("burn", "skin")])
    >>> diseases = SensitiveColumn("disease", np.arange(4, dtype=np.int32), Domain(("flu", "cold", "cut", "burn")))
    >>> method = SemanticAnatomy(l=2, e=1, tree=tree)
    >>> method.group(CodedTable((), (diseases,)), GroupingRun()).partitions[0].class_of.tolist()
    [0, 1, 0, 1]
    """

    name: ClassVar[str] = "le-anatomy"
    strength: ClassVar[str | None] = "l"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "bucketized"
    blind: ClassVar[bool] = True
    parts: ClassVar[Literal["near", "random", "alike"] | None] = "random"

    l: int
    e: int
    tree: Hierarchy | str | PathLike[str]
    overflow: Literal["refuse", "suppress"] = "refuse"

    def __post_init__(self) -> None:
        check_integer("SemanticAnatomy", "l", self.l, minimum=2)
        check_integer("SemanticAnatomy", "e", self.e, minimum=1)
        check_choice("SemanticAnatomy", "overflow", self.overflow, ("refuse", "suppress"))
        if isinstance(self.tree, str | PathLike):
            object.__setattr__(self, "tree", Hierarchy.read(self.tree))
        if not isinstance(self.tree, Hierarchy):
            raise ParameterError("SemanticAnatomy", "tree", "must be a hierarchy or the path of its file").with_hint(
                "ld.Hierarchy.from_rows makes one of rows (value, group, ..., root)."
            )
        check_integer("SemanticAnatomy", "e", self.e, minimum=1, maximum=max(self._tree.depth - 1, 1))

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:  # noqa: ARG002 - one pass, in one thread
        """Divide the rows into classes of l different ancestors.

        Raises
        ------
        InfeasibleError
            When an ancestor or a person has more than 1/l of the records and none may be suppressed, or there are fewer
            than l of them.
        SchemaError
            When a value of the domain is not in the tree.
        UnsupportedError
            When there are several sensitive columns.
        """
        column = only_column("SemanticAnatomy", table.sensitive)
        levels = self._levels(column.domain, self.e)
        self._check(column, levels)
        check_people("SemanticAnatomy", table, self.l, overflow=self.overflow)
        partition = divide(levels[column.codes], len(levels), self.l, table.several)
        return Grouping((partition,), facts=losses(partition, self.l))

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse an ancestor with more than 1/l of the records, unless some are left out."""
        column = only_column("SemanticAnatomy", columns)
        self._check(column, self._levels(column.domain, self.e))

    def join_facts(self, parts: Sequence[PartFacts]) -> dict[str, Json]:
        """The losses of all parts together."""
        return join_losses(parts, self.l)

    def promises(self, domain: Domain) -> tuple[LevelUnique]:
        """At least l records in every class, all with different ancestors at depth e."""
        return (LevelUnique(self.l, tuple(self._levels(domain, self.e).tolist())),)

    def part_levels(self, domain: Domain, counts: NDArray[np.int64]) -> CodeArray:  # noqa: ARG002 - the tree decides
        """Shape (F,): the ancestor of each value at depth e."""
        return self._levels(domain, self.e)

    def parameters(self) -> dict[str, Json]:
        """The public parameters. The tree is in the claim, as the level of each value."""
        return {"l": self.l, "e": self.e, "overflow": self.overflow}

    @property
    def _tree(self) -> Hierarchy:
        if not isinstance(self.tree, Hierarchy):
            raise TypeError(self.tree)
        return self.tree

    def _levels(self, domain: Domain, depth: int) -> CodeArray:
        """Shape (F,): the ancestor of each value at this depth, numbered from 0 without gaps."""
        nodes = self._tree.nodes[self._tree.positions(domain.values), self._tree.depth - 1 - depth]
        return np.unique(nodes, return_inverse=True)[1].ravel().astype(np.int32)

    def _check(self, column: SensitiveColumn, levels: CodeArray) -> None:
        """Refuse what cannot be kept, and name the least greater e that could be."""
        try:
            check_shares(
                "SemanticAnatomy", column.name, _count(levels, column), self.l, depth=self.e, overflow=self.overflow
            )
        except InfeasibleError as error:
            deeper = [e for e in range(self.e + 1, self._tree.depth) if self._fits(column, e)]
            if not deeper:
                raise
            possible = say("With {}, {} is possible.", Setting("l", self.l), Setting("e", deeper[0]))
            error.nearest = [{**goal, "e": self.e} for goal in error.nearest] + [{"l": self.l, "e": deeper[0]}]
            error.hint = say("{} {}", error.hint, possible) if error.hint else possible
            raise

    def _fits(self, column: SensitiveColumn, depth: int) -> bool:
        counts = _count(self._levels(column.domain, depth), column)
        return int(np.count_nonzero(counts)) >= self.l and int(counts.max()) * self.l <= int(counts.sum())


def _count(levels: CodeArray, column: SensitiveColumn) -> NDArray[np.int64]:
    counts = column.counts if len(column.codes) else column.population.counts
    return np.bincount(levels, weights=counts, minlength=1).astype(np.int64)
