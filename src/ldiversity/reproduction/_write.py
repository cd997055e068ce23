"""The files of one exhibit: its data and its picture."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ldiversity.reproduction._base import Exhibit

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["exhibit_files", "file_stem", "write_exhibit"]


def file_stem(item: str) -> str:
    """Make the name of an exhibit's files from what the paper calls it.

    Examples
    --------
    >>> file_stem("Fig. 1(b)"), file_stem("Table 5")
    ('fig-1-b', 'table-5')
    """
    return re.sub(r"[^a-z0-9]+", "-", item.lower()).strip("-") or "item"


def exhibit_files(exhibit: Exhibit) -> dict[str, str]:
    """The files of an exhibit, relative to the folder of the rerun; none of what was not run."""
    if exhibit.outcome == "not run":
        return {}
    return {kind: f"{exhibit.paper}/{file_stem(exhibit.item)}.{kind}" for kind in ("csv", "svg", "png")}


def write_exhibit(exhibit: Exhibit, folder: Path) -> list[str]:
    """Write data and picture, and give the names of the files."""
    from ldiversity.report import save_figure
    from ldiversity.report._figures import style

    files = exhibit_files(exhibit)
    if not files:
        return []
    (folder / exhibit.paper).mkdir(exist_ok=True)
    _write_csv(exhibit.data, folder / files["csv"])
    with style():
        figure = exhibit.draw()
    for kind in ("svg", "png"):
        save_figure(figure, folder / files[kind])
    return list(files.values())


def _write_csv(table: pa.Table, path: Path) -> None:
    """Write a table; texts that a spreadsheet would take for a formula get a quote before them."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([_cell(name) for name in table.column_names])
        for batch in table.to_batches():
            columns = [column.to_pylist() for column in batch.columns]
            writer.writerows([_cell(value) for value in row] for row in zip(*columns, strict=True))


def _cell(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.10g}"
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value
