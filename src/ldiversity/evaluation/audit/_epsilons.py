"""What several releases together tell about one person: their epsilons add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, tanh
from typing import Final

from ldiversity.base.answers import Answer, fact, fit_screen
from ldiversity.base.checks import name_all
from ldiversity.base.numbers import number
from ldiversity.errors import ParameterError
from ldiversity.release import Release

__all__ = ["EpsilonSum", "SpentEpsilon", "add_epsilons", "epsilon_note"]

_OTHERS: Final = (
    "what other releases spend on them adds up: add_epsilons (on the command line: epsilons) says how much it is."
)


@dataclass(frozen=True)
class SpentEpsilon:
    """What one sensitive attribute of one release spends; `epsilon` is None where sets or classes rule values out."""

    release: int
    attribute: str
    epsilon: float | None


@dataclass(frozen=True, repr=False)
class EpsilonSum(Answer, schema="epsilons", version=1):
    """What a person spends who has one record in each of several releases; who has more spends each once for each row.

    Attributes
    ----------
    spent
        Each sensitive attribute of each release.
    """

    spent: tuple[SpentEpsilon, ...]

    @fact
    def total(self) -> float | None:
        """The sum for one record in each release; None where something has no epsilon, and nothing is bounded."""
        known = [one.epsilon for one in self.spent if one.epsilon is not None]
        return sum(known) if len(known) == len(self.spent) else None

    @fact
    def closeness(self) -> float | None:
        """The furthest that any belief can move by all of it, ``tanh(total / 4)``, for one record in each release."""
        return None if self.total is None else tanh(self.total / 4)

    def __str__(self) -> str:
        lines = [
            f"Release {one.release}, {one.attribute}: "
            f"{'no epsilon' if one.epsilon is None else f'epsilon {number(one.epsilon)}'}"
            for one in self.spent
        ]
        return fit_screen([self.verdict, *lines])

    @property
    def verdict(self) -> str:
        """What it comes to, as a text for readers."""
        if self.total is None:
            return "Something has no epsilon, so that together nothing bounds what is learned about a person."
        factor = number(exp(min(self.total, 700)))
        return (
            f"Together at most epsilon {number(self.total)}, a factor of {factor}: for a "
            "person with one record in each release. Who has more rows spends an epsilon once for each of them."
        )


def add_epsilons(*releases: Release) -> EpsilonSum:
    """Add up the epsilons of all sensitive attributes of several releases about the same people.

    With an epsilon, every row of every release is a draw of its own. The total is for a person with one record in each
    release. How many rows a person has is not published: name a release once for each of their rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import ldiversity as ld
    >>> table = pa.table({"age": [30, 41] * 50, "smokes": ["no", "no", "yes", "yes"] * 25})
    >>> method = ld.RandomizedAddition(l=1, epsilon=1.5)
    >>> first, second = (ld.anonymize(table, quasi="age", sensitive="smokes", method=method) for _ in range(2))
    >>> ld.add_epsilons(first, second).total
    3.0
    """
    if not releases or not all(isinstance(one, Release) for one in releases):
        raise ParameterError("add_epsilons", "releases", "must be one or several releases").with_hint(
            "load_release reads a folder."
        )
    return EpsilonSum(tuple(_spent(releases)))


def _spent(releases: Sequence[Release]) -> Iterator[SpentEpsilon]:
    for place, release in enumerate(releases, start=1):
        for name in release.sensitive:
            own = None if release.grouped else release.drawn_by(name).epsilon
            yield SpentEpsilon(place, name, own)


def epsilon_note(release: Release) -> str | None:
    """What the epsilons of a release come to, as a sentence; None where it has none."""
    spent = add_epsilons(release)
    known = [one for one in spent.spent if one.epsilon is not None]
    if not known:
        return None
    if spent.total is None:
        bounded = name_all([one.attribute for one in known], "has", "have")
        return f"Only {bounded} an epsilon; other attributes rule values out, so that no epsilon holds for a person."
    if len(known) == 1:
        return (
            f"One record spends epsilon {number(spent.total)}. A person spends it once for each of their rows, and "
            f"{_OTHERS}"
        )
    return (
        f"The epsilons of {len(known)} sensitive attributes add up to {number(spent.total)} for one record. A "
        f"person spends it once for each of their rows, and {_OTHERS}"
    )
