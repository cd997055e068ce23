"""Numbers in intervals of equal width, level by level."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ldiversity.base.checks import check_integer, check_number
from ldiversity.base.limits import LARGEST_NUMBER
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.hierarchies._distinct import check_pair, distinct_values, refuse_outside
from ldiversity.hierarchies._text import text_of
from ldiversity.hierarchies._unambiguous import ROOT, MadeRows, with_missing
from ldiversity.sentences import Named, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ldiversity.base.arrays import Scalar
    from ldiversity.hierarchies._distinct import Distinct

__all__ = ["check_sizes", "decimal_text", "doubling_widths", "width_rows"]

_MOST_BINS: Final = 32
_MOST_LEAVES: Final = 1_000_000
_MOST_PLACES: Final = 20
_STEPS: Final = (1, 2, 5)
_LEAST_WIDTH: Final = Fraction("1e-300")
"""The narrowest width: near the smallest floats, doubling a width no longer doubles the number that its text shows."""


def width_rows(
    owner: str, values: Iterable[object], widths: Sequence[float], low: float | None, high: float | None
) -> MadeRows:
    """Return one row per number: the number, its interval of each width, and the root."""
    distinct = distinct_values(owner, values)
    check_sizes(owner, distinct)
    numbers = _leaves(owner, distinct, low, high)
    steps = _check_widths(owner, widths)
    above: dict[int, tuple[str, ...]] = {}
    rows = []
    for number in numbers:
        # Widths are multiples of the first one, so its interval decides all wider ones.
        index = _index(number, steps[0])
        if index not in above:
            above[index] = tuple(_interval(index // int(step / steps[0]), step) for step in steps)
        rows.append((text_of(number), *above[index], ROOT))
    return MadeRows(with_missing(rows, missing=distinct.missing), declared=isinstance(numbers, range))


def doubling_widths(low: float, high: float, *, whole: bool) -> list[float]:
    """Return widths that double, from a round one with few intervals to the last one that still splits the range.

    Examples
    --------
    >>> doubling_widths(17, 90, whole=True)
    [5, 10, 20, 40]
    """
    span = Fraction(str(high)) - Fraction(str(low))
    width = _round_width(span, whole=whole)
    widths = []
    while width <= span and _n_bins(low, high, width) > 1:
        widths.append(width)
        width *= 2
    numbers = widths or [width]
    return [int(w) if w.denominator == 1 else float(w) for w in numbers]


def check_sizes(owner: str, distinct: Distinct) -> None:
    """Refuse numbers so large that the ends of their intervals may overflow a float."""
    numeric = distinct.kind in {"integer", "number"}
    if numeric and any(abs(number) > LARGEST_NUMBER for number in distinct.values):
        raise SchemaError(
            owner, "values", f"must be numbers from {-LARGEST_NUMBER:g} to {LARGEST_NUMBER:g}", got="larger ones"
        ).with_hint("Give them in a larger unit, or leave the cells empty.")


def decimal_text(number: Fraction) -> str:
    """Write a decimal fraction exactly.

    Examples
    --------
    >>> decimal_text(Fraction(-5, 4)), decimal_text(Fraction(30)), decimal_text(Fraction(7, 10**30))
    ('-1.25', '30', '7e-30')
    """
    if number.denominator == 1:
        return str(number.numerator)
    digits = 1
    while (number * 10**digits).denominator != 1:
        digits += 1
    whole = int(number * 10**digits)
    if digits > _MOST_PLACES:
        return f"{whole}e-{digits}"
    padded = str(abs(whole)).rjust(digits + 1, "0")
    text = f"{padded[:-digits]}.{padded[-digits:]}"
    return f"-{text}" if number < 0 else text


def _index(number: Scalar, step: Fraction) -> int:
    """Return the interval of a number; exact for the decimals of its text, not for its binary fraction."""
    if isinstance(number, int) and step.denominator == 1:
        return number // step.numerator
    return Fraction(str(number)) // step


def _interval(index: int, step: Fraction) -> str:
    return f"[{decimal_text(index * step)}, {decimal_text((index + 1) * step)})"


def _leaves(owner: str, distinct: Distinct, low: float | None, high: float | None) -> Sequence[Scalar]:
    if distinct.kind not in {"integer", "number", "none"}:
        raise SchemaError(owner, "values", "must be numbers", got=distinct.noun).with_hint(
            say("Use {} for texts and {} for dates.", Named("by_prefix", "prefix"), Named("by_date", "date"))
        )
    numbers = distinct.values
    check_pair(owner, low, high)
    if low is None or high is None:
        if not numbers:
            raise ParameterError(
                owner, "values", "must hold at least one number", got="none", hint="Give low and high."
            )
        return numbers
    low, high = (
        check_number(owner, name, bound, minimum=-LARGEST_NUMBER, maximum=LARGEST_NUMBER)
        for name, bound in (("low", low), ("high", high))
    )
    if low > high:
        raise ParameterError(owner, "high", "must be at least low", got=f"{high:g} and {low:g}")
    refuse_outside(owner, sum(not low <= number <= high for number in numbers))
    if distinct.kind == "number":
        return numbers
    first, last = -int(-low // 1), int(high // 1)
    check_integer(owner, "number of integers from low to high", last - first + 1, minimum=1, maximum=_MOST_LEAVES)
    return range(first, last + 1)


def _check_widths(owner: str, widths: Sequence[float]) -> list[Fraction]:
    if isinstance(widths, str) or not hasattr(widths, "__len__") or len(widths) == 0:
        raise ParameterError(owner, "widths", "must be a list of numbers", got=repr(widths))
    steps = [Fraction(str(check_number(owner, "width", width))) for width in widths]
    if min(steps) <= 0:
        raise ParameterError(owner, "widths", "must be greater than 0", got=repr(list(widths)))
    for narrower, wider in pairwise(steps):
        if wider <= narrower or (wider / narrower).denominator != 1:
            raise ParameterError(
                owner,
                "each width must be a multiple of the one before it",
                got=f"{decimal_text(wider)} after {decimal_text(narrower)}",
            ).with_hint("Intervals of a level must lie inside those of the next: 5, 10, 20 does, 5, 12 does not.")
    return steps


def _round_width(span: Fraction, *, whole: bool) -> Fraction:
    """Return the least of 1, 2, 5, 10, 20, ... (and of tenths, ...) that gives at most `_MOST_BINS` intervals."""
    least = max(span / _MOST_BINS, _LEAST_WIDTH) if span > 0 else span
    power = Fraction(1)
    while power > least > 0:
        power /= 10
    while power * 10 <= least:
        power *= 10
    width = next((step * power for step in _STEPS if step * power >= least), 10 * power)
    return max(width, Fraction(2)) if whole else width


def _n_bins(low: float, high: float, width: Fraction) -> int:
    return int(Fraction(str(high)) // width - Fraction(str(low)) // width) + 1
