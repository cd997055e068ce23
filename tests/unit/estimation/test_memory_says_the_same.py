"""Estimates within a memory setting are the same as without it, also where the search for the maximum stops early."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld


@pytest.mark.filterwarnings("ignore:.*Estimates will be poor")
@pytest.mark.parametrize("l", [3, 14])
@pytest.mark.parametrize("estimator", ["mle", "map"])
def test_counts_of_sets_with_an_epsilon(l: int, estimator: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    values = np.minimum(rng.geometric(0.15, 4_000), 36)
    table = pa.table({"sex": np.array(["f", "m"])[rng.integers(0, 2, 4_000)], "value": [f"v{one}" for one in values]})
    ld.anonymize(
        table,
        quasi="sex",
        sensitive="value",
        method=ld.RandomizedAddition(l=l, epsilon=1),
    ).save(tmp_path / "release")
    release = ld.load_release(tmp_path / "release")

    whole = ld.estimate(release, by="sex", estimator=estimator)
    within = ld.estimate(release, by="sex", estimator=estimator, memory="500MB")

    assert within.count == pytest.approx(whole.count, abs=1e-3)
