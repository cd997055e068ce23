"""What can be reached on a domain: whether sets exist, and whether they can be balanced.

A *clique* here is a group of values that are all closer than d to each other; a published set holds at most one of
them. On a chain (ordered domain, tree) balanced weights exist when no clique holds more than 1/l of the domain
(or of the prior), and the distribution can be recovered when every clique holds less. The proof is in
``docs/methods/semantic.md``. Elsewhere a linear program decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from ldiversity._types import FloatArray
from ldiversity.mechanisms._chain import Chain
from ldiversity.mechanisms._compatibility import Compatibility

if TYPE_CHECKING:
    from ldiversity._types import BoolArray

__all__ = ["Verdict", "balance_verdict", "coverable", "spans"]

Verdict: TypeAlias = Literal["balanced", "singular", "absent"]
"""Balanced weights exist and Q is invertible; exist but Q is singular; do not exist."""

ROUNDING: Final = 1e-13
"""A clique that more than this share of all valid sets avoid is avoided by some."""


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
