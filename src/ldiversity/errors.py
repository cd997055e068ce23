"""Every exception and warning of this package.

::

    LDiversityError
    ├── ParameterError      an argument breaks its rule
    ├── SchemaError         a table or one of its columns breaks a rule
    ├── InfeasibleError     the goal cannot be met; names the bound and the nearest goal that can
    ├── UnsupportedError    a known combination that is not offered, or an extra that is not installed
    ├── ReleaseFormatError  a published folder is damaged, hostile or of an unknown version
    ├── StorageError        a file or a database cannot be read or written
    │   └── BusyError       not now: the same may work in a moment
    ├── NotEnoughMemoryError  there is too little memory for the table
    ├── ClaimError          what was produced does not satisfy its own claim; nothing was published
    └── InternalError       a fault of this package

    LDiversityWarning       something is allowed, and the user should know what it costs

An error carries its parts as data: who complains or what is wrong (`owner`), the parameter or column, the rule, what
was given instead (`got`) and the way out (`hint`). The message is one sentence made of these parts; a face may word it
differently.
Messages quote parameters and declared labels, never a cell of the source table. That includes quasi-identifiers, and
the values of a domain or hierarchy, which may come from the table. Messages count these instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Self

from ldiversity.sentences import Owner, Parameter, Sentence, type_word

__all__ = [
    "BusyError",
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


class _Said(Exception):  # noqa: N818 - the base of warnings too
    """What errors and warnings have in common: a sentence made of fields.

    Parameters
    ----------
    said
        The rule alone, or after the owner, or after the owner and the parameter. The owner is the function or class in
        Python whose argument it is, or what breaks the rule: a file, ``"table"``, ``"release"``. The rule says what
        must hold, or what is wrong; a full stop is added where there is none.
    parameter
        The name of the argument, if no owner is named before it.
    column
        The column that it is about.
    got
        What was given instead. Never a cell of the source. A type of Arrow becomes the word for it.
    hint
        The way out, as a separate sentence.
    """

    def __init__(
        self,
        *said: str,
        parameter: str | None = None,
        column: str | None = None,
        got: object = None,
        hint: str | None = None,
    ) -> None:
        *before, self.rule = said
        self.owner = before[0] if before else None
        self.parameter = before[1] if len(before) > 1 else parameter
        self.column, self.got, self.hint = column, None if got is None else _told(got), hint
        self.message = self._sentence()
        super().__init__(self.message)

    def _sentence(self) -> Sentence:
        head: list[str | Owner | Parameter] = []
        if self.owner is not None:
            head.append(Owner(self.owner))
        if self.parameter is not None:
            head += [Parameter(self.parameter), " "]
        elif self.column is not None:
            head.append(f"column {self.column!r} " if head else f"{self.column}: ")
        tail = f", got {self.got}." if self.got is not None else "" if self.rule.endswith((".", "?")) else "."
        return Sentence(*head, self.rule, tail)

    def with_hint(self, hint: str | None) -> Self:
        """Add the way out, and return this error."""
        self.hint = hint
        return self

    def about(self, column: str, said: str | None = None) -> None:
        """Name the column that this is about, once it is known.

        Parameters
        ----------
        column
            The name of the column.
        said
            What to write before the message; by default the name of the column.
        """
        self.column = column
        self.message = Sentence(f"{column if said is None else said}: ", self.message)

    def rename(self, owner: str) -> None:
        """Name another owner, such as the function that was called where this one was found inside it."""
        said = Owner(self.owner) if self.owner is not None else None
        self.owner = owner
        self.message = Sentence(*(Owner(owner) if part == said else part for part in self.message.parts))

    def spell(self, spelled: Callable[[str], Sentence]) -> None:
        """Write what message and hint mention in another spelling, such as that of the keys of a file."""
        self.message = spelled(self.message)
        self.hint = None if self.hint is None else spelled(self.hint)

    def __str__(self) -> str:
        return str(self.message) if self.hint is None else f"{self.message}\nHint: {self.hint}"


def _told(got: object) -> str:
    return type_word(got) if type(got).__module__.startswith("pyarrow") else f"{got}"


class LDiversityError(_Said):
    """Base of all errors that this package raises on purpose.

    Attributes
    ----------
    message
        One sentence: the column or parameter, and the rule it breaks.
    hint
        The way out, as a separate sentence.
    owner, parameter, rule, column, got
        What the message was made of, where it is known.
    exit_code
        The exit code of a program that fails for this reason.

    Examples
    --------
    >>> fault = ParameterError("RandomizedAddition", "l", "must be at least 2", got=1, hint="Use l=2 or more.")
    >>> print(fault)
    RandomizedAddition: l must be at least 2, got 1.
    Hint: Use l=2 or more.
    >>> fault.parameter, fault.got, fault.exit_code
    ('l', '1', 2)
    """

    exit_code: ClassVar[int] = 2

    @property
    def __context__(self) -> BaseException | None:
        """What was handled when this was raised; None where it was left out (``from None``): it may quote a cell."""
        return None if self.__suppress_context__ else super().__context__

    @__context__.setter
    def __context__(self, context: BaseException | None) -> None:
        BaseException.__dict__["__context__"].__set__(self, context)


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

    def __init__(
        self,
        *said: str,
        column: str | None = None,
        got: object = None,
        hint: str | None = None,
        nearest: list[dict[str, float]] | None = None,
    ) -> None:
        super().__init__(*said, column=column, got=got, hint=hint)
        self.nearest = nearest or []


class UnsupportedError(LDiversityError, NotImplementedError):
    """A combination that is not offered, or an optional package that is not installed."""


class ReleaseFormatError(LDiversityError, ValueError):
    """A published folder is damaged, hostile or of an unknown version."""


class StorageError(LDiversityError, OSError):
    """A file or a database cannot be read or written."""

    # OSError has an `__str__` of its own, made from errno; ours is the sentence.
    __str__ = LDiversityError.__str__


class BusyError(StorageError):
    """Too much is waiting, or others use the storage: the same may work in a moment."""


class NotEnoughMemoryError(LDiversityError, MemoryError):
    """There is too little memory for the table."""

    exit_code = 71  # the same command may work on another machine, or at another time


class ClaimError(LDiversityError):
    """What was produced does not satisfy its own claim; nothing was published."""


class InternalError(LDiversityError):
    """A fault of this package, not of its user."""

    exit_code = 70


class LDiversityWarning(_Said, UserWarning):
    """Something is allowed, and the user should know what it costs."""
