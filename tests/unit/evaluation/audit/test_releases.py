"""Audits of releases: what an attacker sees of sets, regions and buckets, without the original."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.audit._sets import SetView
from ldiversity.mechanisms import UniformSelection
from ldiversity.models import FrequencyDiversity, UniqueDiversity
from ldiversity.release import Claim, Form
from ldiversity.release._evidence import SetTally
from ldiversity.schema import Attribute, Domain, Role, Schema

AGE = Attribute("age", Role.QUASI, "int64")
DOMAIN = Domain((1, 2, 3, 4), ordered=True, positions=(1.0, 2.0, 3.0, 4.0))
LEVEL = Attribute("level", Role.SENSITIVE, "int64", DOMAIN)


def set_release(*sets: list[int], ages: list[int] | None = None) -> ld.SetRelease:
    return ld.SetRelease.in_memory(
        schema=Schema((AGE, LEVEL)),
        columns=pa.table({"age": ages or [30] * len(sets)}),
        sets={"level": np.array(sets, dtype=np.int32)},
        mechanisms={"level": UniformSelection(4, 2)},
    )


def generalized(class_of: list[int], codes: list[int], lows: list[int]) -> ld.ClassRelease:
    region = pa.array([{"low": low, "high": low + 9} for low in lows])
    return ld.ClassRelease.in_memory(
        schema=Schema((AGE, LEVEL)),
        layout="generalized",
        rules={"level": UniqueDiversity(2)},
        class_of=np.array(class_of),
        values={"level": np.array(codes)},
        regions=pa.table({"age": region}),
        forms={"age": Form("interval", low=0, high=99)},
    )


def bucketized(class_of: list[int], codes: list[int], ages: list[int]) -> ld.ClassRelease:
    return ld.ClassRelease.in_memory(
        schema=Schema((AGE, LEVEL)),
        layout="bucketized",
        rules={"level": FrequencyDiversity(2)},
        class_of=np.array(class_of),
        values={"level": np.array(codes)},
        columns=pa.table({"age": ages}),
    )


# --- sets -------------------------------------------------------------------------------------------


def test_every_set_has_l_possible_values() -> None:
    assert ld.audit(set_release([0, 1], [2, 3])).models["distinct_l"].value == 2


def test_members_of_a_uniform_set_are_equally_likely() -> None:
    found = ld.audit(set_release([0, 1], [2, 3]))

    assert (found.models["frequency"].value, found.models["entropy_l"].value) == (0.5, 2)


def test_k_anonymity_of_sets_is_about_equal_quasi_identifiers() -> None:
    found = ld.audit(set_release([0, 1], [2, 3], [0, 1], ages=[30, 30, 40]))

    assert (found.models["k_anonymity"].value, found.classes.uniques) == (1, 1)


def set_view(records: int, marginal: list[int]) -> SetView:
    tally = SetTally("level", DOMAIN, UniformSelection(4, 2))
    tally.add_sets(np.array([[0, 1]] * records, dtype=np.int32))
    return SetView(tally.result(), np.array(marginal))


def test_someone_who_knows_the_marginal_learns_more_from_a_set() -> None:
    estimated = set_view(records=1, marginal=[3, 1, 0, 0])
    counted = replace(estimated, counted=True)

    assert (counted.largest.tolist(), counted.largest_informed.tolist()) == ([0.5], [0.75])
    assert estimated.largest_informed.tolist() == [3.5 / 5]  # with half a record more of each value


def test_a_value_that_is_estimated_to_occur_never_makes_nobody_certain() -> None:
    # All records show the first value, so that the others are estimated at 0.
    release = set_release(*[[0, 1]] * 3, *[[0, 2]] * 3, *[[0, 3]] * 3)
    truth = pa.table({"who": range(9), "age": [30] * 9, "level": [1, 1, 2, 1, 1, 1, 1, 1, 1]})

    estimated = ld.audit(release)
    counted = ld.audit(release, original=truth, person="who")

    shares = [found.attribute_risk["level"].informed for found in (estimated, counted)]
    assert [one and one.largest_share for one in shares] == [9.5 / 10, 1.0]  # nobody has the third value
    assert [one and one.records_read_off for one in shares] == [0, 6]
    said = [any("Frequencies are estimated" in one for one in found.verdict) for found in (estimated, counted)]
    assert said == [True, False]


def test_the_posterior_is_compared_to_the_marginal() -> None:
    view = set_view(records=4, marginal=[1, 1, 1, 1])

    # The posterior (1/2, 1/2, 0, 0) against (1/4, 1/4, 1/4, 1/4): half of the mass must move; a value doubles.
    assert view.judge(ld.TCloseness(0.5)).reached == pytest.approx(0.5)
    assert view.judge(ld.BetaLikeness(1)).reached == pytest.approx(1)


def test_a_set_of_values_that_the_marginal_excludes_tells_as_much_as_without_it() -> None:
    view = set_view(records=1, marginal=[0, 0, 1, 1])

    assert view.largest_informed.tolist() == [0.5]


def test_simple_selection_can_be_seen_to_point_at_values() -> None:
    table = pa.table({"age": [30] * 400, "level": list(range(8)) * 50})
    method = ld.SemanticDiversity(l=2, d=3, distance="ordered", selection="simple")
    release = ld.anonymize(table, quasi="age", sensitive="level", method=method)

    assert ld.audit(release).models["frequency"].value > 0.5


def test_members_of_a_set_are_far_apart() -> None:
    assert ld.check("semantic:2:2:ordered", set_release([0, 2], [1, 3])).passed
    assert not ld.check("semantic:2:2:ordered", set_release([0, 2], [1, 2])).passed


def test_records_that_show_a_failing_set_are_counted() -> None:
    verdict = ld.check("semantic:2:2:ordered", set_release([0, 2], [0, 1], [0, 1]))

    assert (verdict.n_failing, verdict.n_records_failing, verdict.n_records) == (1, 2, 3)


@pytest.mark.parametrize(
    ("model", "why"), [("delta-disclosure:1", "rules out all values"), ("alpha-k:0.5:2", "ask for k-anonymity")]
)
def test_models_that_make_no_sense_for_sets_are_refused(model: str, why: str) -> None:
    with pytest.raises(ld.UnsupportedError, match=why):
        ld.audit(set_release([0, 1]), models=model)


def test_the_claim_of_a_release_of_sets_is_asked_for_by_itself() -> None:
    found = ld.audit(set_release([0, 1], [2, 3]))

    assert (found.passed, found.models["distinct_l"].required) == (True, ("distinct:2",))


# --- exploded ---------------------------------------------------------------------------------------


@pytest.fixture
def exploded() -> ld.Release:
    table = pa.table({"age": [30, 30, 40], "level": [1, 2, 4]})
    sensitive = ld.Sensitive("level", domain=[1, 2, 3, 4])
    return ld.anonymize(table, quasi="age", sensitive=sensitive, method=ld.RandomizedAddition(l=2), layout="exploded")


def test_records_of_an_exploded_release_are_counted_once(exploded: ld.Release) -> None:
    found = ld.audit(exploded)

    assert (found.records, found.models["k_anonymity"].value) == (3, 1)


def test_the_bound_of_the_mechanism_holds_for_exploded_rows(exploded: ld.Release) -> None:
    found = ld.audit(exploded)

    assert (found.models["frequency"].value, found.models["distinct_l"].value) == (0.5, 2)


def test_sets_of_exploded_rows_cannot_be_told_apart(exploded: ld.Release) -> None:
    with pytest.raises(ld.UnsupportedError, match="cannot be separated"):
        ld.check("entropy:2", exploded)


# --- classes ----------------------------------------------------------------------------------------


def test_classes_with_equal_regions_look_alike() -> None:
    found = ld.audit(generalized([0, 0, 1, 1], [0, 1, 2, 3], lows=[20, 20]))

    assert (found.classes.count, found.models["k_anonymity"].value, found.models["distinct_l"].value) == (1, 4, 4)


def test_both_ways_to_count_classes_are_told() -> None:
    found = ld.audit(generalized([0, 0, 1, 1], [0, 1, 2, 3], lows=[20, 20]))

    assert found.by_class_id["level"].models["distinct_l"] == 2
    assert (
        "The release numbers 2 classes of 'level', but classes with equal regions look alike: an attacker sees 1."
        in found.verdict
    )


def test_unique_values_are_a_matter_of_numbered_classes() -> None:
    found = ld.audit(generalized([0, 0, 1, 1], [0, 1, 0, 1], lows=[20, 20]))

    assert (found.passed, found.models["unique_l"].value) == (True, 2)


def test_classes_with_different_regions_are_told_apart() -> None:
    found = ld.audit(generalized([0, 0, 1, 1], [0, 1, 2, 2], lows=[20, 40]))

    assert (found.passed, found.attribute_risk["level"].records_read_off) == (False, 2)


def test_buckets_say_what_is_learned_and_quasi_identifiers_who_is_found() -> None:
    found = ld.audit(bucketized([0, 0, 1, 1], [0, 1, 2, 3], ages=[20, 30, 40, 50]))

    assert (found.models["k_anonymity"].value, found.models["frequency"].value, found.passed) == (1, 0.5, True)


def test_a_homogeneous_bucket_is_caught() -> None:
    found = ld.audit(bucketized([0, 0, 1, 1], [0, 0, 2, 3], ages=[20, 30, 40, 50]))

    assert (found.passed, found.attribute_risk["level"].classes_with_one_value) == (False, 1)


def test_a_folder_is_audited_like_the_release(tmp_path: Path) -> None:
    release = bucketized([0, 0, 1, 1], [0, 1, 2, 3], ages=[20, 30, 40, 50])
    release.save(tmp_path / "release")

    assert ld.audit(tmp_path / "release").to_dict() == ld.audit(release).to_dict()


def test_an_attacker_may_know_fewer_quasi_identifiers(people: pa.Table) -> None:
    release = ld.anonymize(people, quasi=["age", "sex"], drop="name", sensitive="disease", method=ld.Anatomy(l=2))

    assert ld.audit(release, quasi="sex").classes.count == 2


def test_generalized_releases_of_every_form_are_audited(people: pa.Table) -> None:
    release = ld.anonymize(people, quasi=["age", "sex"], drop="name", sensitive="disease", method=ld.BSGI(l=3))

    found = ld.audit(release, models=["k-anonymity:3", "frequency:3"])

    assert (found.passed, found.records) == (True, 60)


@pytest.mark.parametrize("option", ["quasi", "sensitive"])
def test_columns_that_the_release_does_not_have_are_refused(option: str) -> None:
    with pytest.raises(ld.ParameterError, match=f"{option} must be among"):
        ld.audit(set_release([0, 1]), **{option: "shoe"})  # type: ignore[arg-type]


def test_other_attributes_of_a_release_do_not_count_as_known() -> None:
    with pytest.raises(ld.UnsupportedError, match="joint_knowledge must be left out"):
        ld.audit(set_release([0, 1]), joint_knowledge=True)


# --- what releases of sets claim --------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["balanced", "simple"])
def test_sets_are_judged_by_all_that_they_claim(selection: Any) -> None:
    table = pa.table({"age": [30] * 400, "level": list(range(8)) * 50})
    method = ld.SemanticDiversity(l=2, d=3, distance="ordered", selection=selection)
    release = ld.anonymize(table, quasi="age", sensitive="level", method=method)

    found = ld.audit(release)

    assert [(type(one.model).__name__, one.verdict.passed) for one in found.asked] == [
        ("DistinctDiversity", True),
        ("SemanticClassDiversity", True),
        ("PosteriorBound", True),
    ]


def test_a_claimed_posterior_that_sets_exceed_is_caught() -> None:
    release = set_release([0, 1], [2, 3])
    (claim,) = release.claims

    found = ld.audit(replace(release, claims=(replace(claim, posterior=0.4),)))

    assert (found.passed, found.models["frequency"].passed, found.models["frequency"].value) == (False, False, 0.5)


def test_a_claimed_distance_that_members_break_is_caught() -> None:
    table = pa.table({"age": [30] * 400, "level": list(range(8)) * 50})
    method = ld.SemanticDiversity(l=2, d=3, distance="ordered")
    release = ld.anonymize(table, quasi="age", sensitive="level", method=method)
    claim = Claim("level", "semantic-diversity", 2, 5.0, 0.5)

    found = ld.audit(replace(release, claims=(claim,)))

    assert (found.passed, found.models["l_d"].passed, found.models["distinct_l"].passed) == (False, False, True)


TREE = ld.Hierarchy.from_rows([("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*"), ("4", "high", "*")])

# Sets {1, 3} and {2, 4} under a uniform mechanism and a flat marginal: the posterior is 1/2 for each member.
REACHED = [
    (ld.KAnonymity(2), 2),
    (ld.DistinctDiversity(2), 2),
    (ld.EntropyDiversity(2), 2),
    (ld.RecursiveDiversity(c=2, l=2), 1),
    (ld.FrequencyDiversity(2), 2),
    (UniqueDiversity(2), 2),
    (ld.LevelUnique(2, levels=(0, 0, 1, 1)), 2),
    (ld.LevelDiversity(2, 1, TREE), 2),
    (ld.SemanticClassDiversity(2, 2, "ordered"), 2),
    (ld.TCloseness(0.5), 0.5),
    (ld.TCloseness(0.5, ground="ordered"), 1 / 6),
    (ld.BetaLikeness(1), 1),
    (ld.BetaLikeness(1, enhanced=True), 1),
]


@pytest.mark.parametrize(("model", "reached"), REACHED)
def test_every_model_that_makes_sense_is_checked_on_sets(model: ld.PrivacyModel, reached: float) -> None:
    verdict = ld.check(model, set_release([0, 2], [1, 3]))

    assert verdict.passed
    assert verdict.reached == pytest.approx(reached)


# --- advice ----------------------------------------------------------------------------------------


def test_the_first_thing_to_do_is_not_all_well_while_people_are_found_above_the_limit() -> None:
    found = set_release([0, 1], [1, 2], ages=[30, 40])
    alike = set_release(*[[0, 1]] * 5)

    assert "2 records can be found with a probability above the limit, 20 %" in ld.audit(found).advice.text
    assert "above the limit" not in ld.audit(alike).advice.text
