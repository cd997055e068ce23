"""Excel workbooks (extra ``excel``): one sheet, read into memory once."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar, Final

import pyarrow as pa

from ldiversity.base.checks import name_some
from ldiversity.base.progress import reading
from ldiversity.errors import LDiversityError, ParameterError, SchemaError, UnsupportedError
from ldiversity.sentences import Parameter, say
from ldiversity.tables._csv_head import skip_hint, table_start
from ldiversity.tables._frames import FrameSource
from ldiversity.tables._read_options import USUAL_READING, ReadOptions
from ldiversity.tables._source import check_header

__all__ = ["ExcelSource"]

_LOOKED_AT: Final = 100

_TOLD_ROWS: Final = 1 << 12


class ExcelSource(FrameSource):
    """A sheet of a workbook; its first row, or the first that is not skipped, holds the column names."""

    understands: ClassVar = frozenset({"sheet", "skip_rows"})

    def __init__(self, path: Path, types: Mapping[str, str] | None = None, read: ReadOptions = USUAL_READING) -> None:
        names, rows = _read_rows(path, read.sheet)
        super().__init__(path.name, _table(path.name, rows, read.skip_rows), types=types, from_file=True)
        if len(names) > 1 and read.sheet is None:
            said = (
                f"The workbook has {len(names)} sheets, {name_some(names)}, and the first was read; {{}} names another."
            )
            self.remarks = (say(said, Parameter("sheet")),)


def _read_rows(path: Path, sheet: str | int | None) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of all sheets, and the rows of one."""
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
                names = [one.title for one in book.worksheets]
                chosen = _choose(path.name, names, sheet)
                return names, _rows(book.worksheets[chosen].iter_rows(values_only=True))
    except LDiversityError:
        raise
    except Exception:  # noqa: BLE001 - openpyxl lets through whatever zip and XML readers raise
        raise SchemaError(
            path.name, "the file must be an Excel workbook (.xlsx)", got="one that cannot be read"
        ).with_hint("Save it again as .xlsx, or as CSV UTF-8.") from None


def _choose(owner: str, names: list[str], sheet: str | int | None) -> int:
    """The place of a sheet that is named, or numbered from 1; a name is looked for first."""
    if sheet is None:
        return 0
    if sheet in names:
        return names.index(str(sheet))
    number = int(sheet) if isinstance(sheet, int) or sheet.isdecimal() else 0
    if 1 <= number <= len(names):
        return number - 1
    raise ParameterError(owner, "sheet", "must be a sheet of the workbook", got=repr(sheet)).with_hint(
        f"Its sheets are {name_some(names)}."
    )


def _rows(sheet: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    step = reading(None)
    rows = []
    for row in sheet:
        rows.append(row)
        if len(rows) % _TOLD_ROWS == 0:
            step(_TOLD_ROWS)
    return rows


def _table(owner: str, rows: list[tuple[Any, ...]], skipped: int) -> pa.Table:
    filled = [row for row in rows[skipped:] if any(cell is not None for cell in row)]
    if not filled:
        raise SchemaError(owner, "the sheet must have a row of column names", got="an empty one").with_hint(
            say("Name the sheet of the table with {}.", Parameter("sheet"))
        )
    columns = list(zip_longest(*filled))
    while columns and all(cell is None for cell in columns[-1]):
        columns.pop()
    try:
        names = check_header(owner, ["" if column[0] is None else str(column[0]) for column in columns])
    except SchemaError as error:
        titles = table_start([sum(cell is not None for cell in row) for row in rows[:_LOOKED_AT]])
        raise error.with_hint((skip_hint(titles) if titles != skipped else None) or error.hint) from None
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
