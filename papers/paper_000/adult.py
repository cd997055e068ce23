"""Paper 000, Fig. 5: every attribute of Adult as the sensitive one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.numbers import percent
from papers.exhibits import Exhibit, Setting
from papers.lines import METHODS, Panel, draw_panels
from papers.paper_000.queries import PAPER_METHODS, Asked, publish
from papers.paper_000.verdicts import SAME, asked_words
from papers.tables import ADULT_COLUMNS, adult_table, sample_rows
from papers.verdicts import Verdict, decide, each, single

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["judge_adult", "measure_adult", "measure_attribute", "overview_exhibit"]

Rows: TypeAlias = list[dict[str, Any]]

_MSE: Final = "MSE (Eq. 2)"
_BETTER: Final = (("Proposal, MAP (ours)", "Proposal"), ("Anatomy, unmixed (ours)", "Anatomy"))
_LIKELIHOOD: Final = 50
"""So many of the queries are also answered by likelihood."""

_AVERAGES: Final = {"over what each published": False, "over what all three published": True}
_MANY_VALUES: Final = 2000
"""Attributes with more values, final weight alone, are estimated by the paper's linear system only."""


def measure_adult(setting: Setting) -> pa.Table:
    """Publish Adult(1) to Adult(15) by each method for l from 2 to 10, and ask queries."""
    rows: Rows = []
    for place, sensitive in enumerate(ADULT_COLUMNS):
        setting.progress(0.8 + 0.13 * place / len(ADULT_COLUMNS), f"Fig. 5, Adult({place + 1}), {sensitive}")
        rows += measure_attribute(setting, sensitive)
    return pa.Table.from_pylist(rows)


def measure_attribute(setting: Setting, sensitive: str) -> Rows:
    """Publish Adult with one attribute as the sensitive one, by each method and for each l."""
    table = sample_rows(adult_table(setting), 6_000 if setting.quick else 100_000, setting.seed)
    quasi = [name for name in ADULT_COLUMNS if name != sensitive]
    n_queries = 10 if setting.quick else 1000
    asked = Asked(
        table,
        quasi,
        sensitive,
        qd=3,
        selectivity=0.07,
        n_queries=n_queries,
        seed=setting.seed,
        n_likelihood=_LIKELIHOOD,
    )
    counts = np.asarray(pc.value_counts(table[sensitive]).field("counts"))
    rows: Rows = []
    for l in (2, 5, 10) if setting.quick else range(2, 11):
        known = {
            "d": ADULT_COLUMNS.index(sensitive) + 1,
            "sensitive": sensitive,
            "values": len(counts),
            "most frequent": float(counts.max() / table.num_rows),
            "l": l,
        }
        for name in PAPER_METHODS:
            release = publish(table, quasi, sensitive, name, l, setting.seed)
            if isinstance(release, str):
                empty = {"method": name, "queries": 0, "published": False, _MSE: None, SAME: None, "note": release}
                rows.append({**known, **empty})
                continue
            for label, answer in asked.answers(name, release, improved=len(counts) <= _MANY_VALUES).items():
                found = {"published": True, _MSE: answer.mse, SAME: answer.paper_mse, "note": ""}
                rows.append({**known, "method": label, "queries": answer.queries, **found})
    return rows


def judge_adult(data: pa.Table) -> Verdict:
    """Compare how often each method publishes, and the average error over all simulations, as the paper does."""
    rows = data.to_pylist()
    ratios = {name: _ratio(rows, name, None) for name in PAPER_METHODS}
    shown = ", ".join(f"{name} {percent(ratio, 2)}" for name, ratio in ratios.items())
    allowed = np.mean([row["l"] <= row["values"] for row in rows if row["method"] == "Proposal"])
    averages = {words: _averages(rows, together=together) for words, together in _AVERAGES.items()}
    own, common = (_by_l(rows, together=together) for together in (False, True))
    words = (
        f"Published: {shown}; the proposal fails only where l reaches the number of values (at l = |S| every record "
        f"shows all values, which can be published, {percent(allowed, 2)}, but tells nothing). Average MSE over all "
        f"simulations, as in the paper: {'; '.join(f'{what} {_list(found)}' for what, found in averages.items())}. By "
        f"l, which the paper does not claim, the proposal has the least of what all three published {_share(common)}"
        f"{_named(_exceptions(common))}; of what each published {_share(own)}{_named(_exceptions(own))}."
    )
    if _exceptions(own):
        words += " What each published holds the hard tables that others refuse against the proposal."
    most = single("publishes most often", holds=ratios["Proposal"] >= max(ratios.values()))
    least = each(
        "least average MSE",
        {what: min(found, key=found.__getitem__) == "Proposal" for what, found in averages.items() if len(found) > 1},
    )
    compared = _compared(rows, _BETTER[0][0])
    outcome, why = decide([most, least], better=compared is not None and compared[0] < 1)
    figure = "; ".join(f"{what}: {_list(found)}" for what, found in averages.items())
    return Verdict(outcome, words + _ours(rows) + asked_words(data), f"published {shown}; MSE {figure}", why)


def overview_exhibit(data: pa.Table) -> Exhibit:
    """Fig. 5: ratio of successful anonymizations and average MSE."""
    return Exhibit(
        paper="000",
        item="Fig. 5",
        title="Adult(1) to Adult(15): how often a method publishes, and its error",
        data=data,
        draw=partial(_draw, data),
        alt="Four panels against l: the share of the fifteen tables that each method publishes, the average error over "
        "those, the average error over the tables that all three publish, and the share of the error that this "
        "package's estimators leave on the same releases. In the third panel the proposal's line is the lowest "
        f"{_share(_by_l(data.to_pylist(), together=True))}.",
        verdict=judge_adult(data),
        claim="TP and Anatomy often cannot publish because of the eligibility requirement; the proposal needs only "
        "that l is at most the number of values. The proposal has the smallest average MSE of all simulations.",
    )


def _ratio(rows: Rows, name: str, l: int | None) -> float:
    return float(np.mean([row["published"] for row in rows if row["method"] == name and l in {None, row["l"]}]))


def _averages(rows: Rows, *, together: bool, l: int | None = None) -> dict[str, float]:
    """The average error of each of the paper's methods: over what it published, or over what all three published."""
    errors = {
        name: {
            (row["d"], row["l"]): row[_MSE]
            for row in rows
            if row["method"] == name and row["published"] and l in {None, row["l"]}
        }
        for name in PAPER_METHODS
    }
    shared = set.intersection(*(set(found) for found in errors.values()))
    kept = {
        name: [error for place, error in found.items() if not together or place in shared]
        for name, found in errors.items()
    }
    return {name: float(np.mean(found)) for name, found in kept.items() if found}


def _by_l(rows: Rows, *, together: bool) -> dict[int, dict[str, float]]:
    """The averages for every l at which the proposal can be compared."""
    found = {l: _averages(rows, together=together, l=l) for l in _levels(rows)}
    return {l: averages for l, averages in found.items() if "Proposal" in averages and len(averages) > 1}


def _levels(rows: Rows) -> list[int]:
    return sorted({row["l"] for row in rows})


def _exceptions(found: dict[int, dict[str, float]]) -> dict[int, dict[str, float]]:
    return {l: averages for l, averages in found.items() if averages["Proposal"] > min(averages.values())}


def _share(found: dict[int, dict[str, float]]) -> str:
    return f"at {len(found) - len(_exceptions(found))} of {len(found)} values of l"


def _named(wrong: dict[int, dict[str, float]]) -> str:
    """Name the values of l at which another method has the least, and how far the proposal is from it."""
    if not wrong:
        return ""
    factors = [averages["Proposal"] / min(averages.values()) for averages in wrong.values()]
    best = dict.fromkeys(min(averages, key=averages.__getitem__) for averages in wrong.values())
    return (
        f", not at l = {', '.join(map(str, wrong))} ({' or '.join(best)} has the least, the proposal "
        f"{min(factors):.1f} to {max(factors):.1f} times that)"
    )


def _compared(rows: Rows, ours: str) -> tuple[float, int] | None:
    """The share of the error that an estimator of this package leaves on the same queries; and of how many releases."""
    found = [(row[_MSE], row[SAME]) for row in rows if row["method"] == ours and row["published"]]
    if not found:
        return None
    mine, other = (float(mean) for mean in np.mean(found, axis=0))
    return (mine / other if other else 1.0), len(found)


def _ours(rows: Rows) -> str:
    """What the better estimators leave, each on the releases on which it was tried."""
    parts = []
    for ours, theirs in _BETTER:
        compared = _compared(rows, ours)
        if compared is not None:
            of = sum(row["method"] == theirs and row["published"] for row in rows)
            parts.append(f"{ours} has {compared[0]:.2f} of the average error of {theirs} on {compared[1]} of its {of}")
    if not parts:
        return ""
    return (
        f" On the same releases {'; '.join(parts)} (MAP is not tried on more than {_MANY_VALUES:,} values, unmixing "
        "where the mixing has no inverse)."
    )


def _list(averages: dict[str, float]) -> str:
    return ", ".join(f"{name} {average:.2g}" for name, average in averages.items()) or "none"


def _draw(data: pa.Table) -> Figure:
    rows = data.to_pylist()
    ls = _levels(rows)
    shares = {name: (ls, [_ratio(rows, name, l) for l in ls]) for name in PAPER_METHODS}
    panels = [Panel("(a) successful", "l", "share of the 15 tables", shares, log_y=False, y_from_zero=True)]
    for together, title in ((False, "(b) each over what it published"), (True, "(b) over what all three published")):
        found = {l: _averages(rows, together=together, l=l) for l in ls}
        series = {name: _points({l: found[l][name] for l in ls if name in found[l]}) for name in PAPER_METHODS}
        panels.append(Panel(title, "l", "average MSE", {name: one for name, one in series.items() if one[0]}))
    left = {}
    for ours, _ in _BETTER:
        by_l = {l: _compared([row for row in rows if row["l"] == l], ours) for l in ls}
        points = {l: compared[0] for l, compared in by_l.items() if compared is not None}
        if points:
            left[ours] = _points(points)
    if left:
        title, label = "this package on the same releases", "share of the method's MSE"
        panels.append(Panel(title, "l", label, left, log_y=False, y_from_zero=True))
    title = "Fig. 5: Adult, each attribute in turn as the sensitive one"
    return draw_panels(panels, METHODS, title=title, columns=2, size=(4.0, 2.6))


def _points(by_l: dict[int, float]) -> tuple[list[float], list[float]]:
    return [float(l) for l in by_l], list(by_l.values())
