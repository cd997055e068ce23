"""The three risks of a plain table are those that anonymeter measures, where it is installed.

Both draw 500 attacks of their own. The difference of two such shares has a standard error of at most
sqrt(2 / 4 / 500) = .032; five of them are .16. That one of the eight comparisons is beyond it has a probability of less
than 1e-5 if the attacks are the same.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld

evaluators = pytest.importorskip("anonymeter.evaluators", reason="anonymeter is not installed")

FIVE_ERRORS = 0.16
LINK = (["age", "job"], ["weight", "zip"])


def people(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    job = rng.integers(0, 12, n)
    return pa.table(
        {
            "age": rng.normal(50, 12, n).round(1),
            "weight": rng.normal(75, 14, n).round(2),
            "zip": [f"z{code}" for code in rng.zipf(1.5, n) % 400],
            "job": [f"j{code}" for code in job],
            "disease": [f"d{code}" for code in np.where(rng.random(n) < 0.5, job, rng.integers(0, 12, n))],
        }
    )


@pytest.fixture(scope="module")
def tables() -> tuple[pa.Table, pa.Table, pa.Table]:
    """A table of which half are records of the original, and half are nobody's; the original; and others."""
    original, control = people(1500, 1), people(1500, 2)
    return pa.concat_tables([original.slice(0, 750), people(750, 3)]), original, control


def theirs(evaluator: Any, **options: Any) -> tuple[float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = evaluator.evaluate(**options).results()
    return found.n_success / found.n_attacks, found.n_control / found.n_attacks


def check(ours: ld.PrivacyRisk, success: float, control: float) -> None:
    assert ours.control is not None
    assert ours.success.share == pytest.approx(success, abs=FIVE_ERRORS)
    assert ours.control.share == pytest.approx(control, abs=FIVE_ERRORS)


@pytest.mark.parametrize("mode", ["univariate", "multivariate"])
def test_singling_out(tables: tuple[pa.Table, pa.Table, pa.Table], mode: Any) -> None:
    published, original, control = tables
    (ours,) = ld.attack_table(published, original, control=control, attacks=ld.SinglingOut(mode)).risks
    syn, ori, others = (one.to_pandas() for one in tables)

    check(ours, *theirs(evaluators.SinglingOutEvaluator(ori=ori, syn=syn, control=others, n_attacks=500), mode=mode))


def test_linkability(tables: tuple[pa.Table, pa.Table, pa.Table]) -> None:
    published, original, control = tables
    (ours,) = ld.attack_table(published, original, control=control, attacks="linkability", link=LINK).risks
    syn, ori, others = (one.to_pandas() for one in tables)

    found = evaluators.LinkabilityEvaluator(
        ori=ori, syn=syn, control=others, aux_cols=LINK, n_neighbors=1, n_attacks=500
    )

    check(ours, *theirs(found, n_jobs=1))


def test_inference(tables: tuple[pa.Table, pa.Table, pa.Table]) -> None:
    published, original, control = tables
    (ours,) = ld.attack_table(published, original, control=control, attacks="inference", secret=["disease"]).risks
    syn, ori, others = (one.to_pandas() for one in tables)
    known = [name for name in ori.columns if name != "disease"]

    options = {"aux_cols": known, "secret": "disease", "n_attacks": 500}
    found = evaluators.InferenceEvaluator(ori=ori, syn=syn, control=others, **options)

    check(ours, *theirs(found, n_jobs=1))
