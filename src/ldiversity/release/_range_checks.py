"""Checking classes where their rows are: what an engine maps over published files, and applies to ranges of classes.

`RangeRows` makes a few numbers of each published row. An engine brings those of each range of classes together, and
`CheckRange` checks it. What it finds is small; `refuse_ranges` adds it up, with the same result as if all rows had been
checked at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import ClassArray, CodeArray
from ldiversity.base.hashing import cell_hashes, mixed
from ldiversity.errors import ClaimError
from ldiversity.models import Population, SomeClasses
from ldiversity.release._cells import Cells
from ldiversity.release._check_classes import ClassFaults, Recount, find_faults
from ldiversity.release._claims import PEOPLE, RECORDS, AlikeClaim, ClassClaim
from ldiversity.release._class_decode import ClassDecoder
from ldiversity.release._damage import damaged
from ldiversity.release._description import ClassDescription, Format
from ldiversity.release._files import typed
from ldiversity.schema import Domain

__all__ = ["RANGE", "CheckRange", "RangeNote", "RangeRows", "Ranges", "refuse_ranges"]

RANGE: Final = "range"
"""The column with the number of the range of classes that a row belongs to."""

_CLASS: Final = "class"
_SUBJECT: Final = "subject"
_CODE: Final = "code"
_COUNT: Final = "count"
_ROW: Final = -1
"""In place of the number of an attribute: a row, and not a value of a table of values."""


@dataclass(frozen=True)
class Ranges:
    """The classes of one class column in ranges of about the same size; it can be pickled.

    Parameters
    ----------
    n_classes
        The number of classes of each class column.
    n_ranges
        How many ranges there are at most.

    Examples
    --------
    >>> from ldiversity.schema import Schema
    >>> described = ClassDescription(Schema(()), {}, (), "generalized", {}, {"": "class_id"})
    >>> ranges = Ranges(described, "class_id", {"class_id": 10}, 4)
    >>> ranges.range_of(np.array([0, 2, 3, 9])).tolist(), [ranges.size(number) for number in range(4)]
    ([0, 0, 1, 3], [3, 3, 3, 1])
    """

    description: ClassDescription
    class_column: str
    n_classes: Mapping[str, int]
    n_ranges: int

    @property
    def subjects(self) -> list[str]:
        """The attributes whose classes these are; `PEOPLE` where none is sensitive."""
        return [name for name, column in self.description.class_columns.items() if column == self.class_column]

    @property
    def regions(self) -> list[str]:
        """The columns that rows of a class share."""
        forms = self.description.forms if self.description.layout == "generalized" else {}
        return [name for name, form in forms.items() if form.kind != "exact"]

    @property
    def width(self) -> int:
        """How many classes a range has."""
        return -(-self.n_classes[self.class_column] // self.n_ranges)

    def range_of(self, classes: ClassArray) -> NDArray[np.int64]:
        """The range of each class."""
        return classes.astype(np.int64) // self.width

    def size(self, number: int) -> int:
        """How many classes a range has; the last ones may have fewer, or none."""
        return max(0, min(self.width, self.n_classes[self.class_column] - number * self.width))

    def claims(self, subject: str) -> list[ClassClaim]:
        """What is claimed about the classes of an attribute."""
        about = [claim for claim in self.description.claims if claim.attribute == subject]
        return [claim for claim in about if not isinstance(claim, AlikeClaim)]

    def domain(self, subject: str) -> Domain:
        """The public values of an attribute."""
        return RECORDS if subject == PEOPLE else self.description.schema.domain(subject)


@dataclass(frozen=True)
class RangeRows:
    """Makes of published rows, or of a published table of values, the numbers that `CheckRange` needs.

    It can be pickled. `ReleaseFormatError` where a cell is not what the release describes.

    Parameters
    ----------
    attribute
        Whose table of values it is; None for the rows.
    """

    ranges: Ranges
    data_format: Format
    attribute: str | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns that come of it; those of rows and tables of values of a bucketized release are the same."""
        numbers = [(RANGE, pa.int64()), (_CLASS, pa.int64())]
        if self.ranges.description.layout == "bucketized":
            return pa.schema([*numbers, (_SUBJECT, pa.int32()), (_CODE, pa.int32()), (_COUNT, pa.int64())])
        values = [(f"v{name}", pa.int32()) for name in self.ranges.subjects if name != PEOPLE]
        return pa.schema([*numbers, *values, *((f"c{name}", pa.int64()) for name in self.ranges.regions)])

    @property
    def columns(self) -> list[str]:
        """The published columns that it needs."""
        if self.attribute is not None:
            return [self.ranges.class_column, "value", "count"]
        if self.ranges.description.layout == "bucketized":
            return [self.ranges.class_column]
        shown = [name for name in self.ranges.subjects if name != PEOPLE]
        return [self.ranges.class_column, *shown, *self.ranges.regions]

    def __call__(self, batch: pa.Table) -> pa.RecordBatch:
        """The numbers of some rows; those without a class are left out."""
        ranges = self.ranges
        decoder = ClassDecoder(ranges.description, self.data_format, ranges.n_classes)
        if self.attribute is not None:
            return self._values(batch, decoder, self.attribute)
        if ranges.description.layout == "bucketized":
            classes = decoder.decoded(batch, ranges.class_column).classes
            rows = np.full(len(classes), _ROW, dtype=np.int32)
            return self._counted(classes, rows, np.zeros_like(rows), np.ones(len(classes), dtype=np.int64))
        shown = [name for name in ranges.subjects if name != PEOPLE]
        read = decoder.decoded(batch, ranges.class_column, shown, ranges.regions)
        columns: dict[str, Any] = {RANGE: ranges.range_of(read.classes), _CLASS: read.classes.astype(np.int64)}
        columns |= {f"v{name}": codes for name, codes in read.codes.items()}
        columns |= {f"c{name}": _hashes(cells).view(np.int64) for name, cells in read.cells.items()}
        return pa.record_batch(columns, schema=self.schema)

    def _values(self, batch: pa.Table, decoder: ClassDecoder, attribute: str) -> pa.RecordBatch:
        read = typed(batch, {self.ranges.class_column: pa.int64(), "count": pa.int64()})
        classes = decoder.class_ids(read[self.ranges.class_column], self.ranges.class_column)
        codes = decoder.codes(batch.select(["value"]).rename_columns([attribute]), attribute)
        if read["count"].null_count or (classes < 0).any():
            raise damaged(f"the values of {attribute!r} must have a class and a count in every row")
        counts = read["count"].to_numpy().astype(np.int64)
        if len(counts) and counts.min() < 1:
            raise damaged(f"the values of {attribute!r} must have positive counts")
        subject = self.ranges.subjects.index(attribute)
        return self._counted(classes, np.full(len(classes), subject, dtype=np.int32), codes, counts)

    def _counted(
        self, classes: ClassArray, subjects: CodeArray, codes: CodeArray, counts: NDArray[np.int64]
    ) -> pa.RecordBatch:
        columns = [self.ranges.range_of(classes), classes.astype(np.int64), subjects, codes, counts]
        return pa.record_batch([pa.array(one) for one in columns], schema=self.schema)


@dataclass(frozen=True)
class RangeNote:
    """What was found in one range of classes. It is small, and can be sent as JSON.

    Parameters
    ----------
    number
        The number of the range.
    rows
        How many rows it has.
    faults
        What is wrong with its classes, for each attribute.
    apart
        Generalized columns in which rows of one class differ.
    """

    number: int
    rows: int
    faults: Mapping[str, ClassFaults] = field(default_factory=dict)
    apart: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> RangeNote:
        """What `to_json` made a text of."""
        said = json.loads(text)
        tuples = ("failing", "contradicted")
        faults = {
            name: ClassFaults(**{**one, **{key: tuple(one[key]) for key in tuples}})
            for name, one in said["faults"].items()
        }
        return cls(said["number"], said["rows"], faults, tuple(said["apart"]))


@dataclass(frozen=True)
class CheckRange:
    """Checks all that the rows of one range of classes can show. It can be pickled.

    Parameters
    ----------
    everyone
        For each attribute, how often each value of its domain occurs in all rows: some rules compare a class to it.
    """

    ranges: Ranges
    everyone: Mapping[str, tuple[int, ...]]

    def __call__(self, number: int, rows: pa.Table) -> RangeNote:
        """What is found in all rows of one range, which `RangeRows` made."""
        size, first = self.ranges.size(number), number * self.ranges.width
        classes = rows[_CLASS].to_numpy() - first
        if self.ranges.description.layout == "bucketized":
            return self._bucketized(number, classes, rows, size)
        sizes = np.bincount(classes, minlength=size)
        faults = {}
        for subject in self.ranges.subjects:
            shown = f"v{subject}" in rows.column_names
            codes = rows[f"v{subject}"].to_numpy() if shown else np.zeros(len(classes), dtype=np.int32)
            faults[subject] = self._faults(subject, classes, codes, None, sizes)
        apart = [name for name in self.ranges.regions if _differ(classes, rows[f"c{name}"].to_numpy(), size)]
        return RangeNote(number, len(classes), faults, tuple(apart))

    def _bucketized(self, number: int, classes: ClassArray, rows: pa.Table, size: int) -> RangeNote:
        subjects, codes, counts = (rows[name].to_numpy() for name in (_SUBJECT, _CODE, _COUNT))
        records = subjects == _ROW
        sizes = np.bincount(classes[records], minlength=size)
        faults = {}
        for place, subject in enumerate(self.ranges.subjects):
            own = subjects == place
            faults[subject] = self._faults(subject, classes[own], codes[own], counts[own], sizes)
        return RangeNote(number, int(np.count_nonzero(records)), faults)

    def _faults(
        self,
        subject: str,
        classes: ClassArray,
        codes: CodeArray,
        counts: NDArray[np.int64] | None,
        sizes: NDArray[np.int64],
    ) -> ClassFaults:
        domain = self.ranges.domain(subject)
        recount = Recount(len(sizes), domain)
        recount.add(classes, codes, counts)
        everyone = Population(domain, np.array(self.everyone[subject], dtype=np.int64))
        return find_faults(self.ranges.claims(subject), SomeClasses.of(recount.result(), everyone), sizes)


def refuse_ranges(ranges: Ranges, notes: Iterable[RangeNote], *, n_rows: int | None = None) -> None:
    """Raise `ClaimError` if anything was found in any range. A range without a note has no rows.

    `n_rows` is how many rows there must be in classes, where that is known.
    """
    found = {note.number: note for note in notes}
    total = sum(note.rows for note in found.values())
    if n_rows is not None and total != n_rows:
        raise ClaimError(f"there must be {n_rows} records", column=ranges.subjects[0], got=total)
    missing = sum(ranges.size(number) for number in range(ranges.n_ranges) if number not in found)
    for subject in ranges.subjects:
        faults = ClassFaults(missing, empty=missing, failing=(0,) * len(ranges.claims(subject)))
        for note in found.values():
            faults += note.faults[subject]
        faults.refuse(subject, ranges.claims(subject))
    for name in ranges.regions:
        if any(name in note.apart for note in found.values()):
            raise ClaimError("release", f"rows of one class must share {name!r}")


def _hashes(cells: Cells) -> NDArray[np.uint64]:
    """A number for each cell, the same for the same numbers in the same order."""
    place = np.arange(len(cells.flat)) - np.repeat(cells.starts[:-1], cells.lengths)
    each = mixed(cell_hashes(pa.array(cells.flat)) + place.astype(np.uint64))
    running = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(each, dtype=np.uint64)])
    return mixed(running[cells.starts[1:]] - running[cells.starts[:-1]] + cells.lengths.astype(np.uint64))


def _differ(classes: ClassArray, hashes: NDArray[np.int64], n_classes: int) -> bool:
    """Whether rows of one class differ."""
    first = np.zeros(n_classes, dtype=np.int64)
    first[classes] = hashes
    return not np.array_equal(first[classes], hashes)
