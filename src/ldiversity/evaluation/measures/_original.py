"""The table that a release was made from: only its holder has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ldiversity.base.arrays import CodeArray
from ldiversity.base.checks import column_name, name_some
from ldiversity.errors import ParameterError
from ldiversity.release import Release, check_release, parse_type
from ldiversity.schema import Domain
from ldiversity.tables import Coder, guarded, open_source

__all__ = ["as_type", "chosen_sensitive", "code_sensitive", "n_records", "read_columns"]


def read_columns(
    owner: str,
    original: Any,  # noqa: ANN401 - a path or any frame
    names: Sequence[str],
    release: Release | None = None,
) -> pa.Table:
    """Read some columns of the original, as many records of it at least as the release was made from."""
    source = open_source(original)
    wanted = list(names)
    batches = list(source.batches(wanted)) if wanted else []
    fields = pa.schema([(name, source.columns[name]) for name in wanted])
    table = pa.Table.from_batches(batches, schema=None if batches else fields)
    if release is not None and wanted and table.num_rows < n_records(release):
        raise ParameterError(
            owner, "original", "must be the table that the release was made from", got="one with fewer records"
        ).with_hint(f"The release was made from {n_records(release)} records.")
    return table


def n_records(release: Release) -> int:
    """How many records the release was made from: the published and the suppressed ones."""
    return release.n_rows + release.suppressed


def chosen_sensitive(owner: str, release: Release, sensitive: str | None) -> str:
    """Give the sensitive attribute that was asked for; it may be left out where there is one."""
    check_release(owner, release)
    known = release.sensitive
    if sensitive is None and len(known) == 1:
        return known[0]
    if sensitive is None or column_name(owner, "sensitive", sensitive) not in known:
        raise ParameterError(owner, "sensitive", f"must name one of {name_some(known)}", got=repr(sensitive))
    return sensitive


def code_sensitive(column: pa.ChunkedArray, name: str, domain: Domain, kind: str) -> CodeArray:
    """Give the code of each record in the public domain; -1 for records without a value where that is no value."""
    missing = "category" if None in domain.values else "drop"
    return Coder(name, domain, parse_type(kind), missing=missing).codes(column)


def as_type(name: str, cells: pa.Array, kind: pa.DataType, *, safe: bool = True) -> pa.Array:
    """Give cells of the original and of a release one type, so that they can be compared.

    Raises
    ------
    SchemaError
        When they cannot have it; quotes no cell, as Arrow does.

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
        return cells.cast(kind, safe=safe)
