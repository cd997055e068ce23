"""Ordered domains with one gap: values may stand together when their codes differ by d or more."""

from __future__ import annotations

import numpy as np

from ldiversity.mechanisms._compatibility import Compatibility

__all__ = ["even_gap"]


def even_gap(compatibility: Compatibility) -> int | None:
    """Return the least allowed difference of codes when it alone decides, else None.

    F when no pair is allowed at all.

    Examples
    --------
    >>> steps = abs(np.subtract.outer(np.arange(5), np.arange(5)))
    >>> even_gap(Compatibility(steps >= 2))
    2
    """
    size = len(compatibility)
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    gap = int(np.where(compatibility.allowed, steps, size).min(initial=size))
    return gap if np.array_equal(compatibility.allowed, steps >= gap) else None
