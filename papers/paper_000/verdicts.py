"""Paper 000, Fig. 2 to 4: what the errors of queries say about the paper's statements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from papers.exhibits import Outcome
from papers.lines import METHODS
from papers.paper_000.queries import PAPER_METHODS

__all__ = [
    "EXPECTED",
    "MSE",
    "NOISE",
    "RELATIVE",
    "asked_words",
    "judge_dimensions",
    "judge_l",
    "judge_relative",
    "judge_selectivity",
    "lowest",
    "stand_in",
]

MSE: Final = "MSE (Eq. 2)"
NOISE: Final = "standard error of the MSE"
RELATIVE: Final = "median relative error"
EXPECTED: Final = "exact formula of the proposal's MSE"

_FEW: Final = 3
_ALIKE: Final = 2.0
_SIGMA: Final = 2.0
_PAPER_QUERIES: Final = 1000
_BETTER: Final = (("Proposal, MAP (ours)", "Proposal"), ("Anatomy, unmixed (ours)", "Anatomy"))

Rows: TypeAlias = list[dict[str, Any]]
Settings: TypeAlias = list[tuple[dict[str, Any], dict[str, float]]]


def stand_in(data: pa.Table) -> str:
    """Say which tables stand for OCC and SAL."""
    values = {row["data"]: (row["values"], row["records"]) for row in data.to_pylist()}
    (jobs, workers), (classes, paid) = values["OCC-like"], values["SAL-like"]
    return (
        "OCC and SAL are not public. Census-Income (KDD) is used instead: OCC-like has the occupation of the people "
        f"who have one ({workers:,} records, {jobs} values), SAL-like has, for income, the hourly wage of those "
        f"paid by the hour ({paid:,} records), in {classes} classes of about equal size."
    )


def asked_words(data: pa.Table) -> str:
    """Say how many queries were asked, where the paper asks more."""
    asked = min(data["queries"].to_pylist())
    return f" Every point is over {asked} queries; the paper asks {_PAPER_QUERIES:,}." if asked < _PAPER_QUERIES else ""


def lowest(data: pa.Table, keys: Sequence[str], measure: str = MSE) -> str:
    """Say in how many settings the line of the proposal is the lowest of the paper's three."""
    return f"The proposal's line is the lowest of the three {_least(_settings(data.to_pylist(), keys, measure))[1]}."


def judge_dimensions(data: pa.Table) -> tuple[Outcome, str]:
    """Compare with what the paper says about Fig. 2."""
    rows, keys = data.to_pylist(), ("data", "d", "qd")
    settings = _settings(rows, keys)
    alike: dict[str, list[float]] = {}
    for setting, errors in settings:
        if setting["d"] == _FEW and {"TP", "Proposal"} <= errors.keys():
            alike.setdefault(setting["data"], []).append(errors["TP"] / errors["Proposal"])
    ranges = ", ".join(f"{min(ratios):.2g} to {max(ratios):.2g} on {name}" for name, ratios in alike.items())
    same = {name: all(1 / _ALIKE <= ratio <= _ALIKE for ratio in ratios) for name, ratios in alike.items()}
    least, shown = _least([one for one in settings if one[0]["d"] > _FEW])
    words = (
        f"That the proposal has the least error of the three for d above {_FEW} {_verdict(least)}: {shown}. That it "
        f"is as good as TP for d = {_FEW}, within a factor of {_ALIKE:g}, {_verdict(same)}: TP's MSE over "
        f"the proposal's is {ranges}.{_why(rows, keys, least)}{_ours(settings)}{asked_words(data)}"
    )
    return _outcome(settings, *least.values(), *same.values()), words


def judge_relative(data: pa.Table) -> tuple[Outcome, str]:
    """Say which method answers queries best by the relative error."""
    settings = _settings(data.to_pylist(), ("data", "d", "qd"), RELATIVE)
    least, shown = _least(settings)
    medians = {
        name: np.median([errors[name] for _, errors in settings if name in errors])
        for name in METHODS
        if any(name in errors for _, errors in settings)
    }
    listed = ", ".join(f"{name} {median:.3f}" for name, median in medians.items())
    words = (
        f"That the proposal has the least of the three {_verdict(least)}: {shown}. Median over all settings: {listed}."
        f"{_ours(settings)}{asked_words(data)}"
    )
    return _outcome(settings, *least.values()), words


def judge_l(data: pa.Table) -> tuple[Outcome, str]:
    """Compare with what the paper says about Fig. 3."""
    rows, keys = data.to_pylist(), ("data", "l")
    settings = _settings(rows, keys)
    least, shown = _least(settings)
    grow, but = _steady(rows, "l", up=True)
    words = (
        f"That the proposal has the least MSE of the three {_verdict(least)}: {shown}. That the MSEs grow with l "
        f"{_verdict(grow)}{but}."
    )
    refused = sorted({(row["data"], row["l"]) for row in rows if row["note"]})
    if refused:
        where = ", ".join(f"{name} l = {l}" for name, l in refused)
        words += (
            f" At {where} one value has more than 1/l of the records: the other methods refuse, the proposal publishes."
        )
    words += _why(rows, keys, least) + _ours(settings) + asked_words(data)
    return _outcome(settings, *least.values(), *grow.values()), words


def judge_selectivity(data: pa.Table) -> tuple[Outcome, str]:
    """Compare with what the paper says about Fig. 4."""
    rows = data.to_pylist()
    settings = _settings(rows, ("data", "s"))
    fall, but = _steady(rows, "s", up=False)
    words = (
        f"That the MSEs fall as s grows {_verdict(fall)}{but}. The proposal has the least of the three "
        f"{_least(settings)[1]}.{_ours(settings)}{asked_words(data)}"
    )
    return _outcome(settings, *fall.values()), words


def _settings(rows: Rows, keys: Sequence[str], measure: str = MSE) -> Settings:
    """For every setting, the error of each method that could publish."""
    found: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in rows:
        errors = found.setdefault(tuple(row[key] for key in keys), {})
        if row[measure] is not None:
            errors[row["method"]] = row[measure]
    return [(dict(zip(keys, setting, strict=True)), errors) for setting, errors in found.items()]


def _least(settings: Settings) -> tuple[dict[str, bool], str]:
    """Whether on each table the proposal's error is the least of the paper's three throughout; and how often."""
    counts: dict[str, list[bool]] = {}
    for setting, errors in settings:
        if len(_papers(errors)) > 1:
            best = min(_papers(errors), key=errors.__getitem__)
            counts.setdefault(setting["data"], []).append(best == "Proposal")
    shown = ", ".join(
        f"in {sum(won) or 'none'} of {'' if any(won) else 'the '}{len(won)} settings on {data}"
        for data, won in counts.items()
    )
    return {data: all(won) for data, won in counts.items()}, shown


def _papers(errors: dict[str, float]) -> list[str]:
    return [name for name in PAPER_METHODS if name in errors]


def _verdict(holds: dict[str, bool]) -> str:
    """Say on which tables the paper's statement holds."""
    parts = {
        word: [data for data, held in holds.items() if held is value]
        for word, value in (("agrees", True), ("differs", False))
    }
    return ", ".join(f"{word} on {' and '.join(named)}" for word, named in parts.items() if named)


def _outcome(settings: Settings, *holds: bool) -> Outcome:
    """All statements must hold on all tables; better where our estimator then has less error."""
    if not all(holds):
        return "differs"
    ours, theirs = _BETTER[0]
    ratios = _ratios(settings, ours, theirs)
    return "better" if ratios and np.median(ratios) < 1 else "agrees"


def _ratios(settings: Settings, ours: str, theirs: str) -> list[float]:
    return [errors[ours] / errors[theirs] for _, errors in settings if {ours, theirs} <= errors.keys()]


def _ours(settings: Settings) -> str:
    parts = []
    for ours, theirs in _BETTER:
        ratios = _ratios(settings, ours, theirs)
        if ratios:
            parts.append(
                f"{ours} has {np.median(ratios):.2f} of the error of {theirs} on the same release ({len(ratios)} "
                "settings)"
            )
    return f" In the median {'; '.join(parts)}." if parts else ""


def _why(rows: Rows, keys: Sequence[str], least: dict[str, bool]) -> str:
    """Where the proposal's error is not the least: that it is noise, and what more records would do if all else stays.

    The number of records is an extrapolation: no larger table was measured.
    """
    expected = {tuple(row[key] for key in keys): (row[EXPECTED], row["records"]) for row in rows}
    ratios: list[float] = []
    needed: dict[tuple[str, int], list[float]] = {}
    for setting, errors in _settings(rows, keys):
        noise, records = expected[tuple(setting.values())]
        if "Proposal" in errors:
            ratios.append(errors["Proposal"] / noise)
        if len(_papers(errors)) > 1 and not least[setting["data"]]:
            factor = errors["Proposal"] / min(errors[name] for name in _papers(errors) if name != "Proposal")
            needed.setdefault((setting["data"], records), []).append(factor)
    if not needed:
        return ""
    shown = ", ".join(
        f"{data} (here {records:,}) {records * np.median(factors):,.0f}" for (data, records), factors in needed.items()
    )
    return (
        f" The proposal's MSE is {np.median(ratios):.2f} times the exact formula of its noise in the median, which "
        "falls with the number of records. If that went on, and the errors of Anatomy and TP stayed as they are, which "
        "is an extrapolation and was not measured, the proposal would equal the better of the two, in the median "
        f"setting, at about this many records: {shown}."
    )


def _steady(rows: Rows, key: str, *, up: bool) -> tuple[dict[str, bool], str]:
    """Whether the errors of the paper's methods grow, or fall, all the way on each table; and which do not, and where.

    A step against it counts where it is more than twice its standard error; smaller ones are named too.
    """
    holds: dict[str, bool] = {}
    wrong: list[str] = []
    noisy: list[str] = []
    sign = 1 if up else -1
    for data in dict.fromkeys(row["data"] for row in rows):
        holds[data] = True
        for name in PAPER_METHODS:
            own = sorted(
                (row[key], row[MSE], row[NOISE])
                for row in rows
                if row["data"] == data and row["method"] == name and row[MSE] is not None
            )
            extreme = max(own, key=lambda one: -sign * one[1], default=(0.0,))[0]
            where = f"{name} on {data} is {'lowest' if up else 'highest'} at {key} = {extreme:g}"
            if not _is_steady(own, sign, _SIGMA):
                holds[data] = False
                factor = own[-1][1] / own[0][1]
                wrong.append(f"{where}, and changes by a factor of {factor:.2f} from the least to the greatest {key}")
            elif not _is_steady(own, sign, 0.0):
                noisy.append(where)
    if noisy:
        wrong.append(f"not at every step, but within {_SIGMA:g} standard errors of a step: {', '.join(noisy)}")
    return holds, f" ({'; '.join(wrong)})" if wrong else ""


def _is_steady(points: Sequence[tuple[float, float, float]], sign: int, sigma: float) -> bool:
    if len(points) < 2:  # noqa: PLR2004 - one point goes nowhere
        return True
    steps = [(sign * (after[1] - before[1]), np.hypot(before[2], after[2])) for before, after in pairwise(points)]
    whole = sign * (points[-1][1] - points[0][1])
    return bool(whole > 0 and all(step >= -sigma * noise for step, noise in steps))
