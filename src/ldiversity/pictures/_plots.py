"""Pictures of estimates, mechanisms and plans.

Every function takes plain arrays and returns a `matplotlib.figure.Figure`; none reads a release, and none
touches pyplot's global state.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from ldiversity.base.numbers import plain_number, whole_percent
from ldiversity.errors import ParameterError
from ldiversity.pictures import _bars, _heat
from ldiversity.pictures._figures import (
    GRAY,
    INK,
    SERIES,
    label_axis,
    label_inches,
    new_figure,
    sequential,
    shorten,
    style,
    write_notes,
    write_title,
)  # fmt: skip
from ldiversity.pictures._grid import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from ldiversity.base.arrays import FloatArray

__all__ = ["plot_estimate", "plot_inclusion", "plot_plan"]

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
        True for a cell with too few records; hatched, and said so below the picture.
    records
        How many records each cell has.
    confidence
        Of the intervals, for the legend.
    interval
        What the intervals are, where it is something else; empty when shares are exact, and have none.
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
        return cast("Figure", ax.get_figure(root=True))
    with style():
        figure = _bars.draw(grid) if len(grid.cells) <= _MOST_PANELS else _heat.draw(grid)
        write_title(figure, title)
    return figure


def plot_inclusion(inclusion: ArrayLike, labels: Sequence[str], *, title: str = "") -> Figure:
    """Draw how often each value is published beside each true value.

    Parameters
    ----------
    inclusion
        Q, shape (F, F): Q[v, j] is the probability that j is in the published set when v is true.
    labels
        The values, in code order.
    title
        What the picture shows.

    Examples
    --------
    >>> figure = plot_inclusion([[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]], ["a", "b", "c"])
    >>> figure.axes[0].get_ylabel()
    'true value'
    """
    Q = np.asarray(inclusion, dtype=np.float64)
    n = len(labels)
    if n == 0 or Q.shape != (n, n):
        raise ParameterError("plot_inclusion", "inclusion", f"must have shape ({n}, {n})", got=Q.shape)
    side = float(np.clip(0.3 * n, 2.6, 8.0))
    with style():
        texts = [shorten(label, 26) for label in labels]
        room = label_inches(texts)
        figure = new_figure(side + room + 1.4, side + room + 1.1)
        axes = figure.subplots()
        _draw_inclusion(axes, Q)
        label_axis(axes.yaxis, texts, side)
        label_axis(axes.xaxis, texts, side, rotation=90)
        axes.set_ylabel("true value")
        axes.set_xlabel("value in the published set")
        bar = figure.colorbar(axes.images[0], ax=axes, fraction=0.05, pad=0.03, aspect=25)
        bar.ax.yaxis.set_major_formatter(plain_number)
        bar.set_label("probability of being added (%)")
        bar.outline.set_visible(False)
        never = ["white: never added"] if (Q <= 0).any() else []
        write_notes(figure, [*never, "gray diagonal: the true value, always published"])
        write_title(figure, title)
    return figure


def plot_plan(
    l: Sequence[int],
    errors: Mapping[str, ArrayLike],
    posteriors: Mapping[str, ArrayLike],
    *,
    chosen: int | None = None,
    title: str = "",
) -> Figure:
    """Draw what each diversity costs in accuracy and gives in protection.

    Parameters
    ----------
    l
        The diversities compared, ascending.
    errors
        For each method, the expected error of a share (root of the mean square, from 0 to 1) at each `l`.
        NaN where the method cannot reach it.
    posteriors
        For each method, the worst posterior at each `l`: how sure an attacker can be of one value.
    chosen
        The diversity that is planned; drawn as an upright line.
    title
        What the picture shows.

    Examples
    --------
    >>> figure = plot_plan([2, 3], {"balanced": [0.01, 0.02]}, {"balanced": [0.5, 0.33]}, chosen=3)
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['l, values in a published set', 'l, values in a published set']
    """
    with style():
        figure = new_figure(8.4, 3.7)
        left, right = figure.subplots(1, 2, gridspec_kw={"wspace": 0.06})
        _draw_lines(left, l, errors, chosen)
        _draw_lines(right, l, posteriors, chosen)
        left.set_title("Price: expected error of a share", loc="left")
        left.set_ylabel("percentage points")
        left.set_ylim(0, None)
        right.set_title("Protection: worst posterior", loc="left")
        right.set_ylabel("at most this sure of a value (%)")
        right.plot(
            l,
            100 / np.asarray(l, dtype=np.float64),
            ":",
            color=INK,
            linewidth=1.2,
            zorder=2,
            label="1/l, the best possible",
        )
        right.set_ylim(0, 104)
        handles, labels = right.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 5), columnspacing=1.4)
        write_title(figure, title)
    return figure


def _draw_inclusion(axes: Axes, Q: FloatArray) -> None:
    n = len(Q)
    added = np.where(np.eye(n, dtype=bool) | (Q <= 0), np.nan, 100 * Q)
    top = float(np.nanmax(added)) if np.isfinite(added).any() else 1.0
    axes.imshow(added, cmap=sequential(darkest=0.55), vmin=0, vmax=top, interpolation="none")
    diagonal = np.where(np.eye(n, dtype=bool), 1.0, np.nan)
    axes.imshow(diagonal, cmap="gray", vmin=0, vmax=2.0, interpolation="none")
    axes.tick_params(length=0)
    if n <= _MOST_NUMBERS:
        for row, column in zip(*np.nonzero(np.isfinite(added)), strict=True):
            share = added[row, column]
            axes.text(column, row, whole_percent(share / 100), ha="center", va="center", size=7.5, in_layout=False)


def _draw_lines(axes: Axes, l: Sequence[int], series: Mapping[str, ArrayLike], chosen: int | None) -> None:
    from matplotlib.ticker import MaxNLocator

    # Lines that coincide stay visible: the later ones are thinner, with smaller marks.
    thinner = np.linspace(1.0, 0.5, max(len(series), 2))
    for (name, heights), (color, marker), size in zip(series.items(), cycle(SERIES), thinner, strict=False):
        percent = 100 * np.asarray(heights, dtype=np.float64)
        axes.plot(
            l, percent, color=color, marker=marker, markersize=7.5 * size, linewidth=2.6 * size, label=shorten(name, 30)
        )
    if chosen is not None:
        axes.axvline(chosen, color=GRAY, linewidth=7, alpha=0.25, zorder=0, label=f"planned: l = {chosen}")
    axes.set_xlabel("l, values in a published set")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="y")
    axes.spines[["top", "right"]].set_visible(False)
