"""Columns whose rows are read apart, and give the codes that they have in the whole table."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ldiversity as ld
from ldiversity.publish._columns_read import CategoryReader, NumberReader
from ldiversity.publish._shapes import CategoryShape, NumberShape, comparable, read_numbers

AGES = ld.Hierarchy.from_rows([(str(age), f"{age // 10}*", "*") for age in range(20, 60)])

CATEGORIES: dict[str, tuple[pa.Array, ld.Hierarchy | None, bool]] = {
    "texts": (pa.array(["b", "a", None, "b", "c"]), None, False),
    "truth": (pa.array([True, False, True, None, False]), None, False),
    "fractions": (pa.array([0.0, -0.0, float("nan"), None, 1.5]), None, False),
    "automatic": (pa.array(["13053", "14850", "13068", "13053", "14853"]), None, True),
    "days": (pa.array([dt.date(1990, 5, 1), None, dt.date(1991, 1, 1), dt.date(1990, 5, 1), None]), None, True),
    "declared": (pa.array([20, 31, 59, None, 20]), AGES, False),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_categories_of_some_rows_have_the_codes_of_the_whole_table(name: str) -> None:
    cells, tree, automatic = CATEGORIES[name]
    reader = CategoryReader("x", cells.type, tree, automatic=automatic, exact=False)
    reader.add(cells)
    whole = reader.finish(np.arange(len(cells)))
    known = pc.unique(comparable(cells))

    shape = CategoryShape.of(
        "x",
        known.drop_null().take(pa.array(np.arange(len(known.drop_null()))[::-1])),
        tree,
        missing=known.null_count > 0,
        automatic=automatic,
    )
    shape = pickle.loads(pickle.dumps(shape))  # noqa: S301 - our own

    apart = np.concatenate([shape.codes(cells.slice(row, 1)) for row in range(len(cells))])
    assert apart.tolist() == whole.column.codes.tolist()
    assert (shape.labels, shape.hierarchy) == (whole.column.labels, whole.column.hierarchy)
    assert shape.originals.equals(whole.originals)


@pytest.mark.parametrize("cells", [pa.array(["a", "new"]), pa.array(["a", None])])
def test_a_value_that_was_not_there_before_is_refused(cells: pa.Array) -> None:
    shape = CategoryShape.of("x", pa.array(["a", "b"]), None, missing=False)

    with pytest.raises(ld.SchemaError, match="must not change while it is read") as caught:
        shape.codes(cells)

    assert "new" not in str(caught.value)


@pytest.mark.parametrize(
    "cells", [pa.array([1, None, 2**40]), pa.array([0.5, float("nan"), -0.0]), pa.array([7, 8, 9], pa.int8())]
)
def test_numbers_of_some_rows_are_measured_as_in_the_whole_table(cells: Any) -> None:
    reader = NumberReader("x", cells.type, exact=False)
    reader.add(cells)
    whole = reader.finish(np.arange(len(cells)))
    shape = NumberShape("x", str(whole.values.dtype), whole.low, whole.high, missing=whole.missing is not None)

    for row in range(len(cells)):
        one = shape.column(*read_numbers("x", cells.slice(row, 1), exact=False))
        assert one.values.dtype == whole.values.dtype
        assert one.scaled[0] == whole.scaled[row]
