"""What a release claims about its sensitive attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1, tanh
from typing import Final

from ldiversity.base.numbers import at_most, counted, percent_at_most
from ldiversity.base.typed import number_text
from ldiversity.mechanisms import SetMechanism
from ldiversity.models import PrivacyModel
from ldiversity.schema import Domain, Role, Schema

__all__ = [
    "COARSE",
    "PEOPLE",
    "RECORDS",
    "USE_A_KEY",
    "AlikeClaim",
    "Claim",
    "ClassClaim",
    "claim_of",
    "class_claim",
    "sets_not_protected",
    "subjects_of",
    "what_changes_tell",
]

PEOPLE: Final = ""
"""What a claim is about where no attribute is sensitive: the records themselves. No column has such a name."""

RECORDS: Final = Domain(("record",))
"""What every record shows of itself."""

_DIGITS: Final = 6
USE_A_KEY: Final = "Use a key to publish again."

_AS_THEY_ARE: Final = (
    "Quasi-identifiers and plain columns are published as they are: who is in the table may be recognized."
)
COARSE: Final = (
    "Quasi-identifiers and plain columns are published as they are, or as coarsely as the holder declared: who is in "
    "the table may be recognized."
)
"""What is said first where a quasi-identifier is published at a declared level."""

_PRIOR: Final = (
    "The posterior bound is for an attacker to whom all values were equally likely before. Someone who knows that "
    "one value is common gains more; the mechanism's worst posterior can be computed for any prior."
)
_AGAIN: Final = (
    "Publishing the same people again, or several rows of a person who is not named as one, with fresh randomness, "
    "another key, l, d or domain lets an attacker intersect the sets."
)
_PUBLIC: Final = (
    "Several sensitive attributes of one person are each protected on their own; that they belong together is public.",
    "The domain of a sensitive attribute and the number of records are public.",
)


_COLLECTED: Final = (
    ("Devices drew the sets, and the collector never had an answer. Nobody can check that people answered truthfully."),
    (
        "One report was counted for each device, or for each invitation, and not for each person: people may have "
        "answered from several devices. Such sets are drawn anew, and can be intersected."
    ),
    "A key stands here for the secret of a device, which it loses when its storage is cleared.",
)


def sets_not_protected(
    mechanisms: Mapping[str, SetMechanism], *, coarse: bool = False, collected: bool = False
) -> tuple[str, ...]:
    """What a release of sets that these mechanisms drew does not protect, by attribute.

    `coarse` says whether a quasi-identifier is published at a declared level, `collected` whether devices drew sets.
    """
    return (
        COARSE if coarse else _AS_THEY_ARE,
        _PRIOR,
        *_drawn_again(list(mechanisms.values())),
        *what_changes_tell(mechanisms),
        *_PUBLIC,
        *(_COLLECTED if collected else ()),
    )


def _drawn_again(drawn: Sequence[SetMechanism]) -> Iterator[str]:
    """What sets tell that always hold the true value; a key is of no use where one attribute has an epsilon."""
    bounded = [one.epsilon is not None for one in drawn]
    if not drawn or not all(bounded):
        yield _AGAIN if any(bounded) else f"{_AGAIN} {USE_A_KEY}"


def what_changes_tell(mechanisms: Mapping[str, SetMechanism]) -> dict[str, tuple[str, ...]]:
    """What two sets of one person tell if their value changed, or their rows differ; and of which attributes.

    Attributes with an epsilon have one sentence together, which says the sum of what they spend.
    """
    told: dict[str, tuple[str, ...]] = {}
    bounded = {name: one.epsilon for name, one in mechanisms.items() if one.epsilon is not None}
    for name, mechanism in mechanisms.items():
        text = _draws_spend(list(bounded.values())) if name in bounded else _a_change_tells(mechanism)
        told[text] = (*told.get(text, ()), name)
    return told


def _draws_spend(epsilons: Sequence[float]) -> str:
    """What people spend whose rows show an attribute, or several, each with its epsilon."""
    total = number_text(epsilons[0])
    known = f"The epsilon of {total} is for one record."
    if len(epsilons) > 1:
        total = at_most(sum(epsilons), _DIGITS)
        known = f"The epsilons of {len(epsilons)} sensitive attributes add up to {total} for one record."
    return (
        f"{known} Every row and release is a draw of its own, with a person column, too, so that different sets prove "
        f"nothing. A person spends {total} times the number of their rows. What other sensitive attributes and "
        "releases spend on them adds up."
    )


def _a_change_tells(mechanism: SetMechanism) -> str:
    partitions = mechanism.partitions
    if partitions is None:
        proven = "Neither a key nor a person column hides that values of a person differ: different sets prove it"
        if not mechanism.flat_likelihood:
            return f"{proven}, and together they tell more about a value than the claim, which is for one set."
        return (
            f"{proven}, and then a value that only one of them shows is more likely, up to l/(l*l - l + 1) instead of "
            "1/l. More than two different sets tell more."
        )
    seen = (
        "With a key, or a person column, all sets of a person are equal or disjoint. Disjoint sets tell that values "
        "differ, but nothing about which they are."
    )
    if not partitions.left_over:
        return seen
    certain = ", and three or more different sets can tell a value for certain" if partitions.can_be_certain else ""
    return (
        "With a key, or a person column, all sets of a person are equal or disjoint, with exceptions, because "
        f"l={partitions.l} does not divide the number of values, {partitions.n_values}: where values differ, two sets "
        f"overlap in at most {percent_at_most(partitions.overlapping)} of cases. A value that only one of them shows "
        f"is then more likely, up to (l+1)/(2*l) instead of 1/l{certain}. Disjoint sets tell that values differ, but "
        "nothing about which they are."
    )


@dataclass(frozen=True)
class Claim:
    """What is promised about one sensitive attribute, in a form that a program can check.

    Parameters
    ----------
    attribute
        The sensitive attribute.
    model
        ``"l-diversity"``, or ``"semantic-diversity"`` when members are also at least `d` apart;
        ``"local-differential-privacy"`` with an `epsilon`.
    l
        Every record's set has exactly this many distinct values of the domain, one of which is true unless there is an
        `epsilon`.
    d
        Least distance between two members of a set.
    posterior
        No set points at one value with a greater probability, for someone to whom all values were equally
        likely. 1.0 means that nothing is promised.
    epsilon
        Whatever the true value is, no set is more than e**epsilon times as likely as for another value. None where
        sets always hold the true value.
    """

    attribute: str
    model: str
    l: int
    d: float | None
    posterior: float
    epsilon: float | None = None

    @property
    def closeness(self) -> float | None:
        """The t of t-closeness that follows from `epsilon` for every prior belief, ``tanh(epsilon / 4)``."""
        return None if self.epsilon is None else tanh(self.epsilon / 4)

    @property
    def statement(self) -> str:
        """The claim in plain words."""
        if self.epsilon is not None:
            return self._of_epsilon(self.epsilon)
        apart = "" if self.d is None else f", pairwise at least {number_text(self.d)} apart"
        odds = (
            f"to someone without prior knowledge no value is more likely than {self.posterior:.3g}"
            if self.posterior < 1
            else "some sets may give the true value away"
        )
        return f"Every record shows {self.l} values of {self.attribute!r}{apart}, one of them true; {odds}."

    def _of_epsilon(self, epsilon: float) -> str:
        apart = "" if self.d is None else f", pairwise at least {number_text(self.d)} apart"
        shown = f"{counted(self.l, 'value')} of {self.attribute!r}{apart}"
        times = at_most(exp(epsilon), 4)
        return (
            f"Every record shows {shown}, and the true one may be missing: no value makes what is shown more than "
            f"{times} times as likely as another (local differential privacy, epsilon {number_text(epsilon)}). "
            f"Whatever was believed before, no value becomes more than {times} times as likely "
            f"(beta-likeness {at_most(expm1(epsilon), 4)}), and beliefs move by at most "
            f"{at_most(tanh(epsilon / 4))} in all (t-closeness); to someone without prior knowledge no value is more "
            f"likely than {at_most(self.posterior)}. "
            "This is for one record: the epsilons of all rows of a person add up."
        )


@dataclass(frozen=True)
class ClassClaim:
    """What is promised about the classes of one sensitive attribute, in a form that a program can check.

    Parameters
    ----------
    attribute
        The sensitive attribute; `PEOPLE` where there is none.
    rule
        The privacy model that every class satisfies.

    Examples
    --------
    >>> from ldiversity.models import FrequencyDiversity
    >>> ClassClaim("disease", FrequencyDiversity(l=4)).posterior
    0.25
    """

    attribute: str
    rule: PrivacyModel

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.rule.name

    @property
    def l(self) -> int | None:  # noqa: E743 - the letter of the literature
        """How many values hide each other, where the model says so in whole numbers."""
        l = getattr(self.rule, "l", None)
        return l if isinstance(l, int) else None

    @property
    def d(self) -> float | None:
        """Least distance between values, where the model says so."""
        return getattr(self.rule, "d", None)

    @property
    def posterior(self) -> float:
        """No value has a greater share of a class; 1.0 means that nothing is promised."""
        return self.rule.posterior

    @property
    def statement(self) -> str:
        """The claim in plain words."""
        return self.rule.statement(self.attribute)


@dataclass(frozen=True)
class AlikeClaim(ClassClaim):
    """What is promised about records that show the same quasi-identifiers, where every record keeps its own.

    Parameters
    ----------
    people
        Whether the holder, who knows whose row each is, counted people. Readers can count records alone.

    Examples
    --------
    >>> from ldiversity.models import KAnonymity
    >>> AlikeClaim("disease", KAnonymity(5)).statement
    'At least 5 records look alike in all quasi-identifiers, for every record.'
    >>> AlikeClaim("disease", KAnonymity(5), people=True).statement.partition(". ")[2]
    'The holder counted people, each of them once.'
    """

    people: bool = False

    @property
    def statement(self) -> str:
        """The claim in plain words."""
        words = self.rule.phrase
        if self.rule.words:
            said = f"{words[:1].upper()}{words[1:]} in all quasi-identifiers, for every record."
        else:
            own = self.rule.statement(PEOPLE)
            said = f"With records that look alike in all quasi-identifiers as classes: {own[:1].lower()}{own[1:]}"
        return f"{said} The holder counted people, each of them once." if self.people else said


def class_claim(attribute: str, rule: PrivacyModel, *, layout: str, people: bool) -> ClassClaim:
    """What a rule promises: about classes, or about records that look alike where these are not in one class.

    In a bucketized release every record keeps its quasi-identifiers, so records of a class need not look alike.

    Examples
    --------
    >>> from ldiversity.models import KAnonymity
    >>> class_claim("disease", KAnonymity(5), layout="bucketized", people=False)
    AlikeClaim(attribute='disease', rule=KAnonymity(k=5), people=False)
    """
    if layout == "bucketized" and rule.of_people:
        return AlikeClaim(attribute, rule, people=people)
    return ClassClaim(attribute, rule)


def subjects_of(schema: Schema) -> tuple[str, ...]:
    """What claims are about: the sensitive attributes, or else the records themselves.

    Examples
    --------
    >>> subjects_of(Schema(())) == (PEOPLE,)
    True
    """
    return schema.names(Role.SENSITIVE) or (PEOPLE,)


def claim_of(attribute: str, mechanism: SetMechanism) -> Claim:
    """What a mechanism lets the holder promise.

    Examples
    --------
    >>> from ldiversity.mechanisms import UniformSelection
    >>> claim_of("disease", UniformSelection(10, 4)).posterior
    0.25
    """
    d = getattr(mechanism, "d", None)
    # A bound that was only searched for, not proven, promises nothing.
    proven = getattr(mechanism, "worst_posterior_is_exact", True)
    return Claim(
        attribute=attribute,
        model=_model_of(mechanism),
        l=mechanism.l,
        d=None if d is None else float(d),
        posterior=float(mechanism.worst_posterior()) if proven else 1.0,
        epsilon=mechanism.epsilon,
    )


def _model_of(mechanism: SetMechanism) -> str:
    if mechanism.epsilon is not None:
        return "local-differential-privacy"
    return "l-diversity" if getattr(mechanism, "d", None) is None else "semantic-diversity"
