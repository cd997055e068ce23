"""Size and power of the test of association; how often intervals of derived figures, surveys, completed tables hold.

Usage: LDIVERSITY_DATA=<folder with census_income_kdd.csv.gz> python benchmarks/run.py inference
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _derived import conditional_results, derived_results
from _impute import impute_results
from _measure import Result
from _unequal import TIMES, line, publish, unequal_results
from pyarrow import csv
from scipy import stats

import ldiversity as ld
from ldiversity.distances import OrderedDistance
from ldiversity.mechanisms import BalancedSelection, SetMechanism, UniformSelection

SAMPLES, BATCH = 2_000, 50


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


def census() -> tuple[dict[str, np.ndarray], np.ndarray] | None:
    """The Census-Income table as a population: strata by age, groups by sex, and codes of education."""
    folder = os.environ.get("LDIVERSITY_DATA")
    if not folder:
        print("LDIVERSITY_DATA does not name the folder of the public data sets: no figures of surveys.")
        return None
    table = csv.read_csv(Path(folder) / "census_income_kdd.csv.gz")
    education = table["education"].combine_chunks().dictionary_encode().indices.to_numpy()
    stratum = np.digitize(np.asarray(table["age"]), [25, 45, 65])
    sex = table["sex"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    return {"stratum": stratum, "sex": sex}, education


def draw_samples(
    population: dict[str, np.ndarray], rng: np.random.Generator, draws: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Rows of several samples of 250 people from each of four strata, and columns that tell the samples apart."""
    people = [np.flatnonzero(population["stratum"] == stratum) for stratum in range(4)]
    rows = np.concatenate([rng.choice(one, 250, replace=False) for _ in range(draws) for one in people])
    weights = np.array([len(one) / 250 for one in people])
    draw, stratum = np.repeat(np.arange(draws), 1_000), population["stratum"][rows]
    return rows, {"draw": draw, "h": 4 * draw + stratum, "w": weights[stratum], "sex": population["sex"][rows]}


def survey_results() -> Iterator[Result]:
    """How often intervals of population counts and of shares within a sex hold, over 2,000 samples."""
    known = census()
    if known is None:
        return
    population, education = known
    f, rng = int(education.max()) + 1, np.random.default_rng(2)
    mechanism, women = UniformSelection(n_values=f, l=3), population["sex"] == 0
    truth = np.stack([np.bincount(education[women], minlength=f), np.bincount(education[~women], minlength=f)])
    common = int(truth.sum(axis=0).argmax())
    share, counts, shares = truth[0, common] / truth[0].sum(), [], []
    for _ in range(SAMPLES // BATCH):
        rows, columns = draw_samples(population, rng, BATCH)
        release = publish(mechanism, columns, education[rows], rng)
        found = ld.estimate(release, ["draw", "sex"], weights="w", strata="h")
        held = (found.low.reshape(BATCH, 2, f) <= truth) & (truth <= found.high.reshape(BATCH, 2, f))
        counts.append(held.mean(axis=0))
        asked = [found.proportion(common, (draw, 0)) for draw in range(BATCH)]
        shares.append(np.mean([one.low <= share <= one.high for one in asked]))
    each = np.mean(counts, axis=0)
    detail = f"overall {each.mean():.3f}; single values from {each.min():.3f} to {each.max():.3f}"
    yield Result(
        "survey, 2,000 samples of a census: distance of coverage from .95", abs(each.mean() - 0.95), 0.02, "", detail
    )
    detail = f"coverage {np.mean(shares):.3f}"
    yield Result(
        "survey, share within a group: distance of coverage from .95", abs(np.mean(shares) - 0.95), 0.02, "", detail
    )


def survey_test_results() -> Iterator[Result]:
    """The size of the test with weights, where the sample depends on a column that tells about both others."""
    rng, rejected = np.random.default_rng(3), []
    mechanism, shares = UniformSelection(n_values=8, l=2), np.array([30, 20, 15, 10, 10, 7, 5, 3]) / 100
    for _ in range(TIMES):
        x, s = rng.integers(0, 2, 4_000), rng.choice(8, 4_000, p=shares)
        chance = np.where((x == 0) & (s < 2), 0.6, 0.2)
        taken = rng.random(4_000) < chance
        release = publish(mechanism, {"x": x[taken], "w": 1 / chance[taken]}, s[taken], rng)
        rejected.append([ld.association(release, "x", weights=w).pvalue < 0.05 for w in ("w", None)])
    size, naive = np.mean(rejected, axis=0)
    detail = f"size {size:.3f}; without weights {naive:.3f}"
    yield Result("association with weights: distance of the size from .05", abs(size - 0.05), 0.015, "", detail)


def run() -> list[Result]:
    """All figures."""
    parts = (
        association_results,
        unequal_results,
        derived_results,
        conditional_results,
        survey_results,
        survey_test_results,
        impute_results,
    )
    return [result for part in parts for result in part()]
