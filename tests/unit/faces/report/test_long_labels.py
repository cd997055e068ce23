"""A page, a picture or a line of text costs no more than a few looks at each character of a long label."""

from __future__ import annotations

import cProfile
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.faces.report._glossary import words_in
from ldiversity.methods import GroupingMethod
from ldiversity.pictures._figures import shorten, text_width


def calls_in(work: Callable[[], object]) -> int:
    """How many functions a piece of work calls: unlike its time, the same on every machine."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


def release_with(letters: int, method: ld.RandomizedAddition | GroupingMethod) -> ld.Release:
    rng = np.random.default_rng(3)
    names = [mark * letters for mark in "abcdef"]
    table = pa.table(
        {
            "place": [names[code] for code in rng.integers(0, 6, 120)],
            "age": rng.integers(20, 80, 120),
            "illness": [names[code] for code in rng.integers(0, 6, 120)],
        }
    )
    return ld.anonymize(table, quasi=["place", "age"], sensitive="illness", method=method)


@pytest.mark.parametrize("method", [ld.RandomizedAddition(l=2), ld.Mondrian(l=2)], ids=["sets", "classes"])
def test_a_report_does_not_grow_with_the_square_of_a_label(method: ld.RandomizedAddition | GroupingMethod) -> None:
    ld.user_report(release_with(10, method)).to_html()  # compiles what it needs
    short, long = (release_with(letters, method) for letters in (200, 1_000))

    assert calls_in(lambda: ld.user_report(long).to_html()) < 2 * calls_in(lambda: ld.user_report(short).to_html())


def test_a_label_is_measured_only_as_far_as_it_may_fit() -> None:
    short, long = (calls_in(lambda letters=letters: shorten("a" * letters, 30)) for letters in (1_000, 10_000))

    assert long < 11 * short


@given(st.text(alphabet=["a", "b", " ", "\n", "風", "邪", "\u0301", "-"], max_size=12), st.integers(1, 14))
def test_shortening_takes_off_one_character_after_the_other(label: str, most: int) -> None:
    line = "".join(" " if mark == "\n" else mark for mark in label).strip()
    expected = line
    if text_width(line) > most:
        while text_width(line) > most - 1:
            line = line[:-1]
        expected = f"{line.rstrip()}…"

    assert shorten(label, most) == expected


@pytest.mark.parametrize(
    "text", ["[" + ", " * 20_000, "[" + "," * 40_000, "[, " * 20_000], ids=["pairs", "commas", "many"]
)
def test_the_glossary_looks_at_each_character_a_few_times(text: str) -> None:
    start = time.process_time()
    words = [word for word, _ in words_in(text)]

    assert words == []
    assert time.process_time() - start < 1


def test_the_glossary_still_finds_intervals() -> None:
    for text in ("[0, 10)", "from [1,5, 2,5] on", "a [b, c] d"):
        assert [word for word, _ in words_in(text)][:1] == ["[20, 30)"]
    assert not words_in("[0,10)")
