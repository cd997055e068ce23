"""What small cells gain from each other: squared errors of `hierarchical` on Adult and Census-Income, by size of cells.

Usage: LDIVERSITY_DATA=<folder with adult.csv.gz and census_income_kdd.csv.gz> python benchmarks/run.py borrowing

Each table is published several times, with l = 3. Errors are those of shares, as parts of the errors of `mle` in cells
with at least ten records per value and `map` below.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv
from _measure import Result, cost_of
from bench_errors import true_counts

import ldiversity as ld

L: Final = 3
ROWS: Final = 30_000
WORST: Final = 1.02
LEAST_COVERAGE: Final = 0.93
MANY_ROWS: Final = 300_000
SECONDS: Final = 10


@dataclass(frozen=True)
class Study:
    """A table, the columns that make its cells, its sensitive column, and the limit of the error."""

    name: str
    table: pa.Table
    by: tuple[str, ...]
    sensitive: str
    times: int
    limit: float
    rows: int | None = None


def run() -> list[Result]:
    return [*(result for study in _studies() for result in _figures(study)), _speed()]


def _studies() -> Iterator[Study]:
    folder = os.environ.get("LDIVERSITY_DATA")
    if not folder:
        print("LDIVERSITY_DATA does not name the folder of the public data sets: no figures for squared errors.")
        return
    adult = pa.csv.read_csv(Path(folder) / "adult.csv.gz")
    yield Study("Adult", adult, ("workclass", "marital-status", "race", "income"), "education", 8, 0.65)
    known = ld.datasets.adult()
    known = known.append_column("band", pa.array(np.asarray(known["age"]) // 10))
    yield Study("Adult, known rows", known, ("sex", "marital-status", "race", "band"), "education", 20, 0.65)
    census = pa.csv.read_csv(Path(folder) / "census_income_kdd.csv.gz")
    census = census.append_column("band", pa.array(np.asarray(census["age"]) // 20))
    by = ("sex", "marital_stat", "race", "band")
    yield Study(f"Census-Income, {ROWS:,} rows", census, by, "education", 12, 0.6, ROWS)
    yield Study("Census-Income, all rows", census, by, "education", 2, 0.6)


def _figures(study: Study) -> list[Result]:
    found = [_once(study, seed) for seed in range(study.times)]
    records, squares, before, held, positive = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    size = before.shape[1]
    bounds = [0, 10, 50, 10 * size, 100 * size, np.inf]
    classes = {f"{low:g} to {high:g}": (low <= records) & (records < high) for low, high in pairwise(bounds)}
    part = {name: squares[own].mean() / before[own].mean() for name, own in classes.items() if own.any()}
    covered = {name: float(held[own][positive[own]].mean()) for name, own in classes.items() if own.any()}
    name = f"{study.name}: {len(records) // study.times} cells"
    return [
        Result(f"{name}: squared error / mle and map", squares.mean() / before.mean(), study.limit, "x"),
        Result(f"{name}: the same in the worst class", max(part.values()), WORST, "x", _listed(part)),
        Result(
            f"{name}: coverage of positive counts in the worst class",
            min(covered.values()),
            LEAST_COVERAGE,
            "",
            _listed(covered),
            at_least=True,
        ),
    ]


def _once(study: Study, seed: int) -> tuple[np.ndarray, ...]:
    table, values = (
        study.table.select([*study.by, study.sensitive]),
        sorted(set(study.table[study.sensitive].to_pylist())),
    )
    if study.rows is not None:
        drawn = np.random.default_rng(seed).choice(table.num_rows, study.rows, replace=False)
        table = table.take(pa.array(drawn))
    release = ld.anonymize(
        table,
        quasi=list(study.by),
        sensitive=ld.Sensitive(study.sensitive, domain=values),
        method=ld.RandomizedAddition(l=L),
        insecure_seed=seed,
    )
    mle, small, found = (
        ld.estimate(release, by=list(study.by), estimator=name) for name in ("mle", "map", "hierarchical")
    )
    truth, records = true_counts(table, found, [study.sensitive], [values]), found.records[:, None]
    before = np.where(records >= 10 * len(values), mle.count, small.count)
    squares, others = (((counts - truth) / records) ** 2 for counts in (found.count, before))
    return found.records, squares, others, (found.low <= truth) & (truth <= found.high), truth > 0


def _listed(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} records {figure:.3f}" for name, figure in figures.items())


def _speed() -> Result:
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "a": rng.integers(0, 20, MANY_ROWS),
            "b": rng.integers(0, 25, MANY_ROWS),
            "s": np.minimum(rng.geometric(0.15, MANY_ROWS), 20),
        }
    )
    release = ld.anonymize(table, quasi=["a", "b"], sensitive="s", method=ld.RandomizedAddition(l=L), insecure_seed=1)
    cost = cost_of(lambda: ld.estimate(release, by=["a", "b"], estimator="hierarchical"), repeat=2)
    return Result(f"hierarchical: {MANY_ROWS:,} rows, 500 cells, 20 values", cost.cpu, SECONDS, "CPU s")
