"""Estimates by columns that are published at a declared level recover the truth.

Each test compares every count of every cell with the truth, in standard errors that the estimate itself states. The
limit is that of a normal distribution at which a single count of the whole table is beyond it once in a million runs.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.estimation import as_by, true_cells

FALSE_ALARM = 1e-6
METHODS = ["randomized-addition:l=3", "anatomy:l=2"]
VALUES = np.array(["a", "b", "c", "d", "e", "f"])


def people(n: int = 60_000, seed: int = 5) -> pa.Table:
    rng = np.random.default_rng(seed)
    ages = rng.integers(0, 100, n)
    # Older people have other values, so that a release which mixed up ages would be found out.
    shift = ages / 100
    weights = np.stack([2 - shift, 1 + shift, 1 + 0 * shift, 0.5 + shift, 1.5 - shift, 0.8 + 0 * shift], axis=1)
    steps = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    codes = (rng.random(n)[:, None] > steps).sum(axis=1)
    return pa.table({"age": ages, "sex": rng.choice(["F", "M"], n), "value": VALUES[codes]})


def largest_error(table: pa.Table, release: ld.Release, by: Any, where: str | None = None) -> tuple[float, float]:
    """The largest error in standard errors, and the limit for this number of counts."""
    found = ld.estimate(release, by=by, where=where, estimator="linear")
    (part,) = as_by(by)
    coded = true_cells(release, part, table)
    labels = found.labels[part.column].to_pylist()
    truth = np.zeros((found.n_cells, len(VALUES)))
    codes = np.searchsorted(VALUES, table["value"].to_numpy(zero_copy_only=False))
    for cell, label in enumerate(labels):
        inside = coded.codes == coded.labels.to_pylist().index(label)
        truth[cell] = np.bincount(codes[inside], minlength=len(VALUES))
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * truth.size))
    return float(np.max(np.abs(found.count - truth) / found.std_error)), limit


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("level", "by"),
    [
        ("width:5,bottom:20,top:90", "age"),
        ("width:5,bottom:20,top:90", ld.bins("age", width=10)),
        ("width:10", ld.bins("age", edges=[0, 30, 60, 100])),
        ("top:65", ld.bins("age", edges=[0, 20, 65, 120])),
    ],
    ids=["labels", "nested bins", "edges", "top-coded"],
)
def test_counts_by_a_coarse_column_recover_the_truth(method: str, level: str, by: Any) -> None:
    table = people()
    release = ld.anonymize(table, quasi=["age", "sex"], sensitive="value", method=method, levels={"age": level})
    error, limit = largest_error(table, release, by)
    assert error < limit


@pytest.mark.parametrize("method", METHODS)
def test_filters_that_labels_decide_recover_the_truth(method: str) -> None:
    table = people()
    levels = {"age": "width:5,top:90"}
    release = ld.anonymize(table, quasi=["age", "sex"], sensitive="value", method=method, levels=levels)
    old = table.filter(pa.compute.greater_equal(table["age"], 65))
    error, limit = largest_error(old, release, "sex", "age >= 65")
    assert error < limit


def test_a_label_of_the_wrong_people_would_be_found() -> None:
    table = people()
    release = ld.anonymize(
        table, quasi=["age", "sex"], sensitive="value", method=METHODS[0], levels={"age": "width:50"}
    )
    turned = table.set_column(0, "age", pa.compute.subtract(99, table["age"]))
    error, limit = largest_error(turned, release, "age")
    assert error > limit
