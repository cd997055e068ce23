"""Find the nearest goals that can be met, and say what was not searched.

If (l, d) is feasible, so is every smaller l and every smaller d: each valid set for the larger goal, and each part of
it, is valid for the smaller one. So the feasible goals lie under a staircase, and bisection finds its corners. On a
graph without structure, an answer requires listing all valid sets. If there are too many, the answer is "not searched",
which is neither yes nor no.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from ldiversity.base.arrays import FloatArray
from ldiversity.base.checks import check_choice, check_integer, check_number
from ldiversity.errors import UnsupportedError
from ldiversity.mechanisms._balanced_listed import SET_LIMIT
from ldiversity.mechanisms._base import FITTED_CONDITION
from ldiversity.mechanisms._compatibility import Compatibility
from ldiversity.mechanisms._feasibility import balance_verdict, coverable, spans
from ldiversity.sentences import Sentence, Setting, say

if TYPE_CHECKING:
    from ldiversity.distances import Distance
    from ldiversity.schema import Domain

__all__ = ["Goal", "Nearest", "nearest_feasible", "search_nearest"]

Answer: TypeAlias = Literal["yes", "no", "not searched"]

SELECTIONS: Final = ("balanced", "simple", "ring")
MOST_GOALS: Final = 5
QUICK_SETS: Final = 20_000
"""The most valid sets that are listed for a rough answer."""
SEARCH_WORK: Final = 4_000_000
"""The budget for graphs without structure, in valid sets for which weights are computed."""
LISTING: Final = 10
"""How many sets are listed in the time that it takes to compute the weight of one."""
VISITS: Final = 20
"""How many partial sets are visited for each set that may be listed."""
CUBE: Final = 1_000
"""F**3 divided by this is the work of solving for the F values, in sets."""


@dataclass(frozen=True)
class Goal:
    """A goal that can be met.

    `certain` says that no greater d, up to the one asked for, can be met with this l; otherwise some were not searched.
    """

    l: int
    d: float
    certain: bool = True

    def said(self) -> Sentence:
        """The goal as a text."""
        doubt = "" if self.certain else " (at least: greater d were not all searched)"
        return say("{}, {}{}", Setting("l", self.l), Setting("d", float(self.d)), doubt)


@dataclass(frozen=True)
class Nearest:
    """Feasible goals near one that is not; none is better in both numbers than another.

    `complete` says that the search found an answer to each of its questions.
    """

    goals: tuple[Goal, ...]
    complete: bool

    def as_dicts(self) -> list[dict[str, float]]:
        """The goals as in `InfeasibleError.nearest`."""
        return [{"l": goal.l, "d": goal.d} for goal in self.goals]

    def hint(self) -> str:
        """Return the way out as one sentence."""
        if self.goals:
            first, *others = (goal.said() for goal in self.goals)
            return Sentence("Feasible nearby: ", first, *(say(", or {}", other) for other in others), ".")
        if self.complete:
            return "No smaller l or d above 0 is feasible on this domain."
        return "Whether a smaller l or d is feasible was not searched: there are too many valid sets."


def nearest_feasible(
    domain: Domain,
    distance: Distance,
    l: int,
    d: float,
    selection: str = "balanced",
    prior: FloatArray | None = None,
) -> list[dict[str, float]]:
    """Find feasible settings near (l, d): for each smaller or equal l, the greatest d up to the one asked for.

    Parameters
    ----------
    domain, distance, l, d
        The goal that cannot be met.
    selection
        ``"balanced"``, ``"simple"`` or ``"ring"``.
    prior
        The public prior of a balanced selection, if it has one.

    Returns
    -------
    list of dict
        At most five, like ``{"l": 3, "d": 4.0}``; none is better in both numbers than another. If the distance has
        neither an order nor blocks, and there are millions of valid sets, a greater d may be feasible too.

    Examples
    --------
    >>> from ldiversity.distances import OrderedDistance
    >>> from ldiversity.schema import Domain
    >>> nearest_feasible(Domain(tuple(range(14)), ordered=True), OrderedDistance(), l=3, d=7)
    [{'l': 3, 'd': 4.0}, {'l': 2, 'd': 6.0}]
    """
    check_choice("nearest_feasible", "selection", selection, SELECTIONS)
    l = check_integer("nearest_feasible", "l", l, minimum=2)
    d = check_number("nearest_feasible", "d", d, minimum=0)
    targets = np.ones(len(domain)) if prior is None else np.asarray(prior) * len(domain)
    return search_nearest(distance.matrix(domain), l, d, selection, targets).as_dicts()


def search_nearest(matrix: FloatArray, l: int, d: float, selection: str, targets: FloatArray) -> Nearest:
    """Do the search of `nearest_feasible` on a matrix of distances."""
    if selection == "ring":
        return Nearest(_ring_goals(matrix, l, d), complete=True)
    return _Search(matrix, d, selection, targets, work=SEARCH_WORK).run(l)


@dataclass
class _Search:
    """The staircase of balanced or simple selection; step i is the i-th smallest distance, up to the wanted d."""

    matrix: FloatArray
    d: float
    selection: str
    targets: FloatArray
    work: float
    complete: bool = True
    answers: dict[tuple[int, int], Answer] = field(default_factory=dict)

    @cached_property
    def steps(self) -> FloatArray:
        distances: FloatArray = np.unique(np.minimum(self.matrix[self.matrix > 0], self.d))
        return distances[distances > 0]

    def run(self, l: int) -> Nearest:
        goals: list[Goal] = []
        most, reached = min(l, len(self.matrix)), 0
        while len(goals) < MOST_GOALS and reached < len(self.steps):
            most = self.greatest_l(most, reached)
            if most < 2:  # noqa: PLR2004 - the least l
                break
            reached, certain = self.greatest_step(most, reached)
            goals.append(Goal(most, float(self.steps[reached - 1]), certain))
            most -= 1
        return Nearest(tuple(goals), self.complete)

    def greatest_l(self, most: int, step: int) -> int:
        """Return the greatest l up to `most` with which `step` can be met; 1 if there is none."""
        low, high = 1, most
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.ask(middle, step) == "yes" else (low, middle - 1)
        return low

    def greatest_step(self, l: int, reached: int) -> tuple[int, bool]:
        """Return how many steps can be met with `l`, if the first `reached` can, and whether that is certain."""
        low, high = reached, len(self.steps)  # yes before `low`, no from `high` on
        open_to = low
        while open_to < high:  # a larger d has fewer valid sets, so what was not searched lies to the left
            middle = (open_to + high) // 2
            answer = self.ask(l, middle, QUICK_SETS)
            if answer == "no":
                high = middle
            else:
                open_to = middle + 1
                low = open_to if answer == "yes" else low
        low, high = self.search_down(l, low, high)
        if low == high:
            return low, True
        self.complete = False
        top = high
        while low < top:  # use the answers that need no listing
            middle = (low + top) // 2
            low, top = (middle + 1, top) if self.ask(l, middle, 0) == "yes" else (low, middle)
        return low, False

    def search_down(self, l: int, low: int, high: int) -> tuple[int, int]:
        """Narrow the gap between `low` and `high` from above, where there are fewer sets, while the budget lasts."""
        stride = 1
        while low < high:
            middle = max(low, high - stride)
            answer = self.ask(l, middle)
            if answer == "no":
                high, stride = middle, 2 * stride
            elif answer == "yes":
                low = middle + 1
                stride = max(1, (high - low) // 2)
            else:
                break
        return low, high

    def ask(self, l: int, step: int, most_sets: int | None = None) -> Answer:
        """Answer whether `step` can be met with `l`, listing at most `most_sets` sets."""
        if (l, step) in self.answers:
            return self.answers[l, step]
        compatibility = Compatibility(self.matrix >= self.steps[step])
        if compatibility.structure == "general":
            answer = self.ask_graph(compatibility, l, SET_LIMIT if most_sets is None else most_sets)
        else:
            answer = "yes" if self.meets(compatibility, l) else "no"
        if answer != "not searched":
            self.answers[l, step] = answer
        elif most_sets is None:
            self.complete = False
        return answer

    def ask_graph(self, compatibility: Compatibility, l: int, most_sets: int) -> Answer:
        """Answer for a graph without structure, while the budget lasts."""
        from ldiversity.mechanisms._simple import most_members

        if self.selection == "simple" and l > most_members(compatibility):
            return "not searched"
        most = int(min(most_sets, self.work))
        if most <= 0:
            return "not searched"
        try:
            sets = compatibility.enumerate_sets(l, most, visits=VISITS * most)
        except UnsupportedError:
            sets = None
        self.work -= (most if sets is None else len(sets)) / LISTING
        if sets is None:
            return "not searched"
        if len(np.unique(sets)) < len(compatibility):
            return "no"
        cost = len(sets) + len(compatibility) ** 3 / CUBE
        if cost > self.work:
            return "not searched"
        self.work -= cost
        return "yes" if self.meets(compatibility, l) else "no"

    def meets(self, compatibility: Compatibility, l: int) -> bool:
        """Whether the selection works with sets of `l` values."""
        if self.selection == "simple":
            return spans(compatibility, l) and bool(coverable(compatibility, l).all())
        return balance_verdict(compatibility, l, self.targets) == "balanced"


def _ring_goals(matrix: FloatArray, l: int, d: float) -> tuple[Goal, ...]:
    from ldiversity.mechanisms._ring import MOST_MEMBERS

    size = len(matrix)
    near = np.array([matrix.diagonal(k).max() for k in range(1, size)])
    far = np.array([matrix.diagonal(k).min() for k in range(1, size)])
    within = np.concatenate(
        [[0.0], np.maximum.accumulate(near)]
    )  # the greatest distance of codes closer than g = i + 1
    beyond = np.minimum.accumulate(far[::-1])[::-1]  # the least distance of all others
    goals: list[Goal] = []
    for members in range(min(l, MOST_MEMBERS, size), 1, -1):
        for gap in range(((size - 1) // (members - 1) + 1) // 2, 0, -1):
            reached = min(float(beyond[gap - 1]), d)
            if goals and reached <= goals[-1].d:
                break
            if reached > within[gap - 1] and _ring_recovers(size, members, gap):
                goals.append(Goal(members, reached))
                break
    return tuple(goals[:MOST_GOALS])


def _ring_recovers(size: int, l: int, gap: int) -> bool:
    allowed = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) >= gap
    inclusion = np.eye(size) + allowed * ((l - 1) / allowed.sum(axis=1, keepdims=True))
    return float(np.linalg.cond(inclusion)) < FITTED_CONDITION
