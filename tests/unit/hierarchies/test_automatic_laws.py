"""What holds for every hierarchy that is made from values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ldiversity.hierarchies import Hierarchy, automatic_hierarchy
from ldiversity.hierarchies._text import text_of
from ldiversity.tables._values import to_values, value_type

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6)
COLUMNS = st.one_of(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    st.lists(st.booleans(), min_size=1, max_size=3),
    st.lists(st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)), min_size=1, max_size=30),
    st.lists(st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)), min_size=1, max_size=30),  # noqa: DTZ001 - a column's
    st.lists(WORDS, min_size=1, max_size=30),
    st.lists(st.from_regex(r"[0-9]{5}", fullmatch=True), min_size=1, max_size=30),
)


def _sets_of_leaves(tree: Hierarchy) -> dict[str, set[tuple[str, ...]]]:
    found: dict[str, set[tuple[str, ...]]] = {}
    for level, labels in enumerate(tree.labels):
        for label in labels:
            found.setdefault(label, set()).add(tree.leaves_under(label, level))
    return found


@given(COLUMNS)
@settings(max_examples=40, deadline=None)
def test_leaves_are_the_values_as_the_tables_room_writes_them(values: Sequence[object]) -> None:
    cells = pa.array(values)
    written = {text_of(value) for value in to_values(cells, value_type(cells.type)).to_pylist()}

    assert set(automatic_hierarchy(values).leaves) == written


@given(COLUMNS)
@settings(max_examples=40, deadline=None)
def test_a_label_names_one_set_of_leaves(values: Sequence[object]) -> None:
    tree = automatic_hierarchy(values)

    assert [label for label, sets in _sets_of_leaves(tree).items() if len(sets) > 1] == []


@given(COLUMNS)
@settings(max_examples=40, deadline=None)
def test_saving_and_reading_is_the_identity(values: Sequence[object]) -> None:
    tree = automatic_hierarchy(values)

    with TemporaryDirectory() as folder:
        tree.save(Path(folder) / "tree.csv")
        assert Hierarchy.read(Path(folder) / "tree.csv") == tree


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=50), st.sampled_from([(8, 4, 2), (16, 4), (5,)]))
@settings(max_examples=40, deadline=None)
def test_quantiles_make_intervals_in_the_order_of_numbers(values: list[int], n_bins: tuple[int, ...]) -> None:
    tree = Hierarchy.by_quantiles(values, n_bins)

    assert [int(leaf) for leaf in tree.leaves] == sorted(set(values))
    assert all(list(column) == sorted(column) for column in tree.nodes.T.tolist())


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=50), st.integers(1, 20), st.integers(2, 5))
@settings(max_examples=40, deadline=None)
def test_a_number_lies_in_its_interval_of_every_width(values: list[int], width: int, times: int) -> None:
    tree = Hierarchy.by_width(values, [width, width * times])

    ends = [[int(end) for end in row[level][1:-1].split(", ")] for row in tree.rows for level in (1, 2)]
    assert all(
        low <= int(row[0]) < high for row, (low, high) in zip([r for r in tree.rows for _ in (1, 2)], ends, strict=True)
    )
    assert {high - low for low, high in ends} <= {width, width * times}
