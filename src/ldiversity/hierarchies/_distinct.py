"""The distinct values of a column, in the form of the tables room, and how often each occurs."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ldiversity.errors import ParameterError, SchemaError
from ldiversity.sentences import Parameter, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ldiversity.base.arrays import Scalar

__all__ = ["Distinct", "Kind", "check_pair", "distinct_values", "listed", "refuse_outside"]

Kind: TypeAlias = Literal["integer", "number", "boolean", "date", "text", "none"]

_NO_VALUE: Final = {"NAType", "NaTType"}
_LIST_METHODS: Final = ("to_pylist", "to_list", "tolist")


@dataclass(frozen=True)
class Distinct:
    """Distinct values in ascending order, how often each occurs, and whether a value is missing.

    Dates and instants are ISO texts here; the kind ``"date"`` only says that they came as such objects.
    """

    kind: Kind
    counts: Mapping[Scalar, int]
    missing: bool

    @property
    def noun(self) -> str:
        """The kind of the values, for messages."""
        return "none" if self.kind == "none" else f"{self.kind}s"

    @property
    def values(self) -> list[Any]:
        """The values, without the missing one."""
        return list(self.counts)


def distinct_values(owner: str, values: Iterable[object]) -> Distinct:
    """Gather the distinct values of a list, an array, or a column of a data frame.

    NaN counts as missing, and integers among fractions become fractions, as in a table's column.

    Raises
    ------
    SchemaError
        When values have several types, or one that no column can have.

    Examples
    --------
    >>> distinct_values("by_width", [2, 1.5, float("nan"), 2])
    Distinct(kind='number', counts={1.5: 1, 2.0: 2}, missing=True)
    """
    occurring = Counter(listed(values))
    missing = [value for value in occurring if _is_missing(value)]
    for value in missing:
        del occurring[value]
    kinds = [*dict.fromkeys(map(_kind, occurring))]
    if set(kinds) == {"integer", "number"}:
        kinds = ["number"]
    if len(kinds) > 1 or None in kinds:
        raise SchemaError(
            owner, "values", "must all be numbers, all texts, all dates or all booleans", got="others"
        ).with_hint("Convert them to one type first, for example with map(str, values).")
    n_infinite = sum(isinstance(value, float) and math.isinf(value) for value in occurring)
    if n_infinite:
        raise SchemaError(owner, "values", "must be finite numbers", got=f"{n_infinite} that are not")
    kind: Kind = (kinds[0] if kinds else None) or "none"
    counts: Counter[Any] = Counter()
    for value, count in occurring.items():
        counts[_written(value, kind)] += count
    return Distinct(kind, {value: counts[value] for value in sorted(counts)}, bool(missing))


def listed(values: Iterable[object]) -> list[object]:
    """Return the values of a list, an array or a column of a data frame as Python objects."""
    for name in _LIST_METHODS:
        if hasattr(values, name):
            python_values: list[object] = getattr(values, name)()
            return python_values
    return [value.item() if hasattr(value, "item") else value for value in values]


def check_pair(owner: str, low: object, high: object) -> None:
    """Refuse one end of a range without the other."""
    if (low is None) != (high is None):
        rule = say("{} and {} must be given together, or not at all", Parameter("low"), Parameter("high"))
        raise ParameterError(owner, rule)


def refuse_outside(owner: str, n_outside: int) -> None:
    """Refuse values outside the declared range; they are counted, not quoted."""
    if n_outside:
        raise SchemaError(owner, "values", "must lie between low and high", got=f"{n_outside} that do not").with_hint(
            "Widen the range, or correct the values."
        )


def _is_missing(value: object) -> bool:
    return value is None or type(value).__name__ in _NO_VALUE or (isinstance(value, float) and value != value)  # noqa: PLR0124 - NaN


def _kind(value: object) -> Kind | None:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "date" if isinstance(value, dt.date) else None


def _written(value: Any, kind: Kind) -> Scalar:  # noqa: ANN401 - of any kind
    if kind == "number":
        return float(value) + 0.0  # -0.0 becomes 0.0
    if isinstance(value, dt.datetime):
        return _instant(value)
    return value.isoformat() if isinstance(value, dt.date) else value


def _instant(value: dt.datetime) -> str:
    """Write an instant as the tables room does: without trailing zeros, and midnight as the day alone."""
    day, time = value.isoformat().split("T")
    if value.tzinfo is None:
        if "." in time:
            time = time.rstrip("0")
        if time == "00:00:00":
            return day
    return f"{day}T{time}"
