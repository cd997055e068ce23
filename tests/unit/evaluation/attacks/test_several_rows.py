"""Rows of one person, intersected: cases that can be checked by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.mechanisms import ClassMechanism
from ldiversity.models import FrequencyDiversity
from ldiversity.schema import Attribute, Domain, Role, Schema

VALUES = ("a", "b", "c", "d", "e", "f")
SENSITIVE = Attribute("s", Role.SENSITIVE, "string", Domain(VALUES))


def released_sets(sets: Sequence[Sequence[int]], age: Sequence[int]) -> ld.SetRelease:
    return ld.SetRelease.in_memory(
        schema=Schema((Attribute("age", Role.QUASI, "int64"), SENSITIVE)),
        columns=pa.table({"age": pa.array(age, pa.int64())}),
        sets={"s": np.array(sets, dtype=np.int32)},
        mechanisms={"s": ld.RandomizedAddition(l=len(sets[0])).fit(Domain(VALUES))},
    )


def released_classes(class_of: Sequence[int], values: Sequence[int], age: Sequence[int]) -> ld.ClassRelease:
    return ld.ClassRelease.in_memory(
        schema=Schema((Attribute("age", Role.QUASI, "int64"), SENSITIVE)),
        layout="bucketized",
        rules={"s": FrequencyDiversity(l=2)},
        class_of=np.array(class_of, dtype=np.int32),
        values={"s": np.array(values, dtype=np.int32)},
        columns=pa.table({"age": pa.array(age, pa.int64())}),
        mechanisms={"s": ClassMechanism("given", {"l": 2})},
    )


def source(values: Sequence[int], age: Sequence[int], who: Sequence[int]) -> pa.Table:
    return pa.table({"age": age, "who": who, "s": [VALUES[code] for code in values]})


@pytest.mark.parametrize("ages", [[30, 30, 50, 60], [30, 31, 50, 60]], ids=["rows look alike", "rows differ"])
def test_the_value_that_all_sets_of_a_person_share_is_named(ages: list[int]) -> None:
    release = released_sets([[0, 1], [0, 2], [3, 4], [4, 5]], ages)

    (result,) = ld.attack(
        release, source([0, 0, 3, 4], ages, [7, 7, 8, 9]), attacks="several-rows", person="who"
    ).results

    # The first person for certain, the two others by a fair guess.
    assert result.success == (2 + 0.5 + 0.5) / 4
    assert result.reference == 0.5
    assert result.certain == 0.5
    assert result.details["people_whose_rows_were_joined"] == 1


def test_equal_sets_and_sets_without_a_common_value_tell_nothing_more() -> None:
    ages = [30, 31, 40, 41]
    release = released_sets([[0, 1], [0, 1], [2, 3], [4, 5]], ages)

    (result,) = ld.attack(
        release, source([0, 0, 2, 4], ages, [7, 7, 8, 8]), attacks="several-rows", person="who"
    ).results

    assert result.success == result.reference == 0.5
    assert result.details["people_whose_rows_contradict"] == 1


def test_rows_that_look_like_those_of_others_say_nothing_more_than_each_alone() -> None:
    ages = [30, 30, 30, 30]
    release = released_sets([[0, 1], [0, 2], [3, 4], [4, 5]], ages)

    (result,) = ld.attack(
        release, source([0, 0, 3, 4], ages, [7, 7, 8, 9]), attacks="several-rows", person="who"
    ).results

    assert result.details["people_whose_rows_were_joined"] == 0


def test_two_rows_of_a_person_in_one_class_rule_out_values_that_it_has_once() -> None:
    ages = [30, 30, 40, 41, 50, 51]
    values = [0, 0, 1, 2, 1, 2]
    release = released_classes([0, 0, 0, 0, 1, 1], values, ages)

    (result,) = ld.attack(
        release, source(values, ages, [7, 7, 8, 9, 10, 11]), attacks="several-rows", person="who"
    ).results

    # Both rows of the first person; of the others, those of the first class look for 'a'.
    assert result.certain == 2 / 6
    assert result.certain_success == 1.0


def test_classes_of_one_person_are_intersected() -> None:
    ages, values = [30, 31, 40, 41], [0, 0, 1, 2]
    release = released_classes([0, 1, 0, 1], values, ages)

    (result,) = ld.attack(release, source(values, ages, [7, 7, 8, 9]), attacks="several-rows", person="who").results

    assert result.success == (2 + 0.5 + 0.5) / 4


def test_without_a_column_rows_that_look_alike_are_taken_for_one_persons() -> None:
    release = released_sets([[0, 1], [0, 2], [3, 4], [4, 5]], [30, 30, 50, 60])

    (result,) = ld.attack(release, attacks=ld.SeveralRows()).results

    assert result.certain == 0.5
    assert not result.scored


def test_it_is_refused_where_nobody_has_several_rows_or_nothing_says_so() -> None:
    ages = [30, 40]
    release, original = released_sets([[0, 1], [2, 3]], ages), source([0, 2], ages, [7, 8])

    with pytest.raises(ld.UnsupportedError, match="nobody has several rows"):
        ld.attack(release, original, attacks="several-rows", person="who")
    with pytest.raises(ld.ParameterError, match="'several-rows' needs the column that says whose row it is"):
        ld.attack(release, original, attacks="several-rows")
    with pytest.raises(ld.ParameterError, match="person must be left out without the original"):
        ld.attack(release, attacks="several-rows", person="who")


def test_a_sample_of_targets_uses_all_rows_of_its_people() -> None:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(50), 4)
    values = rng.integers(0, 6, 50)[who]
    table = source(values.tolist(), (who * 4 + np.tile(np.arange(4), 50)).tolist(), who.tolist())
    release = ld.anonymize(
        table,
        quasi="age",
        sensitive=ld.Sensitive("s", domain=VALUES),
        drop="who",
        method=ld.RandomizedAddition(l=2),
        insecure_seed=1,
    )

    (result,) = ld.attack(release, table, attacks="several-rows", person="who", targets=20).results

    assert result.targets == 20
    assert result.certain > 0.8
