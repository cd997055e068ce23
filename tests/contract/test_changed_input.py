"""A file that changes while it is published is refused in one sentence, whatever the method and whenever it changes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as pa_feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG, MethodEntry
from ldiversity.errors import SchemaError
from ldiversity.methods import Method
from ldiversity.publish import _publish_classes
from ldiversity.publish._parts import PartSizes
from ldiversity.tables import Source
from ldiversity.tables._csv import CsvSource
from ldiversity.tables._ipc import IpcSource
from ldiversity.tables._jsonl import JsonLinesSource
from ldiversity.tables._parquet import ParquetSource

N: Final = 400
DISEASES: Final = ["angina", "asthma", "cold", "cut", "flu", "measles", "sty"]
TREE: Final = ld.Hierarchy.from_rows([(disease, f"group-{code % 3}") for code, disease in enumerate(DISEASES)])
REQUIRED: Final[dict[str, dict[str, Any]]] = {
    "le-anatomy": {"e": 1, "tree": TREE},
    "semantic": {"d": 1, "distance": ld.TreeDistance(TREE)},
}
SENTENCE: Final = r"^people\.\w+: the file must stay as it is while it is read, got another one"


def people(n: int = N, diseases: list[str] = DISEASES) -> pa.Table:
    rng = np.random.default_rng(7)
    return pa.table(
        {
            "age": rng.integers(18, 80, n),
            "zip": rng.choice(["10115", "10117", "20095"], n),
            "who": np.arange(n) % (n * 5 // 6),
            "disease": pa.array(rng.choice(diseases, n), mask=rng.random(n) < 0.02),
        }
    )


def grown(file: Path) -> None:
    """More rows, with values that were not there before."""
    pq.write_table(people(2 * N, [*DISEASES, "zoster"]), file)


def cut_off(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def replaced(file: Path) -> None:
    other = file.with_name("other")
    pq.write_table(people(N, [*DISEASES, "zoster"]), other)
    other.replace(file)


def gone(file: Path) -> None:
    file.unlink()


CHANGES: Final = [grown, cut_off, replaced, gone]


def load(entry: MethodEntry) -> Method:
    module, _, name = entry.home.partition(":")
    made: Method = getattr(import_module(module), name).of_level(2, **REQUIRED.get(entry.name, {}))
    return made


def publish(file: Path, method: Any, missing: Any = "category", **given: Any) -> ld.Release:
    decisions = {
        "quasi": ["age", "zip"],
        "sensitive": ld.Sensitive("disease", missing=missing),
        "output": file.parent / "release",
        "memory": "500MB",
        **given,
    }
    return ld.anonymize(file, method=method, **decisions)


def takes_people(method: Method) -> bool:
    """Whether a method publishes people who have several rows; in parts, one that decides by counts does not."""
    table = people().drop_null()
    try:
        ld.anonymize(table, quasi=["age", "zip"], sensitive="disease", person="who", method=method)
    except ld.UnsupportedError:
        return False
    return not getattr(method, "decides_by_counts", False)


class Passes:
    """Counts the passes over a table, and changes its file before one of them, or in it, after its first batch."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, source: type[Source], file: Path) -> None:
        self.n, self.before, self.inside = 0, 0, 0
        self.change: Callable[[Path], None] = gone
        settled, read = source._settled, source._read

        def counted(table: Source, *said: Any) -> Iterator[pa.RecordBatch]:
            self.n += 1
            if self.n == self.before:
                self.change(file)
            return settled(table, *said)

        def changed(table: Source, *said: Any) -> Iterator[pa.RecordBatch]:
            mine = self.n
            for place, batch in enumerate(read(table, *said)):
                yield batch
                if mine == self.inside and place == 0:
                    self.change(file)

        monkeypatch.setattr(source, "_settled", counted)
        monkeypatch.setattr(source, "_read", changed)

    def plan(self, change: Callable[[Path], None], *, before: int = 0, inside: int = 0) -> None:
        self.n, self.before, self.inside, self.change = 0, before, inside, change


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.name) for entry in CATALOG.values()])
def test_a_table_that_changes_is_refused(entry: MethodEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method = load(entry)
    given: dict[str, Any] = {"person": "who"} if takes_people(method) else {"drop": "who"}
    if entry.family == "classes" and getattr(method, "parts", None) is None:
        given["memory"] = None  # it needs all records at once
    else:
        monkeypatch.setattr(_publish_classes, "part_sizes", lambda _: PartSizes(200))
    given |= {"missing": "drop"} if entry.name in REQUIRED else {}  # what is missing has no place in a tree or an order
    file = tmp_path / "people.parquet"
    passes = Passes(monkeypatch, ParquetSource, file)
    pq.write_table(people(), file)
    publish(file, method, **given)
    shutil.rmtree(tmp_path / "release")
    total = passes.n
    assert total > 3

    # Just after it was opened, in the middle, and in the last pass; what is found late has cost all the work before.
    for change, where in zip(
        CHANGES, ({"before": 2}, {"inside": 3}, {"before": total}, {"inside": total}), strict=True
    ):
        passes.plan(change, **where)
        pq.write_table(people(), file)
        with pytest.raises(SchemaError, match=SENTENCE):
            publish(file, method, **given)
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize(
    ("source", "ending", "write"),
    [
        (CsvSource, "csv", pa_csv.write_csv),
        (JsonLinesSource, "jsonl", lambda table, file: file.write_text(lines(table), encoding="utf-8")),
        (IpcSource, "arrow", pa_feather.write_feather),
    ],
)
def test_every_kind_of_file_is_looked_at(
    source: type[Source], ending: str, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"people.{ending}"
    passes = Passes(monkeypatch, source, file)
    write(people(), file)
    passes.plan(replaced, before=3)
    with pytest.raises(SchemaError, match=SENTENCE):
        publish(file, "randomized-addition:l=2", person="who")


_AUDIT_WHILE_IT_SHRINKS: Final = """
import os, sys
from ldiversity.faces.cli import cli
from ldiversity.tables._ipc import IpcSource
file, read, n_batches = sys.argv[1], IpcSource._read, 0
def shortened(*said):
    global n_batches
    for batch in read(*said):
        n_batches += 1
        if n_batches == 2:
            os.truncate(file, 1000)
        yield batch
IpcSource._read = shortened
cli(["audit", file, "--quasi", "age", "--sensitive", "disease", "--missing", "category"])
"""


@pytest.mark.parametrize("begin", [pa.ipc.new_file, pa.ipc.new_stream])
def test_an_arrow_file_that_is_shortened_between_batches_ends_no_process(begin: Any, tmp_path: Path) -> None:
    file, rows = tmp_path / "people.arrow", people(20_000)
    with begin(str(file), rows.schema) as writer:
        writer.write_table(rows, max_chunksize=2_000)

    command = [sys.executable, "-c", _AUDIT_WHILE_IT_SHRINKS, str(file)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)

    assert done.returncode == 2, done
    assert re.search(SENTENCE.removeprefix("^"), done.stderr)


def test_a_file_that_grows_by_whole_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "people.csv"
    pa_csv.write_csv(people(), file)
    passes = Passes(monkeypatch, CsvSource, file)

    def line_more(_: Path) -> None:
        with file.open("a", encoding="utf-8") as stream:
            stream.write('30,"10115",1,"zoster"\n')

    passes.plan(line_more, before=3)
    with pytest.raises(SchemaError, match=SENTENCE):
        publish(file, "bsgi:l=2")


def test_an_audit_of_a_table_that_changes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "people.parquet"
    pq.write_table(people(), file)
    passes = Passes(monkeypatch, ParquetSource, file)
    passes.plan(grown, inside=2)
    with pytest.raises(SchemaError, match=SENTENCE):
        ld.audit(file, quasi=["age", "zip"], sensitive="disease", missing="category", memory="500MB")


def lines(table: pa.Table) -> str:
    return "".join(json.dumps(row) + "\n" for row in table.to_pylist())


def test_a_rewrite_of_the_same_length_whose_time_is_set_back_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "people.csv"
    pa_csv.write_csv(people(), file)
    passes = Passes(monkeypatch, CsvSource, file)

    def set_back(_: Path) -> None:
        known = file.stat()
        file.write_bytes(file.read_bytes().replace(b"flu", b"cut"))
        os.utime(file, ns=(known.st_atime_ns, known.st_mtime_ns))
        assert (file.stat().st_size, file.stat().st_mtime_ns) == (known.st_size, known.st_mtime_ns)

    passes.plan(set_back, before=3)
    with pytest.raises(SchemaError, match=SENTENCE):
        publish(file, "randomized-addition:l=2", person="who")
