"""Read and write the holder's decisions about columns as options of the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, TypedDict

from ldiversity.base.typed import (
    join_assignment,
    join_names,
    number_text,
    point_hint,
    split_assignments,
    split_names,
)
from ldiversity.errors import ParameterError
from ldiversity.sentences import Parameter, say
from ldiversity.tables._read_options import GivenReadOptions, ReadOptions, as_read_options
from ldiversity.tables._sensitive import MISSING_POLICIES, Sensitive
from ldiversity.tables._type_names import TYPE_WORDS

__all__ = [
    "ColumnTexts",
    "Reading",
    "ReadingTexts",
    "Roles",
    "read_reading",
    "read_roles",
    "reading_words",
    "role_words",
]

_BINS_FORM: Final = "width:10, width:10,low:0,high:100, edges:0/10/20 or quantiles:5"


class ReadingTexts(TypedDict):
    """The texts of the options that say how a table is read; None or nothing where one was not given."""

    types: Sequence[str]
    sheet: str | None
    encoding: str | None
    decimal: str | None
    date_format: str | None
    skip_rows: int | None


class ColumnTexts(ReadingTexts):
    """The texts of the options about columns, one for each time that an option was given."""

    quasi: Sequence[str]
    sensitive: Sequence[str]
    drop: Sequence[str]
    plain: Sequence[str]
    domains: Sequence[str]
    missing: Sequence[str]
    bins: Sequence[str]


class Reading(TypedDict):
    """How a table is read, as arguments of the functions that read one."""

    types: dict[str, str]
    read: ReadOptions


class Roles(Reading):
    """The roles of columns, as arguments of the functions that read a table."""

    quasi: list[str]
    sensitive: list[Sensitive]
    drop: list[str]
    plain: list[str]


def read_roles(texts: ColumnTexts) -> Roles:
    """Read roles, domains, bins, types and the treatment of missing values from the options of a command.

    Examples
    --------
    >>> empty = dict.fromkeys(ColumnTexts.__annotations__, ())
    >>> read_roles({**empty, "sensitive": ["income"], "bins": ["income=width:10"]})["sensitive"][0].width
    10.0
    """
    names = split_names(texts["sensitive"], "sensitive")
    domains = _by_column(names, texts["domains"], "domains", "v1,v2,... or @file")
    bins = _by_column(names, texts["bins"], "bins", "width:10, edges:0/10/20 or quantiles:5")
    missing = _missing(names, texts["missing"])
    sensitive = [
        Sensitive(
            name,
            domain=_domain(domains[name]) if name in domains else None,
            missing=missing[name],
            **(_read_bins(bins[name]) if name in bins else {}),
        )
        for name in names
    ]
    return {
        "quasi": split_names(texts["quasi"], "quasi"),
        "sensitive": sensitive,
        "drop": split_names(texts["drop"], "drop"),
        "plain": split_names(texts["plain"], "plain"),
        **read_reading(texts),
    }


def read_reading(texts: ReadingTexts) -> Reading:
    """Read the options that say how a table is read.

    Examples
    --------
    >>> empty = dict.fromkeys(ReadingTexts.__annotations__)
    >>> read_reading({**empty, "types": ["zip=text"], "sheet": "2"})["read"].given
    {'sheet': '2'}
    """
    given = {one.name: texts.get(one.name) for one in fields(ReadOptions)}
    read = as_read_options("ReadOptions", {name: value for name, value in given.items() if value not in {None, ()}})
    return {"types": _read_types(texts["types"] or ()), "read": read}


def _read_types(texts: Sequence[str]) -> dict[str, str]:
    """Read ``column=type`` texts.

    Examples
    --------
    >>> _read_types(["zip=text"])
    {'zip': 'text'}
    """
    what = f"one of {', '.join(TYPE_WORDS)}"
    types = split_assignments(texts, "types", what)
    for column, word in types.items():
        if word not in TYPE_WORDS:
            given = repr(f"{column}={word}")
            raise ParameterError(f"must be a column, an equals sign and {what}", parameter="types", got=given)
    return types


def role_words(
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[Sensitive] = (),
    drop: Sequence[str] = (),
    plain: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    read: GivenReadOptions = None,
    person: str | None = None,
) -> tuple[str, ...]:
    """Write roles, domains, bins, types and the treatment of missing values as the options that all commands share.

    Examples
    --------
    >>> " ".join(role_words(quasi=["age", "sex"], sensitive=[Sensitive("income", width=10, missing="drop")]))
    '--quasi age,sex --sensitive income --missing income=drop --bins income=width:10'
    """
    words: list[str] = []
    named = {"--quasi": quasi, "--sensitive": [column.name for column in sensitive], "--drop": drop, "--plain": plain}
    for option, names in named.items():
        words += [option, join_names(names)] if names else []
    for column in sensitive:
        start = f"{join_assignment(column.name)}="
        if column.missing != "refuse":
            words += ["--missing", start + column.missing]
        if column.domain is not None:
            words += ["--domain", start + join_names([str(value) for value in column.domain if value is not None])]
        if column.bins is not None:
            words += ["--bins", start + _bins_text(column)]
    whose = () if person is None else ("--person", person)
    return (*words, *reading_words(types, read), *whose)


def reading_words(types: Mapping[str, str] | None, read: GivenReadOptions) -> tuple[str, ...]:
    """Write how a table is read as options of the command line.

    Examples
    --------
    >>> reading_words({"zip": "text"}, {"sheet": 2})
    ('--type', 'zip=text', '--sheet', '2')
    """
    declared = [word for name, kind in (types or {}).items() for word in ("--type", f"{join_assignment(name)}={kind}")]
    return (*declared, *as_read_options("reading_words", read).words)


def _missing(names: Sequence[str], texts: Sequence[str]) -> dict[str, Any]:
    """Read the treatment of missing values by column: a word for all columns, or ``column=word`` for one."""
    general = [text for text in texts if text in MISSING_POLICIES]
    what = f"one of {', '.join(MISSING_POLICIES)}"
    if len(general) > 1:
        raise ParameterError("must be given once for all columns", parameter="missing", got=" and ".join(general))
    common = dict.fromkeys(names, general[0] if general else "refuse")
    rest = [text for text in texts if text not in MISSING_POLICIES]
    if any("=" not in text for text in rest):
        raise ParameterError(f"must be {what}, or a column, an equals sign and one of them", parameter="missing")
    own = _by_column(names, rest, "missing", what)
    if any(word not in MISSING_POLICIES for word in own.values()):
        raise ParameterError(f"must be a column, an equals sign and {what}", parameter="missing")
    return {**common, **own}


def _by_column(names: Sequence[str], texts: Sequence[str], option: str, what: str) -> dict[str, str]:
    assigned = split_assignments(texts, option, what)
    for column in assigned:
        if column not in names:
            rule = say("must name a column of {}", Parameter("sensitive"))
            raise ParameterError(rule, parameter=option, got=repr(column))
    return assigned


def _domain(text: str) -> list[str]:
    if not text.startswith("@"):
        return split_names([text], "domains")
    try:
        content = Path(text[1:]).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ParameterError("domains", f"file {text[1:]!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ParameterError("domains", f"file {text[1:]!r} must be text in UTF-8") from None
    values = [line.strip() for line in content.splitlines() if line.strip()]
    if not values:
        raise ParameterError("domains", f"file {text[1:]!r} must hold at least one value, one per line")
    return values


def _read_bins(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split(","):
        word, _, argument = (piece.strip() for piece in part.partition(":"))
        try:
            found[word] = _BINS[word](argument)
        except (KeyError, ValueError):
            hint = point_hint(text) or None
            raise ParameterError(f"must be {_BINS_FORM}", parameter="bins", got=repr(text), hint=hint) from None
    return found


def _edges(text: str) -> list[float]:
    return [float(edge) for edge in text.split("/")]


_BINS: Final[Mapping[str, Callable[[str], Any]]] = {
    "width": float,
    "edges": _edges,
    "quantiles": int,
    "low": float,
    "high": float,
}


def _bins_text(one: Sensitive) -> str:
    edges = None if one.edges is None else "/".join(number_text(edge) for edge in one.edges)
    numbers = {"width": one.width, "quantiles": one.quantiles, "low": one.low, "high": one.high}
    parts = {name: number_text(value) for name, value in numbers.items() if value is not None}
    return ",".join(f"{name}:{text}" for name, text in (({} if edges is None else {"edges": edges}) | parts).items())
