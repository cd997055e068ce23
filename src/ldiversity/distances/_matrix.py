"""A matrix of distances between named values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldiversity.base.arrays import Json
from ldiversity.base.checks import name_all
from ldiversity.base.numbers import counted
from ldiversity.distances._base import Distance
from ldiversity.distances._shared import MAX_VALUES, check_keys, check_matrix, listed_codes, refusing, spread
from ldiversity.errors import SchemaError
from ldiversity.hierarchies import check_unique, read_cells, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    from numpy.typing import ArrayLike

    from ldiversity.base.arrays import FloatArray, Scalar
    from ldiversity.schema import Domain

__all__ = ["MatrixDistance"]


@dataclass(frozen=True, eq=False, repr=False)
class MatrixDistance(Distance):
    """A matrix of distances between named values.

    Values are matched by their text. The category of missing values may be listed, as None or ``(missing)``. If it
    is not, its distance from everything else is the greatest one that occurs.

    Parameters
    ----------
    values
        The value of each row and column; there may be more than a domain has.
    distances
        Shape (values, values): finite, at least 0, symmetric, and 0 on the diagonal. Two different values may
        be at distance 0, and the triangle inequality is not required.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> MatrixDistance(("a", "b", "c"), [[0, 1, 2], [1, 0, 5], [2, 5, 0]]).matrix(Domain(("c", "b")))
    array([[0., 5.],
           [5., 0.]])
    """

    values: tuple[Scalar, ...]
    distances: FloatArray

    kind: ClassVar[str] = "matrix"
    form: ClassVar[str] = "matrix:<file>"

    def __init__(self, values: Sequence[Scalar], distances: ArrayLike) -> None:
        if len(values) > MAX_VALUES:
            raise SchemaError("MatrixDistance", f"there must be at most {MAX_VALUES} values", got=len(values))
        check_unique("MatrixDistance", "values", map(text_of, values))
        try:
            numbers = np.array(distances if values else np.empty((0, 0)), dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise SchemaError(
                "MatrixDistance", "distances", "must be rows of numbers, one row and one column per value"
            ) from error
        checked = check_matrix("MatrixDistance", numbers, values)
        checked.flags.writeable = False
        object.__setattr__(self, "values", tuple(values))
        object.__setattr__(self, "distances", checked)

    @classmethod
    def from_text(cls, argument: str | None, base: Path) -> Distance:
        """Read the named file."""
        if not argument:
            raise ValueError(argument)
        return cls.read(base / argument)

    @classmethod
    def read(cls, path: str | PathLike[str], *, delimiter: str | None = None) -> MatrixDistance:
        """Read a file whose first line and first column name the values, each in any order.

        The cell in the corner is not read, and may be empty.
        """
        lines = read_cells("MatrixDistance", path, delimiter=delimiter)
        columns = lines[0][1][1:]
        names = [cells[0] for _, cells in lines[1:]]
        check_unique("MatrixDistance", "values of the first line", columns)
        check_unique("MatrixDistance", "values of the first column", names)
        unpaired = sorted(set(columns) ^ set(names))
        if unpaired:
            raise SchemaError(
                "MatrixDistance",
                f"the first line and column of {str(path)!r} must name the same values, but "
                f"{name_all(unpaired, 'is', 'are')} in one of them only",
            )
        numbers = np.array([_numbers(path, line, cells, len(columns)) for line, cells in lines[1:]])
        place = {name: column for column, name in enumerate(columns)}
        return cls(names, numbers.reshape(len(names), len(names))[:, [place[name] for name in names]])

    def __repr__(self) -> str:
        return f"MatrixDistance({counted(len(self.values), 'value')})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MatrixDistance):
            return NotImplemented
        return self._row_of == other._row_of and np.array_equal(self.distances, other.distances)

    def __hash__(self) -> int:
        return hash((tuple(self._row_of), self.distances.tobytes()))

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {text_of(value): row for row, value in enumerate(self.values)}

    def matrix(self, domain: Domain) -> FloatArray:
        """Distances between all values of `domain`, shape (F, F), in code order."""
        codes = listed_codes("MatrixDistance", domain, lambda value: text_of(value) in self._row_of)
        rows = [self._row_of[domain.labels[code]] for code in codes]
        return spread(self.distances[np.ix_(rows, rows)], codes, len(domain))

    def to_dict(self, domain: Domain) -> dict[str, Json]:
        """Describe the distances between the values of `domain` in JSON's types.

        Row i holds the distances of value i to the values before it.
        """
        return {"kind": self.kind, "below": [row[:i].tolist() for i, row in enumerate(self.matrix(domain))]}

    @classmethod
    def from_dict(cls, described: dict[str, Json], domain: Domain) -> MatrixDistance:
        """Read what `to_dict` wrote; the description is not trusted."""
        below = check_keys(cls.kind, described, ["below"])["below"]
        with refusing(cls.kind):
            size = len(domain)
            if not isinstance(below, list) or len(below) != size:
                raise SchemaError("MatrixDistance", "below", f"must have {size} rows, one per value")
            numbers = np.zeros((size, size))
            for i, row in enumerate(below):
                if not isinstance(row, list) or len(row) != i or not set(map(type, row)) <= {int, float}:
                    raise SchemaError("MatrixDistance", f"row {i} of below must be a list of {i} numbers")
                numbers[i, :i] = row
            return cls(domain.values, numbers + numbers.T)


def _numbers(path: str | PathLike[str], line: int, cells: list[str], size: int) -> list[float]:
    if len(cells) != size + 1:
        raise SchemaError("MatrixDistance", f"line {line} of {str(path)!r} must have {size} distances")
    try:
        return [float(cell) for cell in cells[1:]]
    except ValueError as error:
        raise SchemaError("MatrixDistance", f"line {line} of {str(path)!r} must hold only numbers") from error
