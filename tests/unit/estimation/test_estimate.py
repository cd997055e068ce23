"""The data user's one function."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ldiversity.entries import ENTRIES
from ldiversity.errors import ParameterError, ReleaseFormatError, SchemaError, UnsupportedError
from ldiversity.estimation import ESTIMATORS, bins, estimate, groups
from ldiversity.estimation import _estimate as module
from ldiversity.estimation._association import NOT_FOR_TESTS
from ldiversity.estimation._likelihood import global_marginal
from ldiversity.estimation._projection import project
from ldiversity.mechanisms import SetMechanism, UniformSelection
from ldiversity.release import Release
from ldiversity.schema import Domain


@pytest.fixture
def release(publish: Any, uniform: SetMechanism) -> Release:
    n = 600
    columns = {
        "sex": ["F", "M", None] * (n // 3),
        "age": [20 + i % 40 for i in range(n)],
        "名前": ["é" if i % 2 else "日本" for i in range(n)],
    }
    return publish(columns, {"s": np.arange(n) % 6}, {"s": uniform})


@pytest.fixture
def joint(publish: Any, uniform: SetMechanism) -> Release:
    codes = {"s": np.arange(900) % 6, "t": np.arange(900) % 4}
    return publish({"g": ["a", "b"] * 450}, codes, {"s": uniform, "t": UniformSelection(n_values=4, l=2)})


# --- cells -----------------------------------------------------------------------------------------


def test_without_by_there_is_one_cell(release: Release) -> None:
    result = estimate(release)

    assert (result.n_cells, result.n_records, result.count.shape) == (1, 600, (1, 6))


def test_cells_are_sorted_and_a_missing_value_is_a_cell_of_its_own(release: Release) -> None:
    result = estimate(release, ["sex", bins("age", width=20)])

    assert result.labels["sex"].to_pylist() == ["F", "F", "M", "M", None, None]
    assert result.labels["age"].to_pylist() == ["[20, 40)", "[40, 60)"] * 3
    assert result.records.sum() == 600


def test_linear_counts_of_cells_add_up_to_those_of_all_records(release: Release) -> None:
    cells = estimate(release, ["sex", "age", "名前"], estimator="linear")

    assert np.allclose(cells.count.sum(axis=0), estimate(release, estimator="linear").count[0])


def test_groups_are_cells(release: Release) -> None:
    result = estimate(release, groups("sex", {"women": ["F"]}, other="men"))

    assert result.labels["sex"].to_pylist() == ["women", "men", None]


def test_a_cell_of_one_record_is_marked_and_its_interval_is_honest(publish: Any, simple: SetMechanism) -> None:
    release = publish({"g": ["a"] * 100 + ["b"]}, {"s": np.arange(101) % 9}, {"s": simple})

    result = estimate(release, "g", estimator="linear")

    members = release.sets("s")[-1]
    assert result.note == ("", "fewer than 50 records")
    assert (result.low[1, members] <= 0).all()
    assert (result.high[1, members] >= 1).all()


def test_marks_follow_min_records(release: Release) -> None:
    assert estimate(release, "sex", min_records=201).note == ("fewer than 201 records",) * 3
    assert estimate(release, "sex", min_records=0).note == ("",) * 3


# --- filters ---------------------------------------------------------------------------------------


def test_filters_must_all_hold(release: Release) -> None:
    result = estimate(release, where=["sex = F", "age between 20 and 29"])

    assert result.n_records == sum(i % 3 == 0 and i % 40 < 10 for i in range(600))
    assert result.where == ("sex in F", "age between 20 and 29")


def test_a_filter_selects_what_a_cell_selects(release: Release) -> None:
    filtered = estimate(release, where="sex is missing", estimator="map")

    assert np.allclose(filtered.count[0], estimate(release, "sex", estimator="map").count[2])


def test_an_empty_selection_is_an_error(release: Release) -> None:
    with pytest.raises(ParameterError, match="where must select at least one record, got none"):
        estimate(release, where="age > 100")


@pytest.mark.parametrize(("parameter", "value"), [("by", "s"), ("where", "s = v1")])
def test_what_is_estimated_makes_no_cells_and_no_filters(release: Release, parameter: str, value: str) -> None:
    with pytest.raises(ParameterError, match=f"{parameter} must name other columns, but 's' is sensitive"):
        estimate(release, **{parameter: value})


def test_unknown_columns_are_named(release: Release) -> None:
    with pytest.raises(SchemaError, match="column 'zip' does not exist"):
        estimate(release, "zip")


# --- which attribute -------------------------------------------------------------------------------


def test_with_several_attributes_one_must_be_named(joint: Release) -> None:
    with pytest.raises(ParameterError, match="sensitive must name one or several of 's', 't'"):
        estimate(joint)


@pytest.mark.parametrize("names", ["x", ["s", "s"], []])
def test_attributes_must_exist_and_be_distinct(joint: Release, names: Any) -> None:
    with pytest.raises(ParameterError, match="sensitive must name distinct attributes of 's', 't'"):
        estimate(joint, sensitive=names)


def test_joint_linear_counts_are_those_of_the_kronecker_product(joint: Release) -> None:
    result = estimate(joint, sensitive=["s", "t"], estimator="linear")

    one, two = joint.mechanism("s"), joint.mechanism("t")
    in_s = (joint.sets("s")[:, :, None] == np.arange(6)).any(axis=1)
    in_t = (joint.sets("t")[:, :, None] == np.arange(4)).any(axis=1)
    published = (in_s[:, :, None] & in_t[:, None, :]).sum(axis=0).ravel()
    assert np.allclose(result.count[0], np.linalg.solve(np.kron(one.inclusion, two.inclusion).T, published))


def test_joint_linear_counts_have_the_single_counts_as_margins(joint: Release) -> None:
    table = estimate(joint, sensitive=["s", "t"], estimator="linear").count[0].reshape(6, 4)

    assert np.allclose(table.sum(axis=1), estimate(joint, sensitive="s", estimator="linear").count[0])
    assert np.allclose(table.sum(axis=0), estimate(joint, sensitive="t", estimator="linear").count[0])


def test_joint_frames_have_one_column_an_attribute(joint: Release) -> None:
    frame = estimate(joint, "g", sensitive=["s", "t"]).to_frame()

    assert frame.column_names[:3] == ["g", "s", "t"]
    assert frame.slice(0, 5).select(["s", "t"]).to_pylist()[4] == {"s": "v1", "t": "v0"}


def test_joint_mle_finds_a_dependence(publish: Any, uniform: SetMechanism) -> None:
    codes = np.arange(6000) % 6
    release = publish({}, {"s": codes, "t": codes}, {"s": uniform, "t": uniform})

    table = estimate(release, sensitive=["s", "t"], estimator="mle").share[0].reshape(6, 6)

    assert np.trace(table) > 0.9


def test_too_large_joint_distributions_are_refused(joint: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JOINT_LIMIT", 20)

    with pytest.raises(UnsupportedError, match="at most 20 combinations, but 's', 't' have 24"):
        estimate(joint, sensitive=["s", "t"])


def test_too_many_cells_are_refused(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CELL_LIMIT", 100)

    with pytest.raises(UnsupportedError, match="cells times values may be at most 100, got 240"):
        estimate(release, "age")


# --- estimators ------------------------------------------------------------------------------------


def test_auto_takes_map_below_ten_records_a_value_and_mle_from_there(publish: Any, uniform: SetMechanism) -> None:
    release = publish({"g": ["a"] * 59 + ["b"] * 60}, {"s": np.arange(119) % 6}, {"s": uniform})

    result = estimate(release, "g")

    assert result.estimator == ("map", "mle")
    assert np.allclose(result.count[0], estimate(release, "g", estimator="map").count[0])
    assert np.allclose(result.count[1], estimate(release, "g", estimator="mle").count[1])


def test_map_is_the_maximum_with_the_marginal_of_the_whole_release(publish: Any, uniform: SetMechanism) -> None:
    release = publish({"g": ["a"] * 30 + ["b"] * 300}, {"s": np.arange(330) ** 2 % 6}, {"s": uniform})

    count = estimate(release, "g", estimator="map").count[0]

    marginal = global_marginal([uniform], [release.sets("s")])
    members = (release.sets("s")[:30, :, None] == np.arange(6)).any(axis=1)
    shares = count / 30
    expected = (members * shares / (members @ shares)[:, None]).sum(axis=0) + 6 * marginal
    assert np.allclose(expected / 36, shares, atol=1e-5)


def test_the_marginal_of_a_release_is_positive_and_sums_to_one(uniform: SetMechanism) -> None:
    marginal = global_marginal([uniform], [np.array([[0, 1, 2]] * 5, dtype=np.int32)])

    assert (marginal > 0).all()
    assert np.isclose(marginal.sum(), 1)


def test_equal_sets_are_aggregated_without_changing_the_maximum(publish: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = UniformSelection(n_values=4, l=2)
    release = publish({"g": ["a", "b"] * 500}, {"s": np.arange(1000) ** 2 % 4}, {"s": mechanism})
    aggregated = estimate(release, "g", estimator="mle").count

    monkeypatch.setattr("ldiversity.estimation._likelihood.comb", lambda *_: 10**9)

    assert np.allclose(aggregated, estimate(release, "g", estimator="mle").count, atol=1e-2)


def test_projection_is_the_nearest_point_of_the_simplex() -> None:
    rng = np.random.default_rng(5)
    points, totals = rng.normal(2, 5, (50, 8)), rng.uniform(1, 30, 50)

    nearest = project(points, totals)

    # The nearest point shifts all kept coordinates alike and drops no coordinate above the shift.
    shift = np.where(nearest > 0, points - nearest, np.nan)
    assert np.allclose(nearest.sum(axis=1), totals)
    assert np.allclose(np.nanmax(shift, axis=1), np.nanmin(shift, axis=1))
    assert (points[nearest == 0] <= np.repeat(np.nanmax(shift, axis=1), (nearest == 0).sum(axis=1)) + 1e-9).all()


def test_paper_and_existing_equal_linear_for_uniform_dummies(release: Release) -> None:
    linear = estimate(release, "sex", estimator="linear")

    assert np.allclose(estimate(release, "sex", estimator="paper").count, linear.count)
    assert np.allclose(estimate(release, "sex", estimator="existing").count, linear.count)
    assert estimate(release, "sex", estimator="paper").caveats == (NOT_FOR_TESTS,)


def test_naive_is_the_published_count_divided_by_l(release: Release) -> None:
    assert np.allclose(estimate(release, estimator="naive").count[0], np.bincount(release.sets("s").ravel()) / 3)


@pytest.mark.parametrize("estimator", ["paper", "existing", "naive"])
def test_biased_estimators_say_so(publish: Any, simple: SetMechanism, estimator: str) -> None:
    release = publish({}, {"s": np.arange(900) % 9}, {"s": simple})

    result = estimate(release, estimator=estimator)

    assert result.caveats[0].endswith("its estimates are biased.")
    assert result.caveats[1] == "Intervals are those of linear, widened to hold the reported count."


@pytest.mark.parametrize("estimator", ["mle", "map"])
def test_likelihoods_need_sets(publish: Any, uniform: SetMechanism, estimator: str) -> None:
    release = publish({"g": ["a"] * 60}, {"s": np.arange(60) % 6}, {"s": uniform}, exploded=True)

    with pytest.raises(UnsupportedError, match=f"{estimator} needs published sets"):
        estimate(release, estimator=estimator)


def test_auto_takes_simplex_for_exploded_rows(publish: Any, uniform: SetMechanism) -> None:
    release = publish({"g": ["a"] * 600}, {"s": np.arange(600) % 6}, {"s": uniform}, exploded=True)

    result = estimate(release)

    assert result.estimator == ("simplex",)
    assert "The release has single members, not sets: the estimate uses only their counts." in result.caveats


def test_unknown_estimators_are_named(release: Release) -> None:
    with pytest.raises(ParameterError, match="estimator must be one of 'auto', 'linear'"):
        estimate(release, estimator="best")


def test_a_singular_matrix_is_refused(publish: Any, uniform: SetMechanism) -> None:
    class Singular(UniformSelection):
        condition = 1e12

    release = publish({}, {"s": np.arange(60) % 6}, {"s": Singular(n_values=6, l=3)})

    with pytest.raises(UnsupportedError, match="needs an invertible matrix"):
        estimate(release)


# --- intervals and results -------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", list(ESTIMATORS))
def test_intervals_hold_the_reported_count(publish: Any, simple: SetMechanism, estimator: str) -> None:
    release = publish({"g": [i % 7 for i in range(500)]}, {"s": np.arange(500) % 9}, {"s": simple})

    result = estimate(release, "g", estimator=estimator)

    stated = np.isfinite(result.low)  # an estimator of another package may state no errors
    assert stated.all() or estimator not in ENTRIES["estimators"]
    assert ((result.low <= result.count) & (result.count <= result.high))[stated].all()


def test_intervals_stay_within_what_is_possible(publish: Any, simple: SetMechanism) -> None:
    release = publish({"g": [i % 7 for i in range(500)]}, {"s": np.arange(500) % 9}, {"s": simple})

    result = estimate(release, "g", estimator="mle", min_records=0)

    assert (result.low >= 0).all()
    assert (result.high <= result._cells.counts + 1e-9).all()


def test_more_confidence_makes_wider_intervals(release: Release) -> None:
    narrow, wide = estimate(release, confidence=0.5), estimate(release, confidence=0.99)

    assert (wide.high - wide.low > narrow.high - narrow.low).all()


@pytest.mark.parametrize("confidence", [0, 1, -1, float("nan"), "high"])
def test_confidence_is_between_zero_and_one(release: Release, confidence: Any) -> None:
    with pytest.raises(ParameterError, match="confidence must be"):
        estimate(release, confidence=confidence)


def test_frames_have_one_row_a_cell_and_value(release: Release) -> None:
    frame = estimate(release, "sex").to_frame()

    assert frame.num_rows == 18
    assert frame.column_names == [
        *("sex", "value", "count", "share", "std_error", "low", "high", "share_low", "share_high"),
        *("records", "note", "estimator"),
    ]
    assert set(frame["estimator"].to_pylist()) <= {"mle", "map"}
    assert frame["value"].to_pylist() == [f"v{code}" for code in range(6)] * 3


@pytest.mark.parametrize(
    ("kind", "expected"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("arrow", pa.Table)]
)
def test_frames_are_of_the_kind_that_the_release_came_from(
    publish: Any, uniform: SetMechanism, kind: str, expected: type
) -> None:
    release = publish({"g": ["a", None] * 30}, {"s": np.arange(60) % 6}, {"s": uniform}, frame_kind=kind)

    assert isinstance(estimate(release, "g").to_frame(), expected)


def test_reserved_names_give_way_to_columns(publish: Any, uniform: SetMechanism) -> None:
    release = publish({"count": ["a"] * 60, "value": [1] * 60}, {"s": np.arange(60) % 6}, {"s": uniform})

    assert estimate(release, ["count", "value"]).to_frame().column_names[:4] == ["count", "value", "value_", "count_"]


def test_shares_are_counts_divided_by_records(release: Release) -> None:
    result = estimate(release, "sex")

    assert np.allclose(result.share.sum(axis=1), 1)
    assert np.allclose(result.share * 200, result.count)
    assert np.allclose([result.share_low * 200, result.share_high * 200], [result.low, result.high])


def test_the_description_is_json_and_complete(release: Release) -> None:
    described = json.loads(json.dumps(estimate(release, ["sex", "age"], where="age < 30").to_dict(), allow_nan=False))

    assert set(described) == {
        *("schema", "version", "sensitive", "by", "where", "confidence", "n_records", "caveats", "cells")
    }
    assert described["cells"][-1]["by"] == {"sex": None, "age": 29}
    assert list(described["cells"][0]["values"][0]) == [
        *("value", "count", "share", "std_error", "low", "high", "share_low", "share_high")
    ]


def test_dates_are_described_in_iso(publish: Any, uniform: SetMechanism) -> None:
    days = pa.array([18_262] * 60, pa.int32()).cast(pa.date32())
    release = publish({"day": days}, {"s": np.arange(60) % 6}, {"s": uniform})

    assert estimate(release, "day").to_dict()["cells"][0]["by"] == {"day": "2020-01-01"}


def test_a_missing_sensitive_value_is_a_value(publish: Any, uniform: SetMechanism) -> None:
    release = publish({}, {"s": np.arange(60) % 6}, {"s": uniform})
    object.__setattr__(release.schema["s"], "domain", Domain((1, 2, 3, 4, 5, None)))

    assert estimate(release).to_frame()["value"].to_pylist() == [1, 2, 3, 4, 5, None]


def test_the_repr_is_short(release: Release) -> None:
    assert repr(estimate(release, "sex")) == "Estimate(s: 3 cells, 6 values, 600 records)"


def test_sets_outside_of_the_domain_never_reach_the_loops(publish: Any, uniform: SetMechanism) -> None:
    release = publish({}, {"s": np.arange(60) % 6}, {"s": uniform})
    release.sets("s")[3, 2] = 600

    with pytest.raises(ReleaseFormatError, match="members of the domain alone"):
        estimate(release)
