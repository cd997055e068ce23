"""The table of a command: a file, a file whose ending says nothing, or stdin."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from ldiversity.base.registry import registered
from ldiversity.errors import LDiversityError
from ldiversity.faces.cli._machine import location
from ldiversity.faces.cli._paths import free_folder
from ldiversity.sentences import Sentence

__all__ = ["advised_words", "opened_if_given", "opened_table", "read_as_option", "read_as_words"]

_STDIN: Final = Path("-")

read_as_option: Final = click.option(
    "--read-as",
    type=click.Choice([name[1:] for name in registered("file_endings") if not name.endswith(".gz")]),
    help="What TABLE is when the ending of its name does not say it; must be given for stdin, which is -.",
)


@contextmanager
def opened_table(table: Path, read_as: str | None) -> Iterator[Path]:
    """Give a path whose ending says how to read the table, for the time of a ``with`` block.

    A table is read more than once, so stdin is kept meanwhile in a private temporary file.
    """
    if read_as is None:
        if table == _STDIN:
            raise click.UsageError("--read-as must be given for stdin.")
        if table.is_file() and not _says_what_it_is(table):
            raise click.UsageError(
                f"TABLE must end in a known way, got {table.name!r}: say what it is, as in --read-as csv. Known "
                f"endings are {', '.join(registered('file_endings'))}."
            )
        yield table
        return
    if table != _STDIN and not table.is_file():
        raise click.UsageError(f"TABLE must be a file, but {str(table)!r} does not exist or is none.")
    with TemporaryDirectory(prefix="ldiversity-") as folder:  # readable by its owner only
        packed = ".gz" if table.suffix.lower() == ".gz" else ""
        stem = "stdin" if table == _STDIN else table.stem
        named = Path(folder) / f"{stem}.{read_as}{packed}"
        if table == _STDIN:
            with named.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        else:
            _link(table.resolve(), named)
        try:
            yield named
        except LDiversityError as fault:
            if fault.owner == named.name:
                fault.rename("stdin" if table == _STDIN else table.name)
                if fault.column is None:
                    # What does not look like such a file may be another kind of file.
                    others = "leave it out, or choose another" if _says_what_it_is(table) else "choose another"
                    fault.with_hint(
                        Sentence(f"If --read-as {read_as} is wrong, {others}. Otherwise: ", fault.hint or "")
                    )
            raise


def _says_what_it_is(table: Path) -> bool:
    name = table.name.lower()
    if name.endswith(tuple(registered("file_endings"))):
        return True
    from ldiversity.tables import FILE_ENDINGS  # which also has what the program itself added

    return name.endswith(tuple(FILE_ENDINGS))


def opened_if_given(table: Path | None, read_as: str | None) -> AbstractContextManager[Path | None]:
    """The same for a command whose table may be named elsewhere."""
    if table is not None:
        return opened_table(table, read_as)
    if read_as is not None:
        raise click.UsageError("--read-as must be left out without TABLE.")
    return nullcontext()


def read_as_words(read_as: str | None) -> list[str]:
    """The option as words of a command."""
    return [] if read_as is None else ["--read-as", read_as]


def advised_words(
    words: Sequence[str] | None, table: Path, read_as: str | None, machine: Sequence[str] = ()
) -> tuple[str, ...]:
    """An advised command that publishes the table named here, on the same machines, into a folder that is free."""
    if not words:
        return ()
    name, command, _, *options, _ = words  # ldiversity anonymize TABLE ... release
    *options, output = options  # --output
    named = [*read_as_words(read_as), *options, *machine, output]
    return (name, command, str(location(table)), *map(str, named), str(free_folder("release")))


def _link(table: Path, named: Path) -> None:
    try:
        named.symlink_to(table)
    except OSError:  # a system on which links are not allowed
        shutil.copyfile(table, named)
