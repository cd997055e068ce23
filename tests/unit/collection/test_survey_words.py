"""The words for the people who are asked: every figure is what simulated devices give."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from math import isclose, sqrt
from pathlib import Path
from typing import Any

import pytest

from ldiversity.collection.blind import BlindPublicKey
from ldiversity.collection.survey import (
    EXAMPLE,
    Question,
    Survey,
    best_guess,
    changed_answer,
    draft_survey,
    honest_words,
    only_common_answer,
)
from tests.unit.collection.surveys import balanced, plain


def uniform(n_values: int, l: int, name: str = "q") -> dict[str, Any]:
    return {
        "name": name,
        "ask": "What?",
        "values": [f"v{place}" for place in range(n_values)],
        "ordered": False,
        "positions": None,
        "mechanism": {"kind": "uniform", "version": 2, "n_values": n_values, "l": l},
    }


def other_values(question: dict[str, Any]) -> dict[str, Any]:
    return {**question, "values": [f"other {value}" for value in question["values"]]}


def two_sets(question: Question, first: int, second: int, source: random.Random) -> tuple[Any, Any]:
    """The sets of one device before and after a change."""
    words = [source.getrandbits(64) for _ in range(200)]
    others = [source.getrandbits(64) for _ in range(200)] if question.draw.keyed_by_answer else words
    return question.draw.sample(first, words), question.draw.sample(second, others)


def posteriors(question: Question, n: int) -> tuple[float, dict[int, tuple[float, int]]]:
    """How often sets overlap without being equal, and how likely each answer in the first only is."""
    source = random.Random(5)
    overlapping = 0
    right: Counter[int] = Counter()
    seen: Counter[int] = Counter()
    for _ in range(n):
        first, second = source.sample(range(len(question.values)), 2)
        before, after = two_sets(question, first, second, source)
        shared = len(set(before) & set(after))
        if 0 < shared < question.l:
            overlapping += 1
            seen[shared] += 1
            right[shared] += first not in after
    only = {s: (right[s] / seen[s] / (question.l - s), seen[s]) for s in seen}
    return overlapping / n, only


@pytest.mark.parametrize(("n_values", "l"), [(5, 2), (7, 3), (8, 3)])
def test_what_a_change_tells_when_values_are_left_over(n_values: int, l: int) -> None:
    question = Question.model_validate(uniform(n_values, l))

    rate, only = posteriors(question, 20_000)

    said = changed_answer(question)
    assert said.overlap == 2 * (n_values % l) / n_values
    assert rate <= said.overlap + 4.5 * sqrt(0.25 / 20_000)
    for shared, (found, n) in only.items():
        expected = (2 * l - shared) / (2 * l * (l - shared))
        # 4.5 standard errors: a false alarm below 1e-5 for each of five figures.
        assert abs(found - expected) < 4.5 * sqrt(0.25 / n) / (l - shared)
        assert said.posterior is not None
        assert expected <= said.posterior + 1e-12


def test_what_a_change_tells_when_words_depend_on_the_answer() -> None:
    question = Question.model_validate(balanced([f"v{i}" for i in range(7)], {"kind": "ordered"}, l=3, d=2))

    _, only = posteriors(question, 20_000)

    said = changed_answer(question)
    assert said.overlap is None
    for shared, (found, n) in only.items():
        expected = 3 / (9 - shared)
        assert abs(found - expected) < 4.5 * sqrt(0.25 / n) / (3 - shared)
        assert said.posterior is not None
        assert expected <= said.posterior + 1e-12


def test_partitions_tell_nothing_where_l_divides() -> None:
    question = Question.model_validate(uniform(9, 3))

    rate, _ = posteriors(question, 2_000)

    assert (rate, changed_answer(question).overlap) == (0, 0)


def test_how_often_two_new_sets_give_the_answer_away() -> None:
    question = Question.model_validate(uniform(8, 3))
    sets = [set(s) for s in combinations(range(8), 3) if 0 in s]

    alone = sum(one & other == {0} for one in sets for other in sets) / len(sets) ** 2

    found = only_common_answer(question)
    assert found is not None
    assert isclose(found, alone)


@pytest.fixture
def example(tmp_path: Path) -> Survey:
    (tmp_path / "survey.toml").write_text(EXAMPLE, encoding="utf-8")
    return draft_survey(tmp_path / "survey.toml")


def test_the_words_of_the_example(example: Survey) -> None:
    words = honest_words(example)

    assert words.sent["age"] == "Only the range is sent, such as 30-44."
    assert words.sent["illness"] == (
        "Your device adds 2 other answers. Each of the 3 explains what you sent equally well."
    )
    assert "none of them close to yours" in words.sent["income"]
    limits = " ".join(words.limits)
    for figure in ("82 % of cases", "43 % instead of 33 %", "9 combinations", "66 % of cases"):
        assert figure in limits
    assert "If your answer to illness changes" in " ".join(words.holds)


def test_the_figures_are_those_of_the_formulas() -> None:
    assert f"{9 / 11:.0%} {3 / 7:.0%} {36 / 55:.0%}" == "82% 43% 65%"  # C(9, 2) / C(11, 2) = 36/55


def test_known_shares_are_used(example: Survey) -> None:
    words = honest_words(example, {"illness": [0.45] + [0.05] * 11})

    assert "82 % of cases for illness (" in words.limits[0]  # .45 / (.45 + .05 + .05)


def test_how_often_the_best_guess_is_right() -> None:
    question = Question.model_validate(uniform(7, 3))
    shares = [0.3, 0.02, 0.2, 0.18, 0.1, 0.15, 0.05]
    sets = list(combinations(range(7), 3))

    # A set comes from each of its members with the same probability, 1 / C(6, 2).
    right = sum(max(shares[code] for code in one) for one in sets) / 15

    found = best_guess(question, shares)
    assert found is not None
    assert isclose(found, right)


def test_shares_that_say_nothing_are_left_out(example: Survey) -> None:
    assert honest_words(example, {"illness": [0.0] * 12, "unknown": [1.0]}) == honest_words(example)
    assert "100 % of cases for illness" in honest_words(example, {"illness": [1.1, -0.1, *[0.0] * 10]}).limits[0]


@pytest.mark.parametrize(
    ("changes", "there", "absent"),
    [
        ({"tokens": "invitation"}, "Your invitation counts once", "ticket"),
        ({"questions": [uniform(6, 3)]}, "Your device counts once", "combinations"),
        (
            {"questions": [uniform(6, 3, "a"), uniform(8, 2, "b")], "linked": False},
            "a report of its own",
            "combinations",
        ),
        ({"questions": [uniform(6, 3, "a"), uniform(8, 2, "b")]}, "6 combinations", "a report of its own"),
        (
            {"questions": [uniform(6, 3, "a"), uniform(8, 2, "b")], "linked": False},
            "one person, besides what you say about age and sex.",
            "invitation",
        ),
        (  # the code is the same in all reports
            {"questions": [uniform(6, 3, "a"), uniform(8, 2, "b")], "linked": False, "tokens": "invitation"},
            "your invitation is in all of them",
            "Nothing in the reports",
        ),
        (  # signing and sending are seen one after the other
            {"tokens": "blind", "blind_key": BlindPublicKey((1 << 2047) + 1).text},
            "A server that keeps addresses or times could put the two together",
            "keeps everything",
        ),
        ({"questions": [uniform(6, 3, "a"), uniform(8, 2, "b")]}, "much the same in a and b. If two", "ticket"),
        ({"questions": [uniform(6, 3, "a"), other_values(uniform(8, 2, "b"))]}, "6 combinations", "much the same"),
        ({"questions": [uniform(8, 3)]}, "in up to 50 % of cases", "shares no answer with it"),
        ({"quasi": []}, "Tor", "is not hidden"),
    ],
)
def test_words_follow_the_survey(changes: dict[str, Any], there: str, absent: str) -> None:
    words = honest_words(Survey.model_validate(plain(**changes)))
    said = " ".join([*words.holds, *words.limits])

    assert there in said
    assert absent not in said
    assert all(sentence.endswith(".") for sentence in (*words.holds, *words.limits, *words.sent.values()))


def test_questions_with_one_scale_share_their_sentences() -> None:
    questions = [*(uniform(5, 2, name) for name in ("work", "home", "travel")), uniform(6, 2, "other")]
    words = honest_words(Survey.model_validate(plain(questions=questions)))
    changes = [sentence for sentence in (*words.holds, *words.limits) if "changes one day" in sentence]
    assert [sentence.split(" changes")[0] for sentence in changes] == [
        "If your answer to other",
        "If your answer to work, home or travel",
    ]


@pytest.mark.parametrize(
    ("l", "said"),
    [
        (2, "1 other answer, which is not close to yours. Both"),
        (3, "2 other answers, none of them close to yours or to each other. Each of the 3"),
    ],
)
def test_what_is_added_to_an_answer_is_said_for_pairs_and_for_more(l: int, said: str) -> None:
    question = balanced([f"v{place}" for place in range(8)], {"kind": "ordered"}, l=l, d=2)
    assert said in honest_words(Survey.model_validate(plain(questions=[question]))).sent["question"]


@pytest.mark.parametrize(
    ("cuts", "said"), [([2, 3, 5], "3-4"), ([2], "2 or more"), ([30, 45], "30-44"), ([2, 3, 4, 5], "5 or more")]
)
def test_the_example_of_a_range_is_a_range(cuts: list[int], said: str) -> None:
    household = {"kind": "ranges", "name": "n", "ask": "How many?", "low": 1, "cuts": cuts, "high": None}
    words = honest_words(Survey.model_validate(plain(quasi=[household])))
    assert words.sent["n"] == f"Only the range is sent, such as {said}."
