"""Background knowledge: attackers know values that the target does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ldiversity.base.arrays import CodeArray, FloatArray
from ldiversity.base.checks import check_choice, check_integer
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Knowledge, Targets
from ldiversity.evaluation.attacks._homogeneity import Homogeneity
from ldiversity.release import Release

__all__ = ["BackgroundKnowledge"]


@dataclass(frozen=True)
class BackgroundKnowledge(Attack):
    """Rule out values that the target does not have, then name the most frequent value that is left.

    Parameters
    ----------
    exclude
        How many values are ruled out for each target.
    choice
        ``"strongest"``: those that hide the target's value best. ``"random"``: any other values of the domain.

    Notes
    -----
    A release that promises a posterior of at most p still promises p / (1 - j p) when j values are ruled out, because
    these have at most j p together. For p = 1/l this is 1/(l - j).

    Examples
    --------
    >>> BackgroundKnowledge(exclude=2).label
    'background (strongest 2)'
    """

    name: ClassVar[str] = "background"
    attacker: ClassVar[str] = (
        "An attacker who can rule out some values of a person, and guesses among those that are left."
    )

    exclude: int = 1
    choice: Literal["strongest", "random"] = "strongest"

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge) -> tuple[Attack, ...]:
        """One attacker who can rule out the values that hide best, and one who can rule out random values."""
        return cls(knowledge.exclude, "strongest"), cls(knowledge.exclude, "random")

    def __post_init__(self) -> None:
        check_integer("BackgroundKnowledge", "exclude", self.exclude, minimum=1)
        check_choice("BackgroundKnowledge", "choice", self.choice, ("strongest", "random"))

    @property
    def label(self) -> str:
        """Its name in a report."""
        return f"{self.name} ({self.choice} {self.exclude})"

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        noun = "a value" if self.exclude == 1 else f"{self.exclude} values"
        best = "the one that hides" if self.exclude == 1 else "those that hide"
        how = f"{best} the target best" if self.choice == "strongest" else "drawn at random from all others"
        return f"They know the quasi-identifiers of the target, and {noun} that the target does not have: {how}."

    def promise(self, release: Release, attribute: str) -> float | None:
        """What is left of the claim when this many values are ruled out."""
        posterior = float(release.claim(attribute).posterior)
        left = 1 - self.exclude * posterior
        return posterior / left if posterior < left else None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Shares of what is left. Without the original, the true values are drawn from the earlier beliefs."""
        before = Homogeneity().beliefs(release, targets, attribute)
        found = np.flatnonzero(before.found)
        row = before.of_target[found]
        rng = np.random.default_rng(0)
        truth = _imagine(before.probability[row], rng) if targets.truth is None else targets.truth[found]
        if self.choice == "strongest":  # the same for all who look alike and have the same value
            n_values = before.probability.shape[1]
            keys, back = np.unique(row * n_values + truth, return_inverse=True)
            left = _without_strongest(before.probability[keys // n_values], keys % n_values, self.exclude)
        else:
            left, back = _without_random(before.probability[row], truth, self.exclude, rng), np.arange(len(row))
        of_target = np.full(targets.n, -1, dtype=np.int64)
        of_target[found] = back
        return Beliefs(left, of_target, details=before.details)


def _imagine(probability: FloatArray, rng: np.random.Generator) -> CodeArray:
    reached = np.cumsum(probability, axis=1)
    drawn = rng.random((len(probability), 1)) * reached[:, -1:]
    imagined: CodeArray = np.minimum((reached <= drawn).sum(axis=1), probability.shape[1] - 1).astype(np.int32)
    return imagined


def _without_strongest(probability: FloatArray, truth: CodeArray, exclude: int) -> FloatArray:
    others = probability.copy()
    others[np.arange(len(truth)), truth] = -1.0
    return _without(probability, others, exclude)


def _without_random(probability: FloatArray, truth: CodeArray, exclude: int, rng: np.random.Generator) -> FloatArray:
    order = rng.random(probability.shape)
    order[np.arange(len(truth)), truth] = -1.0
    return _without(probability, order, exclude)


def _without(probability: FloatArray, rank: FloatArray, exclude: int) -> FloatArray:
    """Set the values of highest rank to zero, never the true one, and scale the others to sum to one."""
    most = min(exclude, probability.shape[1] - 1)
    ruled_out = np.argpartition(-rank, most - 1, axis=1)[:, :most] if most else np.zeros((len(rank), 0), dtype=int)
    left = probability.copy()
    np.put_along_axis(left, ruled_out, 0.0, axis=1)
    lost = np.flatnonzero(left.sum(axis=1) <= 0)  # the attacker was looking at a record of someone else
    left[lost] = 1.0
    left[lost[:, None], ruled_out[lost]] = 0.0
    return np.asarray(left / left.sum(axis=1, keepdims=True))
