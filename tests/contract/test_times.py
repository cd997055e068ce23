"""Days and instants stay what they are, whichever method publishes them, in every kind of frame and file."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG, MethodEntry
from ldiversity.publish import ChosenMethod
from ldiversity.tables import to_native

TREE = ld.Hierarchy.from_rows([("cold", "lungs"), ("asthma", "lungs"), ("cut", "skin"), ("burn", "skin")])
REQUIRED: dict[str, dict[str, Any]] = {
    "le-anatomy": {"e": 1, "tree": TREE},
    "semantic": {"d": 1, "distance": ld.TreeDistance(TREE)},
}
METHODS = [pytest.param(entry, id=entry.name) for entry in CATALOG.values()]
KINDS = {
    "days": pa.date32(),
    **{f"instants in {unit}": pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")},
    **{f"instants in {unit} in Berlin": pa.timestamp(unit, tz="Europe/Berlin") for unit in ("us", "ns")},
}


def people(kind: pa.DataType) -> pa.Table:
    """Forty people, some of them born before 1970, and one whose birth is unknown."""
    born = pa.array(np.repeat(np.arange(-5, 5) * 2000, 4), pa.int32()).cast(pa.date32())
    instants = born.cast(pa.timestamp("s")) if pa.types.is_timestamp(kind) else born
    known = instants.cast(kind).to_pylist()
    return pa.table({"born": pa.array([None, *known[1:]], kind), "disease": ["cold", "cut", "asthma", "burn"] * 10})


def publish(frame: Any, entry: MethodEntry) -> ld.Release:
    module, _, name = entry.home.partition(":")
    method = getattr(import_module(module), name).of_level(2, **REQUIRED.get(entry.name, {}))
    # On a grid, times are those of a calendar, not of the table.
    grid = "exact" if ChosenMethod.of(method).rounds else None
    return ld.anonymize(frame, quasi="born", sensitive="disease", method=method, grid=grid)


def times_in(frame: Any) -> list[Any]:
    """Every time in the column, whether it stands there itself or as an end of an interval."""
    column = frame["born"]
    cells = column.to_pylist() if isinstance(frame, pa.Table) else column.to_list()
    ends = [end for cell in cells for end in (cell.values() if isinstance(cell, dict) else [cell])]
    return [end for end in ends if end is not None and end == end]  # noqa: PLR0124 - NaT is not itself


@pytest.mark.parametrize("frame_kind", ["arrow", "pandas", "polars"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("entry", METHODS)
def test_published_times_are_times_of_the_table(
    entry: MethodEntry, kind: pa.DataType, frame_kind: str, tmp_path: Path
) -> None:
    table = people(kind)
    known = set(table["born"].drop_null().to_pylist())

    release = publish(to_native(table, frame_kind), entry)

    frames = [release.table]
    for data_format in ("parquet", "csv"):
        release.save(tmp_path / data_format, data_format=data_format)
        frames.append(ld.load_release(tmp_path / data_format, frame=frame_kind).table)
    for frame in frames:
        found = times_in(frame)
        texts = isinstance(release, ld.ClassRelease) and release.forms["born"].kind == "node"  # labels of a hierarchy
        assert found
        assert all(isinstance(time, str if texts else dt.date) for time in found)
        assert texts or set(found) <= known


WITHOUT_PANDAS = """
import sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Absent())

import pyarrow as pa
import ldiversity as ld

kind = pa.timestamp("ns", tz=sys.argv[1] or None)
table = pa.table({"at": pa.array([1, 10**9, None] * 20, kind), "disease": ["cold", "cut", "asthma", "burn"] * 15})
for method in (ld.RandomizedAddition(l=2), ld.Anatomy(l=2)):
    release = ld.anonymize(table, quasi="at", sensitive="disease", method=method)
    found = ld.estimate(release, by="at")
    print(*(cell["by"]["at"] for cell in found.to_dict()["cells"]))
    assert ld.user_report(release).to_html()
"""


@pytest.mark.parametrize(
    ("zone", "times"),
    [
        ("", "1970-01-01T00:00:00.000000001 1970-01-01T00:00:01.000000000 None"),
        ("Europe/Berlin", "1970-01-01T01:00:00.000000001+0100 1970-01-01T01:00:01.000000000+0100 None"),
    ],
    ids=["no zone", "Berlin"],
)
def test_estimates_and_reports_know_nanoseconds_without_pandas(zone: str, times: str) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_PANDAS, zone], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [times, times]
