"""The ICD-10-CM tree."""

from __future__ import annotations

import sys

import pytest

from ldiversity.errors import SchemaError, UnsupportedError
from ldiversity.hierarchies import icd_hierarchy


def test_category_block_chapter_and_root_align_for_codes_of_any_length() -> None:
    tree = icd_hierarchy(["S52.521A", "E11.9", "I10"])

    assert [row[-4:] for row in tree.rows] == [
        ("S52", "S50-S59", "Chapter 19", "ICD-10-CM"),
        ("E11", "E08-E13", "Chapter 4", "ICD-10-CM"),
        ("I10", "I10-I1A", "Chapter 9", "ICD-10-CM"),
    ]


def test_shorter_codes_are_repeated_at_the_low_levels() -> None:
    tree = icd_hierarchy(["S52.521A", "E11.9"])

    assert tree.path("E11.9")[:5] == ("E11.9", "E11.9", "E11.9", "E11.9", "E11")


def test_a_category_that_is_its_own_block_stands_at_both_levels() -> None:
    assert icd_hierarchy(["C50.9"]).rows == (("C50.9", "C50", "C50", "Chapter 2", "ICD-10-CM"),)


def test_a_code_without_dot_or_in_lower_case_keeps_its_spelling() -> None:
    assert icd_hierarchy(["E119", "b20"]).leaves == ("E119", "b20")


def test_none_is_left_out() -> None:
    assert icd_hierarchy(["B20", None]).leaves == ("B20",)


def test_unknown_codes_are_counted_and_not_named() -> None:
    with pytest.raises(SchemaError, match="got 2 that are not") as caught:
        icd_hierarchy(["flu", "B20", "E99.99"])

    assert "flu" not in str(caught.value)


@pytest.mark.parametrize("code", ["E08-E13", "4"])
def test_blocks_and_chapters_are_no_codes(code: str) -> None:
    with pytest.raises(SchemaError, match="category or subcategory"):
        icd_hierarchy([code])


def test_two_spellings_of_one_code_are_refused() -> None:
    with pytest.raises(SchemaError, match="codes must be distinct"):
        icd_hierarchy(["E11.9", "E119"])


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simple_icd_10_cm", None)

    with pytest.raises(UnsupportedError, match=r"pip install ldiversity\[icd\]"):
        icd_hierarchy(["B20"])
