"""Surveys as collectors write them: fitted as the mechanisms fit, and refused by the key that is wrong."""

from __future__ import annotations

import tomllib
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.collection.survey import (
    EXAMPLE,
    DraftForm,
    Question,
    Survey,
    SurveyKey,
    draft_survey,
    question_mechanism,
)

HEAD = """
title = "Title"
collector = "Collector"
contact = "contact@example.org"
purpose = "Purpose."
consent = "Yes."
"""
LETTERS = ", ".join(f'"{letter}"' for letter in "abcdefgh")


def drafted(tmp_path: Path, question: str, head: str = HEAD) -> Survey:
    """A survey with one question."""
    file = tmp_path / "survey.toml"
    file.write_text(f'{head}\n[[questions]]\nname = "q"\nask = "What?"\n{question}\n', encoding="utf-8")
    return draft_survey(file)


def asked(tmp_path: Path, question: str) -> Question:
    return drafted(tmp_path, question).questions[0]


def refused(tmp_path: Path, question: str, head: str = HEAD) -> str:
    with pytest.raises(ld.LDiversityError) as caught:
        drafted(tmp_path, question, head)
    assert "\n" not in str(caught.value.message)
    return str(caught.value)


@pytest.fixture
def example(tmp_path: Path) -> Survey:
    (tmp_path / "survey.toml").write_text(EXAMPLE, encoding="utf-8")
    return draft_survey(tmp_path / "survey.toml")


def test_the_example_is_valid_as_it_is(example: Survey) -> None:
    illness, income = example.questions

    assert (illness.l, len(illness.values) % illness.l, illness.draw.kind) == (3, 0, "partition")
    assert (income.l, income.mechanism.model_dump()["d"], income.draw.kind) == (3, 2, "chain")
    assert example.quasi[0].labels[:2] == ("18-29", "30-44")
    assert SurveyKey.new().sign(example).survey == example


def test_the_example_shows_every_key_that_people_write() -> None:
    said = tomllib.loads(EXAMPLE)

    assert set(DraftForm.model_fields) == set(said)
    assert EXAMPLE.count("#") > 15


def test_the_mechanism_of_a_question_is_the_one_that_was_fitted(example: Survey) -> None:
    income = example.questions[1]
    domain = ld.Domain(tuple(income.values), ordered=True)

    fitted = ld.mechanisms.BalancedSelection.fit(domain, ld.distances.OrderedDistance(), 3, 2)

    assert np.array_equal(question_mechanism(income).inclusion, fitted.inclusion)


@pytest.mark.parametrize("said", ["l = 3", "l = 3\nd = 1", 'l = 3\nd = 1\ndistance = "discrete"', "l = 3\nd = 0"])
def test_without_a_distance_any_values_share_a_set(tmp_path: Path, said: str) -> None:
    assert asked(tmp_path, f"values = [{LETTERS}]\n{said}").mechanism.kind == "uniform"


def test_groups_make_a_tree(tmp_path: Path) -> None:
    question = asked(tmp_path, 'groups = {x = ["a", "b"], y = ["c", "d"], z = ["e", "f"]}\nl = 2')

    assert question.values == list("abcdef")
    assert (question.mechanism.model_dump()["d"], question.draw.kind) == (2, "partition")
    assert not question.draw.admits((0, 1))
    assert question.draw.admits((0, 2))


def test_numbers_have_positions(tmp_path: Path) -> None:
    question = asked(
        tmp_path, 'values = [0, 10, 20, 30, 45, 60]\nordered = true\ndistance = "numeric:10"\nl = 2\nd = 2'
    )

    assert (question.values[4], question.positions) == ("45", [0, 10, 20, 30, 45, 60])
    assert not question.draw.admits((3, 4))
    assert question.draw.admits((3, 5))


def test_weekdays_are_on_a_circle_and_their_order_is_that_of_the_file(tmp_path: Path) -> None:
    days = '"Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"'

    question = asked(tmp_path, f'values = [{days}]\ndistance = "cyclic"\nl = 3\nd = 2')

    assert question.mechanism.model_dump()["distance"] == {"kind": "cyclic"}
    assert (question.ordered, question.draw.kind) == (True, "listed")
    assert question.draw.admits((0, 2, 4))
    assert not question.draw.admits((0, 2, 6))  # Sunday and Monday


def test_a_distance_that_devices_do_not_know_becomes_a_matrix(tmp_path: Path) -> None:
    edges = [(str(i), f"{i}-{j}") for i in range(1, 8) for j in (i, i % 7 + 1)] + [
        (str(i % 7 + 1), f"{i}-{i % 7 + 1}") for i in range(1, 8)
    ]
    lines = sorted({f"{child};{parent}" for child, parent in edges if parent.split("-")[0] != parent.split("-")[1]})
    (tmp_path / "ring.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    values = ", ".join(f'"{i}"' for i in range(1, 8))

    question = asked(tmp_path, f'values = [{values}]\ndistance = "semilattice:ring.csv"\nl = 2\nd = 2')

    assert question.mechanism.model_dump()["distance"]["kind"] == "matrix"
    assert question.draw.kind == "listed"
    assert not question.draw.admits((0, 6))


def test_a_tree_in_a_file_beside_the_survey_is_read(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("a;x;*\nb;x;*\nc;y;*\nd;y;*\ne;z;*\nf;z;*\n", encoding="utf-8")

    question = asked(tmp_path, 'values = ["a", "b", "c", "d", "e", "f"]\ndistance = "tree:tree.csv"\nl = 2\nd = 2')

    assert question.mechanism.model_dump()["distance"]["kind"] == "tree"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("l = 3", "questions[0].values must be given"),
        (f"values = [{LETTERS}]", "questions[0].l must be given"),
        (f"values = [{LETTERS}]\nl = '3'", "questions[0].l must be a whole number"),
        (f"values = [{LETTERS}]\nl = 8", "questions[0].l must be below the number of values, which is 8"),
        ("values = ['yes', 'no']\nl = 2", "questions[0].values must be at least 3: with two, such as yes and no, "),
        (
            "groups = {lung = ['a', 'b', 'c'], other = ['d'], none = ['e', 'f', 'g']}\nl = 3",
            "at most 2 of the 7 values, one in l = 3; the largest, lung, has 3.\nHint: Use l = 2, split that group",
        ),
        (f"values = [{LETTERS}]\nl = 3\nd = 2", "questions[0].distance must be given with a d above 1"),
        (f"values = [{LETTERS}]\nl = 3\ndistance = 'ordered'", "questions[0].d must be given with a distance"),
        (f"values = [{LETTERS}]\nl = 3\nd = 2\ndistance = 'far'", "it must start with a known kind"),
        (f"values = [{LETTERS}]\nl = 3\nd = 2\ndistance = 'tree:no.csv'", "no.csv"),
        (f"values = [{LETTERS}]\nl = 4\nd = 2\ndistance = 'ordered'", "questions[0] (q): BalancedSelection: "),
        (f"values = [{LETTERS}]\nl = 4\nd = 3\ndistance = 'ordered'", "questions[0] (q): BalancedSelection: "),
        (f"value = [{LETTERS}]\nl = 3", "questions[0].value is not known.\nHint: Do you mean values?"),
        (f"values = [{LETTERS}]\nl = 3\nepsilon = 2", "questions[0].epsilon is not known"),
        (f"values = [{LETTERS}]\nl = 3\ngroups = {{x = ['a']}}", "questions[0].groups must have every value once"),
        ("values = ['a', 'b', '<i>']\nl = 2", "questions[0].values[2] must not have markup"),
        ("values = ['a', 'b', 'B']\nl = 2", "questions[0].values must be distinct"),
        ("values = ['a', 'b', 'b']\nl = 2", "questions[0] (q): Domain: values must be distinct"),
        ("values = ['a', 'b', true]\nl = 2", "questions[0].values[2] must be a text"),
        ("values = [1, 2, nan]\nl = 2", "questions[0]"),
        (f"values = [{LETTERS}]\nl = 2\nd = 4\ndistance = 'cyclic'", "must distinguish all values"),  # four pairs
        (f"values = [{LETTERS}]\nl = 2\nd = 5\ndistance = 'cyclic'", "no mechanism at all can hide"),
        ("values = ['a', 'b', 'c']\nl = 2\nd = nan\ndistance = 'ordered'", "d must be"),
        ("values = ['a', 'b', 'c']\nl = -2", "l must be"),
        ("values = []\nl = 2", "questions[0]"),
        ("groups = {}\nl = 2", "questions[0]"),
    ],
)
def test_a_question_that_cannot_be_asked_is_named(tmp_path: Path, said: str, told: str) -> None:
    assert told in refused(tmp_path, said)


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("title = 'x'", "collector must be given"),
        (HEAD + "titel = 'x'", "titel is not known.\nHint: Do you mean title?"),
        (HEAD + "closes = 2030-13-01", "must be TOML"),
        (HEAD + "closes = 'soon'", "closes must be a day"),
        (HEAD + "closes = 5", "closes must be a day"),
        (HEAD + "closes = 2030-12-31T10:00:00", "closes must be a day"),
        (HEAD + "questions = 3", "must be TOML"),
        (HEAD + "tokens = 'none'", "tokens must be 'device', 'invitation' or 'blind'"),
        (HEAD + "tokens = 'blind'", "survey.blind.key' cannot be read"),
        (HEAD + "[results]\nmin = 3", "results.min is not known.\nHint: Do you mean minimum?"),
        (HEAD + "[results]\nminimum = 3", "results.minimum must be at least 10"),
        (HEAD + "[[quasi]]\nname = 'age'\nask = 'Age?'", "quasi[0] must have either cuts"),
        (HEAD + "[[quasi]]\nname = 'age'\nask = 'Age?'\nvalues = ['a', 'b']\nlow = 3", "low and high only with cuts"),
        (HEAD + "[[quasi]]\nname = 'age'\nask = 'Age?'\ncuts = [3, 2]", "quasi[0].cuts must ascend"),
        (HEAD + "[[quasi]]\nname = 'q'\nask = 'Age?'\ncuts = [3, 5]", "names of quasi and questions must be distinct"),
    ],
)
def test_a_key_that_breaks_its_rule_is_named(tmp_path: Path, head: str, told: str) -> None:
    assert told in refused(tmp_path, f"values = [{LETTERS}]\nl = 3", head)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ld.StorageError, match=r"nowhere\.toml"):
        draft_survey(tmp_path / "nowhere.toml")
    (tmp_path / "latin.toml").write_bytes(b'title = "\xe9"')
    with pytest.raises(ld.ParameterError, match="must be TOML in UTF-8"):
        draft_survey(tmp_path / "latin.toml")


# --- anything --------------------------------------------------------------------------------------------

ODD: st.SearchStrategy[Any] = st.one_of(
    st.booleans(),
    st.integers(-5, 3000),
    st.floats(),
    st.text(max_size=8),
    st.dates(),
    st.datetimes(),
    st.sampled_from(
        [[], {}, [[]], [{}], "ordered", "numeric:0", "tree:no.csv", "matrix:", "discrete", ["a", "b", "c"]]
    ),
)


def places(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    return [path, *(place for step, below in inside for place in places(below, (*path, step)))]


@given(st.data())
@settings(max_examples=80)
def test_a_changed_draft_is_accepted_or_refused_with_a_sentence(data: st.DataObject) -> None:
    said = tomllib.loads(EXAMPLE)
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from(places(said)[1:]))
        holder: Any = said
        for step in place[:-1]:
            holder = holder[step]
        change = data.draw(st.sampled_from(["put", "delete", "add"]))
        if change == "delete":
            del holder[place[-1]]
        elif change == "add" and isinstance(holder, dict):
            holder[data.draw(st.sampled_from(["d", "distance", "groups", "positions", "low", "x"]))] = data.draw(ODD)
        else:
            holder[place[-1]] = data.draw(ODD)

    with patch("ldiversity.collection.survey._draft._content", return_value=said), warnings.catch_warnings():
        warnings.simplefilter("ignore", ld.LDiversityWarning)
        try:
            draft_survey("survey.toml")
        except (ld.ParameterError, ld.SchemaError, ld.InfeasibleError, ld.StorageError, ld.UnsupportedError) as error:
            said_once = str(error.message).count("\n") == 0
        else:
            said_once = True

    assert said_once
