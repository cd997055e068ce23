"""How often an attacker is right, and whether that is more than promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray
from ldiversity.errors import ParameterError
from ldiversity.evaluation.attacks._base import Attack, AttackResult, Beliefs, Targets
from ldiversity.evaluation.attacks._clusters import cluster_interval, least_gain
from ldiversity.evaluation.attacks._posterior import marginal_of
from ldiversity.release import Release

__all__ = ["CERTAIN", "score"]

CERTAIN: Final = 0.9
"""An attacker with at least this probability is called sure."""

_BROKEN_CONFIDENCE: Final = 0.975
_TIE: Final = 1e-9


@dataclass(frozen=True, eq=False)
class _Guesses:
    """For each row of beliefs: how sure the guess is, how often it is right for each true value, its probability."""

    sure: FloatArray
    right: FloatArray
    given: FloatArray


def score(
    attack: Attack,
    release: Release,
    targets: Targets,
    attribute: str,
    beliefs: Beliefs,
    together: NDArray[np.int64] | None = None,
) -> AttackResult:
    """Compare beliefs with the truth, the claim and the marginal; without the truth, report what attackers expect.

    Targets with the same number in `together`, such as people of one class, may be right or wrong together; so may
    targets with the same beliefs.
    """
    found = beliefs.found
    n = int(np.count_nonzero(found))
    if n == 0:
        raise ParameterError(
            "attack", "original", "must share people with the release, but none of its records fits a published record"
        ).with_hint(
            "Give the table that the release was made from, and declare the types of columns that are read differently."
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
    truth = None if targets.truth is None else targets.truth[found]
    references = [_rightly(other, by_marginal, found, truth) for other in beliefs.without]
    reference = max(references, key=lambda one: float(one.mean()), default=None)
    if truth is None:
        right = given = sure
        baseline = float(by_marginal.sure[0])
    else:
        right, given = guesses.right[row, truth], guesses.given[row, truth]
        guessed = by_marginal.right[0, truth]
        baseline = float(guessed.mean())
        clusterings = [row, *([] if together is None else [together[found]])]
        interval = cluster_interval(right, clusterings)
        if claim is not None:
            others = [guessed] if reference is None else [guessed, reference]
            broken = _beats(right, claim, others, clusterings)
            if n_certain and not broken:
                some = [labels[certain] for labels in clusterings]
                others = [] if reference is None else [reference[certain]]
                broken = _beats(right[certain], max(claim, baseline), others, some)
    against = attack.contradictions(release, attribute)
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
        scored=truth is not None,
        broken=broken or against > 0,
        details={**beliefs.details, **({"classes_against_the_claim": against} if against else {})},
        reference=None if reference is None else float(reference.mean()),
        left_out=release.suppressed,
        extra=None if reference is None else attack.extra,
        caution=attack.caution if truth is None else None,
        criterion=attack.criterion,
    )


def _beats(right: FloatArray, claim: float, others: list[FloatArray], clusterings: list[NDArray[np.int64]]) -> bool:
    """Whether success is beyond chance above the claim, and above that of each of `others` on the same people."""
    low, _ = cluster_interval(right, clusterings, _BROKEN_CONFIDENCE)
    if low <= max(claim, *(float(one.mean()) for one in others), claim):
        return False
    return all(least_gain(right - one, clusterings, _BROKEN_CONFIDENCE) > 0 for one in others)


def _rightly(other: Beliefs, by_marginal: _Guesses, found: BoolArray, truth: CodeArray | None) -> FloatArray:
    """How often someone with other beliefs is right, or without the truth expects to be, about each target.

    They guess from the marginal about targets whom they do not find.
    """
    guesses = _guess(other.probability, other.alike)
    row = other.of_target[found]
    if truth is None:
        return np.where(row >= 0, guesses.sure[row], by_marginal.sure[0])
    return np.where(row >= 0, guesses.right[row, truth], by_marginal.right[0, truth])


def _guess(probability: FloatArray, alike: BoolArray | None) -> _Guesses:
    """Name the likeliest value; among ties, any of them."""
    scores = probability if alike is None else probability @ alike.astype(float)
    best = scores.max(axis=1, keepdims=True)
    tied = scores >= best - _TIE
    n_tied = tied.sum(axis=1, keepdims=True)
    right = (tied if alike is None else tied.astype(float) @ alike.astype(float)) / n_tied
    return _Guesses(best[:, 0], right, scores)
