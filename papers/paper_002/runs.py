"""Paper 002: L-LMSU and MBF on the sensitive columns of Adult."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import ldiversity as ld
from ldiversity.methods import CodedTable, Grouping, GroupingRun, SensitiveColumn
from papers.exhibits import Setting
from papers.tables import ADULT_FILE, read_table

__all__ = [
    "COLUMNS",
    "JOINT",
    "MAXIMAL",
    "PUBLISHED",
    "QUICK_ROWS",
    "UNMERGED",
    "Found",
    "by",
    "compile_methods",
    "group_separately",
    "group_together",
    "least_time",
    "read_columns",
    "run_columns",
    "run_levels",
]

COLUMNS: Final = ("education", "occupation", "workclass", "native-country")
"""The sensitive columns, in the order in which the paper adds them."""

PUBLISHED: Final = "L-LMSU, published"
UNMERGED: Final = "L-LMSU, unmerged"
JOINT: Final = "L-LMSU, joint (ours)"
MAXIMAL: Final = "MBF"

_RUN: Final = GroupingRun(workers=1)
QUICK_ROWS: Final = 8_000
"""Records of a quick rerun."""

_TINY_ROWS: Final = 500
_FULL_REPEATS: Final = 5


@dataclass(frozen=True)
class Found:
    """What one method did with some columns.

    Parameters
    ----------
    mean_hidden
        The hide loss as the paper counts, the mean over the columns.
    missing
        The share of the records that are missing from at least one column.
    additional
        The additional loss, the mean over the columns.
    left, joined
        Records that were left when no more classes of L could be formed, and those of them that joined a class; summed
        over partitions.
    seconds
        Processor time.
    """

    mean_hidden: float
    missing: float
    additional: float
    left: int
    joined: int
    seconds: float


def read_columns(setting: Setting, most: int | None = None) -> tuple[SensitiveColumn, ...]:
    """The sensitive columns of Adult's 32,561 training records in a random order; an unknown cell is a value."""
    table = read_table(setting, ADULT_FILE)
    table = table.filter(pc.equal(table["split"], "train"))
    order = np.random.default_rng(setting.seed).permutation(table.num_rows)[:most]
    columns = []
    for name in COLUMNS:
        values, codes = np.unique(table[name].to_pylist(), return_inverse=True)
        columns.append(SensitiveColumn(name, codes.astype(np.int32)[order], ld.Domain(tuple(values.tolist()))))
    return tuple(columns)


def run_levels(setting: Setting) -> pa.Table:
    """Education and occupation, for L = 2 to 7."""
    return _measure(setting, [(2, level) for level in range(2, 8)])


def run_columns(setting: Setting) -> pa.Table:
    """Two, three and four columns, for L = 2, 3 and 4: the paper does not say at which L its Fig. 2 was made."""
    return _measure(setting, [(number, level) for level in (2, 3, 4) for number in (2, 3, 4)])


def by(data: pa.Table, method: str, name: str, **where: int) -> dict[int, float]:
    """The measurements of one method, by the parameter that `where` leaves open."""
    rows = [row for row in data.to_pylist() if row["method"] == method]
    chosen = [row for row in rows if all(row[key] == value for key, value in where.items())]
    open_one = "columns" if "L" in where else "L"
    return {row[open_one]: row[name] for row in chosen}


def _measure(setting: Setting, cases: Sequence[tuple[int, int]]) -> pa.Table:
    """Measure every method in every case, a number of columns and an L.

    Columns: ``method``, ``columns``, ``L``, ``hide loss`` (as the paper counts, the mean over the columns), ``missing``
    (the share of the records that are missing from at least one column), ``additional loss``, ``left`` and ``joined``
    (records that fit into no class of L at first, and those of them that joined a class), ``time``, as a share of
    MBF's in the same case (processor time, the least of some repetitions), and that time in ``milliseconds``.
    """
    columns = read_columns(setting, QUICK_ROWS if setting.quick else None)
    compile_methods(read_columns(setting, _TINY_ROWS))
    repeats = 1 if setting.quick else _FULL_REPEATS
    rows = []
    for place, (number, level) in enumerate(cases):
        setting.progress(place / len(cases), f"{number} columns, L={level}")
        chosen = columns[:number]
        found = {
            PUBLISHED: group_separately(ld.LLMSU(level, merge=True), chosen, repeats),
            UNMERGED: group_separately(ld.LLMSU(level), chosen, repeats),
            JOINT: group_together(ld.LLMSU(level), chosen, repeats),
            MAXIMAL: group_together(ld.MBF(level), chosen, repeats),
        }
        rows += [
            {
                "method": name,
                "columns": number,
                "L": level,
                "hide loss": one.mean_hidden,
                "missing": one.missing,
                "additional loss": one.additional,
                "left": one.left,
                "joined": one.joined,
                "time": one.seconds / found[MAXIMAL].seconds,
                "milliseconds": 1000 * one.seconds,
            }
            for name, one in found.items()
        ]
    return pa.Table.from_pylist(rows)


def group_separately(method: ld.LLMSU, columns: Sequence[SensitiveColumn], repeats: int) -> Found:
    """One partition for each column, as the paper publishes several; its figures are means over the columns."""
    groupings: list[list[Grouping]] = []
    tables = [CodedTable((), (column,)) for column in columns]
    seconds = least_time(lambda: groupings.append([method.group(table, _RUN) for table in tables]), repeats)
    facts = [grouping.facts for grouping in groupings[-1]]
    hidden = np.any([grouping.partitions[0].class_of < 0 for grouping in groupings[-1]], axis=0)
    left, joined = np.sum([_left_and_joined(grouping, int(method.level or 0)) for grouping in groupings[-1]], axis=0)
    return Found(
        mean_hidden=float(np.mean([one["hide_loss"] for one in facts])),
        missing=float(hidden.mean()),
        additional=float(np.mean([one["additional_loss"] for one in facts])),
        left=int(left),
        joined=int(joined),
        seconds=seconds,
    )


def group_together(method: ld.LLMSU | ld.MBF, columns: Sequence[SensitiveColumn], repeats: int) -> Found:
    """One partition whose classes differ in every column."""
    groupings: list[Grouping] = []
    table = CodedTable((), tuple(columns))
    seconds = least_time(lambda: groupings.append(method.group(table, _RUN)), repeats)
    facts: Any = groupings[-1].facts  # as the method gave them
    left, joined = _left_and_joined(groupings[-1], int(method.level or 0))
    return Found(facts["hide_loss"], facts["hide_loss"], facts["additional_loss"], left, joined, seconds)


def _left_and_joined(grouping: Grouping, l: int) -> tuple[int, int]:
    """Records beyond classes of l, hidden or not, and those of them that a class took in."""
    (partition,) = grouping.partitions
    joined = int((partition.sizes - l).sum())
    return joined + partition.suppressed, joined


def least_time(work: Callable[[], object], repeats: int) -> float:
    """Processor time, the least of some repetitions: what else runs on the machine only ever adds to it."""
    least = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        work()
        least = min(least, time.process_time() - begin)
    return max(least, 1e-9)


def compile_methods(columns: Sequence[SensitiveColumn]) -> None:
    """Run everything once on few records, so that no compilation is measured."""
    group_separately(ld.LLMSU(2, merge=True), columns, 1)
    group_together(ld.LLMSU(2), columns, 1)
    group_together(ld.MBF(2), columns, 1)
