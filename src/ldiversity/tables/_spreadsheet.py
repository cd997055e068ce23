"""Write results as CSV for people, who open it in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

__all__ = ["write_spreadsheet"]

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\n")


def write_spreadsheet(path: Path, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows as CSV; a text that a spreadsheet would take for a formula gets a quote in front.

    Only for tables that people look at. Programs read a release, so it keeps its cells unchanged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_spreadsheet(Path(folder) / "a.csv", ["value", "share"], [["=1+1", 0.1 + 0.2], ["flu", None]])
    ...     (Path(folder) / "a.csv").read_text().splitlines()
    ['value,share', "'=1+1,0.3", 'flu,']
    """
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([_cell(head) for head in heads])
        writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.10g}"
    text = value if value is None or isinstance(value, str | int) else str(value)
    if not isinstance(text, str):
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # csv leaves a lone carriage return without quotes
    return f"'{text}" if text.startswith(_FORMULA) else text
