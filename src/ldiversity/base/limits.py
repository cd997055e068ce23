"""How large the parts of a release may be: one number each, for those who write, those who read and those who check.

A table that goes beyond one of them is refused before the work, with a sentence; a release that does is damaged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "LARGEST_NUMBER",
    "MOST_CHARACTERS",
    "MOST_CLAIMS",
    "MOST_COLUMNS",
    "MOST_LEVELS",
    "MOST_MANIFEST_BYTES",
    "MOST_MANIFEST_PARTS",
    "MOST_NAME",
    "MOST_VALUES",
    "are_measurable",
]

MOST_COLUMNS: Final = 10_000
"""Published columns."""

MOST_VALUES: Final = 100_000
"""Values of a domain, public values of a generalized column, leaves of a published hierarchy, counted values."""

MOST_CLAIMS: Final = 100
"""Further claims about a sensitive attribute."""

MOST_LEVELS: Final = 64
"""Levels of a hierarchy, leaf and root included."""

MOST_CHARACTERS: Final = 10_000
"""Characters of a text of ``release.json``: a public value of a generalized column, a sentence."""

MOST_NAME: Final = MOST_CHARACTERS // 20
"""Characters of a column's name: sentences quote it, and a quoted character may be ten characters long."""

MOST_MANIFEST_BYTES: Final = 256 * 1024 * 1024
"""Bytes of ``release.json``."""

MOST_MANIFEST_PARTS: Final = 1 << 23
"""Values, lists and objects of ``release.json``; an empty list of two bytes takes far more in memory than a text."""

LARGEST_NUMBER: Final = 1e300
"""Numbers that are subtracted, added up or averaged lie between this and its negative, so that no result overflows."""


def are_measurable(numbers: NDArray[Any]) -> bool:
    """Whether all numbers are finite, and none is larger than `LARGEST_NUMBER`.

    Examples
    --------
    >>> import numpy as np
    >>> are_measurable(np.array([-1.5, 1e300])), are_measurable(np.array([1.7e308]))
    (True, False)
    """
    return -LARGEST_NUMBER <= float(numbers.min(initial=0)) <= float(numbers.max(initial=0)) <= LARGEST_NUMBER
