"""Linkability: whether published records tell that two pieces of knowledge are about the same person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from ldiversity.base.checks import column_names, name_some
from ldiversity.errors import ParameterError
from ldiversity.evaluation.attacks._base import AnyAttack, Criterion, Knowledge
from ldiversity.evaluation.attacks._nearest import Nearest
from ldiversity.evaluation.attacks._risk import PrivacyRisk, Rate
from ldiversity.evaluation.attacks._risk_attack import RiskAttack
from ldiversity.evaluation.attacks._shown import People, Shown, draw_people

__all__ = ["Linkability", "two_sources"]

_TWO: Final = 2


@dataclass(frozen=True)
class Linkability(RiskAttack):
    """Link what two sources know of a person by the published records nearest to each.

    One source has some columns of a person, the other has others. The attacker looks for the published records nearest
    to each of the two. The attack succeeds when both searches meet in a record. Records of a class look alike, so the
    nearest of them is drawn, for each search on its own. Somebody who only guesses draws any records. Where a person
    has several rows, both sources know the same one.

    Parameters
    ----------
    link
        The columns of the two sources; None for the published quasi-identifiers, dealt out in turn by how many
        different cells they have (or the only quasi-identifier, and the sensitive columns).
    neighbors
        How many nearest records each search takes.

    References
    ----------
    Giomi, Boenisch, Wehmeyer, Tasnadi, A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs 2023.

    Examples
    --------
    >>> Linkability((("age", "sex"), ("job",))).knowledge
    "They have two sources about the target: one with 'age', 'sex', the other with 'job'."
    """

    link: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    neighbors: int = 1

    name: ClassVar[str] = "linkability"
    criterion: ClassVar[Criterion] = "linkability"
    attacker: ClassVar[str] = "Somebody who has two lists about the same people, without names, and wants to join them."
    meaning: ClassVar[str] = "meet in a published record"

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge) -> tuple[AnyAttack, ...]:
        """The attack with the columns of the two sources."""
        return (cls(knowledge.link),)

    @property
    def label(self) -> str:
        """Its name, and the number of neighbors."""
        return self.name if self.neighbors == 1 else f"{self.name} ({self.neighbors} neighbors)"

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        if self.link is None:
            return "They have two sources about the target, each with half of the quasi-identifiers."
        first, second = map(name_some, self.link)
        return f"They have two sources about the target: one with {first}, the other with {second}."

    def _sides(self, shown: Shown) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if self.link is not None:
            return self.link
        if len(shown.quasi) == 1:
            return shown.quasi, shown.sensitive
        by_cells = sorted(shown.quasi, key=lambda name: -shown.columns[name].n_cells)
        return tuple(by_cells[::2]), tuple(by_cells[1::2])

    def why_not(self, shown: Shown) -> str | None:
        """It needs two columns that are published."""
        sides = self._sides(shown)
        unknown = [name for side in sides for name in side if name not in shown.columns]
        if unknown:
            return f"the column {unknown[0]!r} is not published"
        return None if all(sides) else "it needs two published columns"

    def measure(self, shown: Shown, original: People, control: People | None, attacks: int) -> PrivacyRisk:
        """Attack people of the table, and others."""
        sides = self._sides(shown)
        return self.result(
            columns=(*sides[0], *sides[1]),
            success=self._rate(shown, original, attacks),
            baseline=self._rate(shown, original, attacks, naive=True),
            control=None if control is None else self._rate(shown, control, attacks),
            details={"first_source": name_some(sides[0]), "second_source": name_some(sides[1])},
        )

    def _rate(self, shown: Shown, people: People, attacks: int, *, naive: bool = False) -> Rate:
        rng = np.random.default_rng(0)
        targets = draw_people(people, attacks, rng)
        searches = [Nearest(shown, side, targets) for side in self._sides(shown)]
        most = min(self.neighbors, shown.n_rows)
        met = 0
        for person in range(targets.n):
            first, second = (
                rng.choice(shown.n_rows, most, replace=False) if naive else search.rows(person, most, rng)
                for search in searches
            )
            met += bool(np.isin(first, second).any())
        return Rate(met, targets.n)


def two_sources(
    owner: str, link: Sequence[str | Sequence[str]] | None
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The columns of two sources, which share none."""
    if link is None:
        return None
    sides = [] if isinstance(link, str) else [tuple(column_names(owner, "link", side)) for side in link]
    if len(sides) != _TWO or not all(sides) or set(sides[0]) & set(sides[1]):
        raise ParameterError(
            owner,
            "link",
            "must have two lists of columns that share none",
            hint="For example, one source knows the age and the sex, the other the job.",
        )
    return sides[0], sides[1]
