"""Anatomy, (l, e)-Anatomy, L-LMSU and MBF keep their promise on any table, or refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.base.arrays import CodeArray
from ldiversity.methods import (
    LLMSU,
    MBF,
    Anatomy,
    CodedTable,
    Grouping,
    GroupingMethod,
    GroupingRun,
    SemanticAnatomy,
    SensitiveColumn,
)
from ldiversity.methods._anatomy_classes import most_classes
from ldiversity.models import count_classes

RUN = GroupingRun(workers=1)
VALUES = ld.Domain(tuple("abcdefgh"))
TREE = ld.Hierarchy.from_rows([(value, group) for value, group in zip("abcdefgh", "xxxyyzzw", strict=True)])
LEVELS = st.integers(2, 4)


def column(name: str, codes: list[int]) -> SensitiveColumn:
    """A sensitive column of at most eight values."""
    return SensitiveColumn(name, np.array(codes, dtype=np.int32), VALUES)


@st.composite
def one_column(draw: st.DrawFn) -> CodedTable:
    """Any values; also many of one, and several values that each have exactly their share."""
    n = draw(st.integers(1, 40))
    codes = draw(st.lists(st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7]), min_size=n, max_size=n))
    return CodedTable((), (column("first", codes),))


@st.composite
def tight(draw: st.DrawFn) -> tuple[CodedTable, int]:
    """n = k * l rows, several values with exactly k of them."""
    l, k = draw(LEVELS), draw(st.integers(1, 6))
    n_tight = draw(st.integers(1, l))
    codes = [value for value in range(n_tight) for _ in range(k)]
    rest = k * (l - n_tight)
    spread = [n_tight + i % (8 - n_tight) for i in range(rest)]
    return CodedTable((), (column("first", draw(st.permutations(codes + spread))),)), l


@st.composite
def several_columns(draw: st.DrawFn) -> CodedTable:
    """One to three columns, with or without people of several rows."""
    n = draw(st.integers(1, 30))
    most = draw(st.integers(0, 7))
    rows = st.lists(st.integers(0, most), min_size=n, max_size=n)
    columns = [column(name, draw(rows)) for name in ["first", "second", "third"][: draw(st.integers(1, 3))]]
    person = draw(st.none() | st.lists(st.integers(0, 9), min_size=n, max_size=n))
    return CodedTable((), tuple(columns), None if person is None else np.array(person, dtype=np.int64))


def broken_classes(method: GroupingMethod, table: CodedTable, grouping: Grouping) -> list[int]:
    """The classes that break the promise, of all columns."""
    partitions = grouping.partitions * (len(table.sensitive) if len(grouping.partitions) == 1 else 1)
    found = []
    for own, partition in zip(table.sensitive, partitions, strict=True):
        classes = count_classes(partition.class_of, own.codes, partition.n_classes, own.domain)
        found += method.promises(own.domain)[0].failing(classes).tolist()
    return found


def group_or_refuse(method: GroupingMethod, table: CodedTable) -> Grouping | None:
    """The grouping, or None when it was refused."""
    try:
        return method.group(table, RUN)
    except ld.InfeasibleError:
        return None


def repeated_people(grouping: Grouping, person: CodeArray | None) -> int:
    """How many rows share a class with another row of their person."""
    if person is None:
        return 0
    pairs = [np.stack([p.class_of, person], axis=1)[p.class_of >= 0] for p in grouping.partitions]
    return sum(len(found) - len(np.unique(found, axis=0)) for found in pairs)


@given(one_column(), LEVELS)
def test_anatomy_publishes_all_rows_or_refuses(table: CodedTable, l: int) -> None:
    counts = table.sensitive[0].counts
    eligible = counts.max() * l <= counts.sum()

    grouping = group_or_refuse(Anatomy(l), table)

    assert (grouping is not None) == eligible
    assert grouping is None or (broken_classes(Anatomy(l), table, grouping), grouping.facts["hidden"]) == ([], 0)


@given(one_column(), LEVELS)
def test_anatomy_refuses_with_an_l_that_works(table: CodedTable, l: int) -> None:
    try:
        Anatomy(l).group(table, RUN)
    except ld.InfeasibleError as error:
        for goal in error.nearest:
            Anatomy(int(goal["l"]), overflow="suppress").group(table, RUN)


@given(tight())
def test_anatomy_divides_tight_tables_without_rest(case: tuple[CodedTable, int]) -> None:
    table, l = case

    grouping = Anatomy(l).group(table, RUN)

    assert set(grouping.partitions[0].sizes.tolist()) == {l}
    assert broken_classes(Anatomy(l), table, grouping) == []


@given(one_column(), LEVELS)
def test_suppression_hides_exactly_what_the_oracle_says(table: CodedTable, l: int) -> None:
    counts = table.sensitive[0].counts
    classes = most_classes(counts, l)

    grouping = group_or_refuse(Anatomy(l, overflow="suppress"), table)

    assert (grouping is None) == (classes == 0)
    assert grouping is None or grouping.partitions[0].n_classes == classes
    assert grouping is None or grouping.facts["hidden"] == np.maximum(counts - classes, 0).sum()


@given(one_column(), LEVELS)
def test_the_oracle_is_the_largest_number_of_classes(table: CodedTable, l: int) -> None:
    counts = table.sensitive[0].counts

    found = max(k for k in range(table.n_rows + 1) if np.minimum(counts, k).sum() >= k * l)

    assert most_classes(counts, l) == found


@given(one_column(), LEVELS)
def test_unmerged_llmsu_of_one_column_is_optimal(table: CodedTable, l: int) -> None:
    counts = table.sensitive[0].counts

    grouping = group_or_refuse(LLMSU(l), table)

    assert grouping is None or grouping.facts["hidden"] == np.maximum(counts - most_classes(counts, l), 0).sum()


@given(one_column(), LEVELS)
def test_merging_never_hides_fewer_records(table: CodedTable, l: int) -> None:
    merged, plain = (group_or_refuse(LLMSU(l, merge=merge), table) for merge in (True, False))

    assert (merged is None) == (plain is None)
    assert merged is None or merged.facts["hidden"] >= plain.facts["hidden"]


@given(one_column(), LEVELS, st.integers(1, 2), st.sampled_from(["refuse", "suppress"]))
def test_le_anatomy_keeps_its_promise_or_refuses(table: CodedTable, l: int, e: int, overflow: str) -> None:
    method = SemanticAnatomy(l, e, TREE, overflow)

    grouping = group_or_refuse(method, table)

    assert grouping is None or broken_classes(method, table, grouping) == []


@pytest.mark.parametrize(
    "make",
    [
        MBF,
        LLMSU,
        lambda l: LLMSU(l, merge=True),
        lambda l: LLMSU(l, joint=False),
        lambda l: LLMSU(l, merge=True, joint=False),
    ],
    ids=["mbf", "llmsu", "merged", "separate", "merged-separate"],
)
@given(table=several_columns(), l=LEVELS)
def test_several_columns_keep_their_promise_or_are_refused(make: object, table: CodedTable, l: int) -> None:
    method = make(l)

    grouping = group_or_refuse(method, table)

    assert grouping is None or broken_classes(method, table, grouping) == []
    assert grouping is None or repeated_people(grouping, table.person) == 0


@given(several_columns(), LEVELS)
def test_facts_count_what_the_partition_hides(table: CodedTable, l: int) -> None:
    grouping = group_or_refuse(LLMSU(l), table)

    assert grouping is None or grouping.facts["hidden"] == grouping.partitions[0].suppressed
    assert grouping is None or grouping.facts["hide_loss"] == grouping.facts["hidden"] / table.n_rows


@given(several_columns(), LEVELS)
def test_joint_llmsu_never_hides_more_than_mbf(table: CodedTable, l: int) -> None:
    ours, theirs = group_or_refuse(LLMSU(l), table), group_or_refuse(MBF(l), table)

    assert theirs is None or (ours is not None and ours.facts["hidden"] <= theirs.facts["hidden"])
