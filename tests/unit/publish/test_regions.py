"""Published regions against slow, obvious ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.hierarchies._origin import Origin
from ldiversity.methods import CategoryColumn, CodedTable, NumberColumn, QuasiColumn, SensitiveColumn
from ldiversity.publish._coding import Reading
from ldiversity.publish._regions import ClassRowsInOrder, make_forms, make_regions

TREE = ld.Hierarchy.from_rows(
    [(str(leaf), f"pair-{leaf // 2}", f"half-{leaf // 4}", "*") for leaf in range(8)],
)


def regions(column: QuasiColumn, class_of: Any, *, marginals: bool = False, **asked: Any) -> tuple[list[Any], Any]:
    classes = np.asarray(class_of, dtype=np.int32)
    secret = SensitiveColumn("s", np.zeros(len(classes), dtype=np.int32), ld.Domain(("a",)))
    kind = pa.int64() if isinstance(column, NumberColumn) else pa.string()
    reading = Reading(CodedTable((column,), (secret,)), {"x": kind}, {}, pa.table({}))
    rows = ClassRowsInOrder.of(classes, int(classes.max()) + 1)
    forms = make_forms(reading, rows, marginals=marginals)
    given = {"levels": {}, "suppress_differences": False, **asked}
    return make_regions(reading, rows, forms, **given)["x"].to_pylist(), forms["x"]


def number(values: Any, missing: Any = None) -> NumberColumn:
    return NumberColumn("x", np.asarray(values), 0, 100, None if missing is None else np.asarray(missing, dtype=bool))


def category(codes: Any, *, tree: ld.Hierarchy | None = None) -> CategoryColumn:
    labels = TREE.leaves if tree is not None else tuple("abcdefgh")
    return CategoryColumn("x", np.asarray(codes, dtype=np.int32), labels, tree)


def test_an_interval_is_the_least_and_the_greatest_number_of_a_class() -> None:
    cells, form = regions(number([5, 1, 9, 3]), [1, 0, 1, 0])

    assert cells == [{"low": 1, "high": 3}, {"low": 5, "high": 9}]
    assert (form.kind, form.low, form.high) == ("interval", 1, 9)


def test_a_class_with_a_missing_number_shows_no_interval() -> None:
    cells, form = regions(number([5, 0, 9, 3], missing=[0, 1, 0, 0]), [1, 1, 0, 0])

    assert cells == [{"low": 3, "high": 9}, {"low": None, "high": None}]
    assert (form.low, form.high) == (3, 9)


def test_rows_that_are_not_published_have_no_part_in_what_is_public() -> None:
    cells, form = regions(number([5, 99, 9]), [0, -1, 0])

    assert cells == [{"low": 5, "high": 9}]
    assert (form.low, form.high) == (5, 9)


def test_a_list_has_the_values_of_a_class_each_once_in_their_order() -> None:
    cells, form = regions(category([4, 1, 4, 2, 7]), [0, 0, 0, 1, -1])

    assert cells == [["b", "e"], ["c"]]
    assert (form.kind, form.labels) == ("values", ("b", "c", "e"))


def test_a_node_is_the_lowest_common_ancestor() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 8, 600)
    class_of = np.sort(np.concatenate([np.arange(200), rng.integers(0, 200, 400)]))

    cells, form = regions(category(codes, tree=TREE), class_of)

    slow = [TREE.lowest_common_ancestor([str(c) for c in codes[class_of == k]]).label for k in range(200)]
    assert cells == slow
    assert (form.kind, form.labels) == ("node", TREE.leaves)


@pytest.mark.parametrize(("level", "expected"), [(1, ["pair-0", "pair-2"]), (2, ["half-0", "half-1"]), (3, ["*", "*"])])
def test_full_domain_recoding_publishes_every_value_at_its_level(level: int, expected: list[str]) -> None:
    cells, _ = regions(category([0, 0, 4, 5], tree=TREE), [0, 0, 1, 1], levels={"x": level})

    assert cells == expected


def test_an_automatic_hierarchy_is_published_without_values_of_records_left_out() -> None:
    made = replace(TREE, origin=Origin("flat"))
    cells, form = regions(category([0, 1, 3, 6], tree=made), [0, 0, 1, -1], marginals=True)

    assert cells == ["pair-0", "3"]
    assert form.labels == form.hierarchy.leaves == ("0", "1", "3")
    assert "pair-3" not in form.hierarchy.labels[1]
    assert form.marginal.values.tolist() == [0, 1, 2]


def test_a_class_that_does_not_fit_the_level_is_a_fault() -> None:
    with pytest.raises(ld.InternalError, match="under one node of level 1"):
        regions(category([0, 4], tree=TREE), [0, 0], levels={"x": 1})


def test_suppressed_numbers_are_missing_where_records_differ() -> None:
    cells, _ = regions(number([5, 5, 9, 3]), [0, 0, 1, 1], suppress_differences=True)

    assert cells == [{"low": 5, "high": 5}, {"low": None, "high": None}]


def test_suppressed_nodes_are_the_root_where_records_differ() -> None:
    cells, _ = regions(category([0, 0, 4, 5], tree=TREE), [0, 0, 1, 1], suppress_differences=True)

    assert cells == ["0", "*"]


def test_suppressed_lists_have_all_public_values_where_records_differ() -> None:
    cells, _ = regions(category([0, 0, 4, 5, 7]), [1, 1, 0, 0, 2], suppress_differences=True)

    assert cells == [["a", "e", "f", "h"], ["a"], ["h"]]


def test_marginals_count_exact_values_of_published_records() -> None:
    _, of_numbers = regions(number([5, 5, 0, 3, 7], missing=[0, 0, 1, 0, 0]), [0, 0, 0, 0, -1], marginals=True)
    _, of_lists = regions(category([4, 1, 4, 7]), [0, 0, 0, -1], marginals=True)
    _, of_nodes = regions(category([4, 1, 4, 7], tree=TREE), [0, 0, 0, -1], marginals=True)

    assert (of_numbers.marginal.values.tolist(), of_numbers.marginal.counts.tolist()) == ([3, 5], [1, 2])
    assert of_numbers.marginal.missing == 1
    assert (of_lists.marginal.values.tolist(), of_lists.marginal.counts.tolist()) == ([0, 1], [1, 2])
    assert (of_nodes.marginal.values.tolist(), of_nodes.marginal.counts.tolist()) == ([1, 4], [1, 2])


def test_too_many_different_numbers_have_no_marginal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.publish._regions.MOST_VALUES", 2)

    assert regions(number([1, 2, 2]), [0, 0, 0], marginals=True)[1].marginal is not None
    assert regions(number([1, 2, 3]), [0, 0, 0], marginals=True)[1].marginal is None


def test_rows_are_sorted_by_class_and_keep_their_order() -> None:
    class_of = np.array([2, 0, -1, 2, 1, 0], dtype=np.int32)

    rows = ClassRowsInOrder.of(class_of, 3)

    assert rows.order.tolist() == [1, 5, 4, 0, 3]
    assert rows.starts.tolist() == [0, 2, 3, 5]
    assert rows.firsts.tolist() == [1, 4, 0]


def test_all_numbers_missing_leaves_no_range() -> None:
    cells, form = regions(number([0, 0], missing=[1, 1]), [0, 0])

    assert cells == [{"low": None, "high": None}]
    assert (form.low, form.high, form.span) == (None, None, 0.0)
