"""Tell a lack of memory apart from a damaged file and a full disk; each library reports it in its own way."""

from __future__ import annotations

import errno
import re
from typing import Final

from ldiversity.errors import NotEnoughMemoryError

__all__ = ["lacks_memory", "not_enough_memory"]

_SAID: Final = re.compile(
    r"(malloc|realloc|calloc) of size \d+ failed|out of memory|cannot allocate memory|bad_alloc|"
    r"can't start new thread|resource temporarily unavailable",
    re.IGNORECASE,
)
"""What Arrow writes into errors of other kinds, and what a thread that gets no stack reports."""


def lacks_memory(error: BaseException | None) -> bool:
    """Whether an exception says that there is not enough memory.

    Examples
    --------
    >>> lacks_memory(OSError("malloc of size 1048576 failed")), lacks_memory(OSError("No space left on device"))
    (True, False)
    """
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    # An error about values may quote a cell, and the cell may contain these words.
    about_values = isinstance(error, ValueError | TypeError | LookupError)
    return isinstance(error, Exception) and not about_values and _SAID.search(str(error)) is not None


def not_enough_memory(owner: str) -> NotEnoughMemoryError:
    """Build the error for work that needs more memory than there is."""
    return NotEnoughMemoryError(owner, "there must be enough memory", got="too little").with_hint(
        "Close other programs, use a machine with more memory, or take fewer rows or columns; "
        "a damaged file may also ask for any amount."
    )
