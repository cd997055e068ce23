"""The door: what is run, what is skipped and why, what is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ldiversity as ld
from ldiversity.evaluation.attacks import ATTACKS

Make = Callable[..., ld.ClassRelease]


@pytest.fixture
def sets(people: pa.Table) -> ld.Release:
    return ld.anonymize(
        people, quasi=["age", "sex"], drop="name", sensitive="disease", method=ld.RandomizedAddition(l=3)
    )


@pytest.fixture
def classes(people: pa.Table) -> ld.Release:
    return ld.anonymize(people, quasi=["age", "sex"], drop="name", sensitive="disease", method=ld.Anatomy(l=3))


def test_every_attack_is_run_or_skipped_with_a_reason(people: pa.Table, classes: ld.Release) -> None:
    report = ld.attack(classes, people)

    ran = {result.attack.split()[0] for result in report.results}
    skipped = {one.attack.split()[0] for one in report.skipped}
    assert ran == {"homogeneity", "background", "skewness", "definetti", "order"}
    assert skipped == {"mechanism", "minimality", "joint", "extremes", "downcoding"}
    assert all(one.reason for one in report.skipped)


def test_the_frame_is_of_the_kind_of_the_release(people: pa.Table, sets: ld.Release) -> None:
    found = ld.attack(replace(sets, frame_kind="pandas"), people, attacks="homogeneity")

    assert (found.frame_kind, found.release) == ("pandas", None)


def test_the_report_is_versioned_and_of_json_s_types(people: pa.Table, sets: ld.Release) -> None:
    found = json.loads(json.dumps(ld.attack(sets, people).to_dict()))

    assert (found["schema"], found["version"]) == ("attack", 1)
    assert set(found) == {"schema", "version", "release", "broken", "verdict", "results", "risks", "skipped"}
    assert len(found["verdict"]) == 1 + len(found["results"]) + len(found["risks"])


def test_the_report_is_a_frame_too(people: pa.Table, sets: ld.Release) -> None:
    report = ld.attack(sets, people)

    frame = report.to_frame()

    assert frame.num_rows == len(report.results)
    assert frame["success"].to_pylist() == [result.success for result in report.results]


def test_no_cell_of_the_original_is_in_the_report(people: pa.Table, classes: ld.Release) -> None:
    report = ld.attack(classes, people)

    shown = str(report) + json.dumps(report.to_dict())
    assert not [name for name in people["name"].to_pylist() if name in shown]
    assert not [name for name in set(people["disease"].to_pylist()) if f"'{name}'" in shown]


def test_every_attack_states_its_knowledge_and_name(sets: ld.Release) -> None:
    made = [
        ld.Homogeneity(),
        ld.BackgroundKnowledge(),
        ld.Similarity(1, ld.DiscreteDistance()),
        ld.Skewness(),
        ld.MechanismAware(),
        ld.Intersection(sets),
        ld.Changes(sets),
        ld.Composition(sets),
        ld.Minimality(),
        ld.DeFinetti(),
        ld.JointAttributes(),
        ld.OrderLinkage(),
        ld.Extremes(),
        ld.SeveralRows(),
    ]

    assert {type(one) for one in made} == {kind for kind in ATTACKS.values() if issubclass(kind, ld.Attack)}
    assert all(one.knowledge.startswith("They ") and one.knowledge.endswith(".") for one in made)
    assert all(one.label.startswith(one.name) for one in made)


def test_a_claim_of_sets_is_not_broken_by_someone_who_knows_more(sets: ld.Release) -> None:
    claims = {result.attack: result.claim for result in ld.attack(sets).results}

    assert claims["mechanism (uniform prior)"] == pytest.approx(1 / 3)
    assert claims["mechanism (marginal prior)"] is None
    assert claims["skewness"] is None


def test_exploded_rows_can_be_attacked(people: pa.Table) -> None:
    release = ld.anonymize(
        people,
        quasi=["age", "sex"],
        drop="name",
        sensitive="disease",
        method=ld.RandomizedAddition(l=3),
        layout="exploded",
    )

    report = ld.attack(release, people)

    assert "homogeneity" in {result.attack for result in report.results}
    assert "mechanism (uniform prior)" in {one.attack for one in report.skipped}


def test_a_release_without_quasi_identifiers_can_be_attacked(people: pa.Table) -> None:
    release = ld.anonymize(people, drop="name", sensitive="disease", method=ld.Anatomy(l=3))

    (result,) = ld.attack(release, people, attacks="homogeneity").results

    assert result.found == people.num_rows


def test_a_mechanism_s_own_distance_serves_similarity() -> None:
    table = pa.table({"who": np.arange(40), "s": np.arange(40) % 10})
    method = ld.SemanticDiversity(l=2, d=4, distance=ld.OrderedDistance())
    release = ld.anonymize(table, quasi="who", sensitive="s", method=method)

    (result,) = ld.attack(release, table, attacks="similarity").results

    # Members are 4 apart, and a guess reaches less than 2: it cannot be near both.
    assert (result.attack, result.claim) == ("similarity (d=2)", 0.5)
    assert (result.mean_belief, result.broken) == (pytest.approx(0.5), False)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"attacks": "magic"}, "attacks must name known attacks"),
        ({"attacks": []}, "must name at least one attack"),
        ({"attacks": "mechanism"}, "'mechanism' cannot be run on 'disease': it needs a release of sets"),
        ({"attacks": "minimality"}, "no record was left out"),
        ({"attacks": "similarity"}, "needs a distance and d"),
        ({"attacks": "composition"}, "needs a second release"),
        ({"attacks": "joint"}, "it needs several sensitive attributes"),
        ({"d": 2}, "distance and d must be given together"),
        ({"exclude": 0}, "exclude must be an integer of at least 1"),
        ({"sensitive": "age"}, "sensitive must name attributes"),
        ({"second": "folder"}, "second must be a release"),
    ],
)
def test_a_wrong_wish_is_refused_in_a_sentence(classes: ld.Release, options: dict[str, object], sentence: str) -> None:
    with pytest.raises(ld.LDiversityError, match=sentence):
        ld.attack(classes, **options)


@pytest.mark.parametrize("method", [ld.Mondrian(l=2), ld.BSGI(l=2)])
def test_minimality_refuses_what_it_cannot_derive(people: pa.Table, method: ld.Method) -> None:
    release = ld.anonymize(people, quasi=["age", "sex"], drop="name", sensitive="disease", method=method)

    with pytest.raises(ld.UnsupportedError, match=r"'minimality' cannot be run on 'disease': (it does not know|no)"):
        ld.attack(release, people, attacks="minimality")


def test_order_needs_the_original(classes: ld.Release) -> None:
    with pytest.raises(ld.UnsupportedError, match="it needs the order of the original table"):
        ld.attack(classes, attacks="order")


def test_a_table_of_other_people_is_refused(classes: ld.Release, people: pa.Table) -> None:
    strangers = people.set_column(1, "age", pa.array([200] * people.num_rows))

    with pytest.raises(ld.ParameterError, match="made from, but records of the release fit no row of it"):
        ld.attack(classes, strangers, attacks="homogeneity")


def test_another_type_is_refused_without_showing_a_cell(classes: ld.Release, people: pa.Table) -> None:
    texts = people.set_column(1, "age", pa.array(["secret"] * people.num_rows))

    with pytest.raises(ld.SchemaError) as caught:
        ld.attack(classes, texts, attacks="homogeneity")

    assert "secret" not in str(caught.value)


def test_what_is_no_release_is_refused(people: pa.Table) -> None:
    with pytest.raises(ld.ParameterError, match="release must be a release"):
        ld.attack(people)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [ld.Mondrian(l=2), ld.Anatomy(l=2), ld.RandomizedAddition(l=2)])
def test_an_original_without_people_is_refused(people: pa.Table, method: ld.Method) -> None:
    release = ld.anonymize(people, quasi=["age", "sex"], drop="name", sensitive="disease", method=method)

    with pytest.raises(ld.ParameterError, match="original must have people with a value of 'disease'"):
        ld.attack(release, people.set_column(3, "disease", pa.nulls(people.num_rows, pa.string())))


METHODS = [ld.Mondrian(l=2), ld.BSGI(l=2), ld.Anatomy(l=2), ld.RandomizedAddition(l=2)]


@pytest.mark.parametrize("attacks", ["homogeneity", "inference", None])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_only_the_table_of_the_release_scores_attackers(
    people: pa.Table, method: ld.Method, attacks: str | None
) -> None:
    release = ld.anonymize(people, quasi=["age", "sex"], drop="name", sensitive="disease", method=method)
    half, more = people.slice(0, people.num_rows // 2), pa.concat_tables([people, people.slice(0, 5)])
    older = people.set_column(1, "age", pc.add(people["age"], 50))

    for other in (half, people.slice(0, 0), older, pa.concat_tables([half, half, half])):
        with pytest.raises(ld.ParameterError, match="original must be the table that the release was made from"):
            ld.attack(release, other, attacks=attacks)
    for fine in (people, more):  # rows without a value may have been left out
        assert not ld.attack(release, fine, attacks=attacks).broken


def test_a_release_at_a_declared_level_is_attacked_with_the_values(people: pa.Table) -> None:
    release = ld.anonymize(
        people,
        quasi=["age", "sex"],
        drop="name",
        sensitive="disease",
        levels={"age": "width:10"},
        method=ld.RandomizedAddition(l=3),
    )

    assert ld.attack(release, people, attacks="homogeneity").results[0].found == people.num_rows
    with pytest.raises(ld.ParameterError, match="original must be the table that the release was made from"):
        ld.attack(release, people.set_column(1, "age", pc.add(people["age"], 50)), attacks="homogeneity")


def test_an_attribute_that_is_named_twice_is_attacked_once(classes: ld.Release, people: pa.Table) -> None:
    report = ld.attack(classes, people, sensitive=["disease", "disease"], attacks="homogeneity")

    assert len(report.results) == 1


def test_a_result_says_what_the_attacker_reaches_without_the_order(classes: ld.Release, people: pa.Table) -> None:
    plain, ordered = ld.attack(classes, people, attacks=["homogeneity", "order"]).results

    assert (plain.reference, ordered.reference) == (None, pytest.approx(plain.success))
    assert "the same attacker without the order" in ld.attack(classes, people, attacks="order").verdict[1]


def test_a_result_says_how_many_records_were_left_out() -> None:
    table = pa.table({"who": np.arange(10), "s": ["a"] * 6 + ["b", "c", "d", "e"]})
    release = ld.anonymize(table, quasi="who", sensitive="s", method=ld.Anatomy(l=2, overflow="suppress"))

    report = ld.attack(release, table, attacks="homogeneity")

    assert report.results[0].left_out == release.suppressed == 2
    assert "2 records were left out of the release" in report.verdict[1]


def test_an_expectation_that_cannot_be_trusted_says_so(classes: ld.Release, people: pa.Table) -> None:
    expected, scored = (ld.attack(classes, given, attacks="definetti").verdict[1] for given in (None, people))

    assert "Only the original shows" in expected
    assert "Only the original shows" not in scored


def test_exploded_rows_say_why_they_are_no_sets_for_mechanism(people: pa.Table) -> None:
    method = ld.RandomizedAddition(l=2)
    release = ld.anonymize(
        people, drop=["name", "age"], quasi="sex", sensitive="disease", method=method, layout="exploded"
    )

    with pytest.raises(ld.UnsupportedError, match="exploded rows do not say which of them form the set of one record"):
        ld.attack(release, people, attacks="mechanism")


def test_who_learns_from_sets_names_more_than_who_knows_the_marginal_alone() -> None:
    # Each of 4 ages has one of 4 values; sets of 2 of them tell nothing but the marginal to those who do not learn.
    rng = np.random.default_rng(1)
    age = rng.integers(0, 4, 2000)
    table = pa.table({"age": age, "city": rng.integers(0, 500, 2000), "value": [f"v{a}" for a in age.tolist()]})
    release = ld.anonymize(
        table, quasi=["age", "city"], sensitive="value", method=ld.RandomizedAddition(l=2), confirm="age"
    )

    learned = ld.attack(release, table, attacks="definetti").results[0]

    assert learned.success > 0.95
    assert learned.success > ld.attack(release, table, attacks="mechanism").results[-1].success + 0.1
    assert (learned.claim, learned.broken) == (None, False)


def test_definetti_refuses_exploded_rows(people: pa.Table) -> None:
    release = ld.anonymize(
        people,
        quasi="sex",
        drop=["name", "age"],
        sensitive="disease",
        method=ld.RandomizedAddition(l=2),
        layout="exploded",
    )

    with pytest.raises(ld.UnsupportedError, match="'definetti' cannot be run on 'disease': exploded rows"):
        ld.attack(release, people, attacks="definetti")


def test_a_sample_of_the_people_is_attacked(classes: ld.Release, people: pa.Table) -> None:
    report = ld.attack(classes, people, targets=3)

    assert {result.targets for result in report.results} == {3}


def test_no_fewer_than_one_target_can_be_asked_for(classes: ld.Release, people: pa.Table) -> None:
    with pytest.raises(ld.ParameterError, match="targets must be an integer of at least 1"):
        ld.attack(classes, people, targets=0)


def test_an_argument_that_nobody_has_is_refused(classes: ld.Release, people: pa.Table) -> None:
    with pytest.raises(TypeError, match="attack got an unexpected keyword argument 'target'"):
        ld.attack(classes, people, target=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="attack_table got an unexpected keyword argument 'target'"):
        ld.attack_table(people, people, target=3)  # type: ignore[call-arg]


def test_the_order_of_everyone_is_known_when_a_sample_is_attacked(bucketized: Make) -> None:
    # Everyone looks alike; row k is person k, so that the class of each is known.
    values = [0, 1, 2, 3, 4, 5] * 5
    table = pa.table({"who": [1] * 30, "s": ["abcdef"[code] for code in values]})
    release = bucketized(np.repeat(range(15), 2), values, who=[1] * 30)

    (result,) = ld.attack(release, table, attacks="order", targets=10).results

    assert (result.targets, result.success) == (10, pytest.approx(1 / 2))


def test_a_report_has_the_kind_of_frame_of_its_release() -> None:
    people = ld.datasets.hospital().to_pandas()
    release = ld.anonymize(people, quasi=["sex", "age"], sensitive="disease", method=ld.Anatomy(l=2))
    report = ld.attack(release, people, attacks="homogeneity")

    assert report.release is None
    assert type(report.to_frame()) is type(people)
