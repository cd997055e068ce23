"""Drawing sets for records: the step at which a true value disappears."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import CodeArray, Scalar, SetArray
from ldiversity.base.randomness import Key, KeyedWords, RecordDigests, Secret, Words
from ldiversity.engines import NumberedBatch, Secrets
from ldiversity.errors import SchemaError
from ldiversity.mechanisms import SetMechanism
from ldiversity.release import explode_rows, wrap_sets
from ldiversity.schema import Domain
from ldiversity.tables import Coder, time_texts

__all__ = [
    "DIGEST",
    "DistinctIds",
    "DrawSets",
    "HiddenAttribute",
    "Randomizer",
    "RecordIds",
    "draw_context",
    "draw_sets",
]

DIGEST: Final = "\0digest"
"""The column of digests of ids; no column of a table may have such a name."""

_BLOCK_ROWS: Final = 1 << 15


def draw_sets(
    mechanism: SetMechanism, codes: CodeArray, words: Words, digests: RecordDigests | None = None
) -> SetArray:
    """One set for each true code.

    Works on blocks of rows that fit into the processor's cache. A record that uses up its random words, because draws
    were rejected, is drawn again with more words.
    """
    sets = np.empty((len(codes), mechanism.l), dtype=np.int32)
    for start in range(0, len(codes), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        sets[block] = _draw_block(mechanism, codes[block], words, None if digests is None else digests[block])
    return sets


def _draw_block(mechanism: SetMechanism, codes: CodeArray, words: Words, digests: RecordDigests | None) -> SetArray:
    n_words = mechanism.words_per_record
    sets, short = mechanism.sample(codes, words.for_records(codes, digests, n_words))
    while short.any():
        n_words *= 2
        again = np.flatnonzero(short)
        some = None if digests is None else digests[again]
        redrawn, still_short = mechanism.sample(codes[again], words.for_records(codes[again], some, n_words))
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


class RecordIds(Secret):
    """Keyed digests of the records' ids."""

    __slots__ = ("_columns", "_key")

    def __init__(self, key: Key, columns: Sequence[str]) -> None:
        self._key, self._columns = key, columns

    def digests(self, batch: pa.RecordBatch) -> RecordDigests:
        """The keyed digest of each record's id."""
        texts = [self._texts(batch.column(name), name) for name in self._columns]
        # Lengths before contents: ("a", "bc") and ("ab", "c") are different ids.
        ids = [b"".join(b"%d:%s" % (len(part), part) for part in parts) for parts in zip(*texts, strict=True)]
        return self._key.digest_records(ids)

    def _texts(self, column: pa.Array, name: str) -> list[bytes]:
        if column.null_count:
            raise SchemaError(
                "record_id", "must not have missing values", column=name, got=column.null_count
            ).with_hint("Fill them in, or name another column.")
        decoded = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
        return [text.encode() for text in _id_texts(decoded, name).to_pylist()]


class DistinctIds:
    """Checks that no id occurs twice; keeps 16 bytes per record until the last one has come.

    Examples
    --------
    >>> batch = pa.record_batch({"age": [41, 50], DIGEST: pa.array([bytes(16), b"another digest.."], pa.binary(16))})
    >>> ids = DistinctIds()
    >>> [rows.schema.names for rows in ids.taken_off([batch])]
    [['age']]
    >>> ids.check()
    """

    def __init__(self) -> None:
        self._seen: list[RecordDigests] = []

    def taken_off(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches without their digests."""
        for batch in batches:
            if DIGEST not in batch.schema.names:
                yield batch
                continue
            digests = batch.column(DIGEST).drop_null()
            start = 2 * digests.offset
            words = np.frombuffer(digests.buffers()[1], dtype="<u8")[start : start + 2 * len(digests)]
            self._seen.append(words.reshape(-1, 2))
            yield batch.drop_columns([DIGEST])

    def check(self) -> None:
        """Raise `SchemaError` when two records have the same id."""
        seen = np.concatenate([np.zeros((0, 2), dtype="<u8"), *self._seen])
        self._seen.clear()
        ordered = seen[np.lexsort((seen[:, 1], seen[:, 0]))]
        repeated = int(np.count_nonzero((ordered[1:] == ordered[:-1]).all(axis=1)))
        if repeated:
            raise SchemaError(
                "record_id", "ids must be unique", got=f"{repeated} repeated among {len(seen)} records"
            ).with_hint("Name more columns that together tell records apart.")


def _id_texts(cells: pa.Array, name: str) -> pa.Array:
    """The same text for the same id, whichever file it comes from: 1.0 is 1, and midnight of a day is the day."""
    if pa.types.is_floating(cells.type) or pa.types.is_decimal(cells.type):
        try:
            # Fractions are written and rounded in too many ways to identify people.
            cells = pc.cast(cells, pa.int64())
        except pa.ArrowInvalid:
            raise _no_id(name, "numbers with fractions") from None
    try:
        return time_texts(pc.cast(cells, pa.string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _no_id(name, str(cells.type)) from None


def _no_id(name: str, got: str) -> SchemaError:
    return SchemaError(
        "record_id", "must hold texts, whole numbers or dates", column=name, got=got, hint="Name another column."
    )


@dataclass(frozen=True)
class DrawSets:
    """Makes a `Randomizer` on the worker that draws. It holds no secret, and can be pickled.

    `published` has the types of the columns that are published as they are. `record_id` names the columns that identify
    records under a key. `exploded` asks for one row per member instead of one row per record.
    """

    published: Mapping[str, pa.DataType]
    hidden: tuple[HiddenAttribute, ...]
    record_id: tuple[str, ...] = ()
    exploded: bool = False

    def __call__(self, secrets: Secrets) -> Randomizer:
        """A randomizer of the worker's own."""
        return Randomizer(self, secrets)


class Randomizer(Secret):
    """Turns a batch of the source into a batch of the release: codes for sensitive values, nothing else new.

    Under a key, the digest of each record's id stands in the column `DIGEST` of its (first) row, until `DistinctIds`
    takes it off.
    """

    __slots__ = ("_choices", "_record_ids", "_words")

    def __init__(self, choices: DrawSets, secrets: Secrets) -> None:
        self._choices = choices
        key = secrets.key
        if key is None:
            self._record_ids = None
            self._words: list[Words] = [secrets.words()] * len(choices.hidden)
        else:
            self._record_ids = RecordIds(key, choices.record_id)
            contexts = (draw_context(a.name, a.coder.domain, a.mechanism) for a in choices.hidden)
            self._words = [KeyedWords(key, context) for context in contexts]

    def __call__(self, rows: NumberedBatch) -> pa.RecordBatch:
        """The batch as it will be published, in its old order."""
        batch, hidden = rows.cells, self._choices.hidden
        coded = [attribute.coder.codes(batch.column(attribute.name)) for attribute in hidden]
        kept = np.logical_and.reduce([codes >= 0 for codes in coded])
        if not kept.all():
            batch = batch.filter(pa.array(kept))
            coded = [codes[kept] for codes in coded]
        digests = None if self._record_ids is None else self._record_ids.digests(batch)
        others = pa.table({name: batch.column(name).cast(kind) for name, kind in self._choices.published.items()})
        for attribute, codes, words in zip(hidden, coded, self._words, strict=True):
            sets = draw_sets(attribute.mechanism, codes, words, digests)
            others = self._append(others, attribute.name, sets)
        if digests is not None:
            others = others.append_column(DIGEST, _in_first_rows(digests, others.num_rows))
        return others.combine_chunks().to_batches()[0] if others.num_rows else _empty(others.schema)

    def _append(self, others: pa.Table, name: str, sets: SetArray) -> pa.Table:
        if self._choices.exploded:
            return explode_rows(others, name, sets)
        column = wrap_sets(sets)
        return others.append_column(name, column) if others.num_columns else pa.table({name: column})


def _in_first_rows(digests: RecordDigests, n_rows: int) -> pa.Array:
    """The digest of each record in the first of its rows."""
    content = pa.py_buffer(np.ascontiguousarray(digests).tobytes())
    cells = pa.Array.from_buffers(pa.binary(16), len(digests), [None, content])
    if n_rows == len(digests):
        return cells
    places = np.arange(n_rows)
    per_record = n_rows // max(len(digests), 1)
    return cells.take(pa.array(places // per_record, mask=places % per_record > 0))


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], type=column.type) for column in schema], schema=schema)
