"""Fit a coder to a table in one streamed pass over its sensitive column."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.limits import MOST_VALUES
from ldiversity.base.numbers import counted
from ldiversity.errors import SchemaError
from ldiversity.schema import Domain
from ldiversity.tables._bins import Bins
from ldiversity.tables._coder import Coder, missing_refused
from ldiversity.tables._counters import counter_for
from ldiversity.tables._declared import match_declared
from ldiversity.tables._guard import guarded
from ldiversity.tables._sensitive import Sensitive
from ldiversity.tables._source import DEFAULT_CHUNK_ROWS, Source, unknown_column
from ldiversity.tables._values import Tally, domain_array, to_values, value_type

__all__ = ["COUNT", "MOST_FLOATS", "count_values", "fit_coder", "sensitive_type"]

COUNT: Final = "\0count"
"""The name of the column of counts; no column of a table has such a name."""

MOST_FLOATS: Final = 1_000
"""With more distinct floats than this, a column holds measurements, which must be binned."""


def count_values(
    source: Source, column: str, most: int | None, *, chunk_rows: int = DEFAULT_CHUNK_ROWS
) -> pa.Table | None:
    """Return the distinct values of a column and the number of rows with each, as a table.

    If values are missing, None is one of the values. Returns None if there are more than `most` others.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> counted = count_values(open_source(pa.table({"sex": ["f", None, "f"]})), "sex", most=10)
    >>> counted.column(0).to_pylist(), counted.column(1).to_pylist()
    (['f', None], [2, 1])
    """
    tally = Tally(sys.maxsize if most is None else most)
    for batch in source.batches([column], chunk_rows=chunk_rows, encoded=[column]):
        tally.add(batch.column(0))
        if tally.full:
            return None
    cells, counts = tally.result()
    if tally.full:
        return None
    values = pa.array([], source.columns[column]) if cells is None else cells
    if tally.n_missing:
        values, counts = pa.concat_arrays([values, pa.nulls(1, values.type)]), np.append(counts, tally.n_missing)
    return pa.table([values, pa.array(counts.astype(np.int64))], names=[column, COUNT])


def fit_coder(
    source: Source,
    sensitive: Sensitive,
    chunk_rows: int = DEFAULT_CHUNK_ROWS,
    *,
    order: pa.Array | None = None,
    count: Callable[[Source, str, int], pa.Table | None] | None = None,
) -> tuple[Coder, NDArray[np.int64]]:
    """Settle the domain of a sensitive column, and count its values.

    Parameters
    ----------
    source, sensitive
        The table, and what the data holder says about the column.
    chunk_rows
        Rows of a batch; affects only memory and time.
    order
        The column's categories in order, if the source cannot know it; see `Source.category_order`.
    count
        A function that does the same as `count_values`, for example on other machines; None for `count_values`.

    Returns
    -------
    coder
        Turns cells into codes.
    counts
        Rows with each code. They are secret: for the data holder only.

    Raises
    ------
    SchemaError
        When the column does not exist, has no rows, cannot be coded, or breaks what was declared.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> table = open_source(pa.table({"disease": ["flu", "cold", "flu"]}))
    >>> coder, counts = fit_coder(table, Sensitive("disease"))
    >>> coder.domain.values, counts.tolist()
    (('cold', 'flu'), [1, 2])
    """
    values = sensitive_type(source, sensitive.name)
    if sensitive.bins is not None:
        return _fit_bins(source, sensitive, sensitive.bins, chunk_rows)
    count = count or partial(count_values, chunk_rows=chunk_rows)
    return _fit_values(source, sensitive, values, count(source, sensitive.name, MOST_VALUES), order)


def sensitive_type(source: Source, name: str) -> pa.DataType:
    """The type of the values of a column that shall be sensitive, or an error if it cannot be."""
    if name not in source.columns:
        raise unknown_column(source.name, name, source.columns, from_file=source.from_file)
    values = value_type(source.columns[name])
    if values is None:
        raise SchemaError(
            source.name,
            "must hold texts, numbers, booleans or dates to be sensitive",
            column=name,
            got=source.columns[name],
        ).with_hint("Convert it to text, or split it into one column per part.")
    return values


def _fit_values(
    source: Source, sensitive: Sensitive, kind: pa.DataType, counted: pa.Table | None, order: pa.Array | None
) -> tuple[Coder, NDArray[np.int64]]:
    if counted is None:
        raise _too_many(source, sensitive, f"more than {MOST_VALUES}")
    known = np.asarray(counted.column(0).is_valid())
    every = counted.column(1).to_numpy()
    counts, n_missing = every[known], int(every[~known].sum())
    _check_missing(source, sensitive, int(every.sum()), n_missing)
    name = sensitive.name
    cells = counted.column(0).filter(pa.array(known)).combine_chunks()
    values = _as_values(source, name, cells, kind) if len(cells) else pa.array([], kind)
    if sensitive.domain is None:
        if pa.types.is_floating(values.type) and len(values) > MOST_FLOATS:
            raise _too_many(source, sensitive, f"{len(values)} different decimal numbers")
        listed = source.category_order(name) if order is None else order
        domain = _inferred(source, name, values) if listed is None else _listed(source, name, values, listed)
    else:
        domain = match_declared(source.name, name, sensitive.domain, values.type)
    domain = _with_missing(domain, sensitive)
    coder = Coder(name, domain, values.type, sensitive.missing)
    return coder, _count_codes(source, coder, values, counts, n_missing)


def _as_values(source: Source, name: str, cells: pa.Array, kind: pa.DataType) -> pa.Array:
    try:
        return to_values(cells, kind)
    except pa.ArrowInvalid:  # unsigned integers beyond the signed range
        with guarded(
            source.name,
            "must hold cells that can be published as values",
            column=name,
            got="others",
            hint="Convert it to text, for example times of a zone that this machine does not know.",
        ):
            return to_values(cells, pa.string())


def _listed(source: Source, name: str, values: pa.Array, order: pa.Array) -> Domain:
    """Return the domain of the values that occur, in the order of the column's categories."""
    categories = _as_values(source, name, order, values.type).unique()
    # Other categories may come from rows that were removed; publishing them would reveal that.
    occur = categories.filter(pc.is_in(categories, value_set=values))
    return match_declared(source.name, name, occur.to_pylist(), values.type)


def _inferred(source: Source, name: str, values: pa.Array) -> Domain:
    distinct = tuple(sorted(values.unique().to_pylist()))
    numbers = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    ordered = numbers or pa.types.is_temporal(source.columns[name])
    return Domain(distinct, ordered=ordered, positions=tuple(map(float, distinct)) if numbers else None)


def _with_missing(domain: Domain, sensitive: Sensitive) -> Domain:
    """Add the category of missing values where it was asked for, also if no cell is missing.

    The domain is public. If the category depended on the cells, it would tell that somebody has none, and the first gap
    would change the domain, so that all sets are drawn again in spite of a key.
    """
    if sensitive.missing != "category" or None in domain.values:
        return domain
    positions = None if domain.positions is None else (*domain.positions, float("nan"))
    return Domain((*domain.values, None), domain.ordered, positions, domain.edges)


def _count_codes(
    source: Source, coder: Coder, values: pa.Array, counts: NDArray[np.int64], n_missing: int
) -> NDArray[np.int64]:
    positions = pc.index_in(values, value_set=domain_array(coder.domain, coder.type), skip_nulls=True)
    outside = np.asarray(positions.is_null())
    if outside.any():
        raise SchemaError(
            source.name,
            "must hold values of its declared domain only",
            column=coder.name,
            got=f"{counted(int(counts[outside].sum()), 'row')} with {counted(int(outside.sum()), 'other')}",
        ).with_hint("Add the values to the domain, or correct the rows.")
    totals = np.zeros(len(coder.domain), dtype=np.int64)
    np.add.at(totals, positions.to_numpy(), counts)
    if None in coder.domain.code_of:
        totals[coder.domain.code_of[None]] = n_missing
    return totals


def _too_many(source: Source, sensitive: Sensitive, what: str) -> SchemaError:
    return SchemaError(
        source.name, "must have few enough values to publish as a domain", column=sensitive.name, got=what
    ).with_hint("Bin numbers with width, edges or quantiles; group texts into categories; or declare the domain.")


def _check_missing(source: Source, sensitive: Sensitive, n_rows: int, n_missing: int) -> None:
    if n_rows == 0:
        raise SchemaError(source.name, "the table must have at least one row", got="none").with_hint(
            "Check that the table was written completely."
        )
    if n_missing and sensitive.missing == "refuse":
        raise missing_refused(source.name, sensitive.name, n_missing)
    if n_missing == n_rows and sensitive.missing == "drop":
        raise SchemaError(
            source.name, "must have a value in at least one row", column=sensitive.name, got="none"
        ).with_hint("Choose another sensitive column.")


def _fit_bins(source: Source, sensitive: Sensitive, bins: Bins, chunk_rows: int) -> tuple[Coder, NDArray[np.int64]]:
    counter = counter_for(source.name, sensitive.name, bins)
    for batch in source.batches([sensitive.name], chunk_rows=chunk_rows):
        counter.add(batch.column(0))
    _check_missing(source, sensitive, counter.n_rows, counter.n_missing)
    if counter.n_missing == counter.n_rows and bins.fixed_edges is None:
        domain, counts = Domain((), ordered=True), np.zeros(0, dtype=np.int64)
    else:
        edges, counts = counter.result()
        domain = Domain(Bins.labels(edges), ordered=True, positions=Bins.middles(edges), edges=edges)
    domain = _with_missing(domain, sensitive)
    if None in domain.code_of:
        counts = np.append(counts, np.int64(counter.n_missing))
    return Coder(sensitive.name, domain, pa.string(), sensitive.missing), counts
