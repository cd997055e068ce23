"""Columns that say how a sample was drawn: how many people a record stands for, and its stratum."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.errors import SchemaError
from ldiversity.sentences import Setting, say

__all__ = ["sampling_weights", "stratum_numbers"]

_LEAST_TOTAL: Final = 1e-100
_GREATEST_TOTAL: Final = 1e100
"""Beyond these, squares of weights are not numbers any more."""

_LEAST_RECORDS: Final = 2
"""One record does not vary."""


def sampling_weights(owner: str, name: str, column: pa.ChunkedArray | pa.Array) -> FloatArray:
    """Read a column of weights, or raise `SchemaError`, which never shows one.

    Examples
    --------
    >>> sampling_weights("estimate", "w", pa.array([2, 40])).tolist()
    [2.0, 40.0]
    """
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise SchemaError(owner, "must hold numbers to be a column of weights", column=name, got=kind).with_hint(
            say(
                "Texts, and decimals, which are published as texts, are made numbers when the table is read: {}.",
                Setting("types", (name, "number")),
            )
        )
    numbers = np.asarray(column.cast(pa.float64(), safe=False), dtype=np.float64)
    if column.null_count or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise SchemaError(
            owner, "must hold a finite number above zero for every record to be a column of weights", column=name
        ).with_hint("Records without a weight stand for nobody: leave them out of the table.")
    with np.errstate(over="ignore"):
        total = float(numbers.sum())
    if not _LEAST_TOTAL <= total <= _GREATEST_TOTAL:
        raise SchemaError(
            owner,
            f"must add up to a number from {_LEAST_TOTAL} to {_GREATEST_TOTAL} to be a column of weights",
            column=name,
        ).with_hint("Check that it holds weights, or write them in another unit, such as thousands of people.")
    return numbers


def stratum_numbers(owner: str, name: str, codes: NDArray[Any]) -> NDArray[np.int64]:
    """Number the strata from 0, whose codes are given, or raise `SchemaError` where one has a single record.

    Examples
    --------
    >>> stratum_numbers("estimate", "region", np.array([7, 3, 3, 7])).tolist()
    [1, 0, 0, 1]
    """
    numbers = np.unique(codes, return_inverse=True)[1].ravel().astype(np.int64)
    if (np.bincount(numbers) < _LEAST_RECORDS).any():
        raise SchemaError(
            owner, "must have at least two records in each stratum, because one alone shows no variance", column=name
        ).with_hint("Put small strata together in the table, or name a coarser column.")
    return numbers
