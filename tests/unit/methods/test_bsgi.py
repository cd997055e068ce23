"""BSGI: its parameters, what it refuses, whom it leaves out, and cases that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity.errors import InfeasibleError, ParameterError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import (
    BSGI,
    CategoryColumn,
    CodedTable,
    Grouping,
    GroupingRun,
    NumberColumn,
    QuasiColumn,
    SensitiveColumn,
    most_classes,
)
from ldiversity.methods._anatomy_classes import keep_eligible
from ldiversity.methods._bsgi_space import make_keys, make_space
from ldiversity.models import UniqueDiversity
from ldiversity.schema import Domain

RUN = GroupingRun(workers=2)


def sensitive(codes: list[int] | np.ndarray, n_values: int, name: str = "disease") -> SensitiveColumn:
    return SensitiveColumn(name, np.asarray(codes, dtype=np.int32), Domain(tuple(range(n_values))))


def ages(values: list[int]) -> NumberColumn:
    return NumberColumn("age", np.array(values), 0, 100)


def classes(grouping: Grouping) -> list[list[int]]:
    """The rows of each class."""
    class_of = grouping.partitions[0].class_of.tolist()
    found = {g: [row for row, other in enumerate(class_of) if other == g] for g in set(class_of) if g >= 0}
    return sorted(found.values())


# --- Parameters ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"l": 1}, "BSGI: l must be an integer of at least 2"),
        ({"l": 2, "selection": "far"}, "BSGI: selection must be one of 'near', 'paper'"),
        ({"l": 2, "effort": -1}, "BSGI: effort must be an integer from 0 to"),
        ({"l": 2, "swaps": 1.5}, "BSGI: swaps must be an integer from 0 to"),
        ({"l": 2, "swaps": 1, "effort": 1}, "BSGI: swaps must be left out with effort"),
        ({"l": 2, "overflow": "ignore"}, "BSGI: overflow must be one of 'refuse', 'suppress'"),
        ({"l": 2, "weights": {"age": -1}}, "BSGI: weight of 'age' must be a finite number of at least 0"),
        ({"l": 2, "selection": "paper", "effort": 1}, "BSGI: effort must be 0 with selection='paper'"),
    ],
)
def test_parameters_are_checked(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        BSGI(**options)  # type: ignore[arg-type]


def test_a_weight_must_name_a_quasi_identifier() -> None:
    table = CodedTable((ages([1, 2]),), (sensitive([0, 1], 2),))

    with pytest.raises(ParameterError, match="weights must name quasi-identifiers, got 'zip'") as caught:
        BSGI(2, weights={"zip": 1.0}).group(table, RUN)

    assert caught.value.hint == "The quasi-identifiers are 'age'."


def test_every_class_is_promised_l_different_values() -> None:
    assert BSGI(3).promises(Domain((1, 2, 3))) == (UniqueDiversity(3),)


@pytest.mark.parametrize(("counts", "l"), [([4, 3, 3, 2], 3), ([9, 1], 2), ([1, 1, 1, 1], 4), ([], 2), ([0, 0], 2)])
def test_corollary_3_suggests_l(counts: list[int], l: int) -> None:
    assert BSGI.suggest_l(counts) == l


# --- Who shares a class --------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["near", "paper"])
def test_near_records_of_different_values_share_a_class(selection: str) -> None:
    table = CodedTable((ages([10, 11, 50, 51, 90, 91]),), (sensitive([0, 1, 0, 1, 0, 1], 2),))

    assert classes(BSGI(2, selection).group(table, RUN)) == [[0, 1], [2, 3], [4, 5]]


def test_a_value_that_every_class_needs_is_in_every_class() -> None:
    # Value 0 has half of the records; the others lie nearer to each other.
    table = CodedTable((ages([1, 2, 3, 97, 98, 99]),), (sensitive([0, 0, 0, 1, 2, 3], 4),))

    grouping = BSGI(2).group(table, RUN)

    assert [len({0, 1, 2} & set(rows)) for rows in classes(grouping)] == [1, 1, 1]


def test_weights_say_which_loss_counts() -> None:
    columns = (ages([0, 0, 100, 100]), NumberColumn("height", np.array([0, 100, 0, 100]), 0, 100))
    table = CodedTable(columns, (sensitive([0, 1, 2, 3], 4),))

    assert classes(BSGI(2, weights={"height": 5}).group(table, RUN)) == [[0, 2], [1, 3]]
    assert classes(BSGI(2, weights={"age": 5}).group(table, RUN)) == [[0, 1], [2, 3]]


def test_categories_under_one_node_share_a_class() -> None:
    tree = Hierarchy.from_rows([("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*"), ("d", "y", "*")])
    column = CategoryColumn("kind", np.array([0, 1, 2, 3], dtype=np.int32), tree.leaves, tree)
    table = CodedTable((column,), (sensitive([0, 1, 2, 3], 4),))

    assert classes(BSGI(2).group(table, RUN)) == [[0, 2], [1, 3]]


def test_records_without_a_number_share_a_class() -> None:
    missing = np.array([False, True, False, True])
    column = NumberColumn("age", np.array([10, 0, 90, 0]), 0, 100, missing)
    table = CodedTable((column,), (sensitive([0, 1, 2, 3], 4),))

    assert classes(BSGI(2).group(table, RUN)) == [[0, 2], [1, 3]]


@pytest.mark.parametrize("quasi", [(), (NumberColumn("age", np.full(9000, 7), 7, 7),)], ids=["none", "constant"])
def test_records_that_nothing_tells_apart_are_grouped_in_several_parts(quasi: tuple[QuasiColumn, ...]) -> None:
    table = CodedTable(quasi, (sensitive(np.random.default_rng(2).permutation(9000) % 5, 5),))

    partition = BSGI(4).group(table, RUN).partitions[0]

    assert (partition.n_classes, partition.suppressed) == (2250, 0)


def test_more_than_64_values_are_told_apart() -> None:
    codes = np.random.default_rng(3).permutation(10_000) % 200
    table = CodedTable((ages((codes % 64).tolist()),), (sensitive(codes, 200),))

    partition = BSGI(6).group(table, RUN).partitions[0]

    pairs = set(zip(partition.class_of.tolist(), codes.tolist(), strict=True))
    assert (len(pairs), partition.suppressed) == (10_000, 0)


def test_an_empty_table_has_no_classes() -> None:
    grouping = BSGI(2).group(CodedTable((ages([]),), (sensitive([], 3),)), RUN)

    assert grouping.partitions[0].n_classes == 0


def test_progress_ends_at_one() -> None:
    seen: list[float] = []
    table = CodedTable((ages([1, 2]),), (sensitive([0, 1], 2),))

    BSGI(2).group(table, GroupingRun(workers=1, progress=lambda share, _: seen.append(share)))

    assert seen[-1] == 1.0


# --- What cannot be done -------------------------------------------------------------------------------


def test_a_too_frequent_value_is_refused_with_the_largest_l() -> None:
    table = CodedTable((), (sensitive([0, 0, 0, 1, 1, 2, 3], 4),))

    with pytest.raises(InfeasibleError, match="l must be at most 2, because one value of 'disease'") as caught:
        BSGI(3).group(table, RUN)

    assert caught.value.nearest == [{"l": 2}]


def test_no_l_is_offered_when_one_value_has_the_majority() -> None:
    with pytest.raises(InfeasibleError, match="l cannot be reached with all records") as caught:
        BSGI(2).group(CodedTable((), (sensitive([0, 0, 1], 2),)), RUN)

    assert caught.value.nearest == []


@pytest.mark.parametrize("selection", ["near", "paper"])
def test_as_few_records_as_needed_are_suppressed(selection: str) -> None:
    table = CodedTable((), (sensitive([0, 0, 0, 0, 0, 1, 1, 2], 3),))

    grouping = BSGI(2, selection, overflow="suppress").group(table, RUN)

    assert grouping.partitions[0].suppressed == 2
    assert grouping.facts == {"classes": 3, "suppressed": 2}


def test_leaving_records_out_is_not_advised_where_it_cannot_help() -> None:
    table = CodedTable((ages([1, 2, 3, 4]),), (sensitive([0, 0, 1, 1], 2),))

    with pytest.raises(InfeasibleError, match="l must be at most 2") as caught:
        BSGI(3).group(table, RUN)

    assert "overflow" not in str(caught.value)


@pytest.mark.parametrize("l", [3, {"disease": 3, "job": 2}, {"disease": 2, "job": 3}])
def test_columns_that_allow_their_l_only_alone_are_named(l: int | dict[str, int]) -> None:
    """Every record has disease 0 or job 0, so no three differ in both."""
    columns = (sensitive([0, 1, 2, 0, 0], 3), sensitive([0, 0, 0, 1, 2], 3, "job"))

    with pytest.raises(InfeasibleError, match="although each allows it alone") as caught:
        BSGI(l, overflow="suppress").group(CodedTable((), columns), RUN)

    assert "'disease'" in str(caught.value)
    assert "'job'" in str(caught.value)


def test_a_column_without_enough_values_for_its_own_l_is_named() -> None:
    columns = (sensitive([0, 1, 2, 0, 0], 3), sensitive([0, 0, 0, 1, 2], 3, "job"))

    with pytest.raises(InfeasibleError, match="values of 'job' that occur, 3"):
        BSGI({"disease": 3, "job": 4}, overflow="suppress").group(CodedTable((), columns), RUN)


def test_too_few_values_are_refused_even_with_suppression() -> None:
    table = CodedTable((), (sensitive([0, 0, 1, 1], 5),))

    with pytest.raises(InfeasibleError, match="at most 2, the number of different values") as caught:
        BSGI(3, overflow="suppress").group(table, RUN)

    assert caught.value.nearest == [{"l": 2}]


@pytest.mark.parametrize(("counts", "l"), [([5, 2, 1], 2), ([3, 3, 3], 3), ([9, 0, 0], 2), ([7, 5, 4, 1], 3)])
def test_the_most_classes_is_that_of_trying_all(counts: list[int], l: int) -> None:
    known = np.array(counts)

    found = most_classes(known, l)

    assert found == max(k for k in range(known.sum() + 1) if np.minimum(known, k).sum() >= k * l)


def test_what_is_kept_is_eligible_in_every_key() -> None:
    rng = np.random.default_rng(4)
    skewed = sensitive(np.minimum(rng.geometric(0.5, 200), 6) - 1, 6, "disease")
    other = sensitive(np.minimum(rng.geometric(0.4, 200), 6) - 1, 6, "job")
    keys = make_keys(CodedTable((), (skewed, other)))

    rows = keep_eligible(keys.codes, keys.sizes, np.arange(200, dtype=np.int32), 3)

    assert [np.bincount(keys.codes[rows, key]).max() * 3 <= len(rows) for key in range(2)] == [True, True]


# --- Several keys --------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["near", "paper"])
def test_two_records_of_one_person_never_share_a_class(selection: str) -> None:
    table = CodedTable((ages([10, 10, 50, 50]),), (sensitive([0, 1, 2, 3], 4),), person=np.array([7, 7, 9, 9]))

    grouping = BSGI(2, selection).group(table, RUN)

    assert [{*table.person[rows].tolist()} for rows in classes(grouping)] == [{7, 9}, {7, 9}]  # type: ignore[index]


def test_a_person_with_too_many_rows_is_refused() -> None:
    table = CodedTable((), (sensitive([0, 1, 2, 3], 4),), person=np.array([7, 7, 7, 9]))

    with pytest.raises(InfeasibleError, match="one person of the person column"):
        BSGI(2).group(table, RUN)


@pytest.mark.parametrize("selection", ["near", "paper"])
def test_records_of_a_class_differ_in_every_sensitive_column(selection: str) -> None:
    columns = (sensitive([0, 1, 0, 1], 2, "disease"), sensitive([0, 0, 1, 1], 2, "job"))
    table = CodedTable((ages([1, 2, 3, 4]),), columns)

    assert classes(BSGI(2, selection).group(table, RUN)) == [[0, 3], [1, 2]]


def test_a_record_moves_on_so_that_all_are_placed() -> None:
    # Next to each other are records 1 and 3; but then 0 and 2, who share a disease, would remain.
    columns = (sensitive([0, 1, 0, 2], 3, "disease"), sensitive([0, 1, 1, 0], 2, "job"))
    table = CodedTable((ages([50, 0, 50, 0]),), columns)

    assert classes(BSGI(2).group(table, RUN)) == [[0, 1], [2, 3]]


def test_records_that_fit_nowhere_are_counted() -> None:
    columns = (sensitive([0, 0, 1, 2], 3, "disease"), sensitive([0, 1, 0, 0], 2, "job"))
    table = CodedTable((), columns)

    with pytest.raises(InfeasibleError, match="one value of 'job'"):
        BSGI(2).group(table, RUN)


def test_many_people_with_several_rows_are_all_placed() -> None:
    rng = np.random.default_rng(5)
    table = CodedTable(
        (ages(rng.integers(0, 100, 20_000).tolist()),),
        (sensitive(rng.integers(0, 30, 20_000), 30), sensitive(rng.integers(0, 25, 20_000), 25, "job")),
        person=rng.integers(0, 5_000, 20_000),
    )

    partition = BSGI(4).group(table, RUN).partitions[0]

    assert partition.suppressed == 0
    assert partition.n_classes > 4_900


def test_a_person_column_without_repetition_changes_nothing() -> None:
    table = CodedTable((), (sensitive([0, 1], 2),), person=np.array([5, 6]))

    assert make_keys(table).names == ("'disease'",)


def test_a_tree_is_laid_out_so_that_its_nodes_are_runs_the_rarer_first() -> None:
    tree = Hierarchy.from_rows([("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*")])
    column = CategoryColumn("kind", np.array([0, 1, 2], dtype=np.int32), tree.leaves, tree)

    space = make_space("test", CodedTable((column,), (sensitive([0, 1, 2], 3),)), None)

    assert space.points[:, 0].tolist() == [1.0, 0.0, 2.0]
    assert space.loss.last.reshape(3, 3).tolist() == [[0, 0, 2], [1, 2, 2], [2, 2, 2]]
