"""Tables 8 to 10 of paper 004: the worked example, and whether its published counts can be a random draw."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any, Final

import numpy as np
import pyarrow as pa

import ldiversity as ld
from ldiversity.base.randomness import FreshWords
from ldiversity.estimation import Paper
from ldiversity.mechanisms import SimpleSelection
from ldiversity.pictures import BLUE, ORANGE, PALE, new_figure, style, write_title
from papers.exhibits import Exhibit, Setting
from papers.paper_004.pictures import label_powers
from papers.paper_004.runs import draw_sets
from papers.verdicts import Verdict, decide, single

__all__ = ["judge_draws", "judge_table_10", "table_9", "table_10"]

ROWS: Final = ("male, over 50", "female, over 50", "male, under 50", "female, under 50")
TABLE_8: Final = np.array([[120, 50, 10, 20, 30], [80, 60, 30, 10, 20], [50, 30, 110, 100, 90], [20, 20, 40, 40, 70]])
TABLE_9: Final = np.array(
    [[143, 72, 60, 86, 99], [108, 70, 65, 64, 93], [188, 108, 155, 130, 179], [83, 62, 73, 57, 105]]
)
TABLE_10: Final = np.array(
    [
        [117.8, 52.5, 11.5, 20.5, 27.8],
        [82.9, 60.3, 30.8, 6.3, 19.9],
        [55.1, 27.8, 105.3, 97.8, 94.1],
        [16.9, 18.3, 44.8, 42.3, 67.9],
    ]
)
EQ_19: Final = 8.06e-6

ROUNDING: Final = 0.0501
"""Half a unit of the last printed place, and a hair for the rounding of halves."""

IMPLAUSIBLE: Final = 0.01
"""Table 9 is no plausible draw when fewer draws than this share come as near to the truth."""

_N: Final = int(TABLE_8.sum())


def table_10() -> Exhibit:
    """Solve Eq. 2 for the published counts of Table 9, and compare with the printed Table 10."""
    estimated = TABLE_9 @ Paper().matrix(_mechanism()).T
    rows = [
        {
            "cell": cell,
            "level": level + 1,
            "true (Table 8)": int(TABLE_8[number, level]),
            "published (Table 9)": int(TABLE_9[number, level]),
            "estimated, printed (Table 10)": float(TABLE_10[number, level]),
            "estimated, rerun": float(estimated[number, level]),
        }
        for (number, cell), level in product(enumerate(ROWS), range(TABLE_8.shape[1]))
    ]
    data = pa.Table.from_pylist(rows)
    verdict = judge_table_10(data)
    return Exhibit(
        "004",
        "Tables 8-10",
        "The worked example: 1,000 people, five levels of obesity, l = 2, d = 2",
        data,
        partial(_draw_table_10, data),
        "Four panels, one for each gender and age. Bars of the true counts of five levels; the rerun and the printed "
        "estimates are markers that lie on each other, close to the tops of the bars.",
        verdict,
        "Solving Eq. 4 for the counts of Table 9 gives Table 10, for men over 50 for example 117.8, 52.5, 11.5, 20.5, "
        "27.8; the MSE of Eq. 19 is about 8.06e-6.",
    )


def judge_table_10(data: pa.Table) -> Verdict:
    """Compare the printed estimates with the rerun ones."""
    rerun, printed = (np.asarray(data[f"estimated, {name}"]) for name in ("rerun", "printed (Table 10)"))
    true = np.asarray(data["true (Table 8)"])
    off = float(np.abs(rerun - printed).max())
    from_printed, unrounded = (float(((each - true) ** 2).mean()) / _N**2 for each in (printed, rerun))
    same = bool(np.isclose(from_printed, EQ_19, atol=0.005e-6))
    words = (
        f"The greatest difference between printed and rerun estimates is {off:.3f}; {ROUNDING:.2f} is rounding. The "
        f"MSE from the printed Table 10 is {from_printed:.3e}, {'which rounds as' if same else 'which is not as'} "
        f"printed ({EQ_19:.2e}), when divided by the {data.num_rows} cells that there are instead of the 25 in Eq. "
        f"19; from unrounded estimates it is {unrounded:.2e}."
    )
    outcome, why = decide(
        [single("Table 10 follows from Table 9", holds=off <= ROUNDING), single("so does its MSE", holds=same)]
    )
    return Verdict(outcome, words, f"greatest difference {off:.3f}; MSE {from_printed:.3e}", why)


def _draw_table_10(data: pa.Table) -> Any:  # noqa: ANN401 - a figure of matplotlib, which is loaded late
    rows = data.to_pylist()
    with style():
        figure = new_figure(9.2, 3.6)
        axes = figure.subplots(1, len(ROWS), sharey=True)
        for axis, cell in zip(axes, ROWS, strict=True):
            own = [row for row in rows if row["cell"] == cell]
            levels = [row["level"] for row in own]
            axis.bar(levels, [row["true (Table 8)"] for row in own], color=PALE, label="true (Table 8)")
            rerun, printed = ([row[f"estimated, {name}"] for row in own] for name in ("rerun", "printed (Table 10)"))
            axis.plot(levels, rerun, "o", color=BLUE, ms=9, mfc="none", label="estimated, rerun")
            axis.plot(levels, printed, "x", color=ORANGE, label="estimated, printed (Table 10)")
            axis.set_title(cell)
            axis.set_xticks(levels)
            axis.set_xlabel("level of obesity")
        axes[0].set_ylabel("records")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        write_title(figure, "Table 10, printed and solved again from Table 9")
    return figure


def table_9(setting: Setting) -> Exhibit:
    """Draw the example many times, and see where the error of the printed Table 9 lies."""
    mechanism = _mechanism()
    words = FreshWords.from_insecure_seed(setting.seed + 9)
    inverse, levels = mechanism.inverse, TABLE_8.shape[1]
    codes = np.repeat(np.tile(np.arange(levels), len(ROWS)), TABLE_8.ravel()).astype(np.int32)
    cell_of = np.repeat(np.arange(len(ROWS)), TABLE_8.sum(axis=1))
    errors = []
    for _ in range(500 if setting.quick else 5_000):
        sets = draw_sets(mechanism, codes, words)
        published = np.bincount((cell_of[:, None] * levels + sets).ravel(), minlength=TABLE_8.size)
        errors.append(float((((published.reshape(TABLE_8.shape) @ inverse.T) - TABLE_8) ** 2).mean()) / _N**2)
    data = pa.table({"draw": np.arange(1, len(errors) + 1), "MSE": errors})
    printed = float(((TABLE_9 @ inverse.T - TABLE_8) ** 2).mean()) / _N**2
    expected = float((TABLE_8 @ mechanism.variance_factors.T).mean()) / _N**2
    verdict = judge_draws(data, printed, expected)
    return Exhibit(
        "004",
        "Table 9",
        "Errors of random draws of the worked example, and that of the printed one",
        data,
        partial(_draw_errors, data, printed, expected),
        "A histogram on a logarithmic axis: the errors of random draws gather around their expected value; the error "
        "of the printed Table 9 is a line far to their left.",
        verdict,
        "Table 9 shows the anonymized results of Table 8 for l = 2 and d = 2, and their MSE is 8.06e-6.",
    )


def judge_draws(data: pa.Table, printed: float, expected: float) -> Verdict:
    """Say whether the printed draw is a plausible one."""
    errors = np.asarray(data["MSE"])
    as_near = int((errors <= printed).sum())
    plausible = as_near > IMPLAUSIBLE * len(errors)
    words = (
        f"The expected MSE of a random draw is {expected:.2g} (mean of {len(errors)} draws: {errors.mean():.2g}, least "
        f"{errors.min():.2g}), {expected / printed:.0f} times the {printed:.2g} of the printed table. {as_near} of the "
        f"draws come as near to the truth: Table 9 is {'a plausible' if plausible else 'no plausible'} random draw, "
        f"and its error is {'typical' if plausible else 'no'} evidence of accuracy."
    )
    outcome, why = decide([single("Table 9 is a plausible draw", holds=plausible)])
    return Verdict(outcome, words, f"MSE {expected:.2g} expected, {as_near} of {len(errors)} draws as near", why)


def _draw_errors(data: pa.Table, printed: float, expected: float) -> Any:  # noqa: ANN401 - a figure of matplotlib
    errors = np.asarray(data["MSE"])
    with style():
        figure = new_figure(7.0, 3.6)
        axis = figure.subplots()
        low = min(printed, float(errors.min())) / 1.5
        axis.hist(errors, bins=np.geomspace(low, float(errors.max()) * 1.2, 50).tolist(), color=BLUE)
        axis.axvline(printed, color=ORANGE, lw=2, label="printed Table 9")
        axis.axvline(expected, color="black", ls="--", label="expected")
        axis.set_xscale("log")
        label_powers(axis.xaxis)
        axis.set_xlabel("MSE (Eq. 18)")
        axis.set_ylabel("draws")
        figure.legend(loc="outside lower center", ncols=2)
        write_title(figure, f"Table 9 against {len(errors)} random draws")
    return figure


def _mechanism() -> SimpleSelection:
    return SimpleSelection.fit(ld.Domain((1, 2, 3, 4, 5), ordered=True), ld.OrderedDistance(), l=2, d=2)
