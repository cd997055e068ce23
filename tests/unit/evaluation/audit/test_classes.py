"""Counting the classes of a table: policies on missing values, batches, order of rows, several attributes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import ldiversity as ld
from ldiversity.evaluation.audit import CountedTable, _tally, count_table
from ldiversity.tables import Sensitive, open_source


def count(table: Any, quasi: list[str], *sensitive: str | Sensitive, **options: Any) -> CountedTable:
    attributes = [one if isinstance(one, Sensitive) else Sensitive(one) for one in sensitive]
    return count_table(open_source(table), quasi=quasi, sensitive=attributes, **options)


TABLE = pa.table({"age": [30, 30, 40, None], "sex": ["F", "F", None, "M"], "s": ["flu", "cut", "flu", "flu"]})


def test_a_missing_quasi_identifier_is_a_value_like_others() -> None:
    assert sorted(count(TABLE, ["age", "sex"], "s").sizes.tolist()) == [1, 1, 2]


def test_rows_without_a_quasi_identifier_can_be_left_out() -> None:
    counted = count(TABLE, ["age", "sex"], "s", missing="drop")

    assert (counted.sizes.tolist(), counted.n_dropped) == ([2], 2)


def test_rows_without_a_quasi_identifier_can_be_refused() -> None:
    with pytest.raises(ld.SchemaError, match="a value in every row, got 2 rows without"):
        count(TABLE, ["age", "sex"], "s", missing="refuse")


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ld.ParameterError, match="missing must be one of 'category', 'drop', 'refuse'"):
        count(TABLE, ["age"], "s", missing="wildcard")


LACKING = pa.table({"age": [30, 30, 40], "s": ["flu", None, "flu"]})


def test_a_missing_sensitive_value_is_refused_unless_declared() -> None:
    with pytest.raises(ld.SchemaError, match="column 's' must have a value in every row, got 1 row without"):
        count(LACKING, ["age"], "s")


def test_a_missing_sensitive_value_can_be_a_category() -> None:
    counted = count(LACKING, ["age"], Sensitive("s", missing="category"))

    assert counted.counts["s"].dense().tolist() == [[1, 1], [1, 0]]


def test_rows_without_a_sensitive_value_can_be_left_out() -> None:
    counted = count(LACKING, ["age"], Sensitive("s", missing="drop"))

    assert (counted.sizes.tolist(), counted.n_dropped) == ([1, 1], 1)


def test_nan_is_missing_and_zero_has_no_sign() -> None:
    table = pd.DataFrame({"x": [0.0, -0.0, float("nan"), None], "s": ["flu"] * 4})

    assert count(table, ["x"], "s").sizes.tolist() == [2, 2]


def test_values_outside_a_declared_domain_are_counted_in_rows() -> None:
    table = pa.table({"age": [30, 30, 40], "s": ["flu", "flu", "cut"]})

    with pytest.raises(ld.SchemaError, match="got 2 rows with 1 other"):
        count(table, ["age"], Sensitive("s", domain=["cut"]))


def test_binned_numbers_are_counted_by_bin() -> None:
    table = pa.table({"age": [30, 30, 40], "s": [1.5, 2.5, 11.0]})

    assert count(table, ["age"], Sensitive("s", edges=[0, 10, 20])).counts["s"].dense().tolist() == [[2, 0], [0, 1]]


def test_binned_numbers_may_be_missing() -> None:
    table = pa.table({"age": [30, 30, 40], "s": [1.5, None, 11.0]})
    sensitive = Sensitive("s", edges=[0, 10, 20], missing="drop")

    assert count(table, ["age"], sensitive).counts["s"].dense().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "values",
    [
        [True, False, None],
        [1, 2, None],
        [1.5, 2.5, None],
        ["a", "b", None],
        [dt.date(2020, 1, 1), dt.date(2021, 1, 1), None],
        [dt.datetime(2020, 1, 1, 12), dt.datetime(2021, 1, 1), None],  # noqa: DTZ001 - a column without zones
        [Decimal("1.5"), Decimal("2.5"), None],
    ],
)
def test_quasi_identifiers_may_be_of_any_plain_type(values: list[Any]) -> None:
    table = pa.table({"x": pa.array([*values, values[0]]), "s": ["flu"] * 4})

    assert sorted(count(table, ["x"], "s").sizes.tolist()) == [1, 1, 2]


def test_a_column_without_any_value_makes_no_difference() -> None:
    table = pa.table({"x": pa.nulls(3), "age": [30, 30, 40], "s": ["flu"] * 3})

    assert count(table, ["x", "age"], "s").sizes.tolist() == [2, 1]


def test_nested_quasi_identifiers_are_refused() -> None:
    with pytest.raises(ld.SchemaError, match="must hold texts, numbers, booleans or dates"):
        count(pa.table({"x": [[1], [2]]}), ["x"])


def test_a_column_has_one_role() -> None:
    with pytest.raises(ld.SchemaError, match="must have one role, got quasi and sensitive"):
        count(TABLE, ["age"], "age")


def test_a_quasi_identifier_is_named_once() -> None:
    with pytest.raises(ld.SchemaError, match="column 'age' must be named once"):
        count(TABLE, ["age", "age"])


def test_an_unknown_quasi_identifier_is_refused() -> None:
    with pytest.raises(ld.SchemaError, match="column 'agge' does not exist"):
        count(TABLE, ["agge"])


def test_some_column_must_be_named() -> None:
    with pytest.raises(ld.SchemaError, match="at least one column must be named"):
        count(TABLE, [])


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(ld.SchemaError, match="at least one row"):
        count(TABLE.slice(0, 0), ["age"])


def test_without_quasi_identifiers_all_records_are_one_class() -> None:
    assert count(TABLE, [], "s").counts["s"].dense().tolist() == [[1, 3]]


def test_several_attributes_share_their_classes() -> None:
    table = pa.table({"age": [30, 30, 40], "s": ["flu", "cut", "flu"], "pay": [1, 1, 2]})

    counted = count(table, ["age"], "s", "pay")

    assert {name: counts.dense().tolist() for name, counts in counted.counts.items()} == {
        "s": [[1, 1], [0, 1]],
        "pay": [[2, 0], [0, 1]],
    }


def test_other_sensitive_attributes_can_count_as_known() -> None:
    table = pa.table({"age": [30, 30, 30], "s": ["flu", "cut", "flu"], "pay": [1, 2, 2]})

    counted = count(table, ["age"], "s", "pay", joint_knowledge=True)

    assert sorted(map(tuple, counted.counts["s"].dense().tolist())) == [(0, 1), (1, 1)]


def test_batches_and_merges_change_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    columns = {name: rng.integers(0, high, 5000) for name, high in {"a": 9, "b": 7, "s": 5}.items()}
    pa_csv.write_csv(pa.table(columns), tmp_path / "table.csv")
    whole = count(tmp_path / "table.csv", ["a", "b"], "s")
    monkeypatch.setattr(_tally, "_MERGE_CELLS", 10)
    monkeypatch.setattr("ldiversity.tables._source.Source.batches.__kwdefaults__", {"chunk_rows": 64, "encoded": ()})

    merged = count(tmp_path / "table.csv", ["a", "b"], "s")

    assert merged.counts["s"].dense().tolist() == whole.counts["s"].dense().tolist()


def test_the_order_of_rows_changes_nothing() -> None:
    rng = np.random.default_rng(6)
    table = pa.table(
        {"a": rng.choice(["x", "y", "z"], 300), "b": rng.integers(0, 4, 300), "s": rng.integers(0, 3, 300)}
    )
    shuffled = table.take(pa.array(rng.permutation(300)))

    assert np.array_equal(
        count(table, ["a", "b"], "s").counts["s"].dense(), count(shuffled, ["a", "b"], "s").counts["s"].dense()
    )


def test_more_combinations_than_64_bits_can_number_are_told_apart() -> None:
    rng = np.random.default_rng(7)
    names = [f"q{i}" for i in range(12)]
    table = pa.table({name: rng.permutation(2000) for name in names} | {"s": ["flu"] * 2000})

    assert len(count(pa.concat_tables([table, table]), names, "s").sizes) == 2000
