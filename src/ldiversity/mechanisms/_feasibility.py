"""What can be reached on a domain: whether sets exist, and whether they can be balanced.

A *clique* here is a group of values that are all closer than d to each other, so a published set holds at most one of
them. On a chain (ordered domain, tree), balanced weights exist if no clique holds more than 1/l of the domain (or of
the prior), and the distribution can be recovered if every clique holds less. The proof is in
``docs/methods/semantic.md``. For other graphs, a linear program decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.mechanisms._chain import Chain
from ldiversity.mechanisms._compatibility import Compatibility

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray

__all__ = ["Verdict", "balance_verdict", "coverable", "spans"]

Verdict: TypeAlias = Literal["balanced", "singular", "absent"]
"""Balanced weights exist and Q is invertible; they exist, but Q is singular; they do not exist."""

CLEARLY_REGULAR: Final = 1e-8
"""An eigenvalue above this share of the greatest one cannot be a zero with a rounding error."""
PRIMES: Final = (2_147_483_647, 2_147_483_629)
"""An integer matrix that is singular modulo both counts as singular; products of remainders fit 64 bits."""


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
    """Whether the valid sets distinguish all values, that is, whether their 0/1 vectors span the space.

    If not, two different distributions give the same published counts under every mechanism.
    """
    chain = Chain.of(compatibility)
    if chain is not None:
        return bool(coverable(compatibility, l).all()) and chain.avoids_each_clique(l)
    from ldiversity.mechanisms._balanced_listed import ListedWeights

    return _is_regular(ListedWeights(compatibility, l, np.ones(len(compatibility))).pairs)


def _is_regular(pairs: FloatArray) -> bool:
    """Whether a symmetric matrix of counts has full rank; computed exactly if rounding could matter."""
    eigenvalues = np.linalg.eigvalsh(pairs)
    if eigenvalues[0] > CLEARLY_REGULAR * eigenvalues[-1]:
        return True
    whole = np.rint(pairs).astype(np.int64)
    return any(_is_regular_modulo(whole % prime, prime) for prime in PRIMES)


def _is_regular_modulo(rows: NDArray[np.int64], prime: int) -> bool:
    for at in range(len(rows)):
        usable = np.flatnonzero(rows[at:, at])
        if not len(usable):
            return False
        first = at + int(usable[0])
        rows[[at, first]] = rows[[first, at]]
        pivot = rows[at, at:] * pow(int(rows[at, at]), -1, prime) % prime
        rows[at + 1 :, at:] = (rows[at + 1 :, at:] - rows[at + 1 :, at, None] * pivot % prime) % prime
    return True


# --- balance -----------------------------------------------------------------------------------------


def balance_verdict(compatibility: Compatibility, l: int, targets: FloatArray) -> Verdict:
    """Decide whether weights on valid sets can sum to `targets` for each value, and whether Q is then invertible.

    The targets are positive. The weights are not computed, and shares that differ by rounding count as equal.

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
    from ldiversity.mechanisms._programs import TOLERANCE, depth

    inside = depth(ListedWeights(compatibility, l, np.ones(len(targets))).sets, targets)
    if inside < -TOLERANCE:
        return "absent"
    return "balanced" if inside > TOLERANCE and spans(compatibility, l) else "singular"
