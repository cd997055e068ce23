"""The order of categories becomes the order of the public domain, where the column says that it means something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import ldiversity as ld
from ldiversity.schema import Domain
from ldiversity.tables import Sensitive, fit_coder, open_source

STAGES = ["mild", "grave", "deadly", "never seen"]
CELLS = ["grave", "mild", "deadly", "grave", "mild", "mild"]
AGES = [30, 30, 30, 40, 40, 40]


def dictionary(cells: list[Any], listed: list[Any], *, ordered: bool = True) -> pa.DictionaryArray:
    places = [None if cell is None else listed.index(cell) for cell in cells]
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(listed), ordered=ordered)


ARROW = pa.table({"age": AGES, "stage": dictionary(CELLS, STAGES)})
POLARS = pl.DataFrame({"age": AGES, "stage": CELLS}, schema={"age": pl.Int64, "stage": pl.Enum(STAGES)})


class Stream:
    """Offers the Arrow stream protocol and nothing else."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame({"age": AGES, "stage": pd.Categorical(CELLS, categories=STAGES, ordered=True)}),
    "polars": POLARS,
    "polars lazy": POLARS.lazy(),
    "arrow": ARROW,
    "arrow batch": ARROW.to_batches()[0],
    "stream": Stream(ARROW),
}
if POLARS.to_arrow().schema.field("stage").type.ordered:  # polars before 1.32 does not say so in a stream
    FRAMES["stream of views"] = Stream(POLARS)


def domain(cells: Any, types: dict[str, str] | None = None, **said: Any) -> Domain:
    table = pa.table({"stage": cells})
    return fit_coder(open_source(table, types=types), Sensitive("stage", **said))[0].domain


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_the_domain_has_the_categories_that_occur_in_their_order(frame: Any) -> None:
    release = ld.anonymize(frame, quasi="age", sensitive="stage", method=ld.RandomizedAddition(l=2))

    assert release.schema.domain("stage") == Domain(("mild", "grave", "deadly"), ordered=True)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_an_audit_compares_values_by_the_order_of_categories(frame: Any) -> None:
    # Class 30 holds each value once, all records 3, 2, 1 of mild, grave, deadly: (1/2 - 1/3 + 5/6 - 2/3) / 2 = 1/6.
    figure = ld.audit(frame, quasi="age", sensitive="stage").models["t_ordered"]

    assert figure.value == pytest.approx(1 / 6)


def test_a_declared_domain_goes_before_the_order_of_categories() -> None:
    assert domain(ARROW["stage"], domain=["deadly", "grave", "mild"]).values == ("deadly", "grave", "mild")


def test_categories_without_an_order_are_sorted() -> None:
    found = domain(dictionary(CELLS, STAGES, ordered=False))

    assert found == Domain(("deadly", "grave", "mild"), ordered=False)


def test_missing_values_come_after_the_categories() -> None:
    found = domain(dictionary(["grave", None, "mild"], STAGES), missing="category")

    assert found == Domain(("mild", "grave", None), ordered=True)


def test_a_missing_value_may_be_listed_as_a_category() -> None:
    cells = pa.DictionaryArray.from_arrays([2, 1, 0], pa.array(["mild", None, "grave"]), ordered=True)

    assert domain(cells, missing="drop").values == ("mild", "grave")


def test_numbers_keep_the_order_of_their_categories() -> None:
    assert domain(dictionary([1, 2, 3, 1], [3, 1, 2])) == Domain((3, 1, 2), ordered=True, positions=(3.0, 1.0, 2.0))


def test_days_keep_the_order_of_their_categories() -> None:
    days = pa.array([19000, 18000], pa.date32())
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1]), days, ordered=True)

    assert domain(cells).values == ("2022-01-08", "2019-04-14")


def test_the_order_outlives_another_type() -> None:
    assert domain(dictionary([1, 10, 2], [10, 2, 1]), types={"stage": "text"}).values == ("10", "2", "1")


def test_bins_need_no_order_of_categories() -> None:
    assert domain(dictionary([1, 12], [12, 1]), width=10).values == ("[0, 10)", "[10, 20]")


def test_chunks_may_list_fewer_categories() -> None:
    cells = pa.chunked_array([dictionary(["deadly"], ["mild", "deadly"]), dictionary(["grave"], STAGES)])

    assert domain(cells).values == ("grave", "deadly")


@pytest.mark.parametrize("other", [["grave", "mild"], ["mild", "unheard of"]], ids=["turned", "unknown"])
def test_chunks_that_contradict_each_other_have_no_order(other: list[str]) -> None:
    cells = pa.chunked_array([dictionary(CELLS, STAGES), dictionary(other, other)])

    assert not domain(cells).ordered


@pytest.mark.parametrize("version", [1, 2])
def test_an_arrow_file_keeps_the_order(tmp_path: Path, version: int) -> None:
    file = tmp_path / "t.feather"
    feather.write_feather(ARROW if version == 2 else ARROW.to_pandas(), file, chunksize=2 if version == 2 else None)

    assert fit_coder(open_source(file), Sensitive("stage"))[0].domain.values == ("mild", "grave", "deadly")


def test_a_parquet_file_is_not_trusted_with_the_order(tmp_path: Path) -> None:
    # Arrow reads the categories of this file in the order of its rows, and still calls them ordered.
    pq.write_table(ARROW, tmp_path / "t.parquet", use_dictionary=False)

    found = fit_coder(open_source(tmp_path / "t.parquet"), Sensitive("stage"))[0].domain

    assert found == Domain(("deadly", "grave", "mild"), ordered=False)
