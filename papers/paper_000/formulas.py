"""Paper 000, Fig. 1: the expected error, by formula and by simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.numbers import percent
from ldiversity.estimation import ESTIMATORS, CellData
from ldiversity.evaluation.measures import squared_errors
from ldiversity.mechanisms import UniformSelection
from ldiversity.pictures import BLUE, GREEN, INK, ORANGE, PURPLE
from papers.exhibits import Exhibit, Setting
from papers.lines import Look, Panel, draw_panels
from papers.verdicts import Statement, Verdict, decide, each, single

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ldiversity.base.arrays import FloatArray

__all__ = ["DISTRIBUTIONS", "estimators_exhibit", "formulas_exhibit", "judge_estimators", "judge_population",
           "judge_table", "simulate", "table_exhibit"]  # fmt: skip

_CLOSE: Final = 0.1
"""A formula describes the simulation when it is off by at most this share, beyond the noise of the simulation."""

_SIGMA: Final = 4.0
_POPULATION: Final = "simulation against the population"
_TABLE: Final = "simulation against the table"


def _uniform(places: FloatArray) -> FloatArray:
    return np.ones_like(places)


def _gauss(places: FloatArray) -> FloatArray:
    size = len(places)
    weights: FloatArray = np.exp(-(((places - (size - 1) / 2) / (size / 6)) ** 2) / 2)
    return weights


def _poisson(places: FloatArray) -> FloatArray:
    mean = len(places) / 5
    logs = places * np.log(mean) - np.concatenate([[0.0], np.cumsum(np.log(places[1:]))])
    weights: FloatArray = np.exp(logs - logs.max())
    return weights


DISTRIBUTIONS: Final[dict[str, Callable[[FloatArray], FloatArray]]] = {
    "uniform": _uniform,
    "Gaussian": _gauss,
    "Poisson": _poisson,
}
"""Weights of the values: equal; around the middle with standard deviation F/6; with mean F/5."""

_LOOKS: Final = {
    "Eq. 19 of the paper": Look(ORANGE, line="--"),
    "exact formula": Look(INK),
    **{
        f"simulation, {name}": Look(color, marker, "", hollow=True)
        for name, color, marker in zip(DISTRIBUTIONS, (BLUE, GREEN, PURPLE), "o^D", strict=True)
    },
}
_ESTIMATOR_LOOKS: Final = {
    "linear (the paper's), any distribution": Look(INK),
    **{
        f"maximum likelihood, {name}": Look(color, marker, "--", hollow=True)
        for name, color, marker in zip(DISTRIBUTIONS, (BLUE, GREEN, PURPLE), "o^D", strict=True)
    },
}


@dataclass(frozen=True)
class _Case:
    part: str
    values: int
    l: int
    records: int


def _cases(*, quick: bool) -> Iterator[_Case]:
    for values in (10, 20, 50, 100) if quick else range(10, 101, 10):
        yield _Case("a", values, 5, 1000)
    for values in (20, 100):
        for l in (2, 6, 12, 18) if quick else range(2, 19, 2):
            yield _Case(f"b, |S| = {values}", values, l, 1000)
    for records in (100, 500, 2000) if quick else (100, 200, 500, 1000, 2000, 5000, 10_000):
        yield _Case("c", 20, 5, records)


def simulate(setting: Setting) -> pa.Table:
    """Publish made-up tables many times, and reconstruct them."""
    rng = np.random.default_rng(setting.seed)
    repetitions = 20 if setting.quick else 300
    rows: list[dict[str, Any]] = []
    cases = list(_cases(quick=setting.quick))
    for place, case in enumerate(cases):
        setting.progress(0.15 * place / len(cases), f"Fig. 1, |S| = {case.values}, l = {case.l}")
        mechanism = UniformSelection(case.values, case.l)
        for name, weigh in DISTRIBUTIONS.items():
            weights = weigh(np.arange(case.values, dtype=np.float64))
            found = _errors(mechanism, weights / weights.sum(), case.records, repetitions, rng)
            linear, likely = found.table, found.likely
            rows.append(
                {
                    "part": case.part,
                    "|S|": case.values,
                    "l": case.l,
                    "N": case.records,
                    "distribution": name,
                    "Eq. 19": mechanism.expected_mse_paper(case.records),
                    "exact formula": mechanism.expected_mse(case.records),
                    _POPULATION: float(found.population.mean()),
                    f"standard error, {_POPULATION}": _standard_error(found.population),
                    _TABLE: float(linear.mean()),
                    f"standard error, {_TABLE}": _standard_error(linear),
                    "maximum likelihood": float(likely.mean()),
                    "repetitions": repetitions,
                }
            )
    return pa.Table.from_pylist(rows)


class _Errors(NamedTuple):
    """The error of Eq. 2 in each repetition."""

    population: FloatArray
    """Of the paper's reconstruction, against the shares that the table was drawn from."""
    table: FloatArray
    """Of the paper's reconstruction, against the shares in the table."""
    likely: FloatArray
    """Of the maximum likelihood, against the shares in the table."""


def _errors(
    mechanism: UniformSelection, shares: FloatArray, n: int, repetitions: int, rng: np.random.Generator
) -> _Errors:
    """Draw tables from a population, publish and reconstruct them."""
    codes = rng.choice(mechanism.n_values, size=repetitions * n, p=shares).astype(np.int32)
    of_row = np.repeat(np.arange(repetitions), n)
    truth = _count(of_row, codes[:, None], repetitions, mechanism.n_values)
    words = rng.integers(2**64, size=(len(codes), 4 * mechanism.words_per_record), dtype=np.uint64)
    members, short = mechanism.sample(codes, words)
    kept = ~short  # so many words run out about never
    records = np.bincount(of_row[kept], minlength=repetitions)
    counts = _count(of_row[kept], members[kept], repetitions, mechanism.n_values)
    cells = CellData((mechanism,), records, counts, of_row[kept], (members[kept],), lambda: shares)
    linear, likely = (ESTIMATORS[name]().solve(cells).counts for name in ("linear", "mle"))
    drawn_from = np.tile(shares, (repetitions, 1))
    return _Errors(
        squared_errors(drawn_from, linear),
        squared_errors(truth.astype(np.float64), linear),
        squared_errors(truth.astype(np.float64), likely),
    )


def _standard_error(errors: FloatArray) -> float:
    return float(errors.std(ddof=1) / np.sqrt(len(errors)))


def _count(of_row: NDArray[np.int64], members: NDArray[np.int32], cells: int, values: int) -> NDArray[np.int64]:
    places = (of_row[:, None] * values + members).ravel()
    return np.bincount(places, minlength=cells * values).reshape(cells, values)


def judge_population(data: pa.Table) -> Verdict:
    """Compare Eq. 19 with the error against the population, and see how that error moves with |S|, l and N."""
    near = each("Eq. 19 describes the simulation", _near(data, "Eq. 19", _POPULATION))
    moves = each("falls with |S| and N, grows with l", _moves(data, _POPULATION))
    ratio, told = _ratio(data, _POPULATION)
    words = (
        f"Each table is drawn from a population, and the error measured against that. Eq. 19 is within "
        f"{percent(_CLOSE, 2)} of the simulation and {_SIGMA:g} standard errors in {_share(near)} settings; Eq. 19 "
        f"over simulation is {told}. The error falls with |S| and N and grows with l in {_share(moves)} series. "
        "Eq. 19 is exact where all values are equally frequent. It counts the noise of drawing the table itself, as of "
        "a uniform population; with a table that is given there is none (see 'Fig. 1, a given table')."
    )
    outcome, why = decide([near, moves])
    return Verdict(outcome, words, f"Eq. 19 / simulation {np.median(ratio):.2f} in the median", why)


def judge_table(data: pa.Table) -> Verdict:
    """Compare Eq. 19, and the exact formula, with the error against the table that was published."""
    near = each("Eq. 19 describes the simulation", _near(data, "Eq. 19", _TABLE))
    exact = each("the exact formula does", _near(data, "exact formula", _TABLE))
    ratio, told = _ratio(data, _TABLE)
    words = (
        f"Measured against the shares in the table that was published. Eq. 19 is within {percent(_CLOSE, 2)} of the "
        f"simulation and {_SIGMA:g} standard errors in {_share(near)} settings, the exact formula "
        f"(|S|-1)(l-1) / (N |S| (|S|-l)) in {_share(exact)}. Eq. 19 over simulation is {told}"
    )
    if near.fails:
        words += (
            ": Eq. 19 adds the noise of drawing the table itself from a uniform population, (|S|-1) / (N |S|^2), which "
            "the difference between a table and what is estimated of it does not have"
        )
    words += ". The distribution of the values does not matter, as the paper says." if exact.holds else "."
    outcome, why = decide([near])
    return Verdict(outcome, words, f"Eq. 19 / simulation {np.median(ratio):.2f} in the median", f"{why}; {exact}")


def _near(data: pa.Table, formula: str, simulated: str) -> dict[str, bool]:
    """Whether a formula is near the simulation, beyond its noise; by setting."""
    found = {}
    for row in data.to_pylist():
        off = abs(row[simulated] - row[formula]) - _SIGMA * row[f"standard error, {simulated}"]
        found[f"|S| = {row['|S|']}, l = {row['l']}, N = {row['N']}, {row['distribution']}, {row['part']}"] = (
            off <= _CLOSE * row[simulated]
        )
    return found


def _moves(data: pa.Table, simulated: str) -> dict[str, bool]:
    """Whether the error moves from the first to the last setting as the paper says, in each part by distribution."""
    found = {}
    for part, x, _ in _PARTS:
        for name in DISTRIBUTIONS:
            own = [row for row in data.to_pylist() if row["part"] == part and row["distribution"] == name]
            points = sorted((row[x], row[simulated]) for row in own)
            if len(points) > 1:
                found[f"{part}, {name}"] = (points[-1][1] > points[0][1]) is (x == "l")
    return found


def _ratio(data: pa.Table, simulated: str) -> tuple[FloatArray, str]:
    ratio = np.asarray(data["Eq. 19"]) / np.asarray(data[simulated])
    worst = int(np.argmax(np.abs(np.log(ratio))))
    row = data.slice(worst, 1).to_pylist()[0]
    at = f"|S| = {row['|S|']}, l = {row['l']}, {row['distribution']}"
    return ratio, f"{np.median(ratio):.2f} in the median and {ratio[worst]:.2f} at {at}, the farthest from 1"


def _share(statement: Statement) -> str:
    held = [one for own in statement.held.values() for one in own.values()]
    return f"{sum(held)} of {len(held)}"


def formulas_exhibit(data: pa.Table) -> Exhibit:
    """Fig. 1: MSE against |S|, l and N, of a population."""
    return Exhibit(
        paper="000",
        item="Fig. 1",
        title="Expected error of the proposal against |S|, l and N: the shares of the population",
        data=data.drop_columns(["maximum likelihood", _TABLE, f"standard error, {_TABLE}"]),
        draw=partial(_draw_formulas, data, _POPULATION, "Fig. 1: error against the population"),
        alt=f"{_ALT} Marks for the simulation lie on or near the line of Eq. 19.",
        verdict=judge_population(data),
        claim=_CLAIM,
    )


def table_exhibit(data: pa.Table) -> Exhibit:
    """Fig. 1 again, with the error against the table."""
    return Exhibit(
        paper="000",
        item="Fig. 1, a given table",
        title="The same simulations: the shares in the table that was published",
        data=data.drop_columns(["maximum likelihood", _POPULATION, f"standard error, {_POPULATION}"]),
        draw=partial(_draw_formulas, data, _TABLE, "Fig. 1: error against a given table"),
        alt=f"{_ALT} Marks for the simulation lie on the line of the exact formula.",
        verdict=judge_table(data),
        claim=_CLAIM,
    )


_CLAIM: Final = (
    "The error falls with |S| and N and grows with l; in all simulations (uniform, Gaussian, Poisson) the results are "
    "almost the same as those of Eq. 19."
)
_ALT: Final = (
    "Four panels, mean squared error against the number of values, against l (twice), and against the number of "
    "records: lines for Eq. 19 and the exact formula of the error against a table."
)


def _draw_formulas(data: pa.Table, simulated: str, title: str) -> Figure:
    panels = []
    for part, x, head in _PARTS:
        rows = [row for row in data.to_pylist() if row["part"] == part]
        series: dict[str, tuple[list[float], list[float]]] = {}
        first = [row for row in rows if row["distribution"] == "uniform"]
        series["Eq. 19 of the paper"] = ([row[x] for row in first], [row["Eq. 19"] for row in first])
        series["exact formula"] = ([row[x] for row in first], [row["exact formula"] for row in first])
        for name in DISTRIBUTIONS:
            own = [row for row in rows if row["distribution"] == name]
            series[f"simulation, {name}"] = ([row[x] for row in own], [row[simulated] for row in own])
        panels.append(Panel(head, _AXES[x], "mean squared error", series, log_x=x == "N"))
    return draw_panels(panels, _LOOKS, title=title, columns=2)


_PARTS: Final = (
    ("a", "|S|", "(a) l = 5, N = 1,000"),
    ("b, |S| = 20", "l", "(b) |S| = 20, N = 1,000"),
    ("b, |S| = 100", "l", "(b) |S| = 100, N = 1,000"),
    ("c", "N", "(c) l = 5, |S| = 20"),
)
_AXES: Final = {"|S|": "number of values |S|", "l": "l", "N": "number of records N"}


def judge_estimators(data: pa.Table) -> Verdict:
    """Say how maximum likelihood compares with the paper's reconstruction."""
    ratio = np.asarray(data["maximum likelihood"]) / np.asarray(data[_TABLE])
    names = np.array(data["distribution"].to_pylist())
    medians = {name: float(np.median(ratio[names == name])) for name in DISTRIBUTIONS}
    parts = ", ".join(f"{median:.2f} ({name})" for name, median in medians.items())
    best, worst = float(ratio.min()), float(ratio.max())
    less = single("maximum likelihood has less error", holds=bool(np.median(ratio) < 1))
    outcome, why = decide([less], better=True)
    words = (
        f"Maximum likelihood has this share of the error of the paper's reconstruction, in the median: {parts}; at "
        f"best {best:.2f}, at worst {worst:.2f}. The published sets tell more than their members counted one by one, "
        "and no share can be negative."
    )
    if worst > 1:
        words += " Where the values are about equally frequent and records few, it is worse; there MAP is the default."
    return Verdict(outcome, words, f"share of the paper's error: {parts}", why)


def estimators_exhibit(data: pa.Table) -> Exhibit:
    """The same simulations with the maximum likelihood instead of the linear system."""
    kept = ["part", "|S|", "l", "N", "distribution", _TABLE, "maximum likelihood", "repetitions"]
    return Exhibit(
        paper="000",
        item="Fig. 1, other estimators",
        title="The same simulations, reconstructed by maximum likelihood",
        data=data.select(kept),
        draw=partial(_draw_estimators, data),
        alt="Four panels, mean squared error against the number of values, against l (twice), and against the number "
        "of records: a line for the paper's reconstruction, dashed ones for maximum likelihood.",
        verdict=judge_estimators(data),
        claim="Solving the linear system of Eq. 6 gives the unbiased maximum likelihood estimate.",
    )


def _draw_estimators(data: pa.Table) -> Figure:
    panels = []
    for part, x, title in _PARTS:
        rows = [row for row in data.to_pylist() if row["part"] == part]
        first = [row for row in rows if row["distribution"] == "uniform"]
        series = {
            "linear (the paper's), any distribution": (
                [row[x] for row in first],
                [row["exact formula"] for row in first],
            )
        }
        for name in DISTRIBUTIONS:
            own = [row for row in rows if row["distribution"] == name]
            series[f"maximum likelihood, {name}"] = (
                [row[x] for row in own],
                [row["maximum likelihood"] for row in own],
            )
        panels.append(Panel(title, _AXES[x], "mean squared error", series, log_x=x == "N"))
    title = "The same simulations, by maximum likelihood"
    return draw_panels(panels, _ESTIMATOR_LOOKS, title=title, columns=2)
