"""Inference: guess somebody's secret from the published record that is nearest to what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ldiversity.errors import ParameterError
from ldiversity.evaluation.attacks._base import AnyAttack, Criterion, Knowledge
from ldiversity.evaluation.attacks._nearest import Nearest
from ldiversity.evaluation.attacks._risk import PrivacyRisk, Rate
from ldiversity.evaluation.attacks._risk_attack import RiskAttack
from ldiversity.evaluation.attacks._shown import People, Shown, draw_people

__all__ = ["Inference"]


@dataclass(frozen=True)
class Inference(RiskAttack):
    """Guess a secret column of people whose other quasi-identifiers are known.

    The attacker takes the published record that is nearest by these columns, and its likeliest value: that of the
    record, of its set or of its class, drawn among ties. A number is right when it is at most 5 % off. Somebody who
    only guesses takes any published record. Where a person has several rows, the attacker knows one of them, and any
    value of the person is right. Distances are Gower's; a record that is published as a region or a set is
    spread evenly over it, and its distance is the expected one.

    Parameters
    ----------
    secret
        The column to guess: a sensitive attribute, or any other published column.

    References
    ----------
    Giomi, Boenisch, Wehmeyer, Tasnadi, A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs 2023.

    Examples
    --------
    >>> Inference("disease").label
    "inference ('disease')"
    """

    secret: str

    name: ClassVar[str] = "inference"
    criterion: ClassVar[Criterion] = "inference"
    needs: ClassVar[str] = "the original table, and a column to guess"
    attacker: ClassVar[str] = "Somebody who knows a person, and guesses more from the most similar published record."
    meaning: ClassVar[str] = "name the value rightly"

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge) -> tuple[AnyAttack, ...]:
        """One attack on each secret."""
        return tuple(cls(secret) for secret in knowledge.secrets)

    @property
    def label(self) -> str:
        """Its name, and the column."""
        return f"{self.name} ({self.secret!r})"

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They know every quasi-identifier of the target but the column that they guess."

    def _known(self, shown: Shown) -> tuple[str, ...]:
        return tuple(name for name in shown.quasi if name != self.secret)

    def why_not(self, shown: Shown) -> str | None:
        """The column must be published, and others by which records are found."""
        if self.secret not in shown.columns:
            return f"the column {self.secret!r} is not published"
        return None if self._known(shown) else "no other quasi-identifier is published by which records could be found"

    def measure(self, shown: Shown, original: People, control: People | None, attacks: int) -> PrivacyRisk:
        """Attack people whose value is among the public ones."""
        success = self._rate(shown, original, attacks)
        baseline = self._rate(shown, original, attacks, naive=True)
        others = None if control is None else self._rate(shown, control, attacks, of="control")
        return self.result(
            columns=(self.secret,),
            success=success,
            baseline=baseline,
            control=others,
            details={"columns_known": len(self._known(shown))},
        )

    def _rate(self, shown: Shown, people: People, attacks: int, *, naive: bool = False, of: str = "original") -> Rate:
        rng = np.random.default_rng(0)
        secret = shown.columns[self.secret]
        rows_with = np.flatnonzero(secret.of_row >= 0)
        there = np.flatnonzero(secret.public(people.columns[self.secret]))
        if not len(there):
            raise ParameterError("attack", of, f"must have people whose {self.secret!r} is among the published values")
        people = people.take(there)
        targets = draw_people(people, attacks, rng)
        nearest = Nearest(shown, self._known(shown), targets, rows_with)
        guessed = np.empty(targets.n)
        for person in range(targets.n):
            row = rng.choice(rows_with) if naive else nearest.rows(person, 1, rng)[0]
            guessed[person] = secret.guess(int(secret.of_row[row]), rng)
        if targets.whose is None:
            return Rate(int(np.count_nonzero(secret.right(guessed, targets.columns[self.secret]))), targets.n)
        rows, owners = people.of_owners(targets)
        right = secret.right(guessed[owners], people.columns[self.secret][rows])
        return Rate(len(np.unique(owners[right])), targets.n)
