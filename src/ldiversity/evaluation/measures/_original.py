"""The table that a release was made from, which only its holder has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ldiversity.base.arrays import CodeArray
from ldiversity.base.checks import column_name, name_some
from ldiversity.base.numbers import counted
from ldiversity.errors import ParameterError
from ldiversity.release import Release, check_release, check_values, parse_type
from ldiversity.schema import Domain
from ldiversity.tables import Coder, guarded, open_source

__all__ = ["as_type", "chosen_sensitive", "code_sensitive", "n_records", "read_columns"]


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
    if release is not None and wanted and table.num_rows < n_records(release):
        raise ParameterError(
            owner, "original", "must be the table that the release was made from", got="one with fewer records"
        ).with_hint(f"The release was made from {counted(n_records(release), 'record')}.")
    return table


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
    ldiversity.errors.SchemaError: original: column 'age' must hold what the release shows, int64, got string.
    Hint: Give the table that the release was made from.
    """
    if cells.type == kind:
        return cells
    with guarded(
        "original",
        f"must hold what the release shows, {kind}",
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
