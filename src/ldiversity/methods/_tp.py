"""TP: suppression of whole records in three phases (Xiao, Yi, Tao)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import Json
from ldiversity.base.checks import check_integer
from ldiversity.errors import UnsupportedError
from ldiversity.methods._anatomy_classes import divide_rest
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun, Partition
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._combinations import codes_of, number_combinations
from ldiversity.methods._part_facts import PartFacts, join_usual_facts
from ldiversity.methods._people import Dealer, check_people
from ldiversity.methods._rule import check_whole
from ldiversity.models import FrequencyDiversity
from ldiversity.schema import Domain
from ldiversity.sentences import Method, say

__all__ = ["TP"]


@dataclass(frozen=True)
class TP(GroupingMethod):
    """Publish records exactly where enough of them agree on all quasi-identifiers, and put all others into one class.

    Records with the same quasi-identifiers are a class, published as it is, once no value has more than 1/l of it.
    What must leave the classes for that, and what the records that left need so that no value has more than 1/l of
    them either, forms a separate class: the residue, whose quasi-identifiers are suppressed wherever they differ.

    Where a person has several rows, equal records are published as several classes, each of which holds the person
    once, and the residue as classes of l different values.

    Suits tables of few distinct combinations; where almost every combination is unique, almost all is suppressed.

    Parameters
    ----------
    l
        No value has more than 1/l of a class; at least 2.

    Notes
    -----
    In parts: equal records meet in one part, except the few that move so that no value has more than 1/l of a part.
    Every part has a residue of its own, so a little more is suppressed than in one piece.

    References
    ----------
    Xiao, Yi, Tao, The Hardness and Approximation Algorithms for L-Diversity, EDBT 2010, arXiv 0912.5426.

    Examples
    --------
    >>> from ldiversity.methods import CategoryColumn, SensitiveColumn
    >>> sex = CategoryColumn("sex", np.array([0, 0, 0, 1], dtype=np.int32), ("F", "M"))
    >>> disease = SensitiveColumn("disease", np.array([0, 1, 0, 1], dtype=np.int32), Domain(("flu", "cut")))
    >>> TP(l=2).group(CodedTable((sex,), (disease,)), GroupingRun()).partitions[0].class_of.tolist()
    [0, 0, 1, 1]
    """

    name: ClassVar[str] = "tp"
    strength: ClassVar[str | None] = "l"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "generalized"
    parts: ClassVar[Literal["near", "random", "alike"] | None] = "alike"

    l: int

    def __post_init__(self) -> None:
        check_integer("TP", "l", self.l, minimum=2)

    def promises(self, domain: Domain) -> tuple[FrequencyDiversity]:  # noqa: ARG002 - the same for every domain
        """No value has more than 1/l of a class."""
        return (FrequencyDiversity(self.l),)

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse a value with more than 1/l of the records."""
        check_whole("TP", [FrequencyDiversity(self.l)], columns, l=self.l)

    def join_facts(self, parts: Sequence[PartFacts]) -> dict[str, Json]:
        """All records of residues, and the most phases that a part needed."""
        phases = [part.facts["phases"] for part in parts]
        return {**join_usual_facts(parts), "phases": max(one for one in phases if isinstance(one, int))}

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
        """Make classes of records that agree on everything, and one of the rest."""
        from ldiversity._kernels.tp import three_phases

        if len(table.sensitive) > 1:
            raise UnsupportedError("TP", "one sensitive column is offered", got=len(table.sensitive)).with_hint(
                say("{} and {} take several.", Method("Mondrian"), Method("BSGI"))
            )
        self.check_counts(table.sensitive)
        check_people("TP", table, self.l)
        column = table.sensitive[0]
        group_of, n_groups = number_combinations(map(codes_of, table.quasi), table.n_rows)
        dealer = Dealer.of(table)
        if dealer is not None:
            group_of, _ = dealer.split(group_of, n_groups)
        run.progress(0.5, "grouping equal records")
        order, first_rows, groups, values = _entries(group_of, column.codes, len(column.domain))
        held = np.diff(first_rows)
        left = held.copy()
        starts = np.searchsorted(groups, np.arange(groups[-1] + 2))
        after, _ = three_phases(starts, values, left, len(column.domain), self.l)
        run.progress(1.0, "moving records to the residue")
        # Of each entry the first records stay; which ones is chance, because rows come in a random order.
        place = np.arange(len(order)) - np.repeat(first_rows[:-1], held)
        moved = np.empty(len(order), dtype=bool)
        moved[order] = place >= np.repeat(left, held)
        facts = {"residue": int(after[2, 0]), "phases": _phases(after, self.l)}
        partition = _partition(group_of, moved)
        if table.several is not None and moved.any():
            # As the residue may hold a person twice, it becomes classes of l different values.
            staying = Partition(np.where(moved, -1, partition.class_of).astype(np.int32), partition.n_classes - 1)
            partition, facts["residue"] = divide_rest(staying, column.codes, len(column.domain), table.several, self.l)
        return Grouping((partition,), suppress_differences=True, facts=facts)


def _entries(
    group_of: NDArray[np.int64], codes: NDArray[np.int32], n_values: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rows by group and value; where each pair begins among them, and at last their number; its group; its value."""
    keys = group_of * n_values + codes
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first_rows = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    pairs = ordered[first_rows]
    return order, np.append(first_rows, len(order)), pairs // n_values, pairs % n_values


def _phases(after: NDArray[np.int64], l: int) -> int:
    """How many phases were needed until the residue was eligible."""
    return 1 + int(np.argmax(after[:, 0] >= l * after[:, 1]))


def _partition(group_of: NDArray[np.int64], moved: NDArray[np.bool_]) -> Partition:
    """Classes of what is left of the groups, and the residue as the last one."""
    found, class_of = np.unique(np.where(moved, group_of.max() + 1, group_of), return_inverse=True)
    return Partition(class_of.astype(np.int32), len(found))
