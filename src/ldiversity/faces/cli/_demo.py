"""``ldiversity demo``: publish a made-up table in two ways, estimate from the releases, compare with the truth."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ldiversity.base.numbers import level, number, percent, points
from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli._paths import WRITTEN
from ldiversity.faces.cli._show import Facts, Page, show
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
    "These made-up people are published twice without a key, to compare the two methods; of real people the sets of "
    "two such releases could be intersected, so use a key (ldiversity key new) and one method."
)


@click.command("demo", cls=Command, short_help="See it all on a made-up table.")
@click.option(
    "--folder",
    type=WRITTEN,
    default=Path("ldiversity-demo"),
    show_default=True,
    help="Where files are written: a new folder, or that of an earlier demo.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the same facts as JSON.")
def command(folder: Path, *, as_json: bool) -> None:
    """Publish a built-in table, estimate from the releases, and compare with the truth.

    Prints the commands that it runs, to be typed again.
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
    lines = [_run(words, overwrite=words[0] == "anonymize") for words in commands]
    facts = {
        "folder": str(folder),
        "commands": lines,
        "warning": _WARNING,
        "releases": [{"method": method, **_look(path)} for method, path in paths.items()],
        "comparison": _compare(table, paths, folder / "comparison.png"),
        "pictures": [str(picture), str(folder / "comparison.png")],
    }
    show(facts, _render, as_json=as_json)


def _claim_folder(folder: Path) -> None:
    """Make the folder, or refuse one that holds anything but an earlier demo."""
    mark = folder / _MARK
    if folder.exists() and not mark.is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise click.UsageError(f"--folder must be new, empty, or of an earlier demo, got {str(folder)!r}.")
    folder.mkdir(parents=True, exist_ok=True)
    mark.touch()


def _run(words: list[object], *, overwrite: bool) -> str:
    """Run a command as if it had been typed, and return the line."""
    from ldiversity.faces.cli._main import cli

    line = shell_line("ldiversity", *words)
    click.echo(f"$ {line}", err=True)
    with redirect_stdout(io.StringIO()):
        code = cli.main([*map(str, words), *(["--overwrite"] if overwrite else [])], standalone_mode=False)
    if code:  # what went wrong was said already
        click.get_current_context().exit(code)
    return line


def _look(path: Path) -> dict[str, Any]:
    import ldiversity as ld

    release = ld.load_release(path)
    return {"claim": release.claims[0].statement, "rows": release.table.slice(0, _SHOWN_ROWS).to_pylist()}


def _compare(table: Path, paths: dict[str, Path], picture: Path) -> dict[str, Any]:
    """Set the estimates beside the truth, which only the data holder knows."""
    import numpy as np
    import pyarrow.csv as pa_csv

    import ldiversity as ld
    from ldiversity.faces.report import draw_estimate
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
        methods.append({"method": method, "shares": truth.size, "rms_error": error, "held": float(held.mean())})
        if method == next(iter(paths)):
            title = "Estimated from the release, and the truth that only the holder knows"
            save_figure(draw_estimate(cells, title=title, truth=truth), picture)
    return {"confidence": 0.95, "methods": methods, "shares": _share_rows(source, by_sex)}


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


def _share_rows(source: pa.Table, by_sex: dict[str, Estimate]) -> list[dict[str, Any]]:
    rows = []
    for method, estimate in by_sex.items():
        truth = _true_shares(source, estimate)
        errors = estimate.std_error / estimate.records[:, None]
        for cell, label in enumerate(estimate.labels.to_pylist()):
            rows += [
                {
                    "method": method,
                    "sex": label["sex"],
                    "value": estimate.domains[0].values[code],
                    "truth": float(truth[cell, code]),
                    "estimate": float(estimate.share[cell, code]),
                    "std_error": float(errors[cell, code]),
                }
                for code in (-truth[cell]).argsort()[:_SHOWN_VALUES].tolist()
            ]
    return rows


def _render(facts: Facts, page: Page) -> None:
    for line, release in zip(facts["commands"], facts["releases"], strict=False):
        page.title(f"Publish by {release['method']}")
        page.command(line)
        page.text(release["claim"])
        heads = list(release["rows"][0])
        page.table(heads, [[_cell(row[head]) for head in heads] for row in release["rows"]])
    page.text(facts["warning"])
    page.title("Estimate from a release alone")
    page.command(facts["commands"][-1])
    comparison = facts["comparison"]
    page.text(f"It prints {comparison['methods'][0]['shares']} shares with intervals, and drew {facts['pictures'][0]}.")
    page.title("Compared with the truth, which only the data holder knows")
    page.table(
        ["sex", "disease", "truth", *(f"by {m['method']}" for m in comparison["methods"])],
        _beside(comparison),
        right={2, 3, 4},
    )
    page.bullets(
        f"{m['method'].capitalize()}: {m['shares']} shares by sex and age band are off by {points(m['rms_error'])} "
        f"percentage points (root of the mean square); {percent(m['held'])} of the {level(comparison['confidence'])} "
        "intervals hold the truth."
        for m in comparison["methods"]
    )
    page.text(f"Look at {facts['pictures'][1]}, and at the files in {facts['folder']}.")


def _beside(comparison: Facts) -> list[list[str]]:
    rows: dict[tuple[str, str], list[str]] = {}
    for row in comparison["shares"]:
        cells = rows.setdefault((row["sex"], row["value"]), [percent(row["truth"])])
        cells.append(f"{percent(row['estimate'])} +- {points(row['std_error'])}")
    return [[*key, *cells] for key, cells in rows.items()]


def _cell(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
