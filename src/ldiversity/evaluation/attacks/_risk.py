"""`PrivacyRisk`: how often attacks succeed on people of the table, on others, and for someone who only guesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Final

from ldiversity.base.answers import Scalar, fact
from ldiversity.base.numbers import counted, number, percent, percent_between
from ldiversity.evaluation.attacks._base import Criterion

__all__ = ["PrivacyRisk", "Rate", "caution_about", "residual_risk"]

_QUANTILE: Final = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: intervals are at 95 %."""


@dataclass(frozen=True)
class Rate:
    """How often attacks succeed, with Wilson's 95 % interval.

    Attributes
    ----------
    successes
        How many succeed; a fraction where a smaller table was scaled to the size of a larger one.
    tries
        How many were made.

    References
    ----------
    Wilson, Probable Inference, the Law of Succession, and Statistical Inference, JASA 22, 1927.

    Examples
    --------
    >>> rate = Rate(5, 10)
    >>> rate.share, round(rate.interval[0], 3), round(rate.interval[1], 3)
    (0.5, 0.237, 0.763)
    """

    successes: float
    tries: int

    @fact
    def share(self) -> float:
        """The share of attacks that succeed."""
        return self.successes / self.tries

    @fact
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share."""
        # Rounding must not move an end past the share.
        return max(0.0, min(self.share, self.middle - self.error)), min(1.0, max(self.share, self.middle + self.error))

    @property
    def middle(self) -> float:
        """The middle of the interval, from which risks are computed: the share, drawn a little towards one half."""
        return (self.successes + _QUANTILE**2 / 2) / (self.tries + _QUANTILE**2)

    @property
    def error(self) -> float:
        """Half the width of the interval."""
        spread = self.successes * (self.tries - self.successes) / self.tries
        return _QUANTILE * sqrt(max(0.0, spread) + _QUANTILE**2 / 4) / (self.tries + _QUANTILE**2)


@dataclass(frozen=True)
class PrivacyRisk:
    """What a release adds to what attackers achieve on anyone: one of the risks by which anonymity is judged.

    Attributes
    ----------
    criterion
        Which of the three questions of Opinion 05/2014 it answers: singling out, linkability or inference.
    attack
        Its name with the options that matter, such as ``singling-out (record)``.
    knowledge
        What the attacker is assumed to know.
    meaning
        What it means that one attack succeeds, in a few words.
    columns
        The columns that the attack is about.
    risk
        How much of what is not achieved on others is achieved on people of the table: (s - c) / (1 - c), with the rates
        s on the table and c on the control table, each taken at the middle of its interval. Without a control table it
        is s itself, and counts what would be found out about anyone.
    interval
        The 95 % interval of the risk, by propagation of errors. Attacks count as independent.
    success
        How often attacks succeed on people of the table.
    baseline
        How often somebody succeeds who only guesses.
    control
        How often the same attacks succeed on people who were not in the table; None without a control table.
    caution
        Why the figures say little; None when they can be used.
    details
        Further figures of this attack, in JSON's types.

    References
    ----------
    Giomi, Boenisch, Wehmeyer, Tasnadi, A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs 2023.
    """

    criterion: Criterion
    attack: str
    knowledge: str
    meaning: str
    columns: tuple[str, ...]
    risk: float
    interval: tuple[float, float]
    success: Rate
    baseline: Rate
    control: Rate | None = None
    caution: str | None = None
    details: Mapping[str, Scalar] = field(default_factory=dict)

    @fact
    def beyond_chance(self) -> bool:
        """Whether the attack does better than guessing, and better on the table than on others, beyond chance.

        Where a release tells nothing of its own people, this happens in at most one of forty results.
        """
        return self.interval[0] > 0 and self.success.interval[0] > self.baseline.share

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        tries = counted(self.success.tries, "attack", "attacks")
        line = (
            f"{self.attack}: {percent(self.success.share)} of {tries} {self.meaning}; guessing reaches "
            f"{percent(self.baseline.share)}"
        )
        if self.control is None:
            line += ". Without a control table, this includes what holds for anyone: the risk is at most "
        else:
            line += f", and the same on people who were not in the table {percent(self.control.share)}. The risk is "
        line += f"{percent(self.risk)}{percent_between(*self.interval)}."
        return line if self.caution is None else f"{line} {self.caution}"


def residual_risk(success: Rate, control: Rate | None) -> tuple[float, tuple[float, float]]:
    """The risk, and its 95 % interval by propagation of errors; both from 0 to 1.

    Examples
    --------
    >>> risk, (low, high) = residual_risk(Rate(300, 500), Rate(100, 500))
    >>> round(risk, 3), round(low, 3), round(high, 3)
    (0.498, 0.44, 0.556)
    """
    risk, error = success.middle, success.error
    if control is not None:
        rest = 1 - control.middle
        risk = (success.middle - control.middle) / rest
        error = sqrt((success.error / rest) ** 2 + (control.error * (1 - success.middle) / rest**2) ** 2)
    return _within(risk), (_within(risk - error), _within(risk + error))


def caution_about(success: Rate, baseline: Rate, control: Rate | None) -> str | None:
    """Say why figures say little; None when they can be used."""
    if success.middle <= baseline.middle:
        return "The attack does no better than guessing, so it says nothing about the risk."
    if control is not None and control.successes >= control.tries:
        return f"All {number(control.tries)} attacks on others succeed, so nothing is left to compare."
    return None


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))
