"""The number of steps between two values in the order of their domain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from ldiversity.base.arrays import Json
from ldiversity.base.warned import warn
from ldiversity.distances._base import Distance
from ldiversity.distances._shared import check_keys, check_size
from ldiversity.errors import LDiversityWarning
from ldiversity.sentences import Named, say

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray, Scalar
    from ldiversity.schema import Domain

__all__ = ["OrderedDistance"]


@dataclass(frozen=True)
class OrderedDistance(Distance):
    """The difference of two values' positions in the domain, ``|i - j|`` of their codes.

    The category of missing values has the position at which the domain lists it: last, if the domain was read from
    a table.

    Parameters
    ----------
    published
        Whether the order was already published, as in a release that is read. Then a domain without a declared
        order raises no warning, because nothing is left to decide.

    Warns
    -----
    LDiversityWarning
        When the domain declares no order, so that its values are in alphabetical order; once per domain.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> OrderedDistance().matrix(Domain(("low", "middle", "high"), ordered=True))
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    """

    published: bool = field(default=False, repr=False, compare=False)
    _told: set[tuple[Scalar, ...]] = field(default_factory=set, init=False, repr=False, compare=False)

    kind: ClassVar[str] = "ordered"
    form: ClassVar[str] = "ordered"

    def matrix(self, domain: Domain) -> FloatArray:
        """Distances between all values of `domain`, shape (F, F), in code order."""
        if not (domain.ordered or self.published or domain.values in self._told):
            self._told.add(domain.values)
            rule = say(
                "the order of the values is alphabetical because none was declared; declare the domain, with its "
                "values in their order{}",
                Named(" and ordered=True", ""),
            )
            warn(LDiversityWarning(type(self).__name__, rule))
        places = np.arange(check_size(type(self).__name__, domain), dtype=np.float64)
        return np.abs(places[:, None] - places)

    def to_dict(self, domain: Domain) -> dict[str, Json]:  # noqa: ARG002 - the domain holds the order
        """Describe the distance in JSON's types."""
        return {"kind": self.kind}

    @classmethod
    def from_dict(cls, described: dict[str, Json], domain: Domain) -> Self:  # noqa: ARG003 - same
        """Read what `to_dict` wrote; the description is not trusted."""
        check_keys(cls.kind, described, ())
        return cls(published=True)
