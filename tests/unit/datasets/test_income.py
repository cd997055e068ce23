from __future__ import annotations

import numpy as np
import pytest

from ldiversity.datasets import income, income_domain, income_truth
from ldiversity.errors import ParameterError


def test_same_seed_gives_the_same_table() -> None:
    assert income(500, seed=3).equals(income(500, seed=3))


def test_default_table_has_a_hundred_thousand_people() -> None:
    assert income().num_rows == 100_000


def test_there_are_fourteen_ordered_bands() -> None:
    domain = income_domain()

    assert len(domain) == 14
    assert domain.ordered


def test_bands_sorted_as_texts_are_sorted_by_amount() -> None:
    assert sorted(income_domain().labels) == list(income_domain().labels)


def test_every_band_occurs_in_the_default_table() -> None:
    assert set(income()["income"].to_pylist()) == set(income_domain().values)


def test_probabilities_of_the_bands_sum_to_one() -> None:
    assert income_truth(33, "female").sum() == pytest.approx(1.0)


def test_drawn_bands_follow_the_stated_probabilities() -> None:
    table = income(400_000, seed=5)
    chosen = (np.array(table["age"]) == 40) & (np.array(table["sex"].to_pylist()) == "male")
    drawn = np.array(table["income"].to_pylist())[chosen]

    counts = np.array([(drawn == band).sum() for band in income_domain().values])
    expected = len(drawn) * income_truth(40, "male")

    # Binomial counts; 14 two-sided z-scores beyond 5 (with half a count of continuity): below 2e-5 in all.
    assert np.all(np.abs(counts - expected) < 5 * np.sqrt(expected) + 1)


def test_men_of_fifty_earn_more_than_men_of_twenty() -> None:
    bands = np.arange(14)

    assert income_truth(50, "male") @ bands > income_truth(20, "male") @ bands + 2


def test_truth_of_an_unknown_sex_is_refused() -> None:
    with pytest.raises(ParameterError, match="sex must be one of 'female', 'male', got 'x'"):
        income_truth(30, "x")


def test_truth_of_an_age_outside_the_survey_is_refused() -> None:
    with pytest.raises(ParameterError, match="age must be an integer from 20 to 69, got 70"):
        income_truth(70, "male")
