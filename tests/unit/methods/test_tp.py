"""TP: what stays, what is moved to the residue, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from ldiversity._kernels.tp import three_phases
from ldiversity.errors import InfeasibleError, ParameterError, UnsupportedError
from ldiversity.methods import TP, CategoryColumn, CodedTable, Grouping, GroupingRun, NumberColumn, SensitiveColumn
from ldiversity.models import FrequencyDiversity
from ldiversity.schema import Domain

RUN = GroupingRun(workers=1)


def run(groups: list[int], codes: list[int], l: int) -> Grouping:
    column = NumberColumn("age", np.array(groups), min(groups), max(groups))
    domain = Domain(tuple("abcdefgh"[: max(codes) + 1]))
    return TP(l=l).group(CodedTable((column,), (SensitiveColumn("s", np.array(codes, np.int32), domain),)), RUN)


def phases(counts: list[list[int]], l: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """What is left of a dense table of groups and values, the residue after each phase, and its counts."""
    dense = np.array(counts, dtype=np.int64)
    starts = np.arange(len(dense) + 1, dtype=np.int64) * dense.shape[1]
    left = dense.ravel().copy()
    after, residue = three_phases(starts, np.tile(np.arange(dense.shape[1]), len(dense)), left, dense.shape[1], l)
    return left.reshape(dense.shape), after, residue


def make_eligible_slowly(counts: NDArray[np.int64], l: int) -> NDArray[np.int64]:
    """One pillar at a time, as printed."""
    left = counts.copy()
    while left.max(initial=0) * l > left.sum():
        left[np.argmax(left)] -= 1
    return left


def test_eligible_groups_stay_as_they_are() -> None:
    assert run([1, 1, 2, 2], [0, 1, 0, 1], 2).partitions[0].class_of.tolist() == [0, 0, 1, 1]


def test_no_residue_is_no_class() -> None:
    assert run([1, 1, 2, 2], [0, 1, 0, 1], 2).partitions[0].n_classes == 2


def test_records_that_stand_alone_are_the_residue() -> None:
    assert run([1, 2, 3, 4], [0, 1, 0, 1], 2).partitions[0].class_of.tolist() == [0, 0, 0, 0]


def test_differences_are_suppressed() -> None:
    assert run([1, 2], [0, 1], 2).suppress_differences


def test_the_size_of_the_residue_is_a_fact() -> None:
    assert run([1, 1, 1, 2], [0, 1, 0, 1], 2).facts == {"residue": 2, "phases": 1}


@pytest.mark.parametrize("seed", range(30))
def test_phase_one_ends_where_moving_one_pillar_at_a_time_ends(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 12, 6) * (rng.random(6) < 0.8)
    counts[0] += 1

    _, after, _ = phases([counts.tolist()], 3)

    assert after[0, 0] == counts.sum() - make_eligible_slowly(counts, 3).sum()


def test_phase_two_does_not_raise_the_greatest_count_of_the_residue() -> None:
    # The first group leaves three records of value 0; the second is fat and gives what the residue lacks.
    left, after, residue = phases([[4, 1, 0, 0], [2, 2, 5, 5]], 2)

    assert after[:2, 1].tolist() == [3, 3]
    assert residue[0] == 3
    assert after[1, 0] == 6
    assert left.sum() == 19 - 6


def test_phase_two_takes_what_is_rare_in_the_residue() -> None:
    _, _, residue = phases([[4, 1, 0, 0], [4, 4, 4, 4]], 2)

    assert residue.tolist() == [3, 1, 1, 1]


def test_a_thin_group_gives_one_of_each_pillar() -> None:
    left, _, residue = phases([[2, 0, 0], [0, 3, 3]], 2)

    assert residue.tolist() == [2, 1, 1]
    assert left[1].tolist() == [0, 2, 2]


def test_phase_three_lets_the_greatest_count_grow_when_all_groups_conflict() -> None:
    # The residue has two of each of the first two values; the other groups are thin, each with one of them a pillar.
    left, after, residue = phases([[2, 2, 0, 0], [3, 0, 3, 3], [0, 3, 3, 3]], 3)

    assert after.tolist() == [[4, 2], [4, 2], [10, 3]]
    assert residue.tolist() == [3, 3, 2, 2]
    assert left.tolist() == [[0, 0, 0, 0], [2, 0, 2, 2], [0, 2, 2, 2]]


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("l", [2, 3, 4])
def test_groups_and_residue_end_eligible_and_nothing_is_lost(seed: int, l: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.choice([0.3, 2.0, 6.0]), (rng.integers(1, 30), 6))
    counts[0] += counts.sum(axis=0).max()

    left, after, residue = phases(counts.tolist(), l)

    assert (left.max(axis=1) * l <= left.sum(axis=1)).all()
    assert residue.max() * l <= residue.sum()
    assert np.array_equal(left.sum(axis=0) + residue, counts.sum(axis=0))
    assert after[0, 1] == after[1, 1]


def test_a_missing_number_is_not_its_placeholder() -> None:
    column = NumberColumn("age", np.array([0, 0, 0, 0]), 0, 1, np.array([True, False, True, False]))
    sensitive = SensitiveColumn("s", np.array([0, 0, 1, 1], np.int32), Domain(("a", "b")))

    partition = TP(l=2).group(CodedTable((column,), (sensitive,)), RUN).partitions[0]

    assert partition.class_of.tolist() == [0, 1, 0, 1]


def test_many_columns_do_not_overflow() -> None:
    wide = tuple(
        CategoryColumn(str(k), np.array([0, 0, 99_998, 99_998], np.int32), tuple(map(str, range(99_999))))
        for k in range(8)
    )
    sensitive = SensitiveColumn("s", np.array([0, 1, 0, 1], np.int32), Domain(("a", "b")))

    assert TP(l=2).group(CodedTable(wide, (sensitive,)), RUN).partitions[0].class_of.tolist() == [0, 0, 1, 1]


def test_promise_is_about_frequencies() -> None:
    assert TP(l=3).promises(Domain(("a",))) == (FrequencyDiversity(3),)


def test_a_value_that_is_too_frequent_is_refused_with_the_largest_l() -> None:
    with pytest.raises(InfeasibleError) as caught:
        run([1, 2, 3, 4, 5], [0, 1, 0, 1, 2], 3)

    assert caught.value.nearest == [{"l": 2}]


def test_l_must_be_at_least_two() -> None:
    with pytest.raises(ParameterError, match="l must be"):
        TP(l=1)


def test_several_sensitive_columns_are_refused() -> None:
    sensitive = SensitiveColumn("s", np.array([0, 1], np.int32), Domain(("a", "b")))

    with pytest.raises(UnsupportedError, match="one sensitive column"):
        TP(l=2).group(CodedTable((), (sensitive, sensitive)), RUN)


def test_a_residue_with_two_rows_of_a_person_becomes_several_classes() -> None:
    sensitive = SensitiveColumn("s", np.array([0, 1, 0, 1], np.int32), Domain(("a", "b")))

    grouping = TP(l=2).group(CodedTable((), (sensitive,), np.array([0, 0, 1, 1])), RUN)

    class_of = grouping.partitions[0].class_of
    assert class_of[0] != class_of[1]
    assert class_of[2] != class_of[3]
