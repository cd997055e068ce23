"""How fast the methods that keep quasi-identifiers exact form their classes, once compiled."""

from __future__ import annotations

import numpy as np
from _measure import Result, cost_of

from ldiversity.methods import LLMSU, MBF, Anatomy, CodedTable, GroupingMethod, GroupingRun, SensitiveColumn
from ldiversity.schema import Domain

ROWS = 1_000_000
L = 4


def run() -> list[Result]:
    results = [
        Result(f"Anatomy l=4, {n_values} values, 1M rows", _cpu(Anatomy(L), _table(ROWS, n_values)), 1, "s CPU")
        for n_values in (14, 1000, 50_000)
    ]
    large = Result("Anatomy l=4, 50 values, 10M rows", _cpu(Anatomy(L), _table(10 * ROWS, 50)), 10, "s CPU")
    return [*results, large, _joint(MBF(L), 10), _joint(LLMSU(L), 40)]


def _joint(method: GroupingMethod, limit: float) -> Result:
    table = _table(ROWS, 16, 15, 9)
    hidden = method.group(table, GroupingRun()).facts["hide_loss"]
    name = f"{method.name} l=4, three sensitive columns, 1M rows"
    return Result(name, _cpu(method, table, repeat=1), limit, "s CPU", f"hide loss {hidden:.3f}")


def _cpu(method: GroupingMethod, table: CodedTable, *, repeat: int = 3) -> float:
    method.group(_table(1000, *(len(column.domain) for column in table.sensitive)), GroupingRun())
    return cost_of(lambda: method.group(table, GroupingRun()), repeat=repeat).cpu


def _table(n_rows: int, *n_values: int) -> CodedTable:
    """Columns whose values are as unequal as they may be for Anatomy at l=4, and more so beside others."""
    rng = np.random.default_rng(0)
    power = 0.4 if len(n_values) == 1 else 1.2
    columns = []
    for number, n in enumerate(n_values):
        shares = np.arange(1, n + 1) ** -power
        codes = rng.choice(n, n_rows, p=shares / shares.sum()).astype(np.int32)
        columns.append(SensitiveColumn(f"column {number}", codes, Domain(tuple(range(n)))))
    return CodedTable((), tuple(columns))
