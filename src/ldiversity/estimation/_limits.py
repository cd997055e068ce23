"""How much of an estimate may be in memory at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ldiversity.base.numbers import in_bytes
from ldiversity.errors import ParameterError

if TYPE_CHECKING:
    from ldiversity.base.budget import Budget

__all__ = ["CELL_LIMIT", "Limits"]

CELL_LIMIT: Final = 20_000_000
"""The most numbers, cells times values, that one estimate may have."""

_ENTRY_LIMIT: Final = 4_000_000
"""The most different values or sets where no memory was set."""

_PROGRAM: Final = 350_000_000
"""What Python, its packages, the compiled loops and some rows of the release take."""

_LEAST: Final = 400_000_000

_NUMBER_BYTES: Final = 800
"""What a number of the answer takes at the peak: its count, its errors, its limits, and its line in print."""

_SET_BYTES: Final = 200
"""What a counted set takes at the peak: its words while they are counted, then its members and their likelihoods."""

_VALUE_BYTES: Final = 150
"""What a value of a column takes while different values are gathered."""

_ROW_BYTES: Final = 100
"""What a record takes where an estimator asks for all sets one by one."""


_CLASS_ROW_BYTES: Final = 800
"""What a row takes while the classes of a range are summed up."""

_CLASS_ROWS: Final = 2_000_000


@dataclass(frozen=True)
class Limits:
    """The most of everything that may be in memory at once.

    Parameters
    ----------
    numbers
        Numbers of the answer: cells times values.
    sets
        Different sets by cell, or kinds of classes.
    values
        Different values, or regions, of a column.
    rows
        Records whose sets are listed one by one.
    class_rows
        Rows of the classes that are summed up at a time.
    """

    numbers: int
    sets: int
    values: int
    rows: int
    class_rows: int = _CLASS_ROWS

    @classmethod
    def within(cls, budget: Budget | None) -> Limits:
        """What fits into a budget; what an answer may have at all where there is none.

        Half of what is left is for the answer, and half for what is counted.

        Examples
        --------
        >>> from ldiversity.base.budget import Budget
        >>> Limits.within(Budget("500MB")).sets
        375000
        """
        if budget is None:
            return cls(CELL_LIMIT, _ENTRY_LIMIT, _ENTRY_LIMIT, CELL_LIMIT)
        if budget.bytes < _LEAST:
            raise ParameterError(
                "estimate", "memory", f"must be at least {in_bytes(_LEAST)}", got=in_bytes(budget.bytes)
            ).with_hint(f"An estimate takes {in_bytes(_PROGRAM)} before anything is counted.")
        half = (budget.bytes - _PROGRAM) // 2
        return cls(
            min(CELL_LIMIT, half // _NUMBER_BYTES),
            half // _SET_BYTES,
            half // _VALUE_BYTES,
            budget.rows(_ROW_BYTES),
            min(_CLASS_ROWS, budget.rows(_CLASS_ROW_BYTES)),
        )
