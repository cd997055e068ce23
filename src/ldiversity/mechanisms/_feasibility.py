"""What can be reached on a domain: whether sets exist, whether they can be balanced, and the nearest goals.

A *clique* here is a group of values that are all closer than d to each other; a published set holds at most one of
them. On a chain (ordered domain, tree) balanced weights exist when no clique holds more than 1/l of the domain
(or of the prior), and the distribution can be recovered when every clique holds less. The proof is in
``docs/methods/semantic-diversity.md``. Elsewhere a linear program decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from ldiversity._checks import check_choice, check_integer, check_number
from ldiversity._types import FloatArray
from ldiversity.errors import UnsupportedError
from ldiversity.mechanisms._chain import Chain
from ldiversity.mechanisms._compatibility import Compatibility

if TYPE_CHECKING:
    from ldiversity._types import BoolArray
    from ldiversity.distances._base import Distance
    from ldiversity.schema import Domain

__all__ = ["Verdict", "balance_verdict", "coverable", "nearest_feasible", "spans"]

Verdict: TypeAlias = Literal["balanced", "singular", "absent"]
"""Balanced weights exist and Q is invertible; exist but Q is singular; do not exist."""

SELECTIONS: Final = ("balanced", "simple", "ring")
MOST_NEAREST: Final = 5
SEARCH_SETS: Final = 5_000
"""Graphs without structure and with more valid sets than this are not searched for a nearby goal."""
ROUNDING: Final = 1e-13
"""A clique that more than this share of all valid sets avoid is avoided by some."""


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
    domain, distance
        What the values are and how unlike.
    l, d
        The goal that cannot be met.
    selection
        ``"balanced"``, ``"simple"`` or ``"ring"``.
    prior
        The public prior of a balanced selection that is calibrated to one.

    Returns
    -------
    list of dict
        At most five, like ``{"l": 3, "d": 4.0}``; none is better in both numbers than another.

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
    return search_nearest(distance.matrix(domain), l, d, selection, targets)


def search_nearest(matrix: FloatArray, l: int, d: float, selection: str, targets: FloatArray) -> list[dict[str, float]]:
    """Search as `nearest_feasible`, on a matrix of distances."""
    steps = np.unique(matrix[(matrix > 0) & (matrix <= d)])
    found: list[dict[str, float]] = []
    least = 0  # a smaller l is worth telling only with a greater d
    for smaller in range(min(l, len(matrix)), 1, -1):
        low, high = least, len(steps)
        while low < high:  # feasibility falls with d: find the last feasible step
            middle = (low + high) // 2
            if _is_feasible(Compatibility(matrix >= steps[middle]), smaller, float(steps[middle]), selection, targets):
                low = middle + 1
            else:
                high = middle
        if low > least:
            found.append({"l": smaller, "d": float(steps[low - 1])})
            least = low
        if len(found) == MOST_NEAREST:
            break
    return found


def _is_feasible(compatibility: Compatibility, l: int, d: float, selection: str, targets: FloatArray) -> bool:
    if selection == "ring":
        steps = equal_steps(compatibility)
        return steps == d and len(compatibility) >= (l - 1) * (2 * steps - 1) + 1
    if compatibility.structure == "general" and not _is_searchable(compatibility, l):
        return False
    if selection == "balanced":
        return balance_verdict(compatibility, l, targets) == "balanced"
    return bool(coverable(compatibility, l).all()) and spans(compatibility, l)


def _is_searchable(compatibility: Compatibility, l: int) -> bool:
    try:
        return compatibility.enumerate_sets(l, SEARCH_SETS) is not None
    except UnsupportedError:
        return False


def equal_steps(compatibility: Compatibility) -> int | None:
    """How many steps apart members must be on a line with equal steps; None on anything else."""
    first = compatibility.first_after
    if first is None:
        return None
    steps = int(first[0])
    codes = np.arange(len(compatibility))
    return steps if bool((first == np.minimum(codes + steps, len(codes))).all()) else None


# --- sets that exist ---------------------------------------------------------------------------------


def coverable(compatibility: Compatibility, l: int) -> BoolArray:
    """Whether each value is in at least one valid set of `l` values.

    Examples
    --------
    Three of five ordered values, two steps apart, are always the first, third and fifth:

    >>> coverable(Compatibility(abs(np.subtract.outer(np.arange(5), np.arange(5))) >= 2), l=3).tolist()
    [True, False, True, False, True]
    """
    chain = Chain.of(compatibility)
    if chain is not None:
        return np.isfinite(chain.lightest(np.zeros(len(compatibility)), l))
    return np.array([compatibility.count_sets(l, containing=code) > 0 for code in range(len(compatibility))])


def spans(compatibility: Compatibility, l: int) -> bool:
    """Whether the valid sets tell all values apart: whether their 0/1 vectors span all directions.

    When they do not, two different distributions publish the same sets under every mechanism.
    """
    chain = Chain.of(compatibility)
    if chain is not None:
        sizes = chain.of_nodes(np.ones(len(compatibility)))
        rest, _ = chain.rest(sizes, l)
        total = float((sizes * rest).sum()) / l
        if total == 0.0:
            return False
        often = chain.clique_masses((rest / total)[chain.node_of])
        return bool((rest > 0).all()) and float(often.max()) < 1.0 - ROUNDING
    from ldiversity.mechanisms._balanced_listed import ListedWeights

    pairs = ListedWeights(compatibility, l, np.ones(len(compatibility))).pairs
    return int(np.linalg.matrix_rank(pairs, hermitian=True)) == len(compatibility)


# --- balance -----------------------------------------------------------------------------------------


def balance_verdict(compatibility: Compatibility, l: int, targets: FloatArray) -> Verdict:
    """Decide whether weights on valid sets can sum to `targets`, and whether Q is then invertible.

    Parameters
    ----------
    compatibility, l
        The valid sets.
    targets
        Wanted sums of the weights of each value's sets, all positive.

    Raises
    ------
    UnsupportedError
        When the graph has no structure and too many valid sets.
    """
    chain = Chain.of(compatibility)
    if chain is not None:
        if chain.has_slack(targets, l):
            return "balanced"
        return "singular" if chain.has_slack(targets, l, strictly=False) else "absent"
    from ldiversity.mechanisms._balanced_listed import ListedWeights
    from ldiversity.mechanisms._balanced_weights import fit_weights
    from ldiversity.mechanisms._programs import weights_exist

    if fit_weights(compatibility, l, targets) is not None:
        return "balanced"
    sets = ListedWeights(compatibility, l, np.ones(len(targets))).sets
    return "singular" if weights_exist(sets, targets) else "absent"
