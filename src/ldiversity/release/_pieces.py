"""A grouped release in pieces of whole classes, each a release by itself, within a limit of memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import class_dtype
from ldiversity.base.budget import Budget
from ldiversity.base.numbers import counted, in_bytes
from ldiversity.base.spill import Spill
from ldiversity.errors import ParameterError
from ldiversity.models import ClassCounts
from ldiversity.release._batches import CodedBatch
from ldiversity.release._claims import PEOPLE, AlikeClaim
from ldiversity.release._class_publish import own_columns
from ldiversity.release._class_ranges import Ascending
from ldiversity.release._class_read import FolderClassRows, SharedRegions
from ldiversity.release._class_rows import ClassRows, MemoryClassRows
from ldiversity.release._dealt import ClassRange, deal_classes, from_arrow, to_arrow
from ldiversity.release._description import ClassDescription
from ldiversity.release._own_cells import own_type
from ldiversity.schema import Role, Schema
from ldiversity.sentences import Setting, say

__all__ = ["Piece", "described_by", "pieces_of"]

_COPIES: Final = 6
_ROW_BYTES: Final = 300
"""What a row takes while it is worked on: some copies of its cells, and this much besides."""


@dataclass(frozen=True, eq=False)
class Piece:
    """All rows of some classes.

    Parameters
    ----------
    description
        What is known about them; of the sensitive attributes, only those that these classes are about.
    rows
        The rows. Their classes are numbered from 0.
    n_rows
        How many there are.
    first
        The class of the release that has the number 0 here; the others follow it.
    """

    description: ClassDescription
    rows: MemoryClassRows
    n_rows: int
    first: int


def pieces_of(
    rows: ClassRows,
    description: ClassDescription,
    *,
    n_rows: int,
    budget: Budget,
    spill: Spill,
    class_column: str | None = None,
    columns: Sequence[str] | None = None,
) -> Iterator[Piece]:
    """A grouped release in pieces of whole classes, in the order of classes.

    Every class is in one piece. Where attributes have classes of their own, a record that shows no value is in none.
    Rows of a class keep their order. Rows that are in memory already are one piece, without a copy.

    Parameters
    ----------
    rows, description, n_rows
        The release.
    budget
        The memory that a run may take; a piece takes a part of it. `ParameterError` if one class alone does not fit.
    spill
        Where rows wait.
    class_column
        Whose classes; may be left out where there is one class column.
    columns
        The columns whose cells are needed as they were; all when None.
    """
    if class_column is None:
        (class_column,) = set(description.class_columns.values())
    own = own_columns(description)
    wanted = own if columns is None else [name for name in own if name in set(columns)]
    told = described_by(description, class_column, wanted)
    if not isinstance(rows, FolderClassRows):
        yield _whole(rows, told, class_column, wanted, n_rows)
        return
    shown = [] if told.layout == "bucketized" else [name for name in told.class_columns if name != PEOPLE]
    regions = SharedRegions(told, 0).names if told.layout == "generalized" else []
    batches = (to_arrow(batch) for batch in rows.coded_batches(class_column, shown, regions, wanted))
    first = next(batches, None)
    if first is None:
        return
    row_bytes = _ROW_BYTES + _COPIES * first.nbytes / max(first.num_rows, 1)
    most, n_classes = budget.rows(row_bytes), rows.n_classes(class_column)
    values = {name: Ascending(rows.value_batches(name)) for name in told.class_columns if told.layout == "bucketized"}
    for some in deal_classes(chain([first], batches), n_classes=n_classes, n_rows=n_rows, most=most, spill=spill):
        if some.n_rows > 2 * most:
            raise _too_large(some.n_rows, row_bytes, budget)
        yield _piece(rows, some, told, class_column, values)


def described_by(description: ClassDescription, class_column: str, columns: Sequence[str]) -> ClassDescription:
    """The description of some classes with these columns only; claims about look-alikes are about all rows."""
    names = [name for name, column in description.class_columns.items() if column == class_column]
    hidden = {name for name in own_columns(description) if name not in set(columns)}
    schema = Schema(
        tuple(
            one
            for one in description.schema.attributes
            if (one.name in names if one.role is Role.SENSITIVE else one.name not in hidden)
        )
    )
    return replace(
        description,
        schema=schema,
        mechanisms={name: description.mechanisms[name] for name in names},
        claims=tuple(one for one in description.claims if one.attribute in names and not isinstance(one, AlikeClaim)),
        forms={name: form for name, form in description.forms.items() if name not in hidden},
        class_columns=dict.fromkeys(names, class_column),
    )


def _piece(
    rows: FolderClassRows,
    some: ClassRange,
    description: ClassDescription,
    class_column: str,
    values: dict[str, Ascending],
) -> Piece:
    batches = [from_arrow(batch, some.first) for batch in some.batches]
    shared, n_classes = SharedRegions(description, some.n_classes), some.n_classes
    if description.layout == "generalized":
        for batch in batches:
            shared.add(batch)
    names = [name for name in description.class_columns if name != PEOPLE]
    apart = description.layout == "bucketized"
    held = MemoryClassRows(
        sizes={class_column: n_classes},
        classes={class_column: _joined([batch.classes for batch in batches], class_dtype(n_classes))},
        plain=_own(batches, description),
        region_table=pa.table({}) if apart else shared.table(),
        codes={} if apart else {name: _joined([one.codes[name] for one in batches], np.int32) for name in names},
        class_counts={name: _counts(rows, one, name, some) for name, one in values.items()},
    )
    return Piece(description, held, len(held.classes[class_column]), some.first)


def _counts(rows: FolderClassRows, values: Ascending, name: str, some: ClassRange) -> ClassCounts:
    parts = list(values.until(some.first + some.n_classes))
    classes, counts = (_joined([part[place] for part in parts], np.int64) for place in (0, 2))
    codes = _joined([part[1] for part in parts], np.int32)
    starts = np.searchsorted(classes, some.first + np.arange(some.n_classes + 1)).astype(np.int64)
    if (np.diff(starts) < 1).any():
        raise rows.without_value(name)
    return ClassCounts(starts, codes, counts, rows.description.schema.domain(name))


def _own(batches: list[CodedBatch], description: ClassDescription) -> pa.Table:
    if batches:
        return pa.concat_tables([batch.own for batch in batches])
    kinds = [(name, own_type(name, description.schema, description.forms)) for name in own_columns(description)]
    return pa.schema(kinds).empty_table()


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.int32 | np.int64]) -> NDArray[Any]:
    joined: NDArray[Any] = np.concatenate([np.empty(0, dtype=kind), *parts])
    return joined


def _whole(rows: ClassRows, description: ClassDescription, class_column: str, columns: list[str], n_rows: int) -> Piece:
    """Rows that are in memory, as one piece."""
    class_of, plain = rows.class_of(class_column), rows.columns(columns)
    apart = description.layout == "bucketized"
    names = [name for name in description.class_columns if name != PEOPLE]
    codes = {} if apart else {name: rows.values(name) for name in names}
    if len(class_of) and class_of.min() < 0:
        shown = np.flatnonzero(class_of >= 0)
        class_of, n_rows = class_of[shown], len(shown)
        plain = plain.take(pa.array(shown)) if plain.num_columns else plain
        codes = {name: one[shown] for name, one in codes.items()}
    held = MemoryClassRows(
        sizes={class_column: rows.n_classes(class_column)},
        classes={class_column: class_of},
        plain=plain,
        region_table=pa.table({}) if apart else rows.regions(),
        codes=codes,
        class_counts={name: rows.counts(name) for name in names} if apart else {},
    )
    return Piece(description, held, n_rows, 0)


def _too_large(n_rows: int, row_bytes: float, budget: Budget) -> ParameterError:
    needed = budget.bytes - budget.for_rows + int(row_bytes * n_rows)
    return ParameterError(
        f"must hold a class of {counted(n_rows, 'record')} at once",
        parameter="memory",
        got=in_bytes(budget.bytes),
    ).with_hint(say("Use {}.", Setting("memory", f"{needed // 1_000_000 + 1}MB")))
