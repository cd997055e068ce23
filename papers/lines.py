"""Pictures of measurements against a parameter: panels of lines with one legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ldiversity.base.numbers import plain_number
from ldiversity.pictures import (
    BLUE,
    CHARACTER_INCHES,
    GRAY,
    GREEN,
    ORANGE,
    balance,
    label_inches,
    new_figure,
    style,
    write_title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

__all__ = ["METHODS", "Look", "Panel", "draw_panels", "power"]


@dataclass(frozen=True)
class Look:
    """How a series is drawn."""

    color: str
    marker: str = ""
    line: str = "-"
    """Empty for marks alone."""
    hollow: bool = False


METHODS: Final[Mapping[str, Look]] = {
    "Proposal": Look(BLUE, "o"),
    "Anatomy": Look(ORANGE, "s"),
    "TP": Look(GREEN, "^"),
    "Proposal, MAP (ours)": Look(BLUE, "o", "--", hollow=True),
    "Anatomy, unmixed (ours)": Look(ORANGE, "s", "--", hollow=True),
}
"""The compared methods: what the papers compare in full, what this package adds dashed."""

_HANDLE_INCHES: Final = 0.6
_MOST_TICKS: Final = 10
_WIDE: Final = 100.0
_PLAIN: Final = (0.01, 10_000.0)
_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Panel:
    """One panel: each series is a list of x and one of y; infinite and missing points are left out."""

    title: str
    x: str
    y: str
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    log_x: bool = False
    log_y: bool = True
    y_from_zero: bool = field(default=False)


def draw_panels(
    panels: Sequence[Panel],
    looks: Mapping[str, Look],
    *,
    title: str,
    columns: int,
    notes: Sequence[str] = (),
    size: tuple[float, float] = (3.4, 2.6),
) -> Figure:
    """Draw panels in rows of `columns`, with the legend of all series below."""
    with style():
        rows = -(-len(panels) // columns)
        figure = new_figure(max(size[0] * columns, 6.4), size[1] * rows + 1.1)
        axes = figure.subplots(rows, columns, squeeze=False)
        for place, panel in enumerate(panels):
            _draw(axes[place // columns][place % columns], panel, looks)
        for place in range(len(panels), rows * columns):
            axes[place // columns][place % columns].set_visible(False)
        handles: dict[str, Any] = {}
        for axis in axes.flat:
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        ordered = [name for name in looks if name in handles]
        across = max(1, int(figure.get_figwidth() / (label_inches(ordered) + _HANDLE_INCHES)))
        shown = [handles[name] for name in ordered]
        legend = figure.legend(
            shown, ordered, loc="outside lower center", ncols=min(len(ordered), across),
            title="\n".join(_wrap(notes, figure.get_figwidth())), title_fontsize=8,
        )  # fmt: skip
        legend.get_title().set_color(GRAY)
        write_title(figure, title)
        return figure


def _wrap(notes: Sequence[str], inches: float) -> list[str]:
    """Break remarks into lines of the width of the figure; they stand above the legend, as its title."""
    room = int(inches / CHARACTER_INCHES)
    return [line for note in notes for line in balance(note, room)]


def _draw(axis: Axes, panel: Panel, looks: Mapping[str, Look]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    for name, (x, y) in panel.series.items():
        look = looks[name]
        drawn = np.asarray(y, dtype=float)
        kept = np.isfinite(drawn) & ((drawn > 0) | (not panel.log_y))
        axis.plot(
            np.asarray(x, dtype=float)[kept],
            drawn[kept],
            linestyle=look.line,
            color=look.color,
            marker=look.marker or None,
            markersize=5,
            markerfacecolor="white" if look.hollow else look.color,
            linewidth=1.4,
            label=name,
        )
    axis.set_title(panel.title)
    axis.set_xlabel(panel.x)
    axis.set_ylabel(panel.y)
    axis.grid(axis="y")
    if panel.log_x:
        axis.set_xscale("log")
    else:
        axis.xaxis.set_major_locator(_ticks(panel))
    axis.xaxis.set_major_formatter(FuncFormatter(plain_number))
    axis.xaxis.set_minor_formatter(NullFormatter())
    if panel.log_y:
        axis.set_yscale("log")
        low, high = axis.get_ylim()
        narrow = high < _WIDE * low
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,)))
        axis.yaxis.set_major_formatter(FuncFormatter(power))
        axis.yaxis.set_minor_locator(NullLocator() if narrow else LogLocator(subs=(2, 5)))
        axis.yaxis.set_minor_formatter(NullFormatter())
    elif panel.y_from_zero:
        axis.set_ylim(bottom=0)


def power(number: float, _position: float | None = None) -> str:
    """Write a number for the ticks of a logarithmic axis.

    Examples
    --------
    >>> power(1e-5), power(0.5), power(20.0)
    ('10⁻⁵', '0.5', '20')
    """
    if number == 0 or _PLAIN[0] <= abs(number) < _PLAIN[1]:
        return plain_number(number)
    mantissa, _, exponent = f"{number:.0e}".partition("e")
    raised = f"10{str(int(exponent)).translate(_RAISED)}"
    return raised if mantissa == "1" else f"{mantissa}\N{MULTIPLICATION SIGN}{raised}"


def _ticks(panel: Panel) -> Locator:
    """Ticks at the values that were measured, or, where these are many, at round ones."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    values = sorted({float(value) for x, _ in panel.series.values() for value in x})
    if len(values) <= _MOST_TICKS:
        return FixedLocator(values)
    return MaxNLocator(nbins=6, integer=all(value.is_integer() for value in values))
