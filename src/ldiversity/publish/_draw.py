"""Drawing sets for records: the step at which a true value disappears."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import CodeArray, Scalar, SetArray
from ldiversity.base.randomness import FreshWords, Key, KeyedWords, RecordDigests, Words
from ldiversity.errors import SchemaError
from ldiversity.mechanisms import SetMechanism
from ldiversity.release import explode_rows, wrap_sets
from ldiversity.schema import Domain
from ldiversity.tables import Coder, time_texts

__all__ = ["HiddenAttribute", "Randomizer", "RecordIds", "draw_context", "draw_sets"]

_BLOCK_ROWS: Final = 1 << 15


def draw_sets(
    mechanism: SetMechanism, codes: CodeArray, words: Words, digests: RecordDigests | None = None
) -> SetArray:
    """One set for each true code.

    Works on blocks of rows that fit in the processor's cache. A record whose words were used up by rejected draws is
    drawn again with more of them.
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
    """What a keyed draw depends on besides key, record and value: change any of it and all sets change."""
    values = [_canonical(value) for value in domain.values]
    parts = {
        "attribute": attribute,
        "domain": {"values": values, "edges": domain.edges},
        "mechanism": mechanism.parameters(),
    }
    return json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()


def _canonical(value: Scalar) -> str | None:
    """The same value as the same text, whatever type a file gave it: pandas makes floats of integers with gaps."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None else str(value)


@dataclass(frozen=True)
class HiddenAttribute:
    """A sensitive attribute, how it is coded, and how it is hidden."""

    name: str
    coder: Coder
    mechanism: SetMechanism
    context_words: KeyedWords | None = None


@dataclass
class RecordIds:
    """Digests of the records' ids, kept to see that no id comes twice (16 bytes a record)."""

    key: Key
    columns: Sequence[str]
    _seen: list[RecordDigests] = field(default_factory=list, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def digests(self, batch: pa.RecordBatch) -> RecordDigests:
        """The keyed digest of each record's id."""
        texts = [self._texts(batch.column(name), name) for name in self.columns]
        # Lengths before contents: ("a", "bc") and ("ab", "c") are different ids.
        ids = [b"".join(b"%d:%s" % (len(part), part) for part in parts) for parts in zip(*texts, strict=True)]
        digests = self.key.digest_records(ids)
        with self._lock:
            self._seen.append(digests)
        return digests

    def check_unique(self) -> None:
        """Raise `SchemaError` when two records have the same id."""
        seen = np.concatenate(self._seen)
        repeated = len(seen) - len(np.unique(seen, axis=0))
        if repeated:
            raise SchemaError(
                "record_id", "ids must be unique", got=f"{repeated} repeated among {len(seen)} records"
            ).with_hint("Name more columns that together tell records apart.")

    def _texts(self, column: pa.Array, name: str) -> list[bytes]:
        if column.null_count:
            raise SchemaError(
                "record_id", "must not have missing values", column=name, got=column.null_count
            ).with_hint("Fill them in, or name another column.")
        decoded = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
        return [text.encode() for text in _id_texts(decoded, name).to_pylist()]


def _id_texts(cells: pa.Array, name: str) -> pa.Array:
    """The same id as the same text, whichever file it comes from: 1.0 is 1, and a day is a day without midnight."""
    if pa.types.is_floating(cells.type) or pa.types.is_decimal(cells.type):
        try:
            # Fractions are written and rounded in too many ways to tell people apart by them.
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
class Randomizer:
    """Turns a batch of the source into a batch of the release: codes for sensitive values, nothing else new.

    Parameters
    ----------
    published
        The other columns that are published, with their types.
    hidden
        The sensitive attributes.
    fresh
        Random words for attributes without a key, one source a thread.
    record_ids
        How records are told apart under a key.
    exploded
        One row a member instead of one row a record.
    """

    published: dict[str, pa.DataType]
    hidden: tuple[HiddenAttribute, ...]
    fresh: FreshWordsPerThread
    record_ids: RecordIds | None = None
    exploded: bool = False

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch as it will be published, in its old order."""
        coded = [attribute.coder.codes(batch.column(attribute.name)) for attribute in self.hidden]
        kept = np.logical_and.reduce([codes >= 0 for codes in coded])
        if not kept.all():
            batch = batch.filter(pa.array(kept))
            coded = [codes[kept] for codes in coded]
        digests = None if self.record_ids is None else self.record_ids.digests(batch)
        others = pa.table({name: batch.column(name).cast(kind) for name, kind in self.published.items()})
        for attribute, codes in zip(self.hidden, coded, strict=True):
            words: Words = attribute.context_words or self.fresh.words()
            sets = draw_sets(attribute.mechanism, codes, words, digests)
            others = self._append(others, attribute.name, sets)
        return others.combine_chunks().to_batches()[0] if others.num_rows else _empty(others.schema)

    def _append(self, others: pa.Table, name: str, sets: SetArray) -> pa.Table:
        if self.exploded:
            return explode_rows(others, name, sets)
        column = wrap_sets(sets)
        return others.append_column(name, column) if others.num_columns else pa.table({name: column})


class FreshWordsPerThread:
    """Secure words, a source of its own for each thread; or one repeatable source for tests."""

    def __init__(self, insecure: FreshWords | None = None) -> None:
        self._insecure = insecure
        self._local = threading.local()

    def words(self) -> FreshWords:
        """The source of the calling thread."""
        if self._insecure is not None:
            return self._insecure
        if not hasattr(self._local, "words"):
            self._local.words = FreshWords()
        words: FreshWords = self._local.words
        return words


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], type=column.type) for column in schema], schema=schema)
