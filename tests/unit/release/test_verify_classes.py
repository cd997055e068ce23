"""The independent checker of classes sees what it must see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.models import FrequencyDiversity, UniqueDiversity
from ldiversity.release import ClassClaim, class_not_protected, verify_classes

DOMAIN = ld.Domain(("a", "b", "c"))
CLAIM = ClassClaim("x", UniqueDiversity(l=2))


def rows(**changed: Any) -> dict[str, Any]:
    """Two classes with values in the rows: {a, b} and {b, c}."""
    ids = np.array([0, 1, 0, 1], dtype=np.int32)
    said = {"domain": DOMAIN, "n_classes": 2, "row_classes": ids, "classes": ids, "codes": np.array([0, 1, 1, 2])}
    return {**said, **changed}


def table(**changed: Any) -> dict[str, Any]:
    """The same two classes with values in a table of their own."""
    said = rows(classes=np.array([0, 0, 1, 1]), codes=np.array([0, 1, 1, 2]), counts=np.ones(4, dtype=np.int64))
    return {**said, **changed}


def test_honest_classes_pass() -> None:
    verify_classes([CLAIM], **rows())
    verify_classes([CLAIM], **table())


def test_a_value_that_repeats_in_a_class_is_seen() -> None:
    with pytest.raises(ld.ClaimError, match=r"1 of 2 published classes breaks the claim"):
        verify_classes([CLAIM], **rows(codes=np.array([0, 1, 0, 2])))


def test_merged_classes_are_seen() -> None:
    ids = np.zeros(4, dtype=np.int32)

    with pytest.raises(ld.ClaimError, match="every class must have a row"):
        verify_classes([CLAIM], **rows(row_classes=ids, classes=ids))


def test_a_class_below_l_is_seen() -> None:
    ids = np.array([0, 1, 0, 0], dtype=np.int32)

    with pytest.raises(ld.ClaimError, match=r"breaks? the claim"):
        verify_classes([CLAIM], **rows(row_classes=ids, classes=ids))


def test_the_order_of_rows_does_not_matter() -> None:
    claim = ClassClaim("x", FrequencyDiversity(l=3))
    ids = np.array([1, 0, 1, 0, 1, 0], dtype=np.int32)
    codes = np.array([2, 0, 0, 2, 1, 1], dtype=np.int32)

    verify_classes([claim], **rows(row_classes=ids, classes=ids, codes=codes))


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"counts": np.array([1, 1, 1, 2])}, "1 of 2 published classes has different numbers of rows"),
        ({"counts": np.array([1, 1, 1, 0])}, "counts must be positive"),
        ({"counts": np.array([1, 1, 1, -1])}, "counts must be positive"),
        ({"counts": np.array([1, 1, 1])}, "every published value must have a class"),
        ({"codes": np.array([0, 1, 1, 3])}, "inside the domain"),
        ({"codes": np.array([0, 1, 1, -1])}, "inside the domain"),
        ({"classes": np.array([0, 0, 1, 2])}, "values must belong to a class"),
        ({"row_classes": np.array([0, 1, 0, 2])}, "rows must belong to a class"),
        ({"row_classes": np.array([0, 1, 0, -2])}, "rows must belong to a class"),
        ({"row_classes": np.array([0, 1, 0, -1])}, "1 of 2 published classes has different numbers of rows"),
        ({"classes": np.array([0, 0, 0, 1])}, "2 of 2 published classes have different numbers of rows"),
        ({"n_classes": 3}, "every class must have a row"),
    ],
)
def test_what_does_not_agree_is_seen(changed: dict[str, Any], rule: str) -> None:
    with pytest.raises(ld.ClaimError, match=rule):
        verify_classes([CLAIM], **table(**changed))


def test_a_value_moved_to_another_class_is_seen() -> None:
    with pytest.raises(ld.ClaimError, match=r"breaks? the claim"):
        verify_classes([CLAIM], **rows(codes=np.array([1, 0, 1, 2])))


def test_nothing_is_no_class() -> None:
    nothing = np.empty(0, dtype=np.int32)

    with pytest.raises(ld.ClaimError, match="every class must have a row"):
        verify_classes([CLAIM], **rows(row_classes=nothing, classes=nothing, codes=nothing, n_classes=0))


@pytest.mark.parametrize("layout", ["generalized", "bucketized"])
@pytest.mark.parametrize("word", ["intersect", "cannot have", "Several sensitive values", "knows the method", "who"])
def test_what_is_not_protected_is_said(layout: str, word: str) -> None:
    assert any(word.lower() in sentence.lower() for sentence in class_not_protected(layout))
