"""Small cells, which paper 000 does not look at: where the choice of the estimator matters most."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

import ldiversity as ld
from ldiversity.base.numbers import plain_number
from ldiversity.pictures import BLUE, GRAY, new_figure, style, write_title
from papers.exhibits import Exhibit, Setting
from papers.tables import adult_table
from papers.verdicts import Verdict, decide, single

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["cells_exhibit", "judge_cells", "measure_cells"]

_BY: Final = ("workclass", "marital-status", "race", "income")
_SENSITIVE: Final = "education"
_L: Final = 3
_LABELS: Final = {
    "linear": "linear (the paper's)",
    "simplex": "linear, drawn to shares",
    "mle": "maximum likelihood",
    "map": "MAP, whole release as prior",
}
_GOAL: Final = 0.5


def measure_cells(setting: Setting) -> pa.Table:
    """Publish Adult several times and estimate education in many small cells."""
    setting.progress(0.98, "small cells")
    table = adult_table(setting, unknown=True)
    keys = np.unique(np.array(["|".join(row.values()) for row in table.select(_BY).to_pylist()]), return_counts=True)[1]
    rows = []
    for repetition in range(1 if setting.quick else 5):
        release = ld.anonymize(
            table,
            quasi=list(_BY),
            sensitive=_SENSITIVE,
            method=ld.RandomizedAddition(l=_L),
            insecure_seed=setting.seed + repetition,
        )
        for name in _LABELS:
            error = ld.distribution_mse(table, release, by=list(_BY), estimator=name)
            rows.append(
                {
                    "release": repetition + 1,
                    "cells": len(keys),
                    "median records in a cell": float(np.median(keys)),
                    "estimator": name,
                    "MSE (Eq. 2)": error,
                }
            )
    return pa.Table.from_pylist(rows)


def judge_cells(data: pa.Table) -> Verdict:
    """Compare every estimator with the paper's."""
    means = _means(data)
    ratios = {name: mean / means["linear"] for name, mean in means.items()}
    first = data.slice(0, 1).to_pylist()[0]
    shown = ", ".join(f"{_LABELS[name]} {ratio:.2f}" for name, ratio in ratios.items() if name != "linear")
    words = (
        f"Education of all of Adult, l = {_L}, in {first['cells']} cells ({', '.join(_BY)}) of "
        f"{first['median records in a cell']:g} records in the median. Share of the paper's error: {shown}. The "
        f"goal of at most {_GOAL:g} for MAP is {'met' if ratios['map'] <= _GOAL else 'missed'}."
    )
    outcome, why = decide([single(f"at most {_GOAL:g} with MAP", holds=ratios["map"] <= _GOAL)], better=True)
    return Verdict(outcome, words, f"share of the paper's error: {shown}", why)


def cells_exhibit(data: pa.Table) -> Exhibit:
    """The error in small cells, by estimator."""
    return Exhibit(
        paper="000",
        item="Small cells",
        title="The error in small cells, by estimator",
        data=data,
        draw=partial(_draw, data),
        alt=f"Bars of the mean squared error of {len(_means(data))} estimators on the same releases, longest for "
        f"{_LABELS[max(_means(data), key=_means(data).__getitem__)]}, shortest for "
        f"{_LABELS[min(_means(data), key=_means(data).__getitem__)]}.",
        verdict=judge_cells(data),
        claim="Not in the paper, whose estimates of small cells may be far below 0 or above the number of records.",
    )


def _means(data: pa.Table) -> dict[str, float]:
    names, errors = np.array(data["estimator"].to_pylist()), np.asarray(data["MSE (Eq. 2)"])
    return {name: float(errors[names == name].mean()) for name in dict.fromkeys(names.tolist())}


def _draw(data: pa.Table) -> Figure:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    means = _means(data)
    with style():
        figure = new_figure(7.2, 2.8)
        axis = figure.subplots()
        colors = [GRAY if name == "linear" else BLUE for name in means]
        bars = axis.barh([_LABELS[name] for name in means], list(means.values()), 0.6, color=colors)
        axis.bar_label(bars, [f"{mean / means['linear']:.2f}" for mean in means.values()], padding=3)
        axis.invert_yaxis()
        axis.margins(x=0.1)
        axis.xaxis.set_major_locator(MaxNLocator(nbins=6))
        axis.xaxis.set_major_formatter(FuncFormatter(plain_number))
        axis.set_xlabel("mean squared error; the numbers are shares of the paper's")
        axis.grid(axis="x")
        write_title(figure, f"Small cells: education in {data['cells'][0].as_py()} cells of Adult")
        return figure
