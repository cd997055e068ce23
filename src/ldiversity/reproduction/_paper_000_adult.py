"""Paper 000, Fig. 5: every attribute of Adult as the sensitive one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.reproduction._base import Exhibit, Outcome, Setting
from ldiversity.reproduction._lines import METHODS, Panel, draw_panels
from ldiversity.reproduction._paper_000_queries import PAPER_METHODS, Asked, publish
from ldiversity.reproduction._tables import ADULT_COLUMNS, adult_table, sample_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["judge_adult", "measure_adult", "overview_exhibit"]

_MSE: Final = "MSE (Eq. 2)"
_MANY_VALUES: Final = 2000
"""Attributes with more values, final weight alone, are estimated by the paper's linear system only."""


def measure_adult(setting: Setting) -> pa.Table:
    """Publish Adult(1) to Adult(15) by each method for l from 2 to 10, and ask queries."""
    table = sample_rows(adult_table(setting), 6_000 if setting.quick else 100_000, setting.seed)
    ls = (2, 5, 10) if setting.quick else range(2, 11)
    rows: list[dict[str, Any]] = []
    for place, sensitive in enumerate(ADULT_COLUMNS):
        setting.progress(0.8 + 0.13 * place / len(ADULT_COLUMNS), f"Fig. 5, Adult({place + 1}), {sensitive}")
        quasi = [name for name in ADULT_COLUMNS if name != sensitive]
        n_queries = 10 if setting.quick else 50
        asked = Asked(table, quasi, sensitive, qd=3, selectivity=0.07, n_queries=n_queries, seed=setting.seed)
        counts = np.asarray(pc.value_counts(table[sensitive]).field("counts"))
        for l in ls:
            known = {
                "d": place + 1,
                "sensitive": sensitive,
                "values": len(counts),
                "most frequent": float(counts.max() / table.num_rows),
                "l": l,
            }
            for name in PAPER_METHODS:
                release = publish(table, quasi, sensitive, name, l, setting.seed)
                if isinstance(release, str):
                    rows.append({**known, "method": name, "published": False, _MSE: None, "note": release})
                    continue
                found = asked.answers(name, release, improved=len(counts) <= _MANY_VALUES)
                rows += [
                    {**known, "method": label, "published": True, _MSE: answer.mse, "note": ""}
                    for label, answer in found.items()
                ]
    return pa.Table.from_pylist(rows)


def judge_adult(data: pa.Table) -> tuple[Outcome, str]:
    """Compare how often each method publishes, and with which error."""
    rows = data.to_pylist()
    ratios = {name: _ratio(rows, name, None) for name in PAPER_METHODS}
    shown = ", ".join(f"{name} {ratio:.0%}" for name, ratio in ratios.items())
    own, common = _averages(rows, together=False), _averages(rows, together=True)
    most = ratios["Proposal"] >= max(ratios.values())
    least = own["Proposal"] <= min(own[name] for name in PAPER_METHODS if name in own)
    least_common = common["Proposal"] <= min(common[name] for name in PAPER_METHODS if name in common)
    allowed = np.mean([row["l"] <= row["values"] for row in rows if row["method"] == "Proposal"])
    words = (
        f"Published: {shown}; the proposal fails only where l reaches the number of values (at l = |S| every record "
        f"shows all values, which can be published, {allowed:.0%}, but tells nothing). Average MSE over what each "
        f"method published: {_list(own)}. Over the settings in which all three published: {_list(common)}; the "
        f"proposal has the least of the three there at l = {_least_at(rows) or 'none'}."
    )
    ours = common.get("Proposal, MAP (ours)", np.inf)
    if most and least_common:
        if not least:
            words += (
                " The first averages are over different tables: the proposal's has the hard ones that others refuse."
            )
        if ours >= common["Proposal"]:
            return "agrees", words
        return (
            "better",
            f"{words} MAP on the same releases has {ours / common['Proposal']:.2f} of the proposal's error.",
        )
    reasons = [] if most else ["another method publishes more often"]
    if not least_common:
        alone = "; its average is the least only over different tables" if least else ""
        reasons.append(f"where all three publish, another than the proposal has the least error{alone}")
        if ours < np.inf:
            best = min(common[name] for name in PAPER_METHODS if name in common)
            reasons.append(f"MAP on the same releases has {ours / best:.2f} of the least of the three")
    return "differs", f"{words} So {'; '.join(reasons)}."


def overview_exhibit(data: pa.Table) -> Exhibit:
    """Fig. 5: ratio of successful anonymizations and average MSE."""
    outcome, words = judge_adult(data)
    return Exhibit(
        paper="000",
        item="Fig. 5",
        title="Adult(1) to Adult(15): how often a method publishes, and its error",
        data=data,
        draw=lambda: _draw(data),
        alt="Three panels against l: the share of the fifteen tables that each method publishes, the average error "
        f"over those, and the average error over the tables that all three publish. {words}",
        outcome=outcome,
        words=words,
        claim="TP and Anatomy often cannot publish because of the eligibility requirement; the proposal needs only "
        "that l is at most the number of values. The proposal has the smallest average MSE.",
    )


def _ratio(rows: list[dict[str, Any]], name: str, l: int | None) -> float:
    return float(np.mean([row["published"] for row in rows if row["method"] == name and l in {None, row["l"]}]))


def _averages(rows: list[dict[str, Any]], *, together: bool, l: int | None = None) -> dict[str, float]:
    """The average error of each method; over what it published, or over the settings that all three published."""
    published: dict[tuple[int, int], set[str]] = {}
    for row in rows:
        if row["published"]:
            published.setdefault((row["d"], row["l"]), set()).add(row["method"])
    averages = {}
    for name in METHODS:
        errors = [
            row[_MSE]
            for row in rows
            if row["method"] == name
            and row["published"]
            and l in {None, row["l"]}
            and (not together or set(PAPER_METHODS) <= published[row["d"], row["l"]])
        ]
        if errors:
            averages[name] = float(np.mean(errors))
    return averages


def _least_at(rows: list[dict[str, Any]]) -> str:
    found = {l: _averages(rows, together=True, l=l) for l in sorted({row["l"] for row in rows})}
    shared = {l: {name: one[name] for name in PAPER_METHODS} for l, one in found.items() if one}
    return ", ".join(str(l) for l, one in shared.items() if one["Proposal"] <= min(one.values()))


def _list(averages: dict[str, float]) -> str:
    return ", ".join(f"{name} {average:.2g}" for name, average in averages.items())


def _draw(data: pa.Table) -> Figure:
    rows = data.to_pylist()
    ls = sorted({row["l"] for row in rows})
    shares = {name: (ls, [_ratio(rows, name, l) for l in ls]) for name in PAPER_METHODS}
    panels = [Panel("(a) successful", "l", "share of the 15 tables", shares, log_y=False, y_from_zero=True)]
    for together, title in ((False, "(b) each over what it published"), (True, "(b) over what all three published")):
        found = {l: _averages(rows, together=together, l=l) for l in ls}
        series = {
            name: ([l for l in ls if name in found[l]], [found[l][name] for l in ls if name in found[l]])
            for name in METHODS
        }
        panels.append(Panel(title, "l", "average MSE", {name: one for name, one in series.items() if one[0]}))
    return draw_panels(panels, METHODS, title="Fig. 5: Adult, each attribute in turn as the sensitive one", columns=3)
