"""Size and power of the test of association, and how often intervals of derived figures and of surveys hold.

Usage: LDIVERSITY_DATA=<folder with census_income_kdd.csv.gz> python benchmarks/run.py inference
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from _measure import Result
from scipy import stats

import ldiversity as ld
from ldiversity.distances import OrderedDistance
from ldiversity.mechanisms import BalancedSelection, SetMechanism, UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Role, Schema

TIMES = 1_000


@dataclass(frozen=True)
class Case:
    """Records with values like 1/rank, in cells of about equal size; in the first cell some values are moved."""

    name: str
    mechanism: SetMechanism
    n: int
    cells: int
    moved: float

    def draw(self, rng: np.random.Generator, *, null: bool) -> tuple[np.ndarray, np.ndarray]:
        """The cells and values of a table."""
        f = self.mechanism.n_values
        shares = 1 / np.arange(1, f + 1)
        cells, values = rng.integers(0, self.cells, self.n), rng.choice(f, self.n, p=shares / shares.sum())
        if not null:
            values[(cells == 0) & (values == 0) & (rng.random(self.n) < self.moved)] = 1
        return cells, values


def line(f: int) -> ld.Domain:
    return ld.Domain(tuple(range(f)), ordered=True)


BALANCED = BalancedSelection.fit(line(16), OrderedDistance(), l=3, d=3)
CASES = (
    Case("F=6, l=2, 300 records, 2 cells", UniformSelection(n_values=6, l=2), 300, 2, 0.5),
    Case("F=20, l=3, 1,000 records, 5 cells", UniformSelection(n_values=20, l=3), 1_000, 5, 0.6),
    Case(
        "F=16, l=3, d=3, 1,000 records, 4 cells",
        BalancedSelection.fit(line(16), OrderedDistance(), l=3, d=3),
        1_000,
        4,
        0.6,
    ),
    Case("F=50, l=5, 2,000 records, 8 cells", UniformSelection(n_values=50, l=5), 2_000, 8, 0.9),
)


def publish(
    mechanism: SetMechanism, columns: dict[str, np.ndarray], values: np.ndarray, rng: np.random.Generator
) -> ld.Release:
    words = rng.integers(0, 2**64, (len(values), mechanism.words_per_record + 40), dtype=np.uint64)
    sets, _ = mechanism.sample(values.astype(np.int32), words)
    shown = (Attribute(name, Role.QUASI, str(pa.array(column).type)) for name, column in columns.items())
    hidden = Attribute("s", Role.SENSITIVE, "int64", line(mechanism.n_values))
    return SetRelease.in_memory(
        schema=Schema((*shown, hidden)),
        columns=pa.table(columns),
        sets={"s": np.sort(sets, axis=1)},
        mechanisms={"s": mechanism},
    )


def pearson(cells: np.ndarray, values: np.ndarray) -> float:
    table = np.zeros((cells.max() + 1, values.max() + 1))
    np.add.at(table, (cells, values), 1)
    return float(stats.chi2_contingency(table[:, table.any(axis=0)], correction=False).pvalue)


def association_results() -> Iterator[Result]:
    for case in CASES:
        rates = {}
        for null in (True, False):
            rng, rejected = np.random.default_rng(1), []
            for _ in range(TIMES):
                cells, values = case.draw(rng, null=null)
                release = publish(case.mechanism, {"x": cells}, values, rng)
                counts = np.maximum(ld.estimate(release, "x", estimator="linear").count, 0.5) if null else None
                naive = 1.0 if counts is None else float(stats.chi2_contingency(counts).pvalue)
                rejected.append(
                    [p < 0.05 for p in (ld.association(release, "x").pvalue, pearson(cells, values), naive)]
                )
            rates[null] = np.mean(rejected, axis=0)
        ours, true, naive = rates[True]
        detail = f"size {ours:.3f}; on the true table {true:.3f}; chi-square on estimated counts {naive:.3f}"
        yield Result(f"association, {case.name}: distance of the size from .05", abs(ours - 0.05), 0.015, "", detail)
        ours, true, _ = rates[False]
        name, detail = f"association, {case.name}: power", f"on the true table {true:.3f}"
        yield Result(name, ours, 0.75 * true, "", detail, at_least=True)


def run() -> list[Result]:
    return list(association_results())
