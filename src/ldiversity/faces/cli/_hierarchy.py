"""``ldiversity hierarchy``: make a hierarchy for a column, look at it, keep it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from ldiversity.base.answers import Answer
from ldiversity.base.numbers import counted, number
from ldiversity.base.typed import join_assignment
from ldiversity.errors import SchemaError
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._holder import reading_options
from ldiversity.faces.cli._input import opened_table, read_as_option
from ldiversity.faces.cli._outputs import overwrite_option
from ldiversity.faces.cli._paths import READ, TABLE, Output
from ldiversity.faces.cli._show import Page, json_option, show
from ldiversity.faces.cli._text import shell_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ldiversity.hierarchies import Hierarchy

__all__ = ["command"]

_FIRST_NODES: Final = 4
_FLAT: Final = 3
_CAUTION: Final = (
    "The leaves are the values of this table, and a hierarchy file is published as it is: it shows which values "
    "occur. If that is too much, {ways}."
)
_CODE_BOOK: Final = "write the file from a code book"


@dataclass(frozen=True)
class Level:
    """A level of a hierarchy: its nodes, how many leaves they have, and the first of them."""

    level: int
    nodes: int
    smallest: int
    largest: int
    first: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class LookedAt(Answer, schema="hierarchy", version=1):
    """A hierarchy: its file and column, its levels, its nodes from the root down, what it tells, and how to use it."""

    file: str | None
    leaves: int
    levels: tuple[Level, ...]
    tree: str
    column: str | None = None
    caution: str | None = None
    next: str | None = None


@click.command("hierarchy", cls=Command, short_help="Make a hierarchy for a column, or look at one.")
@click.argument("table", type=TABLE, required=False)
@click.option("--column", metavar="COLUMN", help="The column that gets a hierarchy.")
@click.option("--width", metavar="NUMBERS", help="Intervals of equal width, one width per level: 5,10,20.")
@click.option("--quantiles", metavar="NUMBERS", help="Intervals with equally many records; how many per level: 16,4.")
@click.option("--prefix", is_flag=True, help="Beginnings of texts: 13053, 1305*, 130**, ...")
@click.option("--date", is_flag=True, help="Day, month, quarter, year.")
@click.option(
    "--low", metavar="VALUE", help="Where the public range of numbers or dates begins: all its values are leaves."
)
@click.option("--high", metavar="VALUE", help="Where it ends.")
@click.option("-o", "--output", type=Output(".csv", ".csv.gz"), metavar="FILE", help="Save the hierarchy.")
@overwrite_option
@click.option("--show", "shown", type=READ, metavar="FILE", help="Only look at a hierarchy file.")
@read_as_option
@reading_options
@json_option
def command(table: Path | None, shown: Path | None, *, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - options
    """Make a hierarchy for a COLUMN of a TABLE, by the kind of its values or as you say; look at it and save it.

    It shows values of the table: what it prints is for the data holder.

    \b
    ldiversity hierarchy patients.csv --column age --width 5,10,20 --low 0 --high 119 -o age.csv
    ldiversity hierarchy patients.csv --column zip --prefix -o zip.csv
    ldiversity hierarchy --show zip.csv
    """  # noqa: D301 - click reads the backspace
    if shown is not None:
        _refuse_others(table, given)
        from ldiversity.hierarchies import Hierarchy

        found = _looked_at(Hierarchy.read(shown), file=str(shown))
    else:
        found = _make(table, given)
    show(found, _render, as_json=as_json)


def _refuse_others(table: Path | None, given: Mapping[str, Any]) -> None:
    if table is not None or any(given.values()):
        raise click.UsageError("--show must stand alone, or with --json.")


def _make(table: Path | None, given: Mapping[str, Any]) -> LookedAt:
    if table is None or given["column"] is None:
        raise click.UsageError("TABLE and --column must be given, or --show FILE.")
    kinds = [name for name in ("width", "quantiles", "prefix", "date") if given[name]]
    if len(kinds) > 1:
        raise click.UsageError(f"only one of --width, --quantiles, --prefix and --date may be given, got {len(kinds)}.")
    with opened_table(table, given["read_as"]) as path:
        values, counts = _read(path, given)
    try:
        tree = _build(values, counts, kinds[0] if kinds else "automatic", given)
    except SchemaError as error:
        error.about(given["column"], f"column {given['column']!r}")
        raise
    output = given["output"]
    if output is not None:
        tree.save(output, overwrite=given["overwrite"])
    option = f"{join_assignment(given['column'])}={output}"
    return replace(
        _looked_at(tree, file=None if output is None else str(output)),
        column=given["column"],
        caution=_caution(tree, ranged=given["low"] is not None),
        next=None if output is None else shell_line("--hierarchy", option),
    )


def _caution(tree: Hierarchy, *, ranged: bool) -> str | None:
    """What the leaves tell; a range is advised only where it can be declared and has not been."""
    if tree.origin is None:
        return None
    can_have_range = tree.origin.kind in {"width", "date"} and not ranged
    return _CAUTION.format(ways=f"give --low and --high, or {_CODE_BOOK}" if can_have_range else _CODE_BOOK)


def _read(path: Path, given: Mapping[str, Any]) -> tuple[list[Any], list[int]]:
    """The distinct values of the column and how often each occurs."""
    from ldiversity.tables import ReadingTexts, column_values, open_source, read_reading

    found = column_values(open_source(path, **read_reading(cast("ReadingTexts", given))), given["column"])
    return found.values, found.counts


def _build(values: list[Any], counts: list[int], kind: str, given: Mapping[str, Any]) -> Hierarchy:
    from ldiversity.hierarchies import Hierarchy, automatic_hierarchy

    if kind in {"quantiles", "prefix"} and (given["low"] is not None or given["high"] is not None):
        raise click.UsageError(f"--low and --high must be left out with --{kind}.")
    low, high = _limit(given["low"]), _limit(given["high"])
    if kind == "width":
        return Hierarchy.by_width(values, _numbers("--width", given["width"], float), low=low, high=high)
    if kind == "quantiles":
        return Hierarchy.by_quantiles(values, _numbers("--quantiles", given["quantiles"], int), counts=counts)
    if kind == "prefix":
        return Hierarchy.by_prefix(values)
    if kind == "date":
        return Hierarchy.by_date(values, low=given["low"], high=given["high"])
    return automatic_hierarchy(values, low=low, high=high)


def _limit(text: str | None) -> Any:  # noqa: ANN401 - a number, or what is left to be refused or read as a date
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _numbers(option: str, text: str, kind: type[int | float]) -> list[Any]:
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"{option} must be numbers separated by commas, got {text!r}.") from None


def _looked_at(tree: Hierarchy, *, file: str | None) -> LookedAt:
    levels = []
    for level, labels in enumerate(tree.labels):
        sizes, first = tree.count_leaves(level), tuple(labels[:_FIRST_NODES])
        levels.append(Level(level, len(labels), int(sizes.min()), int(sizes.max()), first))
    text = tree.to_text(most=_FIRST_NODES if tree.depth <= _FLAT else 1)
    return LookedAt(file, len(tree), tuple(levels), text)


def _render(found: LookedAt, page: Page) -> None:
    name = found.column or found.file
    page.title(f"{name}: {counted(found.leaves, 'leaf', 'leaves')}, {counted(len(found.levels), 'level')}")
    last = len(found.levels) - 1
    page.table(
        ["level", "nodes", "leaves per node", "first nodes"],
        [
            [
                {0: "0 (values)", last: f"{last} (root)"}.get(level.level, str(level.level)),
                number(level.nodes),
                _range(level.smallest, level.largest),
                ", ".join(level.first) + (", ..." if level.nodes > len(level.first) else ""),
            ]
            for level in found.levels
        ],
        right={1, 2},
    )
    page.title("From the root down")
    for line in found.tree.splitlines():
        page.text(line)
    if found.caution:
        page.title("Caution")
        page.text(found.caution)
    if found.next:
        page.title("Next")
        page.text(
            f"Saved as {found.file}. Look at it, change it by hand where it is not sensible, and use it in plan, "
            f"anonymize and compare: {found.next}"
        )


def _range(smallest: int, largest: int) -> str:
    return number(smallest) if smallest == largest else f"{number(smallest)} to {number(largest)}"
