"""Errors about a release that is damaged, or made to do harm."""

from __future__ import annotations

import pyarrow as pa

from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.errors import LDiversityError, NotEnoughMemoryError, ReleaseFormatError

__all__ = ["damage", "damaged"]


def damaged(rule: str) -> ReleaseFormatError:
    """The error of a file that breaks a rule."""
    return ReleaseFormatError("release", rule, hint="The release is damaged; ask the publisher for a good copy.")


class damage:  # noqa: N801 - reads as a clause: `with damage(attribute):`
    """Turn any error about a column into one about a damaged release."""

    def __init__(self, attribute: str) -> None:
        self._attribute = attribute

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ReleaseFormatError | NotEnoughMemoryError):
            return  # says already what is wrong
        if lacks_memory(error):
            raise not_enough_memory("release") from None
        if isinstance(error, LDiversityError):
            raise damaged(f"column {self._attribute!r} must hold values of its domain") from None
        if isinstance(error, pa.ArrowException | ArithmeticError | LookupError | TypeError | ValueError):
            raise damaged(f"column {self._attribute!r} cannot be read") from None
