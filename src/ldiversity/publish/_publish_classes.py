"""Publishing with a method that groups records: from a table to a grouped release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.combinations import sizes_of
from ldiversity.base.progress import stage, tell, unwatched
from ldiversity.base.randomness import FreshWords, random_order
from ldiversity.base.warned import warn
from ldiversity.engines import Secrets
from ldiversity.methods import Partition
from ldiversity.models import count_classes
from ldiversity.publish._alike import check_people_alike
from ldiversity.publish._class_outcome import ClassOutcome, class_columns_of
from ldiversity.publish._coding import Reading
from ldiversity.publish._cut import cut_forms
from ldiversity.publish._grouping import Grouped, group_records
from ldiversity.publish._parts import part_sizes, publish_in_parts
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._public import public_facts
from ldiversity.publish._regions import ClassRowsInOrder, make_forms, make_regions
from ldiversity.publish._uniqueness import LookAlikes
from ldiversity.release import (
    PEOPLE,
    ClassDescription,
    ClassRelease,
    Form,
    MemoryClassRows,
    ReadBack,
    check_classes,
    keep_shown,
    load_release,
    parse_type,
    verify_class_rows,
    write_classes,
)
from ldiversity.schema import Role
from ldiversity.tables import open_source

__all__ = ["publish_classes"]


def publish_classes(
    preparation: Preparation, output: Path | None, *, overwrite: bool, secrets: Secrets
) -> ClassRelease:
    """Group the records of a table, and publish the classes; in parts where memory does not hold all records."""
    sizes = part_sizes(preparation)
    if sizes is not None:
        return publish_in_parts(preparation, output, overwrite=overwrite, secrets=secrets, sizes=sizes)
    frame_kind, data_format = preparation.source.frame_kind, preparation.data_format
    if output is None:
        made = _make(preparation, secrets.words())
        with stage("checking", until=1.0):
            check_classes(made.description, made.rows, made.n_rows)
            verify_class_rows(made.rows, made.description, n_rows=made.n_rows, n_records=made.n_records)
        return ClassRelease.of(made.description, made.rows, n_rows=made.n_rows, frame_kind=frame_kind, notes=made.notes)
    with preparation.engine.staging(output, overwrite=overwrite) as staging:
        made = _make(preparation, secrets.words())
        write_classes(
            staging,
            made.description,
            made.rows,
            data_format=data_format,
            n_records=made.n_records,
            write=preparation.engine.write,
            back=ReadBack(preparation.engine.read_back),
        )
        tell(1.0, "writing")
    with unwatched():  # the release is complete: nothing may stop it now
        release = cast("ClassRelease", load_release(output, frame=frame_kind))
    return replace(release, notes=made.notes)


@dataclass(frozen=True, eq=False)
class _Made:
    """The parts of a release before it is handed out."""

    description: ClassDescription
    rows: MemoryClassRows
    n_rows: int
    n_records: int
    notes: tuple[str, ...]


def _make(preparation: Preparation, words: FreshWords) -> _Made:
    method, marginals = preparation.method, preparation.question.marginals
    with stage("grouping", until=0.7):
        done = group_records(preparation, words)
    grouping, reading = done.grouping, done.reading
    for warning in grouping.warnings:
        warn(warning)
    partitions = [_renumber(partition, words) for partition in grouping.partitions]
    published = np.flatnonzero(np.logical_or.reduce([partition.class_of >= 0 for partition in partitions]))
    order = published[random_order(len(published), words)].astype(np.int32)
    domains = {name: column.domain for name, column in done.columns.items()}
    class_columns = class_columns_of(preparation.schema, len(partitions))
    by_column = dict(zip(dict.fromkeys(class_columns.values()), partitions, strict=True))
    public = replace(reading, table=replace(reading.table, sensitive=tuple(done.columns.values())))
    if method.layout == "generalized":
        forms, rows = _generalized(public, done, by_column, order, words, marginals=marginals)
    else:
        rows = _bucketized(public, by_column, class_columns, order)
        shown = {name: pc.unique(rows.plain.column(name)).to_pylist() for name in done.preparation.levels}
        forms = done.preparation.forms(shown)
    quasi = preparation.schema.names(Role.QUASI)
    if reading.table.person is not None and preparation.question.model and quasi:
        looks = LookAlikes.read(open_source(rows.plain), quasi)
        people = replace(looks, person=reading.table.person[order].astype(np.int32)).alike()
        check_people_alike(preparation.question.model, sizes_of([people]))
    outcome = ClassOutcome(
        preparation,
        domains,
        forms,
        len(partitions),
        {**grouping.facts, **public_facts(grouping, {c.name: c for c in reading.table.sensitive}, domains)},
        n_records=done.left_out_before + reading.table.n_rows,
        n_published=len(order),
        left_out_before=done.left_out_before,
        steps=reading.steps,
        notes=grouping.notes,
        warnings=grouping.warnings,
    )
    description = outcome.describe()
    description = replace(description, schema=keep_shown(description.schema, rows.plain))
    return _Made(description, rows, len(order), outcome.n_records, outcome.holder_notes())


def _renumber(partition: Partition, words: FreshWords) -> Partition:
    """Number the classes in a random order, so that a number tells nothing."""
    numbers = random_order(partition.n_classes, words).astype(np.int32)
    # Index -1, for records that are not published, finds the last entry.
    lookup = np.concatenate([numbers, np.array([-1], dtype=np.int32)])
    return Partition(lookup[partition.class_of], partition.n_classes)


def _generalized(
    reading: Reading,
    done: Grouped,
    by_column: Mapping[str, Partition],
    order: NDArray[np.int32],
    words: FreshWords,
    *,
    marginals: bool,
) -> tuple[dict[str, Form], MemoryClassRows]:
    ((class_column, partition),) = by_column.items()
    in_order = ClassRowsInOrder.of(partition.class_of, partition.n_classes)
    grouping, ladders = done.grouping, done.preparation.ladders
    forms = make_forms(reading, in_order, marginals=marginals)
    # Leaves that are labels cannot be counted as values.
    forms |= {name: replace(forms[name], marginal=None) for name in ladders}
    regions = make_regions(
        reading, in_order, forms, levels=grouping.levels, suppress_differences=grouping.suppress_differences
    )
    kinds = {name: parse_type(done.preparation.schema[name].type) for name in forms}
    forms = cut_forms(forms, regions, kinds, {name: ladder.reach for name, ladder in ladders.items() if ladder.rungs})
    forms |= done.preparation.tree_forms(forms)
    class_of = partition.class_of[order]
    places = ClassRowsInOrder.of(class_of, partition.n_classes).order
    codes = {
        column.name: _shuffled(column.codes, partition, order, places, words)
        for column in reading.table.sensitive
        if column.name != PEOPLE
    }
    rows = MemoryClassRows(
        sizes={class_column: partition.n_classes},
        classes={class_column: class_of},
        plain=_take(reading.plain, order),
        region_table=regions,
        codes=codes,
        class_counts={},
    )
    return forms, rows


def _shuffled(
    codes: CodeArray, partition: Partition, order: NDArray[np.int32], places: NDArray[np.int32], words: FreshWords
) -> CodeArray:
    """Shuffle the values within each class, so that nothing links them to other columns."""
    again = order[random_order(len(order), words)]
    by_class = again[ClassRowsInOrder.of(partition.class_of[again], partition.n_classes).order]
    shuffled = np.empty(len(order), dtype=np.int32)
    shuffled[places] = codes[by_class]
    return shuffled


def _bucketized(
    reading: Reading,
    by_column: Mapping[str, Partition],
    class_columns: Mapping[str, str],
    order: NDArray[np.int32],
) -> MemoryClassRows:
    counts = {}
    for column in reading.table.sensitive:
        partition = by_column[class_columns[column.name]]
        counts[column.name] = count_classes(partition.class_of, column.codes, partition.n_classes, column.domain)
    plain = _take(reading.plain, order)
    for quasi in reading.table.quasi:
        cells = reading.exact(quasi, order)
        plain = plain.append_column(quasi.name, cells) if plain.num_columns else pa.table({quasi.name: cells})
    return MemoryClassRows(
        sizes={column: partition.n_classes for column, partition in by_column.items()},
        classes={column: partition.class_of[order] for column, partition in by_column.items()},
        plain=plain,
        region_table=pa.table({}),
        codes={},
        class_counts=counts,
    )


def _take(table: pa.Table, order: NDArray[np.int32]) -> pa.Table:
    return table.take(pa.array(order)) if table.num_columns else table
