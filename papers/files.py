"""The files of one exhibit: its data and its picture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ldiversity.tables import write_spreadsheet
from papers.exhibits import Exhibit

__all__ = ["exhibit_files", "file_stem", "shrink_picture", "write_exhibit"]

_COLORS: Final = 256


def file_stem(item: str) -> str:
    """Make the name of an exhibit's files from what the paper calls it.

    Examples
    --------
    >>> file_stem("Fig. 1(b)"), file_stem("Table 5")
    ('fig-1-b', 'table-5')
    """
    return re.sub(r"[^a-z0-9]+", "-", item.lower()).strip("-") or "item"


def exhibit_files(exhibit: Exhibit) -> dict[str, str]:
    """The files of an exhibit, relative to the folder of the rerun; an exhibit that was not run has none."""
    if exhibit.outcome == "not run":
        return {}
    return {kind: f"{exhibit.paper}/{file_stem(exhibit.item)}.{kind}" for kind in ("csv", "png")}


def write_exhibit(exhibit: Exhibit, folder: Path) -> list[str]:
    """Write data and picture, and return the names of the files."""
    from ldiversity.pictures import save_figure, style

    files = exhibit_files(exhibit)
    if not files:
        return []
    (folder / exhibit.paper).mkdir(exist_ok=True)
    columns = [column.to_pylist() for column in exhibit.data.columns]
    write_spreadsheet(folder / files["csv"], exhibit.data.column_names, zip(*columns, strict=True))
    with style():
        figure = exhibit.draw()
    shrink_picture(save_figure(figure, folder / files["png"]))
    return list(files.values())


def shrink_picture(path: Path) -> None:
    """Write a PNG again with a palette: about a third of the size, and no difference that a reader would see."""
    from PIL import Image

    with Image.open(path) as picture:
        resolution = picture.info.get("dpi", (72, 72))
        palette = picture.convert("RGB").quantize(_COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    palette.save(path, optimize=True, dpi=resolution)
