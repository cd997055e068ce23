"""Match a declared domain to the type of its column."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import Scalar
from ldiversity.base.checks import name_some
from ldiversity.errors import SchemaError
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say, type_word

__all__ = ["match_declared"]

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_MOST_BITS: Final = 1000
_WORDS: Final = {"true": True, "false": False}


def match_declared(owner: str, column: str, values: Sequence[object], kind: pa.DataType) -> Domain:
    """Build the declared domain: its values in the type of the column, in the declared order.

    Examples
    --------
    >>> match_declared("patients.csv", "grade", ["2", "1"], pa.int64()).values
    (2, 1)
    """
    matched: list[Scalar] = []
    unfit: list[object] = []
    for value in values:
        try:
            matched.append(_match(value, kind))
        except (TypeError, ValueError, OverflowError):
            unfit.append(_nameable(value))
    if unfit:
        raise SchemaError(
            owner,
            f"the declared domain of column {column!r} must hold values of the column's type, {type_word(kind)}",
            got=name_some(unfit),
        ).with_hint(say("Correct the values, or open the table with {}.", Setting("types", (column, "text"))))
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    positions = tuple(math.nan if v is None else float(v) for v in matched) if numbers else None
    return Domain(tuple(matched), ordered=True, positions=positions)


def _nameable(value: object) -> object:
    # Python refuses to print integers of thousands of digits.
    wide = isinstance(value, int) and value.bit_length() > _MOST_BITS
    return "an integer far beyond 64 bits" if wide else value


def _match(value: object, kind: pa.DataType) -> Scalar:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return None
    if pa.types.is_boolean(kind):
        return _boolean(value)
    if isinstance(value, bool):
        raise TypeError
    if pa.types.is_integer(kind):
        return _integer(value)
    if pa.types.is_floating(kind):
        return _number(value)
    return _text(value)


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    raise TypeError


def _integer(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    raise TypeError


def _number(value: object) -> float:
    if isinstance(value, int | float | str):
        number = float(value)
        if math.isfinite(number):
            return number + 0.0
    raise TypeError


def _text(value: object) -> str:
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, str | int | float):
        return str(value)
    raise TypeError
