"""Paper 002, Definition 3: what classes formed for each column separately tell together."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.base.arrays import CodeArray, FloatArray
from ldiversity.base.numbers import percent
from ldiversity.methods import CodedTable, GroupingMethod, GroupingRun, SensitiveColumn
from ldiversity.pictures import BLUE, GRAY, ORANGE, new_figure, style, write_title
from papers.exhibits import Exhibit, Setting
from papers.paper_002.runs import QUICK_ROWS, read_columns
from papers.verdicts import Verdict, decide, each

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["attack", "joint_exhibit", "judge_attack", "run_attack"]

_PROMISED: Final = 0.5
_ALMOST_SURE: Final = 0.9
_EPSILON: Final = 1e-6
_SEPARATE: Final = "separate classes (published)"
_JOINT: Final = "joint classes (ours)"
_CLAIM: Final = (
    "Definition 3: if an attribute meets L-uniqueness, the probability for attackers to get a sensitive item is lower "
    "than 1/L. Several attributes: calculate the partition of each separately."
)


def joint_exhibit(setting: Setting) -> Exhibit:
    """Attack the classes of two columns at L = 2, formed separately and jointly."""
    data = run_attack(read_columns(setting, QUICK_ROWS if setting.quick else None))
    title = "How surely a value is named at L = 2, from the classes of two columns"
    told = "; ".join(f"{row['pair']}, {row['classes']}: {row['mean probability']:.2f}" for row in data.to_pylist())
    alt = f"{title}. Bars of the mean probability of the true value, beside 1/L = {_PROMISED}. {told}."
    return Exhibit("002", "Definition 3", title, data, partial(_draw, data), alt, judge_attack(data), _CLAIM)


def run_attack(columns: tuple[SensitiveColumn, ...]) -> pa.Table:
    """Mean probability of the true value, and how often it is almost sure, for each pair of columns."""
    rows = []
    for pair in combinations(columns, 2):
        for name, method in {_SEPARATE: ld.LLMSU(2, joint=False), _JOINT: ld.LLMSU(2)}.items():
            found = _beliefs(method, pair)
            rows.append(
                {
                    "pair": f"{pair[0].name}, {pair[1].name}",
                    "classes": name,
                    "mean probability": float(found.mean()),
                    "share above 0.9": float((found > _ALMOST_SURE).mean()),
                }
            )
    return pa.Table.from_pylist(rows)


def judge_attack(data: pa.Table) -> Verdict:
    """Whether knowing how two columns go together tells more than 1/L."""
    rows = data.to_pylist()
    separate = [row for row in rows if row["classes"] == _SEPARATE]
    joint = max(row["mean probability"] for row in rows if row["classes"] == _JOINT)
    broken = [row for row in separate if row["mean probability"] > _PROMISED + _EPSILON]
    outcome, why = decide([each("at most 1/L", {row["pair"]: row not in broken for row in separate})])
    worst = max(separate, key=lambda row: float(row["mean probability"]))
    figure = f"up to {worst['mean probability']:.2f} where 1/L is {_PROMISED:g}; {joint:.2f} with joint classes"
    if not broken:
        words = f"The mean probability of the true value is at most {_PROMISED} for every pair of columns."
        return Verdict(outcome, words, figure, why)
    words = (
        "Someone who knows how two columns go together, and sees the classes of both, gives the true value more than "
        f"1/2 on average for {len(broken)} of {len(separate)} pairs of columns; most for {worst['pair']}: "
        f"{worst['mean probability']:.2f} on average, and above {_ALMOST_SURE} for "
        f"{percent(worst['share above 0.9'], 2)} of "
        f"the values. With joint classes it is {joint:.2f}."
    )
    return Verdict(outcome, words, figure, why)


def attack(own: CodeArray, own_class: CodeArray, other: CodeArray, other_class: CodeArray) -> FloatArray:
    """The probability that the attacker gives to the true value, for the records of classes of two.

    They know how often the values of the two columns occur together. The candidates of a record's other value weigh
    the two ways to deal out the values of its class.
    """
    together = np.zeros((int(own.max()) + 1, int(other.max()) + 1))
    np.add.at(together, (own, other), 1.0)
    given_other = together / np.maximum(together.sum(axis=0), 1)
    candidates = np.zeros((int(other_class.max()) + 1, together.shape[1]))
    np.add.at(candidates, (other_class, other), 1.0)
    likely = (candidates / np.maximum(candidates.sum(axis=1, keepdims=True), 1)) @ given_other.T
    first, second = _pairs(own_class)
    true = likely[other_class[first], own[first]] * likely[other_class[second], own[second]]
    swapped = likely[other_class[first], own[second]] * likely[other_class[second], own[first]]
    return np.repeat(true / (true + swapped), 2)


def _pairs(class_of: CodeArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The two rows of each class of two; the few larger classes are left out."""
    order = np.argsort(class_of, kind="stable")
    sizes = np.bincount(class_of)
    starts = (np.cumsum(sizes) - sizes)[sizes == 2]  # noqa: PLR2004 - classes of two
    return order[starts], order[starts + 1]


def _beliefs(method: GroupingMethod, pair: tuple[SensitiveColumn, ...]) -> FloatArray:
    partitions = method.group(CodedTable((), pair), GroupingRun(workers=1)).partitions
    first, second = (partitions[0].class_of, partitions[-1].class_of)
    shown = (first >= 0) & (second >= 0)
    one, other = (pair[0].codes[shown], first[shown]), (pair[1].codes[shown], second[shown])
    return np.concatenate([attack(*one, *other), attack(*other, *one)])


def _draw(data: pa.Table) -> Figure:
    rows = data.to_pylist()
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    measures = {
        "mean probability": "Mean probability of the true value",
        "share above 0.9": "Share of values above 0.9",
    }
    with style():
        figure = new_figure(9.2, 4.0)
        axes = figure.subplots(1, 2, sharey=True)
        for axis, (name, title) in zip(axes, measures.items(), strict=True):
            for offset, (classes, color) in enumerate({_SEPARATE: ORANGE, _JOINT: BLUE}.items()):
                values = [row[name] for row in rows if row["classes"] == classes]
                places = np.arange(len(pairs)) + 0.36 * offset - 0.18
                hatch = "//" if offset else ""
                axis.barh(places, values, height=0.34, color=color, hatch=hatch, edgecolor="white", label=classes)
            axis.set_title(title)
            axis.set_xlim(0, 1)
            axis.grid(axis="x")
            axis.set_yticks(range(len(pairs)), pairs)
        axes[0].axvline(_PROMISED, color=GRAY, linestyle="--", label="1/L, promised")
        axes[0].invert_yaxis()
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        write_title(figure, "Two columns with separate classes, L = 2 (Definition 3)")
    return figure
