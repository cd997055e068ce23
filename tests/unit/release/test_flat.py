"""The flat view goes straight into groupby, crosstab and scikit-learn, in each kind of frame."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldiversity as ld

N = 60


def people(**more: Any) -> pa.Table:
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=7 * i) for i in range(N)]
    return pa.table(
        {
            "age": pa.array([20 + i % 30 for i in range(N)], pa.int32()),
            "born": days,
            "job": [f"j{i % 3}" for i in range(N)],
            "disease": [f"v{i % 4}" for i in range(N)],
            **more,
        }
    )


def generalized(table: Any = None, quasi: Any = ("age", "born", "job")) -> ld.Release:
    made = people() if table is None else table
    return ld.anonymize(made, quasi=list(quasi), sensitive="disease", method=ld.Mondrian(l=2), insecure_seed=1)


def test_intervals_have_ends_of_their_own_type_and_a_label() -> None:
    flat = generalized().flat

    assert [flat.schema.field(f"age_{end}").type for end in ("low", "high")] == [pa.int32(), pa.int32()]
    assert [flat.schema.field(f"born_{end}").type for end in ("low", "high")] == [pa.date32(), pa.date32()]
    for row, cell in zip(flat.to_pylist(), generalized().table.to_pylist(), strict=True):
        assert (row["age_low"], row["age_high"]) == (cell["age"]["low"], cell["age"]["high"])
        assert row["age_label"] == f"{row['age_low']}..{row['age_high']}"


def test_labels_are_ordered_by_their_ends() -> None:
    flat = generalized(people().to_pandas()).flat

    assert flat["age_label"].cat.ordered
    low = [int(text.split("..")[0]) for text in flat["age_label"].cat.categories]
    assert low == sorted(low)


def test_a_column_of_texts_has_a_label_alone() -> None:
    flat = generalized().flat

    assert [name for name in flat.column_names if name.startswith("job")] == ["job_label"]


def test_pandas_groups_and_crosses_the_flat_view() -> None:
    flat = generalized(people().to_pandas()).flat

    sizes = flat.groupby(["age_label"], observed=True).size()
    crossed = pd.crosstab(flat["age_label"], flat["disease"])

    assert sizes.sum() == crossed.to_numpy().sum() == N
    assert flat.groupby("disease")["age_low"].mean().between(20, 50).all()


def test_polars_groups_the_flat_view() -> None:
    flat = generalized(pl.from_arrow(people())).flat

    assert isinstance(flat.schema["age_label"], pl.Enum)
    assert flat.group_by("age_label").len()["len"].sum() == N
    assert flat["age_low"].dtype == pl.Int32


def test_scikit_learn_takes_the_flat_view() -> None:
    tree = pytest.importorskip("sklearn.tree")
    flat = generalized(people().to_pandas()).flat

    model = tree.DecisionTreeClassifier(max_depth=3).fit(flat[["age_low", "age_high"]], flat["disease"])

    assert len(model.predict(flat[["age_low", "age_high"]])) == N


def test_a_name_that_is_taken_gets_an_underscore() -> None:
    table = people(age_low=[float(i) for i in range(N)])
    release = ld.anonymize(
        table, quasi="age", plain="age_low", sensitive="disease", drop=["born", "job"], method=ld.Mondrian(l=2)
    )

    assert {"age_low", "age_low_", "age_high", "age_label"} <= set(release.flat.column_names)
    assert release.flat.schema.field("age_low").type == pa.float64()


def test_sets_become_a_column_for_each_member() -> None:
    table = people(disease_1=["x"] * N)
    release = ld.anonymize(
        table, quasi=["age", "disease_1"], sensitive="disease", drop=["born", "job"], method=ld.RandomizedAddition(l=2)
    )

    assert release.flat.column_names == ["age", "disease_1_", "disease_2", "disease_1"]
    assert [[row["disease_1_"], row["disease_2"]] for row in release.flat.to_pylist()] == [
        row["disease"] for row in release.table.to_pylist()
    ]


def test_bucketized_rows_are_flat_already() -> None:
    release = ld.anonymize(people(), quasi=["age", "job"], sensitive="disease", drop="born", method=ld.Anatomy(l=2))

    assert release.flat.equals(release.table)


def test_nodes_of_numbers_have_ends_where_they_are_known(tmp_path: Path) -> None:
    table = people(age=pa.array([None if i == 5 else 20 + i % 30 for i in range(N)], pa.int64()))
    release = ld.anonymize(
        table,
        quasi=["age"],
        sensitive="disease",
        drop=["born", "job"],
        method=ld.Incognito(l=2),
        hierarchies={"age": "width:10"},
    )
    release.save(tmp_path / "release", data_format="csv")
    flat = ld.load_release(tmp_path / "release").flat

    shown = [row for row in flat.to_pylist() if row["age_low"] is not None]
    assert flat.schema.field("age_low").type == pa.int64()
    assert all(row["age_low"] <= row["age_high"] for row in shown)
    assert np.array_equal(np.sort(flat["age_label"].to_pylist()), np.sort(release.flat["age_label"].to_pylist()))


@pytest.mark.parametrize("method", ["tp:l=2", "mondrian:l=2", "bsgi:l=2", "incognito:l=2"])
@pytest.mark.parametrize("known", [True, False], ids=["known", "missing"])
def test_intervals_that_all_say_nothing_are_flat(method: str, *, known: bool) -> None:
    ages = [20 + i % 30 if known else None for i in range(N)]
    table = people(age=pa.array(ages, pa.int64())).select(["age", "disease"])
    release = ld.anonymize(table, quasi="age", sensitive="disease", method=method, insecure_seed=3)

    assert release.flat.column_names == ["class_id", "age_low", "age_high", "age_label", "disease"]
    assert release.flat.num_rows == N
