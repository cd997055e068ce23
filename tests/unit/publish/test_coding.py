"""How a table becomes numbers and codes for methods that group records."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.base.randomness import FreshWords
from ldiversity.engines import LocalEngine
from ldiversity.methods import CategoryColumn, NumberColumn
from ldiversity.publish._coding import Reading, read_table
from ldiversity.publish._columns_read import PersonReader
from ldiversity.tables import Coder, fit_coder, open_source

TREE = ld.Hierarchy.from_rows([("a", "ab"), ("b", "ab"), ("c", "c")])


def read(column: pa.Array, *, missing: str = "refuse", **given: Any) -> Reading:
    """Read one quasi-identifier beside a sensitive column that numbers the rows."""
    source = open_source(pa.table({"x": column, "s": np.arange(len(column))}))
    coder, _ = fit_coder(source, ld.Sensitive("s", missing=missing))
    words = FreshWords.from_insecure_seed(1)
    return read_table(source, engine=LocalEngine(), quasi=["x"], plain=[], coders={"s": coder}, words=words, **given)


def in_source_order(reading: Reading, values: np.ndarray) -> list[Any]:
    listed: list[Any] = values[np.argsort(reading.table.sensitive[0].codes)].tolist()
    return listed


@pytest.mark.parametrize(
    ("column", "dtype", "values"),
    [
        (pa.array([3, -4, 5], pa.int64()), "int32", [3, -4, 5]),
        (pa.array([3, 4, 2**40], pa.int64()), "int64", [3, 4, 2**40]),
        (pa.array([1, 2, 255], pa.uint8()), "int32", [1, 2, 255]),
        (pa.array([0.1, -0.0, 2.5]), "float64", [0.1, 0.0, 2.5]),
        (pa.array([0.5, 1.5], pa.float32()), "float32", [0.5, 1.5]),
        (pa.array([dt.date(1970, 1, 2), dt.date(1969, 12, 31)]), "int32", [1, -1]),
        (pa.array([1, 2**50], pa.timestamp("us")), "int64", [1, 2**50]),
    ],
)
def test_numbers_days_and_instants_keep_their_exact_values(column: pa.Array, dtype: str, values: list[Any]) -> None:
    reading = read(column)

    (number,) = reading.table.numbers
    assert number.values.dtype == dtype
    assert in_source_order(reading, number.values) == values
    assert (number.low, number.high, number.missing) == (min(values), max(values), None)


@pytest.mark.parametrize("gap", [None, float("nan")])
def test_a_missing_number_is_marked_and_has_no_part_in_the_range(gap: Any) -> None:
    reading = read(pa.array([5.0, gap, 7.0]))

    (number,) = reading.table.numbers
    assert number.missing is not None
    assert in_source_order(reading, number.missing) == [False, True, False]
    assert (number.low, number.high) == (5.0, 7.0)


def test_a_column_without_any_number_is_read() -> None:
    (number,) = read(pa.array([None, None], pa.int64())).table.numbers

    assert number.missing is not None
    assert number.missing.all()
    assert (number.low, number.high) == (0, 0)


@pytest.mark.parametrize("cell", [float("inf"), float("-inf")])
def test_infinite_numbers_are_refused(cell: float) -> None:
    with pytest.raises(ld.SchemaError, match="'x' must hold finite numbers"):
        read(pa.array([1.0, cell]))


def test_numbers_beyond_63_bits_are_refused() -> None:
    with pytest.raises(ld.SchemaError, match="at most 63 bits"):
        read(pa.array([1, 2**63], pa.uint64()))


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        (pa.array(["b", "a", None, "b"]), ("(missing)", "a", "b")),
        (pa.array([True, False, True, None]), ("(missing)", "False", "True")),
        (pa.array(["", "x", "", "x"]), ("", "x")),
    ],
)
def test_texts_and_truth_values_become_categories_in_the_order_of_their_texts(
    column: pa.Array, labels: tuple[str, ...]
) -> None:
    reading = read(column)

    (category,) = reading.table.categories
    assert category.labels == labels
    texts = ["(missing)" if value is None else str(value) for value in column.to_pylist()]
    assert [labels[code] for code in in_source_order(reading, category.codes)] == texts


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["b", "a", None, ""]),
        pa.array([True, False, None]),
        pa.array([3, None, -1], pa.int16()),
        pa.array([0.5, None]),
        pa.array([dt.date(2020, 1, 1), None]),
        pa.array([dt.datetime(2020, 1, 1, 3, 4, 5), None]),  # noqa: DTZ001 - a time without a zone
        pa.array([1, 2], pa.timestamp("ms", tz="Europe/Berlin")),
        pa.array([1, 86400000], pa.date64()),
    ],
)
def test_columns_that_are_published_exactly_come_back(column: pa.Array) -> None:
    reading = read(column, exact=True)

    rows = np.argsort(reading.table.sensitive[0].codes).astype(np.int32)
    cells = reading.exact(reading.table.quasi[0], rows)
    assert cells.type == column.type
    assert cells.to_pylist() == column.to_pylist()


def test_values_that_only_a_dictionary_lists_are_not_read() -> None:
    encoded = pa.DictionaryArray.from_arrays(pa.array([0, 2]), ["a", "secret", "b"])

    (category,) = read(encoded).table.categories

    assert category.labels == ("a", "b")


def test_labels_stand_in_the_order_of_the_hierarchy() -> None:
    reading = read(pa.array(["c", "a", "a"]), hierarchies={"x": TREE})

    (category,) = reading.table.categories
    assert category.labels == TREE.leaves
    assert in_source_order(reading, category.codes) == [2, 0, 0]


@pytest.mark.parametrize(
    ("column", "leaves"),
    [
        (pa.array([1, 2]), ("1", "2")),
        (pa.array([1.0, 2.0]), ("1", "2")),
        (pa.array([1.0, 2.0]), ("1.0", "2.0")),
        (pa.array([True, False]), ("True", "False")),
        (pa.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1)]), ("2020-01-01", "2021-01-01")),
    ],
)
def test_values_are_matched_with_leaves_by_their_text(column: pa.Array, leaves: tuple[str, str]) -> None:
    reading = read(column, hierarchies={"x": ld.Hierarchy.from_rows([(leaf,) for leaf in leaves])})

    (category,) = reading.table.categories
    assert in_source_order(reading, category.codes) == [0, 1]


def test_a_hierarchy_that_misses_values_counts_them_and_names_none() -> None:
    column = pa.array(["a", *(f"v{number:02d}" for number in range(12))])

    with pytest.raises(ld.SchemaError, match="'x' must be a leaf of its hierarchy, got 12 that are not") as caught:
        read(column, hierarchies={"x": TREE})

    assert "v00" not in str(caught.value)


def test_a_label_that_names_two_sets_of_leaves_is_refused() -> None:
    tree = ld.Hierarchy.from_rows([("a", "b", "*"), ("b", "c", "*")])

    with pytest.raises(ld.SchemaError, match=r"x: .*'b' names two"):
        read(pa.array(["a", "b"]), hierarchies={"x": tree})


def test_missing_values_get_a_leaf_under_the_root() -> None:
    (category,) = read(pa.array(["a", None]), hierarchies={"x": TREE}).table.categories

    assert category.hierarchy is not None
    assert category.hierarchy.path(None) == ("(missing)", "(missing)", "*")


def test_a_leaf_of_the_user_for_missing_values_is_kept() -> None:
    tree = ld.Hierarchy.from_rows([("a", "known", "*"), ("(missing)", "unknown", "*")])

    (category,) = read(pa.array(["a", None]), hierarchies={"x": tree}).table.categories

    assert category.hierarchy == tree


def test_a_text_like_the_label_of_missing_values_is_refused_beside_them() -> None:
    with pytest.raises(ld.SchemaError, match="beside missing values"):
        read(pa.array(["(missing)", None]))


@pytest.mark.parametrize(
    "column", [pa.array([17, 90]), pa.array(["x", None]), pa.array([dt.date(2020, 1, 1)]), pa.array([True, False])]
)
def test_methods_that_need_hierarchies_get_automatic_ones(column: pa.Array) -> None:
    (category,) = read(column, automatic=True).table.categories

    assert category.hierarchy is not None
    assert category.hierarchy.leaves == category.labels


def test_too_many_values_to_publish_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.publish._shapes.MOST_VALUES", 2)

    with pytest.raises(ld.SchemaError, match="at most 2 different values, got 3"):
        read(pa.array(["a", "b", "c"]))
    with pytest.raises(ld.SchemaError, match="at most 2 different values, got 3"):
        read(pa.array(["a"]), hierarchies={"x": TREE})
    assert len(read(pa.array(["a", "b", "c"]), exact=True).table.categories[0].labels) == 3


def test_rows_whose_sensitive_value_is_missing_are_left_out_on_request() -> None:
    source = open_source(pa.table({"x": [1, 2, 3], "s": ["a", None, "b"]}))
    coder = Coder("s", ld.Domain(("a", "b")), pa.string(), missing="drop")

    reading = read_table(
        source, engine=LocalEngine(), quasi=["x"], plain=["x"], coders={"s": coder}, words=FreshWords()
    )

    assert sorted(reading.table.numbers[0].values.tolist()) == [1, 3]
    assert sorted(reading.plain["x"].to_pylist()) == [1, 3]


def test_people_are_told_apart_whatever_the_column() -> None:
    source = open_source(pa.table({"who": ["p", "q", "p"], "s": [0, 1, 2]}))
    coder, _ = fit_coder(source, ld.Sensitive("s"))

    table = read_table(
        source, engine=LocalEngine(), quasi=[], plain=[], coders={"s": coder}, words=FreshWords(), person="who"
    ).table

    assert table.person is not None
    by_row = table.person[np.argsort(table.sensitive[0].codes)]
    assert by_row[0] == by_row[2] != by_row[1]


def test_both_zeros_are_one_person() -> None:
    people = PersonReader("who")
    for cells in (pa.array([0.0, -0.0, 1.0]), pa.array([-0.0, 1.0]).dictionary_encode()):
        people.add(cells)

    assert people.finish(np.arange(5)).tolist() == [0, 0, 1, 0, 1]
    with pytest.raises(ld.SchemaError, match="column 'who' must not have missing values, got 1"):
        people.add(pa.array([0.5, np.nan]))


def test_a_person_without_a_name_is_refused() -> None:
    source = open_source(pa.table({"who": ["p", None], "s": [0, 1]}))
    coder, _ = fit_coder(source, ld.Sensitive("s"))

    with pytest.raises(ld.SchemaError, match="'who' must not have missing values, got 1"):
        read_table(
            source, engine=LocalEngine(), quasi=[], plain=[], coders={"s": coder}, words=FreshWords(), person="who"
        )


def test_all_columns_are_shuffled_alike() -> None:
    n = 1000
    source = open_source(pa.table({"x": range(n), "t": [str(i) for i in range(n)], "p": range(n), "s": range(n)}))
    coder, _ = fit_coder(source, ld.Sensitive("s"))

    reading = read_table(
        source, engine=LocalEngine(), quasi=["x", "t"], plain=["p"], coders={"s": coder}, words=FreshWords()
    )

    rows = reading.table.sensitive[0].codes
    number, category = reading.table.quasi
    assert isinstance(number, NumberColumn)
    assert isinstance(category, CategoryColumn)
    assert np.array_equal(number.values, rows)
    assert [int(category.labels[code]) for code in category.codes] == rows.tolist()
    assert reading.plain["p"].to_pylist() == rows.tolist()
    assert sorted(rows.tolist()) == list(range(n)) != rows.tolist()
