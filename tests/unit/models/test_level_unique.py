"""Uniqueness over levels, on classes that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.models import LevelUnique, Population, model_from_dict, parse_model

DISEASES = ld.Domain(("flu", "cold", "cut", "burn", "sty"))
EVERYONE = Population(DISEASES, np.array([9, 9, 9, 9, 9]))
KINDS = LevelUnique(2, levels=(0, 0, 2, 2, 1))


@pytest.mark.parametrize(
    ("counts", "reached"),
    [
        ([1, 0, 1, 0, 0], 2),
        ([0, 1, 0, 1, 1], 3),
        ([1, 0, 0, 0, 0], 1),
        ([1, 1, 0, 0, 0], 0),
        ([2, 0, 1, 0, 1], 0),
        ([1, 0, 1, 1, 1], 0),
    ],
)
def test_reached_is_the_number_of_records_unless_a_level_repeats(counts: list[int], reached: int) -> None:
    assert KINDS.reached(np.array([counts]), EVERYONE).tolist() == [reached]


def test_a_class_of_alike_values_is_refused() -> None:
    counts = np.array([[1, 0, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 1]])

    assert KINDS.holds(counts, EVERYONE).tolist() == [True, False, False]


def test_levels_of_their_own_make_it_unique_diversity() -> None:
    counts = np.random.default_rng(1).integers(0, 3, (200, 5)) + np.eye(5, dtype=np.int64)[np.zeros(200, dtype=int)]
    own = LevelUnique(3, levels=(4, 3, 2, 1, 0))

    assert own.holds(counts, EVERYONE).tolist() == ld.models.UniqueDiversity(3).holds(counts, EVERYONE).tolist()


def test_one_value_has_at_most_one_of_l_records() -> None:
    assert LevelUnique(4, levels=(0, 0, 1, 2, 3)).posterior == 0.25


def test_the_model_survives_its_description() -> None:
    assert model_from_dict(KINDS.to_dict()) == KINDS


@pytest.mark.parametrize("levels", [[], ["a"], "abc", [0, 7], [0, -1], 3, None, [0.5]])
def test_a_damaged_description_is_refused(levels: object) -> None:
    with pytest.raises(ld.ReleaseFormatError, match="damaged"):
        model_from_dict({"name": "level-unique", "l": 2, "levels": levels})


@pytest.mark.parametrize("text", ["level-unique:3", "level-unique:3:3"])
def test_there_is_no_text_form(text: str) -> None:
    with pytest.raises(ld.ParameterError, match="levels must be the level of each value") as caught:
        parse_model(text)

    assert "no text form" in str(caught.value)


def test_it_is_not_listed_among_the_text_forms() -> None:
    with pytest.raises(ld.ParameterError, match="name must be one of") as caught:
        parse_model("nonsense:3")

    assert "level-unique" not in str(caught.value)


def test_levels_must_match_the_domain() -> None:
    with pytest.raises(ld.ParameterError, match="one level for each of the 2 values, got 5"):
        KINDS.holds(np.array([[1, 1]]), EVERYONE)


def test_the_statement_names_the_attribute() -> None:
    assert KINDS.statement("disease") == (
        "Every class has at least 2 records, all with values of 'disease' of different levels."
    )
