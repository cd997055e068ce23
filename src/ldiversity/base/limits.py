"""How large the parts of a release may be. Writers, readers and checks share these limits.

A table beyond a limit is refused before any work is done. A release beyond one is treated as damaged.
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
    "MOST_FILES",
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

MOST_FILES: Final = 100_000
"""Files with the rows of a release, or with the values of one attribute."""

MOST_LEVELS: Final = 64
"""Levels of a hierarchy, leaf and root included."""

MOST_CHARACTERS: Final = 10_000
"""Characters of a text of ``release.json``: a public value of a generalized column, a sentence."""

MOST_NAME: Final = MOST_CHARACTERS // 20
"""Characters of a column's name: messages quote it, and an escaped character may take ten characters."""

MOST_MANIFEST_BYTES: Final = 256 * 1024 * 1024
"""Bytes of ``release.json``."""

MOST_MANIFEST_PARTS: Final = 1 << 23
"""Values, lists and objects of ``release.json``: an empty list takes two bytes there, and far more in memory."""

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
