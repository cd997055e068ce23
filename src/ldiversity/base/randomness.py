"""Where random 64-bit words come from, and the holder's secret key.

All words are AES-256 from the `cryptography` package; the building blocks are those that browsers have too (AES, HKDF).

- `KeyedWords` are a pseudo-random function of a key and of whom they are for (`Identities`): a record by its id, a
  person by theirs, or a row by its file and number. Under the holder's key, publishing again gives the same words.
  Without one, the operating system draws a key for the run, which is never stored: whatever does a piece of work again,
  in other batches, threads or processes, gets the same words, and nobody gets them after the run.
- `FreshWords` are AES in counter mode under a key that the operating system draws for the object: for orders and for
  methods that group. `FreshWords.from_insecure_seed` is for tests.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, WordArray
from ldiversity.base.secret import Secret
from ldiversity.base.secret_files import SecretFile
from ldiversity.errors import ParameterError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

__all__ = [
    "FreshWords",
    "Identities",
    "IdentityHash",
    "Key",
    "KeyedWords",
    "Secret",
    "Words",
    "random_order",
    "row_identities",
    "with_values",
]

_KEY_BYTES: Final = 32
_BLOCK_BYTES: Final = 16
_WORDS_PER_BLOCK: Final = 2
_WORD_BYTES: Final = 8
_FIRST_BYTES: Final = np.array([2 ** (8 * n) - 1 for n in range(_WORD_BYTES + 1)], dtype=np.uint64)
"""Masks of the first bytes of a little-endian word: none, one, up to all eight."""
_FILE: Final = SecretFile(
    "key", "ldiversity-key-v1", "`ldiversity key new`", "a key makes keyed releases impossible to repeat", _KEY_BYTES
)
_BUCKET_ROWS: Final = 1 << 15

_INTEGER: Final = np.uint64(2**64 - 1)
"""Begins the hashed message of a whole number, where that of a text has its length."""

_FILE_SHIFT: Final = np.uint64(32)

Identities = NDArray[np.uint64]
"""Shape (n, 2): whom words are for. The low half of the second number is left for counting blocks of words."""


class Words(Protocol):
    """A source of uniformly random 64-bit words for records."""

    def for_records(self, identities: Identities, n_words: int) -> WordArray:
        """Return words of shape (n, n_words). A keyed source gives the same first words however many are asked for."""


def row_identities(file: int, first: int, n: int) -> Identities:
    """The identities of `n` rows of a file that follow each other.

    Examples
    --------
    >>> row_identities(0, 7, 2).tolist()
    [[7, 0], [8, 0]]
    """
    identities = np.empty((n, 2), dtype=np.uint64)
    identities[:, 0] = np.arange(first, first + n, dtype=np.uint64)
    identities[:, 1] = np.uint64(file) << _FILE_SHIFT
    return identities


def with_values(identities: Identities, codes: CodeArray) -> Identities:
    """Other identities for each value, for mechanisms that need words of their own for it; of hashed ids only."""
    changed = identities.copy()
    changed[:, 0] ^= codes.astype(np.uint64) + np.uint64(1)
    return changed


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

    def for_records(self, identities: Identities, n_words: int) -> WordArray:
        """Fresh words for each record."""
        return self.draw(len(identities), n_words)


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
        return cls(_FILE.read(path))

    @staticmethod
    def check_path(owner: str, path: object) -> Path:
        """The path of a key file. Refused is all else, above all the key itself, which no message may quote."""
        return _FILE.check_path(owner, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file with mode 0600; an existing file is never overwritten."""
        _FILE.write(path, self._secret)

    @staticmethod
    def is_in(path: str | os.PathLike[str]) -> bool:
        """Whether a file holds a key, so that nothing else is written there."""
        return _FILE.is_in(path)

    def derive(self, purpose: str, context: bytes = b"") -> bytes:
        """A 32-byte key for one purpose and context (HKDF with SHA-256)."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        info = b"ldiversity/1/" + purpose.encode() + b"\0" + hashlib.sha256(context).digest()
        return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=info).derive(self._secret)

    def travelling(self) -> bytes:
        """The secret itself, for the envelope in which the key of one job goes to its workers, and for nothing else."""
        return self._secret

    @classmethod
    def from_insecure_seed(cls, seed: int) -> Key:
        """A key that anyone who knows `seed` can repeat. For tests only: never publish with it."""
        return cls(hashlib.sha256(f"ldiversity insecure key {seed}".encode()).digest())


class IdentityHash(Secret):
    """Hashes ids under a key to 128 bits, so that no id itself travels further, and ids of any length are as good.

    Notes
    -----
    CBC-MAC with AES-256, which is a pseudo-random function where no message begins another: a text is one block with
    its length and then its content, padded with zeros; a whole number is one block, which no text begins with.
    """

    __slots__ = ("_secret",)

    def __init__(self, key: Key) -> None:
        self._secret = key.derive("id")

    def of_integers(self, numbers: NDArray[np.int64]) -> Identities:
        """The identity of each whole number."""
        blocks = np.empty((len(numbers), 2), dtype=np.uint64)
        blocks[:, 0] = _INTEGER
        blocks[:, 1] = numbers.view(np.uint64)
        return _encrypt(self._secret, blocks)

    def of_texts(self, content: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Identities:
        """The identity of each text ``content[start : start + length]``."""
        states = np.zeros((len(starts), 2), dtype=np.uint64)
        states[:, 0] = lengths.view(np.uint64)
        states = _encrypt(self._secret, states)
        padded = np.concatenate([content, np.zeros(_BLOCK_BYTES, dtype=np.uint8)])
        # The eight bytes from every place on as one number: texts start anywhere.
        eights = np.ndarray(len(padded) - _WORD_BYTES + 1, dtype="<u8", buffer=padded, strides=(1,))
        for begin in range(0, int(lengths.max(initial=0)), _BLOCK_BYTES):
            # Only texts that go on so far; what is behind the end of a text becomes zero.
            on = np.flatnonzero(lengths > begin)
            at, left = starts[on] + begin, lengths[on] - begin
            block = states[on]
            for word in range(_WORDS_PER_BLOCK):
                inside = np.clip(left - word * _WORD_BYTES, 0, _WORD_BYTES)
                block[:, word] ^= eights[at + word * _WORD_BYTES] & _FIRST_BYTES[inside]
            states[on] = _encrypt(self._secret, block)
        return states


class KeyedWords(Secret):
    """Words that are a pseudo-random function of a key, a context and an identity.

    Notes
    -----
    Block j of an identity's words is AES-256 of the identity, to whose second number j was added bit by bit. Rows have
    distinct identities. Those of ids are 128 pseudo-random bits, of which no two meet in this way except by a chance of
    about the square of their number in 2**128.
    """

    __slots__ = ("_secret",)

    def __init__(self, key: Key, context: bytes, purpose: str = "draw") -> None:
        self._secret = key.derive(purpose, context)

    def for_records(self, identities: Identities, n_words: int) -> WordArray:
        """The words of each identity."""
        n_blocks = -(-n_words // _WORDS_PER_BLOCK)
        if n_blocks == 1:
            words = _encrypt(self._secret, identities)
        else:
            blocks = np.repeat(identities[:, np.newaxis, :], n_blocks, axis=1)
            blocks[:, :, 1] ^= np.arange(n_blocks, dtype=np.uint64)
            words = _encrypt(self._secret, blocks.reshape(-1, _WORDS_PER_BLOCK))
        words = words.reshape(len(identities), n_blocks * _WORDS_PER_BLOCK)
        return words if words.shape[1] == n_words else np.ascontiguousarray(words[:, :n_words])


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


def _encrypt(secret: bytes, blocks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """AES of each row of two words, little-endian."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    # Electronic codebook is AES applied to each block on its own: here the building block of everything else.
    encryptor = Cipher(algorithms.AES(secret), modes.ECB()).encryptor()  # noqa: S305
    plain = np.ascontiguousarray(blocks, dtype="<u8").reshape(-1).view(np.uint8)
    encrypted = np.empty(len(plain) + _BLOCK_BYTES, dtype=np.uint8)
    if len(plain):
        encryptor.update_into(plain.data, encrypted.data)
    words: NDArray[np.uint64] = encrypted[: len(plain)].view("<u8").reshape(-1, _WORDS_PER_BLOCK)
    return words.astype(np.uint64, copy=False)
