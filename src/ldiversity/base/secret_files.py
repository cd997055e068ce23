"""Secrets in files of one line, which only their owner may read and nothing overwrites."""

from __future__ import annotations

import base64
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ldiversity.base.private_files import write_private
from ldiversity.errors import ParameterError, StorageError

__all__ = ["SecretFile"]

_ENDS_AS_SECRET: Final = re.compile(r"[A-Za-z0-9+/]{43}=\Z")
"""How 32 bytes end in base64."""

_MOST_BYTES: Final = 4096


@dataclass(frozen=True)
class SecretFile:
    """How a kind of secret of 32 bytes is kept: ``<header> <base64>``, mode 0600.

    Parameters
    ----------
    owner
        What messages call the secret.
    header
        The first word of its file, which no other kind has.
    make
        How to make one: the rest of a sentence after "Make one with".
    lost
        What overwriting would do: the rest of a sentence after "overwriting it".

    Examples
    --------
    >>> kind = SecretFile("key", "ldiversity-key-v1", "`ldiversity key new`", "makes it useless")
    >>> kind.check_path("key", "my.key").name
    'my.key'
    """

    owner: str
    header: str
    make: str
    lost: str
    n_bytes: int = 32

    def check_path(self, owner: str, path: object) -> Path:
        """The path of such a file. Refused is all else, above all the secret itself, which no message may quote."""
        rule = "must be the path of a key file"
        if not isinstance(path, str | os.PathLike):
            raise ParameterError(owner, "key", rule, got=type(path).__name__)
        file = Path(path)
        if _ENDS_AS_SECRET.search(str(file).rstrip()):
            raise ParameterError(owner, "key", rule, got="what such a file holds").with_hint(
                "Make a new key: this one may stand in the history of a shell or in a log."
            )
        return file

    def read(self, path: str | os.PathLike[str]) -> bytes:
        """Read a file that only its owner may read."""
        file = self.check_path(self.owner, path)
        try:
            with file.open("rb") as stream:
                # The mode of the open file, not of the path, which could be replaced in between.
                mode = os.fstat(stream.fileno()).st_mode
                content = stream.read(_MOST_BYTES)
        except OSError as error:
            raise StorageError(self.owner, f"file {str(file)!r} cannot be read: {error.strerror}").with_hint(
                f"Make one with {self.make}, and name its file."
            ) from None
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ParameterError(
                self.owner, f"file {str(file)!r} must be readable by its owner only", hint=f"Run `chmod 600 {file}`."
            )
        return self._decode(content, file)

    def write(self, path: str | os.PathLike[str], secret: bytes) -> None:
        """Write to a new file with mode 0600; an existing file is never overwritten."""
        file = self.check_path(self.owner, path)
        line = f"{self.header} {base64.b64encode(secret).decode()}\n"
        try:
            write_private(file, line.encode("ascii"))
        except FileExistsError:
            raise ParameterError(self.owner, f"file {str(file)!r} must not exist yet").with_hint(
                f"Choose another name; overwriting {self.lost}."
            ) from None
        except OSError as error:
            raise StorageError(self.owner, f"file {str(file)!r} cannot be written: {error.strerror}") from None

    def is_in(self, path: str | os.PathLike[str]) -> bool:
        """Whether a file holds such a secret, so that nothing else is written there."""
        try:
            with Path(path).open("rb") as stream:
                return stream.read(len(self.header)) == self.header.encode()
        except OSError:
            return False

    def _decode(self, content: bytes, file: Path) -> bytes:
        words = content.decode("ascii", errors="replace").split()
        try:
            header, encoded = words
            secret = base64.b64decode(encoded, validate=True)
        except ValueError:
            header, secret = "", b""
        if header != self.header or len(secret) != self.n_bytes:
            raise ParameterError(
                self.owner, f"file {str(file)!r} must be a key file of this package", hint=f"Make one with {self.make}."
            ) from None
        return secret
