"""``ldiversity demo``: publish a made-up table in two ways, estimate from the releases, compare with the truth."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ldiversity.base.answers import Answer
from ldiversity.base.numbers import level, number, percent, points
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._paths import WRITTEN
from ldiversity.faces.cli._show import Page, json_option, show
from ldiversity.faces.cli._text import shell_line

if TYPE_CHECKING:
    import pyarrow as pa

    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation import Estimate

__all__ = ["command"]

_ROWS: Final = 20_000
_MARK: Final = ".ldiversity-demo"
_RELEASES: Final = {"randomized addition": "release-randomized", "semantic diversity": "release-semantic"}
_SHOWN_ROWS: Final = 3
_SHOWN_VALUES: Final = 6
_BANDS: Final = 20
_WARNING: Final = (
    "These made-up people are published twice without a key, to compare the two methods; with real people, the sets of "
    "two such releases could be intersected, so use a key (ldiversity key new) and one method."
)


@dataclass(frozen=True)
class DemoRelease:
    """A release, what it promises, and its first rows."""

    method: str
    claim: str
    rows: tuple[Mapping[str, object], ...]


@dataclass(frozen=True)
class MethodError:
    """How far the estimates from a release are off, and the share of intervals that hold the truth."""

    method: str
    shares: int
    rms_error: float
    held: float


@dataclass(frozen=True)
class TrueShare:
    """A true share, and the same estimated from a release."""

    method: str
    sex: str
    value: str
    truth: float
    estimate: float
    std_error: float


@dataclass(frozen=True)
class BesideTruth:
    """Estimates beside the truth."""

    confidence: float
    methods: tuple[MethodError, ...]
    shares: tuple[TrueShare, ...]


@dataclass(frozen=True, repr=False)
class Demo(Answer, schema="demo", version=1):
    """What the demonstration made: a folder, its releases and pictures, and how good estimates from them are."""

    folder: str
    commands: tuple[str, ...]
    warning: str
    releases: tuple[DemoRelease, ...]
    comparison: BesideTruth
    pictures: tuple[str, ...]


@click.command("demo", cls=Command, short_help="See it all on a made-up table.")
@click.option(
    "--folder",
    type=WRITTEN,
    default=Path("ldiversity-demo"),
    show_default=True,
    help="Where files are written: a new folder, or that of an earlier demo.",
)
@json_option
def command(folder: Path, *, as_json: bool) -> None:
    """Publish a built-in table, estimate from the releases, and compare with the truth.

    It prints the commands that it runs, so that you can type them again.
    """
    from ldiversity.datasets import write_patients

    _claim_folder(folder)
    click.echo(f"Making up {number(_ROWS)} patients; a first run also compiles, which takes some seconds ...", err=True)
    table, tree = write_patients(folder, n=_ROWS, seed=1)
    common = ["anonymize", table, "--quasi", "age,sex,zip,job", "--sensitive", "disease", "--drop", "name", "-l", 3]
    paths = {method: folder / name for method, name in _RELEASES.items()}
    added, semantic = paths.values()
    picture = folder / "estimate.png"
    commands = [
        [*common, "-o", added],
        [*common, "-d", 2, "--distance", f"tree:{tree}", "-o", semantic],
        ["estimate", added, "--by", f"sex,age:{_BANDS}", "--plot", picture],
    ]
    lines = [_run(words) for words in commands]
    answer = Demo(
        folder=str(folder),
        commands=tuple(lines),
        warning=_WARNING,
        releases=tuple(_look(method, path) for method, path in paths.items()),
        comparison=_compare(table, paths, folder / "comparison.png"),
        pictures=(str(picture), str(folder / "comparison.png")),
    )
    show(answer, _render, as_json=as_json)


def _claim_folder(folder: Path) -> None:
    """Make the folder, or refuse one that holds anything but an earlier demo."""
    mark = folder / _MARK
    if folder.exists() and not mark.is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise click.UsageError(f"--folder must be new, empty, or of an earlier demo, got {str(folder)!r}.")
    folder.mkdir(parents=True, exist_ok=True)
    mark.touch()


def _run(words: list[object]) -> str:
    """Run a command as if it had been typed, and return the line."""
    from ldiversity.faces.cli._main import cli

    line = shell_line("ldiversity", *words)
    click.echo(f"$ {line}", err=True)
    with redirect_stdout(io.StringIO()):
        code = cli.main([*map(str, words), "--overwrite"], standalone_mode=False)
    if code:  # what went wrong was said already
        click.get_current_context().exit(code)
    return line


def _look(method: str, path: Path) -> DemoRelease:
    import ldiversity as ld

    release = ld.load_release(path)
    rows = release.table.slice(0, _SHOWN_ROWS).to_pylist()
    return DemoRelease(method, release.claims[0].statement, tuple(rows))


def _compare(table: Path, paths: dict[str, Path], picture: Path) -> BesideTruth:
    """Set the estimates beside the truth, which only the data holder knows."""
    import numpy as np
    import pyarrow.csv as pa_csv

    import ldiversity as ld
    from ldiversity.pictures import save_figure

    source = pa_csv.read_csv(table)
    methods = []
    by_sex: dict[str, Estimate] = {}
    for method, path in paths.items():
        release = ld.load_release(path)
        by_sex[method] = ld.estimate(release, by="sex")
        cells = ld.estimate(release, by=["sex", ld.bins("age", width=_BANDS)])
        truth = _true_shares(source, cells)
        held = (cells.low / cells.records[:, None] <= truth) & (truth <= cells.high / cells.records[:, None])
        error = float(np.sqrt(np.mean((cells.share - truth) ** 2)))
        methods.append(MethodError(method, truth.size, error, float(held.mean())))
        if method == next(iter(paths)):
            title = "Estimated from the release, and the truth that only the holder knows"
            save_figure(cells.figure(title=title, truth=truth), picture)
    return BesideTruth(0.95, tuple(methods), tuple(_share_rows(source, by_sex)))


def _true_shares(source: pa.Table, cells: Estimate) -> FloatArray:
    """The true share of each value in each cell of sex, or of sex and age band."""
    import numpy as np

    sex = np.array(source["sex"].to_pylist())
    band = np.array([f"[{low}, {low + _BANDS})" for low in np.asarray(source["age"]) // _BANDS * _BANDS])
    value = np.array(source["disease"].to_pylist())
    rows = []
    for label in cells.labels.to_pylist():
        inside = sex == label["sex"]
        if "age" in label:
            inside &= band == label["age"]
        rows.append([np.mean(value[inside] == name) for name in cells.domains[0].values])
    return np.array(rows)


def _share_rows(source: pa.Table, by_sex: dict[str, Estimate]) -> Iterator[TrueShare]:
    for method, estimate in by_sex.items():
        truth = _true_shares(source, estimate)
        errors = estimate.std_error / estimate.records[:, None]
        for cell, label in enumerate(estimate.labels.to_pylist()):
            for code in (-truth[cell]).argsort()[:_SHOWN_VALUES].tolist():
                yield TrueShare(
                    method,
                    label["sex"],
                    str(estimate.domains[0].values[code]),
                    truth=float(truth[cell, code]),
                    estimate=float(estimate.share[cell, code]),
                    std_error=float(errors[cell, code]),
                )


def _render(demo: Demo, page: Page) -> None:
    for line, release in zip(demo.commands, demo.releases, strict=False):
        page.title(f"Publish by {release.method}")
        page.command(line)
        page.text(release.claim)
        heads = list(release.rows[0])
        page.table(heads, [[_cell(row[head]) for head in heads] for row in release.rows])
    page.text(demo.warning)
    page.title("Estimate from a release alone")
    page.command(demo.commands[-1])
    comparison = demo.comparison
    page.text(f"It prints {comparison.methods[0].shares} shares with intervals, and drew {demo.pictures[0]}.")
    page.title("Compared with the truth, which only the data holder knows")
    page.table(
        ["sex", "disease", "truth", *(f"by {m.method}" for m in comparison.methods)],
        _beside(comparison),
        right={2, 3, 4},
    )
    page.bullets(
        f"{m.method.capitalize()}: {m.shares} shares by sex and age band are off by {points(m.rms_error)} "
        f"percentage points (root of the mean square); {percent(m.held)} of the {level(comparison.confidence)} "
        "intervals hold the truth."
        for m in comparison.methods
    )
    page.text(f"Look at {demo.pictures[1]}, and at the files in {demo.folder}.")


def _beside(comparison: BesideTruth) -> list[list[str]]:
    rows: dict[tuple[str, str], list[str]] = {}
    for row in comparison.shares:
        cells = rows.setdefault((row.sex, row.value), [percent(row.truth)])
        cells.append(f"{percent(row.estimate)} +- {points(row.std_error)}")
    return [[*key, *cells] for key, cells in rows.items()]


def _cell(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
