"""How a verdict follows from what was measured: one rule for all figures and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

__all__ = ["EXCEPTIONS", "MEANINGS", "Outcome", "Statement", "Verdict", "decide", "each", "single"]

Outcome: TypeAlias = Literal["agrees", "better", "agrees with exceptions", "undecided (data)", "differs", "not run"]

MEANINGS: Final[Mapping[Outcome, str]] = {
    "agrees": "the paper's statements hold in every setting",
    "better": "they hold for the paper's method, and this library does better",
    "agrees with exceptions": "each holds in at least three of four settings; the others are named",
    "undecided (data)": "a statement holds on one table and fails on another, and the paper's own table is not public",
    "differs": "a statement does not hold; the reason is given",
    "not run": "something was missing when this page was made",
}
"""What each outcome means, in the words of the pages."""

EXCEPTIONS: Final = 0.75
"""A statement that holds in at least this share of its settings holds with exceptions."""

_MOST_NAMED: Final = 3


class Verdict(NamedTuple):
    """What came out of a comparison with the paper.

    Parameters
    ----------
    outcome
        In one word or three.
    words
        The reason in full, with the figures that decide.
    figure
        The figure to compare with the paper's, in a few words: for the summary.
    why
        Which statements hold, and where they do not, in a few words: for the summary.
    """

    outcome: Outcome
    words: str
    figure: str = ""
    why: str = ""


@dataclass(frozen=True)
class Statement:
    """Something that the paper says, and in which settings it came out.

    Parameters
    ----------
    what
        The statement, in a few words.
    held
        Whether it held, by table and setting; one table without a name where there are no several.
    """

    what: str
    held: Mapping[str, Mapping[str, bool]]

    def table_fails(self, table: str) -> bool:
        """Whether it holds in too few settings of a table."""
        own = self.held[table].values()
        return sum(own) < EXCEPTIONS * len(own)

    @property
    def holds(self) -> bool:
        """Whether it holds everywhere."""
        return all(held for own in self.held.values() for held in own.values())

    @property
    def fails(self) -> bool:
        """Whether it fails on a table."""
        return any(map(self.table_fails, self.held))

    @property
    def depends(self) -> bool:
        """Whether it fails on some tables, and not on others."""
        failed = [self.table_fails(table) for table in self.held]
        return any(failed) and not all(failed)

    def __str__(self) -> str:
        cases = [(table, setting, held) for table, own in self.held.items() for setting, held in own.items()]
        if len(cases) == 1:
            return f"{self.what}: {'holds' if cases[0][2] else 'fails'}"
        lacking = [" ".join(filter(None, (table, setting))) for table, setting, held in cases if not held]
        told = f"{self.what}: {len(cases) - len(lacking)} of {len(cases)}"
        return f"{told}, not {' / '.join(lacking)}" if 0 < len(lacking) <= _MOST_NAMED else told


def single(what: str, *, holds: bool) -> Statement:
    """A statement about one thing."""
    return Statement(what, {"": {"": holds}})


def each(what: str, held: Mapping[str, bool] | Iterable[tuple[str, bool]]) -> Statement:
    """A statement about several settings of one table."""
    return Statement(what, {"": dict(held)})


def decide(statements: Sequence[Statement], *, better: bool = False, stand_in: bool = False) -> tuple[Outcome, str]:
    """Judge statements by where they held; and say so in a few words.

    Parameters
    ----------
    statements
        What the paper says. A statement without settings, which nothing tested, is an error.
    better
        Whether this library does better where the statements hold.
    stand_in
        Whether a table stands in for one of the paper's that is not public. Only then can a verdict be undecided.

    Examples
    --------
    >>> grows = each("grows with l", {"at l = 2": True, "at l = 3": True, "at l = 4": True, "at l = 5": False})
    >>> decide([grows])
    ('agrees with exceptions', 'grows with l: 3 of 4, not at l = 5')
    >>> decide([grows, single("is the least", holds=False)])[0]
    'differs'
    """
    why = "; ".join(map(str, statements))
    if not statements or not all(own for statement in statements for own in (statement.held, *statement.held.values())):
        message = f"A verdict needs statements, each with a setting: {why!r}"
        raise ValueError(message)
    failing = [statement for statement in statements if statement.fails]
    if failing:
        return ("undecided (data)" if stand_in and all(one.depends for one in failing) else "differs"), why
    if not all(statement.holds for statement in statements):
        return "agrees with exceptions", why
    return ("better" if better else "agrees"), why
