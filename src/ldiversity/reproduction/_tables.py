"""The public tables on which the evaluations run."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.reproduction._base import Setting

__all__ = ["ADULT_COLUMNS", "CENSUS_QUASI", "OCCUPATION", "WAGE", "adult_table", "sample_rows", "wages", "workers"]

ADULT_COLUMNS: Final = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
"""The attributes of Adult, in the order of paper 000, Table 7."""

CENSUS_QUASI: Final = (
    "age", "sex", "marital_stat", "race", "country_of_birth_self", "education", "class_of_worker",
)  # fmt: skip
"""The columns of Census-Income that stand for the quasi-identifiers of OCC and SAL, in the order of Table 6."""

OCCUPATION: Final = "detailed_occupation_recode"
WAGE: Final = "wage class"

_WAGE_CLASSES: Final = 50


def adult_table(setting: Setting, *, unknown: bool = False) -> pa.Table:
    """Adult without the records that have an unknown cell, 45,222 records, or with them, 48,842."""
    table = _read(setting.file("adult.csv.gz")).select(ADULT_COLUMNS)
    if unknown:
        return table.combine_chunks()
    known = np.ones(table.num_rows, dtype=bool)
    for name in ADULT_COLUMNS:
        if pa.types.is_string(table[name].type):
            known &= np.asarray(pc.not_equal(table[name], "?"))
    return table.filter(pa.array(known)).combine_chunks()


def workers(setting: Setting) -> pa.Table:
    """Census-Income, the people with an occupation: stands for OCC."""
    table = _read(setting.file("census_income_kdd.csv.gz"))
    working = table.filter(pc.not_equal(table[OCCUPATION], 0))
    return working.select([*CENSUS_QUASI, OCCUPATION]).combine_chunks()


def wages(setting: Setting) -> pa.Table:
    """Census-Income, the people paid by the hour, with their wage in classes of about equal size: stands for SAL."""
    table = _read(setting.file("census_income_kdd.csv.gz"))
    paid = table.filter(pc.greater(table["wage_per_hour"], 0))
    hourly = np.asarray(paid["wage_per_hour"])
    edges = np.unique(np.quantile(hourly, np.linspace(0, 1, _WAGE_CLASSES + 1)))
    classes = np.searchsorted(edges[1:-1], hourly, side="right")
    return paid.select(CENSUS_QUASI).append_column(WAGE, pa.array(classes)).combine_chunks()


def sample_rows(table: pa.Table, most: int, seed: int) -> pa.Table:
    """Some records, at random, or the whole table when it is no larger."""
    if table.num_rows <= most:
        return table
    chosen = np.random.default_rng(seed).choice(table.num_rows, size=most, replace=False)
    return table.take(pa.array(chosen)).combine_chunks()


@lru_cache(maxsize=2)
def _read(path: Path) -> pa.Table:
    from pyarrow import csv

    return csv.read_csv(path)
