"""Writing the rows of an answer as CSV, as ``--csv`` asks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_csv"]


def write_csv(table: pa.Table, file: Path) -> None:
    """Write an Arrow table as CSV that spreadsheets read."""
    from ldiversity.errors import StorageError
    from ldiversity.tables import python_rows, write_spreadsheet

    try:
        write_spreadsheet(file, table.column_names, (list(row.values()) for row in python_rows(table)))
    except OSError as error:
        raise StorageError("csv_file", f"file {str(file)!r} cannot be written: {error.strerror}") from None
