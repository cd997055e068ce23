"""How often sets that ignore distances break (l, d)-semantic diversity."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from ldiversity.base.arrays import FloatArray
from ldiversity.mechanisms._arguments import read_only
from ldiversity.mechanisms._compatibility import Compatibility

__all__ = ["Violation", "count_violations"]


@dataclass(frozen=True, eq=False)
class Violation:
    """How often the uniform mechanism publishes a set with two values closer than d.

    Attributes
    ----------
    by_value
        Shape (F,): the exact probability for a record with each true value.
    bound
        For ordered domains, the corrected lower bound of Eq. 11, ``1 - C(F+l+d-dl-2, l-1) / C(F-1, l-1)``. It is the
        probability for the first and for the last value. None for other domains.
    of_table
        A lower bound of the probability that at least one of n records is affected (Eq. 12), from the least of
        `by_value`; None if n was not given.
    """

    by_value: FloatArray
    bound: float | None
    of_table: float | None

    @property
    def least(self) -> float:
        """The probability for the least affected value."""
        return float(self.by_value.min())

    @property
    def greatest(self) -> float:
        """The probability for the most affected value."""
        return float(self.by_value.max())


def count_violations(compatibility: Compatibility, l: int, n: int | None) -> Violation:
    """Compare, for each value, the valid sets that contain it with all sets that contain it."""
    size = len(compatibility)
    total = comb(size - 1, l - 1)
    valid = [compatibility.count_sets(l, containing=v) for v in range(size)]
    by_value = np.array([(total - count) / total for count in valid])
    of_table = None if n is None else float(-np.expm1(n * np.log1p(-by_value.min()))) if max(valid) else 1.0
    gap = compatibility.even_gap
    bound = None if gap is None else 1 - comb(max(size + l + gap - gap * l - 2, 0), l - 1) / total
    return Violation(by_value=read_only(by_value), bound=bound, of_table=of_table)
