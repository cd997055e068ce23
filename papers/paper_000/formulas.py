"""Paper 000, Fig. 1: the expected error, by formula and by simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.numbers import percent
from ldiversity.estimation import ESTIMATORS, CellData
from ldiversity.evaluation.measures import squared_errors
from ldiversity.mechanisms import UniformSelection
from ldiversity.pictures import BLUE, GREEN, INK, ORANGE, PURPLE
from papers.exhibits import Exhibit, Outcome, Setting
from papers.lines import Look, Panel, draw_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ldiversity.base.arrays import FloatArray

__all__ = ["DISTRIBUTIONS", "estimators_exhibit", "formulas_exhibit", "judge_estimators", "judge_formulas", "simulate"]

_CLOSE: Final = 0.1
"""A formula describes the simulation when it is off by at most this share, beyond the noise of the simulation."""

_SIGMA: Final = 4.0


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
            linear, likely = _errors(mechanism, weights / weights.sum(), case.records, repetitions, rng)
            rows.append(
                {
                    "part": case.part,
                    "|S|": case.values,
                    "l": case.l,
                    "N": case.records,
                    "distribution": name,
                    "Eq. 19": mechanism.expected_mse_paper(case.records),
                    "exact formula": mechanism.expected_mse(case.records),
                    "simulation": float(linear.mean()),
                    "standard error": float(linear.std(ddof=1) / np.sqrt(repetitions)),
                    "maximum likelihood": float(likely.mean()),
                    "repetitions": repetitions,
                }
            )
    return pa.Table.from_pylist(rows)


def _errors(
    mechanism: UniformSelection, shares: FloatArray, n: int, repetitions: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The error of Eq. 2 in each repetition, of the paper's reconstruction and of the maximum likelihood."""
    codes = rng.choice(mechanism.n_values, size=repetitions * n, p=shares).astype(np.int32)
    of_row = np.repeat(np.arange(repetitions), n)
    truth = _count(of_row, codes[:, None], repetitions, mechanism.n_values)
    words = rng.integers(2**64, size=(len(codes), 4 * mechanism.words_per_record), dtype=np.uint64)
    members, short = mechanism.sample(codes, words)
    kept = ~short  # so many words run out about never
    records = np.bincount(of_row[kept], minlength=repetitions)
    counts = _count(of_row[kept], members[kept], repetitions, mechanism.n_values)
    cells = CellData((mechanism,), records, counts, of_row[kept], (members[kept],), lambda: shares)
    found = (ESTIMATORS[name]().solve(cells).counts for name in ("linear", "mle"))
    linear, likely = (squared_errors(truth.astype(np.float64), counted) for counted in found)
    return linear, likely


def _count(of_row: NDArray[np.int64], members: NDArray[np.int32], cells: int, values: int) -> NDArray[np.int64]:
    places = (of_row[:, None] * values + members).ravel()
    return np.bincount(places, minlength=cells * values).reshape(cells, values)


def judge_formulas(data: pa.Table) -> tuple[Outcome, str]:
    """Say which formula the simulation follows."""
    simulated, error = (np.asarray(data[name]) for name in ("simulation", "standard error"))
    off = {}
    for name in ("Eq. 19", "exact formula"):
        formula = np.asarray(data[name])
        beyond = np.maximum(np.abs(simulated - formula) - _SIGMA * error, 0.0) / simulated
        off[name] = float(np.mean(beyond > _CLOSE))
    ratio = np.asarray(data["Eq. 19"]) / simulated
    worst = int(np.argmax(ratio))
    row = data.slice(worst, 1).to_pylist()[0]
    n = data.num_rows
    exact = (
        f"the exact formula (|S|-1)(l-1) / (N |S| (|S|-l)) is within {percent(_CLOSE, 2)} of it and {_SIGMA:g} "
        "standard errors"
    )
    shape = (
        f"In {percent(1 - off['exact formula'], 2)} of the {n} simulated settings {exact}; so is Eq. 19 in "
        f"{percent(1 - off['Eq. 19'], 2)}. "
        f"Eq. 19 over simulation is {np.median(ratio):.2f} in the median and {ratio[worst]:.2f} at |S| = {row['|S|']}, "
        f"l = {row['l']}"
    )
    if off["Eq. 19"] == 0:
        return "agrees", f"{shape}."
    reason = (
        "Eq. 19 adds the noise of drawing the table itself from a uniform population, (|S|-1) / (N |S|^2), which Eq. 2 "
        "does not measure"
    )
    whatever = (
        " The distribution of the values does not matter, as the paper says." if off["exact formula"] == 0 else ""
    )
    return "differs", f"{shape}: {reason}.{whatever}"


def formulas_exhibit(data: pa.Table) -> Exhibit:
    """Fig. 1: MSE against |S|, l and N."""
    outcome, words = judge_formulas(data)
    return Exhibit(
        paper="000",
        item="Fig. 1",
        title="Expected error of the proposal against |S|, l and N",
        data=data.drop_columns(["maximum likelihood"]),
        draw=partial(_draw_formulas, data),
        alt="Four panels, mean squared error against the number of values, against l (twice), and against the number "
        "of records: lines for Eq. 19 and the exact formula, marks for the simulation, on or beside them.",
        outcome=outcome,
        words=words,
        claim="The error falls with |S| and N and grows with l; in all simulations (uniform, Gaussian, Poisson) the "
        "results are almost the same as those of Eq. 19.",
    )


def _draw_formulas(data: pa.Table) -> Figure:
    panels = []
    for part, x, title in _PARTS:
        rows = [row for row in data.to_pylist() if row["part"].startswith(part)]
        series: dict[str, tuple[list[float], list[float]]] = {}
        first = [row for row in rows if row["distribution"] == "uniform"]
        series["Eq. 19 of the paper"] = ([row[x] for row in first], [row["Eq. 19"] for row in first])
        series["exact formula"] = ([row[x] for row in first], [row["exact formula"] for row in first])
        for name in DISTRIBUTIONS:
            own = [row for row in rows if row["distribution"] == name]
            series[f"simulation, {name}"] = ([row[x] for row in own], [row["simulation"] for row in own])
        panels.append(Panel(title, _AXES[x], "mean squared error", series, log_x=x == "N"))
    return draw_panels(panels, _LOOKS, title="Fig. 1: expected error, by formula and by simulation", columns=2)


_PARTS: Final = (
    ("a", "|S|", "(a) l = 5, N = 1,000"),
    ("b, |S| = 20", "l", "(b) |S| = 20, N = 1,000"),
    ("b, |S| = 100", "l", "(b) |S| = 100, N = 1,000"),
    ("c", "N", "(c) l = 5, |S| = 20"),
)
_AXES: Final = {"|S|": "number of values |S|", "l": "l", "N": "number of records N"}


def judge_estimators(data: pa.Table) -> tuple[Outcome, str]:
    """Say how maximum likelihood compares with the paper's reconstruction."""
    ratio = np.asarray(data["maximum likelihood"]) / np.asarray(data["simulation"])
    names = np.array(data["distribution"].to_pylist())
    parts = ", ".join(f"{np.median(ratio[names == name]):.2f} ({name})" for name in DISTRIBUTIONS)
    best, worst = float(ratio.min()), float(ratio.max())
    outcome: Outcome = "better" if np.median(ratio) < 1 else "differs"
    words = (
        f"Maximum likelihood has this share of the error of the paper's reconstruction, in the median: {parts}; at "
        f"best {best:.2f}, at worst {worst:.2f}. The published sets tell more than their members counted one by one, "
        "and no share can be negative."
    )
    if worst > 1:
        words += " Where the values are about equally frequent and records few, it is worse; there MAP is the default."
    return outcome, words


def estimators_exhibit(data: pa.Table) -> Exhibit:
    """The same simulations with the maximum likelihood instead of the linear system."""
    outcome, words = judge_estimators(data)
    kept = ["part", "|S|", "l", "N", "distribution", "simulation", "maximum likelihood", "repetitions"]
    return Exhibit(
        paper="000",
        item="Fig. 1, other estimators",
        title="The same simulations, reconstructed by maximum likelihood",
        data=data.select(kept),
        draw=partial(_draw_estimators, data),
        alt="Four panels, mean squared error against the number of values, against l (twice), and against the number "
        "of records: a line for the paper's reconstruction, dashed ones for maximum likelihood.",
        outcome=outcome,
        words=words,
        claim="Solving the linear system of Eq. 6 gives the unbiased maximum likelihood estimate.",
    )


def _draw_estimators(data: pa.Table) -> Figure:
    panels = []
    for part, x, title in _PARTS:
        rows = [row for row in data.to_pylist() if row["part"].startswith(part)]
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
