"""The risk-utility map: what attackers gain against what estimates lose, one mark a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ldiversity.errors import ParameterError
from ldiversity.report._figures import (
    BLUE,
    GRAY,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    YELLOW,
    new_figure,
    plain_number,
    shorten,
    style,
    write_notes,
    write_title,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from ldiversity._types import BoolArray, FloatArray

__all__ = ["plot_map"]

_BRIGHT: Final = "#56B4E9"  # sky blue of Okabe and Ito; the paler one is for areas

# Every method has a shape of its own; colors repeat only with another shape.
_SERIES: Final = (
    (BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (PURPLE, "D"), (YELLOW, "v"),
    (_BRIGHT, "P"), (INK, "X"), (BLUE, "<"), (ORANGE, ">"), (GREEN, "p"), (PURPLE, "h"), (YELLOW, "*"),
)  # fmt: skip
_WIDE_RANGE: Final = 12.0
_LEAST_ERROR: Final = 1e-6


def plot_map(  # noqa: PLR0913 - the columns of a comparison, each by its name
    methods: Sequence[str],
    labels: Sequence[str],
    risk: ArrayLike,
    error: ArrayLike,
    *,
    pareto: ArrayLike,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    chosen: int | None = None,
    limit: float | None = None,
    title: str = "",
) -> Figure:
    """Draw risk against error of several releases, those that no other beats filled and joined.

    Parameters
    ----------
    methods
        The method of each release, which gives its shape and color.
    labels
        A short label for each, for example its l; written beside the marks.
    risk
        What the best attacker gains over guessing, from 0 to 1.
    error
        What estimates lose; where it spans more than a decade its axis is logarithmic.
    pareto
        Whether no other release is better in both.
    low, high
        Ends of the interval of `risk`, drawn for those that no other beats.
    chosen
        The position of the release that is recommended.
    limit
        The greatest risk that is acceptable, drawn as a line.
    title
        What the picture shows.

    Examples
    --------
    >>> figure = plot_map(["bsgi", "tp"], ["2", "2"], [0.3, 0.2], [0.05, 0.4], pareto=[True, True], chosen=0)
    >>> figure.axes[0].get_ylabel()
    'median relative error of queries (%)'
    """
    x, y = 100 * np.asarray(risk, dtype=np.float64), 100 * np.asarray(error, dtype=np.float64)
    kept = np.asarray(pareto, dtype=np.bool_)
    if not len(methods) == len(labels) == len(x) == len(y) == len(kept) or not len(x):
        raise ParameterError("plot_map: methods, labels, risk, error and pareto must be as long as each other.")
    y = np.maximum(y, _LEAST_ERROR)
    with style():
        figure = new_figure(8.2, 4.8)
        axes = figure.subplots()
        axes.grid(visible=True)
        axes.spines[["top", "right"]].set_visible(False)
        if y.max() > _WIDE_RANGE * y.min():
            axes.set_yscale("log")
            axes.yaxis.set_minor_formatter(_sparse)
            axes.yaxis.set_minor_locator(_steps())
        axes.yaxis.set_major_formatter(plain_number)
        axes.margins(x=0.06, y=0.1)
        _draw_front(axes, x, y, kept, low, high)
        names = list(dict.fromkeys(methods))
        for place, name in enumerate(names):
            mine = np.array([method == name for method in methods])
            _draw_method(axes, x[mine], y[mine], kept[mine], name, _SERIES[place % len(_SERIES)])
        _write_labels(axes, x, y, kept, labels, methods)
        if limit is not None:
            axes.axvline(100 * limit, color=INK, linestyle=":", linewidth=1.2, label="limit of risk")
        if chosen is not None:
            _ring(axes, x[chosen], y[chosen], f"{methods[chosen]} {labels[chosen]}".strip())
        axes.set_xlabel("risk: people whose value the best attacker names rightly, beyond guessing (percentage points)")
        axes.set_ylabel("median relative error of queries (%)")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), labelspacing=0.9)
        write_notes(
            figure,
            [
                "Left is safer, low is more useful. Filled: no other run is better in both; hollow: one is.",
                "Numbers: l. Bars: 95 % intervals.",
            ],
        )
        write_title(figure, title)
    return figure


def _draw_front(
    axes: Axes, x: FloatArray, y: FloatArray, kept: BoolArray, low: ArrayLike | None, high: ArrayLike | None
) -> None:
    order = np.flatnonzero(kept)[np.argsort(x[kept], kind="stable")]
    axes.step(
        x[order], y[order], where="post", color=INK, linewidth=1.1, zorder=1.5, label="no other is better in both"
    )
    if low is not None and high is not None:
        ends = 100 * np.stack([np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)])
        lengths = np.maximum([x - ends[0], ends[1] - x], 0.0)
        axes.errorbar(
            x[order], y[order], xerr=lengths[:, order], fmt="none", ecolor=GRAY, elinewidth=1.0, capsize=2, zorder=1.4
        )


def _draw_method(axes: Axes, x: FloatArray, y: FloatArray, kept: BoolArray, name: str, series: tuple[str, str]) -> None:
    color, marker = series
    axes.plot(x, y, color=color, linewidth=0.7, alpha=0.45, zorder=1.2)
    common: dict[str, Any] = {"linestyle": "none", "marker": marker, "color": color, "markersize": 7.5}
    axes.plot(x[~kept], y[~kept], markerfacecolor="white", markeredgewidth=1.3, zorder=2, **common)
    axes.plot(x[kept], y[kept], markeredgecolor=INK, markeredgewidth=0.8, zorder=3, **common)
    axes.plot([], [], markerfacecolor=color, label=shorten(name, 24), **common)


def _write_labels(
    axes: Axes, x: FloatArray, y: FloatArray, kept: BoolArray, labels: Sequence[str], methods: Sequence[str]
) -> None:
    """Label what no other beats, and the first and the last of every method."""
    ends = {methods.index(name) for name in methods}
    ends |= {len(methods) - 1 - list(methods)[::-1].index(name) for name in methods}
    for place in sorted(ends | set(np.flatnonzero(kept).tolist())):
        axes.annotate(
            labels[place],
            (x[place], y[place]),
            xytext=(6, 5),
            textcoords="offset points",
            fontsize=7.5,
            fontweight="bold" if kept[place] else "normal",
            color=INK if kept[place] else GRAY,
            zorder=4,
        )


def _ring(axes: Axes, x: float, y: float, label: str) -> None:
    axes.plot(
        [x], [y], linestyle="none", marker="o", markersize=15, markerfacecolor="none", markeredgecolor=INK,
        markeredgewidth=1.8, zorder=5, label=f"recommended: {shorten(label, 24)}",
    )  # fmt: skip


def _steps() -> Any:  # noqa: ANN401 - a locator of matplotlib
    from matplotlib.ticker import LogLocator

    return LogLocator(base=10, subs=[2, 5])


def _sparse(number: float, _position: float | None = None) -> str:
    return plain_number(number)
