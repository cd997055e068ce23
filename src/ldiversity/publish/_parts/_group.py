"""The rows of one part in classes: the step that needs all of them at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.randomness import Identities, Key, KeyedWords, Secret
from ldiversity.engines import Part, Secrets
from ldiversity.methods import Grouping, GroupingMethod, GroupingRun, NumberColumn, Partition
from ldiversity.publish._coding import Reading
from ldiversity.publish._grouping import check_grouping
from ldiversity.publish._identities import key_column
from ldiversity.publish._parts._note import PartNote
from ldiversity.publish._parts._regions import cells_column, cells_type
from ldiversity.publish._parts._short import short_of_memory
from ldiversity.publish._parts._table import PART, TableShape, code_name, identities_of, own_name
from ldiversity.publish._regions import ClassRowsInOrder, region_cells
from ldiversity.release import PEOPLE, Form

__all__ = ["KEY", "GroupPart", "class_name"]

KEY: Final = "key"
"""The column by which rows are put in their random order."""

_WORDS: Final = 2


def class_name(partition: int) -> str:
    """The column of the numbers that the classes of a partition have within their part, from 0."""
    return f"class {partition}"


@dataclass(frozen=True, eq=False)
class GroupPart:
    """Makes the function that groups a part, on the worker that has it. It can be pickled.

    Attributes
    ----------
    shape
        What is known of all rows of the table.
    method
        How records are grouped.
    n_partitions
        How many partitions the method makes.
    forms
        How each quasi-identifier is published; none where records keep theirs.
    engine
        The name of the engine, which has its own way out where memory is short.
    """

    shape: TableShape
    method: GroupingMethod
    n_partitions: int
    forms: Mapping[str, Form]
    engine: str

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of published rows, in codes."""
        dtypes = {one.name: getattr(one, "dtype", None) for one in self.shape.quasi}
        return pa.schema(
            [
                (PART, pa.int32()),
                (KEY, pa.binary(16)),
                *((class_name(k), pa.int64()) for k in range(self.n_partitions)),
                *((code_name(name), pa.int32()) for name in self.shape.coders),
                *((code_name(name), cells_type(form, dtypes[name])) for name, form in self.forms.items()),
                *((own_name(name), self.shape.types[name]) for name in self.shape.plain),
            ]
        )

    def __call__(self, secrets: Secrets) -> PartGrouper:
        """The function of a worker."""
        return PartGrouper(self, secrets.job)


class PartGrouper(Secret):
    """Groups the rows of a part. All draws are keyed by rows, so that a part that is done again comes out the same."""

    __slots__ = ("_choices", "_key")

    def __init__(self, choices: GroupPart, key: Key) -> None:
        self._choices, self._key = choices, key

    def __call__(self, part: Part) -> tuple[pa.Table, bytes]:
        """The published rows of the part, and the note about it."""
        choices = self._choices
        rows = part.rows.take(pa.array(self._order(identities_of(part.rows), "within a part")))
        reading = choices.shape.reading(rows)
        grouping = choices.method.group(reading.grouped, GroupingRun(part.workers))
        check_grouping(grouping, reading, choices.method)
        partitions = grouping.partitions
        if any(not np.array_equal(one.class_of < 0, partitions[0].class_of < 0) for one in partitions[1:]):
            # What only hidden values had would be public: nobody reads the whole table again without them.
            raise short_of_memory(
                choices.engine,
                choices.method.name,
                "must hold the whole table, because records are in classes of some columns only",
                "publish one sensitive column",
            )
        published = np.flatnonzero(np.logical_or.reduce([one.class_of >= 0 for one in partitions]))
        who = identities_of(rows)
        columns: dict[str, pa.Array | pa.ChunkedArray] = {
            PART: pa.array(np.full(len(published), part.number, dtype=np.int32)),
            KEY: key_column(KeyedWords(self._key, b"", "order of rows").for_records(who[published], _WORDS)),
        }
        for k, partition in enumerate(partitions):
            columns[class_name(k)] = pa.array(partition.class_of[published].astype(np.int64))
        by_column = _by_column(grouping, reading)
        for column in reading.table.sensitive:
            if column.name != PEOPLE:
                codes = self._shuffled(column.name, column.codes, by_column[column.name], who)[published]
                columns[code_name(column.name)] = pa.array(codes)
        regions = self._regions(reading, grouping) if choices.forms else {}
        class_of = pa.array(partitions[0].class_of[published])
        columns |= {code_name(name): cells.take(class_of) for name, cells in regions.items()}
        for name in choices.shape.plain:
            columns[own_name(name)] = rows.column(own_name(name)).take(pa.array(published))
        table = pa.table(columns).select(choices.schema.names).cast(choices.schema)
        note = self._note(part, reading, grouping, published, regions).to_bytes()
        return table, note

    def _order(self, who: Identities, purpose: str) -> NDArray[np.int64]:
        """A random order of rows."""
        words = KeyedWords(self._key, b"", purpose).for_records(who, _WORDS)
        return np.lexsort((words[:, 1], words[:, 0]))

    def _shuffled(self, column: str, codes: CodeArray, partition: Partition, who: Identities) -> CodeArray:
        """Shuffle the values within each class, so that nothing links them to other columns."""
        again = self._order(who, f"values of {column}")
        places = ClassRowsInOrder.of(partition.class_of, partition.n_classes).order
        mixed = ClassRowsInOrder.of(partition.class_of[again], partition.n_classes).order
        shuffled = np.full(len(codes), -1, dtype=np.int32)
        shuffled[places] = codes[again][mixed]
        return shuffled

    def _regions(self, reading: Reading, grouping: Grouping) -> dict[str, pa.Array]:
        (partition,) = grouping.partitions
        cells = region_cells(
            reading,
            ClassRowsInOrder.of(partition.class_of, partition.n_classes),
            self._choices.forms,
            levels=grouping.levels,
            suppress_differences=grouping.suppress_differences,
        )
        kinds = self._choices.schema
        return {name: cells_column(own, kinds.field(code_name(name)).type) for name, own in cells.items()}

    def _note(
        self,
        part: Part,
        reading: Reading,
        grouping: Grouping,
        published: NDArray[np.int64],
        regions: Mapping[str, pa.Array],
    ) -> PartNote:
        shown: dict[str, list[int]] = {}
        ends: dict[str, list[float]] = {}
        for column in reading.table.quasi if self._choices.forms else ():
            if isinstance(column, NumberColumn):
                known = published if column.missing is None else published[~column.missing[published]]
                values = column.values[known]
                ends[column.name] = [values.min().item(), values.max().item()] if len(values) else []
            else:
                shown[column.name] = np.unique(column.codes[published]).tolist()
        return PartNote(
            part.number,
            part.rows.num_rows,
            len(published),
            tuple(one.n_classes for one in grouping.partitions),
            dict(grouping.levels),
            dict(grouping.facts),
            grouping.notes,
            grouping.warnings,
            shown,
            ends,
            {
                name: np.unique(np.asarray(cells)).tolist()
                for name, cells in regions.items()
                if pa.types.is_integer(cells.type)
            },
            {
                column.name: np.bincount(column.codes[published], minlength=len(column.domain)).tolist()
                for column in reading.table.sensitive
            },
            {
                fact: {name: np.asarray(numbers).tolist() for name, numbers in columns.items()}
                for fact, columns in grouping.of_values.items()
            },
        )


def _by_column(grouping: Grouping, reading: Reading) -> dict[str, Partition]:
    several = len(grouping.partitions) > 1
    return {
        column.name: grouping.partitions[place if several else 0]
        for place, column in enumerate(reading.table.sensitive)
    }
