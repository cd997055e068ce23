"""Re-checking the claims of a grouped release some classes at a time, within a limit of memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import ClassArray, CodeArray
from ldiversity.base.budget import Budget
from ldiversity.base.held import give_back
from ldiversity.base.spill import Spill
from ldiversity.errors import ClaimError
from ldiversity.models import Population, SomeClasses
from ldiversity.release._batches import CodedBatch
from ldiversity.release._check_alike import verify_alike
from ldiversity.release._check_classes import ClassFaults, Recount, find_faults
from ldiversity.release._claims import PEOPLE, RECORDS, AlikeClaim, ClassClaim, subjects_of
from ldiversity.release._class_read import FolderClassRows, SharedRegions
from ldiversity.release._dealt import ClassRange, deal_classes, from_arrow, to_arrow
from ldiversity.release._description import ClassDescription
from ldiversity.schema import Domain, Role

__all__ = ["Ascending", "verify_in_ranges"]

_ROW_BYTES: Final = 800
"""What a row takes while its class is counted again: some copies of its class, its code and its count."""

_CELL_BYTES: Final = 100
"""What a generalized cell takes while it is compared with others of its class."""

Values: TypeAlias = tuple[ClassArray, CodeArray, NDArray[np.int64]]
"""Classes, codes and counts of a table of values."""


def verify_in_ranges(
    rows: FolderClassRows, description: ClassDescription, *, n_rows: int, budget: Budget, spill: Spill
) -> None:
    """Raise `ClaimError` or `ReleaseFormatError` unless every class satisfies the claim."""
    alike = [claim for claim in description.claims if isinstance(claim, AlikeClaim)]
    if alike:
        quasi = rows.batches(description.schema.names(Role.QUASI), {}, with_values=False)
        shown = (_shown(batch.columns, batch.n_rows) for batch in quasi)
        verify_alike(alike, shown)
    claims = {
        name: [one for one in description.claims if one.attribute == name and not isinstance(one, AlikeClaim)]
        for name in subjects_of(description.schema)
    }
    verify = _verify_values if description.layout == "bucketized" else _verify_rows
    for class_column in dict.fromkeys(description.class_columns.values()):
        own = {name: claims[name] for name in claims if description.class_columns[name] == class_column}
        verify(rows, class_column, own, n_rows, budget.rows(_ROW_BYTES * max(1, len(own))), spill)
    if description.layout == "generalized":
        _verify_regions(rows, description, n_rows, budget, spill)


def _verify_rows(
    rows: FolderClassRows,
    class_column: str,
    claims: Mapping[str, Sequence[ClassClaim]],
    n_rows: int,
    most: int,
    spill: Spill,
) -> None:
    """Count the values of each class in the rows."""
    shown = [name for name in claims if name != PEOPLE]
    domains = {name: RECORDS if name == PEOPLE else rows.description.schema.domain(name) for name in claims}
    everyone = {name: np.zeros(len(domain), dtype=np.int64) for name, domain in domains.items()}
    batches = _watched(rows.coded_batches(class_column, shown), everyone, n_rows, next(iter(claims)))
    faults: dict[str, ClassFaults] = dict.fromkeys(claims, ClassFaults(0))
    n_classes = rows.n_classes(class_column)
    for some in deal_classes(batches, n_classes=n_classes, n_rows=n_rows, most=most, spill=spill):
        recounts = {name: Recount(some.n_classes, domain) for name, domain in domains.items()}
        sizes = np.zeros(some.n_classes, dtype=np.int64)
        for batch in (from_arrow(one, some.first) for one in some.batches):
            sizes += np.bincount(batch.classes, minlength=some.n_classes)
            for name, recount in recounts.items():
                recount.add(batch.classes, batch.codes.get(name, np.zeros(len(batch.classes), dtype=np.int32)))
        # Every row has been read by now, even if there is one range only.
        for name, recount in recounts.items():
            counted = SomeClasses.of(recount.result(), Population(domains[name], everyone[name]))
            faults[name] += find_faults(claims[name], counted, sizes)
        give_back()
    for name, found in faults.items():
        found.refuse(name, claims[name])


def _watched(
    batches: Iterable[CodedBatch], everyone: Mapping[str, NDArray[np.int64]], n_rows: int, subject: str
) -> Iterator[pa.RecordBatch]:
    """Batches for ranges; how often each value occurs is added up on the way."""
    seen = 0
    for batch in batches:
        seen += len(batch.classes)
        for name, total in everyone.items():
            codes = batch.codes.get(name)
            total[:] += len(batch.classes) if codes is None else np.bincount(codes, minlength=len(total))
        yield to_arrow(batch)
    if seen != n_rows:
        raise ClaimError(f"there must be {n_rows} records", column=subject, got=seen)


def _verify_values(
    rows: FolderClassRows,
    class_column: str,
    claims: Mapping[str, Sequence[ClassClaim]],
    n_rows: int,
    most: int,
    spill: Spill,
) -> None:
    """Compare the tables of values with the rows, some classes at a time; tables are in the order of classes."""
    schema = rows.description.schema
    if rows.file.n_rows != n_rows:
        raise ClaimError(f"there must be {n_rows} records", column=next(iter(claims)), got=rows.file.n_rows)
    everyone = {name: _population(rows, name, schema.domain(name)) for name in claims}
    held = {name: Ascending(rows.value_batches(name)) for name in claims}
    faults: dict[str, ClassFaults] = dict.fromkeys(claims, ClassFaults(0))
    batches = (to_arrow(batch) for batch in rows.coded_batches(class_column))
    n_classes = rows.n_classes(class_column)
    for some in deal_classes(batches, n_classes=n_classes, n_rows=n_rows, most=most, spill=spill):
        sizes = _sizes(some)
        for name, values in held.items():
            recount = Recount(some.n_classes, schema.domain(name))
            for classes, codes, counts in values.until(some.first + some.n_classes):
                recount.add(classes - some.first, codes, counts)
            counted = SomeClasses.of(recount.result(), everyone[name])
            if not np.diff(counted.starts).all():
                raise rows.without_value(name)
            faults[name] += find_faults(claims[name], counted, sizes)
        give_back()
    for name, found in faults.items():
        found.refuse(name, claims[name])


def _sizes(some: ClassRange) -> NDArray[np.int64]:
    sizes = np.zeros(some.n_classes, dtype=np.int64)
    for batch in some.batches:
        sizes += np.bincount(from_arrow(batch, some.first).classes, minlength=some.n_classes)
    return sizes


def _population(rows: FolderClassRows, name: str, domain: Domain) -> Population:
    total = np.zeros(len(domain), dtype=np.int64)
    for _, codes, counts in rows.value_batches(name):
        np.add.at(total, codes, counts)
    return Population(domain, total)


class Ascending:
    """Values of classes in ascending order, which are handed out up to a class."""

    def __init__(self, batches: Iterator[Values]) -> None:
        self._batches = batches
        self._left: Values | None = None

    def until(self, end: int) -> Iterator[Values]:
        """The values of classes below `end` that were not handed out before."""
        while (batch := self._left or next(self._batches, None)) is not None:
            place = int(np.searchsorted(batch[0], end))
            yield batch[0][:place], batch[1][:place], batch[2][:place]
            self._left = None
            if place < len(batch[0]):
                self._left = batch[0][place:], batch[1][place:], batch[2][place:]
                return


def _verify_regions(
    rows: FolderClassRows, description: ClassDescription, n_rows: int, budget: Budget, spill: Spill
) -> None:
    """Rows of a class must share their generalized cells, which are checked when they are read."""
    (class_column,) = set(description.class_columns.values())
    names = SharedRegions(description, 0).names
    most = budget.rows(_ROW_BYTES + _CELL_BYTES * len(names))
    batches = (to_arrow(batch) for batch in rows.coded_batches(class_column, regions=names))
    n_classes = rows.n_classes(class_column)
    for some in deal_classes(batches, n_classes=n_classes, n_rows=n_rows, most=most, spill=spill):
        shared = SharedRegions(description, some.n_classes)
        for batch in some.batches:
            shared.add(from_arrow(batch, some.first))
        shared.table()
        give_back()


def _shown(columns: pa.Table, n_rows: int) -> pa.Table:
    return columns if columns.num_columns else pa.table({"": pa.nulls(n_rows, pa.int8())})
