"""What an attack is that measures a risk: the same attack on people of the table, on others, and by guessing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from ldiversity.base.answers import Scalar
from ldiversity.evaluation.attacks._base import AnyAttack
from ldiversity.evaluation.attacks._risk import PrivacyRisk, Rate, caution_about, residual_risk
from ldiversity.evaluation.attacks._shown import People, Shown

__all__ = ["RiskAttack"]


class RiskAttack(AnyAttack):
    """An attack that measures a risk, whatever the release promises.

    It is run on people of the original table, and on people who were not in it (the control table). What succeeds as
    often on the latter holds for anyone, and is no risk of taking part. A third attacker only guesses.
    """

    needs: ClassVar[str] = "the original table"
    meaning: ClassVar[str]
    """What it means that one attack succeeds, after "12 % of 500 attacks"."""

    def why_not(self, shown: Shown) -> str | None:  # noqa: ARG002 - subclasses use it
        """Say in one sentence why this attack does not apply; None when it does."""
        return None

    @abstractmethod
    def measure(self, shown: Shown, original: People, control: People | None, attacks: int) -> PrivacyRisk:
        """Run as many attacks as asked for, or as there are people; the same ones each time."""

    def result(
        self,
        *,
        columns: tuple[str, ...],
        success: Rate,
        baseline: Rate,
        control: Rate | None,
        details: Mapping[str, Scalar] | None = None,
        caution: str | None = None,
    ) -> PrivacyRisk:
        """Put a result together: the risk with its interval, and a caution where the figures say little."""
        risk, interval = residual_risk(success, control)
        return PrivacyRisk(
            criterion=self.criterion,
            attack=self.label,
            knowledge=self.knowledge,
            meaning=self.meaning,
            columns=columns,
            risk=risk,
            interval=interval,
            success=success,
            baseline=baseline,
            control=control,
            caution=caution_about(success, baseline, control) or caution,
            details=dict(details or {}),
        )
