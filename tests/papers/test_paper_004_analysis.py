"""The worked example of paper 004: Tables 8 to 10, Eq. 4 and Eq. 19, corrected where the paper slips."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.datasets import obesity
from ldiversity.distances import OrderedDistance
from ldiversity.estimation import estimate
from ldiversity.estimation._matrix_estimators import equal_inclusion
from ldiversity.mechanisms import SimpleSelection
from ldiversity.release import ReleaseDescription, SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

ROWS = [("male", "over 50"), ("female", "over 50"), ("male", "under 50"), ("female", "under 50")]
TABLE_8 = np.array([[120, 50, 10, 20, 30], [80, 60, 30, 10, 20], [50, 30, 110, 100, 90], [20, 20, 40, 40, 70]])
TABLE_9 = np.array([[143, 72, 60, 86, 99], [108, 70, 65, 64, 93], [188, 108, 155, 130, 179], [83, 62, 73, 57, 105]])
TABLE_10 = np.array(
    [
        [117.8, 52.5, 11.5, 20.5, 27.8],
        [82.9, 60.3, 30.8, 6.3, 19.9],
        [55.1, 27.8, 105.3, 97.8, 94.1],
        [16.9, 18.3, 44.8, 42.3, 67.9],
    ]
)


@pytest.fixture
def mechanism() -> SimpleSelection:
    return SimpleSelection.fit(Domain((1, 2, 3, 4, 5), ordered=True), OrderedDistance(), l=2, d=2)


@pytest.fixture
def release(mechanism: SimpleSelection) -> SetRelease:
    """Table 9 as exploded rows: the paper prints counts, not who was published with what."""
    rows = [
        (gender, age, code)
        for (gender, age), counts in zip(ROWS, TABLE_9, strict=True)
        for code, count in enumerate(counts)
        for _ in range(count)
    ]
    gender, age, code = zip(*rows, strict=True)
    level = Attribute("level", Role.SENSITIVE, "int64", Domain((1, 2, 3, 4, 5), ordered=True))
    schema = Schema((Attribute("gender", Role.QUASI, "string"), Attribute("age", Role.QUASI, "string"), level))
    coded = pa.table({"gender": gender, "age": age, "level": pa.array(code, pa.int32())})
    description = ReleaseDescription(schema, {"level": mechanism}, (), "exploded")
    return SetRelease.from_coded(description, coded, frame_kind="arrow")


def in_paper_order(release: SetRelease, estimator: str) -> np.ndarray:
    result = estimate(release, ["gender", "age"], estimator=estimator)
    cells = list(zip(result.labels["gender"].to_pylist(), result.labels["age"].to_pylist(), strict=True))
    return result.count[[cells.index(row) for row in ROWS]]


def test_table_8_is_the_built_in_data_set() -> None:
    table = obesity()
    counted = table.group_by(["gender", "age", "level"], use_threads=False).aggregate([([], "count_all")]).to_pylist()

    found = {(row["gender"], row["age"], row["level"]): row["count_all"] for row in counted}

    assert [[found[(*row, level)] for level in range(1, 6)] for row in ROWS] == TABLE_8.tolist()


def test_published_totals_are_l_times_the_true_ones() -> None:
    assert (TABLE_9.sum(axis=1) == 2 * TABLE_8.sum(axis=1)).all()


def test_eq_4_has_the_printed_probabilities(mechanism: SimpleSelection) -> None:
    third, half = 1 / 3, 1 / 2

    expected = [
        [1, 0, third, third, third],
        [0, 1, 0, half, half],
        [half, 0, 1, 0, half],
        [half, half, 0, 1, 0],
        [third, third, third, 0, 1],
    ]

    assert np.allclose(equal_inclusion(mechanism), expected)


def test_eq_2_is_exact_with_one_dummy(mechanism: SimpleSelection) -> None:
    assert np.allclose(equal_inclusion(mechanism), mechanism.inclusion)


@pytest.mark.parametrize("estimator", ["paper", "linear"])
def test_table_10_comes_from_table_9(release: SetRelease, estimator: str) -> None:
    # Printed with one decimal: half a unit of the last place, and a hair for the rounding of halves.
    assert np.abs(in_paper_order(release, estimator) - TABLE_10).max() < 0.0501


def test_eq_19_from_the_rounded_table_is_the_printed_one() -> None:
    # The paper divides by 25 in print; the printed value is the mean over the 20 cells that there are.
    assert np.isclose(((TABLE_8 - TABLE_10) ** 2).mean() / 1000**2, 8.06e-6, atol=0.005e-6)


def test_eq_19_from_unrounded_estimates(release: SetRelease) -> None:
    error = ((in_paper_order(release, "paper") - TABLE_8) ** 2).mean() / 1000**2

    assert np.isclose(error, 8.14e-6, atol=0.005e-6)


def test_table_9_is_luckier_than_any_plausible_draw(mechanism: SimpleSelection) -> None:
    variances = TABLE_8 @ mechanism.variance_factors.T

    expected = variances.mean() / 1000**2

    assert np.isclose(expected, 1.6e-4, rtol=0.05)


def test_the_compared_estimates_are_eq_20_and_eq_21(release: SetRelease) -> None:
    q, n = 1 / 4, TABLE_8.sum(axis=1, keepdims=True)

    assert np.allclose(in_paper_order(release, "naive"), TABLE_9 / 2)
    assert np.allclose(in_paper_order(release, "existing"), (TABLE_9 - q * n) / (1 - q))
