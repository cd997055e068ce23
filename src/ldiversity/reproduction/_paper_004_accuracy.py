"""Eq. 2 of paper 004 against exact probabilities, on the same releases and with more and more records."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ldiversity._random import FreshWords
from ldiversity.estimation import ESTIMATORS, CellData
from ldiversity.mechanisms import BalancedSelection, SetMechanism, SimpleSelection
from ldiversity.reproduction._base import Exhibit, Outcome, Setting
from ldiversity.reproduction._paper_004_pictures import Curve, Panel, draw_panels
from ldiversity.reproduction._paper_004_runs import draw_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ldiversity._types import FloatArray
    from ldiversity.reproduction._paper_004_data import Survey

__all__ = ["accuracy", "expected_error", "judge_accuracy"]

GOALS: Final = {"education": 50, "income": 500}
"""By how much exact probabilities should divide the error of Eq. 2 at (3, 3), with the paper's numbers of records."""

_L, _D = 3, 3
_RECORDS: Final = (1_000, 3_000, 10_000, 30_162, 100_000)
_EQ_2: Final = "Ex-Proposal"
_EXACT: Final = "Simple, exact Q"
_MSE: Final = "MSE of the whole table"


def accuracy(surveys: Sequence[Survey], setting: Setting) -> Exhibit:
    """Errors at (3, 3) for growing tables with the shares of education and of income."""
    words = FreshWords.from_insecure_seed(setting.seed + 2)
    rows = [row for survey in surveys for n in _RECORDS for row in _measure(survey, n, setting, words)]
    data = pa.Table.from_pylist(rows)
    outcome, judged = judge_accuracy(data, {survey.name: survey.n for survey in surveys})
    return Exhibit(
        "004",
        "Eq. 2",
        "The analysis of Eq. 2 against exact probabilities, (3, 3)-semantic diversity",
        data,
        partial(_draw, data),
        "Two panels, education and income, of errors against the number of records, both on logarithmic axes. "
        + _in_words(data),
        outcome,
        judged,
        "Eq. 2 gives the probability with which a value becomes a dummy, and solving Eq. 1 with it estimates the "
        "histogram with high accuracy.",
    )


def judge_accuracy(data: pa.Table, records: dict[str, int]) -> tuple[Outcome, str]:
    """Compare the errors at the paper's numbers of records with the goals."""
    errors = {(row["table"], row["records"], row["combination"]): row[_MSE] for row in data.to_pylist()}
    ratios = {name: errors[name, n, _EQ_2] / errors[name, n, _EXACT] for name, n in records.items()}
    likely = {name: errors[name, n, _EQ_2] / errors[name, n, "Balanced, MLE"] for name, n in records.items()}
    reached = all(ratios[name] >= GOALS[name] for name in ratios)
    parts = "; ".join(
        f"{name}, {records[name]:,} records: {errors[name, records[name], _EQ_2]:.2g} with Eq. 2 and "
        f"{errors[name, records[name], _EXACT]:.2g} with exact Q from the same sets, 1/{ratios[name]:,.0f} (goal 1/"
        f"{GOALS[name]}), and 1/{likely[name]:,.0f} with balanced selection and maximum likelihood"
        for name in ratios
    )
    few = min(n for _, n, _ in errors)
    fewer = " and ".join(f"1/{errors[name, few, _EQ_2] / errors[name, few, _EXACT]:.1f} for {name}" for name in ratios)
    words = (
        f"{parts}. The goals are {'reached' if reached else 'not reached'}. Eq. 2 is biased for l > 2, and bias does "
        f"not shrink with more records, while the error with exact Q falls as 1/N: with {few:,} records it is "
        f"{fewer}. The incomes are made up (log-normal), so their figure is that of this table, not of the paper's."
    )
    return ("better" if reached else "differs"), words


def _measure(survey: Survey, n: int, setting: Setting, words: FreshWords) -> list[dict[str, Any]]:
    simple = SimpleSelection.fit(survey.domain, survey.distance, _L, _D)
    balanced = BalancedSelection.fit(survey.domain, survey.distance, _L, _D)
    shares = survey.shares
    exactly, drawn = "exact expectation", "mean of simulated releases"
    found = [
        (_EQ_2, expected_error(simple, ESTIMATORS["paper"].matrix(simple), n * shares), exactly),
        (_EXACT, expected_error(simple, simple.inverse, n * shares), exactly),
        ("Balanced, exact Q", balanced.expected_mse(n, shares), exactly),
        ("Balanced, MLE", _simulated(balanced, n, shares, 5 if setting.quick else 40, words), drawn),
    ]
    return [
        {"table": survey.name, "l": _L, "d": _D, "records": n, "combination": name, _MSE: error, "how": how}
        for name, error, how in found
    ]


def expected_error(mechanism: SimpleSelection, matrix: FloatArray, counts: FloatArray) -> float:
    """The exact MSE of the shares that `matrix` times the published counts gives, bias and variance.

    By enumeration of all sets.
    """
    size = mechanism.n_values
    sets = np.array(list(combinations(range(size), mechanism.l)), dtype=np.int32)
    sets = sets[mechanism.admits(sets)]
    given = np.zeros((len(sets), size))
    np.put_along_axis(given, sets.astype(np.int64), mechanism.likelihood(sets), axis=1)
    given /= given.sum(axis=0)
    estimates = (sets[:, :, None] == np.arange(size)).any(axis=1) @ matrix.T
    means, squares = given.T @ estimates, given.T @ estimates**2
    bias = counts @ means - counts
    return float((bias**2 + counts @ (squares - means**2)).mean() / counts.sum() ** 2)


def _simulated(mechanism: SetMechanism, n: int, shares: FloatArray, times: int, words: FreshWords) -> float:
    counts = np.floor(n * shares).astype(np.int64)
    counts[counts.argmax()] += n - counts.sum()
    codes = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    everyone, flat = np.zeros(n, dtype=np.int64), np.full(len(counts), 1 / len(counts))
    errors = []
    for _ in range(times):
        sets = draw_sets(mechanism, codes, words)
        published = np.bincount(sets.ravel(), minlength=len(counts)).astype(np.int64)[None, :]
        cells = CellData((mechanism,), np.array([n]), published, everyone, (sets,), lambda: flat)
        errors.append(((ESTIMATORS["mle"].solve(cells).counts[0] - counts) ** 2).mean() / n**2)
    return float(np.mean(errors))


def _in_words(data: pa.Table) -> str:
    rows = data.to_pylist()
    sentences = []
    for table in dict.fromkeys(row["table"] for row in rows):
        for name in (_EQ_2, _EXACT):
            own = [row[_MSE] for row in rows if row["table"] == table and row["combination"] == name]
            sentences.append(f"{name} on {table} goes from {own[0]:.1g} to {own[-1]:.1g}.")
    return " ".join(sentences)


def _draw(data: pa.Table) -> Any:  # noqa: ANN401 - a figure of matplotlib, which is loaded late
    rows = data.to_pylist()
    panels = []
    for table in dict.fromkeys(row["table"] for row in rows):
        own = [row for row in rows if row["table"] == table]
        curves = []
        for name in dict.fromkeys(row["combination"] for row in own):
            points = [(row["records"], row[_MSE]) for row in own if row["combination"] == name]
            curves.append(Curve(name, [x for x, _ in points], [y for _, y in points]))
        panels.append(Panel(table, "records", curves, log_axis=True))
    return draw_panels("Eq. 2 against exact probabilities, (3, 3)-semantic diversity", panels, _MSE, log=True)
