"""Fig. 5 and 6 of paper 001: the error of three analyses against d, on patients and on incomes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ldiversity.pictures import BLUE, ORANGE, PURPLE, YELLOW, new_figure, style, write_title
from papers.exhibits import Exhibit, Setting
from papers.paper_004.data import stand_in
from papers.paper_004.errors import BY_CELL, Sweep, measure
from papers.paper_004.pictures import label_powers
from papers.verdicts import Verdict, decide, each, single

if TYPE_CHECKING:
    from papers.paper_004.data import Survey

__all__ = ["BARS", "Bars", "claim_of", "error_bars", "judge_bars"]

_L: Final = 2
_NAMES: Final = {"Ex-Simple": "Simple", "Ex-Existing": "Existing", "Ex-Proposal": "Proposal", "Balanced, MLE": "ours"}
_COLORS: Final = {"Simple": PURPLE, "Existing": YELLOW, "Proposal": ORANGE, "ours": BLUE}


@dataclass(frozen=True)
class Bars:
    """A figure of the paper: on which table, and for which d."""

    item: str
    survey: str
    distances: tuple[int, ...]


BARS: Final = (Bars("Fig. 5", "patients", (2, 3)), Bars("Fig. 6", "income", (2, 4, 6)))
"""With l = 2, the only l for which d = 6 is possible with 14 incomes."""


def error_bars(bars: Bars, survey: Survey, setting: Setting) -> Exhibit:
    """Errors of the three analyses, and of ours, for each d."""
    sweep = Sweep(bars.item, survey.name, (tuple((_L, d) for d in bars.distances),))
    measured = measure(sweep, survey, setting).to_pylist()
    rows = [
        {"l": row["l"], "d": row["d"], "analysis": _NAMES[row["combination"]], BY_CELL: row[BY_CELL]}
        for row in measured
        if row["combination"] in _NAMES
    ]
    data = pa.Table.from_pylist(rows)
    return Exhibit(
        "001",
        bars.item,
        f"Mean squared error on {survey.name} against d, l = {_L}",
        data,
        partial(_draw, data, f"{bars.item}: error on {survey.name}, l = {_L}"),
        f"Groups of four bars for d = {_shown(bars)} on a logarithmic axis. " + _in_words(data),
        judge_bars(data),
        claim_of(bars),
        stand_in([survey.name]),
    )


def claim_of(bars: Bars) -> str:
    """What the paper says about a figure; the second statement is about both."""
    return (
        f"For d = {_shown(bars)} the proposed analysis has the smallest MSE of the three; in Fig. 5 and 6 that of the "
        "existing one is sometimes larger than that of the simple one. (l and the scale of the printed bars are not "
        "readable.)"
    )


def judge_bars(data: pa.Table) -> Verdict:
    """Proposal the least of the paper's three, and Existing above Simple somewhere, which is said of both figures."""
    errors = {(row["d"], row["analysis"]): row[BY_CELL] for row in data.to_pylist()}
    distances = sorted({d for d, _ in errors})
    least = {f"d = {d}": errors[d, "Proposal"] < min(errors[d, "Existing"], errors[d, "Simple"]) for d in distances}
    crossed = [d for d in distances if errors[d, "Existing"] > errors[d, "Simple"]]
    gains = [errors[d, "Proposal"] / errors[d, "ours"] for d in distances]
    has = "has" if all(least.values()) else "does not always have"
    words = (
        f"The proposed analysis {has} the smallest error of the three; the existing one is above the simple one "
        f"{f'at d = {crossed[0]}' if crossed else 'nowhere'}. With l = {_L} the probabilities of Eq. 2 are exact; "
        f"balanced selection with maximum likelihood still divides the error by {min(gains):.1f} to {max(gains):.1f}."
    )
    statements = [
        each("the proposed analysis is the least of three", least),
        single("Existing above Simple somewhere", holds=bool(crossed)),
    ]
    outcome, why = decide(statements, better=float(np.prod(gains)) > 1)
    shown = ", ".join(f"{errors[d, 'Proposal']:.2g} at d = {d}" for d in distances)
    return Verdict(
        outcome, words, f"MSE of Proposal {shown}; ours {min(gains):.1f} to {max(gains):.1f} times less", why
    )


def _shown(bars: Bars) -> str:
    return ", ".join(map(str, bars.distances))


def _in_words(data: pa.Table) -> str:
    rows = data.to_pylist()
    groups = []
    for d in dict.fromkeys(row["d"] for row in rows):
        bars = [f"{row['analysis']} {row[BY_CELL]:.1g}" for row in rows if row["d"] == d]
        groups.append(f"d = {d}: {'; '.join(bars)}.")
    return " ".join(groups)


def _draw(data: pa.Table, title: str) -> Any:  # noqa: ANN401 - a figure of matplotlib, which is loaded late
    rows = data.to_pylist()
    distances = list(dict.fromkeys(row["d"] for row in rows))
    with style():
        figure = new_figure(7.0, 3.8)
        axis = figure.subplots()
        for number, (name, color) in enumerate(_COLORS.items()):
            heights = [next(r[BY_CELL] for r in rows if r["d"] == d and r["analysis"] == name) for d in distances]
            places = np.arange(len(distances)) + 0.2 * (number - 1.5)
            label = "balanced, maximum likelihood (ours)" if name == "ours" else name
            axis.bar(places, heights, width=0.18, color=color, label=label)
        axis.set_xticks(range(len(distances)), [f"d = {d}" for d in distances])
        axis.set_yscale("log")
        label_powers(axis.yaxis)
        axis.set_ylabel(BY_CELL)
        figure.legend(loc="outside lower center", ncols=4)
        write_title(figure, title)
    return figure
