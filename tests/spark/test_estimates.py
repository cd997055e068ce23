"""Estimates counted on Spark have the figures of those on this machine, and so have audits of grouped releases."""

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


@pytest.mark.parametrize("method", [ld.Anatomy(l=2), ld.BSGI(l=2)], ids=["values apart", "regions"])
def test_figures_of_classes_are_those_of_one_machine(
    engine: SparkEngine, one_file: Path, tmp_path: Path, method: Any
) -> None:
    folder = tmp_path / "release"
    how: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "drop": ["name", "zip", "job", "row"]}
    ld.anonymize(one_file, **how, method=method, output=folder, engine=SparkEngine(engine.session, file_rows=1000))

    expected = ld.estimate(folder, ["age", "sex"], memory="500MB")
    found = ld.estimate(folder, ["age", "sex"], engine=engine)

    assert ld.audit(folder, engine=engine) == ld.audit(folder)
    assert len(list(folder.glob("*.parquet"))) > 1
    assert found.labels.equals(expected.labels)
    for name in ("records", "count", "std_error", "low", "high"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


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
