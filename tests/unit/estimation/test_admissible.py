"""Sets that no mechanism published are refused, and their order does not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity._kernels.cells import are_allowed, are_ascending
from ldiversity.base.arrays import BoolArray, SetArray
from ldiversity.distances import OrderedDistance
from ldiversity.errors import ReleaseFormatError
from ldiversity.estimation import ESTIMATORS, estimate
from ldiversity.estimation._admissible import admissible_sets
from ldiversity.mechanisms import RingSelection, SetMechanism, UniformSelection
from ldiversity.release import ReleaseDescription, SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema


@pytest.fixture(params=["simple", "balanced"])
def semantic(request: pytest.FixtureRequest) -> SetMechanism:
    return request.getfixturevalue(request.param)


@pytest.fixture
def release(publish: Any, semantic: SetMechanism) -> SetRelease:
    return publish({"g": ["a", "b"] * 300}, {"s": np.arange(600) % 9}, {"s": semantic})


# --- refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", list(ESTIMATORS))
def test_values_too_near_to_each_other_are_refused(release: SetRelease, estimator: str) -> None:
    release.sets("s")[7] = [0, 1, 5]

    with pytest.raises(ReleaseFormatError, match="must be sets that its mechanism can publish"):
        estimate(release, estimator=estimator)


def test_they_are_refused_outside_of_the_filter_where_the_prior_uses_all_sets(release: SetRelease) -> None:
    release.sets("s")[0] = [0, 1, 5]

    with pytest.raises(ReleaseFormatError, match="must be sets that its mechanism can publish"):
        estimate(release, where="g = b", estimator="map")


@pytest.mark.parametrize("row", [[2, 2, 5], [5, 2, 2]])
def test_repeated_members_are_refused(publish: Any, uniform: SetMechanism, row: list[int]) -> None:
    release = publish({}, {"s": np.arange(60) % 6}, {"s": uniform})
    release.sets("s")[3] = row

    with pytest.raises(ReleaseFormatError, match="must have distinct values"):
        estimate(release)


@pytest.mark.parametrize("code", [-1, 6, 1 << 32])
def test_members_outside_of_the_domain_are_refused(uniform: SetMechanism, code: int) -> None:
    with pytest.raises(ReleaseFormatError, match="members of the domain alone"):
        admissible_sets(uniform, np.array([[0, 1, code]]))


def test_sets_of_another_size_are_refused(uniform: SetMechanism) -> None:
    with pytest.raises(ReleaseFormatError, match="must have 3 values"):
        admissible_sets(uniform, np.array([[0, 1]], dtype=np.int32))


def test_a_set_that_no_true_value_gives_is_refused() -> None:
    ordered = Domain(tuple(range(12)), ordered=True)
    ring = RingSelection.fit(ordered, OrderedDistance(), l=4, d=2)
    # Far enough apart, and yet the ring between any two of them is cut so that the others are never drawn.
    sets = np.array([[0, 2, 9, 11]] * 60, dtype=np.int32)
    schema = Schema((Attribute("s", Role.SENSITIVE, "int64", ordered),))
    release = SetRelease.in_memory(schema=schema, columns=pa.table({}), sets={"s": sets}, mechanisms={"s": ring})

    with pytest.raises(ReleaseFormatError, match="must be sets that its mechanism can publish"):
        estimate(release, estimator="mle")


def test_other_mechanisms_are_asked_which_sets_they_publish() -> None:
    class Picky(SetMechanism):
        kind, n_values, l = "picky", 4, 2  # type: ignore[assignment]

        def admits(self, sets: SetArray) -> BoolArray:
            return sets[:, 0] == 0

    Picky.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]

    assert admissible_sets(Picky(), np.array([[0, 1]])).tolist() == [[0, 1]]  # type: ignore[abstract]
    with pytest.raises(ReleaseFormatError, match="must be sets that its mechanism can publish"):
        admissible_sets(Picky(), np.array([[1, 2]]))  # type: ignore[abstract]


@pytest.mark.parametrize("codes", [[0, 1, 2, 3], [0, 0, 0, 1, 2, 3]])
def test_exploded_rows_of_incomplete_sets_are_refused(uniform: SetMechanism, codes: list[int]) -> None:
    domain = Domain(tuple("abcdef"))
    description = ReleaseDescription(
        Schema((Attribute("s", Role.SENSITIVE, "string", domain),)), {"s": uniform}, (), "exploded"
    )
    release = SetRelease.from_coded(description, pa.table({"s": pa.array(codes, pa.int32())}), frame_kind="arrow")

    with pytest.raises(ReleaseFormatError, match="must be complete, with 3 distinct values per record"):
        estimate(release)


# --- put in order ----------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["linear", "paper", "mle", "map"])
def test_the_order_of_the_members_does_not_matter(release: SetRelease, estimator: str) -> None:
    mixed = SetRelease.in_memory(
        schema=release.schema,
        columns=release.columns(["g"]),
        sets={"s": np.random.default_rng(3).permuted(release.sets("s"), axis=1)},
        mechanisms=release.mechanisms,
    )

    one, other = estimate(release, "g", estimator=estimator), estimate(mixed, "g", estimator=estimator)

    assert np.allclose(one.count, other.count)
    assert np.allclose(one.std_error, other.std_error)
    assert np.allclose(one.covariance(1), other.covariance(1))


def test_ascending_sets_are_not_copied(uniform: SetMechanism) -> None:
    sets = np.array([[0, 1, 2], [1, 3, 5]], dtype=np.int32)

    assert admissible_sets(uniform, sets) is sets


# --- the loops -------------------------------------------------------------------------------------


def test_allowed_pairs_are_found_as_a_mechanism_finds_them(semantic: SetMechanism) -> None:
    sets = np.sort(np.random.default_rng(4).permuted(np.tile(np.arange(9), (500, 1)), axis=1)[:, :3], axis=1)
    allowed = semantic.compatibility.allowed  # type: ignore[attr-defined]

    found = [are_allowed(row[None].astype(np.uint32), allowed) for row in sets]

    assert found == semantic.admits(sets).tolist()
    assert 50 < sum(found) < 450


def test_ascending_rows_are_told_from_others() -> None:
    sets = np.random.default_rng(5).integers(0, 4, (300, 3)).astype(np.int32)

    found = [are_ascending(row[None]) for row in sets]

    assert found == (np.diff(sets, axis=1) > 0).all(axis=1).tolist()


def test_one_wrong_row_among_many_is_seen() -> None:
    sets = np.tile(np.array([[0, 2]], dtype=np.int32), (1000, 1))
    sets[999] = [2, 0]

    assert not are_ascending(sets)
    assert not admissible_sets(UniformSelection(n_values=4, l=2), sets)[:, 0].any()
