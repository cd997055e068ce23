"""Fig. 8 to 10 of paper 004: histograms by age, gender and sensitive value, true and estimated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ldiversity.base.randomness import FreshWords
from papers.exhibits import Exhibit, Setting
from papers.paper_004.data import EDUCATION_TREE, stand_in
from papers.paper_004.pictures import draw_heat_maps
from papers.paper_004.runs import COMBINATIONS, LE, OURS, prepare, run_le, run_once
from papers.verdicts import Verdict, decide, single

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from papers.paper_004.data import Survey

__all__ = ["HISTOGRAMS", "Histogram", "histogram", "judge_histogram"]

FLATTER: Final = 0.9
"""An estimate whose counts vary by less than this share of the true ones' standard deviation is flattened."""

_ORIGINAL: Final = "original"
_LONG: Final = 12
"""Of longer names of values the first word, a code, stands below a map."""

_KEYS: Final = ("age", "gender", "value")


@dataclass(frozen=True)
class Histogram:
    """A figure: on which table, printed for which (l, d), rerun with which, of which paper, with which combinations."""

    item: str
    survey: str
    printed: tuple[int, int] | None
    """None where it cannot be read."""
    rerun: tuple[int, int]
    paper: str = "004"
    names: tuple[str, ...] = tuple(each.name for each in COMBINATIONS)


HISTOGRAMS: Final = (
    Histogram("Fig. 8", "income", (3, 7), (3, 3)),
    Histogram("Fig. 9", "education", (2, 3), (2, 3)),
    Histogram("Fig. 10", "fnlwgt", (3, 10), (3, 10)),
)
"""(3, 7) is not feasible with 14 incomes; (3, 3) is the nearest for which all combinations exist."""


def histogram(which: Histogram, survey: Survey, setting: Setting) -> Exhibit:
    """Publish once with every combination, and compare the histograms."""
    l, d = which.rerun
    words = FreshWords.from_insecure_seed(setting.seed + 8)
    outcomes = run_once(survey, prepare(survey, l, d), words, which.names)
    cells = dict(outcomes.cells)
    if survey.name == "education" and which.paper == "004":
        cells |= run_le(survey, l, d, words)[0].cells
    data = _as_table(survey, cells)
    verdict = judge_histogram(data)
    refused = _refusal(which, survey)
    title = f"Histograms of {survey.name} by age and gender, ({l}, {d})-semantic diversity"
    return Exhibit(
        which.paper,
        which.item,
        title,
        data,
        partial(_draw, data, f"{which.item}: {survey.name}, ({l}, {d})-semantic diversity"),
        f"Heat maps with a row for each age and gender and a column for each of {survey.n_values} values, one map a "
        f"combination; blue is a count above zero, orange one below. The first map is the original. " + _in_words(data),
        verdict._replace(words=f"{refused}{verdict.words}{_tell_le(data, d)}"),
        "The histograms estimated by the proposed analysis algorithm are the most similar to the original ones; those "
        "of the simple analysis are averaged overall, and the features are diminished. "
        + (f"Printed for {which.printed}." if which.printed else "(l and d are not readable.)"),
        stand_in([survey.name]),
    )


def judge_histogram(data: pa.Table) -> Verdict:
    """Rank the combinations by their distance from the original, and see whether the simple analysis is flat."""
    scores, spreads = _scores(data)
    theirs = {name: score for name, score in scores.items() if name not in OURS}
    ours = {name: score for name, score in scores.items() if name in OURS}
    nearest = min(theirs, key=lambda name: theirs[name])
    best = min(ours, key=lambda name: ours[name])
    simple = min(spread for name, spread in spreads.items() if name.endswith("-Simple"))
    flat, holds = simple < FLATTER, nearest.endswith("-Proposal")
    other = min(score for name, score in theirs.items() if not name.endswith("-Proposal"))
    proposed = ", ".join(f"{name} {theirs[name]:.2g}" for name in theirs if name.endswith("-Proposal"))
    words = (
        f"Of the paper's combinations {nearest} is the nearest to the original (MSE by age and gender: {proposed}; the "
        f"best of the others {other:.2g}). The simple analysis {'flattens' if flat else 'does not flatten'} the "
        f"histogram: its counts vary {simple:.2f} times as much as the original ones. Ours, {best}, has an MSE of "
        f"{ours[best]:.2g}, {theirs[nearest] / ours[best]:.1f} times smaller than {nearest}'s, from sets that point at "
        f"none of their members."
    )
    outcome, why = decide(
        [single("the proposed analysis is the nearest", holds=holds), single("the simple one is flat", holds=flat)],
        better=ours[best] < theirs[nearest],
    )
    return Verdict(outcome, words, f"MSE: {proposed}, best of the others {other:.2g}, ours {ours[best]:.2g}", why)


def _scores(data: pa.Table) -> tuple[dict[str, float], dict[str, float]]:
    """MSE (Eq. 18) and relative standard deviation of the counts of each combination."""
    true = np.asarray(data[_ORIGINAL]).astype(np.float64)
    names = [name for name in data.column_names if name not in {*_KEYS, _ORIGINAL}]
    found = {name: np.asarray(data[name]) for name in names}
    errors = {name: float(((counts - true) ** 2).mean() / true.sum() ** 2) for name, counts in found.items()}
    return errors, {name: float(counts.std() / true.std()) for name, counts in found.items()}


def _in_words(data: pa.Table) -> str:
    scores, _ = _scores(data)
    ranked = sorted(scores, key=lambda name: scores[name])
    return f"From the most to the least like it: {'; '.join(ranked)}."


def _tell_le(data: pa.Table, d: int) -> str:
    if LE not in data.column_names:
        return ""
    return f" LE is (l, e)-Anatomy with e = {EDUCATION_TREE.depth} - d = {EDUCATION_TREE.depth - d}."


def _refusal(which: Histogram, survey: Survey) -> str:
    if which.printed is None or which.printed == which.rerun:
        return ""
    l, d = which.printed
    needed = (l - 1) * d + 1
    if needed <= survey.n_values:
        return ""
    return (
        f"The printed {which.printed} does not exist: {l} values at distance {d} from each other span {needed} of the "
        f"{survey.n_values} values. Rerun with {which.rerun}. "
    )


def _as_table(survey: Survey, cells: dict[str, FloatArray]) -> pa.Table:
    size = survey.n_values
    ages, genders = zip(*survey.cells, strict=True)
    columns: dict[str, Any] = {
        "age": np.repeat(ages, size),
        "gender": np.repeat(genders, size),
        "value": [str(value) for value in survey.domain.values] * len(survey.cells),
        _ORIGINAL: survey.truth.ravel(),
    }
    order = [LE, *(each.name for each in COMBINATIONS)]
    return pa.table(columns | {name: cells[name].ravel().round(2) for name in order if name in cells})


def _draw(data: pa.Table, title: str) -> Any:  # noqa: ANN401 - a figure of matplotlib
    cells = dict.fromkeys(zip(data["age"].to_pylist(), data["gender"].to_pylist(), strict=True))
    values = list(dict.fromkeys(data["value"].to_pylist()))
    shape = (len(cells), len(values))
    names = [name for name in data.column_names if name not in _KEYS]
    maps = [(name, np.asarray(data[name]).astype(np.float64).reshape(shape)) for name in names]
    rows = [f"{age}, {gender}" for age, gender in cells]
    first, last = (value.split()[0] if len(value) > _LONG else value for value in (values[0], values[-1]))
    return draw_heat_maps(title, maps, rows, f"from {first} (1) to {last} ({len(values)})")
