"""What an attack is: what attackers know, what they then believe, and how often they are right."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.answers import Scalar
from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray
from ldiversity.distances import Distance
from ldiversity.release import Release

__all__ = ["AnyAttack", "Attack", "AttackResult", "Beliefs", "Criterion", "Knowledge", "Targets"]

Criterion: TypeAlias = Literal["singling-out", "linkability", "inference"]
"""The three questions of the Article 29 Working Party (Opinion 05/2014): can one person's record be singled out, can
records of one person be linked, and can a person's value be inferred?"""


@dataclass(frozen=True, eq=False)
class Targets:
    """The people an attacker wants to know about, one row each.

    Parameters
    ----------
    columns
        What the attacker knows about each: quasi-identifiers in their original types.
    n
        The number of people.
    truth
        Shape (n,): codes of their true values, for scoring; None without the original.
    population
        The quasi-identifiers of everyone in the original table, in its order; None without the original.
    place
        Shape (n,): the row of each target in the population.
    published
        Whether the targets are the published records themselves, in their order, because there is no original.
    whole, drawn
        When only a sample is attacked: everyone who has a value, and the positions of the targets among them.
    person
        Shape (n,): whose row each is, where one person may have several; None when nothing says so.
    """

    columns: pa.Table
    n: int
    truth: CodeArray | None = None
    population: pa.Table | None = None
    place: NDArray[np.int64] | None = None
    published: bool = False
    whole: Targets | None = None
    drawn: NDArray[np.int64] | None = None
    person: NDArray[np.int64] | None = None

    @property
    def everyone(self) -> Targets:
        """All people who could be attacked; the targets themselves unless they are a sample."""
        return self if self.whole is None else self.whole

    def of_everyone(self, each: NDArray[Any]) -> NDArray[Any]:
        """The entries of the targets in an array with one entry per person of `everyone`."""
        return each if self.drawn is None else each[self.drawn]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What the attacker believes about each target after the attack.

    Parameters
    ----------
    probability
        Shape (m, F): a distribution over the values; targets who look alike to the attacker share a row.
    of_target
        Shape (n,): the row of each target; -1 when the target was not found in the release.
    alike
        Shape (F, F): whether naming one value counts as naming another; None when only the value itself counts.
    details
        Further figures of this attack, in JSON's types.
    without
        What the attacker would believe without the knowledge that this attack is about. An attack breaks a claim only
        when it does better than all of these.

    Examples
    --------
    >>> Beliefs(np.array([[0.5, 0.5]]), np.array([0, -1])).found
    array([ True, False])
    """

    probability: FloatArray
    of_target: NDArray[np.int64]
    alike: BoolArray | None = None
    details: Mapping[str, Scalar] = field(default_factory=dict)
    without: tuple[Beliefs, ...] = ()

    @property
    def found(self) -> BoolArray:
        """Which targets were found in the release."""
        found: BoolArray = self.of_target >= 0
        return found


@dataclass(frozen=True)
class AttackResult:
    """What an attack achieved.

    Attributes
    ----------
    attack, knowledge
        Its name, and what the attacker is assumed to know.
    attribute
        The sensitive attribute.
    targets, found
        How many records were attacked, and how many of them were found in the release. All shares are of those found.
    success
        The share of people whose value the attacker names correctly (ties count as a fair guess); without the original,
        the share that attackers expect.
    interval
        The 95 % interval of `success` by Clopper and Pearson, for the effective number of independent people: the
        attacker is right or wrong together about people of one class, or with the same beliefs. None without the
        original.
    certain
        The share of people whose value the attacker is sure of: they give it a probability of at least .9.
    certain_success
        How often the attacker is right about those; without the original, how often they expect to be. None when there
        are no such people.
    mean_belief
        The mean probability of the true value; without the original, of the likeliest value.
    claim
        What the release promises against an attacker with this knowledge: no value is likelier than this. None when it
        promises nothing against them.
    baseline
        What guessing from only the marginal achieves.
    reference
        What the same attacker achieves without the knowledge that the attack is about, such as the order of the source
        or one of two releases. None for attacks that use only what the release says about each person.
    scored
        Whether the original was used.
    broken
        Whether the attack beats the claim, guessing and the reference beyond chance: for all people found, or for those
        whose value the attacker is sure of, the lower end of the 97.5 % interval of success is above all three. When
        the claim holds, this should happen in at most one of forty results. Also true when published classes contradict
        the claim by themselves (``classes_against_the_claim`` in the details), which needs no original.
    details
        Further figures of this attack, in JSON's types.
    left_out
        How many records the release says were left out. They may be among the targets; it promises nothing about them.
    extra
        What the reference does not know, such as ``the order``.
    caution
        Why the attacker's own expectation cannot be trusted; None when it can, or when the original was used.
    criterion
        Which of the three questions of Opinion 05/2014 it informs.
    """

    attack: str
    knowledge: str
    attribute: str
    targets: int
    found: int
    success: float
    interval: tuple[float, float] | None
    certain: float
    certain_success: float | None
    mean_belief: float
    claim: float | None
    baseline: float
    scored: bool
    broken: bool
    details: Mapping[str, Scalar] = field(default_factory=dict)
    reference: float | None = None
    left_out: int = 0
    extra: str | None = None
    caution: str | None = None
    criterion: Criterion = "inference"


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The arguments of `attack` for one attribute; each attack uses what it can."""

    release: Release
    attribute: str
    second: Release | None = None
    exclude: int = 1
    distance: Distance | None = None
    d: float | None = None
    known: object = None
    secrets: tuple[str, ...] = ()
    link: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    person: str | None = None


class AnyAttack(ABC):
    """A frozen description of an attack; running it changes nothing.

    An attack that finds nothing proves nothing: it shows what one attacker with one kind of knowledge can do. `Attack`
    names values and is scored against the claim; `RiskAttack` is scored against people who were not in the table.
    """

    name: ClassVar[str]
    """How users ask for it."""

    needs: ClassVar[str] = ""
    """What it needs besides the release, such as ``a second release``, for messages."""

    compared: ClassVar[bool] = False
    """Whether a comparison of methods runs it by default: for attacks that need only the release."""

    criterion: ClassVar[Criterion] = "inference"
    """Which of the three questions of Opinion 05/2014 it informs: reports have a section for each."""

    row_bytes: ClassVar[int] = 2500
    """How many bytes it takes at most for a row, beside beliefs: it looks at all rows of the release and of the
    original at once. `attack` compares the sum with a memory setting before it begins."""

    attacker: ClassVar[str] = ""
    """Who the attacker is, in one sentence for people who know no statistics; glossaries show it."""

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge) -> tuple[AnyAttack, ...]:  # noqa: ARG003 - subclasses use it
        """The attacks of this name that the knowledge allows; none when it lacks what the attack `needs`."""
        return (cls(),)

    @property
    def label(self) -> str:
        """Its name in a report, with the options that matter: ``name`` or ``name (options)``, as reports read it."""
        return self.name

    @property
    @abstractmethod
    def knowledge(self) -> str:
        """What the attacker is assumed to know, in one sentence."""


class Attack(AnyAttack):
    """An attack that says how likely each value is for each person; scored against the claim and guessing."""

    extra: ClassVar[str | None] = None
    """What the attackers in `Beliefs.without` do not know, such as ``the order``."""

    caution: ClassVar[str | None] = None
    """Why the attacker's own expectation cannot be trusted, in one sentence; None when it can."""

    @classmethod
    def quick(cls) -> Attack | None:
        """A quicker variant for comparisons of many releases, which tells nearly as much; None when there is none."""
        return None

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:  # noqa: ARG002 - subclasses use them
        """Say in one sentence why this attack does not apply; None when it does."""
        return None

    def promise(self, release: Release, attribute: str) -> float | None:
        """What the release promises against an attacker with this knowledge; None when it promises nothing."""
        posterior = float(release.claim(attribute).posterior)
        return posterior if posterior < 1 else None

    def contradictions(self, release: Release, attribute: str) -> int:  # noqa: ARG002 - subclasses use them
        """How many published classes contradict the claim by themselves, no matter who is attacked."""
        return 0

    @abstractmethod
    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """What the attacker believes about each target, from only the release and what they know.

        `targets.truth` may be used only for knowledge that the attack states (for example which values they can
        exclude), never for the beliefs themselves.
        """
