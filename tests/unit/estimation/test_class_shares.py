"""Class proportions of bucketized releases, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation import CLASS_ESTIMATORS, bins, estimate, groups
from ldiversity.release import ClassRelease

# Two classes of two: {v0, v1} of a woman and a man, {v0, v2} of a woman and a man.
COLUMNS = {"sex": ["F", "M", "F", "M"], "age": [20, 31, 45, 62]}


@pytest.fixture
def release(bucketize: Any) -> ClassRelease:
    return bucketize(COLUMNS, [0, 0, 1, 1], {"why": [0, 1, 0, 2]})  # type: ignore[no-any-return]


def test_every_record_counts_with_the_shares_of_its_class(release: ClassRelease) -> None:
    result = estimate(release, "sex", estimator="classes")

    np.testing.assert_allclose(result.count, [[1, 0.5, 0.5], [1, 0.5, 0.5]])


def test_standard_errors_are_left_empty(release: ClassRelease) -> None:
    result = estimate(release, "sex", estimator="classes")

    assert np.isnan(result.std_error).all()
    assert result.to_arrow()["std_error"].null_count == 6
    assert result.to_dict()["cells"][0]["values"][0]["std_error"] is None
    assert any("Standard errors are empty, except for counts that are certain." in caveat for caveat in result.caveats)


def test_intervals_hold_what_the_classes_allow(release: ClassRelease) -> None:
    result = estimate(release, "sex", estimator="classes")

    np.testing.assert_array_equal(result.low, np.zeros((2, 3)))
    np.testing.assert_array_equal(result.high, [[2, 1, 1]] * 2)


def test_a_value_that_fills_most_of_a_class_has_a_lower_limit(bucketize: Any) -> None:
    release = bucketize({"sex": ["F", "F", "F", "M"]}, [0, 0, 0, 0], {"why": [0, 0, 0, 1]})

    result = estimate(release, "sex", estimator="classes")

    np.testing.assert_array_equal(result.low, [[2, 0], [0, 0]])
    np.testing.assert_array_equal(result.high, [[3, 1], [1, 1]])


def test_all_records_together_are_exact(release: ClassRelease) -> None:
    result = estimate(release)

    np.testing.assert_allclose(result.count, [[2, 1, 1]])
    np.testing.assert_array_equal(result.std_error, [[0, 0, 0]])
    np.testing.assert_array_equal(result.low, result.high)


def test_cells_of_whole_classes_are_exact(bucketize: Any) -> None:
    release = bucketize({"zip": ["a", "a", "b", "b"]}, [0, 0, 1, 1], {"why": [0, 1, 0, 2]})

    result = estimate(release, "zip", estimator="classes")

    np.testing.assert_allclose(result.count, [[1, 1, 0], [1, 0, 1]])
    np.testing.assert_array_equal(result.std_error, np.zeros((2, 3)))


def test_records_are_exact_whole_numbers(release: ClassRelease) -> None:
    result = estimate(release, bins("age", width=20))

    assert result.records.dtype == np.int64
    assert result.to_dict()["cells"][0]["records"] == 2


def test_cells_add_up_to_the_whole(release: ClassRelease) -> None:
    result = estimate(release, ["sex", groups("age", {"old": [45, 62]})], estimator="classes")

    np.testing.assert_allclose(result.count.sum(axis=0), [2, 1, 1])


def test_filters_select_records(release: ClassRelease) -> None:
    result = estimate(release, where=["sex = F", "age < 40"], estimator="classes")

    np.testing.assert_allclose(result.count, [[0.5, 0.5, 0]])
    assert result.records.tolist() == [1]


def test_two_attributes_are_independent_within_classes(bucketize: Any) -> None:
    release = bucketize({"g": [1, 1]}, [0, 0], {"why": [0, 1], "how": [0, 1]})

    result = estimate(release, sensitive=["why", "how"])

    np.testing.assert_allclose(result.count, [[0.5, 0.5, 0.5, 0.5]])
    assert any("independent within every class" in caveat for caveat in result.caveats)


def test_the_caveat_says_that_counts_are_drawn_to_the_classes(release: ClassRelease) -> None:
    assert any("too close to the mix of the classes" in caveat for caveat in estimate(release, "sex").caveats)


def test_auto_takes_classes_where_quasi_identifiers_formed_them(release: ClassRelease) -> None:
    result = estimate(release, "sex")

    assert set(result.estimator) == {"classes"}
    assert any("formed by quasi-identifiers" in caveat for caveat in result.caveats)


def test_auto_takes_linear_where_classes_were_formed_blindly(bucketize: Any) -> None:
    release = bucketize({"g": [0, 0, 1, 0, 1, 1]}, [0, 0, 1, 1, 2, 2], {"why": [0, 1, 0, 2, 1, 2]}, blind=True)

    assert set(estimate(release, "g").estimator) == {"linear"}


def test_auto_says_that_values_are_mixed_too_evenly(bucketize: Any) -> None:
    release = bucketize({"g": [0, 1, 0, 1]}, [0, 0, 1, 1], {"why": [0, 1, 0, 1]}, blind=True)

    result = estimate(release, "g")

    assert set(result.estimator) == {"classes"}
    assert any("so evenly" in caveat for caveat in result.caveats)


@pytest.mark.parametrize("estimator", ["linear", "simplex"])
def test_values_that_classes_never_tell_apart_cannot_be_unmixed(bucketize: Any, estimator: str) -> None:
    release = bucketize({"g": [0, 1, 0, 1]}, [0, 0, 1, 1], {"why": [0, 1, 0, 1]}, blind=True)

    with pytest.raises(UnsupportedError, match="nothing can separate them"):
        estimate(release, "g", estimator=estimator)


def test_linear_is_refused_where_several_attributes_formed_the_classes(bucketize: Any) -> None:
    release = bucketize({"g": [0, 1]}, [0, 0], {"why": [0, 1], "how": [0, 1]}, blind=True)

    with pytest.raises(UnsupportedError, match="'why', 'how' together"):
        estimate(release, "g", sensitive="why", estimator="linear")


@pytest.mark.parametrize("estimator", ["mle", "map", "paper", "existing", "naive"])
def test_estimators_of_sets_name_what_works(release: ClassRelease, estimator: str) -> None:
    with pytest.raises(UnsupportedError, match="'auto', 'classes', 'linear', 'simplex'"):
        estimate(release, estimator=estimator)


def test_classes_is_refused_for_sets(publish: Any, uniform: Any) -> None:
    release = publish({"g": [0, 1]}, {"s": [0, 1]}, {"s": uniform})

    with pytest.raises(UnsupportedError, match="hid every value in a set"):
        estimate(release, estimator="classes")


def test_attributes_with_classes_of_their_own_have_no_joint_distribution(bucketize: Any) -> None:
    classes = {"why": np.array([0, 0], np.int32), "how": np.array([0, 0], np.int32)}
    release = bucketize({"g": [0, 1]}, classes, {"why": [0, 1], "how": [0, 1]})

    with pytest.raises(UnsupportedError, match="has its own classes"):
        estimate(release, sensitive=["why", "how"])


def test_records_without_a_class_are_left_out_and_counted(bucketize: Any) -> None:
    classes = {"why": np.array([0, 0, -1], np.int32)}
    release = bucketize({"g": [0, 1, 1]}, classes, {"why": [0, 1, 1]})

    result = estimate(release, "g")

    assert result.records.tolist() == [1, 1]
    assert any("1 record has no published value" in caveat for caveat in result.caveats)


def test_suppressed_records_are_mentioned(bucketize: Any) -> None:
    release = bucketize({"g": [0, 1]}, [0, 0], {"why": [0, 1]}, suppressed=7)

    assert any(caveat.startswith("7 records were left out") for caveat in estimate(release).caveats)


def test_a_filter_that_selects_nothing_is_named(release: ClassRelease) -> None:
    with pytest.raises(ParameterError, match="age > 99"):
        estimate(release, where="age > 99")


def test_sensitive_columns_cannot_make_cells(release: ClassRelease) -> None:
    with pytest.raises(ParameterError, match="is sensitive"):
        estimate(release, "why")


def test_spread_is_refused_where_nothing_was_generalized(release: ClassRelease) -> None:
    with pytest.raises(UnsupportedError, match="generalized"):
        estimate(release, spread="uniform")


def test_covariance_is_refused_where_no_noise_is_known(release: ClassRelease) -> None:
    with pytest.raises(UnsupportedError, match="'classes'"):
        estimate(release, estimator="classes").covariance()


def test_small_cells_of_linear_get_the_limits_that_the_classes_allow(bucketize: Any) -> None:
    release = bucketize({"g": [0, 0, 1, 0, 1, 1]}, [0, 0, 1, 1, 2, 2], {"why": [0, 1, 0, 2, 1, 2]}, blind=True)

    result = estimate(release, "g", estimator="simplex")

    np.testing.assert_array_equal(result.high[0, 1:], [1, 1])
    assert set(result.note) == {"fewer than 50 records"}


@pytest.mark.parametrize("estimator", ["linear", "simplex"])
def test_limits_are_possible_counts_where_the_estimate_is_not(bucketize: Any, estimator: str) -> None:
    release = bucketize({"g": [0, 0, 1, 0, 1, 1]}, [0, 0, 1, 1, 2, 2], {"why": [0, 1, 0, 2, 1, 2]}, blind=True)

    result, limits = (estimate(release, "g", estimator=name) for name in (estimator, "classes"))

    assert estimate(release, "g", estimator="linear").count.min() < 0
    np.testing.assert_array_equal(result.low, limits.low)
    np.testing.assert_array_equal(result.high, limits.high)


def test_every_class_estimator_says_what_it_does() -> None:
    assert all(name == known.name and known.summary.endswith(".") for name, known in CLASS_ESTIMATORS.items())
