"""Order and joint attacks on releases that are built to leak."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.mechanisms import UniformSelection
from ldiversity.schema import Attribute, Role, Schema

Make = Callable[..., ld.ClassRelease]
VALUES = "abcdef"
LETTERS = Attribute("s", Role.SENSITIVE, "string", ld.Domain(tuple(VALUES)))


def people(values: list[int], **columns: list[int]) -> pa.Table:
    return pa.table({**columns, "s": [VALUES[code] for code in values]})


def test_values_in_the_order_of_the_source_are_read_off(generalized: Make) -> None:
    values = [0, 1, 2, 3, 4, 5] * 10
    ages = list(range(60))
    regions = [(2 * i, 2 * i + 1) for i in range(30)]

    (result,) = ld.attack(
        generalized(np.repeat(range(30), 2), values, regions), people(values, age=ages), attacks="order"
    ).results

    assert (result.success, result.broken) == (1.0, True)
    assert result.details["row_order_correlation"] == pytest.approx(1)
    assert result.details["class_order_correlation"] == pytest.approx(1)


def test_only_the_order_within_classes_is_enough(generalized: Make) -> None:
    # Classes are shuffled, but each lists its values as its people stand in the source.
    order = np.random.default_rng(0).permutation(30)
    values = np.array([0, 1, 2, 3, 4, 5] * 10).reshape(30, 2)
    regions = [(2 * int(i), 2 * int(i) + 1) for i in order]
    source = people(values.reshape(-1).tolist(), age=list(range(60)))

    (result,) = ld.attack(
        generalized(np.repeat(range(30), 2), values[order].reshape(-1), regions), source, attacks="order"
    ).results

    assert (result.success, result.broken) == (1.0, True)
    # 30 classes: the standard error is .19; five of them give a false alarm below 1e-6, once and for all by the seed.
    assert abs(result.details["class_order_correlation"]) < 5 * 0.19


def test_equal_people_are_told_apart_by_the_order_of_rows(bucketized: Make) -> None:
    # Everyone looks alike; row k is person k, so that the class of each is known.
    values = [0, 1, 2, 3, 4, 5] * 5
    release = bucketized(np.repeat(range(15), 2), values, who=[1] * 30)

    plain, ordered = ld.attack(release, people(values, who=[1] * 30), attacks=["skewness", "order"]).results

    assert plain.success == pytest.approx(1 / 6)
    assert ordered.success == pytest.approx(1 / 2)


def test_a_true_value_that_stands_first_in_its_set_is_read_off() -> None:
    truth = np.arange(60) % 6
    sets = np.column_stack([truth, (truth + 1 + np.arange(60) % 5) % 6]).astype(np.int32)
    release = ld.SetRelease.in_memory(
        schema=Schema((Attribute("who", Role.QUASI, "int64"), LETTERS)),
        columns=pa.table({"who": np.arange(60)}),
        sets={"s": sets},
        mechanisms={"s": UniformSelection(n_values=6, l=2)},
    )

    (result,) = ld.attack(release, people(truth.tolist(), who=list(range(60))), attacks="order").results

    assert (result.success, result.broken) == (1.0, True)


def separate(first: list[int], second: list[int], classes: tuple[list[int], list[int]]) -> ld.ClassRelease:
    other = Attribute("t", Role.SENSITIVE, "string", ld.Domain(tuple("uvwxyz")))
    return ld.ClassRelease.in_memory(
        schema=Schema((Attribute("who", Role.QUASI, "int64"), LETTERS, other)),
        layout="bucketized",
        rules={"s": ld.FrequencyDiversity(l=2), "t": ld.FrequencyDiversity(l=2)},
        class_of={"s": np.array(classes[0]), "t": np.array(classes[1])},
        values={"s": np.array(first), "t": np.array(second)},
        columns=pa.table({"who": np.arange(len(first))}),
    )


def twins() -> tuple[ld.ClassRelease, pa.Table]:
    """24 people whose second value is their first; classes {0,1}, {2,3}, ... and {1,2}, {3,4}, ..., {23,0}."""
    codes = [0, 1, 2, 3, 4, 5] * 4
    first = [i // 2 for i in range(24)]
    second = [((i - 1) % 24) // 2 for i in range(24)]
    table = pa.table({"who": range(24), "s": [VALUES[code] for code in codes], "t": ["uvwxyz"[code] for code in codes]})
    return separate(codes, codes, (first, second)), table


def test_attributes_that_go_together_are_named_by_both_classes() -> None:
    release, table = twins()

    report = ld.attack(release, table, attacks="joint", known=table)

    # Each person is in {v, v'} of the one and {v, v''} of the other: only v is in both.
    assert [result.success for result in report.results] == [1.0, 1.0]
    assert all(result.broken for result in report.results)


def test_a_public_table_in_which_nothing_goes_together_tells_nothing() -> None:
    release, table = twins()
    everything = [(VALUES[i], "uvwxyz"[j]) for i in range(6) for j in range(6)]
    unrelated = pa.table({"s": [s for s, _ in everything], "t": [t for _, t in everything]})

    report = ld.attack(release, table, attacks="joint", known=unrelated)

    assert [result.success for result in report.results] == pytest.approx([0.5, 0.5])


def test_sets_of_attributes_that_go_together_give_each_other_away() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 6, 2000)
    table = pa.table(
        {"who": np.arange(2000), "s": [VALUES[code] for code in codes], "t": ["uvwxyz"[code] for code in codes]}
    )
    method = ld.RandomizedAddition(l=2)
    release = ld.anonymize(table, quasi="who", sensitive=["s", "t"], method=method, confirm=["s", "t"])

    learned = ld.attack(release, table, attacks="joint")

    # The other set holds another candidate of this one with probability 1/5; then it is a fair guess: .8 + .2 / 2.
    # Five standard errors of .0067 give a false alarm below 6e-7.
    assert [result.success for result in learned.results] == pytest.approx([0.9, 0.9], abs=5 * 0.0067)


def test_joint_classes_are_not_attacked() -> None:
    release, table = twins()
    together = ld.anonymize(table, quasi="who", sensitive=["s", "t"], method=ld.LLMSU(l=2))

    report = ld.attack(together, table)

    assert "all attributes share their classes" in {one.attack: one.reason for one in report.skipped}["joint"]
    assert release.class_columns["s"] != release.class_columns["t"]
