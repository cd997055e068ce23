"""How often intervals of audits with weights hold, over 2,000 stratified samples of each of two census tables.

Every figure is compared with what it is about: everybody of the census is looked up in the sample.

Usage: LDIVERSITY_DATA=<folder with adult.csv.gz and census_income_kdd.csv.gz> python benchmarks/run.py survey_audit
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from _measure import Result
from pyarrow import csv

import ldiversity as ld

SAMPLES = 2_000
BELOW = (2, 3, 5, 10)


@dataclass(frozen=True)
class Census:
    """Everybody: the columns, which class everybody is in, their sensitive code and their stratum."""

    name: str
    columns: pa.Table
    class_of: np.ndarray
    code: np.ndarray
    stratum: np.ndarray

    def draw(self, sizes: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, pa.Table]:
        """Rows of a sample, and its table with weights and strata."""
        people = [np.flatnonzero(self.stratum == one) for one in range(len(sizes))]
        rows = np.concatenate([rng.choice(one, n, replace=False) for one, n in zip(people, sizes, strict=True)])
        weights = (np.bincount(self.stratum) / sizes)[self.stratum[rows]]
        table = self.columns.take(pa.array(rows))
        return rows, table.append_column("w", pa.array(weights)).append_column("h", pa.array(self.stratum[rows]))

    @cached_property
    def everybody(self) -> np.ndarray:
        """Shape (classes, values): how many people of the census have each value."""
        return self._count(np.arange(len(self.code)))

    def _count(self, rows: np.ndarray) -> np.ndarray:
        shape = (int(self.class_of.max()) + 1, int(self.code.max()) + 1)
        keys = self.class_of[rows] * shape[1] + self.code[rows]
        return np.bincount(keys, minlength=shape[0] * shape[1]).reshape(shape)

    def look_up(self, rows: np.ndarray) -> dict[str, float]:
        """What someone finds who looks everybody up in a sample."""
        counts, people = self._count(rows), self.everybody.sum(axis=1)
        sizes, most = counts.sum(axis=1), counts.max(axis=1)
        seen = sizes > 0
        first = (counts == most[:, None]) & seen[:, None]
        few = {k: seen & (sizes < k) for k in BELOW}
        shares = self.everybody.sum(axis=0) / len(self.code)
        return {
            "nobody": float(people[~seen].sum()),
            **{f"fewer than {k}": float(people[few[k]].sum()) for k in BELOW},
            **{f"link, fewer than {k}": float(few[k].sum() / max(people[few[k]].sum(), 1)) for k in BELOW},
            "commonest value": float((self.everybody * first / np.maximum(first.sum(axis=1), 1)[:, None]).sum()),
            "only value": float((self.everybody * first)[most == sizes].sum()),
            # Audits know the values of the sample alone, in their order.
            **{f"share {place}": float(shares[code]) for place, code in enumerate(np.unique(self.code[rows]))},
        }


def codes(table: pa.Table, names: list[str]) -> np.ndarray:
    """A number for each combination of some columns."""
    keys = np.zeros(table.num_rows, dtype=np.int64)
    for name in names:
        own = table[name].combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
        keys = np.unique(keys * (int(own.max()) + 1) + own, return_inverse=True)[1]
    return keys


def intervals(found: ld.Audit) -> dict[str, tuple[float | None, float | None]]:
    """The intervals of an audit, by the names of `Census.look_up`, and those of shares by code."""
    sampled = found.sampled
    about = sampled.attributes["s"]
    return {
        "nobody": (sampled.like_nobody.low, sampled.like_nobody.high),
        **{f"fewer than {one.below}": (one.people.low, one.people.high) for one in sampled.alike},
        **{f"link, fewer than {one.below}": (one.right_link_low, one.right_link_high) for one in sampled.alike},
        "commonest value": (about.guessed_right.low, about.guessed_right.high),
        "only value": (about.read_off_right.low, about.read_off_right.high),
        **{f"share {place}": (one.low, one.high) for place, one in enumerate(about.shares)},
    }


def coverage(census: Census, quasi: list[str], sizes: np.ndarray, seed: int) -> Result:
    """How often the interval of each figure holds, where nearly every sample has one."""
    rng, held = np.random.default_rng(seed), {}
    for _ in range(SAMPLES):
        rows, table = census.draw(sizes, rng)
        truth = census.look_up(rows)
        found = intervals(ld.audit(table, quasi=quasi, sensitive="s", weights="w", strata="h"))
        for name, (low, high) in found.items():
            if low is not None and high is not None:
                held.setdefault(name, []).append(low <= truth[name] <= high)
    rates = {name: float(np.mean(all_of)) for name, all_of in held.items() if len(all_of) > 0.9 * SAMPLES}
    own = ", ".join(f"{name} {rate:.3f}" for name, rate in rates.items() if not name.startswith("share"))
    several = [rate for name, rate in rates.items() if name.startswith("share")]
    own += f", {len(several)} shares {min(several):.3f} to {max(several):.3f}"
    name = f"audit with weights, {census.name}, {len(table):,} records: farthest coverage from .95"
    return Result(name, max(abs(rate - 0.95) for rate in rates.values()), 0.02, "", own)


def census(name: str, table: pa.Table, quasi: list[str], sensitive: str, stratum: np.ndarray) -> Census:
    """A table as a census; the codes of the sensitive column are in the order of its values, as in audits."""
    column = table[sensitive].combine_chunks().cast(pa.string())
    code = np.unique(np.asarray(column), return_inverse=True)[1]
    return Census(name, table.select(quasi).append_column("s", column), codes(table, quasi), code, stratum)


def results() -> Iterator[Result]:
    """Strata that are quasi-identifiers and strata that are not, classes of many records and of few."""
    folder = os.environ.get("LDIVERSITY_DATA")
    if not folder:
        print("LDIVERSITY_DATA does not name the folder of the public data sets: no figures.")
        return
    adult = ld.datasets.adult()
    fine, coarse = ["age", "sex", "race", "marital-status"], ["age", "sex"]
    by_race = np.minimum(codes(adult, ["race"]), 2)
    yield coverage(
        census("Adult, strata by race", adult, fine, "occupation", by_race), fine, np.array([800, 300, 200]), 1
    )
    by_hours = np.digitize(np.asarray(adult["hours-per-week"]), [30, 41, 50])
    hours = census("Adult, strata by hours", adult, coarse, "occupation", by_hours)
    yield coverage(hours, coarse, np.array([200, 700, 400, 500]), 2)
    income = csv.read_csv(Path(folder) / "census_income_kdd.csv.gz")
    finest = ["age", "sex", "race", "marital_stat", "education", "citizenship"]
    by_weeks = np.digitize(np.asarray(income["weeks_worked_in_year"]), [1, 52])
    weeks = census("Census-Income, strata by weeks worked", income, finest, "major_occupation_code", by_weeks)
    yield coverage(weeks, finest, np.array([800, 1_200, 400]), 3)


def run() -> list[Result]:
    """All figures."""
    return list(results())
