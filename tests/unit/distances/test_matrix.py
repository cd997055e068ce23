"""Distances that are written down one by one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ldiversity.distances import MatrixDistance
from ldiversity.errors import SchemaError
from ldiversity.schema import Domain

if TYPE_CHECKING:
    from pathlib import Path


def test_rows_follow_the_order_of_the_domain() -> None:
    distance = MatrixDistance(("a", "b", "c"), [[0, 1, 2], [1, 0, 5], [2, 5, 0]])

    assert distance.matrix(Domain(("c", "a"))).tolist() == [[0, 2], [2, 0]]


def test_an_unlisted_missing_value_is_at_the_greatest_distance_of_the_domain() -> None:
    distance = MatrixDistance(("a", "b", "c"), [[0, 1, 2], [1, 0, 5], [2, 5, 0]])

    assert distance.matrix(Domain(("a", "b", None)))[2].tolist() == [1, 1, 0]


@pytest.mark.parametrize("name", [None, "(missing)"])
def test_a_listed_missing_value_has_its_own_distances(name: str | None) -> None:
    distance = MatrixDistance(("a", name), [[0, 7], [7, 0]])

    assert distance.matrix(Domain(("a", None))).tolist() == [[0, 7], [7, 0]]


@pytest.mark.parametrize(
    ("distances", "rule"),
    [
        ([[0, 1], [2, 0]], "same in both directions, but the one from 'a' to 'b' is not"),
        ([[0, 1], [1, 3]], "0 from a value to itself, but the one from 'b' to 'b' is not"),
        ([[0, -1], [-1, 0]], "at least 0, but the one from 'a' to 'b' is not"),
        ([[0, math.nan], [1, 0]], "finite, but the one from 'a' to 'b' is not"),
        ([[0, 1], [math.inf, 0]], "finite, but the one from 'b' to 'a' is not"),
        ([[0, 1]], "must be 2 x 2, one row per value, got 1 x 2"),
        ([0, 1, 1, 0], "must be 2 x 2, one row per value, got 4"),
        ([[0, 1], [1]], "rows of numbers"),
        ([[0, "far"], ["far", 0]], "rows of numbers"),
        ([[0, 10**400], [10**400, 0]], "rows of numbers"),
    ],
)
def test_what_is_no_matrix_of_distances_is_refused(distances: Any, rule: str) -> None:
    with pytest.raises(SchemaError, match=rule):
        MatrixDistance(("a", "b"), distances)


def test_rounding_does_not_break_symmetry() -> None:
    distance = MatrixDistance(("a", "b"), [[0, 0.3], [0.1 + 0.2, 0]])

    assert distance.matrix(Domain(("a", "b"))).tolist() == [[0, 0.3], [0.3, 0]]


def test_repeated_values_are_refused() -> None:
    with pytest.raises(SchemaError, match="values must be distinct, got '1'"):
        MatrixDistance((1, "1"), [[0, 1], [1, 0]])


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.distances._matrix.MAX_VALUES", 1)

    with pytest.raises(SchemaError, match="at most 1 values, got 2"):
        MatrixDistance(("a", "b"), [[0, 1], [1, 0]])


def test_values_that_are_not_listed_are_named() -> None:
    with pytest.raises(SchemaError, match="got 2 that are not"):
        MatrixDistance(("a", "b"), [[0, 1], [1, 0]]).matrix(Domain(("a", "c", "d")))


def test_later_changes_of_the_given_array_do_not_matter() -> None:
    given = np.array([[0.0, 1.0], [1.0, 0.0]])
    distance = MatrixDistance(("a", "b"), given)

    given[:] = 9

    assert distance == MatrixDistance(("a", "b"), [[0, 1], [1, 0]])


def test_distances_of_other_values_differ() -> None:
    assert MatrixDistance(("a", "b"), [[0, 1], [1, 0]]) != MatrixDistance(("a", "c"), [[0, 1], [1, 0]])


def test_a_matrix_distance_equals_nothing_else() -> None:
    assert MatrixDistance((), []) != "matrix"


def test_the_repr_is_short() -> None:
    assert repr(MatrixDistance(("a", "b"), [[0, 1], [1, 0]])) == "MatrixDistance(2 values)"


@pytest.mark.parametrize("content", [";a;b\na;0;2\nb;2;0\n", "value,b,a\na,2,0\nb,0,2\n"])
def test_a_file_is_read_whatever_the_order_of_its_columns(tmp_path: Path, content: str) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text(content, encoding="utf-8")

    assert MatrixDistance.read(path) == MatrixDistance(("a", "b"), [[0, 2], [2, 0]])


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (";a;b\na;0;1\nc;1;0\n", "must name the same values, but 'b', 'c' are in one of them only"),
        (";a;b\na;0;1\n", "but 'b' is in one of them only"),
        (";a;a\na;0;1\n", "values of the first line must be distinct"),
        (";a;b\na;0;1\na;1;0\n", "values of the first column must be distinct"),
        (";a;b\na;0\nb;1;0\n", "line 2 of .* must have 2 distances"),
        (";a;b\na;0;far\nb;1;0\n", "line 2 of .* must hold only numbers"),
        (";a;b\na;0;nan\nb;1;0\n", "distances must be finite"),
        (";a;b\na;0;1\nb;2;0\n", "same in both directions"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: str, rule: str) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(SchemaError, match=rule):
        MatrixDistance.read(path)
