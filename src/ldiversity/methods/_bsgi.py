"""BSGI: classes of l records with l different values, formed so that little is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray, Json
from ldiversity.base.checks import check_choice, check_integer, check_number
from ldiversity.errors import InfeasibleError, ParameterError
from ldiversity.methods._anatomy_classes import divide_rest, keep_eligible
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun, Partition
from ldiversity.methods._bsgi_near import group_near, group_paper
from ldiversity.methods._bsgi_repair import place_left_over
from ldiversity.methods._bsgi_space import Keys, Space, make_keys, make_space
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._part_facts import PartFacts
from ldiversity.models import UniqueDiversity
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
        How many values hide each other, at least 2.
    selection
        ``near``: records that lie near each other, wherever their value allows it. ``paper``: the published greedy,
        which takes from the l largest buckets only; slower (it grows with the square of the rows) and at greater
        loss.
    swaps
        Passes that swap records between classes while that lowers the loss (``near`` only).
    overflow
        What to do when records cannot be placed, mostly because one value has more than 1/l of them: ``refuse``, or
        ``suppress`` as few of them as possible.
    weights
        How much the loss of each quasi-identifier counts; 1 for those that are not named.

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

    l: int
    selection: str = "near"
    swaps: int = 0
    overflow: str = "refuse"
    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        check_integer("BSGI", "l", self.l, minimum=_LEAST_L)
        check_choice("BSGI", "selection", self.selection, ("near", "paper"))
        check_integer("BSGI", "swaps", self.swaps, minimum=0)
        check_choice("BSGI", "overflow", self.overflow, ("refuse", "suppress"))
        if self.swaps and self.selection == "paper":
            raise ParameterError(
                "BSGI",
                "swaps",
                say("must be 0 with {}", Setting("selection", "paper")),
                got=self.swaps,
                hint="Leave selection out.",
            )
        for column, weight in (self.weights or {}).items():
            check_number("BSGI", f"weight of {column!r}", weight, minimum=0)

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

    def promises(self, domain: Domain) -> tuple[UniqueDiversity]:  # noqa: ARG002 - the same for every domain
        """At least l records, all with different values."""
        return (UniqueDiversity(self.l),)

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse a value with more than 1/l of the records, unless some are left out."""
        if self.overflow == "refuse":
            self._check_shares({f"one value of {column.name!r}": column.population.counts for column in columns})

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
        """Form the classes.

        Raises
        ------
        InfeasibleError
            When a value (or a person) has more than 1/l of the records, or records of several keys cannot be placed.
        """
        keys = make_keys(table)
        space = make_space("BSGI", table, self.weights)
        rows = np.arange(table.n_rows, dtype=np.int32)
        if self.overflow == "suppress":
            rows = keep_eligible(keys.codes, keys.sizes, rows, self.l)
            self._check_some_left(keys, rows, table.n_rows)
        else:
            self._check_shares(
                {
                    f"one {'value' if key < keys.n_sensitive else 'person'} of {name}": keys.counts(key)
                    for key, name in enumerate(keys.names)
                }
            )
        kept = np.zeros(table.n_rows, dtype=np.bool_)
        kept[rows] = True
        if len(rows):
            class_of, n_classes = self._select(space, keys, rows, run)
            class_of, n_classes = place_left_over(space, keys, class_of, n_classes, kept, self.l)
        else:
            class_of, n_classes = np.full(table.n_rows, -1, dtype=np.int32), 0
        lost = int(np.count_nonzero(kept & (class_of < 0)))
        if lost and keys.n_sensitive == 1 and table.several is not None:
            # With one value and one person per record there is always a way; see `divide_rest`.
            partition = self._divide_lost(keys, Partition(class_of, n_classes), kept)
            class_of, n_classes, lost = partition.class_of, partition.n_classes, 0
        if lost and self.overflow == "refuse":
            raise self._unplaced(keys, lost)
        run.progress(1.0, "grouping")
        partition = Partition(class_of, n_classes)
        return Grouping((partition,), facts=self._facts(partition))

    def _select(self, space: Space, keys: Keys, rows: NDArray[np.int32], run: GroupingRun) -> tuple[CodeArray, int]:
        if self.selection == "paper":
            return group_paper(space, keys, rows, self.l, run)
        return group_near(space, keys, rows, self.l, swaps=self.swaps, run=run)

    def _divide_lost(self, keys: Keys, partition: Partition, kept: BoolArray) -> Partition:
        rows = np.flatnonzero(kept)
        codes = keys.codes[rows]
        own = Partition(partition.class_of[rows], partition.n_classes)
        found, _ = divide_rest(own, codes[:, 0], int(keys.sizes[0]), codes[:, 1].astype(np.int64), self.l)
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

    def _check_shares(self, counts: Mapping[str, NDArray[np.int64]]) -> None:
        """Refuse when a value or a person has too many records; by what each key is called, how often each occurs."""
        who, worst = max(counts.items(), key=lambda known: int(known[1].max(initial=0)))
        n_rows, most = int(worst.sum()), int(worst.max(initial=0))
        if most * self.l <= n_rows:
            return
        possible = n_rows // most
        hint = f"The largest possible l is {possible}." if possible >= _LEAST_L else "No l is possible."
        if self.l <= min(int(np.count_nonzero(known)) for known in counts.values()):
            hint = say("{} {} leaves out as few records as needed.", hint, Setting("overflow", "suppress"))
        raise InfeasibleError(
            "BSGI",
            "l",
            f"must be at most {possible}, because {who} has more than 1/{self.l} of the records",
            got=self.l,
            nearest=[{"l": possible}] if possible >= _LEAST_L else [],
        ).with_hint(hint)

    def _check_some_left(self, keys: Keys, rows: NDArray[np.int32], n_rows: int) -> None:
        if n_rows and not len(rows):
            distinct = min(int(np.count_nonzero(keys.counts(key))) for key in range(len(keys.names)))
            raise InfeasibleError(
                "BSGI",
                "l",
                f"must be at most {distinct}, the number of different values in the records",
                got=self.l,
                nearest=[{"l": distinct}] if distinct >= _LEAST_L else [],
            ).with_hint("No class of so many different values can be formed.")

    def _unplaced(self, keys: Keys, lost: int) -> InfeasibleError:
        return InfeasibleError(
            "BSGI", f"{lost} records could not be placed in classes of {self.l} that differ in {', '.join(keys.names)}"
        ).with_hint(say("Use a smaller l, or {} to leave them out.", Setting("overflow", "suppress")))
