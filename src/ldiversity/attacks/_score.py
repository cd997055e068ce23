"""How often an attacker is right, with exact intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity._types import BoolArray, FloatArray
from ldiversity.attacks._base import Attack, AttackResult, Beliefs, Targets
from ldiversity.attacks._posterior import marginal_of
from ldiversity.errors import ParameterError

if TYPE_CHECKING:
    from ldiversity.release import Release

__all__ = ["CERTAIN", "binomial_interval", "score"]

CERTAIN: Final = 0.9
"""From this probability on an attacker is called sure."""

_CONFIDENCE: Final = 0.95
_BROKEN_CONFIDENCE: Final = 0.975
_TIE: Final = 1e-9


def binomial_interval(successes: float, n: int, confidence: float = _CONFIDENCE) -> tuple[float, float]:
    """Clopper and Pearson's exact interval of a share; fair guesses among ties may add up to a fraction.

    Examples
    --------
    >>> low, high = binomial_interval(5, 10)
    >>> round(low, 3), round(high, 3)
    (0.187, 0.813)
    >>> binomial_interval(0, 10)[0], binomial_interval(10, 10)[1]
    (0.0, 1.0)
    """
    from scipy.stats import beta

    tail = (1 - confidence) / 2
    low = 0.0 if successes <= 0 else float(beta.ppf(tail, successes, n - successes + 1))
    high = 1.0 if successes >= n else float(beta.ppf(1 - tail, successes + 1, n - successes))
    return low, high


@dataclass(frozen=True, eq=False)
class _Guesses:
    """For each row of beliefs: how sure the guess is, how often it is right for each true value, what it is given."""

    sure: FloatArray
    right: FloatArray
    given: FloatArray


def score(attack: Attack, release: Release, targets: Targets, attribute: str, beliefs: Beliefs) -> AttackResult:
    """Compare beliefs with the truth, the claim and the marginal; without the truth, take them at their word."""
    found = beliefs.found
    n = int(np.count_nonzero(found))
    if n == 0:
        raise ParameterError(
            "attack: original must share people with the release, but none of its records fits a published one.",
            hint="Give the table that the release was made from, and declare types of columns that are read otherwise.",
        )
    marginal = marginal_of(release, attribute)
    guesses = _guess(beliefs.probability, beliefs.alike)
    by_marginal = _guess(marginal[None, :], beliefs.alike)
    row = beliefs.of_target[found]
    sure = guesses.sure[row]
    certain = sure >= CERTAIN - _TIE
    n_certain = int(np.count_nonzero(certain))
    claim = attack.promise(release, attribute)
    broken, interval = False, None
    if targets.truth is None:
        right = given = sure
        baseline = float(by_marginal.sure[0])
    else:
        truth = targets.truth[found]
        right, given = guesses.right[row, truth], guesses.given[row, truth]
        baseline = float(by_marginal.right[0, truth].mean())
        interval = binomial_interval(float(right.sum()), n)
        broken = claim is not None and any(
            size > 0 and binomial_interval(float(hits), size, _BROKEN_CONFIDENCE)[0] > claim
            for hits, size in ((right.sum(), n), (right[certain].sum(), n_certain))
        )
    return AttackResult(
        attack=attack.label,
        knowledge=attack.knowledge,
        attribute=attribute,
        targets=targets.n,
        found=n,
        success=float(right.mean()),
        interval=interval,
        certain=n_certain / n,
        certain_success=float(right[certain].mean()) if n_certain else None,
        mean_belief=float(given.mean()),
        claim=claim,
        baseline=baseline,
        scored=targets.truth is not None,
        broken=bool(broken),
        details=beliefs.details,
    )


def _guess(probability: FloatArray, alike: BoolArray | None) -> _Guesses:
    """Name the likeliest value; among ties, any of them."""
    scores = probability if alike is None else probability @ alike.astype(float)
    best = scores.max(axis=1, keepdims=True)
    tied = scores >= best - _TIE
    n_tied = tied.sum(axis=1, keepdims=True)
    right = (tied if alike is None else tied.astype(float) @ alike.astype(float)) / n_tied
    return _Guesses(best[:, 0], right, scores)
