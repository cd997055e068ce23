"""Drawing sets for records: the step at which a true value disappears."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import BoolArray, CodeArray, Scalar, SetArray, WordArray
from ldiversity.base.randomness import Identities, KeyedWords, Secret, Words, row_identities, with_values
from ldiversity.engines import NumberedBatch, Secrets
from ldiversity.mechanisms import SetMechanism
from ldiversity.publish._identities import DIGEST, ORDER, HashedIds, in_first_rows, key_column
from ldiversity.release import explode_rows, verify_inside, wrap_sets
from ldiversity.schema import Domain
from ldiversity.tables import Coder

__all__ = [
    "DrawSets",
    "HiddenAttribute",
    "Randomizer",
    "Sampler",
    "draw_context",
    "draw_sets",
    "kept_rows",
    "with_whole_ids",
]

_BLOCK_ROWS: Final = 1 << 15
_BLOCK_WORDS: Final = 1 << 18
"""Rows and words that are worked on at a time: they fit into the processor's cache."""


class Sampler(Protocol):
    """What draws sets from words: a mechanism, or its partitions."""

    @property
    def l(self) -> int:  # noqa: E743 - the letter of the literature
        """As in `SetMechanism`."""

    @property
    def words_per_record(self) -> int:
        """As in `SetMechanism`."""

    def sample(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        """As in `SetMechanism`."""


def draw_sets(sampler: Sampler, codes: CodeArray, words: Words, identities: Identities | None = None) -> SetArray:
    """One set for each true code, with the words of its identity; without identities, those of rows of one file.

    A record that uses up its random words, because draws were rejected, is drawn again with more words.
    """
    sets = np.empty((len(codes), sampler.l), dtype=np.int32)
    rows = max(1, min(_BLOCK_ROWS, _BLOCK_WORDS // sampler.words_per_record))
    for start in range(0, len(codes), rows):
        block = codes[start : start + rows]
        own = row_identities(0, start, len(block)) if identities is None else identities[start : start + rows]
        sets[start : start + rows] = _draw_block(sampler, block, words, own)
    return sets


def _draw_block(sampler: Sampler, codes: CodeArray, words: Words, identities: Identities) -> SetArray:
    n_words = sampler.words_per_record
    sets, short = sampler.sample(codes, words.for_records(identities, n_words))
    while short.any():
        n_words *= 2
        again = np.flatnonzero(short)
        redrawn, still_short = sampler.sample(codes[again], words.for_records(identities[again], n_words))
        sets[again] = redrawn
        short[again] = still_short
    return sets


def draw_context(attribute: str, domain: Domain, mechanism: SetMechanism) -> bytes:
    """What a keyed draw depends on besides key, record and value. If any of it changes, all sets change."""
    values = [_canonical(value) for value in domain.values]
    parts = {
        "attribute": attribute,
        "domain": {"values": values, "edges": domain.edges},
        "mechanism": mechanism.parameters(),
    }
    return json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()


def _canonical(value: Scalar) -> str | None:
    """The same text for the same value, whatever its type in the file: pandas turns integers with gaps into floats."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None else str(value)


@dataclass(frozen=True)
class HiddenAttribute:
    """A sensitive attribute, how it is coded, and how it is hidden."""

    name: str
    coder: Coder
    mechanism: SetMechanism


@dataclass(frozen=True)
class DrawSets:
    """Makes a `Randomizer` on the worker that draws. It holds no secret, and can be pickled.

    Attributes
    ----------
    published
        The types of the columns that are published as they are.
    hidden
        The sensitive attributes.
    record_id
        The columns that identify records under a key.
    person
        The column that says whose row it is, in the place of `record_id`.
    exploded
        One row per member instead of one row per record.
    stable_order
        Give every row a key by which rows can be put in the same order again.
    random_order
        Give every row a key of this job by which rows can be put in a random order.
    digests
        Give every record its hashed `record_id`, by which repeated ones are found.
    encoded
        Columns that may come as dictionaries; those that are published stay so.
    """

    published: Mapping[str, pa.DataType]
    hidden: tuple[HiddenAttribute, ...]
    record_id: tuple[str, ...] = ()
    person: str | None = None
    exploded: bool = False
    stable_order: bool = False
    random_order: bool = False
    digests: bool = False
    encoded: frozenset[str] = frozenset()

    @property
    def schema(self) -> pa.Schema:
        """The columns of what is drawn."""
        columns: dict[str, pa.DataType] = dict(self.published)
        for attribute in self.hidden:
            columns[attribute.name] = pa.int32() if self.exploded else pa.list_(pa.int32(), attribute.mechanism.l)
        if self.stable_order or self.random_order:
            columns[ORDER] = pa.binary(16)
        if self.digests:
            columns[DIGEST] = pa.binary(16)
        return pa.schema(list(columns.items()))

    def __call__(self, secrets: Secrets) -> Randomizer:
        """A randomizer of the worker's own."""
        return Randomizer(self, secrets)


class Randomizer(Secret):
    """Turns a batch of the source into a batch of the release: codes for sensitive values, nothing else new.

    A record that stands alone has the words of its row. Otherwise a record or person has words of its own, which choose
    a partition where the mechanism knows partitions; where it does not, the value is part of what the words are for.
    With an epsilon, each row has words of its own: if the value decided about them, different sets of a person would
    prove that values differ, which no epsilon bounds.

    With `digests`, the hashed id of each record stands in the column `DIGEST` of its (first) row, until `DistinctIds`
    takes it off. For a stable order, each row has a key in the column `ORDER`.
    """

    __slots__ = ("_choices", "_hashed", "_ids", "_order", "_words")

    def __init__(self, choices: DrawSets, secrets: Secrets) -> None:
        self._choices = choices
        key, person = secrets.of_draws, choices.person
        ids = choices.record_id if person is None else (person,)
        self._ids = ids
        self._hashed = HashedIds(key, ids, "record_id" if person is None else "person") if ids else None
        contexts = (draw_context(a.name, a.coder.domain, a.mechanism) for a in choices.hidden)
        self._words = [
            # What a key draws is drawn again in the next release, which no epsilon allows.
            KeyedWords(key if attribute.mechanism.epsilon is None else secrets.job, context)
            for attribute, context in zip(choices.hidden, contexts, strict=True)
        ]
        # A holder's key must not put the rows of two releases in the same order unless that is asked for.
        self._order = KeyedWords(key if choices.stable_order else secrets.job, b"", "order")

    def __call__(self, rows: NumberedBatch) -> pa.RecordBatch:
        """The batch as it will be published, in its old order."""
        hidden = self._choices.hidden
        batch, places, coded = kept_rows(rows, hidden)
        hashed = None if self._hashed is None else self._hashed.identities(with_whole_ids(batch, self._ids))
        others = pa.table({name: _as_type(batch.column(name), kind) for name, kind in self._choices.published.items()})
        for attribute, codes, words in zip(hidden, coded, self._words, strict=True):
            sets = _draw(attribute.mechanism, codes, words, places, hashed)
            verify_inside(attribute.name, sets, attribute.mechanism.n_values)  # before anything relies on it
            others = self._append(others, attribute.name, sets)
        if self._choices.stable_order or self._choices.random_order:
            by_record = self._choices.stable_order and self._choices.person is None
            alone = hashed if by_record and hashed is not None else places
            others = others.append_column(ORDER, self._order_keys(alone, others.num_rows))
        if hashed is not None and self._choices.digests:
            others = others.append_column(DIGEST, in_first_rows(hashed, others.num_rows))
        return others.combine_chunks().to_batches()[0] if others.num_rows else _empty(others.schema)

    def _append(self, others: pa.Table, name: str, sets: SetArray) -> pa.Table:
        if self._choices.exploded:
            return explode_rows(others, name, sets)
        column = wrap_sets(sets)
        return others.append_column(name, column) if others.num_columns else pa.table({name: column})

    def _order_keys(self, identities: Identities, n_rows: int) -> pa.Array:
        """A key for each row. Rows of a person have keys of their own, so that they do not stand together."""
        per_record = n_rows // max(len(identities), 1)
        return key_column(self._order.for_records(identities, 2 * per_record).reshape(-1, 2))


def kept_rows(
    rows: NumberedBatch, hidden: Sequence[HiddenAttribute]
) -> tuple[pa.RecordBatch, Identities, list[CodeArray]]:
    """The rows that are published, since no sensitive value is missing; their identities and codes."""
    batch, places = rows.cells, rows.identities
    coded = [attribute.coder.codes(batch.column(attribute.name)) for attribute in hidden]
    kept = np.logical_and.reduce([codes >= 0 for codes in coded])
    if kept.all():
        return batch, places, coded
    return batch.filter(pa.array(kept)), places[kept], [codes[kept] for codes in coded]


def _draw(
    mechanism: SetMechanism, codes: CodeArray, words: KeyedWords, places: Identities, hashed: Identities | None
) -> SetArray:
    if hashed is None or mechanism.epsilon is not None:
        return draw_sets(mechanism, codes, words, places)
    if mechanism.partitions is None:
        return draw_sets(mechanism, codes, words, with_values(hashed, codes))
    return draw_sets(mechanism.partitions, codes, words, hashed)


def _as_type(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    """The cells in a type; dictionaries of it are left as they are."""
    encoded = pa.types.is_dictionary(cells.type) and cells.type.value_type == kind
    return cells if encoded else cells.cast(kind)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], type=column.type) for column in schema], schema=schema)


def with_whole_ids(batch: pa.RecordBatch, ids: Sequence[str]) -> pa.RecordBatch:
    """The batch with whole numbers of any length as texts, which are the same ids; Spark has some as decimals."""
    for place, name in enumerate(batch.schema.names):
        cells = batch.column(place)
        if name in ids and pa.types.is_decimal(cells.type) and cells.type.scale == 0:
            batch = batch.set_column(place, name, cells.cast(pa.string()))
    return batch
