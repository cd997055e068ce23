"""Count the classes of a table in one pass: who looks alike, and which values they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray, different
from ldiversity.base.checks import check_choice, name_some
from ldiversity.base.numbers import counted
from ldiversity.errors import SchemaError
from ldiversity.evaluation.audit._numbering import Numbered, number_rows, plain_cells
from ldiversity.evaluation.audit._people import one_value_each
from ldiversity.evaluation.audit._tally import Tally, counts_of
from ldiversity.models import ClassCounts
from ldiversity.schema import Domain
from ldiversity.sentences import Parameter, say
from ldiversity.tables import (
    Coder,
    Sensitive,
    Source,
    check_roles,
    fit_coder,
    open_source,
    sensitive_type,
    unknown_column,
    value_type,
)

__all__ = [
    "MISSING_QUASI",
    "CountedTable",
    "Counting",
    "Dropped",
    "MissingQuasi",
    "check_any",
    "check_others",
    "check_people",
    "class_counts",
    "count_table",
    "fit_values",
]

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
    counting = Counting.of(
        source, quasi=quasi, sensitive=sensitive, missing=missing, joint_knowledge=joint_knowledge, person=person
    )
    tallies = [Tally(some) for some in counting.tallied]
    dropped = Dropped()
    for batch in source.batches(counting.columns):
        kept = counting.kept(batch, dropped)
        for tally in tallies:
            tally.add(kept)
    dropped.check(counting)
    cells = [tally.result() for tally in tallies]
    check_any(source.name, cells[0].num_rows)
    coders = {
        one.name: counting.binned.get(one.name) or fit_values(source, one, counting.cells_of(one.name, cells))
        for one in sensitive
    }
    found = counting.classes(cells, coders)
    people = None if person is None else len(number_rows(cells[0], [person])[1])
    return replace(found, n_dropped=dropped.n_dropped, n_people=people)


@dataclass(frozen=True)
class Counting:
    """How the rows of a table become classes; the same wherever they are counted.

    `tallied` are the columns of each tally: who looks alike, with one sensitive column each, or with all where the
    attacker knows the others.
    """

    owner: str
    quasi: tuple[str, ...]
    sensitive: tuple[Sensitive, ...]
    missing: MissingQuasi
    joint_knowledge: bool
    person: str | None
    binned: Mapping[str, Coder]

    @classmethod
    def of(
        cls,
        source: Source,
        *,
        quasi: Sequence[str],
        sensitive: Sequence[Sensitive] = (),
        missing: MissingQuasi = "category",
        joint_knowledge: bool = False,
        person: str | None = None,
    ) -> Counting:
        """Check the columns, and find the bins of those that have some."""
        check_choice("audit", "missing", missing, MISSING_QUASI)
        _check_columns(source, quasi, [one.name for one in sensitive])
        binned = {one.name: fit_coder(source, one)[0] for one in sensitive if one.bins is not None}
        return cls(source.name, tuple(quasi), tuple(sensitive), missing, joint_knowledge, person, binned)

    @property
    def names(self) -> list[str]:
        """The sensitive columns."""
        return [one.name for one in self.sensitive]

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return [*self.quasi, *self.names, *self._whose]

    @property
    def tallied(self) -> list[list[str]]:
        """The columns of each tally."""
        together = [self.names] if self.joint_knowledge or not self.names else [[name] for name in self.names]
        return [[*self.quasi, *some, *self._whose] for some in together]

    @property
    def _whose(self) -> list[str]:
        return [] if self.person is None else [self.person]

    def cells_of(self, name: str, cells: Sequence[pa.Table]) -> pa.ChunkedArray:
        """The cells of a sensitive column among what was tallied."""
        return self._tally_of(name, cells).column(name)

    def _tally_of(self, name: str, cells: Sequence[pa.Table]) -> pa.Table:
        return cells[0 if self.joint_knowledge else self.names.index(name)]

    def looked_at(self, batch: pa.RecordBatch) -> tuple[pa.Table, BoolArray, BoolArray]:
        """Cells that can be grouped; which rows lack a quasi-identifier, and which are left out."""
        check_people(batch, self.person)
        cells = _comparable(batch, self.binned)
        lacking = _lacks(cells, self.quasi)
        left_out = _lacks(cells, [one.name for one in self.sensitive if one.missing == "drop"])
        return cells, lacking, left_out | lacking if self.missing == "drop" else left_out

    def kept(self, batch: pa.RecordBatch, dropped: Dropped) -> pa.Table:
        """The rows of a batch that count, with cells that can be grouped."""
        cells, lacking, left_out = self.looked_at(batch)
        dropped.n_lacking += int(np.count_nonzero(lacking))
        if not left_out.any():
            return cells
        dropped.n_dropped += int(np.count_nonzero(left_out))
        return cells.filter(pa.array(~left_out))

    def classes(self, cells: Sequence[pa.Table], coders: Mapping[str, Coder]) -> CountedTable:
        """The classes among tallied cells; `coders` know all values of the table."""
        names, first_cells = self.names, cells[0]
        numbers = _Numbers(first_cells, (self.quasi, tuple(self._whose)))
        counts = {
            name: _count_attribute(
                self._tally_of(name, cells),
                [*self.quasi, *(other for other in names if self.joint_knowledge and other != name)],
                name,
                coders[name],
                numbers,
                binned=name in self.binned,
                person=self.person,
            )
            for name in names
        }
        ids, first = numbers.of(first_cells, self.quasi)
        rows = counts_of(first_cells)
        if self.person is None:
            sizes = np.bincount(ids, weights=rows, minlength=len(first))
        else:
            people, someone = numbers.of(first_cells, [self.person])
            members = different(ids * len(someone) + people)
            sizes = np.bincount(members // len(someone), minlength=len(first)).astype(float)
        return CountedTable(
            quasi=self.quasi,
            keys=first_cells.select(list(self.quasi)).take(pa.array(first)) if self.quasi else pa.table({}),
            sizes=np.rint(sizes).astype(np.int64),
            counts=counts,
            n_rows=int(rows.sum()),
        )


@dataclass(eq=False)
class _Numbers:
    """Numbers of combinations; some of one tally are needed several times, and found once."""

    cells: pa.Table
    kept: tuple[tuple[str, ...], ...]
    _found: dict[tuple[str, ...], Numbered] = field(default_factory=dict)

    def of(self, cells: pa.Table, names: Sequence[str]) -> Numbered:
        """What `number_rows` gives."""
        wanted = tuple(names)
        if cells is not self.cells or wanted not in self.kept:
            return number_rows(cells, wanted)
        if wanted not in self._found:
            self._found[wanted] = number_rows(cells, wanted)
        return self._found[wanted]


@dataclass
class Dropped:
    """How many rows lack a quasi-identifier, and how many were left out because something was missing."""

    n_dropped: int = 0
    n_lacking: int = 0

    def check(self, counting: Counting) -> None:
        """Refuse rows without a quasi-identifier, where that was asked for."""
        if counting.missing == "refuse" and self.n_lacking:
            raise SchemaError(
                counting.owner,
                "quasi-identifiers must have a value in every row",
                got=f"{counted(self.n_lacking, 'row')} without",
            ).with_hint("Count a missing value as a value (category), or leave such rows out (drop).")


def check_any(owner: str, n_rows: int) -> None:
    """Refuse a table without rows to count."""
    if n_rows == 0:
        raise SchemaError(owner, "the table must have at least one row to count", got="none").with_hint(
            "Check that the table was written completely, and how missing values are treated."
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
    if not (keys[1:] >= keys[:-1]).all():  # else they are as tallies give them
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    pairs = keys[first]
    starts = np.searchsorted(pairs, np.arange(n_classes + 1, dtype=np.int64) * len(domain))
    totals = np.add.reduceat(counts, first) if len(first) else np.zeros(0, dtype=np.int64)
    return ClassCounts(starts.astype(np.int64), (pairs % len(domain)).astype(np.int32), totals, domain)


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
    cells: pa.Table,
    known: Sequence[str],
    name: str,
    coder: Coder,
    numbers: _Numbers,
    *,
    binned: bool,
    person: str | None,
) -> ClassCounts:
    ids, first = numbers.of(cells, known)
    column = cells.column(name)
    codes = np.asarray(column, dtype=np.int32) if binned else coder.codes(column)
    counts = counts_of(cells)
    if person is not None:
        ids, codes = one_value_each(ids, numbers.of(cells, [person])[0], codes)
        counts = np.ones(len(ids), dtype=np.int64)
    return class_counts(ids, codes, counts, len(first), coder.domain)


def fit_values(source: Source, sensitive: Sensitive, column: pa.ChunkedArray | pa.Array) -> Coder:
    """Make the domain from the different values that were counted."""
    values = open_source(pa.table({sensitive.name: pc.unique(column)}))
    try:
        return fit_coder(values, sensitive, order=source.category_order(sensitive.name))[0]
    except SchemaError:
        fit_coder(source, sensitive)  # raises the same error for the whole table, with its name and numbers
        raise


def check_people(batch: pa.RecordBatch, person: str | None) -> None:
    """Refuse a row that is nobody's."""
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
    for name in sensitive:
        sensitive_type(source, name)
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
