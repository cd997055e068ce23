"""Bars of counts, and gauges with thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ldiversity.base.numbers import number, percent, percent_tick
from ldiversity.pictures._figures import (
    BLUE,
    INK,
    ORANGE,
    PALE,
    SKY,
    label_inches,
    new_figure,
    shorten,
    style,
    write_title,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MOST_GAUGES", "Gauge", "draw_counts", "draw_gauges"]

MOST_GAUGES: Final = 22
"""The most of one picture that can be read; what draws more draws several."""

_NAME: Final = 60
_GUESSING: Final = "guessing without the release"


def draw_counts(labels: Sequence[str], counts: Sequence[int], *, title: str, of: tuple[str, str]) -> Figure:
    """Draw how many classes there are of each size; `of` names what is counted along and up.

    Examples
    --------
    >>> figure = draw_counts(["1", "2"], [3, 4], title="Classes", of=("records in a class", "classes"))
    >>> [int(bar.get_height()) for bar in figure.axes[0].patches]
    [3, 4]
    """
    with style():
        texts = [shorten(label, 14) for label in labels]
        figure = new_figure(max(4.2, max(0.62, label_inches(texts) + 0.12) * len(labels) + 1.0), 2.9)
        axes = figure.subplots()
        places = np.arange(len(labels))
        axes.bar(places, [float(count) for count in counts], width=0.72, color=SKY, edgecolor=BLUE, linewidth=0.8)
        for place, count in zip(places, counts, strict=True):
            axes.annotate(number(count), (place, count), (0, 2), textcoords="offset points", ha="center", size=8)
        axes.set_xticks(places, texts)
        axes.set_xlabel(of[0])
        axes.set_ylabel(of[1])
        axes.set_ylim(0, 1.12 * max([*counts, 1]))
        axes.yaxis.set_major_formatter(lambda place, _: number(place) if place == round(place) else "")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(axis="x", length=0)
        write_title(figure, title)
    return figure


@dataclass(frozen=True)
class Gauge:
    """A share from 0 to 1 as a bar.

    Attributes
    ----------
    name, value
        What it is, and how large.
    threshold
        Where a line is drawn; None for none.
    guessing
        Where a mark is drawn, for what guessing without the release reaches; None for none.
    interval
        Between which shares a thin line is drawn; None for none.
    above
        Whether it is hatched in another color, as being above its threshold.
    words
        The text beside it; may be empty.
    """

    name: str
    value: float
    threshold: float | None = None
    guessing: float | None = None
    interval: tuple[float, float] | None = None
    above: bool = False
    words: str = ""


def draw_gauges(gauges: Sequence[Gauge], *, title: str, value: str, above: str, threshold: str) -> Figure:
    """Draw shares as bars, each with its threshold and what it is to be compared with.

    Parameters
    ----------
    gauges
        From top to bottom.
    title
        What the picture shows.
    value, above, threshold
        What bars, hatched bars and lines are called in the legend.

    Examples
    --------
    >>> gauge = Gauge("recognized", 0.5, 0.2, above=True, words="above the threshold")
    >>> figure = draw_gauges([gauge], title="Risks", value="value", above="above", threshold="threshold")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['50 %: above the threshold']
    """
    with style():
        names = [shorten(gauge.name, _NAME) for gauge in gauges]
        beside = 1.4 if any(gauge.words for gauge in gauges) else 0.0
        figure = new_figure(label_inches(names) + 5.2 + beside, 0.4 * len(gauges) + 1.25)
        axes = figure.subplots()
        for place, gauge in enumerate(gauges):
            _draw_gauge(axes, place, gauge)
        _share_axis(axes, names)
        marks = [("bar", SKY, value)]
        marks += [("hatch", ORANGE, above)] if any(gauge.above for gauge in gauges) else []
        marks += [("line", INK, threshold)]
        marks += [("mark", INK, _GUESSING)] if any(gauge.guessing is not None for gauge in gauges) else []
        _legend(figure, marks)
        write_title(figure, title)
    return figure


def _draw_gauge(axes: Axes, place: int, gauge: Gauge) -> None:
    color, edge, hatch, width = ("white", ORANGE, "//////", 1.0) if gauge.above else (SKY, BLUE, None, 0.6)
    axes.barh([place], [100], height=0.6, color=PALE, alpha=0.45, zorder=1)
    axes.barh(
        [place],
        [100 * gauge.value],
        height=0.6,
        zorder=2,
        facecolor=color,
        edgecolor=edge,
        hatch=hatch,
        linewidth=width,
    )
    if gauge.interval is not None:
        axes.plot([100 * end for end in gauge.interval], [place, place], color=BLUE, linewidth=1.6, zorder=5)
    if gauge.threshold is not None:
        axes.plot([100 * gauge.threshold] * 2, [place - 0.42, place + 0.42], color=INK, linewidth=2.2, zorder=4)
    if gauge.guessing is not None:
        axes.plot(
            [100 * gauge.guessing], [place], marker="D", markersize=5, color="white", markeredgecolor=INK, zorder=6
        )
    if gauge.words:
        weight = "bold" if gauge.above else "normal"
        words = f"{percent(gauge.value)}: {gauge.words}"
        axes.text(101.5, place, words, va="center", size=8.5, color=INK, fontweight=weight)


def _share_axis(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.xaxis.set_major_formatter(percent_tick)
    axes.grid(axis="x")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0)


def _legend(figure: Figure, marks: Sequence[tuple[str, str, str]]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    made: list[Any] = []
    for kind, color, label in marks:
        if kind == "bar":
            made.append(Patch(facecolor=color, edgecolor=BLUE, linewidth=0.6, label=label))
        elif kind == "hatch":
            made.append(Patch(facecolor="white", edgecolor=color, hatch="//////", label=label))
        elif kind == "line":
            made.append(Line2D([], [], color=color, linewidth=2.2, label=label))
        else:
            made.append(
                Line2D(
                    [], [], linestyle="", marker="D", color="white", markeredgecolor=color, markersize=5, label=label
                )
            )
    figure.legend(handles=made, loc="outside lower center", ncols=min(len(made), 4), columnspacing=1.4)
