"""A sensible hierarchy for the values of a column, chosen by their type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ldiversity.errors import ParameterError
from ldiversity.hierarchies._dates import are_dates
from ldiversity.hierarchies._distinct import distinct_values
from ldiversity.hierarchies._tree import Hierarchy
from ldiversity.hierarchies._widths import check_sizes, doubling_widths

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["are_codes", "automatic_hierarchy"]

_OWNER: Final = "automatic_hierarchy"
_MASKS: Final = "*#?~_"
_SHORTEST_CODE: Final = 2
_LONGEST_CODE: Final = 16


def automatic_hierarchy(
    values: Iterable[object],
    *,
    low: Any = None,  # noqa: ANN401 - a number or a date
    high: Any = None,  # noqa: ANN401 - same
) -> Hierarchy:
    """Make a hierarchy that fits the type of the values.

    ==============================================  ==========================================================
    values                                          hierarchy
    ==============================================  ==========================================================
    numbers                                         `Hierarchy.by_width`: widths that double from the first of
                                                    1, 2, 5, 10, ... with at most 32 intervals (integers: from 2)
    dates, instants, their ISO texts                `Hierarchy.by_date`
    texts of one length, each with a digit          `Hierarchy.by_prefix`, one character per level
    other texts, booleans                           `Hierarchy.flat`
    ==============================================  ==========================================================

    Look at the result with `Hierarchy.to_text`, save it with `Hierarchy.save`, and edit the file where it does not make
    sense: a hierarchy that a person has checked is always better.

    Parameters
    ----------
    values
        A list, an array or a column of a data frame; values may repeat.
    low, high
        The public range of numbers or dates, as in `Hierarchy.by_width` and `Hierarchy.by_date`. Without it, leaves and
        widths come from the values.

    Raises
    ------
    SchemaError
        When values are of several types.

    Examples
    --------
    >>> automatic_hierarchy([17, 25, 90]).path(25)
    ('25', '[25, 30)', '[20, 30)', '[20, 40)', '[0, 40)', '*')
    >>> automatic_hierarchy(["13053", "14850"]).path("13053")
    ('13053', '1305*', '130**', '13***', '1****', '*')
    """
    distinct = distinct_values(_OWNER, values)
    column: Sequence[Any] = [*distinct.values, *([None] if distinct.missing else [])]
    if distinct.kind in {"integer", "number"}:
        check_sizes(_OWNER, distinct)
        widths = _widths(distinct.values, low, high, whole=distinct.kind == "integer")
        return Hierarchy.by_width(column, widths, low=low, high=high)
    if distinct.values and distinct.kind in {"date", "text"} and are_dates(distinct.values):
        return Hierarchy.by_date(column, low=low, high=high)
    if low is not None or high is not None:
        raise ParameterError(_OWNER, "low and high must be left out unless values are numbers or dates")
    if not column:
        raise ParameterError(_OWNER, "values", "must hold at least one value", got="none")
    mask = _mask(distinct.values)
    if distinct.kind == "text" and mask is not None and are_codes(distinct.values):
        return Hierarchy.by_prefix(column, mask=mask)
    return Hierarchy.flat(column)


def _widths(numbers: Sequence[float], low: float | None, high: float | None, *, whole: bool) -> list[float]:
    first, last = (numbers[0], numbers[-1]) if low is None or high is None else (low, high)
    return doubling_widths(first, last, whole=whole)


def are_codes(texts: Sequence[str]) -> bool:
    """Whether texts look like codes whose beginnings mean something: all of one length, each with a digit."""
    one_length = len({len(text) for text in texts}) == 1 and _SHORTEST_CODE <= len(texts[0]) <= _LONGEST_CODE
    return one_length and all(any(character.isdigit() for character in text) for text in texts)


def _mask(texts: Sequence[object]) -> str | None:
    used = set("".join(str(text) for text in texts))
    return next((mask for mask in _MASKS if mask not in used), None)
