"""The side of a device: prepare a message, blind it, and make a signature of what the collector signed."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING, Final

from ldiversity.collection.blind._text import from_text, to_text
from ldiversity.errors import ParameterError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

__all__ = ["MOST_PARTS", "BlindPublicKey", "Blinded", "exponent", "prepare", "token_message"]

MOST_PARTS: Final = 24
"""As many as a survey can have questions."""

_PREFIX_BYTES: Final = 32
_SALT_BYTES: Final = 48
_HASH_BYTES: Final = 48
_LEAST_BITS: Final = 2048
_MOST_BITS: Final = 4096
"""A report has room for signatures of so many bits; longer ones would make its length tell what is in it."""

_FIRST_EXPONENT: Final = 65537


def prepare(message: bytes, prefix: bytes | None = None) -> bytes:
    """The message with 32 random bytes before it, as the variants of RFC 9474 that end in "Randomized" want it.

    Examples
    --------
    >>> len(prepare(b"message"))
    39
    """
    prefix = os.urandom(_PREFIX_BYTES) if prefix is None else prefix
    if len(prefix) != _PREFIX_BYTES:
        raise ParameterError("prepare", "prefix", f"must be {_PREFIX_BYTES} bytes long")
    return prefix + message


def token_message(survey_id: str, part: int, token: bytes) -> bytes:
    """What is signed for a token of 32 bytes: the token is the random prefix, and says for what it can be spent."""
    return prepare(f"{survey_id}/{part}".encode(), token)


@lru_cache(maxsize=MOST_PARTS)
def exponent(part: int) -> int:
    """The public exponent for a part of a survey: 65537 for the first, and the next prime for each further one.

    The collector does not see what it signs, so the exponent alone says for which part a token is. Electronic coins
    tell their values apart in the same way (Chaum 1985; Amjad, Yeo and Yung 2023 prove it for public metadata).

    Examples
    --------
    >>> [exponent(part) for part in range(4)]
    [65537, 65539, 65543, 65551]
    """
    if part == 0:
        return _FIRST_EXPONENT
    candidate = exponent(part - 1) + 2
    while any(candidate % odd == 0 for odd in range(3, 300, 2)):  # 300 squared is beyond all of them
        candidate += 2
    return candidate


@dataclass(frozen=True, repr=False)
class Blinded:
    """A blinded message.

    Attributes
    ----------
    message
        What the collector gets to sign. It is uniformly random, whatever was blinded.
    inverse
        What takes the blinding away. It stays on the device.
    """

    message: bytes
    inverse: int


@dataclass(frozen=True)
class BlindPublicKey:
    """The public key of a collector who signs blindly: RSASSA-PSS with SHA-384.

    Examples
    --------
    >>> BlindPublicKey.from_text("AQAB")
    Traceback (most recent call last):
    ldiversity.errors.ParameterError: blind key: must be an odd number of 2048 to 4096 bits, in base64url.
    """

    modulus: int

    @classmethod
    def from_text(cls, text: str) -> BlindPublicKey:
        """The key that a survey names."""
        modulus = int.from_bytes(from_text(text) or b"", "big")
        if not _LEAST_BITS <= modulus.bit_length() <= _MOST_BITS or modulus % 2 == 0:
            raise ParameterError(
                "blind key", f"must be an odd number of {_LEAST_BITS} to {_MOST_BITS} bits, in base64url"
            )
        return cls(modulus)

    @property
    def text(self) -> str:
        """The key as a survey names it."""
        return to_text(self.modulus.to_bytes(self.n_bytes, "big"))

    @property
    def n_bytes(self) -> int:
        """How long blinded messages and signatures are."""
        return -(-self.modulus.bit_length() // 8)

    @property
    def factor_bytes(self) -> int:
        """How many random bytes `factor` takes: with sixteen more than the modulus has, it is as good as uniform."""
        return self.n_bytes + 16

    def factor(self, wide: bytes) -> int:
        """A blinding factor, from 1 to the modulus less 1, from random bytes."""
        return int.from_bytes(wide, "big") % (self.modulus - 1) + 1

    def blind(self, prepared: bytes, part: int = 0, *, salt: bytes | None = None, factor: int | None = None) -> Blinded:
        """Blind a prepared message.

        Parameters
        ----------
        prepared
            The message, from `prepare` or `token_message`.
        part
            The part of the survey that the token is for.
        salt, factor
            48 random bytes, and a random number from 1 to the modulus less 1. A device derives both from its secret,
            so that it asks for the same token again after a crash; otherwise they are drawn.
        """
        salt = os.urandom(_SALT_BYTES) if salt is None else salt
        factor = self.factor(os.urandom(self.factor_bytes)) if factor is None else factor
        encoded = int.from_bytes(_encode(prepared, self.modulus.bit_length() - 1, salt), "big")
        if not 0 < factor < self.modulus or gcd(encoded * factor, self.modulus) != 1:
            raise ParameterError("blind", "factor", "must be above 0, below the modulus, and share no factor with it")
        message = encoded * pow(factor, exponent(part), self.modulus) % self.modulus
        return Blinded(message.to_bytes(self.n_bytes, "big"), pow(factor, -1, self.modulus))

    def finalize(
        self, prepared: bytes, blinded: Blinded, signed: bytes, part: int = 0, *, salt_bytes: int = _SALT_BYTES
    ) -> bytes:
        """The signature of the prepared message, from what the collector signed.

        Raises
        ------
        ParameterError
            When the collector did not sign what it was given with this key.
        """
        number = int.from_bytes(signed, "big")
        fits = len(signed) == self.n_bytes and number < self.modulus
        signature = (number * blinded.inverse % self.modulus).to_bytes(self.n_bytes, "big")
        if not fits or not self.verify(prepared, signature, part, salt_bytes=salt_bytes):
            raise ParameterError("server", "must sign the token with the survey's key, but did not")
        return signature

    def verify(self, prepared: bytes, signature: bytes, part: int = 0, *, salt_bytes: int = _SALT_BYTES) -> bool:
        """Whether it is a signature of the prepared message for a part."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
        from cryptography.hazmat.primitives.hashes import SHA384

        try:
            _verifier(self.modulus, part).verify(signature, prepared, PSS(MGF1(SHA384()), salt_bytes), SHA384())
        except InvalidSignature:
            return False
        return True


@lru_cache(maxsize=2 * MOST_PARTS)
def _verifier(modulus: int, part: int) -> RSAPublicKey:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

    return RSAPublicNumbers(exponent(part), modulus).public_key()


def _encode(message: bytes, bits: int, salt: bytes) -> bytes:
    """EMSA-PSS-ENCODE with SHA-384 (RFC 8017, 9.1.1)."""
    length = -(-bits // 8)
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    block = bytes(length - len(salt) - _HASH_BYTES - 2) + b"\x01" + salt
    masked = bytearray(a ^ b for a, b in zip(block, _mask(digest, len(block)), strict=True))
    masked[0] &= 0xFF >> (8 * length - bits)
    return bytes(masked) + digest + b"\xbc"


def _mask(seed: bytes, length: int) -> bytes:
    """MGF1 (RFC 8017, B.2.1)."""
    counters = range(-(-length // _HASH_BYTES))
    return b"".join(hashlib.sha384(seed + at.to_bytes(4, "big")).digest() for at in counters)[:length]
