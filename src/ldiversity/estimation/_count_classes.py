"""Classes summed up by cell from rows that are read batch by batch: some classes are in memory at a time.

A first reading says which values and which regions occur (`Bounded.know`). Then rows become a few numbers each, are
dealt by ranges of classes, and every range is added to the sums by the same loop that adds all classes at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.errors import UnsupportedError
from ldiversity.estimation._admissible import damaged
from ldiversity.estimation._exchange import Exchange
from ldiversity.estimation._profiles import profile_classes
from ldiversity.estimation._seen import as_bytes, selected_rows
from ldiversity.estimation._words import Digits, Tally
from ldiversity.models import ClassCounts, count_classes
from ldiversity.release import Cells, ClassRange
from ldiversity.sentences import Setting, say
from ldiversity.tables import COUNT

if TYPE_CHECKING:
    from ldiversity.base.arrays import ClassArray, CodeArray, IntArray
    from ldiversity.estimation._class_cells import ClassSums
    from ldiversity.estimation._coders import Coder
    from ldiversity.estimation._runs import Spread
    from ldiversity.estimation._where import Filter
    from ldiversity.release import CodedBatch
    from ldiversity.schema import Domain

__all__ = ["CodeClasses", "ExactCells", "ProfileTally", "ValuesInOrder", "add_range"]

CLASS: Final = "class"
"""The column of classes."""

_NOT_SELECTED: Final = -1
_PROFILE: Final = "profile"


@dataclass(frozen=True, eq=False)
class CodeClasses:
    """Turns the rows of a batch into numbers: class, exact cell, regions and values. Can be pickled.

    Parameters
    ----------
    coders, filters
        Code the exact columns that make cells, and select rows.
    regions
        The different cells of each generalized column, as bytes.
    values
        The attributes whose values are in the rows.
    """

    coders: tuple[Coder, ...]
    filters: tuple[Filter, ...]
    regions: Mapping[str, pa.Array]
    values: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The published columns that it needs as they were."""
        return tuple(dict.fromkeys([*(one.column for one in self.coders), *(one.column for one in self.filters)]))

    @cached_property
    def digits(self) -> Digits:
        """The codes of an exact cell."""
        return Digits((1, *(max(1, len(one.labels)) for one in self.coders)))

    @property
    def schema(self) -> pa.Schema:
        """The columns of the numbers, where classes may be of any type of whole numbers."""
        names = [*self.digits.names, *(f"region {name}" for name in self.regions)]
        values = [(f"value {name}", pa.int32()) for name in self.values]
        return pa.schema([(CLASS, pa.int64()), *((name, pa.int64()) for name in names), *values])

    def __call__(self, batch: CodedBatch) -> pa.RecordBatch:
        """One row of numbers for each row."""
        n_rows = len(batch.classes)
        words = self.digits.pack(
            [np.zeros(n_rows, dtype=np.int64), *(one.encode(batch.own[one.column]) for one in self.coders)]
        )
        if self.filters:
            words[0][~selected_rows(batch.own, self.filters, n_rows)] = _NOT_SELECTED
        regions = {
            f"region {name}": np.asarray(pc.index_in(as_bytes(batch.cells[name]), value_set=known).cast(pa.int64()))
            for name, known in self.regions.items()
        }
        values = {f"value {name}": batch.codes[name] for name in self.values}
        return pa.record_batch(
            {CLASS: batch.classes, **dict(zip(self.digits.names, words, strict=True)), **regions, **values}
        )


class ExactCells:
    """Numbers of the exact cells that occur, in the order in which they are seen."""

    def __init__(self, digits: Digits, names: Sequence[str]) -> None:
        self._digits, self._names = digits, list(names)
        self._known: dict[tuple[int, ...], int] = {}

    def __len__(self) -> int:
        return len(self._known)

    def number(self, words: Sequence[IntArray]) -> IntArray:
        """The number of each row's cell."""
        if len(words) == 1:
            different, inverse = np.unique(words[0], return_inverse=True)
            rows = different[:, None]
        else:
            rows, inverse = np.unique(np.stack(words, axis=1), axis=0, return_inverse=True)
        known = self._known
        numbers = np.array([known.setdefault(tuple(row), len(known)) for row in rows.tolist()], dtype=np.int64)
        return numbers[inverse.reshape(-1)]

    def codes(self) -> pa.Table:
        """The code of each exact column in each cell, in the order of the numbers."""
        words = np.array(list(self._known), dtype=np.int64).reshape(len(self._known), -1)
        digits = self._digits.unpack(list(words.T))[1:] if len(words) else [np.empty(0, np.int32)] * len(self._names)
        return pa.table(dict(zip(self._names, digits, strict=True)))


def add_range(
    some: ClassRange,
    sums: ClassSums,
    cells: ExactCells,
    spreads: Mapping[str, Spread],
    classes: Sequence[ClassCounts] | Mapping[str, Domain],
    profiles: ProfileTally | None,
) -> int:
    """Add all rows of some classes to the sums; returns how many rows they are.

    `classes` has the values of each class, or the domains of attributes whose values are in the rows.
    """
    rows = pa.Table.from_batches(list(some.batches))
    class_of = np.asarray(rows[CLASS]).astype(np.int64) - some.first
    if isinstance(classes, Mapping):
        if not np.bincount(class_of, minlength=some.n_classes).all():
            raise damaged("every class of the release must have a row")
        classes = [
            count_classes(class_of, np.asarray(rows[f"value {name}"]), some.n_classes, domain)
            for name, domain in classes.items()
        ]
    if profiles is not None:
        profiles.add(classes[0])
    region_of = {name: _shared(name, class_of, np.asarray(rows[f"region {name}"]), some.n_classes) for name in spreads}
    words = [np.asarray(rows[name]) for name in rows.column_names if name.startswith("word ")]
    selected = np.flatnonzero(words[0] >= 0)
    numbers = cells.number([word[selected] for word in words])
    sums.reach(len(cells))
    n_exact = max(1, len(cells))
    keys, sizes = np.unique(class_of[selected] * n_exact + numbers, return_counts=True)
    unit_class = keys // n_exact
    regions = {name: spread.region_of[region_of[name][unit_class]] for name, spread in spreads.items()}
    sums.add(unit_class, sizes.astype(np.int64), keys % n_exact, regions, profile_classes(classes))
    pa.default_memory_pool().release_unused()
    return len(class_of)


def _shared(name: str, class_of: IntArray, codes: IntArray, n_classes: int) -> IntArray:
    """The region that all rows of a class share."""
    shared = np.zeros(n_classes, dtype=np.int64)
    shared[class_of] = codes
    if not np.array_equal(shared[class_of], codes):
        raise damaged(f"rows of one class must share {name!r}")
    return shared


class ValuesInOrder:
    """The table of values of classes, handed out range by range."""

    def __init__(self, batches: Iterator[tuple[ClassArray, CodeArray, NDArray[np.int64]]], domain: Domain) -> None:
        self._batches, self._domain = batches, domain
        self._left: list[tuple[ClassArray, CodeArray, NDArray[np.int64]]] = []

    def of(self, some: ClassRange) -> ClassCounts:
        """The values of these classes; ranges come in ascending order."""
        end = some.first + some.n_classes
        while not self._left or self._left[-1][0][-1] < end:
            batch = next(self._batches, None)
            if batch is None:
                break
            self._left += [batch] if len(batch[0]) else []
        parts = [np.concatenate([np.empty(0, np.int64), *(part[place] for part in self._left)]) for place in range(3)]
        place = int(np.searchsorted(parts[0], end))
        self._left = [] if place == len(parts[0]) else [(parts[0][place:], parts[1][place:], parts[2][place:])]
        starts = np.searchsorted(parts[0][:place], some.first + np.arange(some.n_classes + 1))
        if (np.diff(starts) < 1).any():
            raise damaged("every class of the release must have a value")
        codes, counts = parts[1][:place].astype(np.int32), parts[2][:place].astype(np.int64)
        return ClassCounts(starts.astype(np.int64), codes, counts, self._domain)


class ProfileTally:
    """How many classes have the same values equally often: all that is needed to undo the mixing of values."""

    def __init__(self, domain: Domain, most: int) -> None:
        self._domain, self._most = domain, most
        self._tally = Tally([_PROFILE], most)

    def add(self, classes: ClassCounts) -> None:
        """Count some classes."""
        pairs = np.stack([classes.codes.astype(np.int64), classes.counts], axis=1).reshape(-1)
        counted = as_bytes(Cells(2 * classes.starts, pairs)).cast(pa.binary()).value_counts()
        if self._tally.add(pa.table({_PROFILE: counted.field("values"), COUNT: counted.field("counts")})):
            raise self._too_many()

    def exchange(self) -> Exchange:
        """What undoes the mixing."""
        table = self._tally.result()
        if table is None:
            raise self._too_many()
        profiles = table[_PROFILE].combine_chunks().cast(pa.large_binary())
        lengths = np.asarray(pc.binary_length(profiles)) // 16
        pairs = np.frombuffer(b"".join(profiles.to_pylist()), dtype=np.int64).reshape(-1, 2)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        classes = ClassCounts(starts, pairs[:, 0].astype(np.int32), pairs[:, 1].copy(), self._domain)
        return Exchange(classes, np.asarray(table[COUNT]))

    def _too_many(self) -> UnsupportedError:
        return UnsupportedError(
            "estimate", f"there are more than {self._most} kinds of classes, which is all that the memory allows"
        ).with_hint(say("Use {}, or set more {}.", Setting("estimator", "classes"), Setting("memory", "2GB")))
