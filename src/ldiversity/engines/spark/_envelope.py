"""How secrets reach workers, and how cells rest on their disks."""

from __future__ import annotations

import hmac
import os
from pathlib import Path
from typing import Final

import pyarrow as pa

from ldiversity.base.randomness import Key, Secret
from ldiversity.engines._secrets import Secrets
from ldiversity.errors import ParameterError, UnsupportedError

__all__ = ["Envelope", "Seal"]

_NONCE_BYTES: Final = 12


class Envelope:
    """Takes the key of a job, and the name of the file with the holder's key, to the workers of that job.

    It is the one object with a secret that can be pickled. A worker in another process needs the key of the job, or
    else it would draw another set when it does a piece of work again. A file for it would outlive a job that is killed.
    So the key travels in the function that Spark sends to each worker, which stays in memory: only functions above one
    megabyte become files, and the engine refuses those. It opens nothing that outlives the job, because nobody stores
    this key. The holder's key never travels: the worker reads it from its own file. What travels is a mark that is
    derived from both keys, so that a worker whose file holds another key draws nothing with it.

    Only the engine makes envelopes, with `of`.
    """

    __slots__ = ("_file", "_job", "_mark")

    def __init__(self, job: bytes, file: Path | None, mark: bytes | None) -> None:
        self._job, self._file, self._mark = job, file, mark

    @classmethod
    def of(cls, secrets: Secrets) -> Envelope:
        """Put in what workers need."""
        if secrets.key is not None and secrets.key_file is None:
            raise UnsupportedError(
                "spark", "the holder's key must be given as the path of its file, which workers read themselves"
            ).with_hint("Put the key file at the same path on every worker, and pass key='holder.key' with that path.")
        job = secrets.job.travelling()
        return cls(job, secrets.key_file, None if secrets.key is None else _mark(secrets.key, job))

    def open(self) -> Secrets:
        """The secrets, made where the work is done."""
        key = None if self._file is None else Key.load(self._file)
        if key is not None and self._mark is not None and not hmac.compare_digest(_mark(key, self._job), self._mark):
            raise ParameterError("spark", "key", "must be the same on every worker as on this machine").with_hint(
                "Copy the key file of this machine to the same path on every worker, and change none meanwhile."
            )
        return Secrets(key, job=Key(self._job), key_file=self._file)

    def __repr__(self) -> str:
        return "Envelope(<secret>)"

    def __reduce__(self) -> tuple[type[Envelope], tuple[bytes, Path | None, bytes | None]]:
        return Envelope, (self._job, self._file, self._mark)


def _mark(key: Key, job: bytes) -> bytes:
    """What tells that it is the same key, to whoever has it, in this job only."""
    return key.derive("mark of the holder's key", job)


class Seal(Secret):
    """Encrypts what workers hand to each other, because Spark writes it to their disks.

    It takes batches of rows, and texts of a few bytes. Everything is under a key of the engine (AES-256 in Galois
    counter mode), which leaves memory only in an `Envelope`.
    """

    __slots__ = ("_cipher",)

    def __init__(self, key: Key) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._cipher = AESGCM(key.derive("spark"))

    def close(self, content: bytes, purpose: str) -> bytes:
        """Encrypt a text, which can be opened for this purpose only: nothing that is sealed stands for another."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, purpose.encode())

    def open(self, sealed: bytes, purpose: str) -> bytes:
        """Decrypt a text; what was changed on its way, or was sealed for another purpose, is refused."""
        from cryptography.exceptions import InvalidTag

        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], purpose.encode())
        except InvalidTag:
            raise ParameterError("spark", "what workers hand to each other must arrive unchanged") from None

    def pack(self, batch: pa.RecordBatch, part: int) -> bytes:
        """Encrypt rows of a part, with their exact Arrow types."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
            stream.write_batch(batch)
        return self.close(sink.getvalue().to_pybytes(), f"rows {part}")

    def unpack(self, sealed: bytes, part: int) -> pa.RecordBatch:
        """Decrypt rows of this part."""
        with pa.ipc.open_stream(pa.py_buffer(self.open(sealed, f"rows {part}"))) as stream:
            return stream.read_next_batch()
