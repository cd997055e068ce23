"""Every exception and warning of this package.

::

    LDiversityError
    ├── ParameterError      an argument breaks its rule
    ├── SchemaError         a table or one of its columns breaks a rule
    ├── InfeasibleError     the goal cannot be met; names the bound and the nearest goal that can
    ├── UnsupportedError    a known combination that is not offered, or an extra that is not installed
    ├── ReleaseFormatError  a published folder is damaged, hostile or of an unknown version
    ├── StorageError        a file cannot be read or written
    ├── NotEnoughMemoryError  there is too little memory for the table
    ├── ClaimError          what was produced does not satisfy its own claim; nothing was published
    └── InternalError       a fault of this package

    LDiversityWarning       something is allowed, and the user should know what it costs

A message is one sentence that names the column or parameter and the rule; `hint` is the way out.
Messages quote parameters and declared labels, never cells of the source table: not those of quasi-identifiers either,
nor values of a domain or hierarchy, which may have been read off the table. They are counted.
"""

from __future__ import annotations

__all__ = [
    "ClaimError",
    "InfeasibleError",
    "InternalError",
    "LDiversityError",
    "LDiversityWarning",
    "NotEnoughMemoryError",
    "ParameterError",
    "ReleaseFormatError",
    "SchemaError",
    "StorageError",
    "UnsupportedError",
]


class LDiversityError(Exception):
    """Base of all errors that this package raises on purpose.

    Parameters
    ----------
    message
        One sentence: the column or parameter, and the rule it breaks.
    hint
        The way out, as a sentence of its own.

    Examples
    --------
    >>> print(ParameterError("RandomizedAddition: l must be at least 2, got 1.", hint="Use l=2 or more."))
    RandomizedAddition: l must be at least 2, got 1.
    Hint: Use l=2 or more.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nHint: {self.hint}"


class ParameterError(LDiversityError, ValueError):
    """An argument breaks its rule."""


class SchemaError(LDiversityError, ValueError):
    """A table, or one of its columns, breaks a rule."""


class InfeasibleError(LDiversityError, ValueError):
    """The goal cannot be met on this domain or table.

    Attributes
    ----------
    nearest
        Feasible settings close to the one that was asked for, for example ``[{"l": 2, "d": 3}]``.
    """

    def __init__(self, message: str, *, hint: str | None = None, nearest: list[dict[str, float]] | None = None) -> None:
        super().__init__(message, hint=hint)
        self.nearest = nearest or []


class UnsupportedError(LDiversityError, NotImplementedError):
    """A combination that is not offered, or an optional package that is not installed."""


class ReleaseFormatError(LDiversityError, ValueError):
    """A published folder is damaged, hostile or of an unknown version."""


class StorageError(LDiversityError, OSError):
    """A file cannot be read or written."""

    # OSError has an `__str__` of its own, made from errno; ours is the sentence.
    __str__ = LDiversityError.__str__


class NotEnoughMemoryError(LDiversityError, MemoryError):
    """There is too little memory for the table."""


class ClaimError(LDiversityError):
    """What was produced does not satisfy its own claim; nothing was published."""


class InternalError(LDiversityError):
    """A fault of this package, not of its user."""


class LDiversityWarning(UserWarning):
    """Something is allowed, and the user should know what it costs."""
