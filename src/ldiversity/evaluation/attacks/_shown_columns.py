"""What is published in one column, cell by cell, as attackers read it: spread evenly over what it may stand for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray

__all__ = ["Between", "Condition", "Once", "OneOf", "ShownColumn"]


@dataclass(frozen=True)
class Between:
    """Numbers from `low` to `high`, both included; all others if `outside`, or those that are missing."""

    low: float
    high: float
    outside: bool = False
    missing: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from others."""
        return ("missing",) if self.missing else (self.low, self.high, self.outside)


@dataclass(frozen=True, eq=False)
class OneOf:
    """The values that are marked; the last mark is for a value that is not public."""

    mask: BoolArray

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from others."""
        return (np.packbits(self.mask).tobytes(),)


Condition = Between | OneOf
"""A part of a predicate: what it asks of one column."""


@dataclass(frozen=True, eq=False)
class Once:
    """A condition that one record seems to satisfy.

    `besides` records satisfy it for certain, besides those that are expected when cells are spread evenly: an end of an
    interval is somebody's.
    """

    condition: Condition
    besides: int = 0


@dataclass(frozen=True, eq=False)
class ShownColumn(ABC):
    """The distinct cells of a published column.

    Parameters
    ----------
    name
        The column.
    of_row
        Shape (rows,): the cell of each row; -1 where a row shows none.
    times
        Shape (cells,): how often each is published, once for all records of a class or once for each row.
    code
        Codes people's own cells: numbers, NaN for a missing one; or codes of values.
    """

    name: str
    of_row: NDArray[np.int64]
    times: NDArray[np.int64]
    code: Callable[[pa.ChunkedArray], NDArray[Any]]

    numeric: ClassVar[bool]

    @property
    @abstractmethod
    def n_cells(self) -> int:
        """How many distinct cells there are."""

    @abstractmethod
    def distances(self, value: Any, extent: float) -> FloatArray:  # noqa: ANN401 - a number or a code
        """Shape (cells,): the expected distance, from 0 to 1, between a value and one that the cell may stand for."""

    @abstractmethod
    def chances(self, condition: Any) -> FloatArray:  # noqa: ANN401 - of its own kind
        """Shape (cells,): how likely what the cell stands for satisfies a condition."""

    @abstractmethod
    def holds(self, condition: Any, coded: NDArray[Any]) -> BoolArray:  # noqa: ANN401 - of its own kind
        """Which people's cells satisfy a condition."""

    @abstractmethod
    def stated(self, cell: int, rng: np.random.Generator) -> Condition:
        """What a cell says, as a condition that holds for one of its records at least."""

    def beyond(self, cell: int) -> Condition | None:  # noqa: ARG002 - numbers use it
        """Values at least as far out as that of a cell; None where this means nothing."""
        return None

    @abstractmethod
    def once(self) -> list[Once]:
        """Conditions on this column alone that one record seems to satisfy: values that are shown once, extremes."""

    @abstractmethod
    def anything(self, rng: np.random.Generator) -> Condition:
        """A condition of somebody who only guesses: any operator and any published value."""

    @abstractmethod
    def guess(self, cell: int, rng: np.random.Generator) -> float:
        """The likeliest value of a cell, drawn among ties: a number or a code."""

    @abstractmethod
    def right(self, guessed: FloatArray, coded: NDArray[Any]) -> BoolArray:
        """Which guesses are right."""

    @property
    @abstractmethod
    def rows_that_vary(self) -> int:
        """How many rows show a cell that may stand for several values."""

    @property
    def _rows_of_cell(self) -> NDArray[np.int64]:
        """Shape (cells,): how many rows show each cell."""
        return np.bincount(self.of_row[self.of_row >= 0], minlength=self.n_cells)

    def of_rows(self, rows: NDArray[np.int64]) -> ShownColumn:
        """What some of the rows show, with no other cells."""
        used, of_row = np.unique(self.of_row[rows], return_inverse=True)
        nothing = int(used[:1].sum() < 0) if len(used) else 0
        return self._of_cells(used[nothing:], of_row.astype(np.int64) - nothing)

    @abstractmethod
    def _of_cells(self, cells: NDArray[np.int64], of_row: NDArray[np.int64]) -> ShownColumn: ...

    def extent(self, *people: NDArray[Any]) -> float:  # noqa: ARG002 - numbers use it
        """The range by which distances are divided, over what is published and these people."""
        return 1.0

    def public(self, coded: NDArray[Any]) -> BoolArray:
        """Which people's cells could be among the published ones."""
        return np.ones(len(coded), dtype=np.bool_)
