"""The one form in which workers hand rows, notes and faults to each other and to the driver.

Spark sees a table of four columns: a number that says where a piece goes, and sealed bytes. So rows keep their exact
Arrow types, cross the border between Python and Java as few long cells, and rest on disk encrypted.
"""

from __future__ import annotations

import pickle
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import IntArray
from ldiversity.base.randomness import Identities
from ldiversity.engines.spark._envelope import Seal
from ldiversity.errors import InternalError, LDiversityError

__all__ = [
    "FILE",
    "ROW",
    "WIRE",
    "WIRE_DDL",
    "Note",
    "Piece",
    "Traveled",
    "batch_of_row",
    "fault_in",
    "fault_row",
    "fault_text",
    "places_of",
    "read_fault",
    "received",
    "sealed_fault",
    "targets",
    "wired",
    "with_places",
]

WIRE: Final = pa.schema(
    [
        ("goal", pa.int32()),
        ("part", pa.int32()),
        ("note", pa.binary()),
        ("fault", pa.binary()),
        ("cells", pa.binary()),
    ]
)
WIRE_DDL: Final = "goal int, part int, note binary, fault binary, cells binary"
"""``goal`` is what Spark deals pieces by; see `targets`."""

ROW: Final = "\0row"
FILE: Final = "\0file"
"""The columns of identities, where rows travel with them; no column of a table may have such a name."""

_MARK: Final = re.compile(r"ldiversity-fault:([A-Za-z0-9+/=]+):")


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows, with their identities where they have any, and the part that they belong to."""

    cells: pa.RecordBatch
    places: Identities | None = None
    part: int = 0


@dataclass(frozen=True)
class Note:
    """A few bytes about a part."""

    part: int
    text: bytes


Traveled: TypeAlias = Piece | Note

_WireRow: TypeAlias = tuple[int | None, int, bytes | None, bytes | None, bytes | None]
_BYTES_AT_ONCE: Final = 1 << 22
_ROWS_AT_ONCE: Final = 256


def wired(seal: Seal, traveled: Iterable[Traveled], goals: IntArray | None = None) -> Iterator[pa.RecordBatch]:
    """Rows and notes as Spark sees them, several at a time; pieces go where `goals` sends their part."""
    held: list[_WireRow] = []
    n_bytes = 0
    for one in traveled:
        goal = None if goals is None else int(goals[one.part % len(goals)])
        if isinstance(one, Note):
            held.append((goal, one.part, seal.close(one.text, f"note {one.part}"), None, None))
        else:
            cells = seal.pack(one.cells, one.part)
            n_bytes += len(cells)
            held.append((goal, one.part, None, None, cells))
        if n_bytes > _BYTES_AT_ONCE or len(held) >= _ROWS_AT_ONCE:
            yield _batch(held)
            held, n_bytes = [], 0
    if held:
        yield _batch(held)


def fault_row(seal: Seal, error: LDiversityError) -> pa.RecordBatch:
    """An error of this package as Spark sees it: a worker that finds one ends without failing."""
    return _batch([(0, 0, None, sealed_fault(seal, error), None)])


def _batch(rows: list[_WireRow]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(list(column), kind) for column, kind in zip(columns, WIRE.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=WIRE)


def received(seal: Seal, batches: Iterable[pa.RecordBatch]) -> Iterator[Traveled]:
    """What other workers sent; a fault is raised again."""
    for batch in batches:
        parts = batch.column(1).to_pylist()
        for at, part in enumerate(parts):
            note, fault, cells = (batch.column(place)[at] for place in (2, 3, 4))
            if fault.is_valid:
                raise read_fault(seal, fault.as_py())
            if note.is_valid:
                yield Note(part, seal.open(note.as_py(), f"note {part}"))
            if cells.is_valid:
                yield Piece(seal.unpack(cells.as_py(), part), part=part)


def batch_of_row(row: Any) -> pa.RecordBatch:  # noqa: ANN401 - a row of pyspark
    """A row of a frame of pieces as a batch."""
    cells = [None if one is None else bytes(one) for one in (row["note"], row["fault"], row["cells"])]
    arrays = [pa.array([row[name]], pa.int32()) for name in ("goal", "part")]
    return pa.RecordBatch.from_arrays([*arrays, *(pa.array([one], pa.binary()) for one in cells)], schema=WIRE)


def sealed_fault(seal: Seal, error: LDiversityError) -> bytes:
    """An error of this package as it travels."""
    return seal.close(pickle.dumps(error), "fault")


def read_fault(seal: Seal, sealed: bytes) -> LDiversityError:
    """The error that a worker sent."""
    found = pickle.loads(seal.open(sealed, "fault"))  # noqa: S301 - sealed by a worker of this job, and so not by anybody else
    return found if isinstance(found, LDiversityError) else InternalError("spark", "a worker sent no error of ours")


def fault_text(seal: Seal, error: LDiversityError) -> str:
    """An error inside the message of an exception that Spark may answer by doing the work again."""
    return f"ldiversity-fault:{b64encode(sealed_fault(seal, error)).decode()}:"


def fault_in(seal: Seal, text: str) -> LDiversityError | None:
    """The error of this package that the message of an exception carries."""
    found = _MARK.search(text)
    return None if found is None else read_fault(seal, b64decode(found[1]))


def with_places(piece: Piece) -> pa.RecordBatch:
    """The rows of a piece with their identities as two more columns."""
    if piece.places is None:
        raise TypeError("only rows of a table have identities")
    rows, files = (pa.array(np.ascontiguousarray(column)) for column in piece.places.T)
    fields = [*piece.cells.schema, pa.field(ROW, pa.uint64()), pa.field(FILE, pa.uint64())]
    return pa.RecordBatch.from_arrays([*piece.cells.columns, rows, files], schema=pa.schema(fields))


def places_of(batch: pa.RecordBatch) -> Piece:
    """The opposite of `with_places`."""
    places = np.column_stack([batch.column(ROW).to_numpy(), batch.column(FILE).to_numpy()])
    return Piece(batch.drop_columns([ROW, FILE]), places.astype(np.uint64, copy=False))


def targets(n_parts: int) -> IntArray:
    """For each part, a number that Spark's hash sends to a partition of its own.

    Spark deals rows by a hash of a column, which would put two parts into one partition and leave another one empty.

    Examples
    --------
    >>> [int(_hashed(np.array([number], dtype=np.uint32))[0] % 3) for number in targets(3)]
    [0, 1, 2]
    """
    found = np.full(n_parts, -1, dtype=np.int64)
    start, step = 0, max(1024, 4 * n_parts)
    while (found < 0).any():
        tried = np.arange(start, start + step, dtype=np.uint32)
        partitions = _hashed(tried) % n_parts
        order = np.arange(step)[::-1]  # the first number of each partition is written last
        unknown = found[partitions[order]] < 0
        found[partitions[order][unknown]] = tried[order][unknown]
        start += step
    return found.astype(np.int32)


def _hashed(numbers: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Spark's hash of 32-bit integers (Murmur3 with seed 42), as a signed number."""
    with np.errstate(over="ignore"):
        k = numbers * np.uint32(0xCC9E2D51)
        k = (k << np.uint32(15)) | (k >> np.uint32(17))
        h = np.uint32(42) ^ (k * np.uint32(0x1B873593))
        h = (h << np.uint32(13)) | (h >> np.uint32(19))
        h = h * np.uint32(5) + np.uint32(0xE6546B64)
        h ^= np.uint32(4)
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
            h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
        h ^= h >> np.uint32(16)
    return h.view(np.int32).astype(np.int64)
