"""Linear programs over listed sets: whether balanced weights exist, and the best that any mechanism can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ldiversity.errors import InternalError

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray, SetArray

__all__ = ["TOLERANCE", "best_worst_posterior", "depth", "least_chances"]

TOLERANCE: Final = 1e-8
ROUNDS: Final = 1_000
HALVINGS: Final = 24
CHANCE_HALVINGS: Final = 14

FARTHEST: Final = 1e6
"""The greatest price of a value; it keeps the program bounded while it has few sets."""
CLEARLY_INSIDE: Final = 1e-2
"""A depth above this cannot fall below `TOLERANCE` when more sets are added."""
PRECISE: Final[Any] = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def depth(sets: SetArray, targets: FloatArray) -> float:
    """Return how far `targets` lie inside the cone of sums that nonnegative weights on `sets` can have.

    Above zero, positive weights on all sets exist. At zero, within `TOLERANCE`, some sets must have weight zero. Below
    zero, there are no such weights. Everything is relative to the targets, so rare values count as much as others.

    Notes
    -----
    The program looks for prices of values such that no set has a negative cost, a middle point costs one, and the
    targets cost as little as possible (Farkas' lemma). Only sets with a negative cost are added to it, so it can handle
    millions of sets.

    Examples
    --------
    Value 1 is in every set, and should be in half of them; then all sets are needed; then {0, 1} must have no weight:

    >>> depth(np.array([[0, 1], [1, 2]]), np.ones(3)) < 0
    True
    >>> depth(np.array([[0, 1], [1, 2], [0, 2]]), np.ones(3)) > 0
    True
    >>> round(depth(np.array([[0, 1], [1, 2], [0, 2]]), np.array([1.0, 1.0, 2.0])), 9)
    0.0
    """
    size = len(targets)
    if len(np.unique(sets)) < size:
        return -1.0
    lowest = targets[sets].min(axis=1)
    middle = _middle(sets, targets)
    chosen = np.unique(np.linspace(0, len(sets) - 1, min(len(sets), 20 * size)).astype(np.int64))
    for _ in range(ROUNDS):
        prices = _least_prices(sets[chosen], lowest[chosen], targets, middle)
        cost, greatest = float(prices.sum()), max(1.0, float(np.abs(prices).max()))
        if cost > CLEARLY_INSIDE:
            break
        costs = np.zeros(len(sets))
        for member in sets.T:
            costs += prices[member] * (lowest / targets[member])
        cheapest = np.argsort(costs, kind="stable")[: 10 * size]
        grown = np.union1d(chosen, cheapest[costs[cheapest] < -TOLERANCE / 10 * greatest])
        if len(grown) == len(chosen):
            break
        chosen = grown
    else:
        raise InternalError("BalancedSelection", "the search for balanced weights did not end")
    return cost / greatest


def _middle(sets: SetArray, targets: FloatArray) -> FloatArray:
    """Return a point inside the cone: the sums relative to the targets if a set weighs the product of its targets."""
    logs = np.log(targets)[sets].sum(axis=1)
    weights = np.exp(logs - logs.max())
    sums = np.zeros(len(targets))
    for member in sets.T:
        sums += np.bincount(member, weights=weights, minlength=len(targets))
    middle: FloatArray = sums / targets * (float(targets.sum()) / float(sums.sum()))
    return middle


def _least_prices(sets: SetArray, lowest: FloatArray, targets: FloatArray, middle: FloatArray) -> FloatArray:
    """Return the prices of whole targets, shape (F,), at which the targets cost the least."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    n, l = sets.shape
    entries = (lowest[:, None] / targets[sets]).ravel(), (np.repeat(np.arange(n), l), sets.ravel())
    members: Any = csr_array(entries, shape=(n, len(targets)))
    program: Any = linprog(
        np.ones(len(targets)),
        A_ub=-members,
        b_ub=np.zeros(n),
        A_eq=middle[None, :],
        b_eq=np.ones(1),
        bounds=(-FARTHEST, FARTHEST),
        method="highs",
        options=PRECISE,
    )
    if program.status != 0:
        raise InternalError("BalancedSelection", f"a linear program failed with status {program.status}")
    return np.asarray(program.x, dtype=np.float64)


def best_worst_posterior(sets: SetArray, prior: FloatArray) -> float | None:
    """Return the least worst posterior that any mechanism on `sets` can reach; None if a value is in no set.

    Examples
    --------
    Value 1 is in every set, and is true with probability 1/2:

    >>> sets = np.array([[0, 1], [1, 2]])
    >>> round(best_worst_posterior(sets, np.array([0.25, 0.5, 0.25])), 5)
    0.5
    >>> round(best_worst_posterior(sets, np.full(3, 1 / 3)), 5)
    0.66667
    """
    if len(np.unique(sets)) < len(prior):
        return None
    low, high = 1.0 / int(sets.shape[1]), 1.0
    if _reaches(sets, prior, low + TOLERANCE):
        return low
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if _reaches(sets, prior, middle) else (middle, high)
    return high


def least_chances(sets: SetArray, n_values: int, share: float) -> FloatArray:
    """Return P(set | member), shape of `sets`, with the least worst posterior for a uniform prior.

    A `share` of each value's draws is spread evenly over all its sets, so that every probability is positive.

    Examples
    --------
    All sets of two of three values, which can be balanced:

    >>> chances = least_chances(np.array([[0, 1], [1, 2], [0, 2]]), 3, 0.1)
    >>> chances.round(2).tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    """
    spread = (share / np.bincount(sets.ravel(), minlength=n_values))[sets]
    ones = np.ones(n_values)
    low, high = 1.0 / int(sets.shape[1]), 1.0
    best = None
    for _ in range(CHANCE_HALVINGS):
        middle = (low + high) / 2.0
        found = _masses(sets, ones, middle, spread)
        low, high, best = (low, middle, found) if found is not None else (middle, high, best)
    if best is None:
        raise InternalError("MinMaxSelection", "the search for the least worst posterior did not end")
    raised: FloatArray = np.maximum(best, spread)
    totals = np.bincount(sets.ravel(), weights=raised.ravel(), minlength=n_values)
    return np.asarray(raised / totals[sets])


def _reaches(sets: SetArray, prior: FloatArray, bound: float) -> bool:
    """Whether joint masses J(set, member) exist with every ``J <= bound * (sum over the set)``."""
    return _masses(sets, prior, bound, np.zeros(sets.shape)) is not None


def _masses(sets: SetArray, prior: FloatArray, bound: float, least: FloatArray) -> FloatArray | None:
    """Joint masses of at least `least` with every ``J <= bound * (sum over the set)``; None if there are none."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    n, l = sets.shape
    beside = np.arange(n * l).reshape(n, 1, l).repeat(l, axis=1)  # each member is compared with all members of its set
    within: Any = csr_array((np.tile(np.eye(l) - bound, (n, 1)).ravel(), beside.ravel(), np.arange(n * l + 1) * l))
    true: Any = csr_array((np.ones(n * l), (sets.ravel(), np.arange(n * l))), shape=(len(prior), n * l))
    program: Any = linprog(
        np.zeros(n * l),
        A_ub=within,
        b_ub=np.zeros(n * l),
        A_eq=true,
        b_eq=prior,
        bounds=[(one, None) for one in least.ravel().tolist()],
        method="highs",
    )
    return np.asarray(program.x, dtype=np.float64).reshape(n, l) if program.status == 0 else None
