"""Paper 000, Fig. 2 to 4: what the errors of queries say about the paper's statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from papers.paper_000.queries import PAPER_METHODS
from papers.verdicts import Statement, Verdict, decide

__all__ = [
    "EXPECTED",
    "MSE",
    "NOISE",
    "RELATIVE",
    "SAME",
    "SAME_RELATIVE",
    "asked_words",
    "judge_dimensions",
    "judge_l",
    "judge_records",
    "judge_relative",
    "judge_selectivity",
    "lowest",
    "stand_in",
]

MSE: Final = "MSE (Eq. 2)"
NOISE: Final = "standard error of the MSE"
RELATIVE: Final = "median relative error"
SAME: Final = "MSE of the paper's estimate, same queries"
SAME_RELATIVE: Final = "median relative error of the paper's estimate, same queries"
EXPECTED: Final = "exact formula of the proposal's MSE"

_FEW: Final = 3
_ALIKE: Final = 2.0
_SIGMA: Final = 3.0
"""Standard errors that a step may go astray by chance.

Fig. 4 has 36 steps, and Fig. 3 fewer. If no error changed at all, one of 36 would go further astray in at most
36 * 0.00135 = 5 % of runs; with two standard errors, in most runs. Errors that do change go astray less often."""

_PAPER_QUERIES: Final = 1000
_BETTER: Final = (("Proposal, MAP (ours)", "Proposal"), ("Anatomy, unmixed (ours)", "Anatomy"))

Rows: TypeAlias = list[dict[str, Any]]
Settings: TypeAlias = list[tuple[dict[str, Any], dict[str, float]]]


def stand_in(data: pa.Table) -> str:
    """Say which tables stand for OCC and SAL."""
    values = {row["data"]: (row["values"], row["records"], row["people"]) for row in data.to_pylist()}
    told = []
    if "OCC-like" in values:
        jobs, workers, _ = values["OCC-like"]
        told.append(f"OCC-like has the occupation of the people who have one ({workers:,} records, {jobs} values)")
    classes, paid, people = values["SAL-like"]
    told.append(
        f"SAL-like has, for income, the hourly wage in {classes} classes of about equal size: {paid:,} records drawn "
        f"with replacement from the {people:,} people paid by the hour"
    )
    return (
        "OCC and SAL are not public, and the paper does not say how many records they have. Census-Income (KDD) is "
        f"used instead: {'; '.join(told)}."
    )


def asked_words(data: pa.Table) -> str:
    """Say how many queries were asked: fewer than in the paper, or fewer of our estimator by likelihood."""
    rows = data.to_pylist()
    asked, fewer = (
        min((row["queries"] for row in rows if row["queries"] and (row["method"] in PAPER_METHODS) is paper), default=0)
        for paper in (True, False)
    )
    words = f" Every point is over {asked:,} queries"
    if asked < _PAPER_QUERIES:
        words += f"; the paper asks {_PAPER_QUERIES:,}"
    if 0 < fewer < asked:
        words += f". MAP answers the first {fewer} of them, and is compared with the paper's estimate on the same ones"
    return f"{words}."


def lowest(data: pa.Table, keys: Sequence[str], measure: str = MSE) -> str:
    """Say in how many settings the line of the proposal is the lowest of the paper's three."""
    won = _least(_settings(data.to_pylist(), keys, measure))
    return f"The proposal's line is the lowest of the three {_counted(won)}."


def judge_dimensions(data: pa.Table) -> Verdict:
    """Compare with what the paper says about Fig. 2."""
    rows, keys = data.to_pylist(), ("data", "d", "qd")
    settings = _settings(rows, keys)
    ratios = {
        (one["data"], _named(one)): errors["TP"] / errors["Proposal"]
        for one, errors in settings
        if one["d"] == _FEW and {"TP", "Proposal"} <= errors.keys()
    }
    alike = Statement(f"as good as TP at d = {_FEW}", _by_table({at: _is_alike(own) for at, own in ratios.items()}))
    least = Statement("least of the three above", _least([one for one in settings if one[0]["d"] > _FEW]))
    ranges = _ranges(ratios)
    words = (
        f"That the proposal has the least error of the three for d above {_FEW} {_told(least)}: "
        f"{_counted(least.held)}. That it is as good as TP for d = {_FEW}, within a factor of {_ALIKE:g}, "
        f"{_told(alike)}: TP's MSE over the proposal's is {ranges}. Both depend on the number of "
        f"records, see 'Fig. 3, records'. {_formula(rows)}{_ours(rows)}{asked_words(data)}"
    )
    figure = f"least for d above {_FEW} {_counted(least.held)}; TP / proposal at d = {_FEW}: {ranges}"
    outcome, why = decide([least, alike], better=_is_better(rows), stand_in=True)
    return Verdict(outcome, words, figure, why)


def judge_relative(data: pa.Table) -> Verdict:
    """Say which method answers queries best by the relative error."""
    rows = data.to_pylist()
    settings = _settings(rows, ("data", "d", "qd"), RELATIVE)
    least = Statement("least of the three", _least(settings))
    medians = {
        name: np.median([errors[name] for _, errors in settings if name in errors])
        for name in PAPER_METHODS
        if any(name in errors for _, errors in settings)
    }
    listed = ", ".join(f"{name} {median:.3f}" for name, median in medians.items())
    ours = "".join(
        f"; {name} {np.median(ratios):.2f} of {theirs} on the same queries"
        for name, theirs in _BETTER
        if (ratios := _ratios(rows, name, RELATIVE, SAME_RELATIVE))
    )
    words = (
        f"That the proposal has the least of the three {_told(least)}: {_counted(least.held)}. Median over all "
        f"settings: {listed}.{_ours(rows, RELATIVE, SAME_RELATIVE)}{asked_words(data)}"
    )
    outcome, why = decide([least], better=_is_better(rows, RELATIVE, SAME_RELATIVE), stand_in=True)
    return Verdict(outcome, words, f"medians: {listed}{ours}", why)


def judge_l(data: pa.Table) -> Verdict:
    """Compare with what the paper says about Fig. 3."""
    rows, keys = data.to_pylist(), ("data", "l")
    least = Statement("least of the three", _least(_settings(rows, keys)))
    held, but = _steady(rows, "l", up=True)
    grow = Statement("grows with l", held)
    words = (
        f"That the proposal has the least MSE of the three {_told(least)}: {_counted(least.held)}. That the MSEs grow "
        f"with l {_told(grow)}{but}."
    )
    refused = sorted({(row["data"], row["l"]) for row in rows if row["note"]})
    if refused:
        where = ", ".join(f"{name} l = {l}" for name, l in refused)
        words += (
            f" At {where} one value has more than 1/l of the records: the other methods refuse, the proposal publishes."
        )
    words += f" How it depends on the number of records is in 'Fig. 3, records'. {_formula(rows)}"
    words += _ours(rows) + asked_words(data)
    outcome, why = decide([least, grow], better=_is_better(rows), stand_in=True)
    return Verdict(outcome, words, f"the proposal is the least {_counted(least.held)}", why)


def judge_records(data: pa.Table) -> Verdict:
    """See from how many records on the proposal has the least error, and where TP is as good."""
    rows = data.to_pylist()
    settings = _settings(rows, ("d", "records"))
    least = {f"{one['records']:,} records": _is_least(errors) for one, errors in settings if one["d"] > _FEW}
    ratios = {f"{one['records']:,}": errors["TP"] / errors["Proposal"] for one, errors in settings if one["d"] == _FEW}
    others = {
        f"{one['records']:,}": errors["Proposal"] / min(errors[name] for name in _papers(errors) if name != "Proposal")
        for one, errors in settings
        if one["d"] > _FEW
    }
    first, second = (", ".join(f"{own:.2g} at {size}" for size, own in found.items()) for found in (others, ratios))
    words = (
        f"The paper does not say how many records its tables have, and that decides. The proposal's error is noise, "
        "which falls as one over the number of records; what Anatomy and TP lose does not fall. The proposal's MSE "
        f"over the better of the two, l = 10, d above {_FEW}: {first}. TP's MSE over the proposal's at d = {_FEW}, "
        f"which the paper calls almost the same: {second}. So Fig. 2 and 3 can come out either way with people of one "
        f"and the same population.{asked_words(data)}"
    )
    statements = [
        Statement(f"least of the three, d above {_FEW}", {size: {"": held} for size, held in least.items()}),
        Statement(
            f"as good as TP at d = {_FEW}", {f"{size} records": {"": _is_alike(own)} for size, own in ratios.items()}
        ),
    ]
    outcome, why = decide(statements, stand_in=True)
    return Verdict(outcome, words, f"proposal / better of the others: {first}", why)


def judge_selectivity(data: pa.Table) -> Verdict:
    """Compare with what the paper says about Fig. 4."""
    rows = data.to_pylist()
    held, but = _steady(rows, "s", up=False)
    fall = Statement("falls with s", held)
    ends = [
        f"{name} {_change(_points(rows, table, name, 's')):.2f} on {table}" for table in held for name in held[table]
    ]
    words = (
        f"That the MSEs fall as s grows {_told(fall)}{but}. From the least to the greatest s they change by these "
        f"factors: {', '.join(ends)}. The proposal has the least of the three "
        f"{_counted(_least(_settings(rows, ('data', 's'))))}.{_ours(rows)}{asked_words(data)}"
    )
    outcome, why = decide([fall], better=_is_better(rows), stand_in=True)
    return Verdict(outcome, words, f"factors from least to greatest s: {', '.join(ends)}", why)


def _settings(rows: Rows, keys: Sequence[str], measure: str = MSE) -> Settings:
    """For every setting, the error of each method that could publish."""
    found: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in rows:
        errors = found.setdefault(tuple(row[key] for key in keys), {})
        if row[measure] is not None:
            errors[row["method"]] = row[measure]
    return [(dict(zip(keys, setting, strict=True)), errors) for setting, errors in found.items()]


def _named(setting: Mapping[str, Any]) -> str:
    """Name a setting, without its table."""
    return ", ".join(f"{key} = {value:g}" for key, value in setting.items() if key != "data")


def _by_table(held: Mapping[tuple[str, str], bool]) -> dict[str, dict[str, bool]]:
    tables: dict[str, dict[str, bool]] = {}
    for (table, setting), one in held.items():
        tables.setdefault(table, {})[setting] = one
    return tables


def _least(settings: Settings) -> dict[str, dict[str, bool]]:
    """Whether the proposal's error is the least of the paper's three, by table and setting."""
    return _by_table(
        {(one["data"], _named(one)): _is_least(errors) for one, errors in settings if len(_papers(errors)) > 1}
    )


def _is_least(errors: Mapping[str, float]) -> bool:
    return min(_papers(errors), key=errors.__getitem__) == "Proposal"


def _papers(errors: Mapping[str, float]) -> list[str]:
    return [name for name in PAPER_METHODS if name in errors]


def _is_alike(ratio: float) -> bool:
    return 1 / _ALIKE <= ratio <= _ALIKE


def _ranges(ratios: Mapping[tuple[str, str], float]) -> str:
    tables: dict[str, list[float]] = {}
    for (table, _), ratio in ratios.items():
        tables.setdefault(table, []).append(ratio)
    return ", ".join(f"{min(own):.2g} to {max(own):.2g} on {table}" for table, own in tables.items())


def _counted(held: Mapping[str, Mapping[str, bool]]) -> str:
    counts = {table: (sum(own.values()), len(own)) for table, own in held.items()}
    return ", ".join(
        f"in {won or 'none'} of {'' if won else 'the '}{n} settings on {table}" for table, (won, n) in counts.items()
    )


def _told(statement: Statement) -> str:
    """Say on which tables a statement holds."""
    words: dict[str, list[str]] = {}
    for table, own in statement.held.items():
        word = "agrees" if all(own.values()) else "differs" if statement.table_fails(table) else "mostly agrees"
        words.setdefault(word, []).append(table)
    return ", ".join(f"{word} on {' and '.join(tables)}" for word, tables in words.items())


def _ratios(rows: Rows, ours: str, measure: str = MSE, same: str = SAME) -> list[float]:
    """The share of the paper's error that an estimator of ours leaves, on the same release and queries."""
    return [row[measure] / row[same] for row in rows if row["method"] == ours and row[same]]


def _is_better(rows: Rows, measure: str = MSE, same: str = SAME) -> bool:
    ratios = _ratios(rows, _BETTER[0][0], measure, same)
    return bool(ratios) and bool(np.median(ratios) < 1)


def _ours(rows: Rows, measure: str = MSE, same: str = SAME) -> str:
    parts = []
    for ours, theirs in _BETTER:
        ratios = _ratios(rows, ours, measure, same)
        if ratios:
            parts.append(
                f"{ours} has {np.median(ratios):.2f} of the error of {theirs} on the same release ({len(ratios)} "
                "settings)"
            )
    return f" In the median {'; '.join(parts)}." if parts else ""


def _formula(rows: Rows) -> str:
    """How near the proposal's error is to the exact formula of its noise."""
    ratios = [row[MSE] / row[EXPECTED] for row in rows if row["method"] == "Proposal" and row[MSE] is not None]
    return f"The proposal's MSE is {np.median(ratios):.2f} times the exact formula of its noise in the median."


def _points(rows: Rows, table: str, name: str, key: str) -> list[tuple[float, float, float]]:
    return sorted(
        (row[key], row[MSE], row[NOISE])
        for row in rows
        if row["data"] == table and row["method"] == name and row[MSE] is not None
    )


def _change(points: Sequence[tuple[float, float, float]]) -> float:
    return points[-1][1] / points[0][1]


def _steady(rows: Rows, key: str, *, up: bool) -> tuple[dict[str, dict[str, bool]], str]:
    """Whether the errors of each of the paper's methods grow, or fall, all the way, by table; and where they do not.

    A step against it counts where it is more than three times its standard error; smaller ones are named too.
    """
    held: dict[str, dict[str, bool]] = {}
    wrong: list[str] = []
    noisy: list[str] = []
    sign = 1 if up else -1
    for table in dict.fromkeys(row["data"] for row in rows):
        for name in PAPER_METHODS:
            own = _points(rows, table, name, key)
            if len(own) < 2:  # noqa: PLR2004 - one point goes nowhere
                continue
            extreme = max(own, key=lambda one: -sign * one[1])[0]
            where = f"{name} on {table} is {'lowest' if up else 'highest'} at {key} = {extreme:g}"
            held.setdefault(table, {})[name] = _is_steady(own, sign, _SIGMA)
            if not held[table][name]:
                change = f"changes by a factor of {_change(own):.2f} from the least to the greatest {key}"
                wrong.append(f"{where}, and {change}")
            elif not _is_steady(own, sign, 0.0):
                noisy.append(where)
    if noisy:
        wrong.append(f"not at every step, but within {_SIGMA:g} standard errors of a step: {', '.join(noisy)}")
    return held, f" ({'; '.join(wrong)})" if wrong else ""


def _is_steady(points: Sequence[tuple[float, float, float]], sign: int, sigma: float) -> bool:
    steps = [(sign * (after[1] - before[1]), np.hypot(before[2], after[2])) for before, after in pairwise(points)]
    whole = sign * (points[-1][1] - points[0][1])
    return bool(whole > 0 and all(step >= -sigma * noise for step, noise in steps))
