"""Infer the type of a column of texts from all its cells.

A narrower type is chosen only if nothing is lost: a column with leading zeros, plus signs, wide integers or unusual
spellings stays a text.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["FALSE_WORDS", "TRUE_WORDS", "TypeGuess"]

TRUE_WORDS: Final = ("true", "True", "TRUE")
FALSE_WORDS: Final = ("false", "False", "FALSE")

_PROBE_ROWS: Final = 256
_EXACT_FLOAT: Final = 2**53
_INTEGER: Final = r"^-?(0|[1-9][0-9]*)$"
_UNUSUAL: Final = r"^(\+|-?0[0-9])"
_BEGINNINGS: Final = np.isin(np.arange(256), np.frombuffer(b"+-0", dtype=np.uint8))
_DATE: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


class TypeGuess:
    """The types that all cells seen so far allow, from the narrowest to text.

    The result depends only on the set of cells, not on their order or on the chunks.

    Examples
    --------
    >>> guess = TypeGuess()
    >>> guess.see(pa.array(["10", None, "-3"]))
    >>> guess.type
    DataType(int64)
    >>> guess.see(pa.array(["01"]))
    >>> guess.type
    DataType(string)
    """

    def __init__(self, *, points: bool = True) -> None:
        """Look for the types; `points`: whether a point stands before the decimals of a number."""
        self._points = points
        self._open: dict[str, pa.DataType] = {
            "integer": pa.int64(),
            "number": pa.float64(),
            "boolean": pa.bool_(),
            "date": pa.date32(),
        }
        self._seen = False
        self._last = _Cells(pa.array([], pa.string()))

    @property
    def type(self) -> pa.DataType:
        """The narrowest type that every cell allows; text when there was no cell."""
        return next(iter(self._open.values()), pa.string()) if self._seen else pa.string()

    def see(self, cells: pa.Array) -> None:
        """Rule out the types that some of these cells do not allow."""
        if cells.null_count == len(cells):
            return
        self._seen = True
        if len(self._open) > 1 and len(cells) > _PROBE_ROWS:
            self._rule_out(_Cells(cells.slice(0, _PROBE_ROWS)))  # a few cells are enough for most columns of texts
        self._last = _Cells(cells)
        self._rule_out(self._last)

    def as_values(self, cells: pa.Array) -> pa.Array:
        """Some cells that were seen as values of the type; the last ones need not be converted again."""
        own = self._last if self._last.texts is cells else _Cells(cells)
        self._last = _Cells(pa.array([], pa.string()))  # which holds no cell
        values = own.read_as(self.type)
        return cells.cast(self.type) if values is None else values

    def _rule_out(self, cells: _Cells) -> None:
        for name in list(self._open):
            # Integers are numbers too; only their size is left to check.
            integers = name == "number" and "integer" in self._open
            allowed = _are_exact_floats(cells) if integers else _ALLOWS[name](cells)
            if not allowed or (name == "number" and not self._points and _has_point(cells)):
                del self._open[name]


class _Cells:
    """Texts, and what they are when they are read as values of a type; each type is tried once."""

    def __init__(self, texts: pa.Array) -> None:
        self.texts = texts
        self._read: dict[pa.DataType, pa.Array | None] = {}

    def read_as(self, target: pa.DataType) -> pa.Array | None:
        """The values; None where some text is none."""
        if target not in self._read:
            try:
                self._read[target] = pc.cast(self.texts, target)
            except pa.ArrowInvalid:
                self._read[target] = None
        return self._read[target]


def _all(mask: pa.Array) -> bool:
    return pc.all(mask, min_count=0).as_py() is not False


def _is_integer(cells: _Cells) -> bool:
    numbers = cells.read_as(pa.int64())
    if numbers is None:
        return False
    # Most integers are spelled as Arrow writes them; the pattern decides about the rest, such as -0.
    same = _all(pc.equal(pc.cast(numbers, pa.string()), cells.texts))
    return same or _all(pc.match_substring_regex(cells.texts, _INTEGER))


def _are_exact_floats(integers: _Cells) -> bool:
    bounds = pc.min_max(integers.read_as(pa.int64())).as_py()
    return bounds["min"] is None or (bounds["min"] > -_EXACT_FLOAT and bounds["max"] < _EXACT_FLOAT)


def _is_number(cells: _Cells) -> bool:
    numbers = cells.read_as(pa.float64())
    if numbers is None:
        return False
    filled = numbers.drop_null().to_numpy()
    largest = max(-filled.min(initial=0.0), filled.max(initial=0.0))
    if not np.isfinite(largest):
        return False
    if pc.any(pc.match_substring_regex(_with_a_sign_or_zero(cells.texts), _UNUSUAL)).as_py():
        return False
    if largest < _EXACT_FLOAT:
        return True
    wide = pc.fill_null(pc.greater_equal(pc.abs(numbers), _EXACT_FLOAT), False)
    # A float would change the digits of a wide integer.
    return not pc.any(pc.match_substring_regex(cells.texts.filter(wide), _INTEGER)).as_py()


def _with_a_sign_or_zero(cells: pa.Array) -> pa.Array:
    """The cells that begin with a sign or a zero: only these can be unusual, and looking at one byte is fast."""
    _, offsets, content = cells.buffers()
    starts = np.frombuffer(offsets, dtype=np.int32)[cells.offset : cells.offset + len(cells) + 1]
    filled = starts[1:] > starts[:-1]
    places = None if filled.all() else np.flatnonzero(filled)
    texts = np.frombuffer(content or b"", dtype=np.uint8)
    first = texts.take(starts[:-1] if places is None else starts[places])  # faster than an index in brackets
    chosen = np.flatnonzero(_BEGINNINGS.take(first))
    return cells.take(pa.array(chosen if places is None else places[chosen]))


def _has_point(cells: _Cells) -> bool:
    return pc.any(pc.match_substring(cells.texts, "."), min_count=0).as_py() is True


def _is_boolean(cells: _Cells) -> bool:
    return _all(pc.is_in(cells.texts.drop_null(), value_set=pa.array([*TRUE_WORDS, *FALSE_WORDS])))


def _is_date(cells: _Cells) -> bool:
    return _all(pc.match_substring_regex(cells.texts, _DATE)) and cells.read_as(pa.date32()) is not None


_ALLOWS: Final = {"integer": _is_integer, "number": _is_number, "boolean": _is_boolean, "date": _is_date}
