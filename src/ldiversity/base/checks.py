"""Checks of arguments. They all report a fault in the same form."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, SupportsIndex

from ldiversity.errors import ParameterError

__all__ = [
    "check_choice",
    "check_integer",
    "check_keywords",
    "check_number",
    "column_name",
    "column_names",
    "did_you_mean",
    "name_all",
    "name_some",
]

_PANDAS_NAMES: Final = "Index"
"""The class of ``frame.columns`` in pandas, which is not registered as a sequence."""

_OWN_LEVELS: Final = (
    "The methods bsgi and llmsu take one for each column; a policy gives each column that is hidden in sets its own."
)


def check_integer(
    owner: str, name: str, value: object, *, minimum: int | None = None, maximum: int | None = None
) -> int:
    """Return `value` as an int, or raise `ParameterError`.

    Examples
    --------
    >>> check_integer("RandomizedAddition", "l", 3, minimum=2)
    3
    """
    rule = _range_rule("an integer", minimum, maximum)
    if isinstance(value, Mapping):
        error = ParameterError(owner, name, f"must be {rule}, the same for all columns", got="one for each column")
        raise error.with_hint(_OWN_LEVELS) if name == "l" else error
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise ParameterError(owner, name, f"must be {rule}", got=repr(value))
    number = operator.index(value)
    if (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
        raise ParameterError(owner, name, f"must be {rule}", got=number)
    return number


def check_keywords(owner: str, known: type, given: Iterable[str], needed: Iterable[str] = ()) -> None:
    """Refuse unknown and missing arguments, as Python does for a function with the parameters of a `TypedDict`.

    Examples
    --------
    >>> from typing import TypedDict
    >>> check_keywords("attack", TypedDict("Known", {"targets": int}), ["targets", "person"])
    Traceback (most recent call last):
    TypeError: attack got an unexpected keyword argument 'person'
    """
    names = set(given)
    for name in sorted(names - set(known.__annotations__)):
        raise TypeError(f"{owner} got an unexpected keyword argument {name!r}")
    for name in sorted(set(needed) - names):
        raise TypeError(f"{owner} needs the keyword argument {name!r}")


def check_number(
    owner: str,
    name: str,
    value: object,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
) -> float:
    """Return `value` as a finite float, or raise `ParameterError`; it must be greater than `above`, not equal.

    Examples
    --------
    >>> check_number("estimate", "confidence", 0.95, minimum=0, maximum=1)
    0.95
    """
    rule = _range_rule("a finite number", minimum, maximum)
    try:
        number = float("nan") if isinstance(value, bool | str) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    outside = (minimum is not None and number < minimum) or (maximum is not None and number > maximum)
    if number != number or number in {float("inf"), float("-inf")} or outside:  # noqa: PLR0124 - NaN differs from itself
        raise ParameterError(owner, name, f"must be {rule}", got=repr(value))
    if above is not None and number <= above:
        raise ParameterError(owner, name, f"must be greater than {above:g}", got=repr(value))
    return number


def check_choice(owner: str, name: str, value: object, choices: Sequence[str]) -> str:
    """Return `value` when it is one of `choices`, or raise `ParameterError`.

    Examples
    --------
    >>> check_choice("SemanticDiversity", "selection", "ring", ["balanced", "simple", "ring"])
    'ring'
    """
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(owner, name, f"must be one of {listed}", got=repr(value))
    return value


def column_name(owner: str, parameter: str, given: object) -> str:
    """Return the name of one column, or raise `ParameterError`.

    Examples
    --------
    >>> column_name("bins", "column", "age")
    'age'
    """
    if not isinstance(given, str):
        raise ParameterError(owner, parameter, "must be the name of a column", got=type(given).__name__).with_hint(
            f"Give a name, as in {parameter}='age'."
        )
    return given


def column_names(owner: str, parameter: str, given: object) -> list[str]:
    """Return one or several names of columns as a list, or raise `ParameterError`.

    A column given in place of its name (``frame["age"]``) would be read cell by cell, so a message never quotes items.

    Examples
    --------
    >>> column_names("audit", "quasi", "age"), column_names("audit", "quasi", ("age", "sex"))
    (['age'], ['age', 'sex'])
    """
    if isinstance(given, str):
        return [given]
    several = isinstance(given, Sequence | AbstractSet | Mapping | Iterator) or type(given).__name__ == _PANDAS_NAMES
    listed: list[str] | None = list(given) if several else None  # type: ignore[call-overload]
    if listed is None or not all(isinstance(name, str) for name in listed):
        wrong = given if listed is None else next(name for name in listed if not isinstance(name, str))
        raise ParameterError(
            owner,
            parameter,
            "must be the name of a column or a list of names",
            got=f"{'' if listed is None else 'a list with '}{type(wrong).__name__}",
        ).with_hint(f"Give names, as in {parameter}='age' or {parameter}=['age', 'sex'].")
    return listed


def did_you_mean(name: object, known: Iterable[str]) -> str | None:
    """Ask for the nearest of the known names; None when none is near.

    Examples
    --------
    >>> did_you_mean("diseases", ["age", "disease"])
    "Did you mean 'disease'?"
    >>> did_you_mean("alter", ["Alter", "PatAlter"])
    "Did you mean 'Alter'?"
    """
    import difflib

    names = list(known)
    same = [one for one in names if one.casefold() == str(name).casefold()]  # nothing is nearer
    close = same or difflib.get_close_matches(str(name), names, n=3)
    return f"Did you mean {' or '.join(map(repr, close))}?" if close else None


def name_some(names: Iterable[object], *, most: int = 10) -> str:
    """List at most `most` names for a message, and count the rest.

    Examples
    --------
    >>> name_some(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    listed = [repr(name) for name in names]
    if len(listed) <= most:
        return ", ".join(listed)
    return f"{', '.join(listed[:most])} and {len(listed) - most:,} more"


def name_all(names: Iterable[object], one: str, several: str) -> str:
    """List names as `name_some` does, with the verb that suits their number.

    Examples
    --------
    >>> name_all(["age"], "is", "are"), name_all(["age", "sex"], "is", "are")
    ("'age' is", "'age', 'sex' are")
    """
    listed = list(names)
    return f"{name_some(listed)} {one if len(listed) == 1 else several}"


def _range_rule(noun: str, minimum: float | None, maximum: float | None) -> str:
    if minimum is not None and maximum is not None:
        return f"{noun} from {minimum} to {maximum}"
    if minimum is not None:
        return f"{noun} of at least {minimum}"
    if maximum is not None:
        return f"{noun} of at most {maximum}"
    return noun
