"""What an attack is: stated knowledge, what it makes an attacker believe, and how often that is right."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity._types import BoolArray, CodeArray, FloatArray
from ldiversity.release import Release

__all__ = ["Attack", "AttackResult", "Beliefs", "Targets"]


@dataclass(frozen=True, eq=False)
class Targets:
    """The people an attacker wants to know about, one row each.

    Parameters
    ----------
    columns
        What the attacker knows of each: quasi-identifiers in their original types.
    truth
        Shape (n,): codes of their true values, for scoring; None when the original is not at hand.
    """

    columns: pa.Table
    truth: CodeArray | None = None

    @property
    def n(self) -> int:
        """The number of people."""
        return self.columns.num_rows if self.truth is None else len(self.truth)


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What the attacker believes about each target after the attack.

    Parameters
    ----------
    probability
        Shape (m, F): a distribution over the values; targets who look alike to the attacker share a row.
    of_target
        Shape (n,): the row of each target; -1 when the target was not found in the release.
    """

    probability: FloatArray
    of_target: NDArray[np.int64]

    @property
    def found(self) -> BoolArray:
        """Which targets were found in the release."""
        found: BoolArray = self.of_target >= 0
        return found


@dataclass(frozen=True)
class AttackResult:
    """How an attack went.

    Attributes
    ----------
    attack, knowledge
        Its name, and what the attacker is assumed to know.
    attribute
        The sensitive attribute.
    targets, found
        How many people were attacked, and how many of them were found in the release.
    success
        The share of the targets whose value the attacker names rightly (ties count as a fair guess); without the
        original, the share that the attacker himself expects.
    interval
        Of `success`, at 95 %; exact binomial. None without the original.
    certain
        The share of the targets whose value the attacker is sure of (belief at least .9).
    mean_belief
        The mean probability given to the true value; without the original, to the likeliest one.
    claim
        What the release promises: no value likelier than this; None when nothing is promised.
    baseline
        What guessing from the marginal alone achieves.
    scored
        Whether the original was used.
    broken
        Whether the attack beats the claim beyond chance: the lower end of the interval is above it.
    details
        Further figures of this attack, in JSON's types.
    """

    attack: str
    knowledge: str
    attribute: str
    targets: int
    found: int
    success: float
    interval: tuple[float, float] | None
    certain: float
    mean_belief: float
    claim: float | None
    baseline: float
    scored: bool
    broken: bool
    details: dict[str, Any] = field(default_factory=dict)


class Attack(ABC):
    """A frozen description of an attack; running it changes nothing."""

    name: ClassVar[str]
    """How users ask for it."""

    knowledge: ClassVar[str]
    """What the attacker is assumed to know, in one sentence."""

    @abstractmethod
    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """What the attacker believes about each target, from the release and his knowledge alone.

        `targets.truth` may be used only for knowledge that the attack states (for example which values he can
        exclude), never for the beliefs themselves.
        """
