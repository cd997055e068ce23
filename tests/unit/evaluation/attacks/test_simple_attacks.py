"""Homogeneity, background knowledge, similarity and skewness: planted successes, checked by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.mechanisms import UniformSelection
from ldiversity.schema import Attribute, Role, Schema

Make = Callable[..., ld.ClassRelease]
VALUES = "abcdef"


def people(values: list[int], **columns: list[int]) -> pa.Table:
    names = columns or {"who": list(range(len(values)))}
    return pa.table({**names, "s": [VALUES[code] for code in values]})


def test_a_class_of_one_value_is_read_off(bucketized: Make) -> None:
    values = [0, 0, 0, 0, 1, 2]

    (result,) = ld.attack(bucketized([0, 0, 0, 0, 1, 1], values), people(values), attacks="homogeneity").results

    # Four are certain and right; the other two are a fair guess between two values.
    assert result.success == pytest.approx((4 + 2 * 0.5) / 6)
    assert (result.certain, result.certain_success) == (pytest.approx(4 / 6), 1.0)
    assert result.baseline == pytest.approx(4 / 6)


def test_a_planted_break_is_called_broken(bucketized: Make) -> None:
    values = [code for code in [0, 1, 2] * 4 for _ in range(2)]

    report = ld.attack(bucketized(np.repeat(range(12), 2), values), people(values), attacks="homogeneity")

    assert report.broken
    assert report.verdict[0] == "1 of 1 attacks beats what the release promises."


@pytest.mark.parametrize("homogeneous", [1, 2, 3])
def test_a_class_that_contradicts_the_claim_breaks_it_however_few_there_are(bucketized: Make, homogeneous: int) -> None:
    values = [place % 3 if place // 6 >= homogeneous else 0 for place in range(60)]

    (result,) = ld.attack(
        bucketized(np.repeat(range(10), 6), values, l=3), people(values), attacks="homogeneity"
    ).results

    assert result.broken
    assert result.details["classes_against_the_claim"] == homogeneous


def test_classes_that_contradict_the_claim_need_no_original(bucketized: Make) -> None:
    report = ld.attack(bucketized([0, 0, 1, 1], [0, 0, 1, 2]), attacks="homogeneity")

    assert report.broken
    assert "1 published class contradicts the claim." in " ".join(report.verdict)


def test_success_beyond_the_promise_that_chance_explains_is_said_to_be_that(bucketized: Make) -> None:
    values = [0, 1, 0, 1, 2, 3]
    report = ld.AttackReport((ld.attack(bucketized([0, 0, 1, 1, 2, 2], values), people(values)).results[0],))
    lucky = replace(report.results[0], success=0.6, claim=0.5, baseline=0.3, scored=True, broken=False)

    assert "1 of 1 is right more often than promised, which chance explains" in ld.AttackReport((lucky,)).verdict[0]


def test_classes_that_keep_their_promise_are_not_called_broken(bucketized: Make) -> None:
    values = [0, 1] * 50

    (result,) = ld.attack(bucketized(np.repeat(range(50), 2), values), people(values), attacks="homogeneity").results

    assert (result.success, result.claim, result.broken) == (0.5, 0.5, False)


def test_without_the_original_the_attacker_says_what_he_expects(bucketized: Make) -> None:
    report = ld.attack(bucketized([0, 0, 0, 1, 1], [0, 1, 2, 1, 2]), attacks="homogeneity")

    (result,) = report.results
    assert result.success == pytest.approx((3 / 3 + 2 / 2) / 5)
    assert (result.scored, result.interval, result.broken) == (False, None, False)
    assert "own expectations" in report.verdict[0]


def test_people_who_look_alike_share_their_classes(bucketized: Make) -> None:
    # Two people of the same kind, one in each class: a or b, a or c.
    release = bucketized([0, 0, 1, 1], [0, 1, 0, 2], who=[7, 8, 7, 9])

    table = pa.table({"who": [7, 7, 8, 9], "s": ["a", "a", None, None]})

    (result,) = ld.attack(release, table, attacks="skewness").results

    assert (result.found, result.success, result.mean_belief) == (2, 1.0, 0.5)


def test_people_who_are_not_published_are_not_found(bucketized: Make) -> None:
    release = bucketized([0, 0], [0, 1])

    (result,) = ld.attack(release, people([0, 1, 2], who=[0, 1, 2]), attacks="homogeneity").results

    assert (result.targets, result.found) == (3, 2)


def test_a_dense_region_is_likelier_than_a_wide_one(generalized: Make) -> None:
    # Age 5 is in 0..9 (10 ages, 2 records) and in 5..5 (1 age, 2 records): weights 1 to 10.
    release = generalized([0, 0, 1, 1], [0, 1, 2, 3], [(0, 9), (5, 5)])

    (result,) = ld.attack(release, people([2, 3, 0, 1], age=[5, 5, 5, 5]), attacks="skewness").results

    assert result.mean_belief == pytest.approx((2 * 10 / 22 + 2 * 1 / 22) / 4)


def test_ruling_out_one_of_two_values_leaves_the_true_one(bucketized: Make) -> None:
    values = [0, 1, 2, 3]

    report = ld.attack(
        bucketized([0, 0, 1, 1], values), people(values), attacks=ld.BackgroundKnowledge(exclude=1, choice="strongest")
    )

    assert (report.results[0].success, report.results[0].certain) == (1.0, 1.0)
    assert report.results[0].claim is None  # 1/(l - 1) promises nothing


def test_ruling_out_values_leaves_the_rest_of_the_claim(bucketized: Make) -> None:
    values = [0, 1, 2, 3]

    (result,) = ld.attack(bucketized([0] * 4, values, l=4), people(values), attacks=ld.BackgroundKnowledge(2)).results

    assert (result.success, result.claim) == (0.5, 0.5)


def test_random_knowledge_is_weaker_than_the_strongest(bucketized: Make) -> None:
    values = [0, 1] * 200
    release = bucketized(np.repeat(range(200), 2), values)

    strongest, random = ld.attack(release, people(values), attacks="background").results

    # One of five other values is drawn, and one of the five decides: .2 + .8 / 2 = .6. With n = 400 the standard error
    # is below .025; 4.5 of them give a false alarm below 1e-5.
    assert strongest.success == 1.0
    assert random.success == pytest.approx(0.6, abs=4.5 * 0.025)


def test_values_that_are_alike_count_as_one(bucketized: Make) -> None:
    # Each class is two neighbors of a..f: whoever is content with a neighbor is always right.
    values = [0, 1, 2, 3, 4, 5]
    attack = ld.Similarity(d=2, distance=ld.OrderedDistance())
    release = bucketized([0, 0, 1, 1, 2, 2], values)
    ordered = ld.Domain(tuple(VALUES), ordered=True)
    schema = Schema((release.schema["who"], Attribute("s", Role.SENSITIVE, "string", ordered)))

    (result,) = ld.attack(
        ld.ClassRelease.in_memory(
            schema=schema,
            layout="bucketized",
            rules={"s": ld.FrequencyDiversity(l=2)},
            class_of=np.array([0, 0, 1, 1, 2, 2]),
            values={"s": np.array(values)},
            columns=release.columns(["who"]),
        ),
        people(values),
        attacks=attack,
    ).results

    assert (result.success, result.certain, result.claim) == (1.0, 1.0, None)


def test_values_that_are_far_apart_give_similarity_nothing(bucketized: Make) -> None:
    values = [0, 3, 1, 4, 2, 5]
    attack = ld.Similarity(d=1, distance=ld.DiscreteDistance())

    (result,) = ld.attack(bucketized([0, 0, 1, 1, 2, 2], values), people(values), attacks=attack).results

    assert (result.success, result.certain) == (0.5, 0.0)


def test_a_rare_value_that_fills_half_a_class_has_a_great_lift(bucketized: Make) -> None:
    values = [0, 1] + [2, 3] * 49

    (result,) = ld.attack(bucketized(np.repeat(range(50), 2), values), people(values), attacks="skewness").results

    assert result.details["greatest_lift"] == pytest.approx(0.5 / 0.01)
    assert result.details["greatest_gain_bits"] == pytest.approx(np.log2(50))


def test_classes_like_the_whole_table_have_no_lift(bucketized: Make) -> None:
    values = [0, 0, 1] * 20

    (result,) = ld.attack(bucketized(np.repeat(range(20), 3), values, l=2), people(values), attacks="skewness").results

    assert result.details["greatest_lift"] == pytest.approx(1)
    assert result.details["mean_gain_bits"] == pytest.approx(0)
    assert result.details["share_with_a_value_twice_as_likely"] == 0


def test_a_record_s_own_set_is_all_that_homogeneity_sees() -> None:
    release = ld.SetRelease.in_memory(
        schema=Schema(
            (Attribute("who", Role.QUASI, "int64"), Attribute("s", Role.SENSITIVE, "string", ld.Domain(tuple("abc"))))
        ),
        columns=pa.table({"who": [0, 1]}),
        sets={"s": np.array([[0, 1], [1, 2]], dtype=np.int32)},
        mechanisms={"s": UniformSelection(n_values=3, l=2)},
    )

    (result,) = ld.attack(release, people([1, 2]), attacks="homogeneity").results

    assert (result.success, result.claim, result.certain) == (0.5, 0.5, 0.0)
