"""What a worker does with pieces of a table, one step after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import IntArray
from ldiversity.base.randomness import KeyedWords
from ldiversity.engines._rows import Factory, NumberedBatch, Part, PartFactory
from ldiversity.engines.spark._envelope import Envelope
from ldiversity.engines.spark._host import first_of_host
from ldiversity.engines.spark._wire import Note, Piece, Traveled, with_places
from ldiversity.errors import InternalError

__all__ = [
    "CarryPlaces",
    "DealByKey",
    "DealByNumber",
    "MapParts",
    "MapPieces",
    "Select",
    "SomeRows",
    "SortByKey",
    "Step",
]

_GATHERED_ROWS: Final = 1 << 18
"""Rows that are dealt at once, so that what goes to each part is not too small."""

_SORTED_ROWS: Final = 1 << 18


class Step(Protocol):
    """Takes pieces and gives pieces. It can be pickled, and begins anew each time that it is called."""

    def __call__(self, pieces: Iterator[Traveled], job: str, /) -> Iterator[Traveled]:
        """The pieces after this step."""


@dataclass(frozen=True)
class Select:
    """Leaves some columns."""

    columns: tuple[str, ...]

    def __call__(self, pieces: Iterator[Traveled], _: str, /) -> Iterator[Traveled]:
        """The pieces with these columns only."""
        for piece in _rows(pieces):
            yield Piece(piece.cells.select(list(self.columns)), piece.places)


@dataclass(frozen=True)
class MapPieces:
    """Applies the function of a factory to each piece."""

    factory: Factory
    envelope: Envelope

    def __call__(self, pieces: Iterator[Traveled], job: str, /) -> Iterator[Traveled]:
        """The pieces that the function returns."""
        together = getattr(self.factory, "together", iter)
        return (Piece(batch) for batch in together(self._mapped(pieces, job)))

    def _mapped(self, pieces: Iterator[Traveled], job: str) -> Iterator[pa.RecordBatch]:
        with first_of_host(job):
            function = self.factory(self.envelope.open())
            first = next(_rows(pieces), None)
            made = None if first is None else function(NumberedBatch(first.cells, places=first.places))
        if made is None:
            return
        yield made
        for piece in _rows(pieces):
            yield function(NumberedBatch(piece.cells, places=piece.places))


@dataclass(frozen=True)
class MapParts:
    """Applies the function of a factory to each whole part. All pieces of a part are in one task."""

    factory: PartFactory
    envelope: Envelope
    by: str

    def __call__(self, pieces: Iterator[Traveled], job: str, /) -> Iterator[Traveled]:
        """The rows that the function returns for each part, and what it notes."""
        parts: dict[int, list[pa.RecordBatch]] = {}
        for piece in _rows(pieces):
            parts.setdefault(piece.part, []).append(piece.cells)
        if not parts:
            return
        function = None
        for number in sorted(parts):
            rows = pa.Table.from_batches(parts.pop(number))
            with first_of_host(job):
                function = function or self.factory(self.envelope.open())
                made, note = function(Part(number, rows))
            for batch in made.combine_chunks().to_batches(max_chunksize=_SORTED_ROWS):
                yield Piece(batch, part=number)
            yield Note(number, note)


@dataclass(frozen=True)
class DealByNumber:
    """Cuts pieces into those of each part, by a column of part numbers."""

    by: str
    n_parts: int

    def __call__(self, pieces: Iterator[Traveled], _: str, /) -> Iterator[Traveled]:
        """Pieces of one part each."""
        for rows in _gathered(_rows(pieces)):
            yield from _dealt(rows, np.asarray(rows.column(self.by)).astype(np.int64), self.n_parts)


@dataclass(frozen=True)
class DealByKey:
    """Cuts pieces into those of each range of a 128-bit key; all ranges are equally wide, and ascend."""

    by: str
    n_parts: int

    def __call__(self, pieces: Iterator[Traveled], _: str, /) -> Iterator[Traveled]:
        """Pieces of one range each."""
        for rows in _gathered(_rows(pieces)):
            first = _key_words(rows.column(self.by))[:, 0].astype(np.uint64) >> np.uint64(32)
            yield from _dealt(rows, ((first * np.uint64(self.n_parts)) >> np.uint64(32)).astype(np.int64), self.n_parts)


@dataclass(frozen=True)
class SortByKey:
    """Puts all rows of a task in the order of their 128-bit key, which is taken off."""

    by: str

    def __call__(self, pieces: Iterator[Traveled], _: str, /) -> Iterator[Traveled]:
        """The rows in order."""
        held = list(_rows(pieces))
        if not held:
            return
        numbers = {piece.part for piece in held}
        if len(numbers) > 1:
            raise InternalError("spark", "a task must have the rows of one range of keys")
        rows = pa.Table.from_batches([piece.cells for piece in held]).combine_chunks()
        held.clear()
        keys = _key_words(rows.column(self.by).chunk(0))
        order = np.argsort(keys[:, 0], kind="stable")
        first = keys[order, 0]
        if (first[1:] == first[:-1]).any():  # which happens by chance once in about 2**64 pairs of rows
            order = np.lexsort((keys[:, 1], keys[:, 0]))
        rows, number = rows.drop_columns([self.by]), numbers.pop()
        for start in range(0, len(order), _SORTED_ROWS):
            some = rows.take(pa.array(order[start : start + _SORTED_ROWS])).combine_chunks()
            yield from (Piece(batch, part=number) for batch in some.to_batches())


@dataclass(frozen=True)
class SomeRows:
    """Leaves rows whose word under the key of the job is below a limit, with their identities."""

    envelope: Envelope
    limit: int

    def __call__(self, pieces: Iterator[Traveled], _: str, /) -> Iterator[Traveled]:
        """The chosen rows."""
        words = KeyedWords(self.envelope.open().job, b"", "sample")
        for piece in _rows(pieces):
            if piece.places is None:
                raise TypeError("only rows of a table can be sampled")
            chosen = np.flatnonzero(words.for_records(piece.places, 1)[:, 0] <= np.uint64(self.limit))
            if len(chosen):
                yield Piece(with_places(Piece(piece.cells.take(pa.array(chosen)), piece.places[chosen])))


@dataclass(frozen=True)
class CarryPlaces:
    """Makes the identities of rows columns, so that they travel."""

    def __call__(self, pieces: Iterator[Traveled], _: str, /) -> Iterator[Traveled]:
        """The rows with two more columns."""
        return (Piece(with_places(piece), part=piece.part) for piece in _rows(pieces))


def _rows(pieces: Iterable[Traveled]) -> Iterator[Piece]:
    """The rows without the notes, which belong to a step before."""
    return (piece for piece in pieces if isinstance(piece, Piece) and piece.cells.num_rows)


def _gathered(pieces: Iterable[Piece]) -> Iterator[pa.RecordBatch]:
    held: list[pa.RecordBatch] = []
    n_rows = 0
    for piece in pieces:
        held.append(piece.cells)
        n_rows += piece.cells.num_rows
        if n_rows >= _GATHERED_ROWS:
            yield from pa.Table.from_batches(held).combine_chunks().to_batches()
            held, n_rows = [], 0
    if held:
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()


def _dealt(rows: pa.RecordBatch, numbers: IntArray, n_parts: int) -> Iterator[Piece]:
    if n_parts == 1:
        yield Piece(rows)
        return
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= n_parts):
        raise InternalError("spark", f"part numbers must be from 0 to {n_parts - 1}")
    small = numbers.astype(np.uint16) if n_parts <= 1 << 16 else numbers  # sorted in one pass over the digits
    order = np.argsort(small, kind="stable")
    ends = np.searchsorted(small[order], np.arange(n_parts), side="right")
    dealt = rows.take(pa.array(order))
    start = 0
    for number, end in enumerate(ends.tolist()):
        if end > start:
            yield Piece(dealt.slice(start, end - start), part=number)
        start = end


def _key_words(keys: pa.Array) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    """The two halves of each 128-bit key."""
    content = np.frombuffer(keys.buffers()[1], dtype=">u8").reshape(-1, 2)
    words: np.ndarray[tuple[int, int], np.dtype[np.uint64]] = content[keys.offset : keys.offset + len(keys)].astype(
        np.uint64
    )
    return words
