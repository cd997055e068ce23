"""The table that a release was made from, which only its holder has."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.checks import column_name, name_some
from ldiversity.base.numbers import counted
from ldiversity.errors import ParameterError
from ldiversity.estimation import BinnedColumn, PlainColumn, true_cells
from ldiversity.release import Release, check_release, check_values, parse_type
from ldiversity.schema import Domain
from ldiversity.sentences import type_word
from ldiversity.tables import Coder, guarded, open_source

if TYPE_CHECKING:
    from ldiversity.estimation import By

__all__ = [
    "Original",
    "Records",
    "TrueCells",
    "as_type",
    "chosen_sensitive",
    "code_sensitive",
    "n_records",
    "read_columns",
]

Found = TypeVar("Found")


def read_columns(
    owner: str,
    original: Any,  # noqa: ANN401 - a path or any frame
    names: Sequence[str],
    release: Release | None = None,
) -> pa.Table:
    """Read some columns of the original, and check that it has as many records as the release was made from."""
    source = open_source(original)
    wanted = list(names)
    batches = list(source.batches(wanted)) if wanted else []
    fields = pa.schema([(name, source.columns[name]) for name in wanted])
    table = pa.Table.from_batches(batches, schema=None if batches else fields)
    if release is not None and wanted:
        _check_records(owner, table.num_rows, release)
    return table


def _check_records(owner: str, n_rows: int, release: Release) -> None:
    if n_rows < n_records(release):
        raise ParameterError(
            owner, "original", "must be the table that the release was made from", got="one with fewer records"
        ).with_hint(f"The release was made from {counted(n_records(release), 'record')}.")


class Original:
    """An original of which several releases are measured: what follows from it alone is found once.

    It keeps columns as they are read, which copies nothing of a table in memory, and what was found in them: counts of
    cells, and how columns are cut. Measures take it where they take a path or a frame.
    """

    def __init__(self, data: Any) -> None:  # noqa: ANN401 - a path or any frame
        self._data = data
        self._tables: dict[tuple[str, ...], pa.Table] = {}
        self._found: dict[Hashable, Any] = {}

    @classmethod
    def of(cls, data: Any) -> Original:  # noqa: ANN401 - a path or any frame
        """What was given, if it is one already."""
        return data if isinstance(data, cls) else cls(data)

    def columns(self, owner: str, names: Sequence[str], release: Release | None = None) -> pa.Table:
        """Read some columns as `read_columns` does."""
        wanted = tuple(names)
        if wanted not in self._tables:
            self._tables[wanted] = read_columns(owner, self._data, wanted)
        if release is not None and wanted:
            _check_records(owner, self._tables[wanted].num_rows, release)
        return self._tables[wanted]

    def records(
        self, owner: str, columns: Sequence[str], name: str, release: Release, *, checked: bool = True
    ) -> Records:
        """Read the records that have a value of a sensitive attribute of the release; `checked`, as many as it has."""
        table = self.columns(owner, [*columns, name], release if checked else None)
        return Records(self, table, name, release.domain(name), release.schema[name].type)

    def once(self, question: Hashable, find: Callable[[], Found]) -> Found:
        """Find an answer, or give the one that was found before."""
        if question not in self._found:
            self._found[question] = find()
        answer: Found = self._found[question]
        return answer


@dataclass(frozen=True, eq=False)
class TrueCells:
    """The cells that have a record: `places` of their labels, shape (cells, columns), and counts of values."""

    labels: tuple[pa.Array, ...]
    places: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Records:
    """The records of an original that have a value of a sensitive attribute."""

    original: Original
    read: pa.Table
    name: str
    domain: Domain
    kind: str

    @cached_property
    def _with_values(self) -> tuple[pa.Table, CodeArray]:
        codes = code_sensitive(self.read[self.name], self.name, self.domain, self.kind)
        kept = np.flatnonzero(codes >= 0)
        return self.read.take(pa.array(kept)), codes[kept]

    @property
    def table(self) -> pa.Table:
        """Their columns."""
        return self._with_values[0]

    @property
    def codes(self) -> CodeArray:
        """The code of the value of each."""
        return self._with_values[1]

    @property
    def n(self) -> int:
        """How many there are."""
        return self.once("n", lambda: len(self.codes))

    def once(self, question: Hashable, find: Callable[[], Found]) -> Found:
        """Find what follows from these records alone, or give what was found before."""
        about = (tuple(self.read.column_names), self.name, self.domain, self.kind)
        return self.original.once((about, question), find)

    def cells(self, release: Release, by: tuple[By, ...]) -> TrueCells:
        """Count the values of each cell, as an estimate from the release divides the records."""
        ours = all(isinstance(part, PlainColumn | BinnedColumn) for part in by)  # others cannot be looked up
        if not ours or {part.column for part in by} & set(release.coarse):  # whose labels are those of this release
            return self._cells(release, by)
        return self.once(("cells", by), lambda: self._cells(release, by))

    def _cells(self, release: Release, by: tuple[By, ...]) -> TrueCells:
        coded = [true_cells(release, part, self.table) for part in by]
        sizes = tuple(len(one.labels) for one in coded)
        keys = np.zeros(self.n, dtype=np.int64)
        for one in coded:
            keys = keys * len(one.labels) + one.codes
        present, cell = np.unique(keys, return_inverse=True)
        counts = np.bincount(cell * len(self.domain) + self.codes, minlength=len(present) * len(self.domain))
        places = np.column_stack(np.unravel_index(present, sizes)) if by else np.zeros((len(present), 0), np.int64)
        return TrueCells(tuple(one.labels for one in coded), places, counts.reshape(-1, len(self.domain)))


def n_records(release: Release) -> int:
    """How many records the release was made from, published or suppressed."""
    return release.n_rows + release.suppressed


def chosen_sensitive(owner: str, release: Release, sensitive: str | None) -> str:
    """Give the sensitive attribute that was asked for; it may be left out where there is only one."""
    check_release(owner, release)
    check_values(owner, release, "to measure")
    known = release.sensitive
    if sensitive is None and len(known) == 1:
        return known[0]
    if sensitive is None or column_name(owner, "sensitive", sensitive) not in known:
        raise ParameterError(owner, "sensitive", f"must name one of {name_some(known)}", got=repr(sensitive))
    return sensitive


def code_sensitive(column: pa.ChunkedArray, name: str, domain: Domain, kind: str) -> CodeArray:
    """Give the code of each record in the public domain; -1 for a missing value that the domain lacks."""
    missing = "category" if None in domain.values else "drop"
    return Coder(name, domain, parse_type(kind), missing=missing).codes(column)


def as_type(name: str, cells: pa.Array, kind: pa.DataType, *, safe: bool = True) -> pa.Array:
    """Convert cells of the original to a type of the release; unlike Arrow's, the error quotes no cell.

    Examples
    --------
    >>> as_type("age", pa.array(["41", "a secret"]), pa.int64())
    Traceback (most recent call last):
    ldiversity.errors.SchemaError: original: column 'age' must hold what the release shows, integer, got text.
    Hint: Give the table that the release was made from.
    """
    if cells.type == kind:
        return cells
    with guarded(
        "original",
        f"must hold what the release shows, {type_word(kind)}",
        column=name,
        got=cells.type,
        hint="Give the table that the release was made from.",
    ):
        found = cells.cast(kind, safe=safe)
        if (
            pa.types.is_boolean(kind)
            and not pa.types.is_string(cells.type)
            and not found.cast(cells.type).equals(cells)
        ):
            raise pa.ArrowInvalid("Arrow takes every number but 0 for true")
        return found
