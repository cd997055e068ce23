"""The distance under which all different values are equally unlike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldiversity.base.arrays import Json
from ldiversity.distances._base import Distance
from ldiversity.distances._shared import check_keys, check_size

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.schema import Domain

__all__ = ["DiscreteDistance"]


@dataclass(frozen=True)
class DiscreteDistance(Distance):
    """0 between a value and itself, 1 between different values: (l, d)-diversity becomes l-diversity.

    The category of missing values is treated like any other value.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> DiscreteDistance().matrix(Domain(("flu", "cold")))
    array([[0., 1.],
           [1., 0.]])
    """

    kind: ClassVar[str] = "discrete"
    form: ClassVar[str] = "discrete"

    def matrix(self, domain: Domain) -> FloatArray:
        """Distances between all values of `domain`, shape (F, F), in code order."""
        return 1.0 - np.eye(check_size("DiscreteDistance", domain))

    def to_dict(self, domain: Domain) -> dict[str, Json]:  # noqa: ARG002 - the same on every domain
        """Describe the distance in JSON's types."""
        return {"kind": self.kind}

    @classmethod
    def from_dict(cls, described: dict[str, Json], domain: Domain) -> DiscreteDistance:  # noqa: ARG003 - same
        """Read what `to_dict` wrote; the description is not trusted."""
        check_keys(cls.kind, described, ())
        return cls()
