"""Cells and filters on hidden columns: the joint distribution, divided by its margin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation import estimate
from ldiversity.mechanisms import SetMechanism, UniformSelection
from ldiversity.release import Release, SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

N = 2400


@pytest.fixture
def release(publish: Any, uniform: SetMechanism) -> Release:
    codes = {"s": np.arange(N) % 6, "t": (np.arange(N) // 2) % 4}
    columns = {"g": ["a", "b"] * (N // 2), "w": np.ones(N)}
    return publish(columns, codes, {"s": uniform, "t": UniformSelection(n_values=4, l=2)})


def test_counts_are_those_of_the_joint_distribution(release: Release) -> None:
    joint = estimate(release, "g", sensitive=["s", "t"], estimator="linear").count.reshape(2, 6, 4)

    found = estimate(release, ["g", "t"], sensitive="s", estimator="linear")

    assert found.labels.to_pylist()[:2] == [{"g": "a", "t": "v0"}, {"g": "a", "t": "v1"}]
    assert found.count == pytest.approx(np.swapaxes(joint, 1, 2).reshape(8, 6))
    assert found.records == pytest.approx(found.count.sum(axis=1))
    assert "estimates themselves" in found.caveats[0]


def test_errors_of_counts_are_those_of_the_joint_counts(release: Release) -> None:
    joint = estimate(release, sensitive=["s", "t"], estimator="linear")
    whole = joint.covariance().reshape(6, 4, 6, 4)

    found = estimate(release, "t", sensitive="s", estimator="linear")

    assert found.covariance(1) == pytest.approx(whole[:, 1, :, 1])
    for name in ("std_error", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(joint, name).reshape(6, 4).T)


def test_errors_of_shares_follow_the_delta_method(release: Release) -> None:
    joint = estimate(release, sensitive=["s", "t"], estimator="linear")
    counts, whole = joint.count.reshape(6, 4), joint.covariance().reshape(6, 4, 6, 4)

    found = estimate(release, "t", sensitive="s", estimator="linear")

    total = counts[:, 1].sum()
    gradient = (np.eye(6) - np.outer(counts[:, 1] / total, np.ones(6))) / total
    error = np.sqrt(np.diag(gradient @ whole[:, 1, :, 1] @ gradient.T))
    assert found.proportion("v2", "v1").std_error == pytest.approx(error[2])
    # Fieller's ends are those of the delta method, where the margin is many errors from zero.
    assert found.share_low[1] == pytest.approx(np.clip(found.share[1] - 1.96 * error, 0, None), abs=0.15 * error.max())
    assert found.share_high[1] == pytest.approx(found.share[1] + 1.96 * error, abs=0.25 * error.max())
    assert found.shares_apart
    assert not joint.shares_apart


def test_a_sum_of_joint_counts_has_the_error_of_the_sum(release: Release) -> None:
    joint = estimate(release, sensitive=["s", "t"], estimator="linear")
    counts, whole = joint.count.reshape(6, 4), joint.covariance().reshape(6, 4, 6, 4)

    found = estimate(release, sensitive="s", where="t in v1,v3", estimator="linear")

    chosen = [1, 3]
    error = np.sqrt(np.einsum("agah->a", whole[:, chosen][:, :, :, chosen]))
    middle, reach = counts[:, chosen].sum(axis=1), 1.959964 * error + 0.5
    assert found.std_error[0] == pytest.approx(error)
    assert found.low[0] == pytest.approx(np.maximum(middle - reach, 0))
    assert found.high[0] == pytest.approx(middle + reach)


def test_a_sum_in_a_small_cell_has_the_limits_of_its_parts(publish: Any, uniform: SetMechanism) -> None:
    codes = {"s": np.arange(40) % 6, "t": np.arange(40) % 4}
    release = publish({"g": ["a"] * 40}, codes, {"s": uniform, "t": UniformSelection(n_values=4, l=2)})
    joint = estimate(release, sensitive=["s", "t"], estimator="linear")

    found = estimate(release, sensitive="s", where="t in v1,v3", estimator="linear")

    chosen = [1, 3]
    assert found.low[0] == pytest.approx(joint.low.reshape(6, 4)[:, chosen].sum(axis=1))
    assert found.high[0] == pytest.approx(np.minimum(joint.high.reshape(6, 4)[:, chosen].sum(axis=1), 40))


@pytest.fixture
def rare(publish: Any) -> Release:
    """Many records, most of which have the same two values: limits of others reach far up."""
    s, t = np.repeat(np.arange(6), [900, 60, 20, 10, 6, 4]), np.tile(np.repeat(np.arange(4), [23, 1, 0, 1]), 40)
    mechanisms = {"s": UniformSelection(n_values=6, l=3), "t": UniformSelection(n_values=4, l=2)}
    return publish({"g": ["a"] * 1000}, {"s": s, "t": t}, mechanisms)


def test_a_sum_of_likeliest_counts_reaches_as_far_up_as_their_limits_together(rare: Release) -> None:
    joint = estimate(rare, sensitive=["s", "t"], estimator="mle")
    counts, whole = joint.count.reshape(6, 4), joint.covariance().reshape(6, 4, 6, 4)
    above, error = (joint.high - joint.count).reshape(6, 4), joint.std_error.reshape(6, 4)

    found = estimate(rare, sensitive="s", where="t in v1,v3", estimator="mle")

    one, two = 1, 3
    together = above[:, one] * above[:, two] * whole[range(6), one, range(6), two] / error[:, one] / error[:, two]
    farther = np.sqrt(np.maximum(above[:, one] ** 2 + above[:, two] ** 2 + 2 * together, 0))
    plain = 1.959964 * found.std_error[0] + 0.5
    middle = counts[:, [one, two]].sum(axis=1)
    assert found.high[0] == pytest.approx(middle + np.maximum(plain, farther))
    assert (farther > 1.05 * plain).any()
    assert found.low[0] == pytest.approx(np.maximum(middle - plain, 0))


def test_a_share_among_likeliest_counts_reaches_as_far_up_as_the_limit_of_its_count(rare: Release) -> None:
    joint = estimate(rare, sensitive=["s", "t"], estimator="mle")
    counts, whole = joint.count.reshape(6, 4), joint.covariance().reshape(6, 4, 6, 4)

    found = estimate(rare, "t", sensitive="s", estimator="mle")

    times = (found.high - found.count) / np.hypot(1.959964 * found.std_error, 0.5)
    farther = np.zeros((6, 4), dtype=bool)
    for s, t in np.ndindex(6, 4):
        high = found.share_high[t, s]
        if not 0 < high < 1:
            continue
        factors = (np.arange(6) == s) - high
        scaled = factors * np.where(np.arange(6) == s, max(times[t, s], 1), 1)
        variance = scaled @ whole[:, t, :, t] @ scaled
        assert (factors @ counts[:, t]) ** 2 == pytest.approx(1.959964**2 * variance, rel=1e-4)
        farther[s, t] = times[t, s] > 1.05
    assert farther.any()


def test_cells_of_which_rounding_leaves_a_little_have_no_records(uniform: SetMechanism) -> None:
    # As many sets hold the last value as if nobody had it; shares of what rounding left of zero were beyond 1e14.
    holding, others = (np.array(sets, dtype=np.int32) for sets in ([[0, 3], [1, 3], [2, 3]], [[0, 1], [0, 2], [1, 2]]))
    hidden = {"s": (uniform, 6), "t": (UniformSelection(n_values=4, l=2), 4)}
    codes = [Attribute(name, Role.SENSITIVE, "int64", Domain(tuple(range(n)))) for name, (_, n) in hidden.items()]
    for n in (90, 120, 150, 210, 240, 300):
        s = np.sort(np.array([[k % 6, (k + 1) % 6, (k + 3) % 6] for k in range(n)], dtype=np.int32), axis=1)
        release = SetRelease.in_memory(
            schema=Schema((Attribute("g", Role.QUASI, "int64"), *codes)),
            columns=pa.table({"g": np.zeros(n, dtype=np.int64)}),
            sets={"s": s, "t": np.concatenate([holding[np.arange(n // 3) % 3], others[np.arange(n - n // 3) % 3]])},
            mechanisms={name: mechanism for name, (mechanism, _) in hidden.items()},
        )

        found = estimate(release, "t", sensitive="s", estimator="linear")

        assert found.labels["t"].to_pylist() == [0, 1, 2]
        assert np.abs(found.share).max() < 2


def test_where_the_margin_may_be_zero_any_share_is_possible(publish: Any, uniform: SetMechanism) -> None:
    codes = {"s": np.arange(200) % 6, "t": np.arange(200) // 197}  # the last values are those of three records
    release = publish({"g": ["a"] * 200}, codes, {"s": uniform, "t": UniformSelection(n_values=4, l=2)})

    found = estimate(release, "t", sensitive="s", estimator="linear")

    unsure = found.records < 3
    assert unsure.any()
    assert (found.share_low[unsure] <= 0).all()
    assert (found.share_high[unsure] >= 1).all()
    assert (found.high - found.low < 200).all()  # counts are known, though


def test_cells_of_a_hidden_column_are_not_independent(release: Release) -> None:
    joint = estimate(release, sensitive=["s", "t"], estimator="linear")
    counts, whole = joint.count.reshape(6, 4), joint.covariance()

    found = estimate(release, "t", sensitive="s", estimator="linear").difference("v2", between=("v0", "v1"))

    factors = np.zeros((6, 4))
    for column, sign in ((0, 1), (1, -1)):
        total = counts[:, column].sum()
        factors[:, column] = sign * ((np.arange(6) == 2) - counts[2, column] / total) / total
    assert found.std_error == pytest.approx(np.sqrt(factors.ravel() @ whole @ factors.ravel()), rel=1e-3)


def test_a_filter_adds_the_cells_of_its_values_up(release: Release) -> None:
    cells = estimate(release, "t", sensitive="s", estimator="linear")

    found = estimate(release, sensitive="s", where="t in v1,v3", estimator="linear")

    assert found.count[0] == pytest.approx(cells.count[[1, 3]].sum(axis=0))
    assert found.where == ("t in v1,v3",)


def test_weights_go_with_hidden_columns(release: Release) -> None:
    plain = estimate(release, "t", sensitive="s", estimator="linear")

    weighted = estimate(release, "t", sensitive="s", weights="w")

    assert weighted.count == pytest.approx(plain.count)
    table, sample = plain.proportion("v2", "v1", population=True), weighted.proportion("v2", "v1")
    assert sample.population
    # Both estimate the same variance, up to the factor n / (n - 1).
    assert sample.std_error == pytest.approx(table.std_error, rel=0.02)


def binned() -> Release:
    rng, domain = (
        np.random.default_rng(1),
        Domain(("a", "b", "c"), ordered=True, positions=(5, 15, 25), edges=(0, 10, 20, 30)),
    )
    mechanism, codes = UniformSelection(n_values=3, l=2), np.arange(300, dtype=np.int32) % 3
    sets = {name: mechanism.sample(codes, rng.integers(0, 2**64, (300, 20), dtype=np.uint64))[0] for name in ("s", "t")}
    hidden = [Attribute(name, Role.SENSITIVE, "string", domain) for name in sets]
    return SetRelease.in_memory(
        schema=Schema((Attribute("g", Role.QUASI, "int64"), *hidden)),
        columns=pa.table({"g": np.zeros(300, dtype=np.int64)}),
        sets={name: np.sort(one, axis=1) for name, one in sets.items()},
        mechanisms=dict.fromkeys(sets, mechanism),
    )


def test_a_filter_on_bins_must_not_divide_one() -> None:
    release = binned()
    whole = estimate(release, "t", sensitive="s", estimator="linear")

    found = estimate(release, sensitive="s", where="t >= 10", estimator="linear")

    assert found.count[0] == pytest.approx(whole.count[1:].sum(axis=0))
    for where in ("t >= 12", "t > 10", "t between 10 and 20"):
        with pytest.raises(ParameterError, match="must not divide one"):
            estimate(release, sensitive="s", where=where)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"by": "s", "sensitive": "s"}, "by must name other columns"),
        ({"where": "s = v1", "sensitive": "s"}, "where must name other columns"),
        ({"where": "t = nothing", "sensitive": "s"}, "values that .t. has"),
    ],
)
def test_what_makes_no_sense_is_refused(release: Release, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        estimate(release, **asked)


def test_classes_are_refused(bucketize: Any) -> None:
    values = {"s": [0, 1] * 4, "t": [1, 0] * 4}

    with pytest.raises(UnsupportedError, match="need published sets"):
        estimate(bucketize({"x": [0, 1] * 4}, np.repeat(np.arange(4), 2), values), "t", sensitive="s")
