"""Fig. 11 to 13 of paper 004: mean squared error against l and d."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ldiversity.base.randomness import FreshWords
from papers.exhibits import Exhibit, Setting
from papers.overlaps import overlapping_lines, tell_overlaps
from papers.paper_004.data import stand_in
from papers.paper_004.pictures import Curve, Panel, draw_panels
from papers.paper_004.runs import COMBINATIONS, LE, Outcomes, prepare, run_le, run_once
from papers.verdicts import Verdict

if TYPE_CHECKING:
    from papers.paper_004.data import Survey

__all__ = ["Sweep", "measure", "sweep_exhibit", "sweeps"]

BY_CELL: Final = "MSE by age and gender"
WHOLE: Final = "MSE of the whole table"

_MANY_VALUES: Final = 100
_ON_EACH_OTHER: Final = "Lines on each other, wherever both have points"


@dataclass(frozen=True)
class Sweep:
    """A figure of four panels: l = 2 against d, d = 2 against l, l = 3 against d, d = 3 against l."""

    item: str
    survey: str
    panels: tuple[tuple[tuple[int, int], ...], ...]
    """The settings (l, d) of each panel."""

    @property
    def settings(self) -> tuple[tuple[int, int], ...]:
        """Every (l, d) once."""
        return tuple(sorted({setting for panel in self.panels for setting in panel}))


def sweeps(*, quick: bool) -> tuple[Sweep, ...]:
    """The three figures; fnlwgt with fewer settings when quick."""
    far = (2, 20) if quick else (2, 3, 5, 10, 20, 30)
    many = (2, 3) if quick else (2, 3, 4, 5)
    return (
        Sweep("Fig. 11", "income", _panels(range(1, 7), range(2, 7), range(1, 5), range(2, 5))),
        Sweep("Fig. 12", "education", _panels(range(1, 4), range(2, 6), range(1, 4), range(2, 5))),
        Sweep("Fig. 13", "fnlwgt", _panels(far, many, far, many)),
    )


def _panels(a: Sequence[int], b: Sequence[int], c: Sequence[int], d: Sequence[int]) -> tuple[Any, ...]:
    return (
        tuple((2, x) for x in a),
        tuple((x, 2) for x in b),
        tuple((3, x) for x in c),
        tuple((x, 3) for x in d),
    )


def measure(sweep: Sweep, survey: Survey, setting: Setting, share: tuple[float, float] = (0.0, 1.0)) -> pa.Table:
    """Mean errors over repeated releases, one row for each (l, d) and combination."""
    words = FreshWords.from_insecure_seed(setting.seed + 11)
    repetitions = 10 if not setting.quick else 2 if survey.n_values < _MANY_VALUES else 1
    rows: list[dict[str, Any]] = []
    for number, (l, d) in enumerate(sweep.settings):
        start, end = share
        done = start + (end - start) * number / len(sweep.settings)
        setting.progress(done, f"paper 004, {sweep.item}: {survey.name}, l = {l}, d = {d}")
        rows += _measure_setting(survey, l, d, repetitions, words)
    return pa.Table.from_pylist(rows)


def _measure_setting(survey: Survey, l: int, d: int, repetitions: int, words: FreshWords) -> list[dict[str, Any]]:
    fitted = prepare(survey, l, d)
    names = [each.name for each in COMBINATIONS if each.selection in fitted]
    runs = [run_once(survey, fitted, words, names) for _ in range(repetitions)]
    notes = dict.fromkeys(names, "") | runs[0].refused
    if survey.name == "education":
        grouped = [run_le(survey, l, d, words) for _ in range(repetitions)]
        runs = [_join(run, le) for run, (le, _) in zip(runs, grouped, strict=True)]
        suppressed = grouped[0][1]
        notes[LE] = f"{suppressed} of {survey.n} records could not be published" if suppressed else ""
    rows = []
    for name, note in notes.items():
        errors = np.array([run.mse(survey, name) for run in runs if name in run.cells]).reshape(-1, 2)
        by_cell, whole = errors.mean(axis=0) if len(errors) else (None, None)
        rows.append({"l": l, "d": d, "combination": name, BY_CELL: by_cell, WHOLE: whole, "note": note})
    return rows


def _join(first: Outcomes, second: Outcomes) -> Outcomes:
    return Outcomes(first.cells | second.cells, first.whole | second.whole, first.refused | second.refused)


def sweep_exhibit(sweep: Sweep, survey: Survey, data: pa.Table, verdict: Verdict, claim: str) -> Exhibit:
    """Put a measured figure together with its verdict."""
    title = f"Mean squared error against l and d, {survey.name} ({survey.n:,} records, F = {survey.n_values})"
    return Exhibit(
        "004",
        sweep.item,
        title,
        data,
        partial(_draw, sweep, data, f"{sweep.item}: {title}"),
        "Four panels of errors on a logarithmic axis: l = 2 and l = 3 against d, d = 2 and d = 3 against l, one line a "
        "combination of anonymizing and analyzing. " + _in_words(data),
        verdict,
        claim,
        stand_in([survey.name]),
    )


def _in_words(data: pa.Table) -> str:
    """The order of the lines, by their mean heights."""
    heights: dict[str, list[float]] = {}
    for row in data.to_pylist():
        if row[BY_CELL]:
            heights.setdefault(row["combination"], []).append(float(np.log(row[BY_CELL])))
    ranked = sorted(heights, key=lambda name: float(np.mean(heights[name])))
    return f"From the lowest to the highest on average: {'; '.join(ranked)}."


def _draw(sweep: Sweep, data: pa.Table, title: str) -> Any:  # noqa: ANN401 - a figure of matplotlib
    rows = data.to_pylist()
    found = {(row["l"], row["d"], row["combination"]): row[BY_CELL] for row in rows}
    names = list(dict.fromkeys(row["combination"] for row in rows))
    panels = []
    for letter, settings in zip("abcd", sweep.panels, strict=True):
        against_d = len({l for l, _ in settings}) == 1
        x = [d if against_d else l for l, d in settings]
        fixed = f"l = {settings[0][0]}" if against_d else f"d = {settings[0][1]}"
        curves = [Curve(name, x, [found[(*each, name)] for each in settings]) for name in names]
        panels.append(Panel(f"({letter}) {fixed}", "d" if against_d else "l", curves))
    lines = [{curve.name: (curve.x, curve.y) for curve in panel.curves} for panel in panels]
    told = tell_overlaps(overlapping_lines(lines))
    return draw_panels(title, panels, BY_CELL, log=True, notes=[f"{_ON_EACH_OTHER}: {told}"] if told else [])
