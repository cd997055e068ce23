"""Limits of being recognized: named ones with a source, and the holder's own with a reason."""

from __future__ import annotations

import pytest

import ldiversity as ld
from ldiversity.base.thresholds import DEFAULT_THRESHOLD, THRESHOLDS, Threshold, read_threshold


@pytest.mark.parametrize("name", THRESHOLDS)
def test_every_named_limit_has_a_source_and_can_be_asked_for(name: str) -> None:
    found = read_threshold("audit", name)

    assert found.source
    assert found.name == name
    assert found.limit == THRESHOLDS[name].limit


def test_the_limits_of_the_literature_are_there() -> None:
    assert {round(one.limit, 2) for one in THRESHOLDS.values()} == {0.05, 0.09, 0.2}
    assert THRESHOLDS[DEFAULT_THRESHOLD].limit == 0.2


@pytest.mark.parametrize("given", [0.1, "0.1", " 0.1"])
def test_the_holder_s_own_limit_says_that_it_is(given: float | str) -> None:
    found = read_threshold("audit", given)

    assert found == Threshold(0.1)
    assert found.reason == "The holder's own limit; no reason was given."


def test_the_reason_of_the_holder_is_kept_and_shown() -> None:
    found = read_threshold("audit", 0.1, "agreed with\n the board")

    assert found.rationale == "agreed with the board"
    assert found.reason == "The holder's own limit. The holder says: agreed with the board"


def test_a_limit_given_as_a_value_stays_what_it_is() -> None:
    once = read_threshold("audit", "ema-0070", "public")

    assert read_threshold("report", once) == once


@pytest.mark.parametrize("given", [1.5, -0.1, "2", "nan", "public", "0,1", True])
def test_other_limits_are_refused(given: float | str) -> None:
    with pytest.raises(ld.ParameterError, match="threshold must be"):
        read_threshold("audit", given)


def test_a_comma_in_a_limit_is_explained() -> None:
    with pytest.raises(ld.ParameterError) as refused:
        read_threshold("audit", "0,1")

    assert "with a point" in str(refused.value.hint)


@pytest.mark.parametrize("one", [*THRESHOLDS.values(), Threshold(0.1), Threshold(0.15, rationale="because of this")])
def test_the_words_of_a_limit_ask_for_it_again(one: Threshold) -> None:
    words = dict(zip(one.words[::2], one.words[1::2], strict=True))

    assert read_threshold("x", words.get("--threshold", DEFAULT_THRESHOLD), words.get("--rationale", "")) == one
