"""What messages of analyses advise works when it is followed, and they name the column that they are about."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ldiversity as ld

N = 900


def table(seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "sex": np.array(["f", "m"])[rng.integers(0, 2, N)],
            "age": rng.integers(20, 70, N),
            "disease": np.array(list("abcd"))[rng.integers(0, 4, N)],
            "job": np.array(list("uvwx"))[rng.integers(0, 4, N)],
            "income": rng.choice([1000.0, 30_000.0, 60_000.0, 2_000_000.0], N, p=[0.3, 0.3, 0.3, 0.1]),
        }
    )


@pytest.fixture(scope="module")
def sets() -> ld.Release:
    income = ld.Sensitive("income", edges=[0, 25_000, 50_000, 75_000, 10_000_000])
    sensitive = ["disease", "job", income]
    return ld.anonymize(table(), quasi=["sex", "age"], sensitive=sensitive, method="randomized-addition:l=2")


@pytest.fixture(scope="module")
def classes() -> ld.Release:
    drop = ["job", "income"]
    return ld.anonymize(table(), quasi=["sex", "age"], sensitive="disease", method="bsgi:l=2", drop=drop)


def test_edges_in_a_hint_are_edges_that_a_filter_takes(sets: ld.Release) -> None:
    with pytest.raises(ld.ParameterError) as refused:
        ld.estimate(sets, sensitive="disease", where="income >= 30000")
    edges = str(refused.value.hint).partition(": ")[2].rstrip(".").split(", ")
    assert edges == ["0", "25000", "50000", "75000", "10000000"]
    assert ld.estimate(sets, sensitive="disease", where=f"income >= {edges[1]}").n_records > 0


@pytest.mark.parametrize("given", [{"by": "sex", "where": "job = u"}, {"by": ["sex", "job"]}])
def test_a_hidden_column_of_a_test_is_given_alone(sets: ld.Release, given: dict[str, Any]) -> None:
    with pytest.raises(ld.LDiversityError) as refused:
        ld.association(sets, sensitive="disease", **given)
    assert "by='job'" in str(refused.value.hint)
    assert ld.association(sets, "job", sensitive="disease").by == ("job",)


def test_a_trend_says_which_release_has_no_errors(sets: ld.Release, classes: ld.Release) -> None:
    for estimator in ("linear", "classes"):
        with pytest.raises(ld.UnsupportedError, match=r"the release 'new' have no standard errors.*regions") as refused:
            ld.trend({"old": sets, "new": classes}, "a", sensitive="disease", estimator=estimator)
        assert "Leave it out" in str(refused.value.hint)


def test_a_trend_is_a_frame(sets: ld.Release) -> None:
    one = ld.trend({"1": sets, "2": sets, "3": sets}, "a", sensitive="disease")
    frame = one.to_frame()
    frame = frame.to_pandas() if isinstance(frame, pa.Table) else frame

    assert list(frame["release"]) == ["1", "2", "3"]
    assert pd.isna(frame["change_value"][0])
    assert list(frame["change_value"][1:]) == [0.0, 0.0]
    assert list(frame["value"]) == [point.value for point in one.points]


def test_an_estimate_names_the_test_only_where_it_works(sets: ld.Release, classes: ld.Release) -> None:
    assert "Test with association" in ld.estimate(sets, by="sex", sensitive="disease").caveats[-1]
    assert "No test is offered for this release" in ld.estimate(classes, by="sex").caveats[-1]
    with pytest.raises(ld.UnsupportedError):
        ld.association(classes, "sex")


@pytest.mark.parametrize("by", ["age:-5", "age:5/4", "age:q1"])
def test_a_wrong_division_names_its_column(sets: ld.Release, by: str) -> None:
    with pytest.raises(ld.ParameterError, match="of the bins of 'age' must be"):
        ld.estimate(sets, sensitive="disease", by=by)


def test_a_filter_of_no_value_names_its_column(sets: ld.Release) -> None:
    with pytest.raises(ld.ParameterError, match="must select values that 'job' has"):
        ld.estimate(sets, sensitive="disease", where="job = z")


def test_names_that_are_nearly_right_are_suggested(sets: ld.Release) -> None:
    asked = (
        lambda: ld.estimate(sets, sensitive="disease", by="agee"),
        lambda: ld.association(sets, "agee", sensitive="disease"),
        lambda: ld.regress(sets, "disease ~ agee"),
    )
    for ask in asked:
        with pytest.raises(ld.SchemaError, match=r"Did you mean 'age'\?"):
            ask()
    for ask in (
        lambda: ld.estimate(sets, sensitive="diseas"),
        lambda: ld.association(sets, "age", sensitive="diseas"),
        lambda: sets.impute(2, sensitive="diseas"),
    ):
        with pytest.raises(ld.ParameterError, match=r"Did you mean 'disease'\?"):
            ask()


def test_contrasts_are_listed_and_the_listed_form_works(sets: ld.Release) -> None:
    with pytest.raises(ld.ParameterError, match=r"contr\.treatment\('nurse'\)"):
        ld.regress(sets, "disease ~ C(sex, Treatment('m'))", values=["a"])
    assert ld.regress(sets, "disease ~ C(sex, contr.treatment('m'))", values=["a"]).n_records == N


def test_a_category_that_was_not_seen_names_its_column(sets: ld.Release) -> None:
    fitted = ld.regress(sets, "disease ~ sex + age", values=["a"])
    with pytest.raises(ld.ParameterError, match="but 'sex' has others, got 1 record"):
        fitted.predict(pa.table({"sex": ["f", "x"], "age": [30, 30]}))
    left = fitted.predict(pa.table({"sex": ["f", None], "age": [30, 30]}))
    assert left.num_rows == 2


def test_a_warning_of_small_cells_says_what_to_ask_for(sets: ld.Release) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        sets.impute(2, by=["sex", "age"], sensitive=["disease", "job"])
    assert "fewer attributes at a time in sensitive" in str(warned[0].message)


def test_means_of_uneven_bins_say_how_far_they_may_be_off(sets: ld.Release) -> None:
    found = ld.estimate(sets, sensitive="income")
    mean = found.mean()
    said = re.search(r"off by up to ([\d,]+)", " ".join(mean.caveats))
    assert said is not None
    widths = np.diff([0, 25_000, 50_000, 75_000, 10_000_000]) / 2
    shares = np.maximum(found._known().counts[0], 0)[:4]
    assert float(said[1].replace(",", "")) == pytest.approx(shares @ widths / shares.sum(), rel=1e-3)
    assert abs(mean.value - np.mean(table()["income"].to_numpy())) < float(said[1].replace(",", ""))
    halves = found.caveats, ld.estimate(sets, by="sex", sensitive="income").difference(between=("f", "m")).caveats
    assert any("the two means may be off by up to" in one for one in halves[1])


@pytest.mark.parametrize("given", [{"weights": "age"}, {"strata": "sex"}])
def test_weights_of_classes_are_left_out(classes: ld.Release, given: dict[str, Any]) -> None:
    with pytest.raises(ld.UnsupportedError, match="need a set of values for each record") as refused:
        ld.estimate(classes, **given)
    assert f"Leave {next(iter(given))} out" in str(refused.value.hint)
    assert ld.estimate(classes).n_records == N


@pytest.mark.parametrize("given", [{"by": "disease"}, {"where": "disease = a"}])
def test_what_is_estimated_or_tested_divides_no_records(
    sets: ld.Release, classes: ld.Release, given: dict[str, Any]
) -> None:
    for release in (sets, classes):
        with pytest.raises(ld.ParameterError, match="what is estimated") as refused:
            ld.estimate(release, sensitive="disease", **given)
        assert f"leave it out of {next(iter(given))}" in str(refused.value.hint)
        assert ("sensitive='job'" in str(refused.value.hint)) == (release is sets)
        assert ld.estimate(release, sensitive="disease").count.shape == (1, 4)
    assert ld.estimate(sets, sensitive="job", **given).n_records <= N
    with pytest.raises(ld.ParameterError) as refused:
        ld.association(sets, by="sex", sensitive="disease", where="disease = a")
    assert "Leave it out of where" in str(refused.value.hint)


def test_means_over_time_have_one_caveat_about_bins(sets: ld.Release) -> None:
    found = ld.trend({"1": sets, "2": sets, "3": sets}, sensitive="income", where="sex = f")
    different = ld.trend({"1": sets, "2": sets}, sensitive="income", estimator="mle")
    for one, means in ((found, "the means"), (different, "the two means")):
        said = [caveat for caveat in one.caveats if "off by up to" in caveat]
        assert len(said) == 1
        assert f"So {means} may be off by up to" in said[0]


def test_caveats_count_in_english(sets: ld.Release) -> None:
    found = ld.estimate(sets, by=ld.bins("age", edges=[20, 21, 70]), sensitive="disease")
    assert any(caveat.startswith("1 of 2 cells has fewer") for caveat in found.caveats)


def test_a_test_of_an_attribute_against_itself_names_the_others(sets: ld.Release) -> None:
    with pytest.raises(ld.ParameterError, match="another attribute than by names: 'job', 'income'"):
        ld.association(sets, by="disease", sensitive="disease")


def test_without_weights_no_sentence_speaks_of_them(sets: ld.Release) -> None:
    strata = ld.estimate(sets, sensitive="disease", strata="sex")
    weights = ld.estimate(sets, sensitive="disease", weights="age")

    assert "each of which stands for equally many people" in strata.caveats[0]
    assert "weights" not in strata.caveats[0]
    assert "that the weights stand for" in weights.caveats[0]
