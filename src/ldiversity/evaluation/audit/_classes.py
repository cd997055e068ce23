"""Count the classes of a table in one pass: who looks alike, and which values they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.checks import check_choice, name_some
from ldiversity.base.numbers import counted
from ldiversity.errors import SchemaError
from ldiversity.evaluation.audit._numbering import number_rows, plain_cells
from ldiversity.evaluation.audit._people import one_value_each
from ldiversity.evaluation.audit._tally import Tally, counts_of
from ldiversity.models import ClassCounts
from ldiversity.schema import Domain
from ldiversity.sentences import Parameter, say
from ldiversity.tables import Coder, Sensitive, Source, check_roles, fit_coder, open_source, unknown_column, value_type

__all__ = ["MISSING_QUASI", "CountedTable", "MissingQuasi", "check_others", "class_counts", "count_table"]

MissingQuasi: TypeAlias = Literal["category", "drop", "refuse"]

MISSING_QUASI: Final = ("category", "drop", "refuse")
"""How rows without a quasi-identifier may be treated."""


@dataclass(frozen=True, eq=False)
class CountedTable:
    """The classes of a table: records that look alike by their quasi-identifiers.

    Parameters
    ----------
    keys
        One row per class: its quasi-identifiers. These are cells of the source: never shown.
    sizes
        Shape (classes,): how many records each class has; how many people, where these are counted.
    counts
        The classes of each sensitive attribute. They are the same for all attributes, unless the attacker knows the
        other sensitive ones.
    n_dropped
        How many rows were left out because something was missing.
    n_rows, n_people
        How many rows were counted, and how many people they belong to; None when rows are counted, and not people.
    """

    quasi: tuple[str, ...]
    keys: pa.Table = field(repr=False)
    sizes: NDArray[np.int64]
    counts: Mapping[str, ClassCounts]
    n_dropped: int = 0
    n_rows: int = 0
    n_people: int | None = None


def count_table(
    source: Source,
    *,
    quasi: Sequence[str],
    sensitive: Sequence[Sensitive] = (),
    missing: MissingQuasi = "category",
    joint_knowledge: bool = False,
    person: str | None = None,
) -> CountedTable:
    """Count the classes of a table in one pass; binned columns need one more pass to find their bins.

    The arguments are those of `audit`. Raise `SchemaError` when a column does not exist, has two roles or cannot be
    counted, or the table breaks a policy on missing values.

    Examples
    --------
    >>> table = pa.table({"age": [30, 30, 40], "disease": ["flu", "cut", "flu"]})
    >>> counted = count_table(open_source(table), quasi=["age"], sensitive=[Sensitive("disease")])
    >>> counted.sizes.tolist(), counted.counts["disease"].dense().tolist()
    ([2, 1], [[1, 1], [0, 1]])

    With `person`, people are counted: everybody once in a class.

    >>> table = table.append_column("who", pa.array(["ann", "ann", "bob"]))
    >>> count_table(open_source(table), quasi=["age"], person="who").sizes.tolist()
    [1, 1]
    """
    check_choice("audit", "missing", missing, MISSING_QUASI)
    names = [attribute.name for attribute in sensitive]
    _check_columns(source, quasi, names)
    binned = {one.name: fit_coder(source, one)[0] for one in sensitive if one.bins is not None}
    together = [names] if joint_knowledge or not names else [[name] for name in names]
    whose = [] if person is None else [person]
    tallies = [Tally([*quasi, *some, *whose]) for some in together]
    filter_rows = _Filter(source.name, tuple(quasi), tuple(one.name for one in sensitive if one.missing == "drop"))
    for batch in source.batches([*quasi, *names, *whose]):
        _check_people(batch, person)
        kept = filter_rows.keep(_comparable(batch, binned), missing)
        for tally in tallies:
            tally.add(kept)
    filter_rows.finish(missing)
    cells = [tally.result() for tally in tallies]
    if cells[0].num_rows == 0:
        raise SchemaError(source.name, "the table must have at least one row to count", got="none").with_hint(
            "Check that the table was written completely, and how missing values are treated."
        )
    of_attribute = {name: part for some, part in zip(together, cells, strict=True) for name in some}
    counts = {
        one.name: _count_attribute(
            of_attribute[one.name],
            [*quasi, *(other for other in names if joint_knowledge and other != one.name)],
            one,
            binned.get(one.name),
            source,
            person,
        )
        for one in sensitive
    }
    ids, first = number_rows(cells[0], quasi)
    rows = counts_of(cells[0])
    people = None
    if person is None:
        sizes = np.bincount(ids, weights=rows, minlength=len(first))
    else:
        people = number_rows(cells[0], [person])[0]
        members = np.unique(ids * (int(people.max()) + 1) + people)
        sizes = np.bincount(members // (int(people.max()) + 1), minlength=len(first)).astype(float)
    return CountedTable(
        quasi=tuple(quasi),
        keys=cells[0].select(list(quasi)).take(pa.array(first)) if quasi else pa.table({}),
        sizes=np.rint(sizes).astype(np.int64),
        counts=counts,
        n_dropped=filter_rows.n_dropped,
        n_rows=int(rows.sum()),
        n_people=None if people is None else int(people.max()) + 1,
    )


def class_counts(
    ids: NDArray[np.int64], codes: CodeArray, counts: NDArray[np.int64], n_classes: int, domain: Domain
) -> ClassCounts:
    """Add up counts by class and code; a pair may occur several times.

    Examples
    --------
    >>> gathered = class_counts(np.array([1, 0, 1]), np.array([0, 1, 0]), np.array([2, 3, 4]), 2, Domain(("a", "b")))
    >>> gathered.dense().tolist()
    [[0, 3], [6, 0]]
    """
    keys = ids * len(domain) + codes
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    pairs = keys[first]
    starts = np.searchsorted(pairs, np.arange(n_classes + 1, dtype=np.int64) * len(domain))
    totals = np.add.reduceat(counts[order], first) if len(first) else np.zeros(0, dtype=np.int64)
    return ClassCounts(starts.astype(np.int64), (pairs % len(domain)).astype(np.int32), totals, domain)


@dataclass
class _Filter:
    """Leaves out rows that lack something, and counts them."""

    owner: str
    quasi: tuple[str, ...]
    droppable: tuple[str, ...]
    n_dropped: int = 0
    n_lacking: int = 0

    def keep(self, batch: pa.Table, missing: MissingQuasi) -> pa.Table:
        lacking = _lacks(batch, self.quasi)
        self.n_lacking += int(np.count_nonzero(lacking))
        dropped = _lacks(batch, self.droppable)
        if missing == "drop":
            dropped |= lacking
        if not dropped.any():
            return batch
        self.n_dropped += int(np.count_nonzero(dropped))
        return batch.filter(pa.array(~dropped))

    def finish(self, missing: MissingQuasi) -> None:
        if missing == "refuse" and self.n_lacking:
            raise SchemaError(
                self.owner,
                "quasi-identifiers must have a value in every row",
                got=f"{counted(self.n_lacking, 'row')} without",
            ).with_hint("Count a missing value as a value (category), or leave such rows out (drop).")


def _lacks(batch: pa.Table, names: Sequence[str]) -> NDArray[np.bool_]:
    lacks = np.zeros(batch.num_rows, dtype=np.bool_)
    for name in names:
        column = batch.column(name)
        if column.null_count:
            lacks |= np.asarray(column.is_null())
    return lacks


def _comparable(batch: pa.RecordBatch, binned: Mapping[str, Coder]) -> pa.Table:
    """Cells that can be grouped: binned numbers as codes, everything else as it is."""
    columns = {}
    for name in batch.schema.names:
        cells = batch.column(name)
        if name in binned:
            codes = binned[name].codes(cells)
            cells = pa.array(codes, mask=codes < 0)
        columns[name] = plain_cells(cells)
    return pa.table(columns)


def _count_attribute(
    cells: pa.Table, known: Sequence[str], sensitive: Sensitive, coder: Coder | None, source: Source, person: str | None
) -> ClassCounts:
    ids, first = number_rows(cells, known)
    column = cells.column(sensitive.name)
    if coder is not None:
        codes = np.asarray(column, dtype=np.int32)
    else:
        coder = _fit_values(source, sensitive, column)
        codes = coder.codes(column)
    counts = counts_of(cells)
    if person is not None:
        ids, codes = one_value_each(ids, number_rows(cells, [person])[0], codes)
        counts = np.ones(len(ids), dtype=np.int64)
    return class_counts(ids, codes, counts, len(first), coder.domain)


def _fit_values(source: Source, sensitive: Sensitive, column: pa.ChunkedArray) -> Coder:
    """Make the domain from the different values that were counted."""
    values = open_source(pa.table({sensitive.name: pc.unique(column)}))
    try:
        return fit_coder(values, sensitive, order=source.category_order(sensitive.name))[0]
    except SchemaError:
        fit_coder(source, sensitive)  # raises the same error for the whole table, with its name and numbers
        raise


def _check_people(batch: pa.RecordBatch, person: str | None) -> None:
    if person is not None and batch.column(person).null_count:
        raise SchemaError("person", "must not have missing values", column=person).with_hint(
            say("Fill them in, or leave {} out.", Parameter("person"))
        )


def check_others(source: Source, others: Sequence[str], roles: Sequence[str]) -> None:
    """Refuse other columns that do not exist, or already have a role."""
    for place, name in enumerate(others):
        if name not in source.columns:
            raise unknown_column(source.name, name, source.columns, from_file=source.from_file)
        if name in roles or name in others[:place]:
            raise SchemaError(source.name, "must have one role", column=name, hint="Name each column once.")


def _check_columns(source: Source, quasi: Sequence[str], sensitive: Sequence[str]) -> None:
    if sensitive:
        check_roles(source, quasi=quasi, sensitive=sensitive)
    for place, name in enumerate(quasi):
        if name not in source.columns:
            raise unknown_column(source.name, name, source.columns, from_file=source.from_file)
        if value_type(source.columns[name]) is None:
            raise SchemaError(
                source.name,
                "quasi-identifiers must hold texts, numbers, booleans or dates",
                got=f"{source.columns[name]} in {name_some([name])}",
            ).with_hint("Convert the column to text, or make one column of each part.")
        if name in quasi[:place]:
            raise SchemaError(source.name, "must be named once", column=name)
    if not quasi and not sensitive:
        raise SchemaError(source.name, "at least one column must be named", got="none").with_hint(
            "Name the quasi-identifiers, by which people might be recognized, and the sensitive columns."
        )
