"""What an engine is: the place where batches of rows are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol, TypeAlias

import pyarrow as pa

__all__ = ["BatchFunction", "Engine"]

BatchFunction: TypeAlias = Callable[[pa.RecordBatch], pa.RecordBatch]
"""Arrow in, Arrow out: the same function serves every engine."""


class Engine(Protocol):
    """Maps functions over batches and shuffles rows; knows nothing of privacy."""

    name: str
    chunk_rows: int
    """How many rows are worked on at once."""

    def map_batches(self, function: BatchFunction, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Apply `function` to every batch; the batches come back in their order."""

    def shuffle(self, batches: Iterable[pa.RecordBatch], *, n_rows: int, scratch: Path | None) -> Iterator[pa.Table]:
        """All rows in a uniformly random order; in memory without a `scratch` folder, else bucket by bucket."""
