"""Names and numbers in the spelling of the command line: read, and written in commands for users to run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ldiversity.errors import ParameterError

__all__ = [
    "join_assignment",
    "join_levels",
    "join_names",
    "number_text",
    "point_hint",
    "split_assignment",
    "split_assignments",
    "split_levels",
    "split_names",
    "split_numbers",
]

_ITEM: Final = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^,"]*))\s*(?:,|$)')
_ASSIGNMENT: Final = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^="]+?))\s*=(?P<rest>.*)', re.DOTALL)
_PART: Final = re.compile(r'(?:"(?:[^"]|"")*"|[^,"])+')
_EXACT: Final = 2**53


def join_names(names: Iterable[str]) -> str:
    """Write names as a comma-separated list; a name that contains a comma gets double quotes.

    Examples
    --------
    >>> join_names(["age", "home, zip"])
    'age,"home, zip"'
    """
    return ",".join(_quoted(name, ",") for name in names)


def join_assignment(name: str) -> str:
    """Write a name for use before an equals sign.

    Examples
    --------
    >>> join_assignment("income"), join_assignment("a=b")
    ('income', '"a=b"')
    """
    return _quoted(name, "=")


def number_text(number: float) -> str:
    """Write a number with all its digits, so that reading it gives the same number.

    Examples
    --------
    >>> number_text(2.0), number_text(2.1234567), number_text(1234567)
    ('2', '2.1234567', '1234567')
    """
    plain = float(number)
    return str(int(number)) if plain.is_integer() and abs(plain) < _EXACT else repr(plain)


def point_hint(text: str) -> str:
    """Explain how fractions are written if a text has one with a comma; otherwise return an empty text.

    Examples
    --------
    >>> point_hint("width:2,5"), point_hint("width:5,low:0")
    ('Fractions are written with a point, as in 2.5.', '')
    """
    return "Fractions are written with a point, as in 2.5." if re.search(r"\d,\d", text) else ""


def split_names(texts: Iterable[str], option: str) -> list[str]:
    """Split each text at its commas; a name that contains a comma needs double quotes.

    Examples
    --------
    >>> split_names(['age,sex', '"home, zip"'], "quasi")
    ['age', 'sex', 'home, zip']
    """
    names: list[str] = []
    for text in texts:
        position = 0
        while True:
            item = _ITEM.match(text, position)
            name = None if item is None else item["plain"] if item["quoted"] is None else item["quoted"]
            if item is None or name is None or not name.strip():
                raise ParameterError("must be names separated by commas", parameter=option, got=repr(text)).with_hint(
                    "Put a name with a comma into double quotes, as in '\"home, zip\",age'."
                )
            names.append(name.strip() if item["quoted"] is None else name.replace('""', '"'))
            position = item.end()
            if not item[0].endswith(","):
                break
    return names


def split_assignment(text: str, option: str, what: str) -> tuple[str, str]:
    """Split ``name=rest`` at the first equals sign; a name that contains one needs double quotes.

    Examples
    --------
    >>> split_assignment("income=width:10", "bins", "width:10")
    ('income', 'width:10')
    """
    match = _ASSIGNMENT.fullmatch(text)
    if match is None or not match["rest"].strip():
        raise ParameterError(f"must be a column, an equals sign and {what}", parameter=option, got=repr(text))
    name = match["plain"] if match["quoted"] is None else match["quoted"].replace('""', '"')
    return name, match["rest"].strip()


def split_assignments(texts: Iterable[str], option: str, what: str) -> dict[str, str]:
    """Split several texts as `split_assignment` does; a name may occur only once.

    Examples
    --------
    >>> split_assignments(["zip=text", "age=integer"], "types", "a type")
    {'zip': 'text', 'age': 'integer'}
    """
    assigned: dict[str, str] = {}
    for text in texts:
        name, rest = split_assignment(text, option, what)
        if name in assigned:
            raise ParameterError("must name each column once", parameter=option, got=f"{name!r} again").with_hint(
                "Leave one of them out."
            )
        assigned[name] = rest
    return assigned


def split_numbers(texts: Iterable[str], option: str) -> dict[str, float]:
    """Read ``name=number`` texts.

    Examples
    --------
    >>> split_numbers(["age=2", "zip=0.5"], "weights")
    {'age': 2.0, 'zip': 0.5}
    """
    found: dict[str, float] = {}
    for name, text in split_assignments(texts, option, "a number").items():
        try:
            found[name] = float(text)
        except ValueError:
            raise ParameterError(
                "must be a name, an equals sign and a number such as 0.5", parameter=option, got=repr(f"{name}={text}")
            ) from None
    return found


def split_levels(text: str, option: str) -> int | dict[str, int]:
    """Read a whole number, or one for each of several columns, separated by commas.

    Examples
    --------
    >>> split_levels("3", "l"), split_levels("education=3,occupation=5", "l")
    (3, {'education': 3, 'occupation': 5})
    """
    rule = "must be a whole number, or one for each column"
    example = "Write for example 3, or education=3,occupation=5."
    parts = [text] if "=" not in text else [part for part in _PART.findall(text) if part.strip()]
    try:
        if "=" not in text:
            return int(text)
        levels = {name: int(one) for name, one in split_assignments(parts, option, "a whole number").items()}
    except ValueError as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(rule, parameter=option, got=repr(text)).with_hint(example) from None
    return levels


def join_levels(levels: Mapping[str, float]) -> str:
    """Write the numbers of several columns as one word.

    Examples
    --------
    >>> join_levels({"education": 3, "home, zip": 5})
    'education=3,"home, zip"=5'
    """
    return ",".join(f"{_quoted(name, ',=')}={number_text(number)}" for name, number in levels.items())


def _quoted(name: str, mark: str) -> str:
    plain = not re.search(rf'[{mark}"]|^\s|\s$|^$', name)
    return name if plain else '"' + name.replace('"', '""') + '"'
