"""Skewness: how far a class or set moves beliefs away from the overall distribution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from ldiversity.base.answers import Scalar
from ldiversity.base.arrays import FloatArray
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Targets
from ldiversity.evaluation.attacks._posterior import marginal_of, plain_beliefs
from ldiversity.release import Release

__all__ = ["Skewness"]

_TWICE: Final = 2.0


@dataclass(frozen=True)
class Skewness(Attack):
    """Compare what the release says about a target with the overall distribution.

    All classes or sets that may be the target's count, by their probability. So attackers also learn what people like
    the target have, even where each class keeps its promise. A class can keep the share of every value small and still
    make a rare value a hundred times likelier than before. The details give the *lift* of values (belief divided by
    overall share) and the *gain* in bits (the Kullback-Leibler divergence of the belief from the overall distribution).

    Examples
    --------
    >>> Skewness().name
    'skewness'
    """

    name: ClassVar[str] = "skewness"
    attacker: ClassVar[str] = "An attacker who knows how frequent each value is in the whole table."

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They know the quasi-identifiers of the target, and how often each value occurs among all records."

    def promise(self, release: Release, attribute: str) -> float | None:
        """The promise of classes; sets promise only for attackers without prior knowledge."""
        return super().promise(release, attribute) if release.grouped else None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Shares of classes; members of sets weighted by their overall shares."""
        marginal = marginal_of(release, attribute)
        believed = plain_beliefs(release, targets, attribute, prior=marginal)
        return replace(believed, details=_details(believed, marginal, targets))


def _details(beliefs: Beliefs, marginal: FloatArray, targets: Targets) -> dict[str, Scalar]:
    found = beliefs.found
    row = beliefs.of_target[found]
    used = np.unique(row)
    if not len(used):
        return {}
    probability = beliefs.probability
    floor = np.where(marginal > 0, marginal, np.inf)
    lift = probability / floor
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(probability > 0, probability * np.log2(lift), 0.0)
    gain = np.where(np.isfinite(bits), bits, 0.0).sum(axis=1)
    details: dict[str, Scalar] = {
        "greatest_lift": float(lift[used].max()),
        "share_with_a_value_twice_as_likely": float((lift.max(axis=1)[row] >= _TWICE).mean()),
        "mean_gain_bits": float(gain[row].mean()),
        "greatest_gain_bits": float(gain[used].max()),
    }
    if targets.truth is not None:
        details["mean_lift_of_the_true_value"] = float(lift[row, targets.truth[found]].mean())
    return details
