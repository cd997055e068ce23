"""Which part each row belongs to: by its cells and its words, and after rows have changed parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, WordArray
from ldiversity.base.randomness import Identities, Key, KeyedWords, Secret
from ldiversity.engines import BatchFunction, NumberedBatch, Secrets
from ldiversity.methods import Candidates, ExactMoves, Parts
from ldiversity.publish._parts._table import PART, TableShape, code_name, identities_of

__all__ = ["CANDIDATES", "ChooseRows", "MoveRows", "RouteRows", "Rule"]

CANDIDATES: Final = pa.schema([("part", pa.int32()), ("value", pa.int32()), ("word", pa.uint64())])
"""Rows that may move: where they are, what they have, and their word."""


@dataclass(frozen=True, eq=False)
class RouteRows:
    """Makes the function that codes a batch and gives every row a part. It can be pickled.

    What `parts` knows are cells of the table, and as secret as these.
    """

    shape: TableShape
    parts: Parts

    @property
    def schema(self) -> pa.Schema:
        """Rows in codes, and their parts."""
        return self.shape.schema.append(pa.field(PART, pa.int32()))

    def __call__(self, secrets: Secrets) -> BatchFunction:
        """The function of a worker."""
        return _Router(self, secrets.job)


class _Router(Secret):
    __slots__ = ("_choices", "_words")

    def __init__(self, choices: RouteRows, key: Key) -> None:
        self._choices, self._words = choices, KeyedWords(key, b"", "parts")

    def __call__(self, batch: NumberedBatch) -> pa.RecordBatch:
        """Rows in codes, and their parts."""
        shape, parts, who = self._choices.shape, self._choices.parts, batch.identities
        coded = shape.code(batch.cells, who)
        table = shape.reading(pa.Table.from_batches([coded]), people=False).grouped
        words = np.ascontiguousarray(self._words.for_records(parts.identities(table, who), 1)[:, 0])
        found = pa.array(parts.route(table, words).astype(np.int32))
        return pa.RecordBatch.from_arrays([*coded.columns, found], schema=self._choices.schema)


@dataclass(frozen=True, eq=False)
class Rule:
    """The number by which rows are told apart when some move: a level, or a combination of values.

    Parameters
    ----------
    purpose
        What the words of rows are drawn for: other words decide who is left out, and who changes parts.
    columns
        The sensitive columns.
    levels
        For each of them, shape (F,): the level of each value.
    combinations
        Shape (combinations,), ascending: those of several columns that occur; None where one column decides.
    anywhere
        Whether it does not matter where rows are, so that all are in part 0.
    """

    purpose: str
    columns: tuple[str, ...]
    levels: tuple[CodeArray, ...]
    combinations: NDArray[np.int64] | None = None
    anywhere: bool = False

    def values(self, rows: pa.RecordBatch | pa.Table) -> NDArray[np.int32]:
        """The number of each row."""
        codes = [np.asarray(rows.column(code_name(name))) for name in self.columns]
        return self.number(codes)

    def number(self, codes: Sequence[NDArray[np.integer]]) -> NDArray[np.int32]:
        """The number of each combination of values."""
        if self.combinations is None:
            single: NDArray[np.int32] = self.levels[0][codes[0]].astype(np.int32)
            return single
        return np.searchsorted(self.combinations, self.key(codes)).astype(np.int32)

    def key(self, codes: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
        """One number for several values."""
        key = np.zeros(len(codes[0]), dtype=np.int64)
        for own, levels in zip(codes, self.levels, strict=True):
            key = key * (int(levels.max(initial=0)) + 1) + levels[own]
        return key

    def parts(self, rows: pa.RecordBatch) -> NDArray[np.int32]:
        """Where each row is."""
        found = np.asarray(rows.column(PART))
        return np.minimum(found, 0) if self.anywhere else found

    def words(self, key: Key, who: Identities) -> WordArray:
        """The word of each row, which decides whether it moves."""
        return np.ascontiguousarray(KeyedWords(key, self.purpose.encode(), "moves").for_records(who, 1)[:, 0])


@dataclass(frozen=True, eq=False)
class ChooseRows:
    """Makes the function that finds rows which may move."""

    rule: Rule
    candidates: Candidates

    @property
    def schema(self) -> pa.Schema:
        """Where rows are, what they have, and their word."""
        return CANDIDATES

    def __call__(self, secrets: Secrets) -> BatchFunction:
        """The function of a worker."""
        return _Chooser(self, secrets.job)


class _Chooser(Secret):
    __slots__ = ("_choices", "_key")

    def __init__(self, choices: ChooseRows, key: Key) -> None:
        self._choices, self._key = choices, key

    def __call__(self, batch: NumberedBatch) -> pa.RecordBatch:
        """The candidates of a batch."""
        rule, rows = self._choices.rule, batch.cells
        parts, values = rule.parts(rows), rule.values(rows)
        words = rule.words(self._key, identities_of(rows))
        chosen = self._choices.candidates.choose(parts, values, words)
        chosen = chosen[parts[chosen] >= 0]
        cells = [pa.array(found[chosen]) for found in (parts, values, words)]
        return pa.RecordBatch.from_arrays(cells, schema=CANDIDATES)


@dataclass(frozen=True, eq=False)
class MoveRows:
    """Makes the function that lets rows change parts; what is left out is dropped.

    Attributes
    ----------
    inside
        The columns of the rows.
    moves
        One after the other: who moves, and by which rule.
    home
        Shape (parts,): the part of each part, where some were put together; None when none were.
    """

    inside: pa.Schema
    moves: tuple[tuple[Rule, ExactMoves], ...]
    home: NDArray[np.int32] | None = None

    @property
    def schema(self) -> pa.Schema:
        """The same columns."""
        return self.inside

    def __call__(self, secrets: Secrets) -> BatchFunction:
        """The function of a worker."""
        return _Mover(self, secrets.job)


class _Mover(Secret):
    __slots__ = ("_choices", "_key")

    def __init__(self, choices: MoveRows, key: Key) -> None:
        self._choices, self._key = choices, key

    def __call__(self, batch: NumberedBatch) -> pa.RecordBatch:
        """The rows with their parts after all moves."""
        rows, choices = batch.cells, self._choices
        for rule, exact in choices.moves:
            before = rule.parts(rows)
            after = exact.apply(before, rule.values(rows), rule.words(self._key, identities_of(rows)))
            parts = np.where(after < 0, np.int32(-1), np.asarray(rows.column(PART))) if rule.anywhere else after
            rows = _with_parts(rows, parts)
            if (parts < 0).any():
                rows = rows.filter(pa.array(parts >= 0))
        if choices.home is not None:
            rows = _with_parts(rows, choices.home[np.asarray(rows.column(PART))])
        return rows.select(choices.inside.names)


def _with_parts(rows: pa.RecordBatch, parts: NDArray[np.int32]) -> pa.RecordBatch:
    place = rows.schema.get_field_index(PART)
    columns = [pa.array(parts.astype(np.int32)) if at == place else own for at, own in enumerate(rows.columns)]
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)
