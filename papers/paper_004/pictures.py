"""Pictures of paper 004: curves in panels, and histograms as heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ldiversity.base.numbers import plain_number
from ldiversity.pictures import (
    BLUE,
    CHARACTER_INCHES,
    GRAY,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SERIES,
    YELLOW,
    balance,
    new_figure,
    style,
    write_title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from ldiversity.base.arrays import FloatArray

__all__ = ["Curve", "Panel", "draw_heat_maps", "draw_panels", "label_powers"]

_RING: Final = {"markerfacecolor": "none", "markersize": 8}
"""A mark around another, so that both are seen where lines lie on each other."""

_LOOKS: Final[dict[str, dict[str, Any]]] = {
    "N-Proposal": {"color": ORANGE, "marker": "s", "linestyle": "--"},
    "N-Existing": {"color": YELLOW, "marker": "v", "linestyle": "--"},
    "N-Simple": {"color": PURPLE, "marker": "D", "linestyle": "--"},
    "N-Anonymity": {"color": GRAY, "marker": "x", "linestyle": "--"},
    "Ex-Proposal": {"color": ORANGE, "marker": "s", "linestyle": "-", **_RING},
    "Ex-Existing": {"color": YELLOW, "marker": "v", "linestyle": "-", **_RING},
    "Ex-Simple": {"color": PURPLE, "marker": "D", "linestyle": "-", **_RING},
    "LE": {"color": INK, "marker": "P", "linestyle": ":"},
    "Simple, exact Q": {"color": GREEN, "marker": "^", "linestyle": "-"},
    "Balanced, exact Q": {"color": BLUE, "marker": "o", "linestyle": "-", "markerfacecolor": "white"},
    "Balanced, MLE": {"color": BLUE, "marker": "o", "linestyle": "-", "linewidth": 2.2},
}
_LEGEND_COLUMNS: Final = 4
_FEW_MAPS: Final = 9


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of a panel; points without a height are left out."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    look: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves over one axis."""

    title: str
    axis: str
    curves: Sequence[Curve]
    log_axis: bool = False


def draw_panels(title: str, panels: Sequence[Panel], height: str, *, log: bool, notes: Sequence[str] = ()) -> Figure:
    """Draw panels side by side, two in a row when there are four, with remarks and one legend below."""
    columns = 2 if len(panels) == 4 else len(panels)  # noqa: PLR2004 - as in the paper's figures
    rows = -(-len(panels) // columns)
    with style():
        figure = new_figure(9.2 if columns > 1 else 7.0, 3.1 * rows + 1.3)
        axes = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
        handles: dict[str, Any] = {}
        for axis, panel in zip(axes, panels, strict=True):
            _draw_panel(axis, panel, handles, log=log)
        for left in axes[::columns]:
            left.set_ylabel(height)
        columns_of_legend = min(_LEGEND_COLUMNS, len(handles))
        room = int(figure.get_figwidth() / CHARACTER_INCHES)
        legend = figure.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=columns_of_legend,
            title="\n".join(line for note in notes for line in balance(note, room)), title_fontsize=8,
        )  # fmt: skip
        legend.get_title().set_color(GRAY)
        write_title(figure, title)
    return figure


def _draw_panel(axis: Axes, panel: Panel, handles: dict[str, Any], *, log: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    for number, curve in enumerate(panel.curves):
        color, marker = SERIES[number % len(SERIES)]
        look = {"color": color, "marker": marker, "markersize": 5, **_LOOKS.get(curve.name, {}), **curve.look}
        points = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if y is not None]
        if not points:
            continue
        (line,) = axis.plot([x for x, _ in points], [y for _, y in points], **look)
        handles.setdefault(curve.name, line)
    axis.set_title(panel.title)
    axis.set_xlabel(panel.axis)
    axis.grid(visible=True)
    if panel.log_axis:
        axis.set_xscale("log")
        label_powers(axis.xaxis)
    else:
        axis.xaxis.set_major_formatter(plain_number)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    if log:
        axis.set_yscale("log")
        label_powers(axis.yaxis)


def label_powers(axis: Axis) -> None:
    """Label a logarithmic axis in plain text."""
    from matplotlib.ticker import NullFormatter

    axis.set_major_formatter(plain_number)
    axis.set_minor_formatter(NullFormatter())


def draw_heat_maps(title: str, maps: Sequence[tuple[str, FloatArray]], rows: Sequence[str], columns: str) -> Figure:
    """Draw counts by cell and value, one map a histogram; blue above zero, orange below.

    All maps share the scale of the first, the true counts; what lies beyond it is drawn as its end.
    """
    from matplotlib.colors import LinearSegmentedColormap

    across, width = (3, 9.4) if len(maps) <= _FEW_MAPS else (4, 11.6)
    down = -(-len(maps) // across)
    top = float(np.abs(maps[0][1]).max())
    colors = LinearSegmentedColormap.from_list("signed", [ORANGE, "#FFFFFF", BLUE])
    with style():
        figure = new_figure(width, 0.9 + down * (0.55 + 0.135 * max(len(rows), 10)))
        axes = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
        drawn: Any = None
        for axis, (name, counts) in zip(axes.ravel(), maps, strict=False):
            drawn = axis.imshow(counts, aspect="auto", cmap=colors, vmin=-top, vmax=top, interpolation="nearest")
            axis.set_title(name)
        for spare in axes.ravel()[len(maps) :]:
            spare.set_visible(False)
        for left in axes[:, 0]:
            left.set_yticks(range(len(rows)), rows, fontsize=6.5)
        ticks = _ticks(maps[0][1].shape[1])
        for number in range(across):
            lowest = [axis for place, axis in enumerate(axes[:, number]) if place * across + number < len(maps)][-1]
            lowest.set_xlabel(columns, fontsize=8)
            lowest.tick_params(labelbottom=True)
            lowest.set_xticks(ticks, [str(tick + 1) for tick in ticks])
        figure.colorbar(drawn, ax=axes, label="records", fraction=0.025, extend="both")
        write_title(figure, title)
    return figure


def _ticks(size: int) -> list[int]:
    """Which of `size` columns are labeled, counted from 0: every second, fifth, tenth and so on."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, size) if size <= 8 * step or step == size)
    return list(range(step - 1, size, step))
