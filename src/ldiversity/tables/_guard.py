"""Exceptions of other packages, turned into ours: theirs quote cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from ldiversity.errors import LDiversityError, SchemaError

__all__ = ["guarded"]


@contextmanager
def guarded(message: str, *, hint: str) -> Iterator[None]:
    """Raise `SchemaError` with this message in place of any exception that is not ours.

    The cause is left out on purpose. Only the lack of memory passes, which is no fault of the table, unless
    Arrow tells it: a damaged file may ask for any amount.

    Examples
    --------
    >>> with guarded("table: the table must be readable.", hint="Write it again."):
    ...     int("a secret cell")
    Traceback (most recent call last):
    ldiversity.errors.SchemaError: table: the table must be readable.
    Hint: Write it again.
    """
    try:
        yield
    except LDiversityError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) and not isinstance(error, pa.ArrowException):
            raise
        raise SchemaError(message, hint=hint) from None
