"""Rows that wait on disk because they do not fit in memory.

The file has no name and is encrypted with a key that never leaves this object. So nobody else can open it, what a disk
keeps of it cannot be read, and it is gone when the process ends, however it ends.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import IO, Final, Self
from weakref import WeakSet

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import IntArray
from ldiversity.base.held import give_back
from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.base.secret import Secret
from ldiversity.errors import InternalError, LDiversityError, StorageError

__all__ = ["Buckets", "Spill"]

_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_WAITING_BYTES: Final = 1 << 23
"""More is slower, because rows are gathered from all over it; with 8 buckets, a block on disk has a megabyte."""

_BLOCK_BYTES: Final = 1 << 22
"""What is decrypted at once."""

_MOST_BUCKETS: Final = 1 << 16
_SHORT: Final = 1 << 8


@dataclass(frozen=True, slots=True)
class _Block:
    """Where some encrypted bytes are, and the number that they were encrypted with: no other bytes can stand there."""

    number: int
    start: int
    n_bytes: int


class Spill(Secret):
    """Encrypted temporary files of one piece of work.

    Parameters
    ----------
    parent
        The folder whose disk holds them; the system's folder for temporary files when None. No name appears there.
    waiting_bytes
        How many bytes of rows are gathered in memory before they are written. While they are, they take about three
        times as much.
    memory_bytes
        How many bytes of rows stay in memory as they are; only further ones are written.

    Examples
    --------
    >>> batch = pa.record_batch({"age": [41, 50, 33]})
    >>> with Spill() as spill:
    ...     buckets = spill.buckets(2)
    ...     buckets.deal(batch, np.array([1, 0, 1]))
    ...     [row for part in buckets.read(1) for row in part["age"].to_pylist()]
    [41, 33]
    """

    __slots__ = ("_cipher", "_files", "_memory", "parent", "waiting_bytes")

    def __init__(
        self, parent: Path | None = None, *, waiting_bytes: int = _WAITING_BYTES, memory_bytes: int = 0
    ) -> None:
        self.parent, self.waiting_bytes = parent, waiting_bytes
        self._memory = _Memory(memory_bytes)
        self._cipher = BlockCipher()
        self._files: WeakSet[_File] = WeakSet()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove all that was written. What nobody refers to any more is removed without a call."""
        for file in list(self._files):
            file.close()

    def buckets(self, n: int) -> Buckets:
        """`n` empty buckets, in a file of their own."""
        if not 1 <= n <= _MOST_BUCKETS:
            raise InternalError(f"there must be between 1 and {_MOST_BUCKETS} buckets", got=n)
        file = _File(self._cipher, self.parent)
        self._files.add(file)
        return Buckets(file, n, self.waiting_bytes, self._memory)


@dataclass
class _Memory:
    """How many bytes of rows may still stay in memory."""

    left: int


class BlockCipher(Secret):
    """Encrypts blocks with AES-GCM under a key of its own; no two blocks with the same number."""

    __slots__ = ("_cipher", "_numbers")

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._cipher = AESGCM(os.urandom(_KEY_BYTES))
        self._numbers = count()

    def seal(self, content: pa.Buffer) -> tuple[int, bytes]:
        """The number of a block, and its encrypted bytes."""
        number = next(self._numbers)
        return number, self._cipher.encrypt(_nonce(number), memoryview(content).cast("B"), None)

    def open(self, number: int, sealed: bytes) -> pa.Buffer:
        """The bytes of the block that has this number."""
        from cryptography.exceptions import InvalidTag

        try:
            return pa.py_buffer(self._cipher.decrypt(_nonce(number), sealed, None))
        except InvalidTag:
            raise StorageError(
                "temporary files", "were changed by another program, or by a fault of the disk"
            ).with_hint("Run the same again, and check the disk if it happens again.") from None


class _File:
    """Encrypted blocks, one after the other, in a file without a name; several threads may use it."""

    def __init__(self, cipher: BlockCipher, parent: Path | None) -> None:
        self._cipher, self._parent, self._lock, self._end = cipher, parent, Lock(), 0
        self._stream: IO[bytes] | None = None

    def append(self, content: pa.Buffer) -> _Block:
        number, sealed = self._cipher.seal(content)
        try:
            with self._lock:
                if self._stream is None:
                    # On POSIX it never has a name, or loses it at once; mode 0600 until then.
                    self._stream = tempfile.TemporaryFile(dir=self._parent)  # noqa: SIM115 - kept for later
                self._stream.seek(self._end)
                self._stream.write(sealed)
                self._stream.flush()
                block = _Block(number, self._end, len(sealed))
                self._end += len(sealed)
        except OSError as error:
            raise self._fault(error) from None
        return block

    def read(self, block: _Block) -> pa.Buffer:
        try:
            with self._lock:
                if self._stream is None:
                    raise InternalError("the temporary file was closed before it was read")
                self._stream.seek(block.start)
                sealed = self._stream.read(block.n_bytes)
        except OSError as error:
            raise self._fault(error) from None
        return self._cipher.open(block.number, sealed)

    def close(self) -> None:
        stream, self._stream, self._end = self._stream, None, 0
        if stream is not None:
            with suppress(OSError):  # what could not be written when the disk was full is not needed any more
                stream.close()

    __del__ = close

    def _fault(self, error: OSError) -> LDiversityError:
        if isinstance(error, LDiversityError):
            return error
        if lacks_memory(error):
            return not_enough_memory("table")
        folder = self._parent or Path(tempfile.gettempdir())
        reason = error.strerror or "the disk may be full"
        hint = "Make room on that disk, or choose another one"
        way = "." if self._parent else " with the environment variable TMPDIR."
        return StorageError("temporary files", f"cannot be kept in {str(folder)!r}: {reason}", hint=hint + way)


class Buckets:
    """Rows by the number of a bucket, on disk except for the last ones. `Spill.buckets` makes them.

    All batches must have one schema. What is read back has it too, and the rows of a bucket in the order in which they
    were dealt; how they are cut into batches may differ.
    """

    def __init__(self, file: _File, n: int, waiting_bytes: int, memory: _Memory) -> None:
        self._file, self._waiting_bytes, self._memory = file, waiting_bytes, memory
        self._n_rows = np.zeros(n, dtype=np.int64)
        self._pieces: list[list[tuple[_Block | pa.RecordBatch, int]]] = [[] for _ in range(n)]
        self._waiting: list[pa.RecordBatch] = []
        self._numbers: list[NDArray[np.uint8 | np.uint16]] = []
        self._kind = np.uint8 if n <= _SHORT else np.uint16
        self._n_waiting = 0
        self._form: _Form | None = None

    def __len__(self) -> int:
        return len(self._pieces)

    def deal(self, batch: pa.RecordBatch, numbers: IntArray) -> None:
        """Append each row to the bucket of its number."""
        if len(numbers) != batch.num_rows:
            raise InternalError("every row must have the number of its bucket")
        if self._form is None:
            self._form = _Form(batch.schema)
        self._n_rows += np.bincount(numbers, minlength=len(self))  # refuses a number that no bucket has
        if batch.num_rows == 0:
            return
        if not self._form.holds(batch):
            self._write()
            self._form.take_over(batch, self._file)
        plain = self._form.plain(batch)
        self._waiting.append(plain)
        self._numbers.append(numbers.astype(self._kind))
        self._n_waiting += plain.nbytes + self._numbers[-1].nbytes
        if self._n_waiting >= self._waiting_bytes or self._form.stands_alone:
            self._write()

    def n_rows(self, bucket: int) -> int:
        """How many rows a bucket holds."""
        return int(self._n_rows[bucket])

    def read(self, bucket: int) -> Iterator[pa.RecordBatch]:
        """The rows of a bucket, in the order in which they were dealt; as often as one likes."""
        self._write()
        form = self._form
        if form is None:
            return
        for block, dictionaries in list(self._pieces[bucket]):
            yield form.read(self._file, block, dictionaries)
            give_back()

    def drop(self, bucket: int) -> None:
        """Forget the rows of a bucket; the file goes with the last one."""
        self._write()
        self._pieces[bucket] = []
        self._n_rows[bucket] = 0
        if not self._n_rows.any():
            self.close()

    def close(self) -> None:
        """Forget all rows."""
        self._file.close()
        self._waiting, self._numbers, self._n_waiting = [], [], 0
        self._pieces = [[] for _ in self._pieces]
        self._n_rows[:] = 0
        self._form = None

    def _write(self) -> None:
        """Append what waits to its buckets."""
        if not self._waiting or self._form is None:
            return
        waiting, numbers = self._waiting, np.concatenate(self._numbers)
        self._waiting, self._numbers, self._n_waiting = [], [], 0
        rows = _joined(waiting)
        waiting.clear()
        if len(self) > 1:
            # A stable order, so that rows keep theirs within a bucket; numpy sorts 8 and 16 bits in linear time.
            rows = pc.take(rows, pa.array(np.argsort(numbers, kind="stable")), boundscheck=False)
        sizes = np.bincount(numbers, minlength=len(self))
        starts = np.cumsum(sizes) - sizes
        most = max(1, _BLOCK_BYTES * rows.num_rows // max(rows.nbytes, 1))
        for bucket in np.flatnonzero(sizes).tolist():
            for done in range(0, int(sizes[bucket]), most):
                piece = rows.slice(int(starts[bucket]) + done, min(most, int(sizes[bucket]) - done))
                stays = self._memory.left >= piece.nbytes
                self._memory.left -= piece.nbytes if stays else 0
                held = piece if stays else self._file.append(self._form.written(piece))
                self._pieces[bucket].append((held, self._form.dictionaries))
        give_back()


class _Form:
    """How batches of one schema are stored.

    A dictionary would be stored with every piece of every bucket. So it is stored once, and pieces hold positions.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._of_dictionaries = [place for place, field in enumerate(schema) if pa.types.is_dictionary(field.type)]
        fields = [
            pa.field(f"{place}", field.type.index_type if pa.types.is_dictionary(field.type) else field.type)
            for place, field in enumerate(schema)
        ]
        self._stored = pa.schema(fields)
        # Dictionaries within lists and structures stay with each piece, which is then a stream of its own.
        self.stands_alone = any(_holds_dictionary(field.type) for field in self._stored)
        self._current: dict[int, pa.Array] = {}
        self._blocks: list[dict[int, _Block]] = [{}]
        self._kept: tuple[int, dict[int, pa.Array]] = (0, {})

    @property
    def dictionaries(self) -> int:
        """The number of the dictionaries that batches have now."""
        return len(self._blocks) - 1

    def holds(self, batch: pa.RecordBatch) -> bool:
        """Whether a batch has the dictionaries of those before it."""
        return all(
            place in self._current and batch.column(place).dictionary.equals(self._current[place])
            for place in self._of_dictionaries
        )

    def take_over(self, batch: pa.RecordBatch, file: _File) -> None:
        """Store the dictionaries of a batch where they are new."""
        blocks = dict(self._blocks[-1])
        for place in self._of_dictionaries:
            dictionary = batch.column(place).dictionary
            if place not in self._current or not dictionary.equals(self._current[place]):
                self._current[place] = dictionary
                blocks[place] = file.append(_stream(pa.record_batch([dictionary], names=["0"])))
        self._blocks.append(blocks)

    def plain(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with positions in place of dictionaries."""
        columns = [
            column.indices if place in self._of_dictionaries else column for place, column in enumerate(batch.columns)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._stored)

    def written(self, piece: pa.RecordBatch) -> pa.Buffer:
        """The bytes of some plain rows."""
        return _stream(piece) if self.stands_alone else piece.serialize()

    def read(self, file: _File, block: _Block | pa.RecordBatch, number: int) -> pa.RecordBatch:
        """The rows that were written into a block, or that stayed in memory."""
        if isinstance(block, pa.RecordBatch):
            piece = block
        elif self.stands_alone:
            piece = _of_stream(file.read(block))
        else:
            piece = pa.ipc.read_record_batch(pa.BufferReader(file.read(block)), self._stored)
        dictionaries = self._loaded(file, number)
        columns = [
            pa.DictionaryArray.from_arrays(column, dictionaries[place], ordered=field.type.ordered, safe=False)
            if place in dictionaries
            else column
            for place, (column, field) in enumerate(zip(piece.columns, self._schema, strict=True))
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _loaded(self, file: _File, number: int) -> dict[int, pa.Array]:
        known, dictionaries = self._kept
        if known != number:
            blocks = self._blocks[number]
            dictionaries = {place: _of_stream(file.read(block)).column(0) for place, block in blocks.items()}
            self._kept = (number, dictionaries)
        return dictionaries


def _nonce(number: int) -> bytes:
    return number.to_bytes(_NONCE_BYTES, "big")


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    table = pa.Table.from_batches(batches)
    columns = [pa.concat_arrays(column.chunks) for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _holds_dictionary(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return True
    return any(_holds_dictionary(kind.field(place).type) for place in range(kind.num_fields))


def _stream(batch: pa.RecordBatch) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _of_stream(content: pa.Buffer) -> pa.RecordBatch:
    with pa.ipc.open_stream(content) as reader:
        return reader.read_next_batch()
