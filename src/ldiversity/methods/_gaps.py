"""Numbers that count as different only beyond a gap: how many classes there can be, and which record goes where.

No two records of a class may be nearer than the gap. Let w be the most records of the table in an interval shorter than
the gap: each of them needs a class of its own, so there are at least w classes, and at most n // l. If w <= n // l = k,
k classes exist: deal the records in ascending order, one after the other, to the k classes in turn. Two records of one
class are k places apart; if they were nearer than the gap, k + 1 records would lie in an interval shorter than it. So
classes exist exactly when no such interval has more than 1/l of the records.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.checks import check_number, name_some
from ldiversity.base.typed import number_text
from ldiversity.errors import InfeasibleError, ParameterError, SchemaError
from ldiversity.methods._base import Partition
from ldiversity.schema import EXACT_POSITION, Domain
from ldiversity.sentences import Setting, say

__all__ = ["Gaps", "Line", "check_gap_names", "check_gaps", "check_line", "divide_line", "on_line"]

Gaps = Mapping[str, float]
"""The gap of some sensitive columns, by name."""


def check_gaps(owner: str, gap: object) -> None:
    """Refuse what is not a number above 0 for each of some columns."""
    if gap is None:
        return
    if not isinstance(gap, Mapping) or not gap:
        raise ParameterError(owner, "gap", "must name columns and their gaps", got=type(gap).__name__).with_hint(
            say("For example {}.", Setting("gap", (("income", 5000),)))
        )
    for column, one in gap.items():
        check_number(owner, f"gap of {column!r}", one, above=0)


def check_gap_names(owner: str, gap: Gaps | None, columns: Sequence[str]) -> None:
    """Refuse gaps of columns that are not sensitive."""
    others = [name for name in gap or {} if name not in columns]
    if others:
        raise ParameterError(owner, "gap", "must name sensitive columns", got=name_some(others)).with_hint(
            f"Sensitive are {name_some(list(columns))}."
        )


@dataclass(frozen=True, eq=False)
class Line:
    """The values of a column on a line.

    Parameters
    ----------
    rank
        Shape (F,): the place of each value in ascending order; those without a number come last.
    last
        Shape (F,): by place, the last place whose value is nearer than the gap.
    """

    rank: NDArray[np.int64]
    last: NDArray[np.int64]

    @classmethod
    def of(cls, owner: str, column: str, domain: Domain, gap: float) -> Line:
        """Place the values of a domain.

        Raises
        ------
        SchemaError
            When they are not numbers, or too large for exact differences.

        Examples
        --------
        >>> pay = Domain((20, 22, 30), ordered=True, positions=(20.0, 22.0, 30.0))
        >>> Line.of("Anatomy", "pay", pay, 5).last.tolist()
        [1, 1, 2]
        """
        if domain.positions is None:
            raise SchemaError(owner, "must be a column of numbers to have a gap", column=column).with_hint(
                "Leave it out of gap, or declare its type as a number."
            )
        if not domain.has_exact_positions:
            rule = f"must hold numbers from -{EXACT_POSITION} to {EXACT_POSITION} to have a gap"
            raise SchemaError(owner, rule, column=column).with_hint(
                "Differences of larger ones are not exact: give it in a larger unit, or leave it out of gap."
            )
        spans = _spans(domain)
        order = sorted(range(len(domain)), key=lambda code: (spans[code] is None, spans[code] or (0.0, 0.0)))
        rank = np.empty(len(domain), dtype=np.int64)
        rank[order] = np.arange(len(domain))
        placed = [spans[code] for code in order]
        lows = [span[0] for span in placed if span is not None]
        last = np.arange(len(domain))
        for place, span in enumerate(placed):
            if span is not None:
                last[place] = bisect.bisect_left(lows, gap, place, len(lows), key=lambda low: low - span[1]) - 1
        return cls(rank, np.maximum(last, np.arange(len(domain))))

    def sorted_counts(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How often values occur, in ascending order."""
        ordered = np.empty_like(counts)
        ordered[self.rank] = counts
        return ordered

    def most(self, counts: NDArray[np.int64]) -> int:
        """The most records in an interval shorter than the gap."""
        running = np.concatenate([[0], np.cumsum(self.sorted_counts(counts))])
        return int((running[self.last + 1] - running[:-1]).max(initial=0))

    def kept(self, counts: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """By place, how many records can stay so that no interval shorter than the gap has more than `k` of them.

        From left to right each value keeps what fits. No other choice keeps more: a record further right is in no
        more of the intervals that are still open than one further left.
        """
        ordered = self.sorted_counts(counts).tolist()
        staying = [0] * len(ordered)
        first, inside = 0, 0
        for place, count in enumerate(ordered):
            while self.last[first] < place:
                inside -= staying[first]
                first += 1
            staying[place] = min(count, k - inside)
            inside += staying[place]
        return np.array(staying, dtype=np.int64)

    def n_apart(self, counts: NDArray[np.int64]) -> int:
        """How many values that occur can be pairwise the gap apart."""
        return int(self.kept((counts > 0).astype(np.int64), 1).sum())

    def blocks(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many records are in each of some intervals shorter than the gap, one after the other."""
        ordered, found, place = self.sorted_counts(counts), [], 0
        while place < len(ordered):
            found.append(int(ordered[place : self.last[place] + 1].sum()))
            place = int(self.last[place]) + 1
        return np.array(found, dtype=np.int64)

    def most_classes(self, counts: NDArray[np.int64], l: int) -> int:
        """The largest number of classes of at least `l` records that are pairwise the gap apart.

        What k classes can keep grows less and less with k (Greene and Kleitman, 1976, for chains of an order), so the
        numbers that can be reached have no holes.
        """
        low, high = 0, int(counts.sum()) // l
        while low < high:
            middle = (low + high + 1) // 2
            if int(self.kept(counts, middle).sum()) >= middle * l:
                low = middle
            else:
                high = middle - 1
        return low


def _spans(domain: Domain) -> list[tuple[float, float] | None]:
    """The least and the greatest number that each value stands for; None for what is no number."""
    positions = domain.positions or ()
    if domain.edges is None:
        return [None if place != place else (place, place) for place in positions]  # noqa: PLR0124 - NaN
    bins = iter(zip(domain.edges[:-1], domain.edges[1:], strict=True))
    return [None if place != place else next(bins) for place in positions]  # noqa: PLR0124 - NaN


def check_line(  # noqa: PLR0913 - what a message says
    owner: str,
    column: str,
    line: Line,
    counts: NDArray[np.int64],
    l: int,
    gap: float,
    *,
    overflow: str = "refuse",
    setting: Callable[[int], Setting] | None = None,
) -> None:
    """Refuse what no division into classes can keep; `setting` says how a column's own l is set.

    Raises
    ------
    InfeasibleError
        When an interval shorter than the gap has more than 1/l of the records, or no class can be formed.
    """
    n_rows, most = int(counts.sum()), line.most(counts)
    if most * l <= n_rows or (overflow == "suppress" and line.most_classes(counts, l)):
        return
    possible, wide = n_rows // max(most, 1), number_text(gap)
    if overflow == "suppress":
        possible = line.n_apart(counts)
        rule = f"must be at most the number of values of {column!r} that are pairwise {wide} apart, {possible}"
        if possible == 1:
            rule = f"cannot be reached, because no two values of {column!r} are {wide} apart"
    else:
        rule = (
            f"must be at most {possible} for {column!r}, of which an interval shorter than {wide} has {most} of "
            f"{n_rows} records"
        )
        if possible == 1:
            within = f"an interval of {column!r} shorter than {wide}"
            rule = f"cannot be reached with all records, because {within} has {most} of {n_rows}"
    ways: list[str] = []
    if possible > 1:
        ways.append(say("Use {}, or a smaller gap", (setting or partial(Setting, "l"))(possible)))
    elif overflow == "suppress" or int(counts.max()) * l <= n_rows:
        # Bins that touch are nearer than every gap, and a value that is too frequent alone needs no gap to be so.
        ways.append("Use a smaller gap, or none")
    if overflow == "refuse":
        ways.append(say("{} leaves out as few records as needed", Setting("overflow", "suppress")))
    hint = say("; ".join("{}" for _ in ways) + ".", *ways)
    raise InfeasibleError(
        owner, "l", rule, got=l, nearest=[{"l": possible}] if possible > 1 and setting is None else []
    ).with_hint(hint)


def divide_line(codes: CodeArray, line: Line, l: int) -> Partition:
    """Divide the rows into classes of at least `l` rows whose numbers are pairwise the gap apart, hiding the fewest.

    Rows are taken in ascending order. Among the classes that a row may join, and that have the fewest rows, it joins
    the one whose last row comes first in the random order of rows: so classes mix more than in turn.

    Examples
    --------
    >>> pay = Domain((20, 22, 30, 40), ordered=True, positions=(20.0, 22.0, 30.0, 40.0))
    >>> line = Line.of("Anatomy", "pay", pay, 5)
    >>> divide_line(np.array([0, 1, 2, 3], dtype=np.int32), line, 2).class_of.tolist()
    [0, 1, 0, 1]
    """
    counts = np.bincount(codes, minlength=len(line.rank)).astype(np.int64)
    k = line.most_classes(counts, l)
    class_of = np.full(len(codes), -1, dtype=np.int32)
    if not k:
        return Partition(class_of, 0)
    places = line.rank[codes]
    order = np.argsort(places, kind="stable")
    ordered = line.sorted_counts(counts)
    within = np.arange(len(codes)) - np.repeat(np.cumsum(ordered) - ordered, ordered)
    staying = order[within < line.kept(counts, k)[places[order]]]
    class_of[staying] = _deal(places[staying].tolist(), line.last.tolist(), staying.tolist(), k)
    return Partition(class_of, k)


def _deal(places: Sequence[int], last: Sequence[int], tags: Sequence[int], k: int) -> CodeArray:
    """Shape (n,): the class of each row. Rows are dealt in rounds of `k`, one to each class.

    In a round, a row may join a class whose last row is the gap away. Rows are in ascending order, so these classes are
    those with the first rows of the round before, and there are always more of them than rows that were dealt in this
    round. Of those, the row joins the one with the least tag.
    """
    class_of = np.empty(len(places), dtype=np.int32)
    class_of[:k] = np.arange(min(k, len(places)), dtype=np.int32)
    for start in range(k, len(places), k):
        heap: list[tuple[int, int]] = []
        before = start - k
        for row in range(start, min(start + k, len(places))):
            while before < start and last[places[before]] < places[row]:
                heapq.heappush(heap, (tags[before], before))
                before += 1
            class_of[row] = class_of[heapq.heappop(heap)[1]]
    return class_of


def on_line(codes: CodeArray, line: Line, n_slots: int = 1) -> tuple[CodeArray, NDArray[np.int64], NDArray[np.int64]]:
    """The levels of rows that must be a gap apart, and for each level the first and the last that are not.

    With several slots, rows are dealt among them in ascending order, and only rows of one slot must be apart.

    Examples
    --------
    >>> pay = Domain((20, 22, 30), ordered=True, positions=(20.0, 22.0, 30.0))
    >>> levels, first, last = on_line(np.array([2, 0, 1], dtype=np.int32), Line.of("LLMSU", "pay", pay, 5))
    >>> levels.tolist(), first.tolist(), last.tolist()
    ([2, 0, 1], [0, 0, 2], [1, 1, 2])
    """
    n_values = len(line.rank)
    places = line.rank[codes]
    slots = np.empty(len(codes), dtype=np.int64)
    slots[np.argsort(places, kind="stable")] = np.arange(len(codes)) % n_slots
    starts = np.repeat(np.arange(n_slots) * n_values, n_values)
    first = np.searchsorted(line.last, np.arange(n_values))
    levels = (slots * n_values + places).astype(np.int32)
    return levels, np.tile(first, n_slots) + starts, np.tile(line.last, n_slots) + starts
