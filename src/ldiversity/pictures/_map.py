"""The risk-utility map: what attackers gain against what estimates lose, one mark per release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ldiversity.base.numbers import plain_number
from ldiversity.errors import ParameterError
from ldiversity.pictures._figures import (
    BLUE,
    GRAY,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    YELLOW,
    figure_of,
    new_figure,
    shorten,
    style,
    text_width,
    write_notes,
    write_title,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from ldiversity.base.arrays import BoolArray, FloatArray

__all__ = ["plot_map"]

_BRIGHT: Final = "#56B4E9"  # sky blue of Okabe and Ito; the paler one is for areas

# Every method has a shape of its own; colors repeat only with another shape.
_SERIES: Final = (
    (BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (PURPLE, "D"), (YELLOW, "v"),
    (_BRIGHT, "P"), (INK, "X"), (BLUE, "<"), (ORANGE, ">"), (GREEN, "p"), (PURPLE, "h"), (YELLOW, "*"),
)  # fmt: skip
_Box: TypeAlias = tuple[float, float, float, float]
"""Left, bottom, right and top, in points."""

_POINTS: Final = 72.0
_MARK: Final = 7.5
_RING: Final = 15.0
_FONT: Final = 7.5
_LETTER: Final = 4.8
_LINE: Final = 8.5
_GAPS: Final = (1.0, 4.0, 8.0)
_MOST_LETTERS: Final = 28
_WIDE_RANGE: Final = 12.0
_LEAST_ERROR: Final = 1e-6
_NOTES: Final = [
    "Each mark is one way to publish the table: a method, and how strongly it hides (l; some are left unnamed).",
    "Filled marks, on the black line: no other is both safer and more exact. Pale marks: not sound.",
    "Bars: how far chance may move the risk (95 % intervals). Answers are counts of people, as an analyst asks for.",
]
_CORNERS: Final = (((0.97, 0.95), (0.82, 0.83)), ((0.19, 0.16), (0.03, 0.04)), ((0.19, 0.95), (0.03, 0.83)))
"""Where an arrow towards what is better may begin and end, as shares of the axes: in three of the corners."""

_ROOM: Final = 0.04
"""How far marks must be from it."""


def plot_map(  # noqa: PLR0913 - the columns of a comparison, each by its name
    methods: Sequence[str],
    labels: Sequence[str],
    risk: ArrayLike,
    error: ArrayLike,
    *,
    pareto: ArrayLike,
    flawed: ArrayLike | None = None,
    series: Sequence[str] | None = None,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    chosen: int | None = None,
    limit: float | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    r"""Draw risk against error of several releases, those that no other beats filled and joined.

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
        Whether no other release to choose from is better in both.
    flawed
        Which releases are drawn pale, because they are not sound.
    series
        Releases with the same text are joined by a thin line; those of a method when None.
    low, high
        Ends of the interval of `risk`, drawn for those that no other beats.
    chosen
        The position of the release that is recommended.
    limit
        The greatest risk that is acceptable, drawn as a line.
    title
        What the picture shows.
    ax
        Axes to draw into, without title and notes; a figure is made when None.

    Examples
    --------
    >>> figure = plot_map(["bsgi", "tp"], ["2", "2"], [0.3, 0.2], [0.05, 0.4], pareto=[True, True], chosen=0)
    >>> figure.axes[0].get_ylabel()
    'how far answers are off (%, typical error)\nlower is more useful'
    """
    x, y = 100 * np.asarray(risk, dtype=np.float64), 100 * np.asarray(error, dtype=np.float64)
    kept = np.asarray(pareto, dtype=np.bool_)
    if not len(methods) == len(labels) == len(x) == len(y) == len(kept) or not len(x):
        raise ParameterError("plot_map", "methods, labels, risk, error and pareto must be as long as each other")
    pale = np.zeros(len(x), dtype=np.bool_) if flawed is None else np.asarray(flawed, dtype=np.bool_)
    y = np.maximum(y, _LEAST_ERROR)
    with style():
        figure = new_figure(8.2, 4.8) if ax is None else figure_of(ax)
        axes = figure.subplots() if ax is None else ax
        axes.grid(visible=True)
        axes.spines[["top", "right"]].set_visible(False)
        if y.max() > _WIDE_RANGE * y.min():
            axes.set_yscale("log")
            axes.yaxis.set_minor_formatter(_sparse)
            axes.yaxis.set_minor_locator(_steps())
        axes.yaxis.set_major_formatter(plain_number)
        axes.margins(x=0.06, y=0.1)
        _draw_front(axes, x, y, kept, low, high)
        looks = {name: _SERIES[place % len(_SERIES)] for place, name in enumerate(dict.fromkeys(methods))}
        joined = methods if series is None else series
        for line in dict.fromkeys(joined):
            mine = [place for place, one in enumerate(joined) if one == line]
            axes.plot(x[mine], y[mine], color=looks[methods[mine[0]]][0], linewidth=0.7, alpha=0.45, zorder=1.2)
        for name, look in looks.items():
            mine = [place for place, method in enumerate(methods) if method == name]
            _draw_method(axes, x[mine], y[mine], kept[mine], name, look, pale[mine])
        if limit is not None:
            axes.axvline(100 * limit, color=INK, linestyle=":", linewidth=1.2, label="limit of risk")
        if chosen is not None:
            _ring(axes, x[chosen], y[chosen], f"{methods[chosen]} {labels[chosen]}".strip())
        axes.set_xlabel(
            "what attackers learn: of 100 people, how many values more than by guessing\nfurther left is safer"
        )
        axes.set_ylabel("how far answers are off (%, typical error)\nlower is more useful")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), labelspacing=0.9)
        if ax is None:
            write_notes(figure, _NOTES)
            write_title(figure, title)
        _write_labels(figure, axes, (x, y), _important(methods, kept, chosen), labels, kept, chosen)
        _point_to_better(axes, (x, y))
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


def _draw_method(
    axes: Axes, x: FloatArray, y: FloatArray, kept: BoolArray, name: str, look: tuple[str, str], pale: BoolArray
) -> None:
    color, marker = look
    common: dict[str, Any] = {"linestyle": "none", "marker": marker, "color": color, "markersize": _MARK}
    hollow: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 1.3, **common}
    axes.plot(x[~kept & ~pale], y[~kept & ~pale], zorder=2, **hollow)
    axes.plot(x[~kept & pale], y[~kept & pale], alpha=0.4, zorder=1.9, **hollow)
    axes.plot(x[kept], y[kept], markeredgecolor=INK, markeredgewidth=0.8, zorder=3, **common)
    axes.plot([], [], markerfacecolor=color, label=shorten(name, 24), **common)


def _important(methods: Sequence[str], kept: BoolArray, chosen: int | None) -> list[int]:
    """What to label: the chosen one, what no other beats, then the first and the last of every method."""
    ends = [methods.index(name) for name in dict.fromkeys(methods)]
    ends += [len(methods) - 1 - list(methods)[::-1].index(name) for name in dict.fromkeys(methods)]
    first = [] if chosen is None else [chosen]
    return list(dict.fromkeys([*first, *np.flatnonzero(kept).tolist(), *sorted(ends)]))


def _write_labels(
    figure: Figure,
    axes: Axes,
    places: tuple[FloatArray, FloatArray],
    wanted: Sequence[int],
    labels: Sequence[str],
    kept: BoolArray,
    chosen: int | None,
) -> None:
    """Write each label where it covers no mark and no other label; where there is no such place, leave it out."""
    figure.draw_without_rendering()  # lays out, so that places on the paper are known
    points = axes.transData.transform(np.column_stack(places)) * _POINTS / figure.dpi
    frame = np.array(axes.get_window_extent().extents) * _POINTS / figure.dpi
    halves = [_RING / 2 if place == chosen else _MARK / 2 for place in range(len(points))]
    taken = [(x - half, y - half, x + half, y + half) for (x, y), half in zip(points.tolist(), halves, strict=True)]
    written: set[tuple[float, float, str]] = set()
    for place in wanted:
        same = (float(places[0][place]), float(places[1][place]), labels[place])
        if same in written:  # two methods may publish the same
            continue
        written.add(same)
        text = shorten(labels[place] if place != chosen else f"recommended ({labels[place]})", _MOST_LETTERS)
        box = _free_box(points[place], halves[place], (text_width(text) * _LETTER, _LINE), taken, frame)
        if not text or box is None:
            continue
        taken.append(box)
        axes.annotate(
            text,
            (float(places[0][place]), float(places[1][place])),
            xytext=((box[0] + box[2]) / 2 - float(points[place][0]), (box[1] + box[3]) / 2 - float(points[place][1])),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=_FONT,
            fontweight="bold" if kept[place] else "normal",
            color=INK if kept[place] else GRAY,
            zorder=4,
            path_effects=[_outline()],
        )


def _point_to_better(axes: Axes, places: tuple[FloatArray, FloatArray]) -> None:
    """Draw an arrow towards less risk and less error, in a corner where there is no mark; else leave it out."""
    across, up = axes.transAxes.inverted().transform(axes.transData.transform(np.column_stack(places))).T
    for tail, tip in _CORNERS:
        beside = (across > tip[0] - _ROOM) & (across < tail[0] + _ROOM)
        if not (beside & (up > tip[1] - _ROOM) & (up < tail[1] + _ROOM)).any():
            axes.annotate(
                "better",
                tip,
                xytext=tail,
                xycoords="axes fraction",
                textcoords="axes fraction",
                ha="right",
                va="center",
                color=GREEN,
                fontweight="bold",
                arrowprops={"arrowstyle": "-|>", "color": GREEN, "linewidth": 2.0},
            )
            return


def _free_box(
    point: FloatArray, half: float, size: tuple[float, float], taken: Sequence[_Box], frame: FloatArray
) -> _Box | None:
    """A box beside a mark, in points, that touches nothing; None when all around is taken."""
    x, y = float(point[0]), float(point[1])
    width, height = size
    for gap in (half + more for more in _GAPS):
        right, left, middle = x + gap, x - gap - width, x - width / 2
        above, below, beside = y + gap - 1, y - gap - height + 1, y - height / 2
        for corner in (
            (right, above), (right, beside), (right, below), (left, above), (left, beside), (left, below),
            (middle, above), (middle, below),
        ):  # fmt: skip
            box = (*corner, corner[0] + width, corner[1] + height)
            inside = box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
            if inside and not any(_touch(box, other) for other in taken):
                return box
    return None


def _touch(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _ring(axes: Axes, x: float, y: float, label: str) -> None:
    axes.plot(
        [x], [y], linestyle="none", marker="o", markersize=_RING, markerfacecolor="none", markeredgecolor=INK,
        markeredgewidth=1.8, zorder=5, label=f"recommended: {shorten(label, 24)}",
    )  # fmt: skip


def _outline() -> Any:  # noqa: ANN401 - an effect of matplotlib
    """A white rim, so that lines do not run through letters."""
    from matplotlib.patheffects import withStroke

    return withStroke(linewidth=2.0, foreground="white")


def _steps() -> Any:  # noqa: ANN401 - a locator of matplotlib
    from matplotlib.ticker import LogLocator

    return LogLocator(base=10, subs=[2, 5])


def _sparse(number: float, _position: float | None = None) -> str:
    return plain_number(number)
