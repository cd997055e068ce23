"""Cut numbers into bins: by width, by declared edges or by quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, FloatArray
from ldiversity.base.checks import check_integer, check_number
from ldiversity.base.limits import LARGEST_NUMBER, MOST_VALUES, are_measurable
from ldiversity.base.numbers import counted
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.tables._quantiles import quantile_edges

__all__ = ["MOST_BINS", "NUMBERS_THAT_CAN_BE_CUT", "TOO_LARGE_HINT", "Bins", "Grid", "locate", "numbers_of"]

MOST_BINS: Final = MOST_VALUES
"""The most bins that a column may have: they become its domain."""

NUMBERS_THAT_CAN_BE_CUT: Final = f"from {-LARGEST_NUMBER:g} to {LARGEST_NUMBER:g} to be binned, got larger ones"
TOO_LARGE_HINT: Final = "Give them in a larger unit, or make the cells empty."

_EXACT_FLOAT: Final = float(2**53)
_INFINITE_HINT: Final = "Make the cells empty, or leave the rows out."


@dataclass(frozen=True)
class Bins:
    """How to cut a column of numbers. A bin holds ``low <= x < high``; the last one also holds its upper edge.

    Parameters
    ----------
    width
        Bins of this width that start at its multiples, or at `low` if bounds are given.
    edges
        Declared edges, strictly increasing.
    quantiles
        The number of bins, which hold about equally many rows. The edges become public: they are quantiles of the
        table and its least and greatest number, each rounded to a step of at most a quarter of the distance to the
        next one (see `quantile_edges`). Rounding does not change integers that lie close together. Declare `edges`
        if even approximate quantiles would reveal too much.
    low, high
        Public bounds for `width`. Without them, the edges reveal the bins of the least and the greatest number.

    Examples
    --------
    >>> bins = Bins(width=10)
    >>> edges = bins.fit(pa.array([23, 41]))
    >>> Bins.labels(edges)
    ('[20, 30)', '[30, 40)', '[40, 50]')
    >>> Bins.assign(pa.array([41, 23, None]), edges)
    array([ 2,  0, -1], dtype=int32)
    """

    width: float | None = None
    edges: tuple[float, ...] | None = None
    quantiles: int | None = None
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("width", "edges", "quantiles") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ParameterError("Bins", "exactly one of width, edges and quantiles must be given", got=len(given))
        if self.edges is not None:
            object.__setattr__(self, "edges", _checked_edges(self.edges))
        if self.quantiles is not None:
            check_integer("Bins", "quantiles", self.quantiles, minimum=2, maximum=MOST_BINS)
        if self.width is not None and check_number("Bins", "width", self.width, maximum=LARGEST_NUMBER) <= 0:
            raise ParameterError("Bins", "width", "must be a number above 0", got=repr(self.width))
        self._check_bounds()

    def _check_bounds(self) -> None:
        if self.low is None and self.high is None:
            return
        if self.width is None:
            raise ParameterError("Bins", "low and high must be given with width only")
        if self.low is None or self.high is None:
            raise ParameterError("Bins", "low and high must be given together")
        low, high = (_measurable(name, bound) for name, bound in (("low", self.low), ("high", self.high)))
        if not low < high:
            raise ParameterError("Bins", "low", "must be below high", got=f"{low} and {high}")
        if (high - low) / self.width > MOST_BINS:
            raise ParameterError("Bins", "width", f"must give at most {MOST_BINS} bins", got=self.width)

    @property
    def fixed_edges(self) -> tuple[float, ...] | None:
        """The edges when they do not depend on the table, else None."""
        if self.edges is not None:
            return self.edges
        if self.width is None or self.low is None or self.high is None:
            return None
        grid = Grid(self.width, self.low)
        last = grid.position(self.high)
        return grid.edges(0, last if grid.edge(last) >= self.high else last + 1)

    def fit(self, values: Any, counts: NDArray[np.int64] | None = None) -> tuple[float, ...]:  # noqa: ANN401 - arrays
        """Return the edges for a column of numbers, an Arrow or numpy array; missing numbers are skipped.

        `counts` says how often each number occurs; once when None.

        Raises
        ------
        SchemaError
            When there is no number, or there would be too many bins.
        """
        fixed = self.fixed_edges
        if fixed is not None:
            return fixed
        numbers, known = numbers_of(values)
        if not known.any():
            raise SchemaError("Bins", "the column must hold at least one number", got="none")
        if not np.isfinite(numbers).all():
            raise SchemaError("Bins", "the column must hold finite numbers", got="infinite ones", hint=_INFINITE_HINT)
        if not are_measurable(numbers):
            raise SchemaError("Bins", f"the column must hold numbers {NUMBERS_THAT_CAN_BE_CUT}", hint=TOO_LARGE_HINT)
        if self.width is not None:
            grid = Grid(self.width)
            least, greatest = numbers[known].min().item(), numbers[known].max().item()
            return grid.edges(grid.position(least), grid.position(greatest) + 1)
        times = np.ones(len(numbers), dtype=np.int64) if counts is None else np.asarray(counts)
        return quantile_edges(numbers[known], times[known], self.quantiles or 2)

    @staticmethod
    def labels(edges: Sequence[float]) -> tuple[str, ...]:
        """Name the bins, for example ``"[20, 30)"``; the last one is closed."""
        names = [_short(edge) for edge in edges]
        opened = [f"[{low}, {high})" for low, high in pairwise(names)]
        return (*opened[:-1], f"{opened[-1][:-1]}]")

    @staticmethod
    def middles(edges: Sequence[float]) -> tuple[float, ...]:
        """Return the middle of each bin, for numeric distances."""
        return tuple((low + high) / 2 for low, high in pairwise(edges))

    @staticmethod
    def assign(column: Any, edges: Sequence[float]) -> CodeArray:  # noqa: ANN401 - Arrow or numpy array
        """Return the number of the bin of each row, -1 where the number is missing.

        Raises
        ------
        SchemaError
            When numbers lie outside the edges; says how many.
        """
        numbers, known = numbers_of(column)
        codes = locate(numbers, edges)
        outside = int(np.count_nonzero((codes == -1) & known))
        if outside:
            raise SchemaError(
                "Bins",
                f"every number must lie from {_short(edges[0])} to {_short(edges[-1])}",
                got=f"{counted(outside, 'row')} outside",
            ).with_hint("Widen the edges or the bounds.")
        codes[~known] = -1
        return codes


@dataclass(frozen=True)
class Grid:
    """Edges at ``start + i * width``, computed in decimals so that 0.3 is 0.3 and not 0.30000000000000004.

    Examples
    --------
    >>> Grid(0.1).edges(0, 3)
    (0.0, 0.1, 0.2, 0.3)
    """

    width: float
    start: float = 0

    def edge(self, i: int) -> float:
        """The edge with number `i`."""
        return float(Decimal(str(self.start)) + i * Decimal(str(self.width)))

    def edges(self, first: int, last: int) -> tuple[float, ...]:
        """The edges from number `first` to number `last`."""
        if last - first > MOST_BINS:
            # The message does not say how many bins there would be: that would reveal the range of the table.
            raise SchemaError(
                "Bins",
                "width",
                f"must give at most {MOST_BINS} bins",
                got=f"more than {MOST_BINS} bins with {_short(self.width)}",
            ).with_hint("Choose a greater width.")
        start, width = Decimal(str(self.start)), Decimal(str(self.width))
        return tuple(float(start + i * width) for i in range(first, last + 1))

    def position(self, number: float) -> int:
        """The greatest `i` whose edge is not above `number`."""
        if self.width < math.ulp(number):
            raise SchemaError(
                "Bins", "width", "must be wide enough to separate numbers of this size", got=_short(self.width)
            ).with_hint("Choose a greater width.")
        i = int((Decimal(str(number)) - Decimal(str(self.start))) // Decimal(str(self.width)))
        # Edges are floats: rounding may put the number on the other side of an edge than decimals do.
        while self.edge(i) > number:
            i -= 1
        while self.edge(i + 1) <= number:
            i += 1
        return i


def numbers_of(column: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:  # noqa: ANN401 - Arrow or numpy array
    """Return a column's numbers (int64 or float64), with 0 for missing ones, and which of them are known.

    Examples
    --------
    >>> numbers_of(pa.array([1, None]))
    (array([1, 0]), array([ True, False]))
    """
    array = pa.array(column) if isinstance(column, np.ndarray | list | tuple) else column
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    integer = pa.types.is_integer(kind) and kind != pa.uint64()
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not numeric and not pa.types.is_null(kind):
        raise SchemaError(
            "Bins", "the column must hold numbers", got=kind, hint="Only integers, floats and decimals can be binned."
        )
    cast = pc.cast(array, pa.int64() if integer else pa.float64(), safe=False)
    known = np.asarray(pc.invert(pc.is_null(cast, nan_is_null=True)))
    numbers = pc.fill_null(cast, 0).to_numpy(zero_copy_only=False)
    if not known.all() and not integer:
        numbers = np.where(known, numbers, 0.0)
    return numbers, known


def locate(numbers: NDArray[Any], edges: Sequence[float]) -> CodeArray:
    """Return the number of the bin of each number, -1 where it lies outside the edges.

    Examples
    --------
    >>> locate(np.array([0, 9, 10, 11]), (0, 5, 10))
    array([ 0,  1,  1, -1], dtype=int32)
    """
    bounds: NDArray[Any] = np.asarray(edges, dtype=np.float64)
    if numbers.dtype.kind == "i" and _whole(bounds):
        bounds = bounds.astype(np.int64)  # exact for integers that a float cannot hold
    codes = np.searchsorted(bounds, numbers, side="right").astype(np.int32) - np.int32(1)
    last = len(bounds) - 1
    codes[codes == last] = np.where(numbers[codes == last] == bounds[-1], last - 1, -1)
    return codes


def _checked_edges(edges: Sequence[float]) -> tuple[float, ...]:
    if isinstance(edges, str) or not isinstance(edges, Sequence) or len(edges) < 2:  # noqa: PLR2004 - a bin has two edges
        raise ParameterError("Bins", "edges", "must be at least two numbers", got="fewer")
    checked = tuple(_measurable("edges", edge) for edge in edges)
    if any(not low < high for low, high in pairwise(checked)):
        raise ParameterError("Bins", "edges", "must be strictly increasing")
    if len(checked) > MOST_BINS + 1:
        raise ParameterError("Bins", "edges", f"must give at most {MOST_BINS} bins", got=len(checked) - 1)
    return checked


def _measurable(name: str, number: float) -> float:
    return check_number("Bins", name, number, minimum=-LARGEST_NUMBER, maximum=LARGEST_NUMBER)


def _whole(edges: FloatArray) -> bool:
    return bool(np.all(edges == np.floor(edges)) and np.all(np.abs(edges) <= _EXACT_FLOAT))


def _short(number: float) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) <= _EXACT_FLOAT else repr(float(number))
