"""Fig. 6, 14 and 15 of paper 004: how often dummies that ignore distances are too close to each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

import ldiversity as ld
from ldiversity.base.arrays import CodeArray, SetArray
from ldiversity.base.numbers import percent
from ldiversity.base.randomness import FreshWords
from ldiversity.mechanisms import BalancedSelection, SetMechanism, SimpleSelection, UniformSelection
from papers.exhibits import Exhibit, Setting
from papers.paper_004.data import Survey, stand_in
from papers.paper_004.pictures import Curve, Panel, draw_panels
from papers.paper_004.runs import draw_sets
from papers.verdicts import Statement, Verdict, decide, each, single

__all__ = ["figure_6", "figures_14_15", "judge_bound", "judge_figure_6"]

ALMOST: Final = 0.05
"""Probabilities that differ by no more count as almost the same."""

STANDARD_ERRORS: Final = 4.5
"""A simulated share this far from a probability contradicts it; by chance that happens once in 150,000 times."""

_ALMOST_THE_SAME: Final = (
    "In any parameter settings, the mathematical results (Eq. 11) and simulation results are almost the same, and the "
    "mathematical results keep the lower boundary of the simulation results."
)
_FEW: Final = 2_000
_EQ_11: Final = "Eq. 11"
_EXACT: Final = "exact, mean over records"
_UNIFORM: Final = "simulated, existing method"
_PROPOSED: Final = "simulated, simple and balanced selection"
_FIRST: Final = "simulated, first value"
_ANY: Final = "simulated, all values alike"


# --- Fig. 6 ----------------------------------------------------------------------------------------------


def figure_6(setting: Setting) -> Exhibit:
    """The bound of Eq. 11 against F, l and d, and simulations of it."""
    words = FreshWords.from_insecure_seed(setting.seed)
    draws = 4_000 if setting.quick else 40_000
    plan = [
        *(("F", size, 3, 3) for size in (10, 15, 20, 30, 50, 75, 100)),
        *(("l", 50, l, 3) for l in range(2, 9)),
        *(("d", 50, 3, d) for d in range(1, 11)),
    ]
    rows = [{"against": axis, **_violations_of_order(size, l, d, draws, words)} for axis, size, l, d in plan]
    data = pa.Table.from_pylist(rows)
    verdict = judge_figure_6(data)
    return Exhibit(
        "004",
        "Fig. 6",
        "How likely a record's set violates (l, d)-semantic diversity",
        data,
        partial(_draw_figure_6, data),
        "Three panels of probabilities between 0 and 1. Against F the probability of a violation falls, against l and "
        "against d it rises towards 1; the simulated points of the first value lie on the line of Eq. 11, those of all "
        "values above it. The line of the proposed selection stays at 0.",
        verdict,
        "The violation probability of the proposed algorithm is always zero, while that of the baseline [1] increases "
        "when d or l is large (the values of F, l and d in the printed figure are not readable; ours were chosen). "
        f"{_ALMOST_THE_SAME}",
    )


def judge_figure_6(data: pa.Table) -> Verdict:
    """Compare the simulations with Eq. 11, and look at its course."""
    rows = data.to_pylist()
    rises = all(_is_sorted([row[_EQ_11] for row in rows if row["against"] == axis]) for axis in ("l", "d"))
    falls = _is_sorted([row[_EQ_11] for row in reversed(rows) if row["against"] == "F"])
    off = max(_standard_errors(row[_FIRST], row[_EQ_11], row["draws"]) for row in rows)
    clean = max(row[_PROPOSED] or 0.0 for row in rows)
    below = max(_standard_errors_below(row[_ANY], row[_EQ_11], row["draws"]) for row in rows)
    worst = max(rows, key=lambda row: abs(row[_ANY] - row[_EQ_11]))
    gap = abs(worst[_ANY] - worst[_EQ_11])
    near = {f"F = {row['F']}, l = {row['l']}, d = {row['d']}": abs(row[_ANY] - row[_EQ_11]) <= ALMOST for row in rows}
    statements = [
        single("rises with l and d, falls with F", holds=rises and falls),
        single("Eq. 11 is exact for the first value, and a lower bound", holds=max(off, below) <= STANDARD_ERRORS),
        each("almost the simulated share", near),
        single("the proposed algorithm never violates", holds=clean == 0),
    ]
    words = (
        f"Eq. 11 {'rises' if rises else 'does not always rise'} with l and with d and "
        f"{'falls' if falls else 'does not always fall'} with F. For a record with the first or last value it is "
        f"exact: simulations are at most {off:.1f} standard errors away. For records in general "
        f"{'it is a lower bound' if below <= STANDARD_ERRORS else 'it is NOT a lower bound'}, and "
        f"{'almost' if gap <= ALMOST else 'not almost'} the simulated share: they differ by up to {gap:.3f} (F = "
        f"{worst['F']}, l = {worst['l']}, d = {worst['d']}; {ALMOST} counts as almost the same, here as in Fig. 14 and "
        f"15). Sets of simple and balanced selection that violate: {percent(clean, 2)}. Printed "
        f"with m for F; the condition of Theorem 5.1 must read l d <= F."
    )
    outcome, why = decide(statements)
    figure = f"Eq. 11 and simulation differ by up to {gap:.3f}, and by at most {ALMOST} in {sum(near.values())} of "
    return Verdict(outcome, words, f"{figure}{len(near)} settings", why)


def _violations_of_order(size: int, l: int, d: int, draws: int, words: FreshWords) -> dict[str, Any]:
    domain = ld.Domain(tuple(range(size)), ordered=True)
    mechanism = UniformSelection(size, l)
    bound = mechanism.violation_probability(ld.OrderedDistance(), domain, d).bound
    even = (np.arange(draws) % size).astype(np.int32)
    survey = Survey("order", domain, ld.OrderedDistance(), even, np.zeros(draws, dtype=np.int64), (("", ""),))
    return {
        "F": size,
        "l": l,
        "d": d,
        _EQ_11: bound,
        _FIRST: _share_close(draw_sets(mechanism, np.zeros(draws, dtype=np.int32), words), d),
        _ANY: _share_close(draw_sets(mechanism, even, words), d),
        _PROPOSED: _proposed(survey, l, d, words),
        "draws": draws,
    }


def _draw_figure_6(data: pa.Table) -> Any:  # noqa: ANN401 - a figure of matplotlib, which is loaded late
    rows = data.to_pylist()
    titles = {"F": "l = 3, d = 3", "l": "F = 50, d = 3", "d": "F = 50, l = 3"}
    panels = []
    for axis, title in titles.items():
        own = [row for row in rows if row["against"] == axis]
        x = [row[axis] for row in own]
        curves = [
            Curve(_EQ_11, x, [row[_EQ_11] for row in own], {"marker": None}),
            Curve(_FIRST, x, [row[_FIRST] for row in own], {"linestyle": ""}),
            Curve(_ANY, x, [row[_ANY] for row in own], {"linestyle": ""}),
            Curve(_PROPOSED, x, [row[_PROPOSED] for row in own]),
        ]
        panels.append(Panel(title, axis, curves))
    return draw_panels("Fig. 6: probability of a violation, for each record", panels, "probability", log=False)


# --- Fig. 14 and 15 --------------------------------------------------------------------------------------


def figures_14_15(surveys: Sequence[Survey], setting: Setting) -> list[Exhibit]:
    """The share of records whose set violates the rule, on the paper's tables."""
    many = (2, 3) if setting.quick else (2, 3, 4, 5, 6)
    far = (2, 10, 30) if setting.quick else (2, 5, 10, 15, 20, 25, 30, 40)
    plan = {"income": ((2, 3, 4, 5), (1, 2, 3, 4, 5, 6)), "fnlwgt": (many, far)}
    by_l = [(survey, l, 3) for survey in surveys for l in plan[survey.name][0]]
    by_d = [(survey, 3, d) for survey in surveys for d in plan[survey.name][1]]
    return [
        _violation_exhibit("Fig. 14", "d = 3", "l", by_l, setting),
        _violation_exhibit("Fig. 15", "l = 3", "d", by_d, setting),
    ]


def _violation_exhibit(
    item: str, fixed: str, axis: str, plan: Sequence[tuple[Survey, int, int]], setting: Setting
) -> Exhibit:
    words = FreshWords.from_insecure_seed(setting.seed + 14)
    data = pa.Table.from_pylist([_violations_of_survey(survey, l, d, words) for survey, l, d in plan])
    verdict = judge_bound(data)
    title = f"Share of records whose set violates (l, d)-semantic diversity, {fixed}"
    return Exhibit(
        "004",
        item,
        title,
        data,
        partial(_draw_violations, data, axis, f"{item}: {title.lower()}"),
        f"One panel a table, shares from 0 to 1 against {axis}. The simulated share of the existing method rises with "
        f"{axis} and lies on the exact mean; the line of Eq. 11 stays below both. The proposed selections stay at 0.",
        verdict,
        f"{_ALMOST_THE_SAME} The proposed algorithms never violate.",
        stand_in(list(dict.fromkeys(survey.name for survey, _, _ in plan))),
    )


def judge_bound(data: pa.Table) -> Verdict:
    """Compare simulated shares with Eq. 11 and with the exact mean."""
    rows = data.to_pylist()
    below = max(_standard_errors_below(row[_UNIFORM], row[_EQ_11], row["records"]) for row in rows)
    worst = max(rows, key=lambda row: abs(row[_UNIFORM] - row[_EQ_11]))
    gap = abs(worst[_UNIFORM] - worst[_EQ_11])
    exact = max(_standard_errors(row[_UNIFORM], row[_EXACT], row["records"]) for row in rows)
    clean = max(row[_PROPOSED] or 0.0 for row in rows)
    holds = below <= STANDARD_ERRORS
    words = (
        f"Eq. 11 {'is a lower bound in every setting' if holds else 'is not a lower bound in every setting'}. "
        f"It is {'almost' if gap <= ALMOST else 'not almost'} the simulated share: they differ by up to {gap:.3f} "
        f"({worst['table']}, l = {worst['l']}, d = {worst['d']}: {worst[_EQ_11]:.3f} and {worst[_UNIFORM]:.3f}; "
        f"{ALMOST} counts as almost the same), because it is the probability of the first and last value, and others "
        f"have neighbors on both sides. The exact mean over the table's values is at most {exact:.1f} standard errors "
        f"from the simulation. Sets of simple and balanced selection that violate: {percent(clean, 2)}."
    )
    near: dict[str, dict[str, bool]] = {}
    gaps: dict[str, float] = {}
    for row in rows:
        off = abs(row[_UNIFORM] - row[_EQ_11])
        near.setdefault(row["table"], {})[f"l = {row['l']}, d = {row['d']}"] = off <= ALMOST
        gaps[row["table"]] = max(off, gaps.get(row["table"], 0.0))
    statements = [
        Statement("almost the simulated share", near),
        single("Eq. 11 is a lower bound", holds=holds),
        single("the proposed algorithms never violate", holds=clean == 0),
    ]
    outcome, why = decide(statements, stand_in=any("income" in table for table in near))
    figure = ", ".join(f"{gap:.3f} on {table}" for table, gap in gaps.items())
    return Verdict(outcome, words, f"Eq. 11 and simulation differ by up to {figure}", why)


def _violations_of_survey(survey: Survey, l: int, d: int, words: FreshWords) -> dict[str, Any]:
    mechanism = UniformSelection(survey.n_values, l)
    exact = mechanism.violation_probability(survey.distance, survey.domain, d, survey.n)
    return {
        "table": survey.name,
        "F": survey.n_values,
        "l": l,
        "d": d,
        _EQ_11: exact.bound,
        _EXACT: float(exact.by_value @ survey.shares),
        _UNIFORM: _share_close(draw_sets(mechanism, survey.codes, words), d),
        _PROPOSED: _proposed(survey, l, d, words),
        "Eq. 12, any record": exact.of_table,
        "records": survey.n,
    }


def _draw_violations(data: pa.Table, axis: str, title: str) -> Any:  # noqa: ANN401 - a figure of matplotlib
    rows = data.to_pylist()
    panels = []
    for table in dict.fromkeys(row["table"] for row in rows):
        own = [row for row in rows if row["table"] == table]
        x = [row[axis] for row in own]
        names = (_EQ_11, _EXACT, _UNIFORM, _PROPOSED)
        curves = [Curve(name, x, [row[name] for row in own], _look(name)) for name in names]
        panels.append(Panel(f"{table}, F = {own[0]['F']}", axis, curves))
    return draw_panels(title, panels, "share of records", log=False)


def _look(name: str) -> dict[str, Any]:
    return {"linestyle": "", "markersize": 8, "markerfacecolor": "none"} if name == _UNIFORM else {}


# --- shared ----------------------------------------------------------------------------------------------


def _proposed(survey: Survey, l: int, d: int, words: FreshWords) -> float | None:
    """The share of violations of the selections that mind distances; None where none is feasible."""
    few: CodeArray = survey.codes[:_FEW]
    mechanisms: list[SetMechanism] = []
    if l * d <= survey.n_values:  # then every value has a set, and the constructor spares the exact probabilities
        mechanisms.append(SimpleSelection(survey.domain, survey.distance, l, d))
    if l * d < survey.n_values:
        mechanisms.append(BalancedSelection.fit(survey.domain, survey.distance, l, d))
    return max((_share_close(draw_sets(mechanism, few, words), d) for mechanism in mechanisms), default=None)


def _share_close(sets: SetArray, d: int) -> float:
    return float((np.diff(sets, axis=1).min(axis=1) < d).mean())


def _standard_errors(share: float, probability: float, n: int) -> float:
    spread = np.sqrt(max(probability * (1 - probability), 1 / n) / n)
    return float(abs(share - probability) / spread)


def _standard_errors_below(share: float, bound: float, n: int) -> float:
    return _standard_errors(share, bound, n) if share < bound else 0.0


def _is_sorted(values: Sequence[float]) -> bool:
    return all(a <= b for a, b in pairwise(values))
