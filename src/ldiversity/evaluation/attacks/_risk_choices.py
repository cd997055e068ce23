"""What `attack` and `attack_table` are told alike: who is attacked, what is asked, and how tables are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from ldiversity.base.checks import check_integer, check_keywords, column_name, column_names
from ldiversity.evaluation.attacks._linkability import two_sources
from ldiversity.tables import GivenReadOptions, Source, open_source

__all__ = ["RiskChoices", "RiskQuestion"]


class RiskChoices(TypedDict, total=False):
    """The arguments that `attack` and `attack_table` share, in every form that is accepted; `attack` explains each."""

    control: Any
    secret: str | Sequence[str] | None
    link: Sequence[str | Sequence[str]] | None
    targets: int | None
    types: Mapping[str, str] | None
    read: GivenReadOptions
    person: str | None


@dataclass(frozen=True, eq=False)
class RiskQuestion:
    """The same, checked.

    Attributes
    ----------
    secrets, link
        The columns to guess, and those of two sources; None where the caller left them to the attack.
    targets
        How many people to attack at most; None where the caller left it to the attack.
    person
        The column that says whose row it is.
    """

    secrets: tuple[str, ...] | None
    link: tuple[tuple[str, ...], tuple[str, ...]] | None
    targets: int | None
    person: str | None
    _control: Any = field(repr=False)
    _types: Mapping[str, str] | None
    _read: GivenReadOptions

    @classmethod
    def of(cls, owner: str, choices: RiskChoices) -> RiskQuestion:
        """Check what a caller said.

        Examples
        --------
        >>> RiskQuestion.of("attack", {"secret": "disease", "targets": 20}).secrets
        ('disease',)
        """
        check_keywords(owner, RiskChoices, choices)
        secret, targets, person = choices.get("secret"), choices.get("targets"), choices.get("person")
        return cls(
            secrets=None if secret is None else tuple(column_names(owner, "secret", secret)),
            link=two_sources(owner, choices.get("link")),
            targets=None if targets is None else check_integer(owner, "targets", targets, minimum=1),
            person=None if person is None else column_name(owner, "person", person),
            _control=choices.get("control"),
            _types=choices.get("types"),
            _read=choices.get("read"),
        )

    def open(self, table: Any) -> Source:  # noqa: ANN401 - a path or any frame
        """Open a table as the caller said that tables are read."""
        return open_source(table, types=self._types, read=self._read)

    def open_control(self) -> Source | None:
        """Open the table of people who did not take part, if there is one."""
        return None if self._control is None else self.open(self._control)
