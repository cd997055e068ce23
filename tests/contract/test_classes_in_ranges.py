"""Claims about classes are checked some classes at a time, with the same result as all at once, for every method."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.catalog import MethodEntry
from tests.contract.test_grouping_methods import METHODS, publish, table
from tests.unit.release.several_files import save

__all__ = ["table"]

Change = Callable[[list[dict[str, Any]]], object]
MEMORY = "300MB"


@pytest.fixture(autouse=True)
def few_rows() -> Iterator[None]:
    """Let only about ten rows be in memory at once, so that a small table has many ranges."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ldiversity.release._class_ranges._ROW_BYTES", 5_000_000)
        patch.setattr("ldiversity.release._class_ranges._CELL_BYTES", 1_000_000)
        yield


def outcome(folder: Path, memory: str | None) -> str:
    """What verification says."""
    try:
        ld.load_release(folder).verify(memory=memory)
    except ld.LDiversityError as error:
        return f"{type(error).__name__}: {error}"
    return "holds"


def plant(folder: Path, file: str, change: Change) -> None:
    """Change the rows of a file, and mend what the manifest says of it, as someone who means harm would."""
    held = pq.read_table(folder / file)
    rows = held.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, held.schema), folder / file)
    content = (folder / file).read_bytes()
    manifest = json.loads((folder / "release.json").read_text())
    for entry in (manifest["data"], *manifest["classes"]["tables"]):
        for part in entry["files"]:
            if part["file"] == file:
                entry["bytes"] += len(content) - part["bytes"]
                part.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    (folder / "release.json").write_text(json.dumps(manifest))


def exchange(rows: list[dict[str, Any]], column: str) -> None:
    """Give the first row the cell of another, where they differ."""
    other = next((row for row in rows if row[column] != rows[0][column]), rows[0])
    rows[0][column] = other[column]


FAULTS: dict[str, tuple[str, Change]] = {
    "a row in another class": ("data_2.parquet", lambda rows: exchange(rows, "class_id")),
    "a number of no class": ("data_2.parquet", lambda rows: rows[5].update(class_id=10**6)),
    "no number": ("data_2.parquet", lambda rows: rows[5].update(class_id=None)),
    "all rows in one class": ("data_3.parquet", lambda rows: [row.update(class_id=1) for row in rows]),
    "another region": ("data_1.parquet", lambda rows: exchange(rows, "age")),
    "another value": ("data_1.parquet", lambda rows: "disease" in rows[0] and exchange(rows, "disease")),
    "no value": ("data_1.parquet", lambda rows: "disease" in rows[0] and rows[0].update(disease=None)),
    "another count": ("sensitive_1_2.parquet", lambda rows: rows[3].update(count=rows[3]["count"] + 1)),
    "a count of nobody": ("sensitive_1_2.parquet", lambda rows: rows[3].update(count=0)),
    "values in another order": ("sensitive_1_2.parquet", lambda rows: rows.insert(0, rows.pop())),
    "values of one class under another": ("sensitive_1_1.parquet", lambda rows: exchange(rows, "class_id")),
}


@pytest.mark.parametrize("entry", METHODS)
def test_ranges_of_classes_are_checked_as_all_at_once(entry: MethodEntry, table: pa.Table, tmp_path: Path) -> None:
    release = publish(table, entry)
    folder = save(release, tmp_path / "release", 3)
    assert outcome(folder, MEMORY) == outcome(folder, None) == "holds"
    content = {file.name: file.read_bytes() for file in folder.iterdir()}
    found = set()

    for file, change in FAULTS.values():
        if file not in content:
            continue
        plant(folder, file, change)
        expected = outcome(folder, None)
        assert outcome(folder, MEMORY) == expected
        found.add(expected)
        for name, before in content.items():
            (folder / name).write_bytes(before)

    assert len(found - {"holds"}) >= 3


@pytest.mark.parametrize("entry", METHODS)
def test_a_stronger_claim_is_refused_in_the_same_words(entry: MethodEntry, table: pa.Table, tmp_path: Path) -> None:
    """The rules look at the share of values in a class, at their distances, and at the shares in the whole table."""
    folder = save(publish(table, entry), tmp_path / "release", 2)
    manifest = json.loads((folder / "release.json").read_text())

    for rule in (ld.FrequencyDiversity(l=5), ld.TCloseness(t=0.05), ld.KAnonymity(40)):
        claim = ld.release.ClassClaim("disease", rule)
        said = {name: getattr(claim, name) for name in ("model", "l", "d", "posterior", "statement")}
        manifest["sensitive"][0]["claim"] = {**said, "rule": rule.to_dict()}
        (folder / "release.json").write_text(json.dumps(manifest))
        expected = outcome(folder, None)
        assert "the claim" in expected
        assert outcome(folder, MEMORY) == expected
