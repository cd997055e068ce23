"""L-LMSU: the paper's worked example, merging, and several columns."""

from __future__ import annotations

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.base.arrays import CodeArray
from ldiversity.methods import LLMSU, MBF, CodedTable, GroupingRun, SensitiveColumn
from ldiversity.methods._llmsu_merge import merge_levels

RUN = GroupingRun(workers=2)
COUNTRIES = ("America", "Brazil", "Canada", "China", "France", "Japan")
TABLE_1 = [0, 0, 5, 5, 3, 4, 2, 1]


def table(*columns: list[int] | CodeArray, person: list[int] | None = None) -> CodedTable:
    """A table of sensitive columns."""
    sensitive = [
        SensitiveColumn(f"s{i}", np.asarray(codes, dtype=np.int32), ld.Domain(tuple(range(20))))
        for i, codes in enumerate(columns)
    ]
    return CodedTable((), tuple(sensitive), None if person is None else np.asarray(person))


def skewed(seed: int, n: int, *rates: float) -> CodedTable:
    """Columns with a few frequent and many rare values."""
    rng = np.random.default_rng(seed)
    return table(*(np.minimum(rng.geometric(rate, n), 12) for rate in rates))


def least_variance(counts: list[int], l: int) -> float:
    """Merge the two least frequent levels again and again, and compute every variance anew."""
    levels = sorted(counts)
    found = [float(np.var(levels))]
    while len(levels) > l:
        levels = sorted([levels[0] + levels[1], *levels[2:]])
        found.append(float(np.var(levels)))
    return min(found)


def test_the_papers_example_hides_nothing() -> None:
    column = SensitiveColumn("country", np.array(TABLE_1, dtype=np.int32), ld.Domain(COUNTRIES))

    grouping = LLMSU(l=4, merge=True).group(CodedTable((), (column,)), RUN)

    assert grouping.partitions[0].sizes.tolist() == [4, 4]
    assert grouping.facts["hide_loss"] == 0


def test_the_papers_table_3_of_merged_levels() -> None:
    counts = np.bincount(TABLE_1)

    levels = merge_levels(counts, 4)

    # America | Brazil, Canada | China, France | Japan
    assert levels.tolist() == [0, 1, 1, 2, 2, 3]


@pytest.mark.parametrize("l", [2, 3, 5])
@pytest.mark.parametrize("counts", [[1, 1, 2, 3, 5, 8, 13], [9, 1, 1, 1, 1], [4, 4, 4, 4, 4], [100, 1, 2, 2, 50, 49]])
def test_merging_finds_the_least_variance_on_its_way(counts: list[int], l: int) -> None:
    levels = merge_levels(np.array(counts), l)

    merged = np.bincount(levels, weights=counts)
    assert np.var(merged) == pytest.approx(least_variance(counts, l))
    assert len(merged) >= min(l, len(counts))


def test_merging_stops_at_l_levels() -> None:
    assert len(set(merge_levels(np.array([1, 1, 1, 1]), 3).tolist())) >= 3


def test_values_that_do_not_occur_stay_levels_of_their_own() -> None:
    assert merge_levels(np.array([1, 0, 1, 2]), 2).tolist() == [0, 1, 0, 2]


def test_a_level_is_inserted_only_where_it_is_new() -> None:
    grouping = LLMSU(l=2).group(table([0, 0, 0, 0, 1, 2]), RUN)

    # Free insertion would publish all six rows, with value 0 in half a class of three.
    assert grouping.facts == {"hidden": 2, "hide_loss": pytest.approx(1 / 3), "additional_loss": 0.0}


def test_additional_loss_counts_rows_beyond_l() -> None:
    assert LLMSU(l=2).group(table([0, 1, 2]), RUN).facts["additional_loss"] == 0.5


def test_merged_levels_are_published_and_differ_within_a_class() -> None:
    grouping = LLMSU(l=2, merge=True).group(table([0, 0, 1, 2, 0, 0, 1, 2]), RUN)

    assert grouping.of_values["levels"]["s0"][:3].tolist() == [0, 1, 1]
    assert sorted(grouping.partitions[0].class_of[[2, 3, 6, 7]].tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("l", [2, 3, 4])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_joint_classes_hide_no_more_than_mbf_and_than_merging(seed: int, l: int) -> None:
    given = skewed(seed, 500, 0.4, 0.3, 0.2)

    hidden = LLMSU(l=l).group(given, RUN).facts["hidden"]

    assert hidden <= MBF(l=l).group(given, RUN).facts["hidden"]
    assert hidden <= LLMSU(l=l, merge=True).group(given, RUN).facts["hidden"]


def test_the_result_does_not_depend_on_the_workers() -> None:
    given = skewed(4, 400, 0.4, 0.3)

    alone, together = (LLMSU(l=3).group(given, GroupingRun(workers=workers)) for workers in (1, 2))

    assert alone.partitions[0].class_of.tolist() == together.partitions[0].class_of.tolist()


def test_separate_partitions_carry_the_warning() -> None:
    grouping = LLMSU(l=2, joint=False).group(skewed(1, 300, 0.3, 0.4), RUN)

    assert len(grouping.partitions) == 2
    assert "together tell more than 1/l" in grouping.warnings[0]


def test_joint_partitions_need_no_warning() -> None:
    assert LLMSU(l=2).group(skewed(1, 300, 0.3, 0.4), RUN).warnings == ()


def test_separate_partitions_hide_the_same_records() -> None:
    grouping = LLMSU(l=3, joint=False).group(skewed(2, 300, 0.6, 0.4), RUN)

    first, second = (partition.class_of < 0 for partition in grouping.partitions)
    assert grouping.facts["hidden"] > 0
    assert first.tolist() == second.tolist()


def test_what_each_column_alone_would_hide_is_told_to_the_holder_only() -> None:
    given = skewed(2, 300, 0.6, 0.4)

    alone = [LLMSU(l=3).group(CodedTable((), (column,)), RUN).facts["hidden"] for column in given.sensitive]

    grouping = LLMSU(l=3, joint=False).group(given, RUN)
    assert grouping.notes == tuple(
        f"'{name}' alone would have hidden {n} of 300 records." for name, n in zip(("s0", "s1"), alone, strict=True)
    )
    assert set(grouping.facts) == {"hidden", "hide_loss", "additional_loss"}


@pytest.mark.parametrize("joint", [True, False])
def test_two_rows_of_a_person_never_share_a_class(joint: bool) -> None:  # noqa: FBT001 - a case
    rng = np.random.default_rng(6)
    person = rng.integers(0, 100, 400)
    given = table(rng.integers(0, 9, 400), rng.integers(0, 9, 400), person=person.tolist())

    partitions = LLMSU(l=3, joint=joint).group(given, RUN).partitions

    pairs = [np.stack([part.class_of, person], axis=1)[part.class_of >= 0] for part in partitions]
    assert [len(np.unique(found, axis=0)) for found in pairs] == [len(found) for found in pairs]


def test_too_few_values_are_refused() -> None:
    with pytest.raises(ld.InfeasibleError, match="LLMSU: l must be at most the number of values") as caught:
        LLMSU(l=4).group(table([0, 1, 2, 0]), RUN)

    assert caught.value.nearest == [{"l": 3}]


@pytest.mark.parametrize("parameters", [{"l": 1}, {"l": 2, "merge": "yes"}, {"l": 2, "joint": 1}])
def test_bad_parameters_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(ld.ParameterError, match="LLMSU: "):
        LLMSU(**parameters)
