"""How much memory a run may take."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, SupportsIndex

from ldiversity.base.numbers import in_bytes
from ldiversity.errors import ParameterError

__all__ = ["Budget"]

_UNITS: Final = {"": 1, "B": 1, **{f"{letter}B": 1000**i for i, letter in enumerate("KMGT", 1)}}
_BINARY: Final = {f"{letter}IB": 1024**i for i, letter in enumerate("KMGT", 1)}
_FORM: Final = re.compile(r"([0-9]{1,400}(?:\.[0-9]{1,400})?) ?([A-Za-z]*)")

_PROGRAM: Final = 250_000_000
"""What Python and its packages take before the first row is read."""

_PER_WORKER: Final = 40_000_000
_COUNTED: Final = 200
_COPIES: Final = 32
_LEAST_BITS: Final = 10
_MOST_BITS: Final = 18

_COMPILED: Final = 280_000_000
"""The same with the compiled loops that draw."""

_LEAST: Final = 300_000_000
_MOST: Final = 10**18
"""More than any machine has."""


@dataclass(frozen=True, init=False)
class Budget:
    """The memory that a run may take, the program itself included.

    Parameters
    ----------
    given
        A number of bytes, or a text such as ``"500MB"`` (a million bytes each) or ``"2GiB"`` (1024 to the third).

    Examples
    --------
    >>> Budget("500MB").bytes, Budget("2 GiB").bytes
    (500000000, 2147483648)
    >>> Budget("500MB").rows(1000)
    250000
    >>> Budget("1MB")
    Traceback (most recent call last):
    ldiversity.errors.ParameterError: memory must be at least 300 MB, got '1MB'.
    Hint: Python and its packages take 250 MB before the first row is read; publishing takes at least 400 MB.
    """

    bytes: int

    def __init__(self, given: str | int) -> None:
        number = _number_of_bytes(given)
        if number < _LEAST:
            raise ParameterError(f"must be at least {in_bytes(_LEAST)}", parameter="memory", got=repr(given)).with_hint(
                f"Python and its packages take {in_bytes(_PROGRAM)} before the first row is read; publishing takes at "
                "least 400 MB."
            )
        if number > _MOST:
            raise ParameterError(f"must be at most {_MOST // 10**12} TB", parameter="memory", got="more").with_hint(
                "Leave it out where there is no limit."
            )
        object.__setattr__(self, "bytes", number)

    @property
    def for_rows(self) -> int:
        """The bytes that are left for rows."""
        return self.bytes - _PROGRAM

    @property
    def _for_drawing(self) -> int:
        return max(0, self.bytes - _COMPILED)

    @property
    def most_workers(self) -> int:
        """How many threads may work on rows at the same time."""
        return max(1, self._for_drawing // _PER_WORKER)

    def chunk_rows(self, width: float, workers: int) -> int:
        """How many rows each of some threads may work on at once: a power of two, so that nearly equal tables agree.

        Half of the memory is for them; a row takes twice its bytes and what is counted about it, in each thread, in one
        that waits and in one that is used.
        """
        most = int(self._for_drawing / 2 / ((workers + 2) * (2 * width + _COUNTED)))
        return 1 << max(_LEAST_BITS, min(_MOST_BITS, most.bit_length() - 1))

    def bucket_rows(self, width: float) -> int:
        """How many rows may be put in order at once; there are several copies of them, and the next ones are read."""
        return max(1 << _LEAST_BITS, min(1 << _MOST_BITS, int(self._for_drawing / _COPIES / max(width, 1))))

    def rows(self, bytes_per_row: float) -> int:
        """How many rows may be in memory at once, at least one.

        Parameters
        ----------
        bytes_per_row
            What one row takes in all copies that are in memory at the same time.
        """
        return max(1, int(self.for_rows // max(bytes_per_row, 1)))


def _number_of_bytes(given: str | int) -> int:
    if isinstance(given, SupportsIndex) and not isinstance(given, bool):
        return operator.index(given)
    found = _FORM.fullmatch(given.strip()) if isinstance(given, str) else None
    unit = None if found is None else (_UNITS | _BINARY).get(found[2].upper())
    if found is None or unit is None:
        raise ParameterError(
            "must be a number of bytes, such as '500MB' or '2GiB'", parameter="memory", got=repr(given)
        )
    return int(Fraction(found[1]) * unit)
