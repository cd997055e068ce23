"""The public description of how an answer is hidden, as a survey carries it: no more kinds than a device can check."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Final, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["BalancedForm", "DistanceForm", "Mechanism", "Part", "UniformForm", "allowed_pairs", "kinds_of"]

MOST_LEVELS: Final = 16
"""How many labels a row of a tree may have."""

_ROUNDING: Final = 1e-9

_NEWEST: Final = 2
"""The newest version of mechanisms that devices know."""

Positive: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Matrix: TypeAlias = list[list[float]]
AtLeastZero: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Version: TypeAlias = Annotated[int, Field(ge=1, le=_NEWEST)]


class Part(BaseModel):
    """A part of a survey: frozen, of exact types, without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class DiscreteForm(Part):
    """Any two values are at distance 1."""

    kind: Literal["discrete"]

    def between(self, values: Sequence[str], positions: Sequence[float] | None) -> Matrix | None:  # noqa: ARG002
        """The distances between all values."""
        codes = range(len(values))
        return [[float(i != j) for j in codes] for i in codes]


class OrderedForm(Part):
    """Values that are k places apart are at distance k."""

    kind: Literal["ordered"]

    def between(self, values: Sequence[str], positions: Sequence[float] | None) -> Matrix | None:  # noqa: ARG002
        """The distances between all values."""
        codes = range(len(values))
        return [[float(abs(i - j)) for j in codes] for i in codes]


class CyclicForm(Part):
    """Values that are k places apart around a circle, on which the last is beside the first, are at distance k."""

    kind: Literal["cyclic"]

    def between(self, values: Sequence[str], positions: Sequence[float] | None) -> Matrix | None:  # noqa: ARG002
        """The distances between all values."""
        size = len(values)
        return [[float(min((i - j) % size, (j - i) % size)) for j in range(size)] for i in range(size)]


class NumericForm(Part):
    """The difference of the values' positions, in units."""

    kind: Literal["numeric"]
    unit: Positive

    def between(self, values: Sequence[str], positions: Sequence[float] | None) -> Matrix | None:
        """The distances between all values; None if there is no position for each of them."""
        if positions is None or len(positions) != len(values):
            return None
        between = [[_ratio(abs(one - other), self.unit) for other in positions] for one in positions]
        return between if all(map(math.isfinite, (each for row in between for each in row))) else None


class TreeForm(Part):
    """The number of levels on which two values have different labels; one row per value, from the value to the root."""

    kind: Literal["tree"]
    rows: Annotated[
        list[Annotated[list[Annotated[str, Field(max_length=120)]], Field(max_length=MOST_LEVELS)]],
        Field(max_length=512),
    ]

    def between(self, values: Sequence[str], positions: Sequence[float] | None) -> Matrix | None:  # noqa: ARG002
        """The distances between all values; None if the rows are not those of the values, or no tree."""
        rows = {row[0]: row for row in self.rows if row}
        if len({len(row) for row in self.rows}) != 1 or set(rows) != set(values) or len(self.rows) != len(values):
            return None
        levels = list(zip(*self.rows, strict=True))
        # A label has one label above it, and all meet at the root.
        if (
            any(len(set(zip(*two, strict=True))) > len(set(two[0])) for two in pairwise(levels))
            or len(set(levels[-1])) > 1
        ):
            return None
        paths = [rows[value] for value in values]
        return [[float(sum(a != b for a, b in zip(one, other, strict=True))) for other in paths] for one in paths]


class MatrixForm(Part):
    """Row i has the distances of value i to the values before it."""

    kind: Literal["matrix"]
    below: Annotated[list[list[AtLeastZero]], Field(max_length=512)]

    def between(self, values: Sequence[str], positions: Sequence[float] | None) -> Matrix | None:  # noqa: ARG002
        """The distances between all values; None if there is no row for each of them."""
        codes = range(len(values))
        if [len(row) for row in self.below] != list(codes):
            return None
        return [[0.0 if i == j else self.below[max(i, j)][min(i, j)] for j in codes] for i in codes]


DistanceForm: TypeAlias = Annotated[
    DiscreteForm | OrderedForm | CyclicForm | NumericForm | TreeForm | MatrixForm, Field(discriminator="kind")
]


class UniformForm(Part):
    """Any `l` values, all equally likely."""

    kind: Literal["uniform"]
    version: Version
    n_values: Annotated[int, Field(ge=3, le=2048)]
    l: Annotated[int, Field(ge=2, le=64)]


class BalancedForm(Part):
    """`l` values at least `d` apart, equally likely from each of them; `fitted` are the weights of the values."""

    kind: Literal["balanced"]
    version: Version
    l: Annotated[int, Field(ge=2, le=64)]
    d: AtLeastZero
    distance: DistanceForm
    fitted: Annotated[list[Positive], Field(min_length=3, max_length=512)]


Mechanism: TypeAlias = Annotated[UniformForm | BalancedForm, Field(discriminator="kind")]


def kinds_of(union: object) -> frozenset[str]:
    """The kinds that a union of forms tells apart.

    Examples
    --------
    >>> sorted(kinds_of(Mechanism))
    ['balanced', 'uniform']
    """
    forms: Sequence[type[BaseModel]] = get_args(get_args(union)[0])
    return frozenset(str(get_args(form.model_fields["kind"].annotation)[0]) for form in forms)


def allowed_pairs(
    form: BalancedForm, values: Sequence[str], positions: Sequence[float] | None
) -> list[list[bool]] | None:
    """Which values are at least `d` apart; None if the distance does not cover the values."""
    between = form.distance.between(values, positions)
    if between is None:
        return None
    return [[i != j and distance >= form.d for j, distance in enumerate(row)] for i, row in enumerate(between)]


def _ratio(difference: float, unit: float) -> float:
    """Within one part in 10^9 of a whole number, a ratio counts as that number, as in `NumericDistance`."""
    ratio = difference / unit
    whole = math.floor(ratio + 0.5) if math.isfinite(ratio) else ratio
    return float(whole) if abs(ratio - whole) <= _ROUNDING * whole else ratio
