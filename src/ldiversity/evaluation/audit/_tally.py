"""Count combinations batch by batch: memory grows with the different combinations, never with rows.

Where even these do not fit, they wait in buckets on disk. A bucket holds all combinations of a class.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.budget import Budget
from ldiversity.base.numbers import in_bytes
from ldiversity.base.spill import Buckets, Spill
from ldiversity.errors import ParameterError
from ldiversity.evaluation.audit._hashes import bucket_numbers, row_hashes
from ldiversity.evaluation.audit._packing import PackedCounts

__all__ = ["DividedTallies", "Tally", "counts_of", "renamed_count"]

_MERGE_CELLS: Final = 1 << 20
_COUNT: Final = "\0count"  # no column of a table has this name

_BUCKETS: Final = 256
_MOST_LEVELS: Final = 3
_BESIDE_BYTES: Final = 400
"""What a combination takes while its class is judged, beside its cells."""

_COPIES: Final = 4
"""How often its cells are in memory while combinations are merged and numbered."""

_GATHERED: Final = 2
"""Small buckets are judged together until they take so many times less than what is too much for one part."""

_NEARLY_ALL: Final = 0.7
"""Batches with more different rows than this are not grouped before they are dealt."""


class Tally:
    """How often each combination of some columns occurs.

    The cells of a batch are numbered, and the numbers are counted. Where there are too many different cells for that, a
    batch is grouped at once, and only its counts are kept. They are merged whenever they have doubled.

    Examples
    --------
    >>> tally = Tally(["sex"])
    >>> tally.add(pa.table({"sex": ["f", "m", "f"]}))
    >>> tally.add(pa.table({"sex": ["f"]}))
    >>> counts_of(tally.result()).tolist()
    [3, 1]
    """

    def __init__(self, names: Sequence[str], merge_cells: int = _MERGE_CELLS, *, spacious: bool = False) -> None:
        self._names = list(names)
        self._merge_cells = merge_cells
        self._merged: pa.Table | None = None
        self._waiting: list[pa.Table] = []
        self._n_waiting = 0
        self._repeated = False
        self._packed: PackedCounts | None = PackedCounts(self._names, merge_cells, spacious=spacious)

    def add(self, batch: pa.Table) -> None:
        """Count one more batch."""
        if self._packed is None or not self._packed.add(batch):
            self._unpack()
            self.add_counted(grouped(batch, self._names), repeated=False)

    def add_counted(self, counted: pa.Table, *, repeated: bool) -> None:
        """Take over combinations with their counts; `repeated` if one may be there several times."""
        self._waiting.append(counted)
        self._n_waiting += counted.num_rows
        self._repeated |= repeated
        if self._n_waiting > max(self._merge_cells, self.n_merged):
            self._merge()

    @property
    def n_merged(self) -> int:
        """How many different combinations were there when they were last merged."""
        merged = 0 if self._merged is None else self._merged.num_rows
        return merged if self._packed is None else merged + self._packed.n_merged

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted."""
        return not self.n_merged and not self._n_waiting and (self._packed is None or self._packed.is_empty)

    @property
    def nbytes(self) -> int:
        """The bytes of these."""
        return 0 if self._merged is None else self._merged.nbytes

    def result(self) -> pa.Table:
        """One row per combination, with its count."""
        self._unpack()
        self._merge()
        return pa.table({_COUNT: pa.array([], pa.int64())}) if self._merged is None else self._merged

    def _unpack(self) -> None:
        """Go on with rows instead of numbers."""
        packed, self._packed = self._packed, None
        if packed is not None and not packed.is_empty:
            cells, counts = packed.result()
            self.add_counted(cells.append_column(_COUNT, pa.array(counts)), repeated=False)

    def _merge(self) -> None:
        parts = [part for part in (self._merged, *self._waiting) if part is not None]
        alone = len(parts) == 1 and not self._repeated
        self._waiting, self._n_waiting, self._repeated = [], 0, False
        self._merged = parts[0] if alone else None
        if parts and not alone:
            several = pa.concat_tables(map(_written_out, parts)).group_by(self._names, use_threads=False)
            summed = several.aggregate([(_COUNT, "sum")]).select([*self._names, f"{_COUNT}_sum"])
            self._merged = summed.rename_columns([*self._names, _COUNT])


class DividedTallies:
    """Several tallies that share some columns, in parts in which all rows with equal cells there are together.

    Parameters
    ----------
    names
        The columns of each tally.
    by
        The columns that all of them have.
    budget, spill
        The memory that may be taken, and where rows wait; all is one part in memory when None.

    Examples
    --------
    >>> tallies = DividedTallies([["age", "sex"], ["age"]], by=["age"])
    >>> tallies.add(0, pa.table({"age": [30, 30, 40], "sex": ["f", "m", "f"]}))
    >>> tallies.add(1, pa.table({"age": [50]}))
    >>> [[part.num_rows for part in parts] for parts in tallies.parts()]
    [[3, 1]]
    """

    def __init__(
        self,
        names: Sequence[Sequence[str]],
        *,
        by: Sequence[str],
        budget: Budget | None = None,
        spill: Spill | None = None,
        level: int = 0,
    ) -> None:
        self._names, self._by = [list(some) for some in names], list(by)
        self._budget, self._spill, self._level = budget, spill, level
        merge_cells = _MERGE_CELLS if budget is None else max(1, budget.rows(_BESIDE_BYTES * 2) // len(self._names))
        self._tallies = [Tally(some, merge_cells, spacious=budget is None) for some in self._names]
        self._buckets: list[Buckets] = []
        self._dealt_bytes = [0] * len(self._names)
        self._alike = [0.0] * len(self._names)

    def add(self, place: int, batch: pa.Table) -> None:
        """Count one more batch, in the tally of this place."""
        names = self._names[place]
        if self._budget is None:
            self._tallies[place].add(batch)
            return
        if self._buckets and self._alike[place] > _NEARLY_ALL:
            cells = batch.select(names)
            counted = cells.append_column(_COUNT, pa.array(np.ones(cells.num_rows, dtype=np.int64)))
        else:
            counted = grouped(batch, names)
            self._alike[place] = counted.num_rows / max(batch.num_rows, 1)
        self.add_counted(place, counted, repeated=False)

    def add_counted(self, place: int, counted: pa.Table, *, repeated: bool) -> None:
        """Take over combinations with their counts; `repeated` if one may be there several times."""
        if self._buckets:
            self._deal(place, counted)
            return
        self._tallies[place].add_counted(counted, repeated=repeated)
        if self._is_full():
            self._overflow()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted."""
        return not self._buckets and all(tally.is_empty for tally in self._tallies)

    def parts(self) -> Iterator[list[pa.Table]]:
        """The combinations of each tally with their counts, part by part; as often as one likes."""
        if not self._buckets:
            yield [tally.result() for tally in self._tallies]
            return
        for some in self._gathered():
            inner = DividedTallies(
                self._names, by=self._by, budget=self._budget, spill=self._spill, level=self._level + 1
            )
            for place, buckets in enumerate(self._buckets):
                for batch in (batch for bucket in some for batch in buckets.read(bucket)):
                    inner.add_counted(place, pa.Table.from_batches([batch]), repeated=True)
            yield from inner.parts()

    def cells(self, place: int) -> Iterator[pa.Table]:
        """The combinations of one tally as they were dealt, some of them several times: nothing is merged for that."""
        if not self._buckets:
            yield self._tallies[place].result()
            return
        for bucket in range(_BUCKETS):
            for batch in self._buckets[place].read(bucket):
                yield pa.Table.from_batches([batch])

    def _gathered(self) -> Iterator[list[int]]:
        """The buckets of one part after the other: judging a part costs something by itself, so small ones share it."""
        n_rows = np.array([[buckets.n_rows(bucket) for bucket in range(_BUCKETS)] for buckets in self._buckets])
        each = np.array(self._dealt_bytes) / np.maximum(n_rows.sum(axis=1), 1) * _COPIES + _BESIDE_BYTES
        some: list[int] = []
        taken = 0.0
        for bucket, own in enumerate((each @ n_rows).tolist()):
            if not own:
                continue
            if some and (taken + own) * _GATHERED > self._most_bytes:
                yield some
                some, taken = [], 0.0
            some.append(bucket)
            taken += own
        if some:
            yield some

    def _is_full(self) -> bool:
        taken = sum(tally.nbytes * _COPIES + tally.n_merged * _BESIDE_BYTES for tally in self._tallies)
        return taken > self._most_bytes

    @property
    def _most_bytes(self) -> float:
        """What one part may take while its classes are judged."""
        return math.inf if self._budget is None else self._budget.for_rows // 2

    def _overflow(self) -> None:
        """From now on, rows wait on disk."""
        if self._spill is None or self._budget is None:
            return
        if self._level == _MOST_LEVELS:
            raise ParameterError(
                "audit",
                "memory",
                "must be larger: one class of equal quasi-identifiers has more different rows than fit into it",
                got=in_bytes(self._budget.bytes),
            ).with_hint("Give more memory, or name more quasi-identifiers.")
        self._buckets = [self._spill.buckets(_BUCKETS) for _ in self._names]
        for place, tally in enumerate(self._tallies):
            if not tally.is_empty:
                self._deal(place, tally.result())
        self._tallies = [Tally(names, 1) for names in self._names]

    def _deal(self, place: int, counted: pa.Table) -> None:
        for batch in counted.to_batches():
            numbers = bucket_numbers(row_hashes(pa.Table.from_batches([batch]), self._by), _BUCKETS, self._level)
            self._buckets[place].deal(batch, numbers)
            self._dealt_bytes[place] += batch.nbytes


def _written_out(cells: pa.Table) -> pa.Table:
    """The same cells without dictionaries, which differ between tables."""
    if not any(map(pa.types.is_dictionary, cells.schema.types)):
        return cells
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in cells.schema.types]
    return cells.cast(pa.schema(zip(cells.column_names, kinds, strict=True)))


def grouped(batch: pa.Table, names: Sequence[str]) -> pa.Table:
    """The different combinations of a batch, with their counts."""
    found = batch.select(names).group_by(list(names), use_threads=False).aggregate([([], "count_all")])
    return found.select([*names, "count_all"]).rename_columns([*names, _COUNT])


def counts_of(cells: pa.Table) -> NDArray[np.int64]:
    """How often each combination of a tally's result occurs."""
    counts: NDArray[np.int64] = cells.column(_COUNT).to_numpy().astype(np.int64)
    return counts


def renamed_count(cells: pa.Table, name: str | None) -> pa.Table:
    """Combinations whose counts, the last column, have this name; None for the name that tallies know."""
    return cells.rename_columns([*cells.column_names[:-1], _COUNT if name is None else name])
