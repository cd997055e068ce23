"""Mondrian: what it cuts, what it refuses, and that it does as a plain recursion does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ldiversity.errors import InfeasibleError, ParameterError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import (
    TP,
    CategoryColumn,
    CodedTable,
    GroupingMethod,
    GroupingRun,
    Incognito,
    Mondrian,
    NumberColumn,
    SensitiveColumn,
)
from ldiversity.models import FrequencyDiversity, Population, PrivacyModel, UniqueDiversity, parse_model
from ldiversity.schema import Domain

RUN = GroupingRun(workers=1)
TREE = Hierarchy.from_rows(
    [("civ", "with", "*"), ("alone", "without", "*"), ("army", "with", "*"), ("apart", "without", "*")]
)


def numbers(name: str, values: list[float], missing: list[bool] | None = None) -> NumberColumn:
    absent = None if missing is None else np.array(missing)
    return NumberColumn(name, np.array(values), min(values), max(values), absent)


def sensitive(codes: list[int], name: str = "disease") -> SensitiveColumn:
    return SensitiveColumn(name, np.array(codes, dtype=np.int32), Domain(tuple("abcdefgh"[: max(codes) + 1])))


def classes(table: CodedTable, method: Mondrian) -> list[list[int]]:
    partition = method.group(table, RUN).partitions[0]
    return sorted(np.flatnonzero(partition.class_of == c).tolist() for c in range(partition.n_classes))


def test_numbers_are_cut_at_the_median() -> None:
    table = CodedTable((numbers("age", [1, 9, 2, 8]),), (sensitive([0, 0, 1, 1]),))

    assert classes(table, Mondrian(l=2)) == [[0, 2], [1, 3]]


def test_a_cut_that_breaks_the_rule_is_not_made() -> None:
    table = CodedTable((numbers("age", [1, 2, 8, 9]),), (sensitive([0, 0, 1, 1]),))

    assert classes(table, Mondrian(l=2)) == [[0, 1, 2, 3]]


def test_the_next_column_is_cut_when_the_widest_cannot_be() -> None:
    table = CodedTable(
        (numbers("age", [0, 0, 9, 9]), NumberColumn("height", np.array([1, 2, 1, 2]), 0, 10)),
        (sensitive([0, 0, 1, 1]),),
    )

    assert classes(table, Mondrian(l=2)) == [[0, 2], [1, 3]]


def test_equal_values_stay_together_when_strict() -> None:
    table = CodedTable((numbers("age", [1, 5, 5, 5, 5, 9]),), (sensitive([0, 0, 1, 0, 1, 1]),))

    assert classes(table, Mondrian(l=2)) == [[0, 1, 2, 3, 4, 5]]


def test_equal_values_may_part_when_relaxed() -> None:
    table = CodedTable((numbers("age", [1, 5, 5, 9]),), (sensitive([0, 1, 0, 1]),))

    assert classes(table, Mondrian(l=2, strict=False)) == [[0, 1], [2, 3]]


def test_missing_numbers_are_a_side_of_their_own() -> None:
    table = CodedTable((numbers("age", [1, 1, 0, 0], [False, False, True, True]),), (sensitive([0, 1, 0, 1]),))

    assert classes(table, Mondrian(l=2)) == [[0, 1], [2, 3]]


def test_a_missing_number_that_cannot_stand_alone_goes_with_the_greatest() -> None:
    table = CodedTable((numbers("age", [1, 2, 9, 0], [False, False, False, True]),), (sensitive([0, 1, 0, 1]),))

    assert classes(table, Mondrian(l=2)) == [[0, 1], [2, 3]]


def test_a_node_of_a_hierarchy_is_cut_into_its_children() -> None:
    status = CategoryColumn("status", np.array([0, 1, 2, 3], dtype=np.int32), TREE.leaves, TREE)
    table = CodedTable((status,), (sensitive([0, 0, 1, 1]),))

    assert classes(table, Mondrian(l=2)) == [[0, 2], [1, 3]]


def test_a_cut_may_have_more_than_two_sides() -> None:
    flat = Hierarchy.from_rows([("a", "*"), ("b", "*"), ("c", "*")])
    status = CategoryColumn("status", np.array([0, 0, 1, 1, 2, 2], dtype=np.int32), flat.leaves, flat)
    table = CodedTable((status,), (sensitive([0, 1, 0, 1, 0, 1]),))

    assert classes(table, Mondrian(l=2)) == [[0, 1], [2, 3], [4, 5]]


def test_children_too_small_to_stand_alone_share_a_side() -> None:
    flat = Hierarchy.from_rows([("a", "*"), ("b", "*"), ("c", "*")])
    status = CategoryColumn("status", np.array([0, 1, 2, 2], dtype=np.int32), flat.leaves, flat)
    table = CodedTable((status,), (sensitive([0, 1, 0, 1]),))

    assert classes(table, Mondrian(l=2)) == [[0, 1], [2, 3]]


def test_categories_without_a_hierarchy_are_cut_in_their_order() -> None:
    status = CategoryColumn("status", np.array([3, 0, 1, 2], dtype=np.int32), ("a", "b", "c", "d"))
    table = CodedTable((status,), (sensitive([0, 1, 0, 1]),))

    assert classes(table, Mondrian(l=2)) == [[0, 3], [1, 2]]


def test_a_column_of_weight_zero_is_not_cut() -> None:
    table = CodedTable((numbers("age", [1, 9, 2, 8]),), (sensitive([0, 0, 1, 1]),))

    assert classes(table, Mondrian(l=2, weights={"age": 0})) == [[0, 1, 2, 3]]


def test_every_sensitive_column_must_satisfy_the_rule() -> None:
    table = CodedTable(
        (numbers("age", [1, 9, 2, 8]),), (sensitive([0, 0, 1, 1]), sensitive([0, 1, 0, 1], name="income"))
    )

    assert classes(table, Mondrian(l=2)) == [[0, 1, 2, 3]]


def test_a_rule_that_is_not_monotone_is_kept() -> None:
    table = CodedTable((numbers("age", [1, 2, 3, 4]),), (sensitive([0, 1, 2, 3]),))

    assert classes(table, Mondrian(model=UniqueDiversity(2))) == [[0, 1], [2, 3]]


def test_a_text_is_a_model() -> None:
    assert Mondrian(model="frequency:3").promises(Domain(("a",))) == (FrequencyDiversity(3),)


def test_parameters_name_the_model() -> None:
    parameters = Mondrian(model=UniqueDiversity(2), weights={"age": 2}).parameters()

    assert parameters == {"model": {"name": "unique", "l": 2}, "strict": True, "weights": {"age": 2.0}}


def test_a_table_without_quasi_identifiers_is_one_class() -> None:
    assert classes(CodedTable((), (sensitive([0, 1]),)), Mondrian(l=2)) == [[0, 1]]


@pytest.mark.parametrize("options", [{}, {"model": [3]}, {"model": 3}, {"l": 1}, {"l": 2, "strict": 1}])
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Mondrian(**options)


def test_weights_of_unknown_columns_are_refused() -> None:
    table = CodedTable((numbers("age", [1, 2]),), (sensitive([0, 1]),))

    with pytest.raises(ParameterError, match="weights must name quasi-identifiers, got 'zip'"):
        Mondrian(l=2, weights={"zip": 1}).group(table, RUN)


def test_equal_records_of_one_person_are_published_in_classes_of_the_same_region() -> None:
    ages = numbers("age", [20, 20, 21, 21])
    table = CodedTable((ages,), (sensitive([0, 1, 0, 1]),), np.array([7, 7, 9, 9]))

    class_of = Mondrian(l=2).group(table, RUN).partitions[0].class_of

    assert class_of[0] != class_of[1]
    assert class_of[2] != class_of[3]
    assert np.bincount(class_of).tolist() == [2, 2]


def test_a_person_with_too_many_rows_is_refused_with_an_l_that_works() -> None:
    table = CodedTable((numbers("age", range(6)),), (sensitive([0, 1, 2, 0, 1, 2]),), np.array([0, 0, 0, 1, 2, 3]))

    with pytest.raises(InfeasibleError, match="one person has 3 of 6 records") as caught:
        Mondrian(l=3).group(table, RUN)

    assert caught.value.nearest == [{"l": 2}]
    Mondrian(l=2).group(table, RUN)


def test_what_cannot_be_divided_by_people_names_a_method_that_can() -> None:
    # One of five is in each part at least once, and each part must have five.
    table = CodedTable((), (sensitive([0, 0, 1, 1, 2, 2]),), np.array([0, 0, 1, 1, 2, 2]))

    with pytest.raises(InfeasibleError, match="divided into 2 classes") as caught:
        Mondrian(model="k-anonymity:4").group(table, RUN)

    assert "BSGI" in str(caught.value)


def test_an_infeasible_rule_names_what_the_whole_table_reaches() -> None:
    table = CodedTable((numbers("age", [1, 2, 3, 4, 5]),), (sensitive([0, 1, 0, 1, 2]),))

    with pytest.raises(InfeasibleError, match=r"reach 2\.5") as caught:
        Mondrian(l=3).group(table, RUN)

    assert caught.value.nearest == [{"l": 2}]


@pytest.mark.parametrize(
    ("method", "asked", "hint"),
    [
        (Mondrian(l=3), "l=3", "l=2 holds."),
        (Mondrian(model="frequency:3"), "model='frequency:3'", "model='frequency:2' holds."),
        (Mondrian(l=2, model="frequency:3"), "model='frequency:3'", "model='frequency:2' holds."),
        (Mondrian(l=2, model="distinct:4"), "model='distinct:4'", "model='distinct:3' holds."),
        (Incognito(l=3), "l=3", "l=2 holds."),
        (TP(l=3), "l=3", "l=2 holds."),
    ],
    ids=repr,
)
def test_an_infeasible_rule_is_named_as_it_was_asked_for(method: GroupingMethod, asked: str, hint: str) -> None:
    column = sensitive([0, 1, 0, 1, 2], "{}")  # a name that is no place to fill

    with pytest.raises(InfeasibleError, match=rf"must satisfy {asked} for '\{{\}}', but all records") as caught:
        method.group(CodedTable((), (column,)), RUN)

    assert caught.value.hint == hint


def test_no_records_are_infeasible() -> None:
    empty = SensitiveColumn("disease", np.empty(0, dtype=np.int32), Domain(("a", "b")))

    with pytest.raises(InfeasibleError, match="got none"):
        Mondrian(l=2).group(CodedTable((), (empty,)), RUN)


def test_progress_ends_at_one() -> None:
    seen: list[float] = []
    table = CodedTable((numbers("age", [1, 9, 2, 8]),), (sensitive([0, 0, 1, 1]),))

    Mondrian(l=2).group(table, GroupingRun(1, lambda share, _: seen.append(share)))

    assert seen[-1] == 1.0


SHARES = [
    (1 / 2, 3 / 8, 5 / 8, 1 / 4, 3 / 4),
    *((share,) for share in (1 / 8, 7 / 8, 1 / 16, 15 / 16, 1 / 32, 31 / 32)),
]


class Slow:
    """The same cuts as a recursion over lists of rows: numbers, and categories in their order."""

    def __init__(
        self, columns: list[NDArray[Any]], widths: list[float], codes: NDArray[Any], rule: PrivacyModel
    ) -> None:
        self.columns, self.widths, self.codes, self.rule = columns, widths, codes, rule
        self.domain = Domain(tuple(range(int(codes.max()) + 1)))

    def holds(self, rows: list[int]) -> bool:
        counts = np.bincount(self.codes[rows], minlength=len(self.domain))
        population = Population(self.domain, np.bincount(self.codes, minlength=len(self.domain)))
        return bool(self.rule.holds(counts[None, :], population)[0])

    def cuts(self, values: NDArray[Any], share: float, *, both: bool) -> list[float]:
        """Greatest values of the first side: the one nearest to the share, then the other one."""
        ordered = np.sort(values)
        wanted = min(max(int(np.ceil(share * len(ordered))), 1), len(ordered) - 1)
        middle = ordered[wanted - 1]
        below, upto = int((values < middle).sum()), int((values <= middle).sum())
        above = [(upto - wanted, 0, middle)] if upto < len(values) else []
        under = [(wanted - below, 1, values[values < middle].max())] if below else []
        return [value for _, _, value in sorted(above + under)][: 2 if both else 1]

    def divide(self, rows: list[int]) -> list[list[int]]:
        spans = [
            float(np.ptp(column[rows])) / width if width > 0 else 0.0
            for column, width in zip(self.columns, self.widths, strict=True)
        ]
        order = sorted(range(len(spans)), key=lambda k: -spans[k])
        for shares in SHARES:
            for k in order:
                values = self.columns[k][rows]
                for share in shares if spans[k] > 0 else ():
                    for bound in self.cuts(values, share, both=share == 1 / 2):
                        left = [row for row in rows if self.columns[k][row] <= bound]
                        right = [row for row in rows if self.columns[k][row] > bound]
                        if self.holds(left) and self.holds(right):
                            return self.divide(left) + self.divide(right)
        return [rows]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("text", ["frequency:2", "frequency:3", "unique:2", "distinct:3"])
def test_cuts_are_those_of_the_plain_recursion(seed: int, text: str) -> None:
    rng = np.random.default_rng(seed)
    n = 7 if text == "unique:2" else 150
    codes = rng.permutation(n) if text == "unique:2" else rng.integers(0, 5, n)
    columns = [rng.integers(0, 6, n), rng.normal(size=n).round(1), rng.integers(0, 100_000, n)]
    widths = [float(np.ptp(column)) for column in columns]
    table = CodedTable(
        tuple(NumberColumn(str(k), c, float(c.min()), float(c.max())) for k, c in enumerate(columns)),
        (SensitiveColumn("s", codes.astype(np.int32), Domain(tuple(range(int(codes.max()) + 1)))),),
    )

    slow = Slow(columns, widths, codes, parse_model(text)).divide(list(range(n)))

    assert classes(table, Mondrian(model=text)) == sorted(slow)


def test_threads_do_not_change_the_classes() -> None:
    rng = np.random.default_rng(0)
    n = 150_000
    table = CodedTable(
        (numbers("x", rng.integers(0, 500, n).tolist()), numbers("y", rng.normal(size=n).tolist())),
        (sensitive(rng.integers(0, 6, n).tolist()),),
    )

    one = Mondrian(l=2).group(table, GroupingRun(workers=1)).partitions[0]
    three = Mondrian(l=2).group(table, GroupingRun(workers=3)).partitions[0]

    assert np.array_equal(one.class_of, three.class_of)


def test_a_large_domain_is_counted_in_blocks() -> None:
    n = 16_384
    table = CodedTable(
        (numbers("x", list(range(n))),),
        (SensitiveColumn("s", np.arange(n, dtype=np.int32) % 4, Domain(tuple(range(5000)))),),
    )

    partition = Mondrian(l=4).group(table, RUN).partitions[0]

    assert partition.sizes.tolist() == [4] * (n // 4)
