"""Count combinations batch by batch: memory grows with the different combinations, never with rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["Tally", "counts_of"]

_MERGE_CELLS: Final = 1 << 20
_COUNT: Final = "\0count"  # no column of a table has this name


class Tally:
    """How often each combination of some columns occurs.

    A batch is grouped at once, and only its counts are kept. They are merged whenever they have doubled.

    Examples
    --------
    >>> tally = Tally(["sex"])
    >>> tally.add(pa.table({"sex": ["f", "m", "f"]}))
    >>> tally.add(pa.table({"sex": ["f"]}))
    >>> counts_of(tally.result()).tolist()
    [3, 1]
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._merged: pa.Table | None = None
        self._waiting: list[pa.Table] = []
        self._n_waiting = 0

    def add(self, batch: pa.Table) -> None:
        """Count one more batch."""
        grouped = batch.select(self._names).group_by(self._names, use_threads=False).aggregate([([], "count_all")])
        self._waiting.append(grouped.select([*self._names, "count_all"]).rename_columns([*self._names, _COUNT]))
        self._n_waiting += grouped.num_rows
        if self._n_waiting > max(_MERGE_CELLS, 0 if self._merged is None else self._merged.num_rows):
            self._merge()

    def result(self) -> pa.Table:
        """One row per combination, with its count."""
        self._merge()
        return pa.table({_COUNT: pa.array([], pa.int64())}) if self._merged is None else self._merged

    def _merge(self) -> None:
        parts = [part for part in (self._merged, *self._waiting) if part is not None]
        if len(parts) > 1:
            grouped = pa.concat_tables(parts).group_by(self._names, use_threads=False)
            summed = grouped.aggregate([(_COUNT, "sum")]).select([*self._names, f"{_COUNT}_sum"])
            parts = [summed.rename_columns([*self._names, _COUNT])]
        self._merged = parts[0] if parts else None
        self._waiting, self._n_waiting = [], 0


def counts_of(cells: pa.Table) -> NDArray[np.int64]:
    """How often each combination of a tally's result occurs."""
    counts: NDArray[np.int64] = cells.column(_COUNT).to_numpy().astype(np.int64)
    return counts
