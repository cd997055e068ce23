"""Whether stated errors are true: coverage, width and error ratios of `mle` on Census-Income and Adult.

Usage: LDIVERSITY_DATA=<folder with adult.csv.gz and census_income_kdd.csv.gz> python benchmarks/run.py errors

Each table is published many times. Figures are about cells with at least ten records per value. Classes of values
follow from the true share in the cell: zero, rare (below 2 %), common. Standard errors of coverages are over releases.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from _measure import Result

import ldiversity as ld

TIMES: Final = {"Census-Income": 20, "Adult": 160, "Adult, 40 and older": 60}
RARE: Final = 0.02
WIDTHS: Final = {("Census-Income", 3): 0.75, ("Census-Income", 5): 0.82}
LEAST, MOST = 0.93, 0.97


@dataclass(frozen=True)
class Study:
    """A table, the columns that make its cells, its sensitive columns, and from which age on people are counted."""

    name: str
    table: pa.Table
    by: tuple[str, ...]
    sensitive: tuple[str, ...]
    age: int | None = None


def run() -> list[Result]:
    folder = os.environ.get("LDIVERSITY_DATA")
    if not folder:
        print("LDIVERSITY_DATA does not name the folder of the public data sets: no figures for errors.")
        return []
    census = pa.csv.read_csv(Path(folder) / "census_income_kdd.csv.gz")
    adult = pa.csv.read_csv(Path(folder) / "adult.csv.gz")
    studies = [
        Study("Census-Income", census, ("sex", "marital_stat", "race"), ("education",)),
        Study("Adult", adult, ("sex", "race"), ("education",)),
        Study("Adult", adult, ("sex", "marital-status"), ("occupation",)),
    ]
    single = [
        result
        for study in studies
        for l, d in ((3, 3), (5, 2))
        for kind in ("uniform", "balanced")
        for result in _figures(study, l, kind, d)
    ]
    joint = Study("Adult, 40 and older", adult, ("sex",), ("relationship", "race"), 40)
    return single + [result for l in (2, 3) for result in _figures(joint, l, "uniform", 0)]


def _figures(study: Study, l: int, kind: str, d: int) -> list[Result]:
    quasi = [*study.by, *(["age"] if study.age else [])]
    table = study.table.select([*quasi, *study.sensitive])
    values = [sorted(set(table[name].to_pylist())) for name in study.sensitive]
    method = (
        ld.RandomizedAddition(l=l)
        if kind == "uniform"
        else ld.SemanticDiversity(l=l, d=d, distance=ld.OrderedDistance())
    )
    hidden = [ld.Sensitive(name, domain=own) for name, own in zip(study.sensitive, values, strict=True)]
    where = None if study.age is None else f"age >= {study.age}"
    counted = table if study.age is None else table.filter(pc.greater_equal(table["age"], study.age))
    found = []
    for seed in range(TIMES[study.name]):
        release = ld.anonymize(table, quasi=quasi, sensitive=hidden, method=method, insecure_seed=seed)
        mle, linear = (
            ld.estimate(release, by=list(study.by), sensitive=list(study.sensitive), where=where, estimator=each)
            for each in ("mle", "linear")
        )
        truth = true_counts(counted, mle, study.sensitive, values)
        large = mle.records >= 10 * truth.shape[1]
        held = (mle.low <= truth) & (truth <= mle.high)
        found.append(
            [
                array[large]
                for array in (
                    held,
                    mle.low <= 0,
                    truth / mle.records[:, None],
                    mle.high - mle.low,
                    linear.high - linear.low,
                    mle.std_error,
                    mle.count - truth,
                )
            ]
        )
    arrays = (np.stack(each) for each in zip(*found, strict=True))  # by release, cell and value
    held, at_zero, share, width, before, stated, off = arrays
    classes = {"all": share >= 0, "zero": share == 0, "rare": (share > 0) & (share < RARE), "common": share >= RARE}
    coverage = {each: Coverage.of(held, at_zero, chosen) for each, chosen in classes.items() if chosen.any()}
    error = float(np.sqrt((stated**2).mean() / (off**2).mean()))
    name = f"{study.name}, {' with '.join(study.sensitive)}, l={l}, {kind}"
    least, most = (end(one.held for one in coverage.values()) for end in (min, max))
    by_class = "; ".join(f"{each} {one}" for each, one in coverage.items())
    return [
        Result(f"{name}: least coverage of a class", least, LEAST, "", by_class, at_least=True),
        Result(f"{name}: most coverage of a class", most, MOST, ""),
        Result(f"{name}: width / linear", width.sum() / before.sum(), WIDTHS.get((study.name, l), 1), "x"),
        Result(f"{name}: stated / actual error", error, 0.85, "x", at_least=True),
        Result(f"{name}: stated / actual error", error, 1.2, "x"),
    ]


@dataclass(frozen=True)
class Coverage:
    """How many intervals hold, the standard error of this share over releases, and how many intervals begin at 0."""

    held: float
    noise: float
    at_zero: float

    @classmethod
    def of(cls, held: np.ndarray, at_zero: np.ndarray, chosen: np.ndarray) -> Coverage:
        """From intervals by release, cell and value, of those that are chosen."""
        by_release = np.array([own[which].mean() for own, which in zip(held, chosen, strict=True)])
        noise = by_release.std(ddof=1) / np.sqrt(len(by_release))
        return cls(float(held[chosen].mean()), float(noise), float(at_zero[chosen].mean()))

    def __str__(self) -> str:
        return f"{self.held:.3f} +- {self.noise:.3f} ({self.at_zero:.0%} begin at 0)"


def true_counts(
    table: pa.Table, estimate: ld.Estimate, sensitive: Sequence[str], values: Sequence[Sequence[str]]
) -> np.ndarray:
    """The true counts of the cells of an estimate; `values` has the domain of each sensitive column."""
    position = {tuple(row.values()): at for at, row in enumerate(estimate.labels.to_pylist())}
    code = {combined: at for at, combined in enumerate(product(*values))}
    truth = np.zeros(estimate.count.shape)
    for row in table.group_by([*estimate.by, *sensitive]).aggregate([([], "count_all")]).to_pylist():
        cell, value = (tuple(row[name] for name in names) for names in (estimate.by, sensitive))
        truth[position[cell], code[value]] = row["count_all"]
    return truth
