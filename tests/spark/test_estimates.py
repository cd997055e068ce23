"""Estimates counted on Spark have the figures of those on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.engines.spark import SparkEngine
from ldiversity.errors import SchemaError
from ldiversity.estimation import bins

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def release() -> Path:
    """A release of three files, each of which is read by a task of its own."""
    return DATA / "release-v2-uniform-parquet"


@pytest.mark.parametrize(
    ("by", "estimator", "where"),
    [(["age", "sex"], "auto", None), (bins("age", quantiles=2), "map", "age >= 30")],
)
def test_figures_are_those_of_one_machine(
    engine: SparkEngine, release: Path, by: Any, estimator: str, where: str | None
) -> None:
    question: dict[str, Any] = {"by": by, "estimator": estimator, "where": where}

    expected, found = ld.estimate(release, **question, memory="500MB"), ld.estimate(release, **question, engine=engine)

    assert found.labels.equals(expected.labels)
    for name in ("records", "count", "std_error", "low", "high"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found.caveats == expected.caveats


def test_a_worker_says_in_one_sentence_what_does_not_suit(engine: SparkEngine, release: Path) -> None:
    with pytest.raises(SchemaError, match="must hold numbers"):
        ld.estimate(release, bins("sex", width=10), engine=engine)
