"""The first pass over a table: ranges, labels, hierarchies and steps, from counts and without a row in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.limits import MOST_VALUES
from ldiversity.engines import BatchFunction, NumberedBatch, Secrets
from ldiversity.hierarchies import Hierarchy
from ldiversity.publish._columns_read import is_number, published_type
from ldiversity.publish._grids import Grids, SomeNumbers, choose_step
from ldiversity.publish._hierarchies import is_made
from ldiversity.publish._parts._table import QuasiShape, TableShape
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._shapes import CategoryShape, NumberShape, comparable, read_numbers, too_many_values
from ldiversity.release import EXACT
from ldiversity.schema import Role
from ldiversity.tables import COUNT

__all__ = ["SAMPLE_ROWS", "measure_table"]

SAMPLE_ROWS: Final = 1 << 17
"""Rows of the sample from which steps and cuts are made."""

_COUNTED: Final = 1 << 16
"""A column with at most so many different numbers is counted exactly before its step is chosen."""


def measure_table(preparation: Preparation, secrets: Secrets) -> TableShape:
    """Look at all rows once, and keep what a part of them must know of the others.

    Labels and hierarchies are those that reading the whole table would give. So are steps of columns with at most
    65,536 different numbers, and declared ones. The steps of other columns are derived from a random sample.
    """
    shown, method = preparation.shown, preparation.method
    quasi, plain = preparation.schema.names(Role.QUASI), preparation.schema.names(Role.PLAIN)
    exact = method.layout == "bucketized"
    types = {name: published_type(name, shown.columns[name]) for name in (*quasi, *plain)}
    trees = {**preparation.hierarchies, **{name: ladder.tree for name, ladder in preparation.ladders.items()}}
    automatic = method.needs_hierarchies
    # A method that keeps quasi-identifiers and does not look at them needs no codes of them.
    seen = () if exact and method.blind else quasi
    numbers = [name for name in seen if is_number(types[name]) and name not in trees and not automatic]
    shapes: dict[str, QuasiShape] = dict(_measure_numbers(preparation, numbers, types, secrets, exact=exact))
    for name in seen:
        if name not in shapes:
            shapes[name] = _measure_categories(preparation, name, types[name], trees.get(name), exact=exact)
    made = [name for name, given in preparation.question.hierarchies.items() if is_made(given)]
    made += [name for name, ladder in preparation.ladders.items() if ladder.tree.origin is not None]
    generalized = () if exact else quasi
    read_off = frozenset(name for name in generalized if name in made or (automatic and name not in trees))
    added = [name for name, one in shapes.items() if isinstance(one, CategoryShape) and one.added_missing]
    person = preparation.question.person
    shape = TableShape(
        quasi=tuple(shapes[name] for name in seen),
        types=types,
        plain=(*plain, *quasi) if exact else tuple(plain),
        coders=preparation.coders,
        person=person,
        person_type=None if person is None else _value_type(shown.columns[person]),
        made=read_off,
        added_missing=frozenset([*added, *read_off]),
        steps={},
    )
    if preparation.grid is None:
        return shape
    return replace(shape, steps=_choose_steps(preparation, shape, preparation.grid, secrets))


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _measure_categories(
    preparation: Preparation, name: str, kind: pa.DataType, tree: Hierarchy | None, *, exact: bool
) -> CategoryShape:
    counted = preparation.engine.count(preparation.shown, [name], most=MOST_VALUES)
    if counted is None:
        raise too_many_values(name, "more")
    values = comparable(counted.column(name).combine_chunks().cast(kind)).unique()
    return CategoryShape.of(
        name,
        values.drop_null(),
        tree,
        missing=values.null_count > 0,
        automatic=preparation.method.needs_hierarchies,
        exact=exact,
    )


def _measure_numbers(
    preparation: Preparation,
    names: Sequence[str],
    types: Mapping[str, pa.DataType],
    secrets: Secrets,
    *,
    exact: bool,
) -> dict[str, NumberShape]:
    if not names:
        return {}
    factory = MeasureNumbers({name: types[name] for name in names}, exact=exact)
    measured = preparation.engine.map(factory, preparation.shown, list(names), secrets=secrets)
    found = pa.Table.from_batches(list(measured), factory.schema)
    shapes = {}
    for place, name in enumerate(names):
        low, high, missing = (found.column(f"{what}{place}") for what in ("low", "high", "missing"))
        ends = (pc.min(low).as_py() or 0, pc.max(high).as_py() or 0)
        shapes[name] = NumberShape(name, factory.dtype(name, *ends), *ends, missing=pc.any(missing).as_py())
    return shapes


@dataclass(frozen=True)
class MeasureNumbers:
    """Makes the function that finds the ends of columns of numbers in a batch."""

    types: Mapping[str, pa.DataType]
    exact: bool

    @property
    def schema(self) -> pa.Schema:
        """One row for each batch."""
        columns = []
        for place, kind in enumerate(self.types.values()):
            end = pa.float64() if pa.types.is_floating(kind) else pa.int64()
            columns += [(f"low{place}", end), (f"high{place}", end), (f"missing{place}", pa.bool_())]
        return pa.schema(columns)

    def dtype(self, name: str, low: float, high: float) -> str:
        """The type of arrays that holds all numbers of a column."""
        kind = self.types[name]
        if pa.types.is_floating(kind):
            return str(np.dtype(kind.to_pandas_dtype()))
        return "int32" if low >= -(2**31) and high < 2**31 else "int64"

    def __call__(self, secrets: Secrets) -> BatchFunction:  # noqa: ARG002 - nothing is drawn
        """The function of a worker."""
        return self._measure

    def _measure(self, batch: NumberedBatch) -> pa.RecordBatch:
        cells: list[pa.Array] = []
        for place, (name, kind) in enumerate(self.types.items()):
            numbers, missing = read_numbers(name, batch.cells.column(name).cast(kind), exact=self.exact)
            known = numbers[~missing]
            end = self.schema.field(3 * place).type
            ends = [known.min().item(), known.max().item()] if len(known) else [None, None]
            cells += [pa.array([ends[0]], end), pa.array([ends[1]], end), pa.array([bool(missing.any())])]
        return pa.RecordBatch.from_arrays(cells, schema=self.schema)


def _choose_steps(preparation: Preparation, shape: TableShape, given: Grids, secrets: Secrets) -> Grids:
    steps = {}
    sample: pa.Table | None = None
    for own in shape.quasi:
        declared = given.get(own.name)
        if not isinstance(own, NumberShape) or declared == EXACT:
            continue
        kind = shape.types[own.name]
        if declared is not None:
            numbers = SomeNumbers(own.low, own.high)
        else:
            counted = preparation.engine.count(preparation.shown, [own.name], most=_COUNTED)
            if counted is not None:
                cells, weights = counted.column(own.name).combine_chunks(), np.asarray(counted.column(COUNT))
                values, missing = read_numbers(own.name, cells.cast(kind), exact=False)
                known, places = np.unique(values[~missing], return_inverse=True)  # 0.0 and -0.0 are one
                numbers = SomeNumbers.counted(known, np.bincount(places.ravel(), weights[~missing]).astype(np.int64))
            else:
                if sample is None:
                    names = [one.name for one in shape.quasi if isinstance(one, NumberShape)]
                    sample = preparation.engine.sample(preparation.shown, names, SAMPLE_ROWS, secrets=secrets)
                cells = sample.column(own.name).combine_chunks()
                values, missing = read_numbers(own.name, cells.cast(kind), exact=False)
                numbers = replace(SomeNumbers.of(values[~missing]), low=own.low, high=own.high)
        step = choose_step(own.name, declared, numbers, kind)
        if step is not None:
            steps[own.name] = step
    return steps
