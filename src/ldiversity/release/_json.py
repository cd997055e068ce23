"""JSON that may come from a stranger: it must mean the same to everyone who reads it."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, Final, NoReturn

from ldiversity.errors import ReleaseFormatError

__all__ = ["check_json"]

_SHOWN: Final = 80


def check_json(content: bytes) -> None:
    """Refuse what readers understand differently: a key twice, numbers that are none, nesting without end.

    Nothing is built from it; `ReleaseFormatError` says what is wrong.

    Examples
    --------
    >>> check_json(b'{"claim": {"l": 2, "l": 3}}')
    Traceback (most recent call last):
        ...
    ldiversity.errors.ReleaseFormatError: release: release.json is damaged: the key 'l' must stand only once in an object.
    Hint: Ask the publisher for a good copy.
    """  # noqa: E501 - the message is one line
    try:
        json.loads(
            content.decode("utf-8"), object_pairs_hook=_check_keys, parse_float=_check_finite, parse_constant=_no_number
        )
    except ReleaseFormatError:
        raise
    except (ValueError, RecursionError):
        raise _damaged("it must be JSON in UTF-8, nested a few levels deep") from None


def _check_keys(pairs: list[tuple[str, Any]]) -> None:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        twice = Counter(keys).most_common(1)[0][0]
        raise _damaged(f"the key {twice[:_SHOWN]!r} must stand only once in an object")


def _check_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _damaged("numbers must be finite")
    return number


def _no_number(_text: str) -> NoReturn:
    raise _damaged("numbers must be finite")


def _damaged(rule: str) -> ReleaseFormatError:
    return ReleaseFormatError(f"release: release.json is damaged: {rule}.", hint="Ask the publisher for a good copy.")
