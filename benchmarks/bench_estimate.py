"""How fast a release is analyzed, against pyarrow's group-by of the same columns and numpy's counts of the sets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from _measure import Result, cost_of

import ldiversity as ld
from ldiversity.estimation import ESTIMATORS
from ldiversity.estimation._errors import Asked

ROWS = 1_000_000
VALUES = 50
OF_NUMPY = (65 / 42, 90 / 42)
"""Times what numpy takes to count the same sets, for the two methods."""


UNIFORM = ld.RandomizedAddition(l=3)
SEMANTIC = ld.SemanticDiversity(l=3, d=3, distance=ld.OrderedDistance())


def run() -> list[Result]:
    results = [
        *_linear("linear, randomized addition", release_of(ROWS, UNIFORM), OF_NUMPY[0]),
        *_linear("linear, semantic diversity", release_of(ROWS, SEMANTIC), OF_NUMPY[1]),
    ]
    for name, method in [("randomized addition", UNIFORM), ("semantic diversity", SEMANTIC)]:
        small = release_of(100_000, method, regions=10, bands=10)
        ld.estimate(small, by=["region", "band"], estimator="mle")
        mle = cost_of(lambda small=small: ld.estimate(small, by=["region", "band"], estimator="mle"))
        results.append(Result(f"mle, {name}, a cell of 1,000 records, F=50", mle.cpu / 100 * 1e3, 2, "ms CPU"))
        large = release_of(ROWS, method)
        results += [_likelihood_errors(estimator, name, large) for estimator in ("mle", "map")]
    return results


def _likelihood_errors(estimator: str, name: str, release: ld.Release) -> Result:
    counts = ld.estimate(release, by=["region", "band"], estimator=estimator)
    solver, asked = ESTIMATORS[estimator](), Asked(0.95, 50)
    cost = cost_of(lambda: solver.errors(counts._cells, counts.count, asked))  # noqa: SLF001 - the errors alone
    return Result(f"errors of {estimator}, {name}, 1M rows, 1,000 cells, F=50", cost.cpu, 1, "s CPU")


def _counted_by_numpy(release: ld.Release) -> float:
    """Seconds to number the cells, and to count the members of the sets of each."""
    columns = release.columns(["region", "band"])
    sets = np.random.default_rng(2).integers(0, VALUES, (release.n_rows, 3))

    def count() -> None:
        regions, bands = (column.combine_chunks().dictionary_encode() for column in columns.columns)
        cells = np.asarray(regions.indices).astype(np.int64) * len(bands.dictionary) + np.asarray(bands.indices)
        np.bincount((cells[:, None] * VALUES + sets).ravel(), minlength=1000 * VALUES)

    return cost_of(count, repeat=7).cpu


def _linear(name: str, release: ld.Release, of_numpy: float) -> list[Result]:
    columns = release.columns(["region", "band"])
    floor = cost_of(lambda: columns.group_by(["region", "band"]).aggregate([([], "count_all")]), repeat=7)
    ld.estimate(release, by=["region", "band"], estimator="linear")
    cost = cost_of(lambda: ld.estimate(release, by=["region", "band"], estimator="linear"), repeat=7)
    detail = f"{cost.wall * 1e3:.0f} ms against {floor.wall * 1e3:.0f} ms; CPU {cost.cpu / floor.cpu:.1f}x"
    numpy = _counted_by_numpy(release)
    counted = f"{cost.cpu * 1e3:.0f} ms against {numpy * 1e3:.0f} ms"
    return [
        Result(f"{name}, 1M rows, 1,000 cells, F=50 / group-by", cost.wall / floor.wall, 5, "x wall", detail),
        Result(f"{name}, the same / numpy counting", cost.cpu / numpy, of_numpy, "x CPU", counted),
    ]


def release_of(rows: int, method: ld.Method, regions: int = 50, bands: int = 20) -> ld.Release:
    """A release with regions x bands cells and a skewed distribution of fifty values."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, VALUES + 1)
    table = pa.table(
        {
            "region": pa.array([f"region {i}" for i in range(regions)]).take(pa.array(rng.integers(0, regions, rows))),
            "band": rng.integers(0, bands, rows),
            "level": rng.choice(VALUES, rows, p=shares / shares.sum()),
        }
    )
    return ld.anonymize(table, quasi=["region", "band"], sensitive="level", method=method)
