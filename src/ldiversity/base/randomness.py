"""Where random 64-bit words come from, and the holder's secret key.

Publishing uses one of two sources, both from the `cryptography` package:

- `FreshWords`: AES-256 in counter mode under a key that the operating system draws for this run and that is
  never stored. Publishing the same table twice gives independent sets, and their intersection narrows the true
  value down: see ``docs/guides/republishing.md``.
- `KeyedWords`: a pseudo-random function of the holder's key, the draw's context (attribute, domain, mechanism and
  its version), the record's id and its true value. Publishing again gives the same set for the same record,
  whatever the order of the rows, the chunks or the engine.

`FreshWords.from_insecure_seed` is for tests.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, WordArray
from ldiversity.errors import ParameterError, StorageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

__all__ = ["FreshWords", "Key", "KeyedWords", "RecordDigests", "Secret", "Words", "random_order"]

_KEY_BYTES: Final = 32
_BLOCK_BYTES: Final = 16
_WORDS_PER_BLOCK: Final = 2
_KEY_HEADER: Final = "ldiversity-key-v1"
_ENDS_AS_KEY: Final = re.compile(r"[A-Za-z0-9+/]{43}=\Z")
"""How 32 bytes end in base64."""

_BUCKET_ROWS: Final = 1 << 15

RecordDigests = NDArray[np.uint64]
"""Shape (n, 2): a keyed 128-bit digest of each record's id."""


class Words(Protocol):
    """A source of uniformly random 64-bit words for records."""

    def for_records(self, codes: CodeArray, digests: RecordDigests | None, n_words: int) -> WordArray:
        """Return words of shape (n, n_words). A keyed source gives the same first words however many are asked for."""


class Secret:
    """An object that holds a secret: it stays in its process, and its repr shows nothing.

    Pickling and copying are refused, whatever the protocol, because a pickle is clear text that ends up in files,
    queues and logs. A worker in another process loads the holder's key itself, and derives the rest.

    Examples
    --------
    >>> FreshWords()
    FreshWords(<secret>)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<secret>)"

    def __reduce_ex__(self, _: SupportsIndex) -> NoReturn:
        raise ParameterError(
            type(self).__name__,
            "an object that holds a secret must not be pickled or copied",
            hint="Load the key from its file where it is needed.",
        )

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(0)


class FreshWords(Secret):
    """Words from AES-256 in counter mode, keyed by the operating system for this object alone."""

    __slots__ = ("_encryptor", "_zeros")

    def __init__(self) -> None:
        self._encryptor = _counter_mode(os.urandom(_KEY_BYTES), os.urandom(_BLOCK_BYTES))
        self._zeros = b""

    @classmethod
    def from_insecure_seed(cls, seed: int) -> FreshWords:
        """Words that anyone who knows `seed` can repeat. For tests only: never publish with it."""
        words = cls()
        digest = hashlib.sha512(f"ldiversity insecure seed {seed}".encode()).digest()
        words._encryptor = _counter_mode(digest[:_KEY_BYTES], digest[_KEY_BYTES:][:_BLOCK_BYTES])
        return words

    def draw(self, *shape: int) -> WordArray:
        """Fresh words of the given shape."""
        n_bytes = 8 * int(np.prod(shape))
        if len(self._zeros) < n_bytes:
            self._zeros = bytes(n_bytes)
        words = np.empty(shape, dtype=np.uint64)
        if n_bytes:
            self._encryptor.update_into(memoryview(self._zeros)[:n_bytes], words.reshape(-1).view(np.uint8).data)
        return words

    def for_records(self, codes: CodeArray, digests: RecordDigests | None, n_words: int) -> WordArray:  # noqa: ARG002 - fresh for everyone
        """Fresh words for each record."""
        return self.draw(len(codes), n_words)


class Key(Secret):
    """The data holder's secret, from which keyed draws are made.

    Anyone who has the key and a release can work out true values, so protect it like the table itself. It is never
    part of a release, a message or a log.

    Examples
    --------
    >>> Key.new()
    Key(<secret>)
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes | bytearray):
            raise ParameterError("Key", "secret", "must be bytes", got=type(secret).__name__)
        if len(secret) != _KEY_BYTES:
            raise ParameterError("Key", "secret", f"must be {_KEY_BYTES} bytes long", got=len(secret)).with_hint(
                "Make a key with `ldiversity key new holder.key` or ld.Key.new()."
            )
        self._secret = bytes(secret)

    @classmethod
    def new(cls) -> Key:
        """A new key from the operating system's randomness."""
        return cls(os.urandom(_KEY_BYTES))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Key:
        """Read a key file that only its owner may read."""
        file = cls.check_path("key", path)
        try:
            with file.open("rb") as stream:
                # The mode of the open file, not of the path, which could be replaced in between.
                mode = os.fstat(stream.fileno()).st_mode
                content = stream.read(4096)
        except OSError as error:
            raise StorageError("key", f"file {str(file)!r} cannot be read: {error.strerror}").with_hint(
                "Make a key with `ldiversity key new`, and name its file."
            ) from None
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ParameterError(
                "key", f"file {str(file)!r} must be readable by its owner only", hint=f"Run `chmod 600 {file}`."
            )
        return cls(_decode_key(content, file))

    @staticmethod
    def check_path(owner: str, path: object) -> Path:
        """The path of a key file. Refused is all else, above all the key itself, which no message may quote."""
        rule = "must be the path of a key file"
        if not isinstance(path, str | os.PathLike):
            raise ParameterError(owner, "key", rule, got=type(path).__name__)
        file = Path(path)
        if _ENDS_AS_KEY.search(str(file).rstrip()):
            raise ParameterError(owner, "key", rule, got="what such a file holds").with_hint(
                "Make a new key: this one may stand in the history of a shell or in a log."
            )
        return file

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file with mode 0600; an existing file is never overwritten."""
        file = self.check_path("key", path)
        line = f"{_KEY_HEADER} {base64.b64encode(self._secret).decode()}\n"
        try:
            # Created with its final mode: at no moment can others read it.
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise ParameterError("key", f"file {str(file)!r} must not exist yet").with_hint(
                "Choose another name; overwriting a key makes keyed releases impossible to repeat."
            ) from None
        except OSError as error:
            raise StorageError("key", f"file {str(file)!r} cannot be written: {error.strerror}") from None
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(line)

    @staticmethod
    def is_in(path: str | os.PathLike[str]) -> bool:
        """Whether a file holds a key, so that nothing else is written there."""
        try:
            with Path(path).open("rb") as stream:
                return stream.read(len(_KEY_HEADER)) == _KEY_HEADER.encode()
        except OSError:
            return False

    def derive(self, purpose: str, context: bytes = b"") -> bytes:
        """A 32-byte key for one purpose and context (HKDF with SHA-256)."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        info = b"ldiversity/1/" + purpose.encode() + b"\0" + hashlib.sha256(context).digest()
        return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=info).derive(self._secret)

    def digest_records(self, ids: Sequence[bytes]) -> RecordDigests:
        """A keyed 128-bit digest of each id, so that no id itself travels further."""
        secret = self.derive("record id")
        digests = b"".join([hashlib.blake2b(record, digest_size=_BLOCK_BYTES, key=secret).digest() for record in ids])
        return np.frombuffer(digests, dtype="<u8").reshape(-1, _WORDS_PER_BLOCK)


class KeyedWords(Secret):
    """Words that are a pseudo-random function of key, context, record id and true value.

    Notes
    -----
    The function is CBC-MAC with AES-256 over messages of exactly three blocks: the record's digest, the code of
    its true value, and a counter that numbers the blocks of output. CBC-MAC is a pseudo-random function on
    messages of one fixed length. The true value is part of the message: otherwise a record whose value changed
    would keep its random words, and its two sets would reveal both values.
    """

    __slots__ = ("_secret",)

    def __init__(self, key: Key, context: bytes) -> None:
        self._secret = key.derive("draw", context)

    def for_records(self, codes: CodeArray, digests: RecordDigests | None, n_words: int) -> WordArray:
        """The words of each record; `digests` is required."""
        if digests is None or len(digests) != len(codes):
            raise ParameterError("record_id", "keyed draws need the id of every record")
        # CBC-MAC: encrypt the digest, add the code and encrypt, then add the counter and encrypt.
        state = self._encrypt(digests.astype("<u8"))
        state[:, 0] ^= codes.astype(np.uint64)
        state = self._encrypt(state)
        n_blocks = -(-n_words // _WORDS_PER_BLOCK)
        blocks = np.repeat(state[:, np.newaxis, :], n_blocks, axis=1)
        blocks[:, :, 0] ^= np.arange(n_blocks, dtype=np.uint64)
        words = self._encrypt(blocks.reshape(-1, _WORDS_PER_BLOCK))
        return np.ascontiguousarray(words.reshape(len(codes), -1)[:, :n_words]).astype(np.uint64, copy=False)

    def _encrypt(self, blocks: NDArray[np.uint64]) -> NDArray[np.uint64]:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        # Electronic codebook is AES applied to each block on its own: here the building block of CBC-MAC.
        encryptor = Cipher(algorithms.AES(self._secret), modes.ECB()).encryptor()  # noqa: S305
        encrypted = encryptor.update(np.ascontiguousarray(blocks).tobytes())
        return np.frombuffer(bytearray(encrypted), dtype="<u8").reshape(-1, _WORDS_PER_BLOCK)


def random_order(n: int, words: FreshWords) -> NDArray[np.int64]:
    """Return a uniformly random order of ``range(n)``.

    Rows are dealt into random buckets, and each bucket gets a Fisher-Yates shuffle. The result is exactly uniform
    (Rao 1961, Sandelius 1962), and each bucket fits into the cache.

    Examples
    --------
    >>> sorted(random_order(5, FreshWords()).tolist())
    [0, 1, 2, 3, 4]
    """
    from ldiversity._kernels.shuffle import deal, fisher_yates

    # As many buckets as leave about _BUCKET_ROWS rows in each; a small table is one bucket.
    n_bits = max(0, (n - 1).bit_length() - _BUCKET_ROWS.bit_length() + 1)
    if n_bits == 0:
        order, ends = np.arange(n, dtype=np.int64), np.array([n], dtype=np.int64)
    else:
        order, ends = deal(words.draw(n), n_bits)
    start = 0
    for end in ends.tolist():
        bucket = order[start:end]
        while not fisher_yates(bucket, words.draw(len(bucket) + 4)):
            pass  # a draw ran out of spare words, which happens less than once in 10^15 buckets: shuffle again
        start = end
    return order


def _counter_mode(key: bytes, nonce: bytes) -> CipherContext:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher(algorithms.AES(key), modes.CTR(nonce)).encryptor()


def _decode_key(content: bytes, file: Path) -> bytes:
    words = content.decode("ascii", errors="replace").split()
    try:
        header, encoded = words
        secret = base64.b64decode(encoded, validate=True)
    except ValueError:
        header, secret = "", b""
    if header != _KEY_HEADER or len(secret) != _KEY_BYTES:
        raise ParameterError(
            "key", f"file {str(file)!r} must be a key file of this package", hint="Make one with `ldiversity key new`."
        ) from None
    return secret
