"""JSON that may come from a stranger, and must mean the same to every reader."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, Final, NoReturn

from ldiversity.base.limits import MOST_MANIFEST_PARTS
from ldiversity.errors import ReleaseFormatError

__all__ = ["has_few_parts", "parse_json"]

_SHOWN: Final = 80


def parse_json(content: bytes) -> Any:  # noqa: ANN401 - whatever it describes
    """Parse JSON, and refuse what readers understand differently: repeated keys, numbers like NaN, deep nesting.

    `ReleaseFormatError` says what is wrong.

    Examples
    --------
    >>> parse_json(b'{"claim": {"l": 2, "l": 3}}')
    Traceback (most recent call last):
        ...
    ldiversity.errors.ReleaseFormatError: release: release.json is damaged: the key 'l' must occur only once in an object.
    Hint: Ask the publisher for a good copy.
    """  # noqa: E501 - the message is one line
    if not has_few_parts(content):
        raise _damaged(f"it must have at most {MOST_MANIFEST_PARTS} parts")
    try:
        found = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_checked_object,
            parse_float=_check_finite,
            parse_constant=_no_number,
        )
        if re.search(rb"\\u[dD]", content):  # may be half a character, which other readers refuse
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except ReleaseFormatError:
        raise
    except (ValueError, RecursionError):
        raise _damaged("it must be JSON in UTF-8, nested a few levels deep") from None
    return found


def has_few_parts(content: bytes) -> bool:
    """Whether JSON has few enough parts to be built: a part of two bytes takes a hundred in memory.

    Every part follows one of three characters. Those within texts are counted too, which does no harm.
    """
    return sum(content.count(separator) for separator in (b",", b"[", b"{")) <= MOST_MANIFEST_PARTS


def _checked_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _damaged(f"the key {twice[:_SHOWN]!r} must occur only once in an object")
    return found


def _check_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _damaged("numbers must be finite")
    return number


def _no_number(_text: str) -> NoReturn:
    raise _damaged("numbers must be finite")


def _damaged(rule: str) -> ReleaseFormatError:
    return ReleaseFormatError("release", f"release.json is damaged: {rule}", hint="Ask the publisher for a good copy.")
