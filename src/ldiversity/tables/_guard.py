"""Turn exceptions of other packages into ours, because theirs quote cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.errors import LDiversityError, SchemaError

__all__ = ["guarded"]


@contextmanager
def guarded(*said: str, column: str | None = None, got: object = None, hint: str) -> Iterator[None]:
    """Raise `SchemaError` in place of any exception that is not ours.

    The cause is left out on purpose: it may quote a cell. A lack of memory is reported as such.

    Examples
    --------
    >>> with guarded("table", "the table must be readable", hint="Write it again."):
    ...     int("a secret cell")
    Traceback (most recent call last):
    ldiversity.errors.SchemaError: table: the table must be readable.
    Hint: Write it again.
    """
    try:
        yield
    except LDiversityError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever another package may raise
        if lacks_memory(error):
            raise not_enough_memory(said[0]) from None
        raise SchemaError(*said, column=column, got=got, hint=hint) from None
