"""Text files in other encodings than UTF-8: read, or refused with the encoding that would fit."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Final

import pyarrow as pa

from ldiversity.errors import SchemaError
from ldiversity.sentences import Setting, say

__all__ = ["fitting_encoding", "misfit", "text_stream"]

_HEAD_BYTES: Final = 1 << 20
_MARKS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CANDIDATES: Final = ("utf-8", "cp1252", "latin-1")
_LONGEST_CHARACTER: Final = 4


def text_stream(path: Path, encoding: str | None) -> pa.NativeFile:
    """The bytes of a text file in UTF-8, unpacked where its name ends in ``.gz``."""
    stream = pa.input_stream(str(path), compression="gzip" if path.suffix.lower() == ".gz" else None)
    return stream if encoding is None else pa.transcoding_input_stream(stream, encoding, "utf-8")


def misfit(path: Path, encoding: str | None) -> SchemaError:
    """The error about a file whose bytes are not text in an encoding, with the one to try."""
    with text_stream(path, None) as stream:
        fitting = fitting_encoding(stream.read(_HEAD_BYTES))
    said = "UTF-8 text" if encoding is None else f"text in {encoding}"
    error = SchemaError(path.name, f"the file must be {said}", got="bytes that are not")
    if fitting in {None, encoding} or (encoding is None and fitting == "utf-8"):  # the fault is further down
        return error.with_hint('Save it again with the encoding "UTF-8" (in Excel: "CSV UTF-8").')
    setting = Setting("encoding", str(fitting), python=f"read={{'encoding': {fitting!r}}}")
    if fitting == "utf-8":
        return error.with_hint(say("It looks like UTF-8: leave the encoding out, or try {}.", setting))
    return error.with_hint(
        say('Try {}, and look whether its letters come out right; or save the file again as "CSV UTF-8".', setting)
    )


def fitting_encoding(head: bytes) -> str | None:
    """The encoding in which a file's first bytes are text, as far as bytes can tell; None when none fits.

    Examples
    --------
    >>> fitting_encoding("Jürgen".encode("cp1252")), fitting_encoding("age".encode("utf-16"))
    ('cp1252', 'utf-16')
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if b"\x00" in head:
        even, odd = head[::2].count(0), head[1::2].count(0)
        return ("utf-16-be" if even > odd else "utf-16-le") if even != odd else None
    for encoding in _CANDIDATES:
        try:
            head.decode(encoding)
        except UnicodeDecodeError as error:
            if encoding == "utf-8" and 0 < len(head) - error.start < _LONGEST_CHARACTER and len(head) >= _HEAD_BYTES:
                return encoding  # the head only ends inside a character
        else:
            return encoding
    return None
