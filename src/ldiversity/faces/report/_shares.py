"""The pictures of estimated shares: bars of all records, and maps of cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ldiversity.base.numbers import counted, level, number, percent, percent_between
from ldiversity.faces.report._parts import Cell, Contingency, Distribution
from ldiversity.faces.report._phrases import interval_name, limit_heads, short
from ldiversity.pictures import Grid, Picture, draw_heat, plot_estimate, style, write_title

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.pictures import Figure

__all__ = ["contingency_picture", "distribution_picture"]


def distribution_picture(facts: Distribution) -> Picture:
    """Bars of all records."""
    name, values, exact = facts.attribute, facts.values, facts.exact
    holder = bool(values) and values[0].true_count is not None
    heads = ("value", "count" if exact else "estimated count", "share" if exact else "estimated share")
    limits = limit_heads(facts)
    rows = tuple(
        (
            v.value,
            round(v.count) if exact else v.count,
            v.share,
            *([v.low, v.high] if limits else []),
            *([v.true_count, v.true_share] if holder else []),
        )
        for v in values
    )
    return Picture(
        "distributions",
        f"distribution-{name}",
        f"{name}: before and after"
        if holder
        else f"{name}, {'as published' if exact else 'estimated from the release'}",
        _distribution_alt(facts, holder=holder),
        (*heads, *limits, *(("true count", "true share") if holder else ())),
        rows,
        partial(_draw_distribution, facts, holder=holder),
    )


def _distribution_alt(facts: Distribution, *, holder: bool) -> str:
    name, values, rest = facts.attribute, facts.values, facts.left_out
    exact, what = facts.exact, "groups of neighboring values" if facts.grouped else "values"
    top = max(values, key=lambda value: value.share or 0.0)
    limits = "" if exact else percent_between(top.low, top.high)
    shown = " and the true shares" if holder else ""
    alt = (
        f"Bars: the {'exact' if exact else 'estimated'} share of each of {len(values)} {what} of {name!r} among "
        f"{counted(facts.records, 'record')}{'' if exact else f', with {_intervals(facts)}'}{shown}. The most "
        f"frequent is {short(top.value, 60)!r} with {percent(top.share)}{limits}."
    )
    if facts.intervals == "simultaneous":
        alt += " The largest of many estimates tend to be too high; the intervals account for that."
    if rest.values:
        verb = "is" if rest.values == 1 else "are"
        alt += f" {counted(rest.values, 'further value')}, together {percent(rest.share)}, {verb} not drawn."
    return alt


def _intervals(facts: Distribution) -> str:
    percentage = level(facts.confidence)
    return {
        "bounds": "limits that hold for certain",
        "simultaneous": f"intervals that hold for all {number(facts.domain)} values at once ({percentage})",
    }.get(facts.intervals, f"{percentage} intervals")


def _draw_distribution(facts: Distribution, *, holder: bool) -> Figure:
    values = facts.values
    return plot_estimate(
        ["all records"],
        [value.value for value in values],
        _array([[value.share for value in values]]),
        _array([[value.low for value in values]]),
        _array([[value.high for value in values]]),
        truth=_array([[value.true_share for value in values]]) if holder else None,
        records=[facts.records],
        confidence=facts.confidence,
        interval=interval_name(facts),
        title=f"{facts.attribute}: how often each value occurs",
    )


def contingency_picture(facts: Contingency) -> Picture:
    """A map of cells."""
    name, by, cells = facts.attribute, " and ".join(facts.by), facts.cells
    holder = bool(cells) and cells[0].true_share is not None
    exact, limits = facts.exact, limit_heads(facts)
    share = "share" if exact else "estimated share"
    rows = tuple(
        (
            cell.cell,
            cell.records,
            value,
            cell.share[place],
            *([cell.low[place], cell.high[place]] if limits else []),
            *([] if cell.true_share is None else [cell.true_share[place]]),
        )
        for cell in cells
        for place, value in enumerate(facts.values)
    )
    return Picture(
        "contingency",
        f"{name}-by-{'-'.join(facts.by)}",
        f"{name} by {by}",
        _contingency_alt(facts, by, holder=holder),
        ("cell", "records", "value", share, *limits, *(("true share",) if holder else ())),
        rows,
        partial(_draw_contingency, facts, holder=holder),
    )


def _contingency_alt(facts: Contingency, by: str, *, holder: bool) -> str:
    cells = facts.cells
    alt = (
        f"Heat map: the {'exact' if facts.exact else 'estimated'} share of "
        f"{counted(len(facts.values), 'value')} of {facts.attribute!r} (columns) in "
        f"{counted(len(cells), 'cell')} by {by} (rows); darker is more frequent."
    )
    if holder:
        alt += " A second map shows the true shares."
    strongest = _strongest(cells)
    if strongest is None:
        return alt
    alt += f" The largest share is that of {_share_at(facts, *strongest)}"
    if not strongest[0].note:
        return f"{alt}."
    # The largest estimates are often those of few records: say what can be relied on, too.
    alt += ", a hatched cell of few records, to be read with care"
    trusted = _strongest([cell for cell in cells if not cell.note])
    return f"{alt}." if trusted is None else f"{alt}; among the other cells that of {_share_at(facts, *trusted)}."


def _strongest(cells: Sequence[Cell]) -> tuple[Cell, int] | None:
    """The cell with the largest share, and the place of its value."""
    return max(
        ((cell, place) for cell in cells for place, share in enumerate(cell.share) if share is not None),
        key=lambda at: at[0].share[at[1]] or 0.0,
        default=None,
    )


def _share_at(facts: Contingency, cell: Cell, place: int) -> str:
    limits = percent_between(cell.low[place], cell.high[place]) if limit_heads(facts) else ""
    value, where = short(facts.values[place], 60), short(cell.cell, 60)
    return f"{value!r} in {where!r}: {percent(cell.share[place])}{limits}"


def _draw_contingency(facts: Contingency, *, holder: bool) -> Figure:
    cells = facts.cells
    grid = Grid.of(
        [cell.cell for cell in cells],
        facts.values,
        _array([cell.share for cell in cells]),
        low=_array([cell.low for cell in cells]),
        high=_array([cell.high for cell in cells]),
        truth=_array([cell.true_share or () for cell in cells]) if holder else None,
        marked=[bool(cell.note) for cell in cells],
        records=None,
        confidence=facts.confidence,
        interval=interval_name(facts),
    )
    with style():
        figure = draw_heat(grid)
        write_title(figure, f"{facts.attribute} by {' and '.join(facts.by)}")
    return figure


def _array(rows: Sequence[Sequence[float | None]]) -> FloatArray:
    return np.array([[np.nan if share is None else share for share in row] for row in rows], dtype=np.float64)
