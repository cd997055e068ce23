"""Paper 003, BSGI: sizes of classes, time, loss and discernibility on Adult, rerun."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

import pyarrow as pa

from ldiversity.pictures import BLUE, GRAY, GREEN, INK, ORANGE, PURPLE
from papers.exhibits import Exhibit, Setting, Study
from papers.lines import Look, Panel, draw_panels
from papers.overlaps import overlapping_lines, tell_overlaps
from papers.paper_003.data import describe_table
from papers.paper_003.runs import CUT, EFFORT, METHODS, NEAR, PUBLISHED, column, run_methods
from papers.paper_003.verdicts import (
    GOALS,
    PRINTED_RATIO,
    PRINTED_SIZES,
    is_whole,
    judge_discernibility,
    judge_gain,
    judge_loss,
    judge_privacy,
    judge_sizes,
    judge_times,
)
from papers.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Paper003", "make_exhibits"]

_L: Final = "l (values that hide each other)"
_PRINTED: Final = "printed in the paper"
_SAME: Final = "The three lines of BSGI lie on each other"
_LOOKS: Final[Mapping[str, Look]] = {
    PUBLISHED: Look(BLUE, "s"),
    NEAR: Look(GREEN, "o"),
    EFFORT: Look(GREEN, "o", "--", hollow=True),
    "Mondrian, distinct": Look(ORANGE, "^"),
    "Mondrian, entropy": Look(ORANGE, "v", ":", hollow=True),
    "Mondrian, frequency": Look(ORANGE, "D", "--", hollow=True),
    "Incognito, distinct": Look(PURPLE, "P"),
    "Incognito, frequency": Look(PURPLE, "X", "--", hollow=True),
    _PRINTED: Look(INK, "x", ""),
    "1/l": Look(GRAY, "", ":"),
    "aimed at, at most": Look(INK, "x", ""),
}
_CUTS: Final = "Mondrian, distinct, regions of cuts"
_RATIOS: Final[Mapping[str, Look]] = {
    _CUTS: Look(INK, "^"),
    "published / Mondrian, regions of cuts": Look(BLUE, "^"),
    "published / Mondrian, tight boxes": Look(BLUE, "D", "--", hollow=True),
    "ours / Mondrian, regions of cuts": Look(GREEN, "^"),
    "ours / Mondrian, tight boxes": Look(GREEN, "D", "--", hollow=True),
}
_SOLID: Final = (PUBLISHED, NEAR, "Mondrian, distinct", "Mondrian, frequency", "Incognito, distinct")

Line: TypeAlias = tuple[list[float], list[float]]


class Paper003(Study):
    """BSGI against Mondrian and Incognito."""

    paper: ClassVar[str] = "003"
    title: ClassVar[str] = "Ye, Deng, Wang, Lv, Liu, Feng: BSGI, an effective algorithm towards stronger l-diversity"

    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        """Table 5 and Fig. 4 to 6, from one set of runs."""
        about = describe_table(setting)
        yield from make_exhibits(run_methods(setting), about)


def make_exhibits(data: pa.Table, about: str = "") -> Iterator[Exhibit]:
    """Make the exhibits from what was measured; `about` says on which columns, in the first of them."""
    sizes = judge_sizes(data)
    yield _exhibit(
        "Table 5",
        "Average number of records in a class",
        _with_printed(data),
        partial(_draw_sizes, data),
        sizes._replace(words=f"{sizes.words} {about}".strip()),
        "BSGI 2.00, 3.00, 4.00, 5.00, 6.00, 7.00 for l = 2 to 7; Mondrian 2.47, 4.32, 6.71, 9.81, 13.79, 18.73; "
        "Incognito 471, 471, 628, 942, 1005, 1005.",
    )
    yield _exhibit(
        "Fig. 4",
        "Time, in units of the published BSGI's at l = 2",
        data.select(["method", "l", "records", "time", "seconds"]),
        partial(_draw_one, data, "time", "Time (Fig. 4)", "processor time (published BSGI at l=2: 1); noisy"),
        judge_times(data),
        "Mondrian takes about 90 s at l = 2 and 75 s at l = 7; BSGI is much faster and independent of l; Incognito "
        "takes more than half an hour.",
    )
    yield _exhibit(
        "Fig. 5",
        "Information loss",
        data.select(["method", "l", "loss", CUT]),
        partial(_draw_loss, data),
        judge_loss(data),
        "BSGI loses least; at l = 7 its loss is 70 % of Mondrian's; Incognito loses more by orders of magnitude. "
        "(The other heights of the curves are not printed.)",
    )
    yield _exhibit(
        "Fig. 5 (privacy)",
        "What the loss buys: the share of one value in a class",
        data.select(["method", "l", "greatest share", "mean share"]),
        partial(_draw_shares, data),
        judge_privacy(data),
        "The cost is worthwhile, because unique distinct l-diversity largely enhances privacy preservation: no value "
        "can be inferred with a probability above 1/l.",
    )
    yield _exhibit(
        "Fig. 5 (ours)",
        "Loss of this package's BSGI, as a share of the published one's",
        _gains(data),
        partial(_draw_gain, data),
        judge_gain(data),
        "Max-l ensures as many classes as possible, but may be unable to achieve minimal information loss.",
    )
    yield _exhibit(
        "Fig. 6",
        "Discernibility: the sum of squared sizes of classes",
        data.select(["method", "l", "discernibility"]),
        partial(_draw_one, data, "discernibility", "Discernibility (Fig. 6)", "sum of squared sizes"),
        judge_discernibility(data),
        "BSGI always achieves the best result, and the cost of Incognito exceeds the other two by orders of "
        "magnitude. (The heights of the curves are not printed.)",
    )


def _exhibit(
    item: str, title: str, data: pa.Table, draw: Callable[[], Figure], verdict: Verdict, claim: str
) -> Exhibit:
    words = verdict.words if item == "Table 5" else f"{verdict.words} (Sensitive: occupation; see Table 5.)"
    told = verdict._replace(words=words)
    return Exhibit("003", item, title, data, draw, f"{title}. {_alt(data)}", told, claim)


def _alt(data: pa.Table) -> str:
    """The picture in words: where each line begins and ends."""
    measured = next(name for name in data.column_names if name not in {"method", "l", "records"})
    parts = []
    for name in dict.fromkeys(data["method"].to_pylist()):
        found = column(data, name, measured)
        first, last = min(found), max(found)
        parts.append(f"{name}: {found[first]:.3g} at l={first}, {found[last]:.3g} at l={last}")
    return f"Lines of {measured} against l. {'; '.join(parts)}."


def _series(data: pa.Table, name: str, methods: Iterable[str] = METHODS) -> dict[str, Line]:
    return {method: _line(column(data, method, name)) for method in methods}


def _line(values: Mapping[int, float]) -> Line:
    return [float(l) for l in values], list(values.values())


def _with_printed(data: pa.Table) -> pa.Table:
    printed = [PRINTED_SIZES[row["method"].split(",")[0]][row["l"]] for row in data.select(["method", "l"]).to_pylist()]
    sizes = data.select(["method", "l", "average size", "classes"])
    return sizes.append_column("printed in the paper", pa.array(printed, pa.float64()))


def _gains(data: pa.Table) -> pa.Table:
    published = column(data, PUBLISHED, "loss")
    goals: Mapping[int, float] = GOALS if is_whole(data) else {}
    rows = [
        {
            "method": name,
            "l": l,
            "share of the published loss": loss / published[l],
            "loss": loss,
            "aimed at": goals.get(l),
        }
        for name in (NEAR, EFFORT)
        for l, loss in column(data, name, "loss").items()
    ]
    return pa.Table.from_pylist(rows)


def _draw_sizes(data: pa.Table) -> Figure:
    printed = [_line(sizes) for sizes in PRINTED_SIZES.values()]
    points = [x for xs, _ in printed for x in xs], [y for _, ys in printed for y in ys]
    panel = Panel(_remark(data), _L, "records in a class", {**_series(data, "average size"), _PRINTED: points})
    title = "Average size of classes (Table 5)"
    return draw_panels([panel], _LOOKS, title=title, columns=1, size=(7.0, 4.0))


def _remark(data: pa.Table) -> str:
    """Say of lines that hide each other that they do."""
    sizes = {tuple(column(data, name, "discernibility").values()) for name in (PUBLISHED, NEAR, EFFORT)}
    return _SAME if len(sizes) == 1 else ""


def _draw_one(data: pa.Table, name: str, title: str, y: str) -> Figure:
    panel = Panel(_remark(data) if name == "discernibility" else "", _L, y, _series(data, name))
    return draw_panels([panel], _LOOKS, title=title, columns=1, size=(7.0, 4.0))


def _draw_loss(data: pa.Table) -> Figure:
    ratios: dict[str, Line] = {}
    for word, name in {"published": PUBLISHED, "ours": NEAR}.items():
        losses = column(data, name, "loss")
        for regions, measured in {"regions of cuts": CUT, "tight boxes": "loss"}.items():
            theirs = column(data, "Mondrian, distinct", measured)
            ratios[f"{word} / Mondrian, {regions}"] = _line({l: losses[l] / theirs[l] for l in losses})
    ratios[_PRINTED] = _line({7: PRINTED_RATIO})
    cuts = {_CUTS: _line(column(data, "Mondrian, distinct", CUT))}
    panels = [
        Panel("Loss (tight boxes where not said)", _L, "mean loss of a cell", {**_series(data, "loss"), **cuts}),
        Panel("BSGI over Mondrian, distinct", _L, "ratio of losses", ratios),
    ]
    return draw_panels(panels, {**_LOOKS, **_RATIOS}, title="Information loss (Fig. 5)", columns=2, size=(4.6, 3.6))


def _draw_shares(data: pa.Table) -> Figure:
    bound = {"1/l": _line({l: 1 / l for l in column(data, PUBLISHED, "loss")})}
    titles = {"Greatest share in any class": "greatest share", "Mean over records": "mean share"}
    panels = [
        Panel(title, _L, "share of a class", {**_series(data, name, _SOLID), **bound}, log_y=False, y_from_zero=True)
        for title, name in titles.items()
    ]
    overlaps = [(panel.title, tell_overlaps(overlapping_lines([panel.series]))) for panel in panels]
    notes = [f"{title}, lines on each other: {told}" for title, told in overlaps if told]
    title = "The share of the most frequent value in a class"
    return draw_panels(panels, _LOOKS, title=title, columns=2, size=(4.6, 3.4), notes=notes)


def _draw_gain(data: pa.Table) -> Figure:
    published = column(data, PUBLISHED, "loss")
    series: dict[str, Line] = {}
    for name in (NEAR, EFFORT):
        series[name] = _line({l: loss / published[l] for l, loss in column(data, name, "loss").items()})
    if is_whole(data):
        series["aimed at, at most"] = _line(GOALS)
    panel = Panel("", _L, "loss / published loss", series, log_y=False, y_from_zero=True)
    return draw_panels([panel], _LOOKS, title="Loss of our BSGI over the published one's", columns=1, size=(6.4, 3.4))
