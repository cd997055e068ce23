"""The side of the collector: a key that signs what it cannot read."""

from __future__ import annotations

import os
import secrets
from math import gcd
from typing import Final

from ldiversity.base.secret import Secret
from ldiversity.base.secret_files import SecretFile
from ldiversity.collection.blind._public import MOST_PARTS, BlindPublicKey, exponent
from ldiversity.errors import InternalError, ParameterError

__all__ = ["BlindKey"]

_BITS: Final = 3072
_PRIME_BYTES: Final = _BITS // 16
_FILE: Final = SecretFile(
    "blind key",
    "ldiversity-blind-key-v1",
    "`ldiversity collect new`",
    "it makes tokens that were issued useless",
    2 * _PRIME_BYTES,
)


class BlindKey(Secret):
    """The collector's RSA key for blind signatures. It is never part of a survey, a message or a log.

    It is for one survey: what it signs is a token, whatever it is.

    Examples
    --------
    >>> BlindKey(11, 23)
    BlindKey(<secret>)
    """

    __slots__ = ("_primes", "public")

    def __init__(self, p: int, q: int) -> None:
        self._primes = (p, q)
        self.public = BlindPublicKey(p * q)

    @classmethod
    def new(cls) -> BlindKey:
        """A new key of 3072 bits."""
        from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

        while True:
            numbers = generate_private_key(exponent(0), _BITS).private_numbers()
            found = cls(numbers.p, numbers.q)
            if all(gcd(exponent(part), (numbers.p - 1) * (numbers.q - 1)) == 1 for part in range(MOST_PARTS)):
                return found

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BlindKey:
        """Read a key file that only its owner may read."""
        content = _FILE.read(path)
        return cls(*(int.from_bytes(half, "big") for half in (content[:_PRIME_BYTES], content[_PRIME_BYTES:])))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file with mode 0600; an existing file is never overwritten."""
        _FILE.write(path, b"".join(prime.to_bytes(_PRIME_BYTES, "big") for prime in self._primes))

    def sign(self, blinded: bytes, part: int = 0) -> bytes:
        """Sign a blinded message for a part of the survey.

        Notes
        -----
        The number is blinded once more before it meets the private exponent, so that the time this takes has nothing
        to do with what was sent. The result is checked: a fault of the machine could otherwise give the key away.
        """
        n, e = self.public.modulus, exponent(part)
        number = int.from_bytes(blinded, "big")
        if len(blinded) != self.public.n_bytes or not 0 < number < n:
            raise ParameterError("blinded", f"must be a number below the modulus, of {self.public.n_bytes} bytes")
        factor = secrets.randbelow(n - 2) + 1
        root = self._root(number * pow(factor, e, n) % n, e) * pow(factor, -1, n) % n
        if pow(root, e, n) != number:
            raise InternalError("blind key", "signed something else than it was given")
        return root.to_bytes(self.public.n_bytes, "big")

    def _root(self, number: int, e: int) -> int:
        """The e-th root, by the Chinese remainder theorem."""
        p, q = self._primes
        of_p, of_q = (pow(number % prime, pow(e, -1, prime - 1), prime) for prime in self._primes)
        return of_q + q * ((of_p - of_q) * pow(q, -1, p) % p)
