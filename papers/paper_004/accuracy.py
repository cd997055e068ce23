"""Eq. 2 of paper 004 against exact probabilities, on the same releases and with more and more records."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

import ldiversity as ld
from ldiversity.base.randomness import FreshWords
from ldiversity.estimation import Paper
from ldiversity.mechanisms import BalancedSelection, SetMechanism, SimpleSelection
from papers.exhibits import Exhibit, Setting
from papers.paper_004.data import stand_in
from papers.paper_004.errors import BY_CELL, WHOLE
from papers.paper_004.pictures import Curve, Panel, draw_panels
from papers.paper_004.runs import Fitted, draw_sets
from papers.verdicts import Verdict, decide, single

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ldiversity.base.arrays import FloatArray
    from papers.paper_004.data import Survey

__all__ = ["accuracy", "expected_error", "judge_accuracy"]

GOALS: Final = {"education": 50, "income": 500}
"""By how much exact probabilities should divide the error of Eq. 2 at (3, 3) in the histogram of the whole table, with
the paper's numbers of records."""

_L, _D = 3, 3
_RECORDS: Final = (1_000, 3_000, 10_000, 30_162, 100_000)
_EQ_2: Final = "Ex-Proposal"
_EXACT: Final = "Simple, exact Q"
_LIKELY: Final = "Balanced, MLE"


def accuracy(surveys: Sequence[Survey], setting: Setting) -> Exhibit:
    """Errors at (3, 3) for growing tables with the shares of education and of income."""
    words = FreshWords.from_insecure_seed(setting.seed + 2)
    rows = [row for survey in surveys for n in _RECORDS for row in _measure(survey, n, setting, words)]
    data = pa.Table.from_pylist(rows)
    verdict = judge_accuracy(data, {survey.name: survey.n for survey in surveys})
    return Exhibit(
        "004",
        "Eq. 2",
        "The analysis of Eq. 2 against exact probabilities, (3, 3)-semantic diversity",
        data,
        partial(_draw, data),
        "Two panels, education and income, of errors in the whole table against the number of records, both on "
        "logarithmic axes. " + _in_words(data),
        verdict,
        "Eq. 2 gives the probability with which a value becomes a dummy, and solving Eq. 1 with it estimates the "
        "histogram with high accuracy.",
        stand_in([survey.name for survey in surveys]),
    )


def judge_accuracy(data: pa.Table, records: dict[str, int]) -> Verdict:
    """Compare the errors at the paper's numbers of records with the goals, by both measures."""
    measures = {WHOLE: "In the histogram of the whole table", BY_CELL: "By age and gender, as in Fig. 11 and 12"}
    gains = {measure: _gains(data, records, measure) for measure in measures}
    sentences = []
    for measure, where in measures.items():
        parts = "; ".join(
            f"{name} 1/{exact:,.0f} with exact Q from the same sets and 1/{likely:,.0f} with balanced selection and "
            "maximum likelihood"
            for name, (exact, likely) in gains[measure].items()
        )
        missed = [name for name, (exact, _) in gains[measure].items() if exact < GOALS[name]]
        verdict = f"NOT reached for {' and '.join(missed)}" if missed else "reached"
        sentences.append(
            f"{where}, the error becomes, as a share of Eq. 2's: {parts}. With exact Q the goals are {verdict}."
        )
    goals = " and ".join(f"1/{goal} for {name}" for name, goal in GOALS.items())
    reached = all(exact >= GOALS[name] for name, (exact, _) in gains[WHOLE].items())
    lower = all(min(both) > 1 for found in gains.values() for both in found.values())
    errors = {(row["table"], row["records"], row["combination"]): row[WHOLE] for row in data.to_pylist()}
    few = min(n for _, n, _ in errors)
    fewer = " and ".join(f"1/{errors[name, few, _EQ_2] / errors[name, few, _EXACT]:.1f} for {name}" for name in records)
    counts = " and ".join(f"{n:,} records of {name}" for name, n in records.items())
    words = (
        f"With {counts}; the goals, {goals}, name no measure, and the verdict takes the whole table. "
        f"{' '.join(sentences)} In small cells chance counts for more beside the bias. Eq. 2 is "
        "biased for l > 2, and bias does not shrink with more records, while the error with exact Q falls as 1/N: with "
        f"{few:,} records it is, in the whole table, {fewer}. The incomes are made up (log-normal), so their figure is "
        "that of this table, not of the paper's."
    )
    outcome, why = decide(
        [single("exact probabilities reach the goals", holds=reached), single("less error everywhere", holds=lower)],
        better=True,
    )
    figure = "; ".join(f"{name} 1/{exact:,.0f} of Eq. 2's error" for name, (exact, _) in gains[WHOLE].items())
    return Verdict(outcome, words, figure, why)


def _gains(data: pa.Table, records: dict[str, int], measure: str) -> dict[str, tuple[float, float]]:
    """By how much exact Q, and balanced selection with maximum likelihood, divide the error of Eq. 2; by table."""
    errors = {(row["table"], row["records"], row["combination"]): row[measure] for row in data.to_pylist()}
    gains = {}
    for name, n in records.items():
        eq_2, exact, likely = (errors[name, n, each] for each in (_EQ_2, _EXACT, _LIKELY))
        gains[name] = (eq_2 / exact, eq_2 / likely)
    return gains


def _measure(survey: Survey, n: int, setting: Setting, words: FreshWords) -> list[dict[str, Any]]:
    simple = SimpleSelection.fit(survey.domain, survey.distance, _L, _D)
    balanced = BalancedSelection.fit(survey.domain, survey.distance, _L, _D)
    cells: FloatArray = survey.truth.astype(np.float64) * (n / survey.n)
    exactly, drawn = "exact expectation", "mean of simulated releases"
    found: list[tuple[str, tuple[float, float | None], str]] = [
        (name, (expected_error(simple, matrix, cells.sum(axis=0)), expected_error(simple, matrix, cells)), exactly)
        for name, matrix in {_EQ_2: Paper().matrix(simple), _EXACT: simple.inverse}.items()
    ]
    # An expected error is 1/n times that of one record, so a cell's squared error of counts is its size times that.
    by_cell = float(np.mean([balanced.expected_mse(1, own / own.sum()) * own.sum() for own in cells])) / n**2
    found.append(("Balanced, exact Q", (balanced.expected_mse(n, survey.shares), by_cell), exactly))
    found.append((_LIKELY, _simulated(balanced, n, survey, 5 if setting.quick else 40, words), drawn))
    return [
        {
            "table": survey.name,
            "l": _L,
            "d": _D,
            "records": n,
            "combination": name,
            WHOLE: in_all,
            BY_CELL: in_cells,
            "how": how,
        }
        for name, (in_all, in_cells), how in found
    ]


def expected_error(mechanism: SimpleSelection, matrix: FloatArray, counts: FloatArray) -> float:
    """The exact MSE of the shares that `matrix` times the published counts gives, bias and variance.

    By enumeration of all sets. `counts` has the shape (F,), or (cells, F) for the MSE over all cells.
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


def _simulated(
    mechanism: SetMechanism, n: int, survey: Survey, times: int, words: FreshWords
) -> tuple[float, float | None]:
    """Mean errors of maximum likelihood, in the whole table and, for the table itself, by age and gender."""
    codes, whole = survey.codes, survey.truth.sum(axis=0)
    if n != survey.n:
        whole = np.floor(n * survey.shares).astype(np.int64)
        whole[whole.argmax()] += n - whole.sum()
        codes = np.repeat(np.arange(len(whole)), whole).astype(np.int32)
    everyone = np.zeros(n, dtype=np.int64)
    fitted = Fitted(mechanism)
    errors, by_cell = [], []
    for _ in range(times):
        sets = draw_sets(mechanism, codes, words)
        errors.append(_mse(fitted.analyze(everyone, 1, sets, "mle"), whole[None, :]))
        if n == survey.n:
            by_cell.append(_mse(fitted.analyze(survey.cell_of, len(survey.cells), sets, "mle"), survey.truth))
    return float(np.mean(errors)), float(np.mean(by_cell)) if by_cell else None


def _mse(estimated: FloatArray | None, truth: NDArray[np.int64]) -> float:
    if estimated is None:
        raise ld.InternalError("papers", "maximum likelihood gave no estimate.")
    return float(((estimated - truth) ** 2).mean() / truth.sum() ** 2)


def _in_words(data: pa.Table) -> str:
    rows = data.to_pylist()
    sentences = []
    for table in dict.fromkeys(row["table"] for row in rows):
        for name in (_EQ_2, _EXACT):
            own = [row[WHOLE] for row in rows if row["table"] == table and row["combination"] == name]
            sentences.append(f"{name} on {table} goes from {own[0]:.1g} to {own[-1]:.1g}.")
    return " ".join(sentences)


def _draw(data: pa.Table) -> Any:  # noqa: ANN401 - a figure of matplotlib, which is loaded late
    rows = data.to_pylist()
    panels = []
    for table in dict.fromkeys(row["table"] for row in rows):
        own = [row for row in rows if row["table"] == table]
        curves = []
        for name in dict.fromkeys(row["combination"] for row in own):
            points = [(row["records"], row[WHOLE]) for row in own if row["combination"] == name]
            curves.append(Curve(name, [x for x, _ in points], [y for _, y in points]))
        panels.append(Panel(table, "records", curves, log_axis=True))
    return draw_panels("Eq. 2 against exact probabilities, (3, 3)-semantic diversity", panels, WHOLE, log=True)
