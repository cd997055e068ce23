"""Paper 002: the time of L-LMSU and of MBF against the number of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

import ldiversity as ld
from ldiversity.methods import SensitiveColumn
from ldiversity.pictures import BLUE, ORANGE, PURPLE
from papers.exhibits import Exhibit, Setting
from papers.lines import Look, Panel, draw_panels
from papers.paper_002.runs import (
    JOINT,
    MAXIMAL,
    PUBLISHED,
    compile_methods,
    group_separately,
    group_together,
    read_columns,
)
from papers.verdicts import Verdict, decide, single

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["growth_exhibit", "judge_growth", "run_sizes"]

_L: Final = 4
_QUICK: Final = (1_000, 2_000, 4_000, 8_000)
_FULL: Final = (4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
_TINY: Final = 500
_REPEATS: Final = 5
_LINEAR: Final = 1.2
"""Times that grow with a smaller power of the number of records count as linear; these are a few milliseconds."""

_LOOKS: Final[Mapping[str, Look]] = {
    PUBLISHED: Look(ORANGE, "s"),
    MAXIMAL: Look(PURPLE, "D"),
    JOINT: Look(BLUE, "o", "--", hollow=True),
}
_CLAIM: Final = (
    "The time complexity of L-LMSU is linear in the number of records, and because of that its time is better than "
    "MBF's. (The paper shows no measurement with another number of records.)"
)


def growth_exhibit(setting: Setting) -> Exhibit:
    """Measure the time on more and more records."""
    data = run_sizes(read_columns(setting), _QUICK if setting.quick else _FULL)
    title = f"Time against the number of records, two columns, L={_L}"
    told = "; ".join(
        f"{name}: {times[0]:.2g} to {times[-1]:.2g} milliseconds" for name, (_, times) in _lines(data).items()
    )
    alt = f"{title}. Lines on logarithmic axes. {told}."
    return Exhibit("002", "Fig. 1(c), records", title, data, partial(_draw, data), alt, judge_growth(data), _CLAIM)


def run_sizes(columns: Sequence[SensitiveColumn], sizes: Sequence[int]) -> pa.Table:
    """Processor time of each method on the first so many records; beyond the table it is repeated."""
    compile_methods(_first(columns, _TINY))
    rows = []
    for size in sizes:
        chosen = _first(columns[:2], size)
        found = {
            PUBLISHED: group_separately(ld.LLMSU(_L, merge=True), chosen, _REPEATS),
            MAXIMAL: group_together(ld.MBF(_L), chosen, _REPEATS),
            JOINT: group_together(ld.LLMSU(_L), chosen, _REPEATS),
        }
        rows += [{"method": name, "records": size, "milliseconds": 1000 * one.seconds} for name, one in found.items()]
    return pa.Table.from_pylist(rows)


def judge_growth(data: pa.Table) -> Verdict:
    """See with which power of the number of records the times grow."""
    powers = {name: _power(*line) for name, line in _lines(data).items()}
    sizes = sorted(set(data["records"].to_pylist()))
    linear, other = (powers[name] <= _LINEAR for name in (PUBLISHED, MAXIMAL))
    words = (
        f"From {sizes[0]:,} to {sizes[-1]:,} records (beyond Adult's 32,561 they are repeated) the time of L-LMSU as "
        f"published grows with the number of records to the power of {powers[PUBLISHED]:.2f}, MBF's with "
        f"{powers[MAXIMAL]:.2f}, that of our joint classes, whose search ends early where no fewer records can be "
        f"hidden, with {powers[JOINT]:.2f} (processor time in one run, noisy; part of it is the same for any number of "
        f"records; up to {_LINEAR} counts as linear). So L-LMSU is {'at most' if linear else 'NOT'} linear, and MBF is "
        f"{'so as well: that cannot be why it is slower' if other else 'not'}."
    )
    outcome, why = decide([single("the time of L-LMSU is at most linear", holds=linear)])
    return Verdict(outcome, words, f"powers: L-LMSU {powers[PUBLISHED]:.2f}, MBF {powers[MAXIMAL]:.2f}", why)


def _first(columns: Sequence[SensitiveColumn], size: int) -> tuple[SensitiveColumn, ...]:
    return tuple(replace(column, codes=np.resize(column.codes, size)) for column in columns)


def _lines(data: pa.Table) -> dict[str, tuple[list[float], list[float]]]:
    rows = data.to_pylist()
    return {
        name: (
            [float(row["records"]) for row in rows if row["method"] == name],
            [row["milliseconds"] for row in rows if row["method"] == name],
        )
        for name in _LOOKS
    }


def _power(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The slope on logarithmic axes, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _draw(data: pa.Table) -> Figure:
    panel = Panel("", "records", "milliseconds; noisy", _lines(data), log_x=True)
    return draw_panels([panel], _LOOKS, title=f"Time against records, L={_L}", columns=1, size=(6.4, 3.6))
