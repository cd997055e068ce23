"""Warnings that name the line of the program that called this package, however deep inside they arise."""

from __future__ import annotations

import sys
import warnings

from ldiversity.errors import LDiversityWarning

__all__ = ["warn"]


def warn(warning: str | LDiversityWarning) -> None:
    """Issue a warning at the nearest caller outside this package.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True, action="always") as seen:
    ...     warn("Look at this.")
    >>> str(seen[0].message)
    'Look at this.'
    """
    frame, depth = sys._getframe(1), 2  # noqa: SLF001 - the way to walk the stack
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("ldiversity."):
        frame, depth = frame.f_back, depth + 1
    given = warning if isinstance(warning, LDiversityWarning) else LDiversityWarning(warning)
    warnings.warn(given, stacklevel=depth)
