"""How fast a release is analyzed, against pyarrow's group-by of the same columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from _measure import Result, cost_of

import ldiversity as ld

ROWS = 1_000_000
VALUES = 50


def run() -> list[Result]:
    release = release_of(ROWS)
    columns = release.columns(["region", "band"])
    floor = cost_of(lambda: columns.group_by(["region", "band"]).aggregate([([], "count_all")]))
    ld.estimate(release, by=["region", "band"], estimator="linear")
    linear = cost_of(lambda: ld.estimate(release, by=["region", "band"], estimator="linear"))
    small = release_of(100_000, regions=10, bands=10)
    ld.estimate(small, by=["region", "band"], estimator="mle")
    mle = cost_of(lambda: ld.estimate(small, by=["region", "band"], estimator="mle"))
    return [
        Result(
            "estimate linear, 1M rows, 1,000 cells, F=50 / pyarrow group-by",
            linear.wall / floor.wall,
            5,
            "x wall",
            f"{linear.wall * 1e3:.0f} ms against {floor.wall * 1e3:.0f} ms; CPU {linear.cpu / floor.cpu:.1f}x",
        ),
        Result("estimate mle, a cell of 1,000 records, F=50", mle.cpu / 100 * 1e3, 2, "ms CPU"),
    ]


def release_of(rows: int, regions: int = 50, bands: int = 20) -> ld.Release:
    """A release with regions x bands cells and a skewed distribution of fifty values."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, VALUES + 1)
    table = pa.table(
        {
            "region": pa.array([f"region {i}" for i in range(regions)]).take(pa.array(rng.integers(0, regions, rows))),
            "band": rng.integers(0, bands, rows),
            "disease": pa.array([f"disease {i:02d}" for i in range(VALUES)]).take(
                pa.array(rng.choice(VALUES, rows, p=shares / shares.sum()))
            ),
        }
    )
    return ld.anonymize(table, quasi=["region", "band"], sensitive="disease", method=ld.RandomizedAddition(l=3))
