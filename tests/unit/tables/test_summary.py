"""Columns are summarized in one pass."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.schema import Role
from ldiversity.tables import ColumnSummary, open_source, summarize_columns

TABLE = pa.table(
    {
        "name": [f"person {i}" for i in range(40)],
        "age": pa.array([20 + i % 4 for i in range(40)]),
        "disease": ["flu"] * 20 + ["cold"] * 10 + ["gout"] * 2 + [None] * 8,
        "weight": [float("nan"), 1.5] * 20,
        "visits": [[1]] * 39 + [None],
        "nothing": pa.nulls(40),
    }
)


def summary(name: str, chunk_rows: int = 7) -> ColumnSummary:
    return next(s for s in summarize_columns(open_source(TABLE), chunk_rows=chunk_rows) if s.name == name)


def test_every_column_is_summarized_in_order() -> None:
    assert [s.name for s in summarize_columns(open_source(TABLE))] == TABLE.column_names


def test_a_sensitive_candidate_shows_its_largest_share_among_known_values() -> None:
    found = summary("disease")

    assert (found.role, found.n_missing, found.n_distinct) == (Role.SENSITIVE, 8, 3)
    assert found.frequencies == (("flu", 20), ("cold", 10), ("gout", 2))
    assert found.largest_share == 20 / 32


@pytest.mark.parametrize("chunk_rows", [1, 7, 100])
def test_chunks_do_not_change_a_summary(chunk_rows: int) -> None:
    assert summary("disease", chunk_rows) == summary("disease")


def test_a_column_of_names_is_an_identifier() -> None:
    assert (summary("name").role, summary("name").distinct) == (Role.IDENTIFIER, "40")


def test_a_missing_float_is_missing() -> None:
    assert (summary("weight").n_missing, summary("weight").n_distinct) == (20, 1)


def test_lists_are_not_counted_but_their_missing_cells_are() -> None:
    found = summary("visits")

    assert (found.n_missing, found.distinct, found.role) == (1, "not counted", None)


def test_an_empty_column_has_no_values() -> None:
    assert (summary("nothing").n_missing, summary("nothing").n_distinct) == (40, 0)


def test_the_most_frequent_values_come_first_and_are_ten_at_most() -> None:
    column = pa.array(np.repeat(np.arange(20), np.arange(1, 21)))

    [found] = summarize_columns(open_source(pa.table({"x": column})))

    assert found.frequencies[:2] == (("19", 20), ("18", 19))
    assert len(found.frequencies) == 10


def test_values_of_columns_with_many_of_them_are_not_shown() -> None:
    [found] = summarize_columns(open_source(pa.table({"x": list(range(51)) * 2})))

    assert (found.n_distinct, found.frequencies) == (51, ())


@pytest.mark.parametrize("chunk_rows", [1000, 50_000])
def test_distinct_values_are_counted_up_to_a_cap(chunk_rows: int) -> None:
    table = pa.table({"x": np.arange(20_000) // 2, "y": np.arange(20_000), "z": np.arange(20_000) // 4})

    found = summarize_columns(open_source(table), chunk_rows=chunk_rows)

    assert [s.distinct for s in found] == ["10000", "more than 10000", "5000"]


def test_a_capped_column_of_distinct_integers_is_an_identifier() -> None:
    [found] = summarize_columns(open_source(pa.table({"code": np.arange(20_000)})))

    assert found.role is Role.IDENTIFIER


def test_a_capped_column_may_be_sensitive_without_a_share() -> None:
    [found] = summarize_columns(open_source(pa.table({"income": np.arange(20_000)})))

    assert (found.role, found.largest_share) == (Role.SENSITIVE, None)


def test_a_table_without_rows_is_summarized() -> None:
    [found] = summarize_columns(open_source(pa.table({"disease": pa.array([], pa.string())})))

    assert (found.n_rows, found.n_distinct, found.largest_share) == (0, 0, None)
