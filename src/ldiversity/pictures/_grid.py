"""The arrays of one estimate, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.base.numbers import level
from ldiversity.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ldiversity.base.arrays import BoolArray, FloatArray

__all__ = ["MOST_CELLS", "Grid"]

MOST_CELLS: Final = 500
"""The most cells of a picture; more would be less than three points high."""


@dataclass(frozen=True)
class Grid:
    """Estimates of cells by values, in percent."""

    cells: tuple[str, ...]
    values: tuple[str, ...]
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    truth: FloatArray | None
    marked: BoolArray
    records: tuple[int, ...] | None
    confidence: float
    interval: str

    @classmethod
    def of(  # noqa: PLR0913 - the columns of an estimate, each by its name
        cls,
        cells: Sequence[str],
        values: Sequence[str],
        shares: ArrayLike,
        *,
        low: ArrayLike,
        high: ArrayLike,
        truth: ArrayLike | None,
        marked: ArrayLike | None,
        records: Sequence[int] | None,
        confidence: float,
        interval: str | None = None,
    ) -> Grid:
        """Check the shapes and turn shares into percent; `interval` says what the intervals are, empty if exact."""
        shape = (len(cells), len(values))
        if 0 in shape:
            raise ParameterError("plot_estimate", "cells and values must not be empty")
        if len(cells) > MOST_CELLS:
            raise ParameterError(
                "plot_estimate", f"a picture must have at most {MOST_CELLS} cells to be read", got=len(cells)
            ).with_hint("Use wider bins, fewer columns or a filter; all numbers stand in the table and the CSV file.")
        if records is not None and len(records) != len(cells):
            raise ParameterError("plot_estimate", "records", f"must have {len(cells)} entries", got=len(records))
        return cls(
            cells=tuple(cells),
            values=tuple(values),
            shares=_percent("shares", shares, shape),
            low=_percent("low", low, shape),
            high=_percent("high", high, shape),
            truth=None if truth is None else _percent("truth", truth, shape),
            marked=_flags(marked, len(cells)),
            records=None if records is None else tuple(records),
            confidence=confidence,
            interval=f"{level(confidence)} interval" if interval is None else interval,
        )


def _percent(name: str, shares: ArrayLike, shape: tuple[int, int]) -> FloatArray:
    array = np.asarray(shares, dtype=np.float64)
    if array.shape != shape:
        raise ParameterError("plot_estimate", name, f"must have shape {shape}", got=array.shape)
    return 100 * array


def _flags(marked: ArrayLike | None, n_cells: int) -> BoolArray:
    flags = np.zeros(n_cells, dtype=np.bool_) if marked is None else np.asarray(marked, dtype=np.bool_)
    if flags.shape != (n_cells,):
        raise ParameterError("plot_estimate", "marked", f"must have shape ({n_cells},)", got=flags.shape)
    return flags
