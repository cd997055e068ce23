"""How often each sensitive value occurs in the records that a query selects: in truth, and as a release says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.errors import SchemaError, UnsupportedError
from ldiversity.estimation import Exchange
from ldiversity.evaluation.measures._axes import Axis, Reach, reach_of
from ldiversity.evaluation.measures._selection import Chosen, Rows
from ldiversity.mechanisms import SINGULAR_CONDITION

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray
    from ldiversity.release import Release

__all__ = ["Chosen", "count_estimated", "count_true", "unmix"]

_BLOCK: Final = 64

_TOGETHER: Final = 8
"""Queries that are asked of a column at once: enough that asking takes no time, few enough for the cache."""

_FEW_VALUES: Final = 64
"""Up to so many values, dense shares of all rows are summed faster than sparse ones."""


def count_true(
    queries: Sequence[Chosen], axes: Mapping[str, NDArray[np.intp]], codes: CodeArray, n_values: int
) -> FloatArray:
    """Count the values of the selected records, shape (queries, F).

    `axes` has the position of each record on each axis, `codes` the sensitive value of each record, or -1 for none;
    or the members of its set, shape (records, l).
    """
    each = codes.reshape(len(codes), -1)
    rows = Rows(axes, len(codes))
    return np.concatenate(list(rows.tally(queries, lambda part: each[part], n_values)))


def count_estimated(queries: Sequence[Chosen], axes: Mapping[str, Axis], release: Release, name: str) -> FloatArray:
    """Estimate the counts of the values of the selected records, shape (queries, F)."""
    evidence = release.evidence(name)
    return (_count_classes if evidence.counted else _count_sets)(queries, axes, release, name)


def _rows(release: Release, axes: Mapping[str, Axis], names: Sequence[str]) -> Rows:
    table = release.columns([name for name in names if name not in release.coarse])
    positions = {name: axes[name].codes(table[name]) for name in table.column_names}
    regions = {name: release.region(name) for name in names if name in release.coarse}
    reaches = {name: (reach_of(axes[name], region), region.of_row) for name, region in regions.items()}
    return Rows(positions, release.n_rows * release.rows_per_record, reaches)


def _count_sets(queries: Sequence[Chosen], axes: Mapping[str, Axis], release: Release, name: str) -> FloatArray:
    evidence = release.evidence(name)
    mechanism = evidence.drawn_by()
    if not mechanism.condition < SINGULAR_CONDITION:
        raise UnsupportedError("QueryWorkload", f"the matrix of {name!r} has no inverse, so no count can be estimated")
    rows = _rows(release, axes, _named(queries))
    counts = rows.tally(queries, lambda part: evidence.sets[evidence.of_row[part]], mechanism.n_values)
    return np.concatenate(list(counts)) @ mechanism.inverse.T


def _count_classes(queries: Sequence[Chosen], axes: Mapping[str, Axis], release: Release, name: str) -> FloatArray:
    from scipy.sparse import csr_array

    classes = release.evidence(name).candidates
    shape = (classes.n_classes, len(classes.domain))
    values = csr_array((classes.counts.astype(np.float64), classes.codes, classes.starts), shape=shape)
    if not release.generalized:
        return _count_rows(queries, axes, release, name, values)
    parts = [
        np.asarray(values.T @ weights.T, dtype=np.float64).T
        for weights in _class_weights(queries, axes, release, name, classes.sizes)
    ]
    return np.concatenate(parts)


def _count_rows(
    queries: Sequence[Chosen],
    axes: Mapping[str, Axis],
    release: Release,
    name: str,
    counts: Any,  # noqa: ANN401 - a sparse matrix
) -> FloatArray:
    """Sum the shares that values have in the classes of the selected rows; `counts` has the shape (classes, F)."""
    from scipy.sparse import csr_array, diags_array, vstack

    n_values = counts.shape[1]
    sizes = np.maximum(np.asarray(counts.sum(axis=1)).reshape(-1), 1.0)
    shares = vstack([diags_array(1.0 / sizes) @ counts, csr_array((1, n_values))], format="csr")
    of_class = shares.toarray() if n_values <= _FEW_VALUES else shares
    of_row = release.evidence(name).of_row  # the last row of the shares is for rows in no class, -1
    rows = _rows(release, axes, _checked(queries, release))
    return np.concatenate(list(rows.sums(queries, lambda part: of_class[of_row[part]], n_values)))


def unmix(counts: FloatArray, release: Release, name: str) -> FloatArray:
    """Undo the mixing of values within classes that were formed without looking at quasi-identifiers.

    `counts` are those of `count_estimated`. Those of sets, which mix nothing, stay.
    """
    if not release.evidence(name).counted:
        return counts
    columns = list(release.class_columns.values())
    alone = columns.count(release.class_columns[name]) == 1
    if release.blind(name) and alone and not release.generalized:
        exchange = Exchange.of(release.evidence(name).candidates)
        if exchange.condition < SINGULAR_CONDITION:
            return exchange.undo(counts)
        raise UnsupportedError(
            "QueryWorkload",
            f"linear is not offered here, because classes mix some values of {name!r} so evenly that nothing can "
            "separate them (every class has all values when l is their number)",
        ).with_hint("Use 'classes', or a release with a smaller l.")
    raise UnsupportedError(
        "QueryWorkload",
        "linear is offered only where classes were formed by one sensitive attribute and quasi-identifiers are exact",
    ).with_hint("Use 'classes'.")


def _class_weights(
    queries: Sequence[Chosen], axes: Mapping[str, Axis], release: Release, name: str, sizes: NDArray[np.int64]
) -> Iterator[FloatArray]:
    """Give the share of each class that each query selects, shape (some queries, classes), query after query."""
    names = _checked(queries, release)
    exact = [column for column in names if not release.generalized or release.forms[column].kind == "exact"]
    reaches = {column: reach_of(axes[column], release.region(column)) for column in names if column not in exact}
    first = 0
    for weights in _shares_of_rows(queries, axes, release, name, sizes, exact):
        for begin in range(0, len(weights), _TOGETHER):
            some = queries[first + begin : first + min(begin + _TOGETHER, len(weights))]
            shares = {
                column: _shares(reach, [query.get(column) for query in some]) for column, reach in reaches.items()
            }
            for place, query in enumerate(some, start=begin):
                for column in query:
                    if column in shares:
                        weights[place] *= next(shares[column])
        yield weights
        first += len(weights)


def _shares(reach: Reach, chosen: Sequence[BoolArray | None]) -> Iterator[FloatArray]:
    """What the queries that name a column select of each class, one query after the other."""
    named = [one for one in chosen if one is not None]
    return iter(reach.shares(np.array(named)) if named else ())


def _shares_of_rows(
    queries: Sequence[Chosen],
    axes: Mapping[str, Axis],
    release: Release,
    name: str,
    sizes: NDArray[np.int64],
    exact: Sequence[str],
) -> Iterator[FloatArray]:
    """The share of the rows of each class that each query selects by the columns that are published as they are."""
    if not exact:
        for first in range(0, len(queries), _BLOCK):
            yield np.ones((len(queries[first : first + _BLOCK]), len(sizes)))
        return
    within = [{column: chosen for column, chosen in query.items() if column in exact} for query in queries]
    class_of = release.evidence(name).of_row[:, None]
    for counts in _rows(release, axes, exact).tally(within, lambda part: class_of[part], len(sizes)):
        yield counts / sizes


def _checked(queries: Sequence[Chosen], release: Release) -> list[str]:
    """The columns that are asked about, all of which the release has."""
    names = _named(queries)
    unknown = [column for column in names if column not in release.forms]
    if unknown:
        raise SchemaError("QueryWorkload", "must be a quasi-identifier of the release", column=unknown[0])
    return names


def _named(queries: Sequence[Chosen]) -> list[str]:
    return list(dict.fromkeys(name for query in queries for name in query))
