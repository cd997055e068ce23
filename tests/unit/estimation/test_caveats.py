"""What an estimate says about itself, and the last refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation import _likelihood as likelihood
from ldiversity.estimation import association, estimate
from ldiversity.mechanisms import SetMechanism, UniformSelection


def test_paper_on_exploded_rows_has_no_standard_errors(publish: Any, simple: SetMechanism) -> None:
    release = publish({"g": ["a"] * 900}, {"s": np.arange(900) % 9}, {"s": simple}, exploded=True)

    result = estimate(release, estimator="paper")

    assert "Standard errors of paper are empty, because single members do not give them." in result.caveats
    assert np.isnan(result.std_error).all()
    assert np.isfinite(result.high - result.low).all()


@pytest.mark.parametrize("person", [True, False])
def test_errors_of_records_that_were_drawn_together_are_not_passed_off_as_honest(
    publish: Any,
    uniform: SetMechanism,
    person: bool,  # noqa: FBT001 - a case
) -> None:
    release = replace(publish({}, {"s": np.arange(600) % 6}, {"s": uniform}), person=person)

    assert any("the true errors may be greater" in one for one in estimate(release).caveats) == person


def test_joint_distributions_need_sets(publish: Any, uniform: SetMechanism) -> None:
    release = publish({}, {"s": np.arange(60) % 6, "t": np.arange(60) % 6}, {"s": uniform, "t": uniform})
    object.__setattr__(release, "layout", "exploded")

    with pytest.raises(UnsupportedError, match="a joint distribution needs published sets"):
        estimate(release, sensitive=["s", "t"])


def test_a_release_without_records_is_refused(publish: Any, uniform: SetMechanism) -> None:
    release = publish({}, {"s": np.empty(0, dtype=np.int32)}, {"s": uniform})

    with pytest.raises(ParameterError, match="the release must have at least one record, got none"):
        estimate(release)


def test_the_filter_that_matches_nothing_is_named(publish: Any, uniform: SetMechanism) -> None:
    release = publish({"g": ["a", "b"] * 30}, {"s": np.arange(60) % 6}, {"s": uniform})

    with pytest.raises(ParameterError, match="No record matches 'g in c' alone"):
        estimate(release, where=["g = a", "g = c"])
    with pytest.raises(ParameterError, match="No record matches all filters"):
        estimate(release, where=["g = a", "g = b"])


def test_filters_are_texts(publish: Any, uniform: SetMechanism) -> None:
    release = publish({"g": ["a"] * 60}, {"s": np.arange(60) % 6}, {"s": uniform})

    with pytest.raises(ParameterError, match="where must hold filters as texts, got int"):
        estimate(release, where=[3])  # type: ignore[list-item]


def test_simulated_probabilities_are_mentioned(publish: Any) -> None:
    class Simulated(UniformSelection):
        inclusion_error = 0.001

    release = publish({}, {"s": np.arange(60) % 6}, {"s": Simulated(n_values=6, l=3)})

    assert "simulated, with standard errors up to 0.001" in estimate(release).caveats[-2]


def test_marked_cells_are_counted(publish: Any, uniform: SetMechanism) -> None:
    release = publish({"g": ["a"] * 10 + ["b"] * 90}, {"s": np.arange(100) % 6}, {"s": uniform})

    assert "1 of 2 cells has fewer than 50 records." in estimate(release, "g").caveats


def test_a_search_that_ended_early_is_mentioned(
    publish: Any, uniform: SetMechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = publish({}, {"s": np.arange(600) ** 2 % 6}, {"s": uniform})
    monkeypatch.setattr(likelihood, "MOST_STEPS", 3)

    result = estimate(release, estimator="mle")

    assert result.caveats[0] == "The likelihood had not converged in 1 cell when the search ended."


def test_sets_too_wide_for_one_number_are_not_aggregated(publish: Any) -> None:
    mechanism = UniformSelection(n_values=200, l=12)
    release = publish({}, {"s": np.arange(400) % 200}, {"s": mechanism})

    marginal = likelihood.global_marginal([mechanism], [release.sets("s")])

    assert np.isclose(marginal.sum(), 1)


def test_covariances_of_very_many_values_are_refused(
    publish: Any, uniform: SetMechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = publish({}, {"s": np.arange(60) % 6}, {"s": uniform})
    monkeypatch.setattr("ldiversity.estimation._variance.COVARIANCE_LIMIT", 5)

    with pytest.raises(UnsupportedError, match="covariance is given for at most 5 values, got 6"):
        estimate(release, estimator="linear").covariance()


@pytest.mark.parametrize("cell", [-1, 1, "a"])
def test_covariances_are_of_existing_cells(publish: Any, uniform: SetMechanism, cell: Any) -> None:
    release = publish({}, {"s": np.arange(60) % 6}, {"s": uniform})

    with pytest.raises(ParameterError, match="cell must be an integer from 0 to 0"):
        estimate(release).covariance(cell)


def test_every_estimate_warns_of_ordinary_tests(publish: Any, bucketize: Any) -> None:
    sets = publish({}, {"s": np.arange(60) % 6}, {"s": UniformSelection(n_values=6, l=3)})
    classes = bucketize({"x": [0, 1] * 4}, np.repeat(np.arange(4), 2), {"s": [0, 1] * 4})

    for release in (sets, classes):
        assert "Do not put these counts into a chi-square test" in estimate(release).caveats[-1]
        assert "association" in estimate(release).caveats[-1]


def test_what_follows_from_an_estimate_says_that_people_may_have_several_records(publish: Any) -> None:
    columns, values = {"w": np.ones(600), "x": np.arange(600) % 2}, {"s": np.arange(600) % 6}
    release = replace(publish(columns, values, {"s": UniformSelection(n_values=6, l=3)}), person=True)

    assert "several records" in estimate(release).proportion("v1").caveats[-1]
    assert any("several records" in one for one in estimate(release, weights="w").caveats)
    assert any("several records" in one for one in association(release, "x").caveats)
