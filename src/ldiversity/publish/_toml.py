"""Writing TOML: sections of plain values, lists and inline tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from ldiversity.errors import ParameterError

__all__ = ["write_toml"]

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def write_toml(sections: Mapping[str, Mapping[str, Any]]) -> str:
    r"""Write sections; in ``sensitive`` every entry is a section of its own.

    Examples
    --------
    >>> print(write_toml({"table": {"quasi": ["age"]}, "sensitive": {"a b": {"bins": {"width": 2.5}}}}))
    [table]
    quasi = ["age"]
    <BLANKLINE>
    [sensitive."a b"]
    bins = { width = 2.5 }
    <BLANKLINE>
    """
    written = []
    for name, section in sections.items():
        if name == "sensitive":
            written += [_section(f"{name}.{_key(column)}", entry) for column, entry in section.items()]
        else:
            written.append(_section(name, section))
    return "\n".join(written)


def _section(name: str, entries: Mapping[str, Any]) -> str:
    lines = [f"{_key(key)} = {_value(value)}\n" for key, value in entries.items()]
    return f"[{name}]\n{''.join(lines)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:  # noqa: ANN401 - any value of TOML
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(float(value)) if isinstance(value, float) else repr(int(value))


def _text(text: str) -> str:
    """A text in double quotes: JSON's escapes are TOML's; one control character JSON leaves as it is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParameterError("publication", "texts must be valid Unicode to be saved") from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
