"""The UCI Adult table, from this machine or downloaded on request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.checks import check_choice
from ldiversity.datasets._frames import as_frame
from ldiversity.errors import SchemaError, UnsupportedError

__all__ = ["DATA_VARIABLE", "adult"]

DATA_VARIABLE: Final = "LDIVERSITY_DATA"
"""The environment variable that names the folder of data files."""

_COLUMNS: Final = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip
_NUMBERS: Final = frozenset({"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"})
_UNKNOWN: Final = "?"
_MEMBERS: Final = {"train": "adult.data", "test": "adult.test"}
_JOINED: Final = "adult.csv.gz"


def adult(split: str = "train", missing: str = "drop", frame: str = "arrow", *, download: bool = False) -> Any:  # noqa: ANN401 - `frame` chooses the type
    """Read the UCI Adult table (1994 census income).

    The function looks in the folder that the environment variable ``LDIVERSITY_DATA`` names, then in this package's
    cache folder (``$XDG_CACHE_HOME/ldiversity``). It accepts ``adult.csv.gz`` (one table with a header and a column
    `split`), or UCI's own ``adult.data`` and ``adult.test``. It downloads nothing unless asked to.

    Parameters
    ----------
    split
        ``"train"``, ``"test"`` or ``"all"`` (train, then test).
    missing
        ``"drop"`` leaves out the rows with an unknown cell (30,162 of the training rows stay);
        ``"keep"`` keeps them, with UCI's ``"?"`` as the value.
    frame
        ``"arrow"``, ``"pandas"`` or ``"polars"``.
    download
        Download the files from UCI when neither folder has them, check them and keep them in the cache folder.

    Raises
    ------
    UnsupportedError
        When the files are not there, or cannot be downloaded.

    References
    ----------
    Becker and Kohavi (1996), Adult, UCI Machine Learning Repository, doi 10.24432/C5XW20.
    """
    check_choice("adult", "split", split, ["train", "test", "all"])
    check_choice("adult", "missing", missing, ["drop", "keep"])
    splits = ["train", "test"] if split == "all" else [split]
    folder = _find(splits)
    if folder is None and download:
        folder = _fetch()
    if folder is None:
        raise UnsupportedError("adult", "the UCI Adult files are not on this machine").with_hint(
            f"Set {DATA_VARIABLE} to a folder with adult.csv.gz or with adult.data and adult.test, "
            f"put these files into {cache_folder()}, or pass download=True to download them from UCI."
        )
    table = _read(folder, splits)
    return as_frame("adult", _without_unknown(table) if missing == "drop" else table, frame)


def cache_folder() -> Path:
    """The folder for downloaded files."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "ldiversity"


def _find(splits: list[str]) -> Path | None:
    named = os.environ.get(DATA_VARIABLE, "")
    for folder in [*([Path(named)] if named else []), cache_folder()]:
        if (folder / _JOINED).is_file() or all((folder / _MEMBERS[split]).is_file() for split in splits):
            return folder
    return None


def _fetch() -> Path:
    from ldiversity.datasets._adult_download import download_adult

    return download_adult(cache_folder())


def _read(folder: Path, splits: list[str]) -> pa.Table:
    if (folder / _JOINED).is_file():
        table = _read_csv(folder / _JOINED, (*_COLUMNS, "split"), skip=1)
        table = table.filter(pc.is_in(table["split"], pa.array(splits))).drop_columns(["split"])
    else:
        # The first line of the test file is not a record.
        parts = [_read_csv(folder / _MEMBERS[split], _COLUMNS, skip=split == "test") for split in splits]
        table = pa.concat_tables(parts)
    return _typed(table)


def _read_csv(path: Path, names: tuple[str, ...], *, skip: int) -> pa.Table:
    from pyarrow import csv

    try:
        return csv.read_csv(
            path,
            csv.ReadOptions(column_names=list(names), skip_rows=int(skip)),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowInvalid, OSError):
        raise SchemaError("adult", f"{path.name} must be a CSV file of {len(names)} columns").with_hint(
            "Remove the damaged file, or replace it with UCI's."
        ) from None


def _typed(table: pa.Table) -> pa.Table:
    """Strip blanks, convert numbers, and drop the full stop after each income of the test file."""
    columns = {}
    for name in _COLUMNS:
        column = pc.utf8_trim_whitespace(table[name])
        if name == "income":
            column = pc.utf8_rtrim(column, characters=".")
        try:
            columns[name] = column.cast(pa.int64()) if name in _NUMBERS else column
        except pa.ArrowInvalid:
            raise SchemaError(
                "adult", "must hold integers", column=name, hint="Remove the damaged file, or replace it with UCI's."
            ) from None
    return pa.table(columns).combine_chunks()


def _without_unknown(table: pa.Table) -> pa.Table:
    complete = pa.scalar(True)
    for name in _COLUMNS:
        if name not in _NUMBERS:
            complete = pc.and_(complete, pc.not_equal(table[name], _UNKNOWN))
    return table.filter(complete).combine_chunks()
