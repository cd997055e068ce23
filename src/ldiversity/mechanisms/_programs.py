"""Linear programs over listed sets: whether balanced weights exist, and the best that any mechanism could do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ldiversity.errors import InternalError
from ldiversity.mechanisms._balanced_listed import incidence

if TYPE_CHECKING:
    from ldiversity._types import FloatArray, SetArray

__all__ = ["best_worst_posterior", "weights_exist"]

TOLERANCE: Final = 1e-8
ROUNDS: Final = 1_000
HALVINGS: Final = 24


def weights_exist(sets: SetArray, targets: FloatArray) -> bool:
    """Whether weights of at least zero on `sets` can sum to `targets` over the sets of each value.

    Sets are added to a small program as its dual prices ask for them, so millions of sets are no burden.

    Examples
    --------
    >>> weights_exist(np.array([[0, 1], [1, 2]]), np.ones(3))
    False
    >>> weights_exist(np.array([[0, 1], [1, 2], [0, 2]]), np.ones(3))
    True
    """
    size = len(targets)
    if len(sets) == 0 or len(np.unique(sets)) < size:
        return False
    chosen = np.unique(np.linspace(0, len(sets) - 1, min(len(sets), 20 * size)).astype(np.int64))
    for _ in range(ROUNDS):
        missed, prices = _missed(sets[chosen], targets)
        if missed <= TOLERANCE * float(targets.sum()):
            return True
        gains = prices[sets].sum(axis=1)
        best = np.argsort(-gains, kind="stable")[: 10 * size]
        best = best[gains[best] > TOLERANCE]
        grown = np.union1d(chosen, best)
        if len(grown) == len(chosen):
            return False
        chosen = grown
    raise InternalError("BalancedSelection: the search for balanced weights did not end.")


def _missed(sets: SetArray, targets: FloatArray) -> tuple[float, FloatArray]:
    """How much of `targets` weights on `sets` must miss at least, and the price of each value."""
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, hstack

    size = len(targets)
    missing = eye_array(size)
    program: Any = linprog(
        np.concatenate([np.zeros(len(sets)), np.ones(2 * size)]),
        A_eq=hstack([incidence(sets, size), missing, -missing], format="csr"),
        b_eq=targets,
        method="highs",
    )
    if program.status != 0:
        raise InternalError(f"BalancedSelection: a linear program failed with status {program.status}.")
    return float(program.fun), np.asarray(program.eqlin.marginals, dtype=np.float64)


def best_worst_posterior(sets: SetArray, prior: FloatArray) -> float | None:
    """Find the least worst posterior that any mechanism on `sets` reaches; None when a value is in no set.

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


def _reaches(sets: SetArray, prior: FloatArray, bound: float) -> bool:
    """Whether joint masses J(set, member) exist with every ``J <= bound * (sum over the set)``."""
    from scipy.optimize import linprog
    from scipy.sparse import block_diag, csr_array

    n, l = sets.shape
    within: Any = block_diag([np.eye(l) - bound] * n, format="csr")
    true: Any = csr_array((np.ones(n * l), (sets.ravel(), np.arange(n * l))), shape=(len(prior), n * l))
    program: Any = linprog(
        np.zeros(n * l),
        A_ub=within,
        b_ub=np.zeros(n * l),
        A_eq=true,
        b_eq=prior,
        method="highs",
    )
    return bool(program.status == 0)
