"""The independent check of what was produced."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.base.arrays import FloatArray
from ldiversity.errors import ClaimError
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import Claim, claim_of, verify_exploded, verify_sets

PLAIN = Claim(attribute="x", model="l-diversity", l=3, d=None, posterior=1 / 3)
APART = Claim(attribute="x", model="semantic-diversity", l=3, d=2, posterior=1 / 3)
LINE = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0)))
PAIR = Claim(attribute="x", model="l-diversity", l=2, d=None, posterior=0.5)


def exploded(claim: Claim, columns: pa.Table, members: list[int], distances: FloatArray | None = None) -> None:
    codes = np.array(members, np.int32)
    verify_exploded(claim, [(columns, codes)], 9, distances)
    parts = [(columns.slice(start, 2), codes[start : start + 2]) for start in range(0, len(codes), 2)]
    verify_exploded(claim, parts, 9, distances)


def test_good_sets_pass() -> None:
    verify_sets(APART, np.array([[0, 2, 4], [1, 5, 8]], np.int32), 9, LINE)


@pytest.mark.parametrize(
    ("sets", "sentence"),
    [
        ([[0, 2, 4], [3, 3, 8]], "1 of 2 published sets breaks the claim that every set has 3 distinct values"),
        ([[0, 2], [1, 3]], "must have 3 members"),
        ([[0, 2, 9], [1, 5, 8]], "inside the domain"),
        ([[0, 2, -1], [1, 5, 8]], "inside the domain"),
    ],
    ids=["repeated member", "too few members", "unknown code", "negative code"],
)
def test_a_planted_violation_is_caught(sets: list[list[int]], sentence: str) -> None:
    with pytest.raises(ClaimError, match=sentence):
        verify_sets(PLAIN, np.array(sets, np.int32), 9, None)


def test_members_that_are_too_close_are_caught() -> None:
    with pytest.raises(ClaimError, match=r"1 of 2 .* at least 2 apart"):
        verify_sets(APART, np.array([[0, 2, 4], [1, 2, 8]], np.int32), 9, LINE)


def test_a_least_distance_cannot_be_claimed_without_distances() -> None:
    with pytest.raises(ClaimError, match="needs the distances"):
        verify_sets(APART, np.array([[0, 2, 4]], np.int32), 9, None)


def test_exploded_rows_that_keep_the_claim_pass() -> None:
    exploded(PAIR, pa.table({"sex": ["F", "F", "M", "M"]}), [0, 1, 0, 2])


@pytest.mark.parametrize(
    "members", [[0, 0, 1, 2], [0, 1, 3, 3]], ids=["the first person's value twice", "the second person's value twice"]
)
def test_a_value_that_fills_more_than_its_share_is_caught(members: list[int]) -> None:
    with pytest.raises(ClaimError, match="no value has more than 1/2"):
        exploded(PAIR, pa.table({"sex": ["F", "F", "M", "M"]}), members)


def test_exploded_rows_that_lost_a_member_are_caught() -> None:
    # Five rows of people who look alike, no value among them more than twice: only their number gives it away.
    with pytest.raises(ClaimError, match="rows that look alike"):
        exploded(PAIR, pa.table({"sex": ["F"] * 5}), [0, 1, 0, 2, 3])


def test_a_mechanism_whose_posterior_is_only_searched_for_promises_nothing() -> None:
    class Searched(UniformSelection):
        worst_posterior_is_exact = False

    assert claim_of("x", Searched(10, 2)).posterior == 1.0


def test_the_statement_says_what_is_promised() -> None:
    assert claim_of("disease", UniformSelection(10, 4)).statement == (
        "Every record shows 4 values of 'disease', one of them true; "
        "to someone without prior knowledge no value is more likely than 0.25."
    )


def test_a_claim_without_a_bound_says_so() -> None:
    leaking = Claim(attribute="x", model="semantic-diversity", l=3, d=2, posterior=1.0)

    assert "may give the true value away" in leaking.statement


def test_members_out_of_order_are_caught() -> None:
    with pytest.raises(ClaimError, match=r"1 of 2 .*domain order"):
        verify_sets(PLAIN, np.array([[0, 2, 4], [5, 1, 8]], np.int32), 9, None)


def test_exploded_members_of_one_person_that_are_too_close_are_caught() -> None:
    close = Claim(attribute="x", model="semantic-diversity", l=2, d=2, posterior=0.5)

    with pytest.raises(ClaimError, match="at least 2 apart"):
        exploded(close, pa.table({"age": [1, 1, 2, 2]}), [0, 3, 4, 5], LINE)


@pytest.mark.parametrize("name", ["count_all", "member", "\0member", "k0"])
def test_no_column_name_confuses_the_check_of_exploded_rows(name: str) -> None:
    exploded(PAIR, pa.table({name: ["F", "F", "M", "M"]}), [0, 1, 0, 2])
