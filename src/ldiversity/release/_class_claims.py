"""What a grouped release claims about its sensitive attributes."""

from __future__ import annotations

from dataclasses import dataclass

from ldiversity.models import PrivacyModel

__all__ = ["ClassClaim"]


@dataclass(frozen=True)
class ClassClaim:
    """What is promised about the classes of one sensitive attribute, in a form that a program can check.

    Parameters
    ----------
    attribute
        The sensitive attribute.
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
