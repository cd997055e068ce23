"""Excel workbooks (extra ``excel``): the first sheet, read into memory once."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ldiversity.base.progress import reading
from ldiversity.errors import SchemaError, UnsupportedError
from ldiversity.tables._frames import FrameSource
from ldiversity.tables._source import Source, check_header

__all__ = ["open_excel"]

_TOLD_ROWS: Final = 1 << 12


def open_excel(path: Path, types: Mapping[str, str] | None = None) -> Source:
    """Open the first sheet of a workbook; its first row holds the column names."""
    try:
        import openpyxl
    except ImportError:
        raise UnsupportedError(
            path.name, "reading Excel files needs the package openpyxl, which is not installed"
        ).with_hint("Run: pip install ldiversity[excel]") from None
    try:
        # The file is opened here, so that it is closed whatever stops the reading.
        with warnings.catch_warnings(), path.open("rb") as file:
            warnings.simplefilter("ignore")  # some warnings quote cells
            with closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book:
                rows = _rows(book.worksheets[0].iter_rows(values_only=True))
    except Exception:  # noqa: BLE001 - openpyxl lets through whatever zip and XML readers raise
        raise SchemaError(
            path.name, "the file must be an Excel workbook (.xlsx)", got="one that cannot be read"
        ).with_hint("Save it again as .xlsx, or as CSV UTF-8.") from None
    return FrameSource(path.name, _table(path.name, rows), types=types, from_file=True)


def _rows(sheet: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    step = reading(None)
    rows = []
    for row in sheet:
        rows.append(row)
        if len(rows) % _TOLD_ROWS == 0:
            step(_TOLD_ROWS)
    return rows


def _table(owner: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    filled = [row for row in rows if any(cell is not None for cell in row)]
    if not filled:
        raise SchemaError(owner, "the first sheet must have a row of column names", got="an empty sheet").with_hint(
            "Move the table to the first sheet of the workbook."
        )
    columns = list(zip_longest(*filled))
    while columns and all(cell is None for cell in columns[-1]):
        columns.pop()
    names = check_header(owner, ["" if column[0] is None else str(column[0]) for column in columns])
    return pa.table([_column(column[1:]) for column in columns], names=names)


def _column(cells: Sequence[Any]) -> pa.Array:
    """Give a column the one type of its cells; a mixture becomes text."""
    kinds = {_kind(cell) for cell in cells if cell is not None and cell != ""}
    present = [None if cell == "" else cell for cell in cells]
    if kinds == {"integer"}:
        return pa.array(present, pa.int64())
    if kinds and kinds <= {"integer", "number"}:
        return pa.array([None if cell is None else float(cell) for cell in present], pa.float64())
    if kinds == {"boolean"}:
        return pa.array(present, pa.bool_())
    if kinds == {"date"}:
        return pa.array([None if cell is None else cell.date() for cell in present], pa.date32())
    if kinds and kinds <= {"date", "timestamp"}:
        return pa.array(present, pa.timestamp("us"))
    return pa.array([None if cell is None else _text(cell) for cell in present], pa.string())


def _kind(cell: object) -> str:
    if isinstance(cell, bool):
        return "boolean"
    if isinstance(cell, int):
        return "integer" if -(2**63) <= cell < 2**63 else "text"
    if isinstance(cell, float):
        return "number"
    if isinstance(cell, dt.datetime):
        return "date" if cell.time() == dt.time() else "timestamp"
    return "text"


def _text(cell: object) -> str:
    return cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell)
