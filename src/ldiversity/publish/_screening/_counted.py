"""What one pass counted, gathered from all batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import different
from ldiversity.base.hashing import MISSING
from ldiversity.engines import BatchFunction, Engine, Secrets
from ldiversity.publish._numbered_texts import repeated_texts
from ldiversity.publish._screening._cell_counts import SPELLING_BITS
from ldiversity.publish._screening._content import LOOKS, Looked
from ldiversity.publish._screening._sketch import NO_LABEL, Sketch, SketchRows, bits_of
from ldiversity.publish._screening._tally import SEVERAL, HashCounts, HashOwners
from ldiversity.tables import Source

__all__ = ["EVEN", "Counted", "Spread", "count"]

EVEN: Final = 0.1
"""How far the rows of a sample may be from their share."""

_HASHED: Final = ("values", "rounded", "spellings", "ids", "persons", "people", "coarser")
_WHOLE: Final = ("persons", "people", "coarser")
"""Of these, all bits of a key are of the hash."""


class Spread(NamedTuple):
    """How the values of a column are spread over its rows.

    `distinct` and `alone`, the rows whose value no other row has, are estimates when `exact` is false.
    """

    filled: int
    distinct: int
    alone: int
    exact: bool

    @property
    def variety(self) -> float:
        """Different values over rows."""
        return self.distinct / self.filled if self.filled else 0.0

    @property
    def share_alone(self) -> float:
        """The share of rows whose value no other row has."""
        return self.alone / self.filled if self.filled else 0.0


@dataclass(frozen=True, eq=False)
class Counted:
    """The counts of every sketch."""

    n_rows: int
    hashed: Mapping[Sketch, HashCounts]
    summed: Mapping[Sketch, NDArray[np.int64]]
    extremes: Mapping[Sketch, tuple[int, int]]
    choices: SketchRows
    without_label: frozenset[str] = frozenset()
    """Columns with a value that has no label at the level that was tried."""

    def spread(self, column: str, attribute: str) -> Spread:
        """How the values of a column are spread; `attribute` is any sensitive column beside which it was counted."""
        own = self.hashed[Sketch("values", column, attribute)]
        hashes, starts = own.groups()
        totals = np.add.reduceat(own.counts, starts) if len(starts) else own.counts
        known = hashes != MISSING >> np.uint64(own.bits)
        missing = int(totals[~known].sum())
        alone = int(np.count_nonzero(totals[known] == 1))
        return Spread(
            filled=self.n_rows - missing,
            distinct=int(np.count_nonzero(known)) * own.scale,
            alone=alone * own.scale,
            exact=own.scale == 1,
        )

    def looked(self, column: str) -> Looked | None:
        """What the texts or numbers of a column look like; None where that was not asked."""
        found = self.summed.get(Sketch("looks", column))
        if found is None:
            return None
        *hits, n = found.tolist()
        return Looked(n, tuple(hits))

    def unique_people(self, coarser: str | None = None) -> tuple[int, bool]:
        """How many people are alone with their quasi-identifiers, and whether that is exact.

        `coarser` names the column that is taken at its level. Of a sample of the combinations, a person counts for each
        that they alone have.
        """
        own = self.hashed[Sketch("people") if coarser is None else Sketch("coarser", coarser)]
        scale = own.scale << (0 if coarser is None else self.choices.sampled_for(coarser))
        if not self.people:
            alone, rows = int(np.count_nonzero(own.counts == 1)), int(own.counts.sum())
            # By the share of sampled rows, which is never more than all of them.
            return (alone if scale == 1 else round(self.n_rows * (alone / max(rows, 1)))), scale == 1
        owners = own.counts
        return len(different(owners[owners != SEVERAL])) * scale, scale == 1

    def is_even(self, coarser: str) -> bool:
        """Whether the sample of combinations with a column at its level holds its share of the rows.

        Where the other columns have few combinations, chance can take nearly all rows, or none.
        """
        rows = int(self.summed[Sketch("taken", coarser)].sum())
        return abs((rows << self.choices.sampled_for(coarser)) - self.n_rows) <= EVEN * self.n_rows

    @property
    def people(self) -> bool:
        """Whether a column says whose row it is."""
        return self.choices.person is not None

    @property
    def n_people(self) -> tuple[int, bool]:
        """How many people there are, rows where no column says whose row it is; and whether that is exact."""
        if not self.people:
            return self.n_rows, True
        own = self.hashed[Sketch("persons")]
        return len(own.keys) * own.scale, own.scale == 1


def count(choices: SketchRows, source: Source, engine: Engine) -> Counted:
    """Read the table once, and gather the counts of all batches."""
    needed = {
        *choices.coders,
        *choices.quasi,
        *(sketch.column for sketch in choices.sketches if sketch.column),
        *([] if choices.person is None else [choices.person]),
    }
    columns = [name for name in source.columns if name in needed]
    gathered = _Gathered.of(choices)
    counting = CountRows(choices, repeated_texts(source, columns))
    for batch in engine.map(counting, source, columns, secrets=Secrets()):
        gathered.add(batch)
    return Counted(
        gathered.n_rows,
        gathered.hashed,
        gathered.summed,
        gathered.extremes,
        choices,
        frozenset(gathered.without_label),
    )


@dataclass(frozen=True)
class CountRows:
    """Makes the function that counts a batch. Workers elsewhere add up what they counted before they send it."""

    choices: SketchRows
    encoded: frozenset[str] = frozenset()
    """Columns that may come as dictionaries."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of the counts."""
        return self.choices.schema

    def __call__(self, secrets: Secrets, /) -> BatchFunction:
        """The function; every worker counts alike."""
        return self.choices(secrets)

    def together(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """All counts of some batches, as if they were one."""
        gathered = _Gathered.of(self.choices)
        for batch in batches:
            gathered.add(batch)
        if gathered.n_rows:
            yield gathered.as_batch()


def _bits(choices: SketchRows, sketch: Sketch) -> int:
    if sketch.what in {"spellings", "ids"}:
        return SPELLING_BITS
    if sketch.what in _WHOLE:
        return 0
    return bits_of(len(choices.merged[sketch.attribute]))


@dataclass(eq=False)
class _Gathered:
    """The counts of several batches. What is gathered can be gathered again, and gives the same in the end."""

    choices: SketchRows
    hashed: dict[Sketch, HashCounts]
    summed: dict[Sketch, NDArray[np.int64]]
    extremes: dict[Sketch, tuple[int, int]] = field(default_factory=dict)
    without_label: set[str] = field(default_factory=set)
    n_rows: int = 0

    @classmethod
    def of(cls, choices: SketchRows) -> _Gathered:
        owned = () if choices.person is None else ("people", "coarser")
        hashed = {
            one: (HashOwners if one.what in owned else HashCounts)(_bits(choices, one), halvings=choices.halvings(one))
            for one in choices.sketches
            if one.what in _HASHED
        }
        sizes = {"looks": len(LOOKS) + 1, "taken": 1}
        summed = {one: np.zeros(sizes[one.what], dtype=np.int64) for one in choices.sketches if one.what in sizes}
        return cls(choices, hashed, summed)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the counts of a batch, or of several that were gathered."""
        keys, counts, halvings = (batch.column(name).to_numpy() for name in ("key", "count", "halvings"))
        ends = np.searchsorted(batch.column("sketch").to_numpy(), np.arange(len(self.choices.sketches) + 1))
        for place, sketch in enumerate(self.choices.sketches):
            own = slice(ends[place], ends[place + 1])
            if sketch.what == "coarser" and not counts[own].all():
                self.without_label.add(sketch.column)
            elif sketch in self.hashed:
                if ends[place + 1] > ends[place]:
                    self.hashed[sketch].add(keys[own], counts[own], int(halvings[ends[place]]))
            elif sketch in self.summed:
                self.summed[sketch] += counts[own]
            elif sketch.what == "rows":
                self.n_rows += int(counts[own].sum())
            elif ends[place + 1] > ends[place]:
                low, high = self.extremes.get(sketch, (counts[own][0], counts[own][1]))
                self.extremes[sketch] = (min(low, counts[own][0]), max(high, counts[own][1]))

    def as_batch(self) -> pa.RecordBatch:
        """What was gathered, in the form in which it came."""
        counted, halvings = [], []
        for sketch in self.choices.sketches:
            own = self.hashed.get(sketch)
            halvings.append(0)
            if sketch.what == "coarser" and sketch.column in self.without_label:
                counted.append(NO_LABEL)
            elif own is not None:
                counted.append((own.keys, own.counts))
                halvings[-1] = own.halvings  # taking the keys may halve them
            else:
                counts = np.asarray(self._plain(sketch), dtype=np.int64)
                counted.append((np.arange(len(counts), dtype=np.uint64), counts))
        return self.choices.as_batch(counted, halvings)

    def _plain(self, sketch: Sketch) -> Sequence[int] | NDArray[np.int64]:
        if sketch.what == "rows":
            return [self.n_rows]
        return self.summed[sketch] if sketch in self.summed else self.extremes.get(sketch, ())
