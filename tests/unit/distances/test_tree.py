"""Distances in trees."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ldiversity.distances import IcdDistance, TreeDistance
from ldiversity.errors import SchemaError
from ldiversity.hierarchies import Hierarchy
from ldiversity.schema import Domain

# Paper 004, Examples 1 to 3: the ten bands of Example 2 under the nodes that Example 1 names.
INCOME = Hierarchy.from_rows(
    [
        ("<20K", "<30K", "<70K", "Any"),
        ("20K-30K", "<30K", "<70K", "Any"),
        ("30K-40K", "30K-50K", "30K-70K", "<70K", "Any"),
        ("40K-50K", "30K-50K", "30K-70K", "<70K", "Any"),
        ("50K-60K", "50K-70K", "30K-70K", "<70K", "Any"),
        ("60K-70K", "50K-70K", "30K-70K", "<70K", "Any"),
        ("70K-80K", "70K-90K", ">70K", "Any"),
        ("80K-90K", "70K-90K", ">70K", "Any"),
        ("90K-100K", ">90K", ">70K", "Any"),
        (">100K", ">90K", ">70K", "Any"),
    ]
)


def between(distance: TreeDistance, a: str, b: str) -> float:
    return float(distance.matrix(Domain((a, b)))[0, 1])


# Example 3 prints three for 70K-80K. Example 1 has eight nodes of depth three with 30K-40K below one of them, so
# that 30K-40K is four levels under the root and meets 70K-80K there; three is the count from 70K-80K's side.
@pytest.mark.parametrize(("other", "levels"), [("40K-50K", 1), ("50K-60K", 2), ("20K-30K", 3), ("70K-80K", 4)])
def test_example_3_of_the_paper(other: str, levels: int) -> None:
    assert between(TreeDistance(INCOME), "30K-40K", other) == levels


@pytest.mark.parametrize(
    ("a", "b", "levels"),
    [
        ("Doctorate", "Masters", 1),
        ("Doctorate", "Prof-school", 2),
        ("Doctorate", "Bachelors", 2),
        ("Doctorate", "Assoc-voc", 3),
        ("Doctorate", "HS-grad", 4),
        ("9th", "10th", 1),
        ("9th", "HS-grad", 2),
        ("1st-4th", "5th-6th", 2),
        ("Preschool", "1st-4th", 3),
    ],
)
def test_education_of_adult(public_data: Path, a: str, b: str, levels: int) -> None:
    assert between(TreeDistance.read(public_data / "adult_education_tree.csv"), a, b) == levels


def test_values_are_matched_by_their_text() -> None:
    distance = TreeDistance(Hierarchy.from_rows([("1", "a"), ("True", "a"), ("2.5", "b"), ("x", "b")]))

    matrix = distance.matrix(Domain((1, 2.5, "x")))

    assert matrix.tolist() == [[0, 2, 2], [2, 0, 1], [2, 1, 0]]


def test_an_unlisted_missing_value_is_at_the_greatest_distance() -> None:
    assert TreeDistance(INCOME).matrix(Domain(("30K-40K", None, "50K-60K"))).tolist() == [
        [0, 2, 2],
        [2, 0, 2],
        [2, 2, 0],
    ]


def test_an_unlisted_missing_value_is_one_away_from_a_single_value() -> None:
    assert TreeDistance(INCOME).matrix(Domain(("30K-40K", None))).tolist() == [[0, 1], [1, 0]]


def test_a_listed_missing_value_stands_where_the_tree_has_it() -> None:
    distance = TreeDistance(Hierarchy.from_rows([("(missing)", "a"), ("x", "a"), ("y", "b")]))

    assert distance.matrix(Domain(("x", "y", None)))[2].tolist() == [1, 2, 0]


def test_a_listed_missing_value_is_described() -> None:
    domain = Domain(("x", None))
    distance = TreeDistance(Hierarchy.from_rows([("(missing)", "a"), ("x", "a"), ("y", "b")]))

    assert distance.to_dict(domain)["rows"] == [["x", "a", "*"], ["(missing)", "a", "*"]]


def test_values_that_are_no_leaf_are_counted() -> None:
    with pytest.raises(SchemaError, match="got 11 that are not"):
        TreeDistance(INCOME).matrix(Domain(tuple(f"v{i}" for i in range(11))))


def test_two_values_with_the_same_text_are_refused() -> None:
    with pytest.raises(SchemaError, match="texts of the domain's values must be distinct, got 1 that"):
        TreeDistance(Hierarchy.from_rows([("1", "a")])).matrix(Domain((1, "1")))


# m = 2 parts in the longest code: categories 2, blocks 3, chapters 4.
@pytest.mark.parametrize(
    ("code", "levels"), [("E11.8", 1), ("E10.9", 2), ("E66.9", 3), ("B20", 4), ("J45.9", 4), ("E11", 1)]
)
def test_levels_of_icd_mean_category_block_and_chapter(code: str, levels: int) -> None:
    assert IcdDistance().matrix(Domain(("E11.9", code)))[0, 1] == levels


def test_icd_distances_of_a_domain_and_of_its_codes_are_the_same() -> None:
    assert TreeDistance.icd(Domain(("E11.9", None, "B20"))) == TreeDistance.icd(["E11.9", "B20"])


def test_an_icd_distance_is_read_back_as_a_tree_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain(("E11.9", "E11.8", "B20", None))
    described, expected = IcdDistance().to_dict(domain), IcdDistance().matrix(domain)
    monkeypatch.setitem(sys.modules, "simple_icd_10_cm", None)

    read = IcdDistance.from_dict(described, domain)

    assert isinstance(read, TreeDistance)
    assert read.matrix(domain).tolist() == expected.tolist()
