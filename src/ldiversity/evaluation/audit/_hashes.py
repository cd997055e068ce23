"""A number for each row that is the same for equal cells, in every process: it says which rows come together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.hashing import HashArray, cell_hashes, mixed

__all__ = ["bucket_numbers", "row_hashes"]


def bucket_numbers(hashes: HashArray, n_buckets: int, level: int = 0) -> NDArray[np.int64]:
    """The bucket of each row; rows of one bucket are divided again at the next level.

    Examples
    --------
    >>> hashes = row_hashes(pa.table({"a": [1, 2, 1]}), ["a"])
    >>> numbers = bucket_numbers(hashes, 1000)
    >>> bool(numbers[0] == numbers[2]), bool(numbers[0] == numbers[1])
    (True, False)
    """
    return (mixed(hashes, salt=level) % np.uint64(n_buckets)).astype(np.int64)


def row_hashes(table: pa.Table, names: Sequence[str]) -> HashArray:
    """Shape (n,): the same number for rows that have the same cells in some columns.

    Examples
    --------
    >>> hashes = row_hashes(pa.table({"a": ["x", None, "x"], "b": [1.5, 1.5, 1.5]}), ["a", "b"])
    >>> bool(hashes[0] == hashes[2]), bool(hashes[0] == hashes[1])
    (True, False)
    """
    hashes = np.zeros(table.num_rows, dtype=np.uint64)
    for place, name in enumerate(names if table.num_rows else ()):
        hashes += mixed(cell_hashes(table.column(name).combine_chunks()), salt=place)
    return hashes
