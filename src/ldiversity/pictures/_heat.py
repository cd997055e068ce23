"""Estimates of many cells: a heat map of shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.base.numbers import plain_number, whole_percent
from ldiversity.pictures._figures import (
    GRAY,
    UNSURE,
    figure_of,
    label_axis,
    label_inches,
    new_figure,
    sequential,
    shorten,
    text_on,
    write_notes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ldiversity.base.arrays import FloatArray
    from ldiversity.pictures._grid import Grid

__all__ = ["draw", "draw_into"]

_MOST_NUMBERS: Final = (40, 30)
_BESIDE: Final = 18
"""Two maps of more values stand below each other, so that their numbers can be read."""

_PALE: Final = 0.2
"""Below this part of the greatest share, what may be 0 is written in gray."""


def draw(grid: Grid) -> Figure:
    """Draw cells as rows and values as columns; with the truth, a second map beside the first, or below it."""
    n_cells, n_values = grid.shares.shape
    maps = (
        [("estimate", grid.shares)]
        if grid.truth is None
        else [("estimate", grid.shares), ("truth (holder only)", grid.truth)]
    )
    stacked = len(maps) > 1 and n_values > _BESIDE
    across, down = (1, len(maps)) if stacked else (len(maps), 1)
    width = float(np.clip(0.29 * n_values, 2.4, 8.5 if across == 1 else 5.5))
    height = float(np.clip(0.23 * n_cells, 2.4 if down == 1 else 1.2, 11.0))
    cells = [shorten(cell, 30) + (" *" if few else "") for cell, few in zip(grid.cells, grid.marked, strict=True)]
    values = [shorten(value, 30) for value in grid.values]
    figure = new_figure(
        label_inches(cells) + across * (width + 0.2) + 1.0, down * (height + 0.3) + label_inches(values) + 1.0
    )
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
    top = max(1.0, float(np.nanmax(np.concatenate([shares for _, shares in maps]), initial=0.0)))
    numbers = n_cells <= _MOST_NUMBERS[0] and n_values <= _MOST_NUMBERS[1] and width / n_values > 0.2  # noqa: PLR2004
    step_values = 1
    for axes, (name, shares) in zip(panels, maps, strict=True):
        axes.imshow(shares, cmap=sequential(), vmin=0, vmax=top, aspect="auto", interpolation="none")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        step_values = label_axis(axes.xaxis, values, width, rotation=90)
        _hatch(axes, grid)
        if len(maps) > 1:
            axes.set_title(name, loc="left", fontweight="bold")
        if numbers:
            unsure = (grid.low <= 0) if grid.interval and shares is grid.shares else None
            _write_numbers(axes, shares, top, unsure=unsure)
    step_cells = label_axis(panels[0].yaxis, cells, height)
    bar = figure.colorbar(panels[0].images[0], ax=list(panels), fraction=0.04, pad=0.02, aspect=30)
    bar.ax.yaxis.set_major_formatter(plain_number)
    bar.set_label("share of the cell (%)")
    bar.outline.set_visible(False)
    notes = [*_thinned("cell", n_cells, step_cells), *_thinned("value", n_values, step_values)]
    write_notes(figure, [*notes, *_notes(grid, numbers=numbers)])
    return figure


def draw_into(axes: Axes, grid: Grid) -> None:
    """Draw cells as rows and values as columns into axes of someone else's figure."""
    top = max(1.0, float(np.nanmax(grid.shares, initial=0.0)))
    axes.imshow(grid.shares, cmap=sequential(), vmin=0, vmax=top, aspect="auto", interpolation="none")
    _hatch(axes, grid)
    box = axes.get_window_extent().transformed(figure_of(axes).dpi_scale_trans.inverted())
    label_axis(axes.xaxis, [shorten(value, 30) for value in grid.values], box.width, rotation=90)
    label_axis(axes.yaxis, [shorten(cell, 30) for cell in grid.cells], box.height)


def _hatch(axes: Axes, grid: Grid) -> None:
    from matplotlib.patches import Rectangle

    for index in np.nonzero(grid.marked)[0]:
        corner = (-0.5, float(index) - 0.5)
        axes.add_patch(
            Rectangle(corner, len(grid.values), 1, fill=False, hatch="////", edgecolor=GRAY, linewidth=0, alpha=0.6)
        )


def _write_numbers(axes: Axes, shares: FloatArray, top: float, *, unsure: np.ndarray | None) -> None:
    colors = sequential()
    for (row, column), share in np.ndenumerate(shares):
        if not np.isfinite(share):
            continue
        doubtful = unsure is not None and bool(unsure[row, column])
        color = text_on(colors(min(max(float(share) / top, 0.0), 1.0)))
        color = UNSURE if doubtful and share < _PALE * top else color
        axes.text(
            column, row, whole_percent(float(share) / 100), ha="center", va="center", size=7, color=color,
            fontstyle="italic" if doubtful else "normal", in_layout=False,
        )  # fmt: skip


def _thinned(noun: str, count: int, step: int) -> list[str]:
    if step == 1:
        return []
    return [f"{count} {noun}s: one {noun} in {step} is labeled"]


def _notes(grid: Grid, *, numbers: bool) -> list[str]:
    slanted = f"slanted number: the {grid.interval} includes 0"
    notes = [slanted] if grid.interval and numbers and (grid.low <= 0).any() else []
    if grid.marked.any():
        notes.append("* hatched: few records, read with care")
    return notes
