"""The random words of a device: a pseudo-random function of its secret, the question and, where needed, the answer."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import Final

from ldiversity.base.secret import Secret
from ldiversity.collection.draw._base import Draw

__all__ = ["DeviceSecret"]

_BYTES: Final = 32
_TOKEN_BYTES: Final = 16
_BLIND_TOKEN_BYTES: Final = 32
_SALT_BYTES: Final = 48


class DeviceSecret(Secret):
    """The 32 random bytes of a device, from which all its draws and tokens follow. They never leave it.

    Notes
    -----
    A question's key is HKDF-SHA256 of the secret, with ``"ldiversity/1/device-draw" + zero byte + SHA-256 of the
    context`` as its info. The words are the key stream of AES-256 in counter mode, eight bytes each, the first byte
    highest. The counter starts at zero in its last eight bytes; its first eight are zero, or the answer's code plus one
    where the draw is keyed by the answer. A browser's WebCrypto does the same.

    Examples
    --------
    >>> DeviceSecret(bytes(32))
    DeviceSecret(<secret>)
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != _BYTES:
            raise ValueError("secret")
        self._secret = secret

    def words(self, context: bytes, answer: int | None, n: int) -> list[int]:
        """The first `n` words for a question; `answer` is the code where the draw is keyed by the answer."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        key = self._derive(b"device-draw", hashlib.sha256(context).digest(), _BYTES)
        start = struct.pack(">QQ", 0 if answer is None else answer + 1, 0)
        stream = Cipher(algorithms.AES(key), modes.CTR(start)).encryptor().update(bytes(8 * n))
        return list(struct.unpack(f">{n}Q", stream))

    def hide(self, draw: Draw, name: str, values: Sequence[str], code: int) -> tuple[int, ...]:
        """The set of this device for an answer; the same forever."""
        context = draw.context(name, values)
        n = draw.first_words
        while True:
            found = draw.sample(code, self.words(context, code if draw.keyed_by_answer else None, n))
            if found is not None:
                return found
            n *= 2

    def token(self, survey_id: str, part: int) -> bytes:
        """The token of a report: the same for the same survey, and unlinkable between surveys and parts."""
        return self._derive(b"device-token", f"{survey_id}/{part}".encode(), _TOKEN_BYTES)

    def blind_token(self, survey_id: str, part: int, factor_bytes: int) -> tuple[bytes, bytes, bytes]:
        """A token of 32 bytes to be signed blindly, 48 bytes of salt, and as many for the factor as asked for.

        They are the same each time: after a crash a device asks for the same token again.
        """
        where = f"{survey_id}/{part}".encode()
        lengths = {b"token": _BLIND_TOKEN_BYTES, b"salt": _SALT_BYTES, b"factor": factor_bytes}
        token, salt, factor = (self._derive(b"device-blind-" + one, where, lengths[one]) for one in lengths)
        return token, salt, factor

    def _derive(self, purpose: bytes, context: bytes, length: int) -> bytes:
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        info = b"ldiversity/1/" + purpose + b"\0" + context
        return HKDF(algorithm=SHA256(), length=length, salt=None, info=info).derive(self._secret)
