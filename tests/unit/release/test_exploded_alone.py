"""Exploded rows of a table that has no other column."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ldiversity as ld


@pytest.mark.parametrize(
    "method", [ld.RandomizedAddition(l=2), ld.SemanticDiversity(l=2, d=2, distance=ld.OrderedDistance())]
)
def test_rows_without_other_columns_are_published_and_checked(method: ld.Method) -> None:
    table = pa.table({"level": [1, 2, 3, 4, 5, 6] * 3})
    level = ld.Sensitive("level", domain=[1, 2, 3, 4, 5, 6])

    release = ld.anonymize(table, sensitive=level, method=method, layout="exploded")

    release.verify()
    assert release.n_rows == 18
