"""Estimates of a few cells: one panel of bars per cell."""

from __future__ import annotations

import math
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ldiversity.base.numbers import number, percent_tick
from ldiversity.pictures._figures import (
    BLUE,
    CHARACTER_INCHES,
    GRAY,
    INK,
    RUST,
    SERIES,
    SKY,
    label_axis,
    label_inches,
    new_figure,
    shorten,
)  # fmt: skip

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ldiversity.pictures._grid import Grid

__all__ = ["draw", "draw_into"]

_COLUMNS: Final = (4, 3, 5)
_MOST_INCHES: Final = 15.0
_THINNED: Final = 40


def draw(grid: Grid) -> Figure:
    """Draw one panel per cell; all panels share both axes."""
    n_cells, n_values = grid.shares.shape
    columns = _columns(n_cells)
    rows = math.ceil(n_cells / columns)
    labels = [shorten(value, 32) for value in grid.values]
    panel = _panel_height(n_values, rows)
    panel_width = 4.2 if columns == 1 else 2.9 if columns == 2 else 2.15  # noqa: PLR2004 - one or two panels are wide
    figure = new_figure(label_inches(labels) + columns * panel_width + 0.3, rows * (panel + 0.62) + 0.95)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for index, axes in enumerate(panels.flat):
        if index < n_cells:
            _draw_panel(axes, grid, index)
            _title(axes, grid, index, panel_width)
            axes.tick_params(labelbottom=index + columns >= n_cells, length=0, axis="both")
        else:
            axes.set_visible(False)
    first = panels[0, 0]
    label_axis(first.yaxis, labels, panel)
    first.set_ylim(n_values - 0.4, -0.6)
    first.set_xlim(*_limits(grid))
    first.xaxis.set_major_formatter(_percent_sign())
    _legend(figure, grid)
    return figure


def _columns(n_cells: int) -> int:
    """Panels in a row: all when they are few, else about four, so that the last row has few gaps."""
    return n_cells if n_cells <= min(_COLUMNS) else min(_COLUMNS, key=lambda columns: -n_cells % columns)


def _panel_height(n_values: int, rows: int) -> float:
    """Inches for one panel: generous for few values, and never more than a tall page for all rows."""
    pitch = float(np.interp(n_values, [2, 12, 24, _THINNED], [0.32, 0.25, 0.2, 0.17]))
    height = pitch * min(n_values, _THINNED) + (n_values > _THINNED) * 0.02 * (n_values - _THINNED)
    return max(0.9, min(height, _MOST_INCHES / rows))


def _draw_panel(axes: Axes, grid: Grid, index: int) -> None:
    positions = np.arange(len(grid.values))
    shares, low, high = grid.shares[index], grid.low[index], grid.high[index]
    few = bool(grid.marked[index])
    look: dict[str, Any] = {"facecolor": "white", "hatch": "/////"} if few else {"facecolor": SKY}
    axes.barh(positions, shares, height=0.74, zorder=2, edgecolor=BLUE, linewidth=0.6, **look)
    spread = np.maximum([shares - low, high - shares], 0)
    crowded = len(positions) > _THINNED
    if grid.interval:
        axes.errorbar(
            shares, positions, xerr=spread, fmt="none" if crowded else "|", color=BLUE, markersize=6,
            markeredgewidth=1.4, elinewidth=0.8 if crowded else 1.3, zorder=3,
        )  # fmt: skip
    if grid.truth is not None:
        size = 7 if crowded else 20
        axes.scatter(grid.truth[index], positions, s=size, facecolors="none", edgecolors=RUST, linewidths=1.2, zorder=4)
    axes.axvline(0, color=GRAY, linewidth=0.8, zorder=3)
    axes.grid(axis="x")
    axes.spines[["top", "right", "left"]].set_visible(False)


def _title(axes: Axes, grid: Grid, index: int, width: float) -> None:
    room = int(width / (CHARACTER_INCHES * 1.15)) - 2
    star = " *" if grid.marked[index] else ""
    axes.set_title(
        shorten(grid.cells[index], room) + star,
        loc="left",
        fontweight="bold",
        color=INK,
        pad=5 if grid.records is None else 15,
    )
    if grid.records is not None:
        count = f"n = {number(grid.records[index])}"
        axes.text(0, 1, count, transform=axes.transAxes, va="bottom", size=8, color=GRAY)


def _limits(grid: Grid) -> tuple[float, float]:
    """Room for all estimates, and for the intervals of the cells that have enough records."""
    trusted = ~grid.marked if not grid.marked.all() else grid.marked
    shown = [grid.shares, grid.high[trusted], grid.low[trusted], *([] if grid.truth is None else [grid.truth])]
    finite = np.concatenate([part[np.isfinite(part)] for part in shown] or [np.zeros(1)])
    top = max(1.0, float(finite.max(initial=0.0)))
    bottom = min(0.0, float(finite.min(initial=0.0)))
    margin = 0.04 * (top - bottom)
    return (bottom - margin if bottom < 0 else 0.0), top + margin


def _percent_sign() -> Any:  # noqa: ANN401 - matplotlib's formatter
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(percent_tick)


def _legend(figure: Figure, grid: Grid) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(
            facecolor=SKY,
            edgecolor=BLUE,
            linewidth=0.6,
            label="estimated share" if grid.interval else "published share",
        )
    ]
    if grid.interval and np.isfinite(grid.low).any():
        handles.append(Line2D([], [], color=BLUE, linewidth=1.3, label=grid.interval))
    if grid.truth is not None:
        handles.append(
            Line2D(
                [],
                [],
                linestyle="",
                marker="o",
                markerfacecolor="none",
                color=RUST,
                markersize=4.5,
                label="truth (holder only)",
            )
        )
    if grid.marked.any():
        handles.append(
            Patch(
                facecolor="white", edgecolor=BLUE, hatch="/////", linewidth=0.6, label="* few records: read with care"
            )
        )
    columns = 2 if figure.get_figwidth() < 5 else len(handles)  # noqa: PLR2004 - inches of a narrow figure
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=1.6, columnspacing=1.4)


def draw_into(axes: Axes, grid: Grid) -> None:
    """Draw all cells into one panel: bars of a single cell, else a mark of its own for each cell beside each value."""
    positions = np.arange(len(grid.values))
    if len(grid.cells) == 1:
        _draw_panel(axes, grid, 0)
    else:
        steps = np.linspace(-0.32, 0.32, len(grid.cells))
        for (index, cell), (color, marker) in zip(enumerate(grid.cells), cycle(SERIES), strict=False):
            shares = grid.shares[index]
            spread = np.maximum([shares - grid.low[index], grid.high[index] - shares], 0) if grid.interval else None
            axes.errorbar(
                shares, positions + steps[index], xerr=spread, fmt=marker, color=color, markersize=4, elinewidth=1,
                label=shorten(cell, 32) + (" *" if grid.marked[index] else ""),
            )  # fmt: skip
        axes.grid(axis="x")
        axes.legend()
    axes.set_yticks(positions, [shorten(value, 32) for value in grid.values])
    axes.set_ylim(len(positions) - 0.4, -0.6)
    axes.xaxis.set_major_formatter(_percent_sign())
