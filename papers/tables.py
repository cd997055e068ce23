"""The public tables on which the evaluations run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import ldiversity as ld
from ldiversity.base.checks import name_some
from papers.exhibits import Setting

__all__ = [
    "ADULT_COLUMNS",
    "ADULT_FILE",
    "CENSUS_FILE",
    "CENSUS_QUASI",
    "OCCUPATION",
    "WAGE",
    "adult_table",
    "bootstrap",
    "check_tables",
    "read_table",
    "sample_rows",
    "wages",
    "workers",
]

ADULT_FILE: Final = "adult.csv.gz"
CENSUS_FILE: Final = "census_income_kdd.csv.gz"

ADULT_COLUMNS: Final = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
"""The attributes of Adult, in the order of paper 000, Table 7."""

CENSUS_QUASI: Final = (
    "age", "sex", "marital_stat", "race", "country_of_birth_self", "education", "class_of_worker",
)  # fmt: skip
"""The columns of Census-Income used in place of the quasi-identifiers of OCC and SAL, in the order of Table 6."""

OCCUPATION: Final = "detailed_occupation_recode"
WAGE: Final = "wage class"

_WAGE_CLASSES: Final = 50
_HOURLY: Final = "wage_per_hour"
_NUMBERS: Final = frozenset(
    {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week", OCCUPATION, _HOURLY}
)
_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    ADULT_FILE: (*ADULT_COLUMNS, "split"),
    CENSUS_FILE: (*CENSUS_QUASI, OCCUPATION, _HOURLY),
}
"""The columns that the evaluations use of each file: whole numbers, or text."""

_RECORDS: Final[Mapping[str, int]] = {ADULT_FILE: 48_842, CENSUS_FILE: 299_285}
"""How many records each file has. With another number, a paper's setting may be impossible."""


def read_table(setting: Setting, name: str) -> pa.Table:
    """Read a public table: the columns that the evaluations use, and all records in the order of the file.

    Parameters
    ----------
    setting
        Where the data are.
    name
        ``ADULT_FILE``, whose ``split`` is ``train`` or ``test``, or ``CENSUS_FILE``.

    Raises
    ------
    UnsupportedError
        When the file is not there.
    SchemaError
        When it is another table, or damaged: a column is missing, a number is a text, or the number of records differs.
    """
    return _read(setting.file(name), _COLUMNS[name])


def check_tables(setting: Setting) -> None:
    """Refuse a data folder in which a file is not the table of its name. A file may be missing."""
    for name, columns in _COLUMNS.items():
        try:
            path = setting.file(name)
        except ld.UnsupportedError:
            continue
        _check_header(path, columns)


def adult_table(setting: Setting, *, unknown: bool = False) -> pa.Table:
    """Adult without the records that have an unknown cell, 45,222 records, or with them, 48,842."""
    table = read_table(setting, ADULT_FILE).select(ADULT_COLUMNS)
    if unknown:
        return table.combine_chunks()
    known = np.ones(table.num_rows, dtype=bool)
    for name in ADULT_COLUMNS:
        if pa.types.is_string(table[name].type):
            known &= np.asarray(pc.not_equal(table[name], "?"))
    return table.filter(pa.array(known)).combine_chunks()


def workers(setting: Setting) -> pa.Table:
    """The people of Census-Income with an occupation; used in place of OCC."""
    table = read_table(setting, CENSUS_FILE)
    working = table.filter(pc.not_equal(table[OCCUPATION], 0))
    return working.select([*CENSUS_QUASI, OCCUPATION]).combine_chunks()


def wages(setting: Setting) -> pa.Table:
    """The people of Census-Income paid by the hour, with wages in classes of about equal size."""
    table = read_table(setting, CENSUS_FILE)
    paid = table.filter(pc.greater(table[_HOURLY], 0))
    hourly = np.asarray(paid[_HOURLY])
    edges = np.unique(np.quantile(hourly, np.linspace(0, 1, _WAGE_CLASSES + 1)))
    classes = np.searchsorted(edges[1:-1], hourly, side="right")
    return paid.select(CENSUS_QUASI).append_column(WAGE, pa.array(classes)).combine_chunks()


def bootstrap(table: pa.Table, size: int, seed: int) -> pa.Table:
    """Draw `size` records with replacement: a larger table of the same population. A table of that size stays as it is.

    Examples
    --------
    >>> bootstrap(pa.table({"a": [1, 2]}), 5, seed=1).num_rows
    5
    """
    if size == table.num_rows:
        return table
    chosen = np.random.default_rng(seed).integers(table.num_rows, size=size)
    return table.take(pa.array(chosen)).combine_chunks()


def sample_rows(table: pa.Table, most: int, seed: int) -> pa.Table:
    """Draw `most` records at random, or return the whole table when it has no more."""
    if table.num_rows <= most:
        return table
    chosen = np.random.default_rng(seed).choice(table.num_rows, size=most, replace=False)
    return table.take(pa.array(chosen)).combine_chunks()


def _check_header(path: Path, columns: tuple[str, ...]) -> None:
    """Refuse a file that lacks a column, has one twice, or cannot be read as a table."""
    from pyarrow import csv

    with _refused(path), csv.open_csv(path) as stream:
        found = stream.schema.names
    wrong = {"missing": [name for name in columns if name not in found],
             "repeated": [name for name in columns if found.count(name) > 1]}  # fmt: skip
    shown = "; ".join(f"{what}: {name_some(names)}" for what, names in wrong.items() if names)
    if shown:
        raise ld.SchemaError("papers", f"file {str(path)!r} must have the columns of the table; {shown}.", hint=_HINT)


@lru_cache(maxsize=2)
def _read(path: Path, columns: tuple[str, ...]) -> pa.Table:
    from pyarrow import csv

    _check_header(path, columns)
    types = {name: pa.int64() if name in _NUMBERS else pa.string() for name in columns}
    with _refused(path):
        options = csv.ConvertOptions(include_columns=list(columns), column_types=types)
        table = csv.read_csv(path, convert_options=options)
    if table.num_rows != _RECORDS[path.name]:
        raise ld.SchemaError(
            "papers",
            f"file {str(path)!r} must have the {_RECORDS[path.name]:,} records of the table",
            got=f"{table.num_rows:,}",
            hint=_HINT,
        )
    empty = [name for name in columns if table[name].null_count]
    if empty:
        raise ld.SchemaError(
            "papers", f"file {str(path)!r} must have a number in every cell of {name_some(empty)}.", hint=_HINT
        )
    return table


_HINT: Final = "Put the public table of that name in its place, or name another folder."


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Turn an error of the reader into one sentence. Its own message would quote cells."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, ld.SchemaError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is another table, or damaged"
        raise ld.SchemaError("papers", f"file {str(path)!r} cannot be read: {reason}.", hint=_HINT) from None
