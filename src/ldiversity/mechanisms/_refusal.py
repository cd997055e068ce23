"""The error with which balanced selection refuses a goal: the rule, the best that is possible, the way out."""

from __future__ import annotations

from typing import Final

import numpy as np

from ldiversity.base.arrays import FloatArray
from ldiversity.base.numbers import at_most
from ldiversity.errors import InfeasibleError
from ldiversity.mechanisms._base import FITTED_CONDITION
from ldiversity.mechanisms._chain import Chain
from ldiversity.mechanisms._compatibility import Compatibility
from ldiversity.mechanisms._feasibility import Verdict, balance_verdict, coverable, spans
from ldiversity.mechanisms._nearest import search_nearest
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say

__all__ = ["refuse"]

_MINMAX: Final = Setting("selection", "minmax")

PROGRAM_SETS: Final = 1_000
"""With at most this many valid sets, a linear program finds the best worst posterior."""


def refuse(domain: Domain, matrix: FloatArray, l: int, d: float, prior: FloatArray | None) -> InfeasibleError:
    """Build the error for a goal that balanced selection cannot meet; `matrix` holds the distances."""
    compatibility = Compatibility(matrix >= d)
    size = len(domain)
    shares = np.full(size, 1.0 / size) if prior is None else prior
    verdict = balance_verdict(compatibility, l, shares * size)
    best = _best(compatibility, l, shares) if verdict == "absent" else ""
    nearest = search_nearest(matrix, l, d, "balanced", shares * size)
    hint = nearest.hint() if prior is None else say("{} Or leave out the prior.", nearest.hint())
    if prior is None and verdict == "absent" and _has_a_least(compatibility, l):
        hint = say("{} Or accept the least worst posterior that is possible, with {}.", hint, _MINMAX)
    rule = _rule(compatibility, l, d, prior, verdict)
    return InfeasibleError(
        "BalancedSelection", rule, got=f"l={l}, d={d:g}{best}", hint=hint, nearest=nearest.as_dicts()
    )


def _has_a_least(compatibility: Compatibility, l: int) -> bool:
    """Whether `MinMaxSelection` can hide all values, so that their distribution can be recovered."""
    from ldiversity.mechanisms._minmax import MINMAX_SETS

    if not bool(coverable(compatibility, l).all()) or compatibility.enumerate_sets(l, MINMAX_SETS) is None:
        return False
    return spans(compatibility, l)


def _rule(compatibility: Compatibility, l: int, d: float, prior: FloatArray | None, verdict: Verdict) -> str:
    if verdict == "balanced":
        return f"the inclusion matrix must have a condition below {FITTED_CONDITION:g}, or estimates would be noise"
    size = len(compatibility)
    most = "at most" if verdict == "absent" else "less than"
    why = "" if verdict == "absent" else ", or the distribution cannot be recovered"
    if prior is None and compatibility.structure == "complete":
        return f"l must be {most} the number of values, {size}{why}"
    if prior is None and compatibility.structure == "line" and compatibility.even_gap == d:
        return f"l * d must be {most} the number of values, {size}, on an ordered domain{why}"
    chain = Chain.of(compatibility)
    if chain is not None:
        masses = np.ones(size) if prior is None else prior * size
        held = float(chain.clique_masses(masses).max()) / size
        whole = "the domain" if prior is None else "the prior"
        held_by = f"values closer than d to each other must hold {most} 1/l = {1 / l:.3f} of {whole}"
        # Rounded as the best worst posterior is, which is often the same number.
        return f"{held_by} (they hold {at_most(held) if verdict == 'absent' else f'{held:.3f}'}){why}"
    if verdict == "absent":
        return "there must be weights on the valid sets whose sums are the same for every value"
    return "the valid sets must distinguish all values"


def _best(compatibility: Compatibility, l: int, shares: FloatArray) -> str:
    """Return what any mechanism could reach, as the end of a sentence."""
    reachable = coverable(compatibility, l)
    if not bool(reachable.all()):
        return f"; no mechanism at all can hide {np.count_nonzero(~reachable)} of the {len(reachable)} values"
    if compatibility.block_of is not None:
        best = max(1.0 / l, float(np.bincount(compatibility.block_of, weights=shares).max()))
        return f"; the best worst posterior of any mechanism is {at_most(best)}"
    sets = compatibility.enumerate_sets(l, PROGRAM_SETS)
    if sets is not None:
        from ldiversity.mechanisms._programs import best_worst_posterior

        found = best_worst_posterior(sets, shares)
        return "" if found is None else f"; the best worst posterior of any mechanism is {at_most(found)}"
    chain = Chain.of(compatibility)
    if chain is None:
        return ""
    bound = float(chain.clique_masses(shares).max())
    return f"; no mechanism has a worst posterior below {bound:.3f}"
