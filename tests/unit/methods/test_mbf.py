"""MBF, and the kernel that forms classes from cells, against an obvious reference."""

from __future__ import annotations

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.base.arrays import CodeArray
from ldiversity.methods import MBF, CodedTable, GroupingRun, Partition, SensitiveColumn
from ldiversity.methods._mbf_classes import Cells, best_of

RUN = GroupingRun(workers=1)


def table(*columns: list[int] | CodeArray, person: list[int] | None = None) -> CodedTable:
    """A table of sensitive columns."""
    domain = ld.Domain(tuple(range(50)))
    sensitive = [SensitiveColumn(f"s{i}", np.asarray(codes, dtype=np.int32), domain) for i, codes in enumerate(columns)]
    return CodedTable((), tuple(sensitive), None if person is None else np.asarray(person))


def fullest_first(columns: list[CodeArray], l: int) -> list[set[int]]:
    """The published loop, word by word; a cell that cannot begin a class is set aside."""
    cells: dict[tuple[int, ...], list[int]] = {}
    for row, cell in enumerate(zip(*(codes.tolist() for codes in columns), strict=True)):
        cells.setdefault(cell, []).append(row)
    classes: list[set[int]] = []
    aside: set[tuple[int, ...]] = set()
    while True:
        chosen: list[tuple[int, ...]] = []
        while len(chosen) < l:
            fitting = [
                cell
                for cell, rows in cells.items()
                if rows
                and (chosen or cell not in aside)
                and not any(a == b for other in chosen for a, b in zip(cell, other, strict=True))
            ]
            if not fitting:
                break
            chosen.append(max(fitting, key=lambda cell: len(cells[cell])))
        if not chosen:
            return classes
        if len(chosen) < l:
            aside.add(chosen[0])
        else:
            classes.append({cells[cell].pop(0) for cell in chosen})


def repeats(partition: Partition, codes: CodeArray) -> int:
    """How many rows repeat a code of their class."""
    kept = partition.class_of >= 0
    pairs = np.stack([partition.class_of[kept], codes[kept]])
    return pairs.shape[1] - len(np.unique(pairs, axis=1).T)


def test_a_class_repeats_no_value_of_any_column() -> None:
    grouping = MBF(l=2).group(table([0, 0, 1, 1], [0, 1, 0, 1]), RUN)

    assert grouping.partitions[0].class_of.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(("seed", "l"), [(0, 2), (1, 3), (2, 4), (3, 2), (4, 3)])
def test_there_are_as_many_classes_as_in_the_published_loop(seed: int, l: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [np.minimum(rng.geometric(0.3, 300), 8).astype(np.int32), rng.integers(0, 6, 300, dtype=np.int32)]

    partition = Cells.of(columns).classes(l, 0.0, RUN)

    # Ties between cells are broken differently: the number of classes may differ by a few.
    assert partition.n_classes == pytest.approx(len(fullest_first(columns, l)), rel=0.03)


def test_without_ties_the_classes_are_those_of_the_published_loop() -> None:
    cells = {(0, 0): 9, (1, 1): 7, (2, 2): 5, (0, 1): 3}
    pairs = np.array([cell for cell, size in cells.items() for _ in range(size)], dtype=np.int32)
    columns = [pairs[:, 0].copy(), pairs[:, 1].copy()]

    partition = Cells.of(columns).classes(3, 0.0, RUN)

    assert partition.n_classes == len(fullest_first(columns, 3)) == 5


@pytest.mark.parametrize("power", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_classes_differ_in_every_column_whatever_the_power(power: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [np.minimum(rng.geometric(p, 2000), 20).astype(np.int32) for p in (0.2, 0.5, 0.3)]

    partition = Cells.of(columns).classes(3, power, RUN)

    assert partition.n_classes > 100
    assert partition.sizes.min() >= 3
    assert [repeats(partition, codes) for codes in columns] == [0, 0, 0]


def test_rows_left_over_join_classes_they_differ_from() -> None:
    grouping = MBF(l=2).group(table([0, 0, 1, 1, 2], [0, 0, 1, 1, 2]), RUN)

    assert sorted(grouping.partitions[0].sizes.tolist()) == [2, 3]
    assert grouping.facts["additional_loss"] == 0.25


def test_rows_that_fit_nowhere_are_hidden_and_the_holder_is_told() -> None:
    grouping = MBF(l=2).group(table([0, 0, 0, 1], [0, 1, 2, 3]), RUN)

    assert grouping.facts == {"hidden": 2, "hide_loss": 0.5, "additional_loss": 0.0}
    assert grouping.notes == ("2 records fit into no class, of 4, and will not be published.",)


def test_a_cell_that_cannot_begin_a_class_does_not_end_the_search() -> None:
    # The fullest cell (0, 0) fits beside none of the others; (0, 1) and (1, 0) fit together.
    grouping = MBF(l=2).group(table([0, 0, 0, 0, 1], [0, 0, 0, 1, 0]), RUN)

    assert grouping.partitions[0].class_of.tolist() == [-1, -1, -1, 0, 0]


def test_no_class_at_all_is_refused_with_what_is_possible() -> None:
    with pytest.raises(ld.InfeasibleError, match="differ in every sensitive column") as caught:
        MBF(l=3).group(table([0, 1, 2, 0], [0, 1, 1, 2]), RUN)

    assert caught.value.nearest == [{"l": 2}]


def test_too_few_values_of_a_column_are_refused() -> None:
    with pytest.raises(ld.InfeasibleError, match="because all records have one value of 's1', got 2"):
        MBF(l=2).group(table([0, 1], [0, 0]), RUN)


def test_two_rows_of_a_person_never_share_a_class() -> None:
    rng = np.random.default_rng(5)
    person = rng.integers(0, 150, 600)
    given = table(rng.integers(0, 9, 600), rng.integers(0, 9, 600), person=person.tolist())

    partition = MBF(l=3).group(given, RUN).partitions[0]

    assert partition.suppressed < 60
    assert repeats(partition, person.astype(np.int32)) == 0


def test_two_rows_of_one_person_alone_make_no_class() -> None:
    with pytest.raises(ld.InfeasibleError):
        MBF(l=2).group(table([0, 1], [0, 1], person=[3, 3]), RUN)


def test_cells_of_many_columns_do_not_overflow() -> None:
    columns = [np.array([0, 2**30], dtype=np.int32)] * 5

    assert Cells.of(columns).starts.tolist() == [0, 1, 2]


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ld.ParameterError, match="MBF: l must be"):
        MBF(l=1)


def test_the_cells_of_the_first_rows() -> None:
    cells = Cells.of([np.array([0, 1, 0, 2, 1], dtype=np.int32)]).first(3)

    assert (cells.rows.tolist(), cells.starts.tolist()) == ([0, 2, 1], [0, 2, 3, 3])


def test_in_large_tables_the_power_is_chosen_on_a_sample() -> None:
    rng = np.random.default_rng(3)
    columns = [np.minimum(rng.geometric(rate, 300_000), 9).astype(np.int32) for rate in (0.5, 0.4)]
    cells = Cells.of(columns)

    best = best_of("LLMSU", [cells], 3, (0.0, 2.0, 30.0), RUN)

    assert best.suppressed == min(cells.classes(3, power, RUN).suppressed for power in (0.0, 2.0, 30.0))
