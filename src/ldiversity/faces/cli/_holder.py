"""The decisions of a data holder, as options of every command that reads a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from ldiversity.base.typed import point_hint
from ldiversity.faces.cli._command import written
from ldiversity.faces.cli._method import METHOD_OPTIONS, chosen_method, is_grouping, method_name
from ldiversity.faces.cli._paths import READ
from ldiversity.faces.cli._text import split_assignments, split_names

if TYPE_CHECKING:
    from ldiversity.tables import Sensitive

__all__ = [
    "column_arguments",
    "column_options",
    "column_words",
    "grouping_arguments",
    "grouping_options",
    "holder_arguments",
    "holder_options",
    "parse_types",
    "policy_option",
    "population_option",
    "refuse_others",
    "type_option",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

TYPE_WORDS: Final = ("text", "integer", "number", "boolean", "date")

MISSING_WORDS: Final = ("refuse", "category", "drop")

_NAMES: Final = "names separated by commas, or the option again"

type_option: Final = click.option(
    "--type",
    "types",
    multiple=True,
    metavar="COLUMN=TYPE",
    help=f"Read a column as {', '.join(TYPE_WORDS)} where another type would be inferred.",
)

population_option: Final = click.option(
    "--population",
    type=READ,
    help="A table of the people among whom a journalist searches, with the same quasi-identifiers.",
)

_COLUMN_OPTIONS: Final = (
    click.option(
        "--quasi",
        multiple=True,
        metavar="COLUMNS",
        help="Columns by which people might be recognized: published as they are, or generalized by methods that "
        f"group ({_NAMES}).",
    ),
    click.option("--sensitive", multiple=True, metavar="COLUMNS", help="Columns that nobody may learn about a person."),
    click.option("--drop", multiple=True, metavar="COLUMNS", help="Columns that name people; never published."),
    click.option(
        "--plain",
        multiple=True,
        metavar="COLUMNS",
        help="Columns published as they are, on your word that they tell nothing.",
    ),
    click.option(
        "--domain",
        "domains",
        multiple=True,
        metavar="COLUMN=VALUES",
        help="The public values of a sensitive column, in order: v1,v2,... or @file with one a line.",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="HOW",
        help="What becomes of rows whose sensitive value is missing: refuse (the default), category or drop; "
        "COLUMN=HOW for one column; may be repeated.",
    ),
    click.option(
        "--bins",
        multiple=True,
        metavar="COLUMN=BINS",
        help="Cut numbers: width:10, width:10,low:0,high:100, edges:0/10/20 or quantiles:5.",
    ),
    type_option,
)
"""What the holder says about the columns of a table, in the same words to every command that reads it."""

_GROUPING_OPTIONS: Final = (
    click.option(
        "--hierarchy",
        "hierarchies",
        multiple=True,
        metavar="COLUMN=HIERARCHY",
        help="For methods that group: how a quasi-identifier is generalized, by a hierarchy file, or auto, date, "
        "prefix, width:5/10/20 or quantiles:16/4, which are made from its values.",
    ),
    click.option(
        "--person",
        metavar="COLUMN",
        help="For methods that group: tells whose row it is, when a person may have several; never published.",
    ),
)


def policy_option(others: str) -> Callable[[Decorated], Decorated]:
    """The option that names a policy file; `others` says what may stand with it."""
    help_text = f"A reviewed file that says all of the below; {others}."
    return click.option("--policy", type=READ, help=help_text)


def refuse_others(ctx: click.Context, allowed: Collection[str]) -> None:
    """Refuse words on the command line that a policy says."""
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if name not in allowed and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{written(parameter)} must be left out with --policy: the policy says it.")


def column_options(command: Decorated) -> Decorated:
    """Add the options that say what the columns of a table are."""
    return _add(command, _COLUMN_OPTIONS)


def grouping_options(command: Decorated) -> Decorated:
    """Add the options that only methods that group records have."""
    return _add(command, _GROUPING_OPTIONS)


def holder_options(command: Decorated) -> Decorated:
    """Add the options that describe the table's columns and the method."""
    return _add(command, (*_COLUMN_OPTIONS, *METHOD_OPTIONS, *_GROUPING_OPTIONS))


def _add(command: Decorated, options: Sequence[Callable[[Decorated], Decorated]]) -> Decorated:
    for option in reversed(options):
        command = option(command)
    return command


def column_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the options that say what columns are into arguments of the functions that read a table."""
    return {
        "quasi": split_names(given["quasi"], "--quasi"),
        "sensitive": _sensitive(split_names(given["sensitive"], "--sensitive"), given),
        "drop": split_names(given["drop"], "--drop"),
        "plain": split_names(given["plain"], "--plain"),
        "types": parse_types(given["types"]),
    }


def holder_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the options into arguments of `ldiversity.anonymize` and `ldiversity.plan`."""
    arguments = column_arguments(given)
    if not arguments["sensitive"]:
        raise click.UsageError("--sensitive must name at least one column: the one nobody may learn about a person.")
    return {**arguments, "method": chosen_method(given)}


def _column_flags() -> dict[str, str]:
    """How each of the options that say what columns are is written."""

    @column_options
    def described() -> None: ...

    options: list[click.Option] = described.__click_params__  # type: ignore[attr-defined]
    return {str(option.name): option.opts[0] for option in reversed(options)}


def column_words(given: Mapping[str, Any]) -> list[str]:
    """The options that say what columns are, as they were typed."""
    return [word for name, flag in _column_flags().items() for text in given[name] for word in (flag, text)]


def grouping_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the options that only methods that group records have into arguments; none for other methods."""
    texts = split_assignments(given["hierarchies"], "--hierarchy", "a file, auto, date, prefix, width:5/10/20, ...")
    if not is_grouping(given):
        for option, value in (("--hierarchy", texts), ("--person", given["person"])):
            if value:
                raise click.UsageError(f"{option} must be left out with {method_name(given)}, which groups no records.")
        return {}
    return {"hierarchies": texts, "person": given["person"]}


def parse_types(texts: Sequence[str]) -> dict[str, str]:
    """Read ``column=type`` options."""
    what = f"one of {', '.join(TYPE_WORDS)}"
    types = split_assignments(texts, "--type", what)
    for column, word in types.items():
        if word not in TYPE_WORDS:
            raise click.UsageError(f"--type must be a column, an equals sign and {what}, got {f'{column}={word}'!r}.")
    return types


def _sensitive(names: Sequence[str], given: Mapping[str, Any]) -> list[Sensitive]:
    from ldiversity.tables import Sensitive

    domains = _by_column(names, given["domains"], "--domain", "v1,v2,... or @file")
    bins = _by_column(names, given["bins"], "--bins", "width:10, edges:0/10/20 or quantiles:5")
    missing = _missing(names, given["missing"])
    return [
        Sensitive(
            name,
            domain=_domain(domains[name]) if name in domains else None,
            missing=missing[name],
            **(_bins(bins[name]) if name in bins else {}),
        )
        for name in names
    ]


def _missing(names: Sequence[str], texts: Sequence[str]) -> dict[str, Any]:
    """What becomes of missing values, by column: a word for all columns, or ``column=word`` for one."""
    general = [text for text in texts if text in MISSING_WORDS]
    what = f"one of {', '.join(MISSING_WORDS)}"
    if len(general) > 1:
        raise click.UsageError(f"--missing must be given once for all columns, got {' and '.join(general)}.")
    found = dict.fromkeys(names, general[0] if general else "refuse")
    rest = [text for text in texts if text not in MISSING_WORDS]
    if any("=" not in text for text in rest):
        raise click.UsageError(f"--missing must be {what}, or a column, an equals sign and one of them.")
    own = _by_column(names, rest, "--missing", what)
    if any(word not in MISSING_WORDS for word in own.values()):
        raise click.UsageError(f"--missing must be a column, an equals sign and {what}.")
    return {**found, **own}


def _by_column(names: Sequence[str], texts: Sequence[str], option: str, what: str) -> dict[str, str]:
    found = split_assignments(texts, option, what)
    for column in found:
        if column not in names:
            raise click.UsageError(f"{option} must name a column of --sensitive, got {column!r}.")
    return found


def _domain(text: str) -> list[str]:
    if not text.startswith("@"):
        return split_names([text], "--domain")
    try:
        content = Path(text[1:]).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise click.UsageError(f"--domain: file {text[1:]!r} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"--domain: file {text[1:]!r} must be text in UTF-8.") from None
    values = [line.strip() for line in content.splitlines() if line.strip()]
    if not values:
        raise click.UsageError(f"--domain: file {text[1:]!r} must hold at least one value, one a line.")
    return values


def _bins(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split(","):
        word, _, argument = (piece.strip() for piece in part.partition(":"))
        try:
            found[word] = _BINS[word](argument)
        except (KeyError, ValueError):
            raise click.UsageError(
                f"--bins must be width:10, width:10,low:0,high:100, edges:0/10/20 or quantiles:5, got {text!r}. "
                f"{point_hint(text)}".rstrip()
            ) from None
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
