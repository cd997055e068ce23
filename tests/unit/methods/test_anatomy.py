"""Anatomy, on tables that can be checked by hand and against an obvious reference."""

from __future__ import annotations

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.base.arrays import CodeArray
from ldiversity.methods import Anatomy, CodedTable, Grouping, GroupingRun, SensitiveColumn
from ldiversity.methods._anatomy_classes import divide, most_classes
from ldiversity.models import count_classes

RUN = GroupingRun(workers=1)


def table(codes: list[int] | CodeArray, n_values: int, **more: object) -> CodedTable:
    """A table of one sensitive column."""
    column = SensitiveColumn("disease", np.asarray(codes, dtype=np.int32), ld.Domain(tuple(range(n_values))))
    return CodedTable((), (column,), **more)


def broken(grouping: Grouping, given: CodedTable, l: int) -> int:
    """How many classes break the promise."""
    partition, column = grouping.partitions[0], given.sensitive[0]
    classes = count_classes(partition.class_of, column.codes, partition.n_classes, column.domain)
    return len(Anatomy(l).promises(column.domain)[0].failing(classes))


def take_by_sorting(codes: CodeArray, n_values: int, l: int) -> list[tuple[int, ...]]:
    """The published loop, word by word: sort the buckets, take the next row of each of the l largest."""
    buckets = [list(np.flatnonzero(codes == value)) for value in range(n_values)]
    classes = []
    while sum(map(bool, buckets)) >= l:
        largest = sorted((b for b in buckets if b), key=lambda bucket: (-len(bucket), bucket[0]))[:l]
        classes.append(tuple(sorted(bucket.pop(0) for bucket in largest)))
    return classes


def test_two_values_a_class() -> None:
    grouping = Anatomy(l=2).group(table([0, 0, 1, 2], 3), RUN)

    assert grouping.partitions[0].class_of.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(("seed", "l"), [(0, 2), (1, 3), (2, 4), (3, 5), (4, 2), (5, 3)])
def test_classes_are_those_of_the_published_loop(seed: int, l: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 9, 60 * l, dtype=np.int32)

    partition = divide(codes, 9, l)

    expected = take_by_sorting(codes, 9, l)
    assert [tuple(np.flatnonzero(partition.class_of == c)) for c in range(partition.n_classes)] == expected


def test_rows_left_over_join_classes_without_their_value() -> None:
    given = table([0, 0, 0, 1, 1, 2, 2], 3)

    grouping = Anatomy(l=2).group(given, RUN)

    assert sorted(grouping.partitions[0].sizes.tolist()) == [2, 2, 3]
    assert broken(grouping, given, 2) == 0


def test_a_value_with_exactly_its_share_is_in_every_class() -> None:
    given = table([0] * 5 + [1, 2, 3, 4, 1], 5)

    grouping = Anatomy(l=2).group(given, RUN)

    assert sorted(grouping.partitions[0].class_of[:5].tolist()) == [0, 1, 2, 3, 4]


def test_a_too_frequent_value_is_refused_with_the_largest_l() -> None:
    with pytest.raises(ld.InfeasibleError, match="l must be at most 2 for 'disease'") as caught:
        Anatomy(l=3).group(table([0, 0, 0, 1, 1, 2, 2], 3), RUN)

    assert caught.value.nearest == [{"l": 2}]
    assert "overflow='suppress'" in str(caught.value)


def test_no_l_is_named_when_none_is_possible() -> None:
    with pytest.raises(ld.InfeasibleError) as caught:
        Anatomy(l=2).group(table([0, 0, 0, 0, 1], 2), RUN)

    assert caught.value.nearest == []


@pytest.mark.parametrize("overflow", ["refuse", "suppress"])
@pytest.mark.parametrize(
    ("codes", "why"),
    [
        ([], "because no record has a value of 'disease'"),
        ([0], "because all records have one value of 'disease'"),
        ([0, 0, 0], "because all records have one value of 'disease'"),
        ([0, 1, 0, 1], "at most the number of values of 'disease' that occur, 2"),
    ],
)
def test_too_few_values_are_refused(codes: list[int], why: str, overflow: str) -> None:
    with pytest.raises(ld.InfeasibleError, match=why):
        Anatomy(l=3, overflow=overflow).group(table(codes, 4), RUN)


def test_suppression_leaves_out_as_few_as_needed() -> None:
    given = table([0] * 6 + [1, 1, 2, 2], 3)

    grouping = Anatomy(l=2, overflow="suppress").group(given, RUN)

    assert grouping.facts == {"hidden": 2, "hide_loss": 0.2, "additional_loss": 0.0}
    assert broken(grouping, given, 2) == 0


def test_suppression_leaves_out_nothing_when_nothing_is_too_frequent() -> None:
    grouping = Anatomy(l=2, overflow="suppress").group(table([0, 0, 1, 2], 3), RUN)

    assert grouping.partitions[0].suppressed == 0


def test_which_rows_of_a_value_share_a_class_is_a_matter_of_their_order() -> None:
    grouping = Anatomy(l=2).group(table([0, 0, 1, 1, 2, 2], 3), RUN)

    # Ties of the three buckets go to the one whose next row comes first: (0, 2), then (4, 1), then (3, 5).
    assert grouping.partitions[0].class_of.tolist() == [0, 1, 0, 2, 1, 2]


def test_several_sensitive_columns_are_refused() -> None:
    column = table([0, 1], 2).sensitive[0]

    with pytest.raises(ld.UnsupportedError, match="one sensitive column") as caught:
        Anatomy(l=2).group(CodedTable((), (column, column)), RUN)

    assert "LLMSU" in str(caught.value)


def test_two_rows_of_a_person_never_share_a_class() -> None:
    class_of = Anatomy(l=2).group(table([0, 1, 0, 1], 2, person=np.array([7, 7, 8, 8])), RUN).partitions[0].class_of

    assert class_of[0] != class_of[1]
    assert class_of[2] != class_of[3]


def test_one_person_alone_is_refused() -> None:
    with pytest.raises(ld.InfeasibleError, match="because all records are of one person"):
        Anatomy(l=2).group(table([0, 1], 2, person=np.array([7, 7])), RUN)


def test_rows_of_a_person_that_has_too_many_are_suppressed_when_that_is_allowed() -> None:
    crowded = table([0, 1, 2, 3, 0, 1], 4, person=np.array([7, 7, 7, 7, 8, 9]))

    with pytest.raises(ld.InfeasibleError, match="one person has 4 of 6 records"):
        Anatomy(l=2).group(crowded, RUN)
    partition = Anatomy(l=2, overflow="suppress").group(crowded, RUN).partitions[0]

    assert (partition.n_classes, partition.suppressed) == (2, 2)


def test_one_row_a_person_is_fine() -> None:
    assert Anatomy(l=2).group(table([0, 1], 2, person=np.array([7, 8])), RUN).partitions[0].n_classes == 1


@pytest.mark.parametrize(
    ("counts", "l", "classes"), [([6, 2, 2], 2, 4), ([1, 1, 1], 3, 1), ([5, 5], 2, 5), ([9, 1], 2, 1), ([4], 2, 0)]
)
def test_the_largest_number_of_classes(counts: list[int], l: int, classes: int) -> None:
    assert most_classes(np.array(counts), l) == classes


@pytest.mark.parametrize("parameters", [{"l": 1}, {"l": 2.5}, {"l": 2, "overflow": "ignore"}])
def test_bad_parameters_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(ld.ParameterError, match="Anatomy: "):
        Anatomy(**parameters)


def test_the_public_parameters() -> None:
    assert Anatomy(l=3).parameters() == {"l": 3, "overflow": "refuse"}
