"""Filters on published columns, read from text without evaluating anything."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.checks import name_some
from ldiversity.base.typed import point_hint
from ldiversity.base.warned import warn
from ldiversity.errors import LDiversityWarning, ParameterError
from ldiversity.release import Calendar
from ldiversity.sentences import type_word

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray

__all__ = ["Filter", "as_filters", "nothing_selected", "parse_where"]

WhereLike: TypeAlias = "str | Filter | Sequence[str | Filter] | None"

_QUOTED: Final = r""""(?:[^"]|"")*"|'(?:[^']|'')*'"""
_COLUMN: Final = re.compile(rf"\s*({_QUOTED}|[^\s<>=!'\",]+)\s*")
_OPERATOR: Final = re.compile(
    r"(is\s+not\s+missing|is\s+missing|not\s+in(?=[\s'\"])|in(?=[\s'\"])|between(?=[\s'\"])|"
    r"starts\s+with(?=[\s'\"])|<=|>=|!=|==|=|<|>)",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(rf"\s*({_QUOTED}|[^\s,'\"][^,]*|)\s*(,|$)", re.DOTALL)
_BETWEEN: Final = re.compile(rf"\s*({_QUOTED}|\S+)\s+and\s+({_QUOTED}|\S+)\s*", re.IGNORECASE)
_HINT: Final = (
    "Write for example: zip in 01301,13001 / zip starts with 130 / age >= 50 / sex != male / age between 20 and 29 / "
    "job is missing; put a name or value with blanks or commas into quotes."
)
_COMPARE: Final = {"<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal}


@dataclass(frozen=True)
class Filter:
    """One condition on a published column.

    A missing value counts as a value of its own: ``!=`` and ``not in`` keep it, comparisons never match it.

    Parameters
    ----------
    column
        A published column.
    operator
        One of ``in``, ``not in``, ``starts with``, ``<``, ``<=``, ``>``, ``>=``, ``between``, ``is missing``,
        ``is not missing``.
    values
        Texts, compared as values of the column's type; of ``starts with`` the beginnings of texts or integers.
    """

    column: str
    operator: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        values = (" and " if self.operator == "between" else ",").join(map(_quote, self.values))
        return f"{_quote(self.column)} {self.operator} {values}".rstrip()

    def mask(self, column: pa.ChunkedArray) -> BoolArray:
        """Whether each row of an Arrow column matches."""
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if self.operator.endswith("missing"):
            found = pc.is_valid(column) if "not" in self.operator else pc.is_null(column)
        elif self.operator == "starts with":
            found = self._starts(column)
        else:
            column, values = self._typed(column)
            found = self._compare(column, values)
        mask: BoolArray = np.asarray(pc.fill_null(found, False))
        return mask

    def check(self, column: pa.ChunkedArray) -> None:
        """Warn of values that occur nowhere in this whole column: they are probably mistyped."""
        if self.operator not in {"in", "not in"}:
            return
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        cells, values = self._typed(column)
        occurs = pc.is_in(values, value_set=pc.unique(cells))
        lacking = [text for text, known in zip(self.values, occurs.to_pylist(), strict=True) if not known]
        if lacking and (self.operator == "not in" or len(lacking) < len(self.values)):  # else no record is selected
            rule = (
                f"no record has {name_some(lacking)} in column {self.column!r}. Values are compared as they are "
                "written in the release; an estimate by this column alone lists the values that occur"
            )
            warn(LDiversityWarning("where", rule))

    def occurring(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """The cells of a column that have a value named here, each value once; `check` needs no others."""
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        cells, values = self._typed(column)
        different = pc.unique(cells)
        return pa.chunked_array([different.filter(pc.is_in(different, value_set=values))])

    def bounds(self, kind: pa.DataType) -> tuple[float, float]:
        """The numbers between which a comparison holds; days and instants are numbers of their unit."""
        nothing = pa.chunked_array([pa.nulls(0, kind)])
        if self.operator == "starts with":
            self._starts(nothing)  # raises the clearer error for other types
            raise ParameterError(
                "where", f"'starts with' is not offered for {self.column!r}, which has too many values"
            ).with_hint("Use <, >= or between.")
        _, values = self._typed(nothing)
        if pa.types.is_date32(values.type) or pa.types.is_time32(values.type):
            values = values.cast(pa.int32())
        if pa.types.is_temporal(values.type):
            values = values.cast(pa.int64())
        numbers = values.cast(pa.float64(), safe=False).to_pylist()
        if self.operator == "between":
            return numbers[0], numbers[1]
        return (-math.inf, numbers[0]) if self.operator.startswith("<") else (numbers[0], math.inf)

    def _compare(self, column: pa.ChunkedArray, values: pa.Array) -> pa.ChunkedArray:
        if self.operator == "in":
            return pc.is_in(column, value_set=values)
        if self.operator == "not in":
            return pc.invert(pc.is_in(column, value_set=values))
        if self.operator == "between":
            return pc.and_(pc.greater_equal(column, values[0]), pc.less_equal(column, values[1]))
        return _COMPARE[self.operator](column, values[0])

    def _starts(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        kind = column.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
            raise ParameterError(
                "where",
                f"'starts with' needs a column of texts or integers, but {self.column!r} has type {type_word(kind)}",
            ).with_hint("Use <, >= or between.")
        texts = column.cast(pa.string()) if pa.types.is_integer(kind) else column
        found = pc.starts_with(texts, self.values[0])
        for value in self.values[1:]:
            found = pc.or_(found, pc.starts_with(texts, value))
        return found

    def _typed(self, column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.Array]:
        texts = pa.array(self.values, pa.string())
        kinds = [column.type, pa.float64()] if pa.types.is_integer(column.type) else [column.type]
        for kind in kinds:
            try:
                return column.cast(kind, safe=False), _as_values(texts, kind)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
        raise ParameterError(
            "where",
            f"has type {type_word(column.type)}, which {', '.join(map(repr, self.values))} cannot be read as",
            column=self.column,
        ).with_hint(
            "Write a day as 2020-01-31, an instant as 2020-01-31 08:30:00."
            if pa.types.is_temporal(column.type)
            else "Write true or false."
            if pa.types.is_boolean(column.type)
            else "Write numbers, fractions with a point, as in 2.5."
        )


def _as_values(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Texts as values of a type; instants without a zone are those of the column's, as days are that begin a cell."""
    if not pa.types.is_timestamp(kind) or kind.tz is None:
        return texts.cast(kind)
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:
        here = texts.cast(pa.timestamp(kind.unit)).cast(pa.int64())
        return pa.array(Calendar("day", kind).instants(np.asarray(here))).cast(kind)


def parse_where(text: str) -> Filter:
    """Read one filter.

    Examples
    --------
    >>> parse_where("zip in 130, 131")
    Filter(column='zip', operator='in', values=('130', '131'))
    >>> parse_where("'home zip' between 20 and 29").values
    ('20', '29')
    """
    column = _COLUMN.match(text)
    operator = None if column is None else _OPERATOR.match(text, column.end())
    if column is None or operator is None:
        raise ParameterError("where", "a filter must be a column, an operator and values", got=repr(text), hint=_HINT)
    name, sign = _unquote(column[1]), " ".join(operator[1].lower().split())
    rest = text[operator.end() :]
    if sign.endswith("missing"):
        values: tuple[str, ...] = () if not rest.strip() else ("", "")
        return Filter(name, sign, _exactly(text, values, 0))
    if sign == "between":
        found = _BETWEEN.fullmatch(rest)
        limits = () if found is None else (_unquote(found[1]), _unquote(found[2]))
        return Filter(name, sign, _exactly(text, limits, 2))
    if sign in {"in", "not in", "starts with"}:
        return Filter(name, sign, _split(text, rest))
    single = _exactly(text, _split(text, rest), 1)
    return Filter(name, {"=": "in", "==": "in", "!=": "not in"}.get(sign, sign), single)


def as_filters(where: WhereLike) -> tuple[Filter, ...]:
    """Turn any form of filters that `estimate` accepts into a tuple; all of them must hold."""
    if where is None:
        return ()
    parts = [where] if isinstance(where, str | Filter) or not isinstance(where, Sequence) else list(where)
    wrong = [type(part).__name__ for part in parts if not isinstance(part, str | Filter)]
    if wrong:
        raise ParameterError("estimate", "where", "must hold filters as texts", got=wrong[0], hint=_HINT)
    return tuple(parse_where(part) if isinstance(part, str) else part for part in parts)


def nothing_selected(filters: Sequence[Filter], idle: Sequence[Filter]) -> ParameterError:
    """The error of an estimate without records; the `idle` filters match none even alone."""
    if not filters:
        return ParameterError("estimate", "the release must have at least one record", got="none")
    named = name_some(str(part) for part in idle)
    return ParameterError("estimate", "where", "must select at least one record", got="none").with_hint(
        f"No record matches {named} alone." if idle else "No record matches all filters."
    )


def _split(text: str, rest: str) -> tuple[str, ...]:
    values = []
    position = 0
    while True:
        found = _VALUE.match(rest, position)
        if found is None or not found[1].strip():
            raise ParameterError("where", "values must be separated by commas", got=repr(text), hint=_HINT)
        values.append(_unquote(found[1].strip()))
        position = found.end()
        if not found[2]:
            return tuple(values)


def _exactly(text: str, values: tuple[str, ...], count: int) -> tuple[str, ...]:
    if len(values) != count:
        wanted = ("nothing", "one value", "two values joined by 'and'")[count]
        raise ParameterError(
            "where", f"{wanted} must follow the operator", got=repr(text), hint=f"{point_hint(text)} {_HINT}".strip()
        )
    return values


def _unquote(text: str) -> str:
    mark = text[:1]
    return text[1:-1].replace(mark * 2, mark) if mark in {"'", '"'} else text


def _quote(text: str) -> str:
    plain = re.fullmatch(r"[^\s<>=!'\",]+", text)
    return text if plain else '"' + text.replace('"', '""') + '"'
