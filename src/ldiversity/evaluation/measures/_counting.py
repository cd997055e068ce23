"""How often each sensitive value occurs in the records that a query selects: in truth, and as a release says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.errors import SchemaError, UnsupportedError
from ldiversity.estimation import Exchange
from ldiversity.evaluation.measures._axes import Axis, Reach, reach_of
from ldiversity.mechanisms import SINGULAR_CONDITION

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray
    from ldiversity.release import Release

__all__ = ["Chosen", "count_estimated", "count_true"]

_BLOCK: Final = 64

Chosen = Mapping[str, "BoolArray"]
"""What a query asks of the quasi-identifiers: for each that it names, the values of its axis that it selects."""


def count_true(
    queries: Sequence[Chosen], axes: Mapping[str, NDArray[np.intp]], codes: CodeArray, n_values: int
) -> FloatArray:
    """Count the values of the selected records, shape (queries, F).

    `axes` has the position of each record on each axis, `codes` the sensitive value of each record, or -1 for none.
    """
    kept = codes >= 0
    rows = _Rows({name: positions[kept] for name, positions in axes.items()}, int(np.count_nonzero(kept)))
    return np.stack([np.bincount(codes[kept][rows.selected(query)], minlength=n_values) for query in queries]).astype(
        np.float64
    )


def count_estimated(
    queries: Sequence[Chosen], axes: Mapping[str, Axis], release: Release, name: str, *, unmix: bool = False
) -> FloatArray:
    """Estimate the counts of the values of the selected records, shape (queries, F).

    With `unmix`, undo the mixing of values within classes that were formed without looking at quasi-identifiers.
    """
    evidence = release.evidence(name)
    if not evidence.counted:
        return _count_sets(queries, axes, release, name)
    counts = _count_classes(queries, axes, release, name)
    return _unmixed(counts, release, name) if unmix else counts


@dataclass(frozen=True, eq=False)
class _Rows:
    """The position of each record on some axes, or the label by which it is spread over one."""

    positions: Mapping[str, NDArray[np.intp]]
    n_rows: int
    reaches: Mapping[str, tuple[Reach, CodeArray]] = field(default_factory=dict)

    def weighted(self, query: Chosen) -> tuple[NDArray[np.int64], FloatArray]:
        """The rows that a query selects, and the share of each that it selects."""
        rows = self.selected({name: chosen for name, chosen in query.items() if name in self.positions})
        weights = np.ones(len(rows))
        for name, chosen in query.items():
            if name in self.reaches:
                reach, of_row = self.reaches[name]
                weights *= reach.shares(chosen)[of_row[rows]]
        return rows, weights

    def selected(self, query: Chosen) -> NDArray[np.int64]:
        """The rows that a query selects."""
        rows: NDArray[np.int64] | None = None
        for name, chosen in query.items():
            # One more position, for values that are not on the axis.
            hit = np.append(chosen, False)
            positions = self.positions[name]
            rows = np.flatnonzero(hit.take(positions)) if rows is None else rows[hit.take(positions.take(rows))]
        return np.arange(self.n_rows) if rows is None else rows


def _rows(release: Release, axes: Mapping[str, Axis], names: Sequence[str]) -> _Rows:
    table = release.columns([name for name in names if name not in release.coarse])
    positions = {name: axes[name].codes(table[name]) for name in table.column_names}
    regions = {name: release.region(name) for name in names if name in release.coarse}
    reaches = {name: (reach_of(axes[name], region), region.of_row) for name, region in regions.items()}
    return _Rows(positions, release.n_rows * release.rows_per_record, reaches)


def _count_sets(queries: Sequence[Chosen], axes: Mapping[str, Axis], release: Release, name: str) -> FloatArray:
    evidence = release.evidence(name)
    mechanism = evidence.drawn_by()
    if not mechanism.condition < SINGULAR_CONDITION:
        raise UnsupportedError("QueryWorkload", f"the matrix of {name!r} has no inverse, so no count can be estimated")
    rows = _rows(release, axes, _named(queries))
    n_values = mechanism.n_values
    counts = []
    for query in queries:
        selected, weights = rows.weighted(query)
        members = evidence.sets[evidence.of_row[selected]]
        counts.append(np.bincount(members.ravel(), np.repeat(weights, members.shape[1]), minlength=n_values))
    return np.stack(counts) @ mechanism.inverse.T


def _count_classes(queries: Sequence[Chosen], axes: Mapping[str, Axis], release: Release, name: str) -> FloatArray:
    from scipy.sparse import csr_array

    classes = release.evidence(name).candidates
    shape = (classes.n_classes, len(classes.domain))
    values = csr_array((classes.counts.astype(np.float64), classes.codes, classes.starts), shape=shape)
    weigh = _weigher(queries, axes, release, name, classes.sizes)
    parts = []
    for first in range(0, len(queries), _BLOCK):
        weights = np.stack([weigh(query) for query in queries[first : first + _BLOCK]])
        parts.append(np.asarray(values.T @ weights.T, dtype=np.float64).T)
    return np.concatenate(parts)


def _unmixed(counts: FloatArray, release: Release, name: str) -> FloatArray:
    columns = list(release.class_columns.values())
    alone = columns.count(release.class_columns[name]) == 1
    if release.blind(name) and alone and not release.generalized:
        exchange = Exchange(release.evidence(name).candidates)
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


def _weigher(
    queries: Sequence[Chosen], axes: Mapping[str, Axis], release: Release, name: str, sizes: NDArray[np.int64]
) -> Callable[[Chosen], FloatArray]:
    """Give a function from a query to the share of each class that it selects."""
    names = _named(queries)
    unknown = [column for column in names if column not in release.forms]
    if unknown:
        raise SchemaError("QueryWorkload", "must be a quasi-identifier of the release", column=unknown[0])
    exact = [column for column in names if not release.generalized or release.forms[column].kind == "exact"]
    generalized = [column for column in names if column not in exact]
    reaches = {column: reach_of(axes[column], release.region(column)) for column in generalized}
    class_of = release.evidence(name).of_row
    rows = _rows(release, axes, exact) if exact else None

    def weigh(query: Chosen) -> FloatArray:
        weights: Any = np.ones(len(sizes))
        within = {column: chosen for column, chosen in query.items() if column in exact}
        if rows is not None and within:
            selected, shares = rows.weighted(within)
            of_selected = class_of[selected]
            shown = of_selected >= 0
            weights = np.bincount(of_selected[shown], shares[shown], minlength=len(sizes)) / sizes
        for column, chosen in query.items():
            if column in reaches:
                weights = weights * reaches[column].shares(chosen)
        return np.asarray(weights, dtype=np.float64)

    return weigh


def _named(queries: Sequence[Chosen]) -> list[str]:
    return list(dict.fromkeys(name for query in queries for name in query))
