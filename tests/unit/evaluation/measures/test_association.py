"""Measures that see how values depend on quasi-identifiers: by hand, on planted associations, and where none is."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.measures import Kept
from ldiversity.evaluation.measures._association import _fit, _information
from ldiversity.evaluation.measures._samples import bucketized

ORIGINAL = pa.table({"age": [20, 21, 22, 23], "disease": ["d0", "d1", "d0", "d1"]})


def people(n: int, seed: int, *, depends: bool) -> pa.Table:
    """Two quasi-identifiers; with `depends`, the disease is that of the sex in four of five cases."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    own = np.where(rng.random(n) < 0.8, sex, 1 - sex) if depends else rng.integers(0, 2, n)
    return pa.table(
        {
            "age": rng.integers(20, 80, n),
            "sex": np.array(["f", "m"])[sex],
            "disease": np.array(["cold", "flu", "cut", "sty"])[own + 2 * rng.integers(0, 2, n)],
        }
    )


def publish(table: pa.Table, l: int = 2) -> ld.Release:
    method = ld.Anatomy(l=l, overflow="suppress")
    return ld.anonymize(table, quasi=["age", "sex"], sensitive="disease", method=method)


def test_classes_that_mix_all_values_keep_nothing() -> None:
    release = bucketized([0, 0, 1, 1])

    assert ld.conditional_error(ORIGINAL, release, by="age", estimator="classes") == Kept(0.5, 0.0, 0.5)
    assert ld.coefficient_error(ORIGINAL, release, by="age", estimator="classes").lost == 1
    found = ld.classifier_accuracy(ORIGINAL, release, ORIGINAL, estimator="classes")
    assert found == Kept(0.5, 1.0, 0.5)


def test_a_planted_association_is_seen_in_the_original_and_in_part_in_the_release() -> None:
    table, others = people(1600, 1, depends=True), people(1600, 2, depends=True)
    question = ld.Publication(quasi=["age", "sex"], sensitive="disease", method=ld.RandomizedAddition(l=2))
    release = question.rehearse(table, insecure_seed=1)

    cells = ld.conditional_error(table, release, by="sex")
    coefficients = ld.coefficient_error(table, release, by="sex")
    classifier = ld.classifier_accuracy(table, release, others)

    # By sex each share is .4 or .1 instead of .25: a total variation of .3. Estimated shares have a standard error of
    # about .024, and coefficients one of .28 where true ones are 1.8. Draws are seeded.
    assert cells.baseline == pytest.approx(0.3, abs=0.04)
    assert 0 < cells.lost < 0.6
    assert 0 < coefficients.lost < 0.7
    # The best guess is right for .4, guessing for .25; 1,600 records have a standard error of .012.
    assert classifier.original == pytest.approx(0.4, abs=0.06)
    assert classifier.baseline == pytest.approx(0.25, abs=0.06)
    assert classifier.release > classifier.baseline + 0.05


def test_where_nothing_depends_on_anything_there_is_little_to_lose() -> None:
    table, others = people(1600, 3, depends=False), people(1600, 4, depends=False)
    release = publish(table)

    assert ld.conditional_error(table, release, by="sex").baseline < 0.05
    # Nobody can do better than 1/4; the standard error is .011.
    assert ld.classifier_accuracy(table, release, others).original == pytest.approx(0.25, abs=0.05)


def test_random_queries_do_not_see_what_these_measures_see() -> None:
    table = people(1600, 1, depends=True)
    release = publish(table, l=4)  # every class has every disease: nothing is left of the association
    workload = ld.QueryWorkload.random(table, ["age", "sex"], "disease", qd=2, n_queries=60, seed=1)

    assert workload.relative_error(table, release, estimator="classes") < 0.5
    assert ld.conditional_error(table, release, estimator="classes").lost == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("method", [ld.RandomizedAddition(l=2), ld.Mondrian(l=2), ld.BSGI(l=2)])
def test_every_kind_of_release_is_measured(method: Any) -> None:
    table = people(800, 5, depends=True)
    release = ld.anonymize(table, quasi=["age", "sex"], sensitive="disease", method=method)

    for kept in (
        ld.conditional_error(table, release),
        ld.coefficient_error(table, release),
        ld.classifier_accuracy(table, release, people(400, 6, depends=True)),
    ):
        assert np.isfinite([kept.release, kept.original, kept.baseline, kept.lost]).all()


def test_the_cells_are_those_of_the_columns_that_tell_most() -> None:
    sex, zips = np.repeat([0, 1], 50), np.tile([0, 1, 2, 3, 4], 20)
    codes = np.where(np.arange(100) % 10 == 0, 1 - sex, sex).astype(np.int32)

    assert _information(sex, codes) > _information(zips, codes)
    # One of two equally likely values is the other in a tenth of the cases.
    known = log(2) + 0.9 * log(0.9) + 0.1 * log(0.1)
    assert _information(sex, codes) == pytest.approx(known - 1 / 200)


def test_coefficients_are_those_of_a_saturated_model_by_hand() -> None:
    counts = np.array([[30.0, 10.0], [5.0, 55.0]])
    design = np.array([[1.0, 0.0], [1.0, 1.0]])

    ((slope,),) = _fit(design, counts, np.array([0]))

    assert slope == pytest.approx(log(5.5 / 55.5) - log(30.5 / 10.5))


def test_too_many_labels_make_no_cells() -> None:
    table = pa.table({"zip": [f"z{row}" for row in range(100)], "disease": ["cold", "flu"] * 50})
    release = ld.anonymize(table, quasi="zip", sensitive="disease", method=ld.Anatomy(l=2), confirm="zip")

    with pytest.raises(ld.UnsupportedError, match="must be a number, or have at most 40 values"):
        ld.conditional_error(table, release)


def test_a_classifier_needs_other_records() -> None:
    table = people(100, 1, depends=True)

    with pytest.raises(ld.ParameterError, match="held_out must have at least one record"):
        ld.classifier_accuracy(table, publish(table), table.slice(0, 0))
