"""Whom a draw belongs to: a record by its id, a person by theirs, or a row by its place in the table."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.randomness import Identities, IdentityHash, Key, Secret
from ldiversity.base.spill import Buckets, Spill
from ldiversity.errors import SchemaError
from ldiversity.sentences import Parameter, say
from ldiversity.tables import time_texts

__all__ = [
    "DIGEST",
    "ORDER",
    "DistinctIds",
    "HashedIds",
    "digests_of",
    "in_first_rows",
    "key_column",
    "n_repeated",
    "refuse_repeated",
]

DIGEST: Final = "\0digest"
"""The column of hashed ids; no column of a table may have such a name."""

ORDER: Final = "\0order"
"""The column by which rows are put in a stable order."""

_WHOLE_NUMBER: Final = r"^(0|-?[1-9][0-9]{0,17})$"
"""A text that a whole number of at most 18 digits would be written as, which surely has 64 bits."""

_LONGER: Final = 10**18
"""Whole numbers from here on are hashed as texts, because a text of so many digits may not have 64 bits."""


_MOST_IDS: Final = 1 << 18
_WAITING_BYTES: Final = 1 << 22
_ID_BITS: Final = 8


class HashedIds(Secret):
    """Hashes the ids of records or persons under a key.

    `role` is what the columns were given as: ``"record_id"`` or ``"person"``.
    """

    __slots__ = ("_columns", "_hash", "_role")

    def __init__(self, key: Key, columns: Sequence[str], role: str) -> None:
        self._hash, self._columns, self._role = IdentityHash(key), columns, role

    def identities(self, batch: pa.RecordBatch) -> Identities:
        """The identity of each row. The same id has the same one, whichever type its column has."""
        cells = [self._cells(batch.column(name), name) for name in self._columns]
        if len(cells) == 1 and pa.types.is_integer(cells[0].type):
            return self._hash.of_integers(_numbers(cells[0]))
        texts = [self._texts(one, name) for one, name in zip(cells, self._columns, strict=True)]
        if len(texts) == 1:
            return self._of_texts(texts[0])
        # Lengths before contents: ("a", "bc") and ("ab", "c") are different ids.
        parts = [part for text in texts for part in (pc.cast(pc.binary_length(text), pa.string()), text)]
        return self._of_texts(pc.binary_join_element_wise(*parts, ":"))

    def _cells(self, column: pa.Array, name: str) -> pa.Array:
        if column.null_count:
            raise SchemaError(self._role, "must not have missing values", column=name, got=column.null_count).with_hint(
                "Fill them in, or name another column."
            )
        cells = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
        if pa.types.is_floating(cells.type) or pa.types.is_decimal(cells.type):
            try:
                # Fractions are written and rounded in too many ways to identify people. Thus 1.0 is 1.
                cells = pc.cast(cells, pa.int64())
            except pa.ArrowInvalid:
                raise self._no_id(name, "numbers with fractions") from None
        return pc.cast(cells, pa.string()) if _has_long_numbers(cells) else cells

    def _texts(self, cells: pa.Array, name: str) -> pa.Array:
        """The same text for the same id: midnight of a day is the day, and an instant is one in every zone."""
        try:
            if pa.types.is_timestamp(cells.type) and cells.type.tz is not None:
                return _instants(cells)
            return time_texts(pc.cast(cells, pa.string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise self._no_id(name, str(cells.type)) from None

    def _of_texts(self, texts: pa.Array) -> Identities:
        letters = _letters(texts)
        if not _may_begin_numbers(*letters):
            return self._hash.of_texts(*letters)
        whole = pc.match_substring_regex(texts, _WHOLE_NUMBER)
        numbers = np.asarray(whole)
        if not numbers.any():
            return self._hash.of_texts(*letters)
        identities = np.empty((len(texts), 2), dtype=np.uint64)
        identities[numbers] = self._hash.of_integers(_numbers(pc.cast(texts.filter(whole), pa.int64())))
        identities[~numbers] = self._hash.of_texts(*_letters(texts.filter(pc.invert(whole))))
        return identities

    def _no_id(self, name: str, got: str) -> SchemaError:
        return SchemaError(
            self._role, "must hold texts, whole numbers or dates", column=name, got=got, hint="Name another column."
        )


class DistinctIds:
    """Checks that no id occurs twice, once the last one has come; ids that do not fit in memory wait on disk.

    Parameters
    ----------
    folder
        Whose disk holds them; the system's folder for temporary files when None.
    most
        Ids that are in memory at once.

    Examples
    --------
    >>> batch = pa.record_batch({"age": [41, 50], DIGEST: pa.array([bytes(16), b"another digest.."], pa.binary(16))})
    >>> ids = DistinctIds()
    >>> [rows.schema.names for rows in ids.taken_off([batch])]
    [['age']]
    >>> ids.check()
    """

    def __init__(self, folder: Path | None = None, *, most: int = _MOST_IDS) -> None:
        self._spill, self._most = Spill(folder, waiting_bytes=_WAITING_BYTES), most
        self._waiting: list[Identities] = []
        self._n_ids = 0
        self._buckets: Buckets | None = None

    def taken_off(self, batches: Iterable[pa.RecordBatch]) -> Generator[pa.RecordBatch]:
        """The batches without their hashed ids."""
        for batch in batches:
            if DIGEST not in batch.schema.names:
                yield batch
                continue
            self._see(digests_of(batch.column(DIGEST)))
            yield batch.drop_columns([DIGEST])

    def _see(self, ids: Identities) -> None:
        self._n_ids += len(ids)
        self._waiting.append(ids)
        if self._n_ids > self._most:
            if self._buckets is None:
                self._buckets = self._spill.buckets(1 << _ID_BITS)
            for words in self._waiting:
                columns = [pa.array(np.ascontiguousarray(words[:, place])) for place in range(2)]
                batch = pa.record_batch(columns, names=["first", "second"])
                self._buckets.deal(batch, (words[:, 0] >> np.uint64(64 - _ID_BITS)).astype(np.int64))
            self._waiting.clear()

    def _parts(self) -> Iterator[Identities]:
        """All ids, equal ones in one part."""
        if self._buckets is None:
            yield np.concatenate([np.zeros((0, 2), dtype="<u8"), *self._waiting])
            return
        for bucket in range(len(self._buckets)):
            read = [np.column_stack([words.to_numpy() for words in batch]) for batch in self._buckets.read(bucket)]
            yield np.concatenate([np.zeros((0, 2), dtype="<u8"), *read])

    def check(self) -> None:
        """Raise `SchemaError` when two records have the same id."""
        with self._spill:
            repeated = sum(map(n_repeated, self._parts()))
        self._waiting.clear()
        refuse_repeated(repeated, self._n_ids)


def refuse_repeated(repeated: int, n_ids: int) -> None:
    """Raise `SchemaError` when ids are repeated."""
    if repeated:
        raise SchemaError(
            "record_id", "ids must be unique", got=f"{repeated} repeated among {n_ids} records"
        ).with_hint(
            say(
                "Name more columns that together tell records apart. If a person has several rows, leave {} out, "
                "and name the column that says whose they are as {}.",
                Parameter("record_id"),
                Parameter("person"),
            )
        )


def digests_of(column: pa.Array) -> Identities:
    """The hashed ids of a column, without missing ones."""
    digests = column.drop_null()
    start = 2 * digests.offset
    return np.frombuffer(digests.buffers()[1], dtype="<u8")[start : start + 2 * len(digests)].reshape(-1, 2)


def n_repeated(ids: Identities) -> int:
    """How many ids occurred before."""
    first = np.sort(ids[:, 0])
    if not (first[1:] == first[:-1]).any():
        return 0
    ordered = ids[np.lexsort((ids[:, 1], ids[:, 0]))]
    return int(np.count_nonzero((ordered[1:] == ordered[:-1]).all(axis=1)))


def key_column(keys: NDArray[np.uint64]) -> pa.Array:
    """Pairs of words as a column of 128-bit keys."""
    content = pa.py_buffer(np.ascontiguousarray(keys, dtype="<u8").tobytes())
    return pa.Array.from_buffers(pa.binary(16), len(keys), [None, content])


def in_first_rows(identities: Identities, n_rows: int) -> pa.Array:
    """The identity of each record in the first of its rows."""
    cells = key_column(identities)
    if n_rows == len(identities):
        return cells
    places = np.arange(n_rows)
    per_record = n_rows // max(len(identities), 1)
    return cells.take(pa.array(places // per_record, mask=places % per_record > 0))


def _letters(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The bytes of all texts, and where each text starts and how long it is."""
    cells = pc.cast(texts, pa.large_binary())
    _, ends, content = cells.buffers()
    offsets = np.frombuffer(ends, dtype=np.int64)[cells.offset : cells.offset + len(cells) + 1]
    letters = np.frombuffer(content, dtype=np.uint8) if content is not None else np.zeros(0, dtype=np.uint8)
    return letters, offsets[:-1], np.diff(offsets)


def _instants(cells: pa.Array) -> pa.Array:
    """The same text for the same instant, whatever zone and unit it has: six decimals, or nine where those say more."""
    instants = pc.cast(cells, pa.timestamp(cells.type.unit, "UTC"))
    shorter = pc.cast(instants, pa.timestamp("us", "UTC"), safe=instants.type.unit != "ns")
    texts = pc.cast(shorter, pa.string())
    if instants.type.unit != "ns":
        return texts
    fits = pc.equal(pc.multiply(shorter.cast(pa.int64()), 1000), instants.cast(pa.int64()))
    return pc.if_else(fits, texts, pc.cast(instants, pa.string()))


def _may_begin_numbers(letters: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> bool:
    """Whether some text begins with a digit or a minus sign."""
    first = letters[starts[lengths > 0]]
    return bool((((first >= ord("0")) & (first <= ord("9"))) | (first == ord("-"))).any())


def _has_long_numbers(cells: pa.Array) -> bool:
    if not pa.types.is_integer(cells.type) or cells.type.bit_width < 64 or not len(cells):  # noqa: PLR2004 - bits
        return False
    ends = pc.min_max(cells).as_py()
    return bool(ends["min"] <= -_LONGER or ends["max"] >= _LONGER)


def _numbers(cells: pa.Array) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = np.ascontiguousarray(pc.cast(cells, pa.int64()).to_numpy(zero_copy_only=False))
    return numbers
