"""How long Incognito searches when records may be left out.

One million rows and seven quasi-identifiers with hierarchies: like Adult, where many rows agree in all of them, and
nearly unique rows, with a place of 10,000 codes and a day of birth. Every node that is not ruled out is looked at, so
the answer is that of trying all nodes in ascending order of loss (a test compares the two).
"""

from __future__ import annotations

import numpy as np
from _measure import Result, cost_of
from bench_mondrian import LABELS, VALUES, columns

from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import CategoryColumn, CodedTable, GroupingRun, Incognito, SensitiveColumn
from ldiversity.schema import Domain

ROWS = 1_000_000
L = 4
SHARES = (0.01, 0.05)
MOST_SECONDS = 60


def run() -> list[Result]:
    results = []
    for name, table in {"like Adult": like_adult(ROWS), "nearly unique": nearly_unique(ROWS)}.items():
        for share in SHARES:
            method = Incognito(l=L, suppression=share)
            found = []
            cost = cost_of(lambda m=method, t=table, f=found: f.append(m.group(t, GroupingRun())), repeat=1)
            detail = f"levels {tuple(found[0].levels.values())}, {found[0].partitions[0].suppressed:,} left out"
            results.append(
                Result(f"Incognito, 1M x 7, {name}, suppression {share}", cost.cpu, MOST_SECONDS, "s CPU", detail)
            )
    return results


def like_adult(rows: int) -> CodedTable:
    """Age, education, hours, marital status, race, sex and income."""
    made = columns(rows)
    wide = {"age": (91, (5, 10, 20)), "education": (17, (4,)), "hours": (100, (5, 10, 20))}
    quasi = [_by_width(name, made[name], *how) for name, how in wide.items()]
    quasi += [_by_width(name, made[name], LABELS[name], (2,) if LABELS[name] > 2 else ()) for name in LABELS]
    income = np.minimum(made["weight"] // 50_000, 19)
    return CodedTable((*quasi, _by_width("income", income, 20, (2, 4))), (_sensitive(made),))


def nearly_unique(rows: int) -> CodedTable:
    """The same people with a place and a day of birth in the place of education and income."""
    made = columns(rows)
    rng = np.random.default_rng(1)
    quasi = [
        _by_width("zip", (10_000 * rng.beta(1, 3, rows)).astype(np.int64), 10_000, (10, 100, 1000)),
        _by_width("born", (91 - made["age"]) * 360 + rng.integers(0, 360, rows), 91 * 360, (30, 360, 3600)),
        _by_width("hours", made["hours"], 100, (5, 10, 20)),
        _by_width("education", made["education"], 17, (4,)),
    ]
    quasi += [_by_width(name, made[name], LABELS[name], ()) for name in LABELS]
    return CodedTable(tuple(quasi), (_sensitive(made),))


def _by_width(name: str, codes: np.ndarray, n_values: int, widths: tuple[int, ...]) -> CategoryColumn:
    """Numbers from 0 in a tree of ranges."""
    tree = Hierarchy.from_rows(
        [(f"{value:06}", *(f"{value // width}/{width}" for width in widths), "*") for value in range(n_values)]
    )
    return CategoryColumn(name, codes.astype(np.int32), tree.leaves, tree)


def _sensitive(made: dict[str, np.ndarray]) -> SensitiveColumn:
    return SensitiveColumn("occupation", made["occupation"].astype(np.int32), Domain(tuple(range(VALUES))))
