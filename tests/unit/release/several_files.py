"""Releases of several files, written as an engine with several tasks writes them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import ldiversity as ld
from ldiversity.release import (
    ClassRelease,
    ClassWriter,
    PartWriter,
    Release,
    SetRelease,
    SetWriter,
    ValuesWriter,
    Written,
    finish_classes,
    finish_release,
    staging_folder,
)
from ldiversity.release._class_publish import coded_counts, coded_rows

Tamper = Callable[[Path], object]


def nothing(_: Path) -> None:
    """Change nothing."""


def slices(table: pa.Table, n_parts: int) -> Iterator[pa.Table]:
    """The rows in so many parts that follow each other."""
    cuts = [table.num_rows * part // n_parts for part in range(n_parts + 1)]
    return (table.slice(start, stop - start) for start, stop in pairwise(cuts))


def whole_classes(table: pa.Table, n_parts: int) -> list[pa.Table]:
    """A table of values in parts of whole classes."""
    numbers = np.asarray(table.column(0))
    parts = [table.filter(pa.array(numbers * n_parts // (numbers.max() + 1) == part)) for part in range(n_parts)]
    return [part for part in parts if part.num_rows]


def by_tasks(folder: Path, writer: PartWriter, parts: Sequence[pa.Table]) -> list[Written]:
    """Each part by a task of its own, which gets a copy of the writer and sends back a text."""
    sent = pickle.dumps(writer)
    texts = []
    for number, part in enumerate(parts):
        task: PartWriter = pickle.loads(sent)  # noqa: S301 - made above
        task(folder, task.file_name(f"{number}lost"), [part])  # an attempt whose answer was lost
        texts.append(task(folder, task.file_name(f"{number}a"), [part]).to_json())
    return [Written.from_json(text) for text in texts]


def save(
    release: Release,
    target: Path,
    n_parts: int = 3,
    *,
    data_format: Any = "parquet",
    tamper: Tamper = nothing,
    change: Callable[[list[pa.Table]], list[pa.Table]] = list,
    overwrite: bool = False,
) -> Path:
    """Publish a release in several files; `change` the rows of tasks, or `tamper` with what they wrote."""
    with staging_folder(target, overwrite=overwrite) as staging:
        if isinstance(release, SetRelease):
            sets = SetWriter(data_format, release._description)
            coded = release._coded()
            written = by_tasks(staging, sets, change(list(slices(coded, n_parts))))
            tamper(staging)
            finish_release(staging, sets, written, n_rows=coded.num_rows)
            return target
        assert isinstance(release, ClassRelease)
        _save_classes(release, staging, n_parts, data_format, tamper, change)
    return target


def _save_classes(
    release: ClassRelease,
    staging: Path,
    n_parts: int,
    data_format: Any,
    tamper: Tamper,
    change: Callable[[list[pa.Table]], list[pa.Table]],
) -> None:
    description = release._description
    writer = ClassWriter(data_format, description)
    coded = pa.concat_tables(coded_rows(description, release._rows))
    written = by_tasks(staging, writer, change(list(slices(coded, n_parts))))
    tables = {}
    for name in release.sensitive if release.layout == "bucketized" else ():
        values = ValuesWriter(data_format, description, name)
        counts = coded_counts(description, name, release.classes(name))
        tables[name] = by_tasks(staging, values, whole_classes(counts, n_parts))[::-1]
    tamper(staging)
    finish_classes(
        staging,
        writer,
        written,
        tables,
        n_classes={column: release._rows.n_classes(column) for column in description.class_columns.values()},
        n_records=release.n_rows + release.suppressed,
    )


def same(one: Release, other: Release) -> bool:
    """Whether two releases show the same rows in the same order, and the same values of classes."""
    alike: bool = one.table.equals(other.table)
    if isinstance(one, ld.ClassRelease) and isinstance(other, ld.ClassRelease):
        tables = other.sensitive_tables
        alike = alike and all(table.equals(tables[name]) for name, table in one.sensitive_tables.items())
    return alike
