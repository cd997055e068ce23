"""Numbering the combinations of codes that occur."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.methods._coded import NumberColumn, QuasiColumn

__all__ = ["codes_of", "number_combinations"]

_LARGEST: Final = 1 << 62
_TABLE_PER_ROW: Final = 4


def number_combinations(
    columns: Iterable[tuple[NDArray[np.integer], int]], n_rows: int
) -> tuple[NDArray[np.int64], int]:
    """Number the combinations of codes from 0 without gaps, in ascending order.

    Parameters
    ----------
    columns
        Codes of each row, and how many codes there are.
    n_rows
        The number of rows.

    Returns
    -------
    Shape (n,): the number of each row's combination; and how many there are.

    Examples
    --------
    >>> number_combinations([(np.array([0, 1, 1]), 2), (np.array([5, 0, 0]), 6)], 3)
    (array([0, 1, 1]), 2)
    """
    numbers, known = np.zeros(n_rows, dtype=np.int64), min(1, n_rows)
    for codes, n_codes in columns:
        if known * n_codes >= _LARGEST:
            numbers, known = _close_gaps(numbers, known)
        numbers, known = numbers * n_codes + codes, known * n_codes
    return _close_gaps(numbers, known)


def codes_of(column: QuasiColumn) -> tuple[NDArray[np.integer], int]:
    """The codes of a quasi-identifier's values, and how many there are; missing numbers have one of their own."""
    if not isinstance(column, NumberColumn):
        return column.codes, len(column.labels)
    _, found = np.unique(column.values, return_inverse=True)
    found = found.astype(np.int64) + 1
    if column.missing is not None:
        found[column.missing] = 0
    return found, int(found.max(initial=0)) + 1


def _close_gaps(numbers: NDArray[np.int64], known: int) -> tuple[NDArray[np.int64], int]:
    if known <= _TABLE_PER_ROW * len(numbers):
        occurs = np.zeros(known, dtype=bool)
        occurs[numbers] = True
        return (np.cumsum(occurs) - 1)[numbers], int(np.count_nonzero(occurs))
    found, numbered = np.unique(numbers, return_inverse=True)
    return numbered.astype(np.int64), len(found)
