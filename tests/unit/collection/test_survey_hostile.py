"""Surveys of a stranger are accepted or refused with one sentence; nothing hangs, and nothing else is raised."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.collection.survey import SignedSurvey, Survey
from tests.unit.collection.surveys import balanced, plain, ring, signed_bytes, write

Change = Callable[[dict[str, Any]], object]


def read(said: Any) -> Survey:
    """What a device reads of a survey that a hostile collector signed."""
    return signed_bytes(said if isinstance(said, bytes) else write(said)).survey


def refused(said: Any) -> str:
    """The sentence with which a survey is refused."""
    with pytest.raises(ld.ParameterError) as caught:
        read(said)
    told = str(caught.value.message)
    assert told.startswith("survey: ")
    assert told.endswith(".")
    assert "\n" not in told
    assert caught.value.hint
    return told


def put(path: str, value: Any) -> Change:
    """Put a value at a place such as ``questions.0.mechanism.l``."""

    def change(said: dict[str, Any]) -> None:
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        for step in steps:
            said = said[step]  # type: ignore[index]
        said[last] = value  # type: ignore[index]

    return change


ORDERED = balanced([f"value {place}" for place in range(7)], {"kind": "ordered"}, l=3, d=2)
TREE = [[f"value {place}", f"group {place // 2}", "*"] for place in range(8)]
GROUPED = balanced([row[0] for row in TREE], {"kind": "tree", "rows": TREE}, l=3, d=2)
LISTED = balanced([f"value {place}" for place in range(7)], ring(7), l=2, d=2)


@pytest.mark.parametrize("question", [ORDERED, GROUPED, LISTED], ids=["ordered", "grouped", "listed"])
def test_a_survey_that_is_what_it_claims_is_read(question: dict[str, Any]) -> None:
    assert read(plain(questions=[question])).questions[0].l == question["mechanism"]["l"]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("title", "", "title must not be blank"),
        ("title", "x" * 301, "title must have at most 300 characters"),
        ("title", "two\nlines", "title must be one line"),
        ("title", "<b>Health</b>", "title must not have markup"),
        ("title", "A &amp; B", "title must not have markup"),
        ("title", "Health\u202egnitaehc", "title must not have invisible, control or turning characters"),
        ("title", "He\u200balth", "title must not have invisible"),
        ("title", "Health\x07", "title must not have invisible"),
        ("title", "A\u3164B", "title must not have invisible"),
        ("title", "A\ufe0fB", "title must not have invisible"),
        ("title", "He\u0301alth", "title must be in Unicode's composed form"),
        ("title", "A" + "\u0315" * 9, "title must have at most 4 marks"),
        ("title", 7, "title must be a text"),
        ("title", None, "title must be a text"),
        ("purpose", "x" * 6001, "purpose must have at most 6000 characters"),
        ("format", "another", "format must be 'ldiversity-survey'"),
        ("version", 2, "version must be 1"),
        ("language", "English, please", "language must be a language such as en"),
        ("closes", "2030-02-30", "closes must be a day"),
        ("closes", "tomorrow", "closes must be a day"),
        ("linked", 1, "linked must be true or false"),
        ("tokens", "none", "tokens must be 'device', 'invitation' or 'blind'"),
        ("tokens", "blind", "blind_key must be given if tokens are blind"),
        ("blind_key", "A" * 342, "blind_key must be given if tokens are blind, and only then"),
        ("results", {}, "results.public must be given"),
        ("results.minimum", 1, "results.minimum must be at least 10"),
        ("results.goal", 0, "results.goal must be above 0"),
        ("results.goal", True, "results.goal must be a number"),
        ("extra", 1, "extra is not known"),
        ("results.extra", 1, "results.extra is not known"),
        ("x\x1b[2J", 1, "an unknown field is not known"),
        ("quasi", {}, "quasi must be a list"),
        ("quasi.0", 3, "quasi[0] must be an object"),
        ("quasi.0.kind", "free", "quasi[0] must be of the kind 'ranges', 'choice'"),
        ("quasi.0.cuts", [45, 30], "quasi[0].cuts must ascend"),
        ("quasi.0.cuts", [], "quasi[0].cuts must have at least 1 parts"),
        ("quasi.0.cuts", [30.5], "quasi[0].cuts[0] must be a whole number"),
        ("quasi.0.low", 10**12, "quasi[0].low must be at most 1e+09"),
        ("quasi.0.name", "a b", "quasi[0].name must begin with a letter"),
        ("quasi.1.values", ["a", "A"], "quasi[1].values must be distinct"),
        ("quasi.1.name", "AGE", "the names of quasi and questions must be distinct"),
        ("questions", [], "questions must have at least 1 parts"),
        ("questions.0.values", ["a", "b"], "questions[0].values must have at least 3 parts"),
        ("questions.0.values", [f"v{i}" for i in range(2049)], "questions[0].values must have at most 2048 parts"),
        ("questions.0.values", ["flu", "FLU", "c", "d", "e", "f"], "questions[0].values must be distinct"),
        ("questions.0.values", ["a b", "a  b", "c", "d", "e", "f"], "questions[0].values must be distinct"),
        ("questions.0.values", ["a", "b", "c"], "questions[0].mechanism must be for 3 values"),
        ("questions.0.positions", [1, 2], "questions[0].positions must be 6 numbers"),
        ("questions.0.mechanism", {}, "questions[0].mechanism must say its kind"),
        ("questions.0.mechanism.kind", "ring", "questions[0].mechanism must be of the kind 'uniform', 'balanced'"),
        ("questions.0.mechanism.l", 6, "questions[0].mechanism.l must be below the number of values, 6"),
        ("questions.0.mechanism.l", 1, "questions[0].mechanism.l must be at least 2"),
        ("questions.0.mechanism.l", 65, "questions[0].mechanism.l must be at most 64"),
        ("questions.0.mechanism.l", 2.5, "questions[0].mechanism.l must be a whole number"),
        ("questions.0.mechanism.version", 9, "questions[0].mechanism.version must be at most 2"),
        ("questions.0.mechanism.prior", [1], "questions[0].mechanism.prior is not known"),
    ],
)
def test_a_field_that_breaks_its_rule_is_named(path: str, value: Any, told: str) -> None:
    said = plain()
    put(path, value)(said)

    assert told in refused(said)


@pytest.mark.parametrize(
    ("question", "path", "value", "told"),
    [
        (ORDERED, "fitted.0", 0, "fitted[0] must be above 0"),
        (ORDERED, "fitted.0", -1, "fitted[0] must be above 0"),
        (ORDERED, "fitted.0", "0.5", "fitted[0] must be a number"),
        (ORDERED, "fitted.0", True, "fitted[0] must be a number"),
        (ORDERED, "fitted.0", 0.3, "fitted must be weights that make all members of a set equally likely"),
        (ORDERED, "fitted.0", 5e-324, "fitted must be weights of which none is more than 2^64 times another"),
        (ORDERED, "fitted.0", 1e308, "fitted must be weights of which none is more than 2^64 times another"),
        (ORDERED, "fitted", [5e-324] * 7, "fitted must be weights that make"),
        (ORDERED, "fitted", [1e308] * 7, "fitted must be weights that make"),
        (ORDERED, "fitted", [2 * w for w in ORDERED["mechanism"]["fitted"]], "with the sum one for each value"),
        (ORDERED, "fitted", [0.5] * 6, "must be for 7 values"),
        (ORDERED, "d", -1, "d must be at least 0"),
        (ORDERED, "d", 1, "fitted must be weights that make"),
        (ORDERED, "d", 3, "fitted must be weights that make"),
        (ORDERED, "d", 99, "must have sets of 3 values that are 99 apart"),
        (ORDERED, "l", 2, "fitted must be weights that make"),
        (ORDERED, "distance", {"kind": "ordered", "x": 1}, "distance.x is not known"),
        (ORDERED, "distance", {"kind": "numeric", "unit": 1}, "distance must be a distance between the values"),
        (ORDERED, "distance", {"kind": "numeric", "unit": 0}, "distance.unit must be above 0"),
        (ORDERED, "distance", {"kind": "tree", "rows": TREE}, "distance must be a distance between the values"),
        (ORDERED, "distance", {"kind": "tree", "rows": []}, "distance must be a distance between the values"),
        (ORDERED, "distance", {"kind": "tree", "rows": [["a"] * 99]}, "rows[0] must have at most 16 parts"),
        (ORDERED, "distance", {"kind": "matrix", "below": [[], [1]]}, "distance must be a distance between the"),
        (ORDERED, "distance", {"kind": "matrix", "below": [[-1]]}, "distance.below[0][0] must be at least 0"),
        (GROUPED, "fitted.0", 0.3, "fitted must be weights that make"),
        (GROUPED, "distance.rows.0.1", "group 1", "fitted must be weights that make"),
        (GROUPED, "distance.rows.1.0", "value 0", "distance must be a distance between the values"),
        (GROUPED, "distance.rows.0.2", "+", "distance must be a distance between the values"),
        (GROUPED, "distance.rows.0", ["value 0", "*"], "distance must be a distance between the values"),
        (LISTED, "fitted.0", 0.3, "fitted must be weights that make"),
    ],
)
def test_a_mechanism_that_is_not_what_it_claims_is_refused(
    question: dict[str, Any], path: str, value: Any, told: str
) -> None:
    said = plain(questions=[json.loads(json.dumps(question))])
    put(f"questions.0.mechanism.{path}", value)(said)

    sentence = refused(said)

    assert told in sentence
    assert "questions[0].mechanism" in sentence


@pytest.mark.parametrize("number", ["A" * 342, "A" * 341 + "=", "_" * 340, "_" * 800])
def test_a_number_that_cannot_sign_blindly_is_refused(number: str) -> None:
    assert "blind_key must be" in refused(plain(tokens="blind", blind_key=number))


def even_ring(n_values: int) -> dict[str, Any]:
    """Neighbors on a ring may share a set, and nobody else: of two colors, every set has one of each."""
    below = [[float(i - j in {1, n_values - 1}) for j in range(i)] for i in range(n_values)]
    return balanced([f"v{i}" for i in range(n_values)], {"kind": "matrix", "below": below}, l=2, d=1, weight=0.5**0.5)


@pytest.mark.parametrize(
    "question",
    [
        balanced([f"v{i}" for i in range(6)], {"kind": "ordered"}, l=3, d=2, weight=1.0),
        balanced([r[0] for r in TREE], {"kind": "tree", "rows": TREE}, l=4, d=2, weight=2**-0.75),
        even_ring(6),
    ],
    ids=["ordered", "grouped", "listed"],
)
def test_sets_from_which_shares_do_not_follow_are_refused(question: dict[str, Any]) -> None:
    assert "fitted must be" in (told := refused(plain(questions=[question]))) or "must let shares be estimated" in told


# --- bytes that are no survey ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "must be JSON in UTF-8"),
        (b"\xff", "must be JSON in UTF-8"),
        (b"{" * 200_000, "must be nested at most 10 levels deep"),
        (b"[" * 12 + b"]" * 12, "must be nested at most 10 levels deep"),
        (b"x" * 256_001, "must be at most 256 kB long"),
        (b'"' + b'\\"' * 127_000, "must be JSON in UTF-8"),  # each quote could begin a text that never ends
        (b'"' + b'\\"' * 127_000 + b"\\", "must be JSON in UTF-8"),
        (b"NaN", "must be JSON in UTF-8"),
        (b"-Infinity", "must be JSON in UTF-8"),
        (b"1e999", "must be JSON in UTF-8"),
        (b"9" * 5000, "must be JSON in UTF-8"),
        (b"9007199254740993", "must be JSON in UTF-8"),
        (b'"\\ud800"', "must be JSON in UTF-8"),
        (b"[]", "must be an object"),
        (b"3", "must be an object"),
        (b'{"a":1,"a":1}', "must be canonical JSON"),
        (b'{"a": 1}', "must be canonical JSON"),
        (b'{"b":1,"a":1}', "must be canonical JSON"),
        (b'{"a":1.0}', "must be canonical JSON"),
        (b'{"a":-0}', "must be canonical JSON"),
        (b'{"a":1E2}', "must be canonical JSON"),
        (b'{"a":"\\u0041"}', "must be canonical JSON"),
        (b"\xef\xbb\xbf{}", "must be JSON in UTF-8"),
    ],
)
def test_bytes_that_are_no_canonical_json_are_refused_soon(raw: bytes, told: str) -> None:
    start = time.process_time()
    assert told in refused(raw)
    assert time.process_time() - start < 2


# --- work ------------------------------------------------------------------------------------------------


def many(
    n_values: int, l: int, copies: int, distance: dict[str, Any], *, d: float = 2, weight: float = 0.1
) -> dict[str, Any]:
    """A survey of several questions, each of which is a lot of work."""
    values = [f"v{i}" for i in range(n_values)]
    one = balanced(values, distance, l=l, d=d, weight=weight)
    return plain(questions=[{**one, "name": f"q{at}"} for at in range(copies)])


RINGS = many(50, 3, 7, ring(50), weight=1035 ** (-1 / 3))
"""Seven questions of which each value is in 1,035 sets."""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (many(512, 16, 1, {"kind": "ordered"}), "questions must have a sum of (l + levels) F^2 of at most 4,000,000"),
        (many(200, 64, 24, {"kind": "ordered"}), "questions must have a sum of (l + levels) F^2 of at most 4,000,000"),
        (many(100, 5, 24, {"kind": "ordered"}), "questions[0].mechanism.fitted must be weights"),
        (many(300, 4, 1, ring(300)), "at most 20,000 if they must be listed"),
        (many(60, 3, 24, ring(60)), "at most 20,000 if they must be listed"),
        (many(30, 12, 24, ring(30), d=2), "at most 20,000 if they must be listed"),
        (many(140, 2, 6, ring(140)), "questions[0].mechanism.fitted must be weights"),
        (RINGS, "questions[6].mechanism must leave the sum of l^2 over all listed sets at 1,000,000"),
        (many(100, 60, 1, {"kind": "matrix", "below": [[9.0] * i for i in range(100)]}), "mechanism.fitted must be"),
        (many(512, 7, 1, {"kind": "ordered"}, d=1e300), "must have sets of 7 values"),
    ],
)
def test_work_that_no_phone_can_do_is_refused_soon(said: dict[str, Any], told: str) -> None:
    raw = write(said)
    began = time.process_time()

    assert told in refused(raw)

    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "say",
    [
        lambda: {**RINGS, "questions": RINGS["questions"][:6]},
        lambda: plain(questions=[balanced([f"v{i}" for i in range(512)], {"kind": "ordered"}, l=15, d=2)]),
    ],
    ids=["listed", "ordered"],
)
def test_the_most_work_that_is_accepted_takes_less_than_two_seconds(say: Callable[[], dict[str, Any]]) -> None:
    raw = write(say())
    began = time.process_time()

    assert read(raw).questions

    assert time.process_time() - began < 2


# --- anything --------------------------------------------------------------------------------------------

ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from([[], {}, [[]], [{}], {"kind": "tree"}, 0, -1, 2**53, 5e-324, 1e308, "", "\u202e", "<b>"]),
)


def places(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places of a document."""
    inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    return [path, *(place for step, below in inside for place in places(below, (*path, step)))]


@given(st.sampled_from([ORDERED, GROUPED, LISTED, plain()["questions"][0]]), st.data())
@settings(max_examples=100)
def test_a_changed_survey_is_accepted_or_refused_with_a_sentence(question: dict[str, Any], data: st.DataObject) -> None:
    said = plain(questions=[json.loads(json.dumps(question))])
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from(places(said)[1:]))
        holder: Any = said
        for step in place[:-1]:
            holder = holder[step]
        if data.draw(st.booleans()):
            holder[place[-1]] = data.draw(ODD)
        else:
            del holder[place[-1]]
    try:
        raw = write(said)
    except ValueError:
        return  # a number that no survey can have
    try:
        read(raw)
    except ld.ParameterError:
        refused(raw)


@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_refused_with_a_sentence(raw: bytes) -> None:
    refused(raw)
    with pytest.raises(ld.ParameterError):
        SignedSurvey.from_json(raw)
