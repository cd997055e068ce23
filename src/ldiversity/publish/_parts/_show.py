"""Grouped rows on their way into files: classes get their numbers, and regions their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import class_dtype
from ldiversity.base.randomness import Key, Secret
from ldiversity.engines import BatchFunction, NumberedBatch, Part, PartFunction, Secrets
from ldiversity.publish._parts._group import class_name
from ldiversity.publish._parts._numbers import RandomNumbers
from ldiversity.publish._parts._regions import cells_of_column
from ldiversity.publish._parts._table import PART, code_name, own_name
from ldiversity.release import Form, column_of

__all__ = ["PIECE", "ClassNumbers", "CountPiece", "ShowRows", "ShowValues"]

PIECE: Final = "piece"
"""The column that says to which range of numbers a class belongs."""


@dataclass(frozen=True, eq=False)
class ClassNumbers:
    """The number of each class of a partition: those of a part come after those of the parts before it, all shuffled.

    Parameters
    ----------
    column
        The class column.
    offsets
        Shape (parts,): how many classes the parts before have.
    n_classes
        How many there are.
    """

    column: str
    offsets: NDArray[np.int64]
    n_classes: int

    @property
    def type(self) -> pa.DataType:
        """The type of published numbers."""
        return pa.from_numpy_dtype(class_dtype(self.n_classes))

    def order(self, key: Key) -> RandomNumbers:
        """The random order of all classes."""
        return RandomNumbers(key, self.column, self.n_classes)

    def of(self, rows: pa.RecordBatch, partition: int, order: RandomNumbers) -> NDArray[np.int64]:
        """The published number of the class of each row, from 1."""
        inside = np.asarray(rows.column(class_name(partition)))
        return order.of(self.offsets[np.asarray(rows.column(PART))] + inside) + 1


@dataclass(frozen=True, eq=False)
class ShowRows:
    """Makes the function that turns grouped rows into rows as a `ClassWriter` takes them.

    Attributes
    ----------
    numbers
        Of the classes of each partition.
    codes
        The sensitive columns that rows show.
    forms, types
        How quasi-identifiers are published, with all labels that regions may have, and their types before.
    plain
        Columns that are published as they are.
    """

    numbers: tuple[ClassNumbers, ...]
    codes: tuple[str, ...]
    forms: Mapping[str, Form]
    types: Mapping[str, pa.DataType]
    plain: tuple[str, ...]

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of rows to be written."""
        return pa.schema(
            [
                *((one.column, one.type) for one in self.numbers),
                *((name, pa.int32()) for name in self.codes),
                *((name, _shown_type(form, self.types[name])) for name, form in self.forms.items()),
                *((name, self.types[name]) for name in self.plain),
            ]
        )

    def __call__(self, secrets: Secrets) -> BatchFunction:
        """The function of a worker."""
        return _Shower(self, secrets.job)


class _Shower(Secret):
    __slots__ = ("_choices", "_orders")

    def __init__(self, choices: ShowRows, key: Key) -> None:
        self._choices, self._orders = choices, [one.order(key) for one in choices.numbers]

    def __call__(self, batch: NumberedBatch) -> pa.RecordBatch:
        """Rows to be written."""
        choices, rows = self._choices, batch.cells
        columns: dict[str, pa.Array] = {}
        for place, (one, order) in enumerate(zip(choices.numbers, self._orders, strict=True)):
            columns[one.column] = pa.array(one.of(rows, place, order)).cast(one.type)
        columns |= {name: rows.column(code_name(name)) for name in choices.codes}
        for name, form in choices.forms.items():
            cells = cells_of_column(rows.column(code_name(name)))
            columns[name] = column_of(cells, form, choices.types[name])
        columns |= {name: rows.column(own_name(name)) for name in choices.plain}
        return pa.RecordBatch.from_arrays([columns[name] for name in choices.schema.names], schema=choices.schema)


def _shown_type(form: Form, kind: pa.DataType) -> pa.DataType:
    if form.kind == "interval":
        return pa.struct([("low", kind), ("high", kind)])
    return pa.string() if form.kind == "node" else pa.list_(pa.string())


@dataclass(frozen=True, eq=False)
class ShowValues:
    """Makes the function that says of each grouped row which class it is in, and which value it has."""

    numbers: ClassNumbers
    partition: int
    attribute: str
    piece: int

    @property
    def schema(self) -> pa.Schema:
        """The piece, the number of the class, and the code of the value."""
        return pa.schema([(PIECE, pa.int32()), (self.numbers.column, self.numbers.type), ("value", pa.int32())])

    def __call__(self, secrets: Secrets) -> BatchFunction:
        """The function of a worker."""
        return _ValueShower(self, secrets.job)


class _ValueShower(Secret):
    __slots__ = ("_choices", "_order")

    def __init__(self, choices: ShowValues, key: Key) -> None:
        self._choices, self._order = choices, choices.numbers.order(key)

    def __call__(self, batch: NumberedBatch) -> pa.RecordBatch:
        """The values of some rows, without anything else of the rows."""
        choices = self._choices
        numbers = choices.numbers.of(batch.cells, choices.partition, self._order)
        cells = [
            pa.array(((numbers - 1) // choices.piece).astype(np.int32)),
            pa.array(numbers).cast(choices.numbers.type),
            batch.cells.column(code_name(choices.attribute)),
        ]
        return pa.RecordBatch.from_arrays(cells, schema=choices.schema)


@dataclass(frozen=True, eq=False)
class CountPiece:
    """Makes the function that counts the values of the classes of a piece, in the order of their numbers."""

    numbers: ClassNumbers
    n_values: int

    @property
    def schema(self) -> pa.Schema:
        """As a `ValuesWriter` takes it."""
        return pa.schema([(self.numbers.column, self.numbers.type), ("value", pa.int32()), ("count", pa.int64())])

    def __call__(self, secrets: Secrets) -> PartFunction:  # noqa: ARG002 - nothing is drawn
        """The function of a worker."""
        return self._count

    def _count(self, part: Part) -> tuple[pa.Table, bytes]:
        numbers = np.asarray(part.rows.column(self.numbers.column)).astype(np.int64)
        keys, counts = np.unique(numbers * self.n_values + np.asarray(part.rows.column("value")), return_counts=True)
        cells = [
            pa.array(keys // self.n_values).cast(self.numbers.type),
            pa.array((keys % self.n_values).astype(np.int32)),
            pa.array(counts.astype(np.int64)),
        ]
        return pa.Table.from_arrays(cells, schema=self.schema), b""
