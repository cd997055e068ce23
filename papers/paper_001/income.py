"""Fig. 6 of paper 001: the error of three analyses of incomes against d."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ldiversity.pictures import BLUE, ORANGE, PURPLE, YELLOW, new_figure, style, write_title
from papers.exhibits import Exhibit, Outcome, Setting
from papers.paper_004.data import stand_in
from papers.paper_004.errors import BY_CELL, Sweep, measure
from papers.paper_004.pictures import label_powers

if TYPE_CHECKING:
    from papers.paper_004.data import Survey

__all__ = ["income_errors", "judge_income_errors"]

_L: Final = 2
_DISTANCES: Final = (2, 4, 6)
_NAMES: Final = {"Ex-Simple": "Simple", "Ex-Existing": "Existing", "Ex-Proposal": "Proposal", "Balanced, MLE": "ours"}
_COLORS: Final = {"Simple": PURPLE, "Existing": YELLOW, "Proposal": ORANGE, "ours": BLUE}


def income_errors(survey: Survey, setting: Setting) -> Exhibit:
    """Errors for d = 2, 4, 6 with l = 2, the only l for which d = 6 is possible with 14 incomes."""
    sweep = Sweep("Fig. 6", "income", (tuple((_L, d) for d in _DISTANCES),))
    measured = measure(sweep, survey, setting).to_pylist()
    rows = [
        {"l": row["l"], "d": row["d"], "analysis": _NAMES[row["combination"]], BY_CELL: row[BY_CELL]}
        for row in measured
        if row["combination"] in _NAMES
    ]
    data = pa.Table.from_pylist(rows)
    outcome, words = judge_income_errors(data)
    return Exhibit(
        "001",
        "Fig. 6",
        f"Mean squared error on incomes against d, l = {_L}",
        data,
        partial(_draw, data),
        "Groups of four bars for d = 2, 4 and 6 on a logarithmic axis. " + _in_words(data),
        outcome,
        words,
        "For d = 2, 4, 6 the proposed analysis has the smallest MSE of the three; that of the existing analysis is "
        "sometimes larger than that of the simple one (l and the scale of the printed bars are not readable).",
        stand_in([survey.name]),
    )


def judge_income_errors(data: pa.Table) -> tuple[Outcome, str]:
    """Proposal the least of the paper's three, and Existing above Simple somewhere."""
    errors = {(row["d"], row["analysis"]): row[BY_CELL] for row in data.to_pylist()}
    distances = sorted({d for d, _ in errors})
    least = all(errors[d, "Proposal"] < min(errors[d, "Existing"], errors[d, "Simple"]) for d in distances)
    crossed = [d for d in distances if errors[d, "Existing"] > errors[d, "Simple"]]
    gains = [errors[d, "Proposal"] / errors[d, "ours"] for d in distances]
    words = (
        f"The proposed analysis {'has' if least else 'does not always have'} the smallest error of the three; the "
        f"existing one is above the simple one {f'at d = {crossed[0]}' if crossed else 'nowhere'}. With l = {_L} the "
        "probabilities of Eq. 2 are exact; balanced selection with maximum likelihood still divides the error by "
        f"{min(gains):.1f} to {max(gains):.1f}."
    )
    if not (least and crossed):
        return "differs", words
    return ("better" if float(np.prod(gains)) > 1 else "agrees"), words


def _in_words(data: pa.Table) -> str:
    rows = data.to_pylist()
    groups = []
    for d in _DISTANCES:
        bars = [f"{row['analysis']} {row[BY_CELL]:.1g}" for row in rows if row["d"] == d]
        groups.append(f"d = {d}: {'; '.join(bars)}.")
    return " ".join(groups)


def _draw(data: pa.Table) -> Any:  # noqa: ANN401 - a figure of matplotlib, which is loaded late
    rows = data.to_pylist()
    with style():
        figure = new_figure(7.0, 3.8)
        axis = figure.subplots()
        for number, (name, color) in enumerate(_COLORS.items()):
            heights = [next(r[BY_CELL] for r in rows if r["d"] == d and r["analysis"] == name) for d in _DISTANCES]
            places = np.arange(len(_DISTANCES)) + 0.2 * (number - 1.5)
            label = "balanced, maximum likelihood (ours)" if name == "ours" else name
            axis.bar(places, heights, width=0.18, color=color, label=label)
        axis.set_xticks(range(len(_DISTANCES)), [f"d = {d}" for d in _DISTANCES])
        axis.set_yscale("log")
        label_powers(axis.yaxis)
        axis.set_ylabel(BY_CELL)
        figure.legend(loc="outside lower center", ncols=4)
        write_title(figure, f"Fig. 6: error on incomes, l = {_L}")
    return figure
