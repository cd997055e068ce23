"""Whether stated errors are true: coverage, width and error ratios of `mle` on Census-Income and Adult.

Usage: LDIVERSITY_DATA=<folder with adult.csv.gz and census_income_kdd.csv.gz> python benchmarks/run.py errors

Each table is published several times. Figures are about cells with at least ten records per value. Classes of values
follow from the true share in the cell: zero, rare (below 2 %), common.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv
from _measure import Result

import ldiversity as ld

TIMES: Final = {"Census-Income": 10, "Adult": 16}
RARE: Final = 0.02
WIDTHS: Final = {("Census-Income", 3): 0.75, ("Census-Income", 5): 0.82}
LEAST, MOST = 0.93, 0.97


@dataclass(frozen=True)
class Study:
    """A table, the columns that make its cells, and its sensitive column."""

    name: str
    table: pa.Table
    by: tuple[str, ...]
    sensitive: str


def run() -> list[Result]:
    folder = os.environ.get("LDIVERSITY_DATA")
    if not folder:
        print("LDIVERSITY_DATA does not name the folder of the public data sets: no figures for errors.")
        return []
    census = pa.csv.read_csv(Path(folder) / "census_income_kdd.csv.gz")
    adult = pa.csv.read_csv(Path(folder) / "adult.csv.gz")
    studies = [
        Study("Census-Income", census, ("sex", "marital_stat", "race"), "education"),
        Study("Adult", adult, ("sex", "race"), "education"),
        Study("Adult", adult, ("sex", "marital-status"), "occupation"),
    ]
    return [
        result
        for study in studies
        for l, d in ((3, 3), (5, 2))
        for kind in ("uniform", "balanced")
        for result in _figures(study, l, kind, d)
    ]


def _figures(study: Study, l: int, kind: str, d: int) -> list[Result]:
    table = study.table.select([*study.by, study.sensitive])
    values = sorted(set(table[study.sensitive].to_pylist()))
    method = (
        ld.RandomizedAddition(l=l)
        if kind == "uniform"
        else ld.SemanticDiversity(l=l, d=d, distance=ld.OrderedDistance())
    )
    hidden = ld.Sensitive(study.sensitive, domain=values)
    found = []
    for seed in range(TIMES[study.name]):
        release = ld.anonymize(table, quasi=list(study.by), sensitive=hidden, method=method, insecure_seed=seed)
        mle, linear = (ld.estimate(release, by=list(study.by), estimator=each) for each in ("mle", "linear"))
        truth = true_counts(table, mle, study.sensitive, values)
        large = mle.records >= 10 * len(values)
        held = (mle.low <= truth) & (truth <= mle.high)
        found.append(
            [
                array[large]
                for array in (
                    held,
                    truth / mle.records[:, None],
                    mle.high - mle.low,
                    linear.high - linear.low,
                    mle.std_error,
                    mle.count - truth,
                )
            ]
        )
    held, share, width, before, stated, off = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    classes = {"all": share >= 0, "zero": share == 0, "rare": (share > 0) & (share < RARE), "common": share >= RARE}
    by_class = ", ".join(f"{name} {held[chosen].mean():.3f}" for name, chosen in classes.items() if chosen.any())
    error = float(np.sqrt((stated**2).mean() / (off**2).mean()))
    name = f"{study.name}, {study.sensitive}, l={l}, {kind}"
    worst = min(float(held[chosen].mean()) for chosen in classes.values() if chosen.any())
    return [
        Result(f"{name}: coverage of the worst class", worst, LEAST, "", by_class, at_least=True),
        Result(f"{name}: coverage of all", float(held.mean()), MOST, ""),
        Result(f"{name}: width / linear", width.sum() / before.sum(), WIDTHS.get((study.name, l), 1), "x"),
        Result(f"{name}: stated / actual error", error, 0.85, "x", at_least=True),
        Result(f"{name}: stated / actual error", error, 1.2, "x"),
    ]


def true_counts(table: pa.Table, estimate: ld.Estimate, sensitive: str, values: list[str]) -> np.ndarray:
    """The true counts of the cells of an estimate."""
    position = {tuple(row.values()): at for at, row in enumerate(estimate.labels.to_pylist())}
    code = {value: at for at, value in enumerate(values)}
    truth = np.zeros(estimate.count.shape)
    for row in table.group_by([*estimate.by, sensitive]).aggregate([([], "count_all")]).to_pylist():
        truth[position[tuple(row[name] for name in estimate.by)], code[row[sensitive]]] = row["count_all"]
    return truth
