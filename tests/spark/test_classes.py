"""Every method that groups records keeps its promise on Spark, where parts are grouped by themselves."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG
from ldiversity.engines.spark import SparkEngine
from ldiversity.methods import GroupingMethod
from ldiversity.publish._parts._sizes import PartSizes
from tests.spark.conftest import N_ROWS

N_PARTS = 3


def _of_level(name: str, table: pa.Table) -> GroupingMethod:
    module, _, class_name = CATALOG[name].home.partition(":")
    values = sorted(set(table["disease"].to_pylist()))
    tree = ld.Hierarchy.from_rows([(value, f"group {place % 4}") for place, value in enumerate(values)])
    needed: dict[str, Any] = {"e": 1, "tree": tree} if name == "le-anatomy" else {}
    made: GroupingMethod = getattr(import_module(module), class_name).of_level(2, **needed)
    return made


@pytest.mark.parametrize("name", [name for name, entry in CATALOG.items() if entry.family == "classes"])
def test_a_release_of_parts_keeps_its_claims(
    engine: SparkEngine, one_file: Path, table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("ldiversity.publish._parts._sizes._LEAST_ROWS", N_ROWS // N_PARTS)
    small = SparkEngine(engine.session)
    small.chunk_rows = N_ROWS // N_PARTS
    cut: list[int] = []
    number = PartSizes.number
    monkeypatch.setattr(PartSizes, "number", lambda sizes, n: cut.append(number(sizes, n)) or cut[-1])
    how: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "plain": "row"}

    release = ld.anonymize(one_file, **how, method=_of_level(name, table), output=tmp_path / "release", engine=small)

    release.verify()
    assert max(cut) >= N_PARTS
    rows = sorted(release.table["row"].to_pylist())
    assert len(set(rows)) == len(rows) > 0.9 * N_ROWS
