"""How columns divide records into cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ldiversity.errors import ParameterError, SchemaError
from ldiversity.estimation import By, bins, groups, parse_by
from ldiversity.estimation._by import PlainColumn, as_by
from ldiversity.estimation._cells import index_cells
from ldiversity.hierarchies import Hierarchy


def cells_of(by: By, values: Any) -> list[Any]:
    """The labels of the cells that occur, in order."""
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([pa.array(values)])
    return index_cells([by.encode(column)], len(column)).labels[by.column].to_pylist()


def label_of_each(by: By, values: Any) -> list[Any]:
    coded = by.encode(pa.chunked_array([pa.array(values)]))
    return coded.labels.take(pa.array(coded.codes)).to_pylist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["b", "a", "b"], ["a", "b"]),
        ([3, -1, 3], [-1, 3]),
        ([10**15, -(10**15)], [-(10**15), 10**15]),
        ([1.5, 0.5], [0.5, 1.5]),
        ([True, False], [False, True]),
        (["żółć", "a", "日本"], ["a", "żółć", "日本"]),
        (["b", None, "a"], ["a", "b", None]),
        ([2, None, 1], [1, 2, None]),
        ([None, None], [None]),
        ([float("nan"), 1.0], [1.0, None]),
    ],
)
def test_values_are_cells_in_ascending_order_and_missing_is_the_last(values: list[Any], expected: list[Any]) -> None:
    assert cells_of(PlainColumn("x"), values) == expected


def test_every_row_gets_its_own_label() -> None:
    assert label_of_each(PlainColumn("x"), [5, 2, 9, 2]) == [5, 2, 9, 2]


def test_integers_keep_their_type() -> None:
    assert PlainColumn("x").encode(pa.chunked_array([pa.array([3, 1], pa.int8())])).labels.type == pa.int8()


def test_the_largest_unsigned_integers_are_cells() -> None:
    assert cells_of(PlainColumn("x"), pa.chunked_array([pa.array([2**64 - 1, 2**64 - 2], pa.uint64())])) == [
        2**64 - 2,
        2**64 - 1,
    ]


def test_dictionary_columns_are_cells_of_their_values() -> None:
    column = pa.chunked_array([pa.array(["b", "a", None]).dictionary_encode(), pa.array(["c"]).dictionary_encode()])

    assert cells_of(PlainColumn("x"), column) == ["a", "b", "c", None]


def test_lists_are_no_cells() -> None:
    with pytest.raises(SchemaError, match="by column 'x' must hold single values"):
        PlainColumn("x").encode(pa.chunked_array([pa.array([[1], [2]])]))


def test_two_columns_make_the_combinations_that_occur_in_order() -> None:
    first = PlainColumn("a").encode(pa.chunked_array([["y", "x", "y", "y"]]))
    second = PlainColumn("b").encode(pa.chunked_array([[1, 2, 1, 0]]))

    index = index_cells([first, second], 4)

    assert index.labels.to_pylist() == [{"a": "x", "b": 2}, {"a": "y", "b": 0}, {"a": "y", "b": 1}]
    assert index.of_row.tolist() == [2, 0, 2, 1]


def test_many_wide_columns_do_not_overflow() -> None:
    wide = pa.chunked_array([pa.array(range(30_000))])
    columns = [PlainColumn(name).encode(wide) for name in "abcdefgh"]

    assert index_cells(columns, 30_000).n_cells == 30_000


def test_widths_start_at_zero_and_hold_their_lower_edge() -> None:
    assert label_of_each(bins("x", width=10), [20, 29, 30, -1]) == ["[20, 30)", "[20, 30)", "[30, 40)", "[-10, 0)"]


def test_bins_stand_in_numeric_order() -> None:
    assert cells_of(bins("x", width=5), [100, 5, 10]) == ["[5, 10)", "[10, 15)", "[100, 105)"]


def test_numbers_outside_of_the_edges_are_cells_of_their_own() -> None:
    values = [-1, 0, 17, 18, 65, 66, None]

    labels = label_of_each(bins("x", edges=[0, 18, 65]), values)

    assert labels == ["< 0", "[0, 18)", "[0, 18)", "[18, 65]", "[18, 65]", "> 65", None]


def test_quantiles_have_about_equally_many_records() -> None:
    labels = label_of_each(bins("x", quantiles=4), list(range(100)))

    assert [labels.count(label) for label in dict.fromkeys(labels)] == [25, 25, 25, 25]


def test_a_column_without_numbers_is_one_cell_of_missing_values() -> None:
    assert cells_of(bins("x", width=10), pa.chunked_array([pa.nulls(2, pa.int64())])) == [None]


def test_texts_have_no_bins() -> None:
    with pytest.raises(SchemaError, match="bins: column 'x' must hold numbers, got text"):
        bins("x", width=10).encode(pa.chunked_array([["a"]]))


def test_infinite_numbers_have_no_bins() -> None:
    with pytest.raises(SchemaError, match="must hold finite numbers"):
        bins("x", width=10).encode(pa.chunked_array([[float("inf")]]))


@pytest.mark.parametrize(
    "rule", [{}, {"width": 0}, {"width": 5, "quantiles": 2}, {"edges": [1]}, {"edges": [2, 1]}, {"quantiles": 0}]
)
def test_unfit_bins_are_refused(rule: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        bins("x", **rule)


def test_groups_stand_in_the_declared_order_with_the_others_last() -> None:
    by = groups("zip", {"south": ["2"], "north": ["1", "3"]}, other="elsewhere")

    assert cells_of(by, ["9", "1", "2", None]) == ["south", "north", "elsewhere", None]


def test_groups_match_numbers_by_their_text() -> None:
    assert label_of_each(groups("x", {"low": [1, 2]}), [2, 3]) == ["low", "other"]


def test_others_may_join_a_declared_group() -> None:
    assert cells_of(groups("x", {"a": ["1"], "b": ["2"]}, other="a"), ["1", "2", "3"]) == ["a", "b"]


def test_a_value_in_two_groups_is_refused() -> None:
    with pytest.raises(ParameterError, match="must be in one group, but '1' is in several"):
        groups("x", {"a": ["1"], "b": ["1"]})


def test_a_text_is_no_list_of_values() -> None:
    with pytest.raises(ParameterError, match="group 'a' must list its values"):
        groups("x", {"a": "12"})


def test_a_hierarchy_gives_groups_at_a_level() -> None:
    tree = Hierarchy.from_rows([("130", "13", "1"), ("131", "13", "1"), ("200", "20", "2")])

    assert label_of_each(groups("zip", tree, level=1), ["131", "200", "999"]) == ["13", "20", "other"]


def test_a_level_needs_a_hierarchy() -> None:
    with pytest.raises(ParameterError, match="level must be left out"):
        groups("x", {"a": ["1"]}, level=1)


def test_text_names_columns_and_bins() -> None:
    assert parse_by('sex, "a:b,c" ,age:10,w:0/18/65,z:q4') == (
        PlainColumn("sex"),
        PlainColumn("a:b,c"),
        bins("age", width=10),
        bins("w", edges=[0, 18, 65]),
        bins("z", quantiles=4),
    )


@pytest.mark.parametrize(("level", "expected"), [("", "north"), (":2", "all"), (":0", "130")])
def test_text_names_a_hierarchy_file_and_its_level(tmp_path: Path, level: str, expected: str) -> None:
    (tmp_path / "zones, all.csv").write_text("130;north;all\n200;south;all\n", encoding="utf-8")

    (by,) = parse_by(f'zip@"{tmp_path}/zones, all.csv"{level}')

    assert label_of_each(by, ["130"]) == [expected]


@pytest.mark.parametrize("text", ["", " , ", "age:ten", "age:", ":10", 'a"b', "zip@", "age:10/x"])
def test_unreadable_texts_are_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(ParameterError, match=r"^(by|Bins): "):
        parse_by(text)


def test_a_column_may_be_named_once() -> None:
    with pytest.raises(ParameterError, match="must name each column once, got 'age'"):
        as_by(["age", bins("age", width=10)])


def test_by_holds_names_bins_and_groups_only() -> None:
    with pytest.raises(ParameterError, match="must hold names of columns, bins and groups, got int"):
        as_by(["age", 3])  # type: ignore[list-item]
