"""The number of steps between two values around a circle, as between weekdays or months."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldiversity.distances._ordered import OrderedDistance

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.schema import Domain

__all__ = ["CyclicDistance"]


@dataclass(frozen=True)
class CyclicDistance(OrderedDistance):
    """The steps between two values around a circle, ``min(|i - j|, F - |i - j|)`` of their codes.

    The last value is beside the first one: December is as near to January as to November. The category of missing
    values is on the circle where the domain lists it.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> CyclicDistance().matrix(Domain(("spring", "summer", "autumn", "winter"), ordered=True))
    array([[0., 1., 2., 1.],
           [1., 0., 1., 2.],
           [2., 1., 0., 1.],
           [1., 2., 1., 0.]])
    """

    kind: ClassVar[str] = "cyclic"
    form: ClassVar[str] = "cyclic"

    def matrix(self, domain: Domain) -> FloatArray:
        """Distances between all values of `domain`, shape (F, F), in code order."""
        one_way = super().matrix(domain)
        return np.minimum(one_way, len(domain) - one_way)
