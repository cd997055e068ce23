"""What every kind of distance of this package must do; a stranger copies the example of a toy."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

from ldiversity.distances import (
    DISTANCES,
    CyclicDistance,
    DiscreteDistance,
    Distance,
    MatrixDistance,
    NumericDistance,
    OrderedDistance,
    SemilatticeDistance,
    TreeDistance,
    distance_from_dict,
)
from ldiversity.entries import ENTRIES
from ldiversity.errors import ReleaseFormatError
from ldiversity.hierarchies import Hierarchy, SemiLattice
from ldiversity.schema import Domain

DOMAIN = Domain((1, 2, 4, None), ordered=True, positions=(1.0, 2.0, 4.0, math.nan))

EXAMPLES: dict[str, Distance] = {
    "discrete": DiscreteDistance(),
    "ordered": OrderedDistance(),
    "cyclic": CyclicDistance(),
    "numeric": NumericDistance(unit=0.5),
    "tree": TreeDistance(Hierarchy.from_rows([("4", "b"), ("3", "b"), ("2", "a"), ("1", "a")])),
    "semilattice": SemilatticeDistance(
        SemiLattice.from_edges([("1", "x"), ("2", "x"), ("2", "y"), ("4", "y"), ("3", "z")])
    ),
    "matrix": MatrixDistance((4, 1, 2), [[0, 1.5, 2], [1.5, 0, 3], [2, 3, 0]]),
}

kinds = pytest.mark.parametrize("kind", ENTRIES["distances"])


def test_every_kind_has_an_example() -> None:
    assert EXAMPLES.keys() == ENTRIES["distances"].keys()


@kinds
def test_a_kind_is_registered_under_its_own_name(kind: str) -> None:
    assert DISTANCES[kind].kind == kind


@kinds
def test_the_matrix_is_square_symmetric_finite_and_zero_on_the_diagonal(kind: str) -> None:
    matrix = EXAMPLES[kind].matrix(DOMAIN)

    assert matrix.shape == (4, 4)
    assert matrix.dtype == np.float64
    assert np.isfinite(matrix).all()
    assert (matrix >= 0).all()
    assert (matrix == matrix.T).all()
    assert (np.diag(matrix) == 0).all()


@kinds
def test_a_missing_value_is_away_from_all_others(kind: str) -> None:
    assert (EXAMPLES[kind].matrix(DOMAIN)[3, :3] > 0).all()


@kinds
def test_the_description_survives_json_and_gives_the_same_matrix(kind: str) -> None:
    described = json.loads(json.dumps(EXAMPLES[kind].to_dict(DOMAIN), allow_nan=False))

    read = distance_from_dict(described, DOMAIN)

    assert type(read) is DISTANCES[kind]
    np.testing.assert_array_equal(read.matrix(DOMAIN), EXAMPLES[kind].matrix(DOMAIN))


@kinds
def test_describing_again_gives_the_same_description(kind: str) -> None:
    described = EXAMPLES[kind].to_dict(DOMAIN)

    assert distance_from_dict(described, DOMAIN).to_dict(DOMAIN) == described


@kinds
def test_the_description_of_part_of_the_domain_names_nothing_else(kind: str) -> None:
    described = EXAMPLES[kind].to_dict(Domain((1,), positions=(1.0,)))

    assert "4" not in json.dumps(described)


@kinds
def test_writing_to_a_matrix_changes_no_later_one(kind: str) -> None:
    expected = EXAMPLES[kind].matrix(DOMAIN)

    EXAMPLES[kind].matrix(DOMAIN)[:] = -1

    np.testing.assert_array_equal(EXAMPLES[kind].matrix(DOMAIN), expected)


@kinds
def test_a_domain_of_one_value_has_distance_zero(kind: str) -> None:
    assert EXAMPLES[kind].matrix(Domain((2,), ordered=True, positions=(2.0,))).tolist() == [[0.0]]


@kinds
@pytest.mark.parametrize("values", [(), (None,)])
def test_a_domain_of_no_value_survives_the_round_trip(kind: str, values: tuple[None, ...]) -> None:
    domain = Domain(values, ordered=True, positions=(math.nan,) * len(values))

    read = distance_from_dict(EXAMPLES[kind].to_dict(domain), domain)

    assert read.matrix(domain).tolist() == [[0.0] * len(values)] * len(values)


@kinds
def test_a_distance_is_frozen(kind: str) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        EXAMPLES[kind].anything = 1  # type: ignore[attr-defined]


@kinds
def test_equal_distances_have_equal_hashes(kind: str) -> None:
    described = EXAMPLES[kind].to_dict(DOMAIN)
    first, second = distance_from_dict(described, DOMAIN), distance_from_dict(described, DOMAIN)

    assert first == second
    assert hash(first) == hash(second)


@kinds
def test_a_domain_that_is_too_large_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.distances._shared.MAX_VALUES", 3)

    with pytest.raises(ValueError, match="at most 3 values, got 4"):
        EXAMPLES[kind].matrix(DOMAIN)


@kinds
def test_an_unknown_key_is_refused(kind: str) -> None:
    described = {**EXAMPLES[kind].to_dict(DOMAIN), "more": 1}

    with pytest.raises(ReleaseFormatError, match="exactly the keys"):
        distance_from_dict(described, DOMAIN)


@kinds
def test_another_kind_is_refused(kind: str) -> None:
    with pytest.raises(ReleaseFormatError, match=f"of kind '{kind}' must say so"):
        DISTANCES[kind].from_dict({"kind": "other"}, DOMAIN)


@kinds
@pytest.mark.parametrize("described", [None, [], "tree", 3])
def test_what_is_no_dict_is_refused(kind: str, described: Any) -> None:
    with pytest.raises(ReleaseFormatError, match="must be an object"):
        DISTANCES[kind].from_dict(described, DOMAIN)


HOSTILE: dict[str, list[Any]] = {
    "unit": [0, -1, math.nan, math.inf, 10**400, True, "1", None, [], {}],
    "rows": [
        None,
        "rows",
        {},
        [],
        [1, 2, 3],
        ["12", "2*", "4*"],
        [["1", "*"], ["2", "*"]],
        [["1", "*"], ["2", "*"], ["3", "*"]],
        [["1", "*"], ["2", "*"], ["4"]],
        [["1", "*"], ["2", "*"], ["4", "x"]],
        [["1", "*"], ["2", "*"], ["4", 5]],
        [["1", "*"], ["1", "*"], ["4", "*"]],
        [["1", "*"], ["2", "*"], ["4", []]],
        [[], [], []],
        [[value] + ["*"] * 64 for value in "124"],
        [[value, "*"] for value in "12456"],
    ],
    "parents": [
        None,
        [],
        {},
        {"1": "*", "2": "*", "4": "*", "*": ""},
        {"1": ["*"], "2": ["*"], "*": []},
        {"1": ["*"], "2": ["*"], "4": [], "*": []},
        {"1": ["*"], "2": ["*"], "4": ["4"], "*": []},
        {"1": ["*"], "2": ["*"], "4": ["?"], "*": []},
        {"1": ["*"], "2": ["*"], "4": [4], "*": []},
        {"1": ["*"], "2": ["*"], "4": ["*", "*"], "*": []},
        {"1": ["*"], "2": ["*"], "4": [["*"]], "*": []},
    ],
    "below": [
        None,
        {},
        [],
        [[], [1], [1, 1]],
        [[], [1], [1, 1], [1, 1]],
        [[], [1], [1, 1], [1, 1, -1]],
        [[], [1], [1, 1], [1, 1, math.nan]],
        [[], [1], [1, 1], [1, 1, math.inf]],
        [[], [1], [1, 1], [1, 1, 10**400]],
        [[], [1], [1, 1], [1, 1, True]],
        [[], [1], [1, 1], [1, 1, "1"]],
        [[], [1], [1, 1], [1, 1, None]],
        [[], [1], [1, 1], [1, 1, [1]]],
        [[], 1, 2, 3],
    ],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in HOSTILE.items() for value in values])
def test_a_hostile_description_is_refused(key: str, value: Any) -> None:
    kind = {"unit": "numeric", "rows": "tree", "parents": "semilattice", "below": "matrix"}[key]

    with pytest.raises(ReleaseFormatError, match=f"the distance of kind '{kind}' is damaged"):
        distance_from_dict({"kind": kind, key: value}, DOMAIN)


@pytest.mark.parametrize("described", [None, [], "tree", {}, {"kind": "other"}, {"kind": ["tree"]}, {"kind": None}])
def test_an_unknown_kind_is_refused_with_the_known_ones(described: Any) -> None:
    with pytest.raises(ReleaseFormatError, match=r"known kind .'discrete', 'ordered', 'cyclic', 'numeric'"):
        distance_from_dict(described, DOMAIN)
