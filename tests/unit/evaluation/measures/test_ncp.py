"""Loss of detail, on cases that can be checked by hand."""

from __future__ import annotations

import dataclasses
import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest

import ldiversity as ld
from ldiversity.evaluation.measures import ncp, ncp_by_column
from ldiversity.models import FrequencyDiversity
from ldiversity.release import ClassRelease, Form, SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema


def test_each_kind_of_cell_has_its_loss(original: pa.Table, generalized: ClassRelease) -> None:
    found = ncp_by_column(original, generalized)

    assert found == pytest.approx(
        {
            "age": 10 / 50,  # in every class
            "zip": (2 / 5 + 0 + 5 / 5) / 3,  # 2 leaves, 1 leaf, all 5 leaves
            "job": (0 + 2 / 4 + 2 / 4) / 3,  # 1 value, 2 of 4 values, 2 of 4 values
        }
    )


def test_the_loss_is_the_mean_over_quasi_identifiers(original: pa.Table, generalized: ClassRelease) -> None:
    assert ncp(original, generalized) == pytest.approx((1 / 5 + 7 / 15 + 1 / 3) / 3)


def test_weights_weigh_quasi_identifiers(original: pa.Table, generalized: ClassRelease) -> None:
    found = ncp(original, generalized, weights={"zip": 0, "job": 2})

    assert found == pytest.approx((1 / 5 + 2 * 1 / 3) / 3)


def test_a_suppressed_record_loses_every_cell(original: pa.Table, generalized: ClassRelease) -> None:
    release = dataclasses.replace(generalized, suppressed=2)
    longer = pa.concat_tables([original, original.slice(0, 2)])

    assert ncp_by_column(longer, release)["age"] == pytest.approx((6 * 0.2 + 2) / 8)


def test_quasi_identifiers_that_are_kept_lose_nothing(original: pa.Table, bucketized: ClassRelease) -> None:
    assert ncp(original, bucketized) == 0.0


def test_a_release_of_sets_loses_nothing(whys: pa.Table, sets: SetRelease) -> None:
    assert ncp(whys, sets) == 0.0


def test_the_range_is_that_of_the_original(original: pa.Table, generalized: ClassRelease) -> None:
    wider = original.set_column(0, "age", pa.array([20, 30, 40, 50, 60, 120]))

    assert ncp_by_column(wider, generalized)["age"] == pytest.approx(10 / 100)


@pytest.mark.parametrize("kind", ["pandas", "csv"])
def test_the_original_may_be_any_frame_or_file(
    kind: str, original: pa.Table, generalized: ClassRelease, tmp_path: Path
) -> None:
    pa.csv.write_csv(original, tmp_path / "original.csv")
    given = {"pandas": pd.DataFrame(original.to_pydict()), "csv": tmp_path / "original.csv"}[kind]

    assert ncp(given, generalized) == ncp(original, generalized)


def _one_column(kind: str, ends: list[dict[str, object]], struct: pa.DataType) -> ClassRelease:
    values = Domain(("cold", "flu"))
    return ClassRelease.in_memory(
        schema=Schema((Attribute("x", Role.QUASI, kind), Attribute("disease", Role.SENSITIVE, "string", values))),
        layout="generalized",
        rules={"disease": FrequencyDiversity(l=2)},
        class_of=np.array([0, 0, 1, 1]),
        values={"disease": np.array([0, 1, 0, 1])},
        regions=pa.table({"x": pa.array(ends, struct)}),
        forms={"x": Form("interval", low=0, high=1)},
    )


def test_an_unknown_number_is_lost() -> None:
    struct = pa.struct({"low": pa.float64(), "high": pa.float64()})
    release = _one_column("double", [{"low": 0.0, "high": 0.5}, {"low": None, "high": None}], struct)

    assert ncp(pa.table({"x": [0.0, 0.5, 2.0, None]}), release) == (0.25 + 1) / 2


def test_a_date_loses_days() -> None:
    struct = pa.struct({"low": pa.date32(), "high": pa.date32()})
    days = [dt.date(2020, 1, day) for day in (1, 2, 11, 11)]
    release = _one_column("date32[day]", [{"low": days[0], "high": days[1]}, {"low": days[2], "high": days[2]}], struct)

    assert ncp(pa.table({"x": days}), release) == pytest.approx((1 / 10 + 0) / 2)


def test_a_constant_number_loses_nothing() -> None:
    struct = pa.struct({"low": pa.int64(), "high": pa.int64()})
    release = _one_column("int64", [{"low": 7, "high": 7}] * 2, struct)

    assert ncp(pa.table({"x": [7, 7, 7, 7]}), release) == 0.0


def test_a_smaller_table_is_not_the_original(original: pa.Table, generalized: ClassRelease) -> None:
    with pytest.raises(ld.ParameterError, match="must be the table that the release was made from"):
        ncp(original.slice(0, 3), generalized)


@pytest.mark.parametrize("weights", [{"disease": 1}, {"age": -1}, {"age": 0, "zip": 0, "job": 0}])
def test_weights_that_make_no_mean_are_refused(
    weights: dict[str, float], original: pa.Table, generalized: ClassRelease
) -> None:
    with pytest.raises(ld.ParameterError, match="weight"):
        ncp(original, generalized, weights=weights)
