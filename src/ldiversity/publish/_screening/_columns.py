"""Findings about single columns: identifiers, free text, and columns in which almost everybody differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from ldiversity.base.findings import Finding
from ldiversity.base.numbers import counted, number, percent
from ldiversity.publish._screening._content import FREE_TEXT, LOOKS, NAMES, Looked
from ldiversity.publish._screening._counted import Spread
from ldiversity.schema import Role
from ldiversity.sentences import Listed, Parameter, Sentence, say
from ldiversity.tables import suggest_role

__all__ = ["ENOUGH_ROWS", "Seen", "about_column", "leave_out", "ways_out"]

ENOUGH_ROWS: Final = 20
"""In smaller tables almost everybody differs in everything, so how many do says nothing."""

_CERTAIN: Final = 0.3
_LIKELY: Final = 0.7
_OFTEN: Final = 0.3
_VARIED: Final = 0.5
_FEW_ROWS_EACH: Final = 0.1
_MOST_GROUPS: Final = 20
_ALONE: Final = 0.5
_MANY_NAMES: Final = 100
_SERIAL_ROWS: Final = 100
_SERIAL_SPAN: Final = 1.5


@dataclass(frozen=True)
class Seen:
    """What is known about a column before it is published.

    Attributes
    ----------
    name, type, role
        The column.
    exact
        Whether its cells are published as they are.
    spread
        How its values are spread over the rows.
    looked
        What its texts or numbers look like; None where it holds neither.
    extremes
        Its least and greatest whole number; None where it holds none.
    is_id
        Whether the holder named it as what tells records or persons apart.
    coarse
        Whether a level merged its values, so that one need not be one person any more.
    """

    name: str
    type: pa.DataType
    role: Role
    exact: bool
    spread: Spread
    looked: Looked | None = None
    extremes: tuple[int, int] | None = None
    is_id: bool = False
    coarse: bool = False

    @property
    def shown(self) -> bool:
        """Whether single values of it can be read off the release: intervals of numbers hide them."""
        textual = pa.types.is_string(self.type) or pa.types.is_dictionary(self.type)
        return self.exact or self.role is Role.SENSITIVE or textual


def ways_out(roles: Mapping[str, Role]) -> Sentence:
    """How to go on when columns must not be published unless the holder confirms them.

    Examples
    --------
    >>> ways_out({"notes": Role.PLAIN})
    "Drop it (take it out of plain), or publish it knowingly (confirm='notes')."
    """
    given = [Parameter(role.value) for role in dict.fromkeys(roles.values())]
    taken = say(" and ".join(["{}"] * len(given)), *given)
    which = "it" if len(roles) == 1 else "them"
    return say(
        "Drop {} (take {} out of {}), or publish {} knowingly ({}).",
        *(which, which, taken, which),
        Listed("confirm", tuple(roles)),
    )


def leave_out(role: Role, otherwise: str) -> Sentence:
    """The advice to drop a column, or to do something else."""
    return say("Drop it (take it out of {}){}", Parameter(role.value), otherwise)


def about_column(seen: Seen) -> Finding | None:
    """The most important thing about a column; None when there is nothing to say."""
    return _declared(seen) or _by_content(seen) or _by_name(seen) or _by_numbers(seen) or _near_unique(seen)


def _differ(seen: Seen) -> str:
    about = "" if seen.spread.exact else "about "
    return f"{about}{number(seen.spread.distinct)} different values in {counted(seen.spread.filled, 'row')}"


def _identifier(seen: Seen, why: str, *, share: float | None = None) -> Finding:
    figure = seen.spread.variety if share is None else share
    text = f"It names people or records: {why}."
    return Finding(seen.name, "identifier", figure, text, ways_out({seen.name: seen.role}), blocking=seen.shown)


def _declared(seen: Seen) -> Finding | None:
    if not seen.is_id:
        return None
    return _identifier(seen, f"it is the column that tells them apart, and has {_differ(seen)}")


def _by_content(seen: Seen) -> Finding | None:
    if seen.looked is None or not seen.looked.n:
        return None
    shares = seen.looked.share
    varied = seen.spread.variety >= _VARIED
    many = seen.spread.filled >= ENOUGH_ROWS
    if shares[FREE_TEXT] >= _OFTEN and varied:
        text = (
            f"It holds free text, in which anything may stand: {percent(shares[FREE_TEXT])} of "
            f"{counted(seen.looked.n, 'value')} looked at are sentences, and there are {_differ(seen)}."
        )
        remedy = ways_out({seen.name: seen.role})
        return Finding(seen.name, "free-text", shares[FREE_TEXT], text, remedy, blocking=True)
    for place, look in enumerate(LOOKS[:FREE_TEXT]):
        # Many people share a name, so names need not differ in most rows.
        differ = varied or (place == NAMES and seen.spread.distinct >= _MANY_NAMES)
        share = shares[place]
        if share >= (_CERTAIN if look.certain else _LIKELY) and (look.certain or (differ and many)):
            why = f"{percent(share)} of {counted(seen.looked.n, 'value')} looked at are written like {look.word}"
            return _identifier(seen, f"{why}, and there are {_differ(seen)}", share=share)
    return None


def _by_name(seen: Seen) -> Finding | None:
    suggestion = suggest_role(seen.name, seen.type, seen.spread.distinct, seen.spread.filled)
    if suggestion.role is not Role.IDENTIFIER or not suggestion.by_name or seen.role is Role.SENSITIVE:
        return None
    # An id of a person stays one with many rows each. Ids of wards and hospitals, and codes of groups, have many, too.
    if suggestion.of_person and not seen.coarse and seen.spread.distinct > _MOST_GROUPS:
        return _identifier(seen, f"{suggestion.reason}, and it has {_differ(seen)}")
    whole = pa.types.is_string(seen.type) or pa.types.is_integer(seen.type) or pa.types.is_dictionary(seen.type)
    least = _FEW_ROWS_EACH if seen.spread.filled >= ENOUGH_ROWS else _VARIED
    if whole and seen.spread.variety >= least and seen.spread.distinct > 1:
        return _identifier(seen, f"{suggestion.reason}, and it has {_differ(seen)}")
    text = f"It may name people ({suggestion.reason}); it has {_differ(seen)}."
    remedy = leave_out(seen.role, ", unless you know that it does not.")
    return Finding(seen.name, "identifier", seen.spread.variety, text, remedy)


def _by_numbers(seen: Seen) -> Finding | None:
    """Whole numbers that count the rows."""
    if seen.extremes is None or not seen.exact or seen.spread.filled < ENOUGH_ROWS:
        return None
    low, high = seen.extremes
    all_differ = seen.spread.distinct == seen.spread.filled >= _SERIAL_ROWS
    if all_differ and high - low < _SERIAL_SPAN * seen.spread.filled:
        text = f"Its numbers count the rows, as those of records do: {_differ(seen)}."
        remedy = leave_out(seen.role, ", unless the numbers stand nowhere else.")
        return Finding(seen.name, "identifier", seen.spread.variety, text, remedy)
    return None


def _near_unique(seen: Seen) -> Finding | None:
    if seen.spread.filled < ENOUGH_ROWS:
        return None
    if seen.role is Role.SENSITIVE and seen.spread.variety > _VARIED:
        text = f"There are {_differ(seen)}, and all of them become public: is it an identifier?"
        remedy = leave_out(seen.role, ", or group its values.")
        return Finding(seen.name, "near-unique", seen.spread.variety, text, remedy)
    if seen.spread.share_alone < _ALONE or not seen.exact:
        return None
    about = "" if seen.spread.exact else "About "
    text = (
        f"{about}{number(seen.spread.alone)} of {counted(seen.spread.filled, 'row')} "
        f"({percent(seen.spread.share_alone)}) are alone with their value: anyone who knows it finds the row."
    )
    remedy = leave_out(seen.role, ", publish coarser values, or choose a method that generalizes.")
    return Finding(seen.name, "near-unique", seen.spread.share_alone, text, remedy)
