"""How much effort BSGI makes to lower the loss: its usual amount, its former name, and what plans say about it."""

from __future__ import annotations

from typing import Final

from ldiversity.base.checks import check_integer
from ldiversity.errors import ParameterError
from ldiversity.sentences import Parameter, say

__all__ = ["MOST_EFFORT", "USUAL_EFFORT", "effort_notes", "given_effort"]

USUAL_EFFORT: Final = 150
"""On Adult, less than 3 s of one core in all, for a loss that seven times the effort lowers by a twentieth."""

MOST_EFFORT: Final = 1_000_000
"""More takes days for tables that gain from it, and gains nothing."""

_MOVES_OF_A_PASS: Final = 50
"""How many moves a record stand for one of the passes that `swaps` counted: they take less time, and lose less."""

_BOUGHT: Final = (
    "on Adult with l = 4, effort 0 loses .051 of the detail, 150 loses .044, and 1000 loses .042 in four times the "
    "time of 150. The nearer the records of a class are, the more someone learns who mixes all classes that fit a "
    "person."
)


def given_effort(effort: int | None, swaps: int | None) -> int | None:
    """The effort, checked; `swaps` is its former name."""
    if effort is not None:
        check_integer("BSGI", "effort", effort, minimum=0, maximum=MOST_EFFORT)
    if swaps is None:
        return effort
    check_integer("BSGI", "swaps", swaps, minimum=0, maximum=MOST_EFFORT // _MOVES_OF_A_PASS)
    if effort is not None:
        rule = say("must be left out with {}", Parameter("effort"))
        raise ParameterError("BSGI", "swaps", rule, got=swaps, hint="It is the former name of effort.")
    return _MOVES_OF_A_PASS * swaps


def effort_notes(moves: int, n_rows: int) -> tuple[str, ...]:
    """What so many moves a record cost, and what more or fewer would buy.

    Examples
    --------
    >>> effort_notes(0, 1000)[0].partition(":")[0]
    'No record changes places once classes are formed (effort 0)'
    """
    spent = "No record changes places once classes are formed (effort 0)"
    if moves:
        millions = f"{max(0.1, n_rows * moves / 1e6):,.1f}"
        spent = (
            f"Once classes are formed, records change places to lower the loss (effort {moves}, {millions} million "
            "moves, of which one core makes two to eight million a second)"
        )
    return (f"{spent}: {_BOUGHT}",)
