"""Pictures of estimates, from plain arrays; pyplot's global state is not touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ldiversity.pictures import _bars, _heat
from ldiversity.pictures._figures import SERIES, figure_of, style, write_title  # fmt: skip
from ldiversity.pictures._grid import Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


__all__ = ["plot_estimate"]

_MOST_PANELS: Final = 12
_MOST_NUMBERS: Final = 26


def plot_estimate(  # noqa: PLR0913 - the columns of an estimate, each by its name
    cells: Sequence[str],
    values: Sequence[str],
    shares: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    title: str = "",
    truth: ArrayLike | None = None,
    marked: ArrayLike | None = None,
    records: Sequence[int] | None = None,
    confidence: float = 0.95,
    interval: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw estimated shares of the sensitive values, one panel of bars per cell, or a heat map of many cells.

    Parameters
    ----------
    cells
        A label for each cell, for example ``"female, 20-29"``.
    values
        The sensitive values, in the order in which they are to be drawn.
    shares, low, high
        Estimates and ends of their intervals as shares from 0 to 1, shape (cells, values). A linear estimate
        may be a little below 0, and is drawn so.
    title
        What the picture shows.
    truth
        True shares, which only the data holder knows; hollow marks on the bars, or a second map beside the
        heat map.
    marked
        True for a cell with too few records; hatched, as a note below the picture says.
    records
        How many records each cell has.
    confidence
        Of the intervals, for the legend.
    interval
        What to call the intervals instead; empty when shares are exact, and have none.
    ax
        Axes to draw all cells into, as one panel without a title; a figure is made when None.

    Examples
    --------
    >>> figure = plot_estimate(["all"], ["flu", "cold"], [[0.7, 0.3]], [[0.6, 0.2]], [[0.8, 0.4]])
    >>> len(figure.axes)
    1
    """
    grid = Grid.of(
        cells,
        values,
        shares,
        low=low,
        high=high,
        truth=truth,
        marked=marked,
        records=records,
        confidence=confidence,
        interval=interval,
    )
    if ax is not None:
        (_bars if len(grid.cells) <= len(SERIES) else _heat).draw_into(ax, grid)
        return figure_of(ax)
    with style():
        figure = _bars.draw(grid) if len(grid.cells) <= _MOST_PANELS else _heat.draw(grid)
        write_title(figure, title)
    return figure
