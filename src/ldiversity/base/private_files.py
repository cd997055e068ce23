"""Files that only their owner may read."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["replace_private", "write_private"]


def write_private(file: Path, content: bytes) -> None:
    """Write a new file with mode 0600, on disk when this returns; where it cannot be written, nothing is left of it.

    Raises
    ------
    FileExistsError
        When there is one: it is never overwritten.
    OSError
        When it cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "codes.txt"
    ...     write_private(file, b"code")
    ...     f"{file.stat().st_mode & 0o777:o}"
    '600'
    """
    # Created with its final mode: at no moment can others read it.
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError:
        file.unlink(missing_ok=True)
        raise


def replace_private(file: Path, content: bytes) -> None:
    """Write a file with mode 0600 in one step: a reader finds the old one or the new one, also after a crash.

    Raises
    ------
    OSError
        When it cannot be written; the old one is then as it was.
    """
    beside = file.with_name(f"{file.name}.new")
    beside.unlink(missing_ok=True)  # what a crash left
    write_private(beside, content)
    beside.replace(file)
