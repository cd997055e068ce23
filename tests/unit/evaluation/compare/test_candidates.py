"""What is run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.catalog import LISTED
from ldiversity.errors import ParameterError
from ldiversity.evaluation.compare._candidates import Candidate, candidates, left_out


def test_all_methods_that_need_nothing_more_are_run_with_every_l() -> None:
    names = {run.name for run in candidates(None, [2, 3], {})}

    assert names & set(LISTED) == set(LISTED) - {"semantic", "le-anatomy"}


def test_semantic_is_run_when_distance_and_d_are_given() -> None:
    runs = candidates(None, [2], {"d": 2, "distance": "ordered"})

    assert "semantic l=2 d=2" in [run.label for run in runs]


def test_le_anatomy_is_run_when_a_tree_is_given(tmp_path: Path) -> None:
    tree = tmp_path / "tree.csv"
    tree.write_text("flu;lung\ncut;skin\n", encoding="utf-8")

    assert "le-anatomy l=2 e=1" in [run.label for run in candidates(None, [2], {"e": 1, "tree": tree})]


def test_methods_that_are_not_run_are_said_with_what_they_need() -> None:
    assert left_out({}) == [
        "'semantic' was not run: it needs 'd', 'distance'.",
        "'le-anatomy' was not run: it needs 'e', 'tree'.",
    ]


def test_options_go_to_the_methods_that_have_them_alone() -> None:
    runs = candidates(["anatomy", "tp"], [2], {"overflow": "suppress"})

    assert [dict(run.options) for run in runs] == [{"l": 2, "overflow": "suppress"}, {"l": 2}]


def test_a_method_that_is_named_without_what_it_needs_is_a_row_that_says_so() -> None:
    (run,) = candidates(["semantic"], [2], {})

    assert run.method is None
    assert run.reason == "semantic: d must be given."


def test_a_method_is_run_as_it_is_given() -> None:
    (run,) = candidates([ld.Mondrian(model="k-anonymity:5")], [2, 3], {})

    assert run.label == "mondrian model=k-anonymity:5"


def test_runs_that_differ_by_distance_alone_have_different_labels() -> None:
    runs = [ld.SemanticDiversity(l=2, d=1, distance=kind()) for kind in (ld.OrderedDistance, ld.DiscreteDistance)]

    assert [run.label for run in candidates(runs, [2], {})] == [
        "semantic l=2 d=1 distance=OrderedDistance",
        "semantic l=2 d=1 distance=DiscreteDistance",
    ]


def test_runs_that_differ_by_an_object_alone_are_numbered() -> None:
    trees = [ld.Hierarchy.from_rows(rows) for rows in ([("a", "x"), ("b", "y")], [("a", "x"), ("b", "x")])]
    runs = candidates([ld.SemanticAnatomy(l=2, e=1, tree=tree) for tree in trees], [2], {})

    assert [run.label for run in runs] == [
        "le-anatomy l=2 e=1 tree=Hierarchy (1)",
        "le-anatomy l=2 e=1 tree=Hierarchy (2)",
    ]


def test_methods_that_take_a_model_are_also_run_with_each() -> None:
    runs = candidates(["mondrian", "tp"], [2], {}, ["entropy:3"])

    assert [run.label for run in runs] == ["mondrian l=2", "mondrian model=entropy:3", "tp l=2"]


def test_an_integer_of_numpy_is_an_l() -> None:
    assert [run.label for run in candidates(["anatomy"], [np.int64(3)], {})] == ["anatomy l=3"]  # type: ignore[list-item]


def test_the_same_run_twice_is_one_run() -> None:
    assert len(candidates(["anatomy", "anatomy"], [2, 2], {})) == 1


def test_words_ask_for_the_same_on_the_command_line() -> None:
    run = Candidate("mondrian", {"l": 3, "strict": False, "weights": {"age": 0.5}})

    assert run.words == ["--method", "mondrian", "-l", "3", "--relaxed", "--weight", "age=0.5"]


def test_words_hold_all_digits_of_a_number() -> None:
    run = Candidate("semantic", {"l": 3, "d": 2.1234567, "distance": "ordered"})

    assert run.words == ["--method", "semantic", "-l", "3", "-d", "2.1234567", "--distance", "ordered"]


def test_a_name_with_an_equals_sign_is_quoted_in_a_weight() -> None:
    assert (Candidate("bsgi", {"weights": {"a=b": 1.5}}).words or [])[-1] == '"a=b"=1.5'


def test_a_distance_that_is_in_no_file_cannot_be_written() -> None:
    assert Candidate("semantic", {"l": 2, "distance": ld.MatrixDistance(["a", "b"], [[0, 1], [1, 0]])}).words is None
    assert "ordered" in (Candidate("semantic", {"l": 2, "distance": ld.OrderedDistance()}).words or ())


@pytest.mark.parametrize(
    ("methods", "levels", "options", "words"),
    [
        (["magic"], [2], {}, "methods must name known methods, got 'magic'"),
        ([], [2], {}, "methods must name at least one method"),
        (None, [], {}, "l must hold at least one number"),
        (None, [1], {}, "l must be an integer of at least 2"),
        (None, range(2, 2_000_000_000), {}, "l must hold at most 200 numbers"),
        (None, [2.0], {}, "l must be an integer of at least 2, got 2.0"),
        (None, [2], {"model": "k-anonymity:3"}, "options must be among"),
        (["anatomy"], [2], {"e": 1}, "options must belong to methods that are run by name, got 'e'"),
        (None, [2], {"e": 1}, "options must belong to methods that are run by name, got 'e'"),
    ],
)
def test_wrong_requests_are_refused(methods: list[str] | None, levels: list[int], options: dict, words: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(ParameterError, match=words):
        candidates(methods, levels, options)


def test_a_text_that_is_no_model_is_refused_before_anything_runs() -> None:
    with pytest.raises(ParameterError, match=r"model: name must be one of .* got 'nope'"):
        candidates(["mondrian"], [2], {}, ["entropy:3", "nope:3"])
