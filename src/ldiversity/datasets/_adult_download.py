"""Download the Adult files from UCI, with limits, and check them before anything is kept."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import time
import zipfile
import zlib
from http.client import HTTPException
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.request import urlopen

from ldiversity.errors import UnsupportedError

__all__ = ["download_adult"]

URL: Final = "https://archive.ics.uci.edu/static/public/2/adult.zip"
CHECKSUMS: Final = {
    "adult.data": "5d7c39d7b8804f071cdd1f2a7c460872",
    "adult.test": "35238206dfdf7f1fe215bbb874adecdc",
}
"""MD5 of each file: guards against damage, not against malice (the connection is HTTPS)."""

ARCHIVE_LIMIT: Final = 16 * 2**20
MEMBER_LIMIT: Final = 16 * 2**20
SOCKET_SECONDS: Final = 20.0
TOTAL_SECONDS: Final = 300.0
_BLOCK: Final = 2**16
_HINT: Final = "Try again later, or put adult.data and adult.test into the folder that LDIVERSITY_DATA names."


def download_adult(folder: Path) -> Path:
    """Download both files into `folder`, create it if necessary, and return it.

    Nothing is written unless every file has the right checksum.
    """
    members = _unpack(_get(URL))
    for name, content in members.items():
        if hashlib.md5(content, usedforsecurity=False).hexdigest() != CHECKSUMS[name]:
            raise UnsupportedError("adult", f"the downloaded {name} does not have its known checksum", hint=_HINT)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in members.items():
        _write(folder / name, content)
    return folder


def _get(url: str) -> bytes:
    """Read a URL, at most `ARCHIVE_LIMIT` bytes and `TOTAL_SECONDS` seconds."""
    deadline = time.monotonic() + TOTAL_SECONDS
    content = bytearray()
    try:
        with urlopen(url, timeout=SOCKET_SECONDS) as response:  # noqa: S310 - a constant HTTPS address
            while block := response.read(_BLOCK):
                content += block
                if len(content) > ARCHIVE_LIMIT or time.monotonic() > deadline:
                    raise UnsupportedError("adult", "the archive at UCI is too large or too slow", hint=_HINT)
    except HTTPError as error:
        error.close()
        raise UnsupportedError("adult", f"UCI answered with HTTP status {error.code}", hint=_HINT) from None
    except (OSError, HTTPException) as error:
        reason = type(error).__name__
        raise UnsupportedError("adult", f"UCI could not be reached ({reason})", hint=_HINT) from error
    return bytes(content)


def _unpack(archive: bytes) -> dict[str, bytes]:
    """Read the expected members of a zip archive, in memory and by name: no path of the archive is used."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return {name: _member(opened, name) for name in CHECKSUMS}
    except UnsupportedError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise UnsupportedError("adult", "what UCI sent is not a zip archive", hint=_HINT) from error
    except KeyError as error:
        raise UnsupportedError("adult", "the archive from UCI lacks a file", hint=_HINT) from error


def _member(opened: zipfile.ZipFile, name: str) -> bytes:
    with opened.open(name) as stream:  # the declared size may lie, so the bytes are counted
        content = stream.read(MEMBER_LIMIT + 1)
    if len(content) > MEMBER_LIMIT:
        raise UnsupportedError("adult", f"{name} in the archive from UCI is too large", hint=_HINT)
    return content


def _write(path: Path, content: bytes) -> None:
    """Write under another name and rename, so that no reader ever sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
