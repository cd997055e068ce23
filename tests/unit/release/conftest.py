"""Small grouped releases."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.models import UniqueDiversity
from ldiversity.release import SEPARATE_CLASSES, Form
from ldiversity.schema import Attribute, Role, Schema

PLACES = ld.Hierarchy.from_rows([("Bonn", "west"), ("Köln", "west"), ("Jena", "east")])
DISEASE = Attribute("disease", Role.SENSITIVE, "string", ld.Domain(("cold", "cut", "flu")))


@pytest.fixture
def generalized() -> ld.ClassRelease:
    """Three classes of two records with intervals, nodes and lists, and a plain column."""
    day = dt.date(2020, 2, 29)
    schema = Schema(
        (
            Attribute("age", Role.QUASI, "int64"),
            Attribute("born", Role.QUASI, "date32[day]"),
            Attribute("place", Role.QUASI, "string"),
            Attribute("job", Role.QUASI, "string"),
            Attribute("ward", Role.PLAIN, "string"),
            DISEASE,
        )
    )
    days = pa.struct([("low", pa.date32()), ("high", pa.date32())])
    regions = pa.table(
        {
            "age": [{"low": -5, "high": -3}, {"low": None, "high": None}, {"low": 7, "high": 7}],
            "born": pa.array([{"low": day, "high": day}] * 3, days),
            "place": ["west", "Jena", "*"],
            "job": [["a|b", "c\\"], [""], ["(missing)", "c\\"]],
        }
    )
    return ld.ClassRelease.in_memory(
        schema=schema,
        layout="generalized",
        rules={"disease": UniqueDiversity(l=2)},
        class_of=np.array([0, 1, 2, 0, 1, 2]),
        values={"disease": np.array([0, 1, 2, 1, 2, 0])},
        regions=regions,
        columns=pa.table({"ward": ["w1", "w2", None, "w4", "w5", ""]}),
        forms={
            "age": Form("interval", low=-5, high=7),
            "born": Form("interval", low=18321, high=18321),
            "place": Form("node", hierarchy=PLACES, labels=PLACES.leaves),
            "job": Form("values", labels=("", "(missing)", "a|b", "c\\")),
        },
        suppressed=2,
        warnings=("Read with care.",),
    )


@pytest.fixture
def bucketized() -> ld.ClassRelease:
    """Two classes of two records."""
    return ld.ClassRelease.in_memory(
        schema=Schema((Attribute("age", Role.QUASI, "int64"), DISEASE)),
        layout="bucketized",
        rules={"disease": UniqueDiversity(l=2)},
        class_of=np.array([1, 0, 0, 1]),
        values={"disease": np.array([0, 1, 2, 1])},
        columns=pa.table({"age": [20, 30, None, 50]}),
    )


@pytest.fixture
def separate() -> ld.ClassRelease:
    """Two sensitive attributes with classes of their own; a record shows no value of one of them."""
    job = Attribute("job", Role.SENSITIVE, "int64", ld.Domain((1, 2, 3)))
    return ld.ClassRelease.in_memory(
        schema=Schema((Attribute("age", Role.QUASI, "int64"), DISEASE, job)),
        layout="bucketized",
        rules={"disease": UniqueDiversity(l=2), "job": UniqueDiversity(l=2)},
        class_of={"disease": np.array([0, 0, 1, 1]), "job": np.array([0, -1, -1, 0])},
        values={"disease": np.array([0, 1, 0, 2]), "job": np.array([0, 0, 0, 1])},
        columns=pa.table({"age": [20, 30, 40, 50]}),
        warnings=(SEPARATE_CLASSES,),
    )


@pytest.fixture
def plant() -> Callable[[Path, str, Callable[[list[dict[str, Any]]], object]], None]:
    """Change the rows of a file, and mend what the manifest says of it, as someone who means harm would."""
    return _plant


def _plant(folder: Path, file: str, change: Callable[[list[dict[str, Any]]], object]) -> None:
    table = pq.read_table(folder / file)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), folder / file)
    content = (folder / file).read_bytes()
    manifest = json.loads((folder / "release.json").read_text())
    for entry in (manifest["data"], *manifest["classes"]["tables"]):
        if entry["file"] == file:
            entry.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest(), rows=len(rows))
    (folder / "release.json").write_text(json.dumps(manifest))
