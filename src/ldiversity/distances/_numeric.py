"""The difference of two numbers, in a unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from ldiversity.base.arrays import Json
from ldiversity.base.checks import check_number
from ldiversity.base.limits import LARGEST_NUMBER, are_measurable
from ldiversity.distances._base import Distance
from ldiversity.distances._shared import check_keys, check_size, refusing, spread
from ldiversity.errors import SchemaError

if TYPE_CHECKING:
    from pathlib import Path

    from ldiversity.base.arrays import FloatArray
    from ldiversity.schema import Domain

__all__ = ["NumericDistance"]

_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class NumericDistance(Distance):
    """The difference of two values' positions, ``|x - y| / unit``.

    The positions come from the domain: the numbers themselves, or the middles of bins. The distance of a value
    without a position, such as the category of missing values, from everything else is the greatest one that occurs.

    Parameters
    ----------
    unit
        The difference that counts as distance 1, greater than 0.

    Notes
    -----
    A ratio within one part in 10^9 of a whole number counts as that number. So 0.3 and 0.1 are at distance 2 in the
    unit 0.1, although their binary quotient is a little less.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> NumericDistance(unit=10).matrix(Domain((20, 25, 40), ordered=True, positions=(20, 25, 40)))
    array([[0. , 0.5, 2. ],
           [0.5, 0. , 1.5],
           [2. , 1.5, 0. ]])
    """

    unit: float = 1.0

    kind: ClassVar[str] = "numeric"
    form: ClassVar[str] = "numeric:<unit>"

    @classmethod
    def from_text(cls, argument: str | None, base: Path) -> Distance:
        """Take the number after the colon as the unit; without a number, the unit is 1."""
        del base
        return cls() if argument is None else cls(float(argument))

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", check_number("NumericDistance", "unit", self.unit, above=0))

    def matrix(self, domain: Domain) -> FloatArray:
        """Distances between all values of `domain`, shape (F, F), in code order.

        Raises
        ------
        SchemaError
            When the domain has no positions, or one of them is infinite.
        """
        size = check_size("NumericDistance", domain)
        positions = _positions(domain)
        codes = np.flatnonzero(~np.isnan(positions))
        with np.errstate(over="ignore"):
            ratios = np.abs(positions[codes, None] - positions[codes]) / self.unit
        if not np.isfinite(ratios).all():
            raise SchemaError(
                "NumericDistance", "distances", f"must be finite, but in the unit {self.unit!r} they overflow"
            ).with_hint("Use a larger unit.")
        whole = np.rint(ratios)
        near = np.abs(ratios - whole) <= _ROUNDING * whole
        return spread(np.where(near, whole, ratios), codes.tolist(), size)

    def to_dict(self, domain: Domain) -> dict[str, Json]:  # noqa: ARG002 - the domain holds the positions
        """Describe the distance in JSON's types."""
        return {"kind": self.kind, "unit": self.unit}

    @classmethod
    def from_dict(cls, described: dict[str, Json], domain: Domain) -> NumericDistance:
        """Read what `to_dict` wrote; the description is not trusted."""
        unit: Any = check_keys(cls.kind, described, ["unit"])["unit"]
        with refusing(cls.kind):
            distance = cls(unit=unit)
            _positions(domain)
        return distance


def _positions(domain: Domain) -> FloatArray:
    if domain.positions is None:
        raise SchemaError("NumericDistance", "the values of the domain must be numbers or bins of numbers").with_hint(
            "Use 'ordered' for values with an order, or 'discrete'."
        )
    positions = np.asarray(domain.positions, dtype=np.float64)
    infinite = int(np.count_nonzero(np.isinf(positions)))
    if infinite:
        raise SchemaError("NumericDistance", "positions", "must be finite", got=f"{infinite} that are not").with_hint(
            "Give open bins an outer edge, or use 'ordered'."
        )
    if not are_measurable(positions[~np.isnan(positions)]):
        raise SchemaError(
            "NumericDistance", "values", f"must lie between {-LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}"
        ).with_hint("Give them in a larger unit, or use 'ordered'.")
    return positions
