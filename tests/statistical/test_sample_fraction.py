"""How far the risk that is estimated from a sampling fraction is from the truth: near it, or too low."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.audit._numbering import number_rows

FRACTION = 0.1


@pytest.fixture(scope="module")
def everybody() -> pa.Table:
    return ld.datasets.patients(50_000, seed=1)


# Ratios of right links vary by .02 between samples by age, and by less for finer classes; limits are five times that.
@pytest.mark.parametrize(
    ("quasi", "low", "high"),
    [
        (["age"], 0.9, 1.12),
        (["age", "sex", "zip"], 0.75, 0.87),
        (["age", "sex", "zip", "job"], 0.43, 0.53),
    ],
    ids=lambda given: "-".join(given) if isinstance(given, list) else str(given),
)
def test_the_estimate_is_as_far_off_as_the_guide_says(
    everybody: pa.Table, quasi: list[str], low: float, high: float
) -> None:
    drawn = np.random.default_rng(2).random(everybody.num_rows) < FRACTION
    classes, first = number_rows(everybody, quasi)
    population = np.bincount(classes, minlength=len(first))
    sample = everybody.filter(pa.array(drawn))

    found = ld.audit(sample, quasi=quasi, sensitive="disease", sample_fraction=FRACTION)

    truth = (1 / population[classes[drawn]]).sum()
    estimated = found.risk.marketer.mean * sample.num_rows
    assert low < estimated / truth < high
    alone = ld.audit(sample, quasi=quasi, sensitive="disease").risk.marketer.mean * sample.num_rows
    assert alone >= truth
    assert "twice as high" in found.population.meaning
