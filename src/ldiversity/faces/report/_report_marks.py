"""Bars of counts, gauges with thresholds, and attacks beside what was promised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ldiversity.base.numbers import percent, percent_tick
from ldiversity.pictures import BLUE, INK, ORANGE, PALE, SKY, label_inches, new_figure, shorten, style, write_title

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MOST_ATTACKS", "MOST_GAUGES", "draw_attacks", "draw_counts", "draw_gauges", "sorted_attacks"]

MOST_GAUGES: Final = 20
MOST_ATTACKS: Final = 24
"""The most of one picture that can be read; what draws more draws several."""

_ROUNDING: Final = 1e-9
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
            axes.annotate(f"{count:,}", (place, count), (0, 2), textcoords="offset points", ha="center", size=8)
        axes.set_xticks(places, texts)
        axes.set_xlabel(of[0])
        axes.set_ylabel(of[1])
        axes.set_ylim(0, 1.12 * max([*counts, 1]))
        axes.yaxis.set_major_formatter(lambda number, _: f"{number:,.0f}" if number == round(number) else "")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(axis="x", length=0)
        write_title(figure, title)
    return figure


def draw_gauges(gauges: Sequence[tuple[str, float, float | None, str, str]]) -> Figure:
    """Draw shares from 0 to 1 as bars, each with its threshold and what that means for it.

    Parameters
    ----------
    gauges
        Name, value, threshold, state (``above`` is drawn hatched in another color) and state in words.

    Examples
    --------
    >>> figure = draw_gauges([("recognized", 0.5, 0.2, "above", "above the threshold")])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['50 %: above the threshold']
    """
    shown = gauges
    with style():
        names = [shorten(name, 60) for name, *_ in shown]
        figure = new_figure(label_inches(names) + 6.6, 0.42 * len(shown) + 1.2)
        axes = figure.subplots()
        for place, (_, value, threshold, state, words) in enumerate(shown):
            _draw_gauge(axes, place, 100 * value, state)
            if threshold is not None and state == "compare":
                axes.plot(
                    [100 * threshold], [place], marker="D", markersize=5, color="white", markeredgecolor=INK, zorder=6
                )
            elif threshold is not None:
                axes.plot([100 * threshold] * 2, [place - 0.42, place + 0.42], color=INK, linewidth=2.2, zorder=4)
            axes.text(
                101.5, place, f"{percent(value)}: {words}", va="center", size=8.5,
                color=INK, fontweight="bold" if state == "above" else "normal",
            )  # fmt: skip
        _share_axis(axes, names)
        axes.set_xlim(0, 100)
        above = [("hatch", ORANGE, "above its threshold")] if any(state == "above" for *_, state, _ in shown) else []
        guessed = [("mark", INK, _GUESSING)] if any(state == "compare" for *_, state, _ in shown) else []
        _legend(figure, [("bar", SKY, "value"), *above, ("line", INK, "threshold"), *guessed])
        write_title(figure, "Risks and their thresholds")
    return figure


def draw_attacks(results: Sequence[Mapping[str, Any]], *, scored: bool) -> Figure:
    """Draw how many values each attack names rightly, what was promised and what guessing reaches.

    Parameters
    ----------
    results
        What `AttackResult.to_dict` gives, for each attack.
    scored
        Whether the original was used; else the bars are expectations.

    Examples
    --------
    >>> result = {"attack": "order", "attribute": "x", "success": 0.3, "interval": None, "claim": 0.5,
    ...           "baseline": 0.2, "broken": False, "scored": False}
    >>> len(draw_attacks([result], scored=False).axes)
    1
    """
    shown = sorted_attacks(results)
    with style():
        names = [shorten(f"{result['attack']}: {result['attribute']}", 44) for result in shown]
        figure = new_figure(label_inches(names) + 5.2, 0.34 * len(shown) + 1.3)
        axes = figure.subplots()
        for place, result in enumerate(shown):
            _draw_gauge(axes, place, 100 * result["success"], "above" if _above(result) else "within")
            if result["interval"] is not None:
                axes.plot(
                    [100 * end for end in result["interval"]], [place, place], color=BLUE, linewidth=1.6, zorder=5
                )
            if result["claim"] is not None:
                axes.plot([100 * result["claim"]] * 2, [place - 0.42, place + 0.42], color=INK, linewidth=2.2, zorder=4)
            axes.plot(
                [100 * result["baseline"]],
                [place],
                marker="D",
                markersize=5,
                color="white",
                markeredgecolor=INK,
                zorder=6,
            )
        _share_axis(axes, names)
        beaten = any(_above(result) for result in shown)
        marks = [
            ("bar", SKY, "named rightly" if scored else "expected to be named rightly"),
            ("hatch", ORANGE, "beats the promise" if scored else "expects more than is promised"),
            ("line", INK, "promised at most"),
            ("mark", INK, _GUESSING),
        ]
        _legend(figure, [mark for mark in marks if beaten or mark[0] != "hatch"])
        write_title(figure, "What attackers achieve" if scored else "What attackers expect to achieve")
    return figure


def sorted_attacks(results: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Attacks that beat the promise first, then by success."""
    return sorted(results, key=lambda result: (not result["broken"], -result["success"]))


def _above(result: Mapping[str, Any]) -> bool:
    """Whether an attack beats the promise, or expects to."""
    expects = not result["scored"] and result["claim"] is not None
    return bool(result["broken"] or (expects and result["success"] > result["claim"] + _ROUNDING))


def _draw_gauge(axes: Axes, place: int, value: float, state: str) -> None:
    look: dict[str, Any] = {"facecolor": SKY, "edgecolor": BLUE, "linewidth": 0.6}
    if state == "above":
        look = {"facecolor": "white", "edgecolor": ORANGE, "hatch": "//////", "linewidth": 1.0}
    axes.barh([place], [100], height=0.6, color=PALE, alpha=0.45, zorder=1)
    axes.barh([place], [value], height=0.6, zorder=2, **look)


def _share_axis(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 102)
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
