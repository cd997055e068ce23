"""Canonical JSON (RFC 8785): one text for one survey, in every language.

Sorted keys, no blanks, UTF-8, and numbers as JavaScript writes them. What is read must be in this form already. So no
two readers can understand it differently: a repeated key, 1.0 in place of 1, or a blank is refused.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

from ldiversity.errors import ParameterError

__all__ = ["MOST_BYTES", "read_canonical", "write_canonical"]

MOST_BYTES: Final = 256_000
"""The greatest length of a survey."""

_DEEPEST: Final = 10
"""How many lists and objects may stand within each other; a survey needs seven."""

_GREATEST: Final = 2**53 - 1
"""Whole numbers beyond this are not exact in every language."""

_WITH_EXPONENT: Final = 1e21
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\Z|\\\Z)', re.DOTALL)
"""A text that does not end goes to the end: otherwise each of its quotes would be tried as the start of another one."""

_EXPONENT_ABOVE: Final = 21
_EXPONENT_BELOW: Final = -6
_HINT: Final = "Ask the collector for the file that `ldiversity collect new` wrote, and do not change it."


def write_canonical(value: Any) -> bytes:  # noqa: ANN401 - any JSON
    """JSON in its canonical form.

    Examples
    --------
    >>> write_canonical({"b": [1.0, 1e-7, True], "a": "é"}).decode()
    '{"a":"é","b":[1,1e-7,true]}'
    """
    return _text(value, 0).encode("utf-8")


def read_canonical(raw: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Read bytes of a stranger; all that is not canonical JSON of a moderate size is refused in one sentence.

    Examples
    --------
    >>> read_canonical(b'{"l":3}')
    {'l': 3}
    """
    if len(raw) > MOST_BYTES:
        raise _refused(f"must be at most {MOST_BYTES // 1000} kB long", "Ask for less, or in several surveys.")
    if _depth(raw) > _DEEPEST:
        raise _refused(f"must be nested at most {_DEEPEST} levels deep")
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_number)
        canonical = write_canonical(value)
    except (ValueError, RecursionError):
        raise _refused("must be JSON in UTF-8 whose numbers are finite") from None
    if canonical != raw:
        raise _refused("must be canonical JSON (RFC 8785): sorted keys that occur once, no blanks, usual numbers")
    return value


def _depth(raw: bytes) -> int:
    depth = deepest = 0
    for bracket in re.findall(rb"[\[\]{}]", _STRING.sub(b"", raw)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _text(value: Any, depth: int) -> str:  # noqa: ANN401
    if depth > _DEEPEST:
        raise ValueError("depth")
    if isinstance(value, dict):
        # By UTF-16, as in the RFC; names of fields are plain letters anyway.
        names = sorted(value, key=lambda name: str(name).encode("utf-16-be"))
        return "{" + ",".join(f"{_quoted(name)}:{_text(value[name], depth + 1)}" for name in names) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_text(part, depth + 1) for part in value) + "]"
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return _whole(value) if isinstance(value, int) else _number(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _whole(number: int) -> str:
    if abs(number) > _GREATEST:
        raise ValueError("number")
    return str(number)


def _number(number: float) -> str:
    """A double as JavaScript writes it: the shortest digits that give it back.

    Examples
    --------
    >>> [_number(number) for number in (1e21, 1234567890123456.8, 1.5e-6, 1.5e-7, -0.0)]
    ['1e+21', '1234567890123456.8', '0.0000015', '1.5e-7', '0']
    """
    if not math.isfinite(number) or _GREATEST < abs(number) < _WITH_EXPONENT:  # the latter looks like a whole number
        raise ValueError("number")
    if number == 0:
        return "0"
    sign, (mantissa, exponent) = "-" if number < 0 else "", f"{abs(number)!r}e0".split("e")[:2]
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent) - (len(whole + fraction) - len(digits))  # digits before the decimal point
    digits = digits.rstrip("0")
    if not _EXPONENT_BELOW < point <= _EXPONENT_ABOVE:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{rest}e{point - 1:+d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return f"{sign}{digits.ljust(point, '0')}"
    return f"{sign}{digits[:point]}.{digits[point:]}"


def _no_number(_: str) -> NoReturn:
    raise ValueError("number")


def _refused(rule: str, hint: str = _HINT) -> ParameterError:
    return ParameterError("survey", rule, hint=hint)
