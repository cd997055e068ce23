"""``python -m papers``: rerun the papers' evaluations."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

import click

import ldiversity as ld
from papers.exhibits import Exhibit
from papers.registry import STUDIES
from papers.run import Rerun, StudyResult, cpu_seconds, rerun

__all__ = ["main", "run"]

_NAME: Final = "python -m papers"
_REFUSED: Final = 2
_INTERRUPTED: Final = 130
_CLEARED: Final = "\r\x1b[K"
_LEAVE_ON: Final = ("SIGTERM", "SIGHUP", "SIGQUIT")


def main() -> None:
    """Run the command, and leave with its exit code."""
    for name in _LEAVE_ON:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _leave)
    sys.exit(run(sys.argv[1:]))


def run(words: Sequence[str]) -> int:
    """Run the command with these words, and return the exit code: 0, that of the error, or 130 for Ctrl-C."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            command.main(list(words), prog_name=_NAME, standalone_mode=False)
    except click.UsageError as fault:
        return _complain(f"{fault.format_message()} See '{_NAME} --help'.")
    except ld.LDiversityError as fault:
        return _complain(f"{fault.message} {fault.hint or ''}", fault.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nInterrupted. Nothing unfinished is left behind.", err=True)
        return _INTERRUPTED
    return 0


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("papers", nargs=-1, metavar=f"[{'|'.join(STUDIES)}|all]...")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The folder to write; must not exist yet.")
@click.option("--quick", is_flag=True, help="Smaller tables and fewer repetitions: about two minutes for all papers.")
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder with the public tables.  [default: the folder that LDIVERSITY_DATA names]",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Makes a rerun repeatable.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier rerun.")
@click.option(
    "--workers", type=click.IntRange(min=1),
    help="How many processes share the work.  [default: one per core, at most one per paper]",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print data and verdicts as JSON.")
def command(  # noqa: PLR0913 - each an option
    papers: tuple[str, ...],
    output: Path | None,
    data: Path | None,
    seed: int,
    workers: int | None,
    *,
    quick: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Rerun the evaluations of the papers behind this library: the named papers, or all of them.

    For each figure and table you get the data, a picture, and a verdict on what the paper says. -o writes them into a
    folder with an index page; open its index.html.

    \b
    python -m papers all --quick -o rerun
    python -m papers 000 003 -o rerun
    """  # noqa: D301 - click reads the backspace
    before = cpu_seconds()
    with _progress_line() as progress:
        done = rerun(
            list(papers) or "all", output, quick=quick, data=data, seed=seed, overwrite=overwrite,
            workers=workers or min(os.cpu_count() or 1, len(STUDIES)), progress=progress,
        )  # fmt: skip
    used = cpu_seconds() - before
    click.echo(_as_json(done, output, used) if as_json else "\n".join(_page(done, output, used)))


@contextmanager
def _progress_line() -> Iterator[Callable[[float, str], None] | None]:
    """Show progress on one line of stderr, when it is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield lambda share, what: click.echo(f"{_CLEARED}{math.floor(100 * share)} % {what}", nl=False, err=True)
    finally:
        click.echo(_CLEARED, nl=False, err=True)


def _as_json(done: Rerun, output: Path | None, used: float) -> str:
    cpu = {study.paper: round(study.cpu_seconds, 1) for study in done.studies}
    facts: dict[str, Any] = {
        "folder": None if output is None else str(output),
        "cpu_seconds": {**cpu, "all": round(used, 1)},
        **done.to_dict(),
    }
    for study in facts["studies"]:
        for exhibit in study["exhibits"]:
            exhibit["rows"] = [{name: _finite(value) for name, value in row.items()} for row in exhibit["rows"]]
    return json.dumps(facts, indent=2, allow_nan=False)


def _finite(value: object) -> object:
    """JSON has no infinity and no NaN: they become null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _page(done: Rerun, output: Path | None, used: float) -> list[str]:
    lines = [line for study in done.studies for line in (*_study(study), "")]
    counts = Counter(exhibit.outcome for exhibit in done.exhibits)
    lines.append(", ".join(f"{number} {outcome}" for outcome, number in counts.items()) + ".")
    stopped = [study.paper for study in done.studies if study.problem is not None]
    if stopped:
        lines.append(f"Not run, or not to the end: {', '.join(stopped)}.")
    if output is None:
        lines.append("Nothing was written; -o FOLDER keeps data, pictures and an index page.")
    else:
        lines.append(f"Data, pictures and index.html are in {str(output)!r}.")
    each = ", ".join(f"{study.paper} {study.cpu_seconds:,.1f}" for study in done.studies)
    lines.append(f"CPU seconds: {each}; in all, with pictures and pages, {used:,.1f}.")
    return lines


def _study(study: StudyResult) -> list[str]:
    return [
        f"Paper {study.paper}: {study.title}",
        *([] if study.problem is None else [f"Not run: {study.problem}"]),
        *(f"- {exhibit.item} ({_verdict(exhibit)}): {exhibit.words}" for exhibit in study.exhibits),
        *(f"- Stand-in data: {text}" for text in dict.fromkeys(one.stand_in for one in study.exhibits) if text),
    ]


def _verdict(exhibit: Exhibit) -> str:
    return f"{exhibit.outcome}, stand-in data" if exhibit.stand_in else exhibit.outcome


def _complain(message: str, exit_code: int = _REFUSED) -> int:
    click.echo(f"Error: {' '.join(message.split())}", err=True)
    return exit_code


def _leave(number: int, _: FrameType | None) -> None:
    """Leave by an exception, once, so that unfinished files are removed on the way out."""
    for name in _LEAVE_ON:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    raise SystemExit(128 + number)
