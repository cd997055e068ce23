"""Paper 002, L-LMSU: hide loss, additional loss and time against L and the number of sensitive columns, rerun."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

import pyarrow as pa

from ldiversity.pictures import BLUE, GREEN, ORANGE, PURPLE
from papers.exhibits import Exhibit, Setting, Study
from papers.lines import Look, Panel, draw_panels, power
from papers.paper_002.growth import growth_exhibit
from papers.paper_002.joint import joint_exhibit
from papers.paper_002.runs import JOINT, MAXIMAL, PUBLISHED, UNMERGED, by, run_columns, run_levels
from papers.paper_002.verdicts import judge_additional, judge_hidden, judge_time
from papers.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Paper002", "make_exhibits"]

_LOOKS: Final[Mapping[str, Look]] = {
    PUBLISHED: Look(ORANGE, "s"),
    UNMERGED: Look(GREEN, "^"),
    MAXIMAL: Look(PURPLE, "D"),
    JOINT: Look(BLUE, "o", "--", hollow=True),
}
_LABELS: Final = {
    "hide loss": "hide loss, mean of columns",
    "missing": "share of records missing",
    "additional loss": "additional loss",
    "time": "time (MBF: 1); noisy",
}
_HEADS: Final = {"hide loss": "As the paper counts", "missing": "Records missing from at least one column"}
_NO_FIGURES: Final = "(The paper prints curves without figures.)"
_CLAIMS: Final = {
    "hide loss": (
        "L-LMSU hides less than MBF, and its hide loss grows slowly; the calculation of the merging policy is an "
        f"important factor to reduce the hide loss. {_NO_FIGURES}"
    ),
    "additional loss": (
        "The additional information loss of MBF is less than that of L-LMSU, because lower hide loss leads to more "
        f"classes that left records can join. {_NO_FIGURES}"
    ),
    "time": (
        f"L-LMSU is faster than MBF. {_NO_FIGURES} That its time is linear in the number of records is judged in an "
        "item of its own, where that number varies."
    ),
}
_BESIDE: Final = {"additional loss": ("left", "joined"), "time": ("milliseconds",)}
"""What stands beside a measurement in its table."""

_LINEAR_TO: Final = 0.01
"""Thousandths up to which the axis of additional losses is linear, so that zero can be drawn."""

_TITLES: Final = {"hide loss": "Hide loss", "additional loss": "Additional loss", "time": "Time"}
_JUDGES: Final[Mapping[str, Callable[[pa.Table], Verdict]]] = {
    "hide loss": judge_hidden,
    "additional loss": judge_additional,
    "time": judge_time,
}


class Paper002(Study):
    """L-LMSU against MBF."""

    paper: ClassVar[str] = "002"
    title: ClassVar[str] = (
        "Cui, Yang, Meng, Xie: A privacy protection algorithm based on hierarchical multiple sensitive attributes "
        "allowed by least mean square criterion"
    )

    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        """Fig. 1 and 2, panel by panel, the time against the number of records, and what Definition 3 promises."""
        half = replace(setting, progress=lambda share, what: setting.progress(share / 4, what))
        rest = replace(setting, progress=lambda share, what: setting.progress((1 + 3 * share) / 4, what))
        yield from make_exhibits("Fig. 1", run_levels(half))
        yield from make_exhibits("Fig. 2", run_columns(rest))
        yield growth_exhibit(setting)
        yield joint_exhibit(setting)


def make_exhibits(figure: str, data: pa.Table) -> Iterator[Exhibit]:
    """Make the three panels of a figure from what was measured."""
    against = "L" if figure == "Fig. 1" else "the number of sensitive columns"
    for panel, name in zip("abc", _TITLES, strict=True):
        item = f"{figure}({panel})"
        title = f"{_TITLES[name]} against {against}"
        shown = ["hide loss", "missing"] if name == "hide loss" else [name]
        table = data.select(["method", "columns", "L", *shown, *_BESIDE.get(name, ())])
        draw = partial(_draw, data, shown, title=f"{title}, {item}")
        alt = f"{title}. {_alt(data, shown[-1])}"
        yield Exhibit("002", item, title, table, draw, alt, _JUDGES[name](data), _CLAIMS[name])


def _draw(data: pa.Table, shown: list[str], title: str) -> Figure:
    levels = sorted(set(data["L"].to_pylist()))
    if len(set(data["columns"].to_pylist())) == 1:
        panels = [_panel(data, name, _HEADS.get(name, ""), columns=2) for name in shown]
        size = (4.6, 3.4) if len(shown) > 1 else (6.4, 3.6)
        return draw_panels(panels, _LOOKS, title=title, columns=len(panels), size=size)
    panels = [_panel(data, name, f"L={level}", L=level) for name in shown for level in levels]
    figure = draw_panels(panels, _LOOKS, title=title, columns=len(levels), size=(3.3, 2.8))
    if "additional loss" in shown:
        _by_powers(figure, 1000 * max(data["additional loss"].to_pylist()))
    return figure


def _by_powers(figure: Figure, largest: float) -> None:
    """Put the panels on one axis of powers of ten that begins at zero: the losses differ by a factor of thousands."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for axis in figure.axes:
        axis.set_yscale("symlog", linthresh=_LINEAR_TO, linscale=0.6)
        axis.set_ylim(-_LINEAR_TO / 8, max(3 * largest, 10 * _LINEAR_TO))
        axis.yaxis.set_major_formatter(FuncFormatter(power))
        axis.yaxis.set_minor_formatter(NullFormatter())


def _panel(data: pa.Table, name: str, title: str, **where: int) -> Panel:
    series = {}
    scale = 1000 if name == "additional loss" else 1
    for method in _LOOKS:
        found = by(data, method, name, **where)
        series[method] = ([float(x) for x in found], [scale * value for value in found.values()])
    x = "sensitive columns" if "L" in where else "L (different values in a class)"
    y = f"{_LABELS[name]}, in thousandths" if scale > 1 else _LABELS[name]
    return Panel(title, x, y, series, log_y=name == "time", y_from_zero=name != "time")


def _alt(data: pa.Table, name: str) -> str:
    """The picture in words: the ends of each line."""
    rows = data.to_pylist()
    parts = []
    for method in _LOOKS:
        own = [row for row in rows if row["method"] == method]
        ends = [f"{row[name]:.3g} with {row['columns']} columns at L={row['L']}" for row in (own[0], own[-1])]
        parts.append(f"{method}: {' and '.join(ends)}")
    return f"Lines of {_LABELS[name]}. {'; '.join(parts)}."
