"""The files of one exhibit: its data and its picture."""

from __future__ import annotations

import re
from pathlib import Path

from ldiversity.reproduction._base import Exhibit
from ldiversity.tables import write_spreadsheet

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
    from ldiversity.pictures import save_figure, style

    files = exhibit_files(exhibit)
    if not files:
        return []
    (folder / exhibit.paper).mkdir(exist_ok=True)
    columns = [column.to_pylist() for column in exhibit.data.columns]
    write_spreadsheet(folder / files["csv"], exhibit.data.column_names, zip(*columns, strict=True))
    with style():
        figure = exhibit.draw()
    save_figure(figure, folder / files["png"])
    figure.set_layout_engine("none")  # the places that were found hold for both
    save_figure(figure, folder / files["svg"])
    return list(files.values())
