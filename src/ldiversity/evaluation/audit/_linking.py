"""Match people of a table with the classes of a release: those who look like a class, or lie in its region."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.errors import SchemaError
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import CountedTable
from ldiversity.evaluation.audit._inside import count_inside, find_inside
from ldiversity.evaluation.audit._numbering import number_rows, plain_cells
from ldiversity.release import Membership, Release, membership
from ldiversity.sentences import Setting, say, type_word
from ldiversity.tables import Source, open_source, value_type

__all__ = ["as_published", "cells_as_typed", "pairs_alike", "people_like"]

_POPULATION: Final = "population"


def as_published(owner: str, table: Source, release: Release, names: Sequence[str]) -> Source:
    """Some columns of a table with the labels of a release, where it shows them at a declared level."""
    if not release.coarse:
        return table
    kinds = pa.schema([(name, table.columns[name]) for name in names if name in table.columns])
    people = pa.Table.from_batches(list(table.batches(kinds.names)), kinds)
    for name in release.coarse:
        if name in kinds.names:
            region, cells = release.region(name), people.column(name)
            labels = set(region.column.to_pylist())
            # People may be given with the labels already.
            if not pa.types.is_string(cells.type) or not set(cells.unique().to_pylist()) <= labels:
                _as_type(owner, cells, region.kind, name)
    return open_source(release.as_published(people))


def people_like(seen: AttackerView, population: CountedTable) -> NDArray[np.int64]:
    """Shape (classes,): how many people of the population look like each class, or lie in its region."""
    names = list(seen.quasi)
    if not names:
        return population.sizes
    people = _comparable(_POPULATION, seen, population.keys)
    if seen.regions:
        return count_inside(*_sides(seen, people), population.sizes)
    ids, n_own = _number_together(seen.keys, people, names)
    sizes = np.zeros(int(ids.max(initial=-1)) + 1, dtype=np.int64)
    sizes[ids[n_own:]] = population.sizes
    found: NDArray[np.int64] = sizes[ids[:n_own]]
    return found


def pairs_alike(
    owner: str, seen: AttackerView, people: pa.Table
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Classes, and rows of people who look like them or lie in their regions; all pairs of a class at once."""
    if not seen.quasi:
        yield np.zeros(people.num_rows, dtype=np.int64), np.arange(people.num_rows)
        return
    shown = _comparable(owner, seen, people)
    if seen.regions:
        yield from find_inside(*_sides(seen, shown))
        return
    ids, n_own = _number_together(seen.keys, shown, list(seen.quasi))
    class_of = np.full(int(ids.max(initial=-1)) + 1, -1, dtype=np.int64)
    class_of[ids[:n_own]] = np.arange(n_own)
    found = class_of[ids[n_own:]]
    yield found[found >= 0], np.flatnonzero(found >= 0)


def _type_of(seen: AttackerView, name: str) -> pa.DataType:
    """The type of a quasi-identifier before it was generalized, as tables are counted."""
    if name not in seen.regions:
        return seen.keys.schema.field(name).type
    return plain_cells(pa.nulls(0, seen.regions[name][0].kind)).type


def _comparable(owner: str, seen: AttackerView, people: pa.Table) -> pa.Table:
    """Quasi-identifiers of people in the types that were published."""
    return pa.table({name: _as_type(owner, people.column(name), _type_of(seen, name), name) for name in seen.quasi})


def cells_as_typed(owner: str, people: pa.Table, kinds: Mapping[str, pa.DataType]) -> pa.Table:
    """Columns of people in these types, or `SchemaError` where they mean something else."""
    return pa.table({name: _as_type(owner, people.column(name), kind, name) for name, kind in kinds.items()})


def _as_type(owner: str, column: pa.ChunkedArray, kind: pa.DataType, name: str) -> pa.ChunkedArray:
    """Whole numbers of another length are the same numbers; texts of numbers or dates are not."""
    times = pa.types.is_temporal(column.type) == pa.types.is_temporal(kind)
    try:
        if (times and value_type(column.type) == value_type(kind)) or pa.types.is_null(column.type):
            return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass  # without the cause, because Arrow quotes the cell
    raise SchemaError(owner, f"must have the type {type_word(kind)}", column=name, got=column.type).with_hint(
        say("Declare the types of both tables, for example {}.", Setting("types", ("zip", "text")))
    )


def _sides(seen: AttackerView, people: pa.Table) -> tuple[list[Membership], list[NDArray[np.int64]]]:
    """Where people lie in each column, and the cell that each class shows there."""
    columns, shown = [], []
    for name in seen.quasi:
        if name in seen.regions:
            region, cells = seen.regions[name]
            columns.append(membership(region, people.column(name)))
            shown.append(cells)
        else:
            codes, n_own = _number_together(seen.keys, people, [name])
            one = np.arange(int(codes.max()) + 1)
            columns.append(Membership(codes[n_own:], len(one), one, np.append(one, len(one)), one, one + 1))
            shown.append(codes[:n_own])
    return columns, shown


def _number_together(own: pa.Table, other: pa.Table, names: list[str]) -> tuple[NDArray[np.int64], int]:
    """Number the cells of two tables together; and say how many rows the first one has."""
    ids, _ = number_rows(pa.concat_tables([own.select(names), other.select(names)]), names)
    return ids, own.num_rows
