"""Cells and filters on hidden columns: shares among records with a hidden value, from a joint estimate.

Nobody can tell which records have a hidden value, so they cannot be selected. But the joint distribution of two hidden
attributes can be estimated, and a share among the records with a value b of the second one is the joint count divided
by the count of b. Both are estimates from the same sets. The interval of the share holds all shares s at which
``joint - s margin`` is not far from zero (Fieller), within 0 and 1. The count has the interval of the joint count: it
may be uncertain where the share is not, and the other way around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.checks import name_all, name_some
from ldiversity.base.typed import number_text
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation._by import PlainColumn
from ldiversity.estimation._intervals import HALF_A_RECORD
from ldiversity.estimation._moments import CellMoments, LikeliestMoments, Moments
from ldiversity.estimation._quantity import ROUNDING
from ldiversity.schema import Role
from ldiversity.sentences import Parameter, Sentence, Setting, say
from ldiversity.tables import domain_array

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray
    from ldiversity.estimation._by import By
    from ldiversity.estimation._result import Estimate
    from ldiversity.estimation._where import Filter
    from ldiversity.release import Release
    from ldiversity.schema import Domain

__all__ = ["condition", "hidden_columns"]

_MOST_JOINT: Final = 4_000
_RATIOS: Final = (
    "Numbers of records by {} are estimates themselves. So low and high are about counts alone; those of shares are "
    "share_low and share_high."
)


def hidden_columns(release: Release, by: Sequence[By], filters: Sequence[Filter]) -> tuple[str, ...]:
    """The sensitive attributes among the columns of cells and filters."""
    columns = dict.fromkeys([*(part.column for part in by), *(part.column for part in filters)])
    return tuple(name for name in columns if release.schema[name].role is Role.SENSITIVE)


def condition(
    release: Release,
    names: Sequence[str],
    by: tuple[By, ...],
    filters: tuple[Filter, ...],
    ask: Callable[[tuple[By, ...], tuple[str, ...], tuple[Filter, ...]], Estimate],
    min_records: int,
) -> Estimate:
    """Estimate within cells of hidden columns; `ask` estimates a joint distribution by published columns."""
    hidden = hidden_columns(release, by, filters)
    _check(release, names, by, hidden)
    plain = tuple(part for part in by if part.column not in hidden)
    joint = ask(plain, (*names, *hidden), tuple(part for part in filters if part.column not in hidden))
    groups = _group(release, hidden, by, filters)
    n_values = joint.count.shape[1] // groups.n_combinations
    inner = joint._known()  # noqa: SLF001 - of the same room
    if isinstance(inner, CellMoments):
        inner = replace(inner, of_cell=lru_cache(maxsize=1)(inner.of_cell))
    moments = _Grouped(groups.sum(inner.counts, n_values), inner, groups)
    counts = groups.sum(joint.count, n_values)
    records = counts.sum(axis=1)
    # Where exactly as many sets as expected without any record hold a value, rounding leaves a little of zero records.
    kept = np.flatnonzero(records > ROUNDING * np.repeat(joint.records, groups.n_cells))
    if not len(kept):
        raise ParameterError("estimate", "where", "must select values that records have", got="an estimate of none")
    covariance = lru_cache(maxsize=1)(joint.covariance)
    errors, low, high = _of_counts(joint, moments, groups, counts, covariance)
    ends = _of_shares(moments, counts, high, records, joint.confidence)
    few = records < min_records
    return replace(
        joint,
        sensitive=tuple(names),
        by=tuple(part.column for part in by),
        labels=_labels(by, joint.labels, groups).take(pa.array(kept)) if by else pa.table({}),
        domains=tuple(release.domain(name) for name in names),
        records=records[kept],
        count=counts[kept],
        std_error=errors[kept],
        low=low[kept],
        high=high[kept],
        estimator=tuple(joint.estimator[place // groups.n_cells] for place in kept),
        note=tuple(f"fewer than {min_records} records" if few[place] else "" for place in kept),
        caveats=(_RATIOS.format(name_some(hidden)), *joint.caveats),
        where=tuple(map(str, filters)),
        _covariance=lambda cell: groups.within(covariance(int(kept[cell]) // groups.n_cells), int(kept[cell])),
        _moments=moments.of(kept),
        _share_ends=(ends[0][kept], ends[1][kept]),
    )


@dataclass(frozen=True, eq=False)
class _Groups:
    """Which combinations of hidden values are selected, and the cell of each."""

    cell_of: NDArray[np.int64]
    labels: tuple[tuple[str, pa.Array], ...]
    n_cells: int

    @property
    def n_combinations(self) -> int:
        return len(self.cell_of)

    def sum(self, joint: FloatArray, n_values: int) -> FloatArray:
        """Counts of shape (cells, values), from joint ones of shape (published cells, values x combinations)."""
        shaped = joint.reshape(len(joint), n_values, self.n_combinations)
        found = np.zeros((len(joint), self.n_cells, n_values))
        for combination in np.flatnonzero(self.cell_of >= 0):
            found[:, self.cell_of[combination]] += shaped[:, :, combination]
        return found.reshape(-1, n_values)

    def within(self, joint: FloatArray, place: int) -> FloatArray:
        """The covariance of the counts of one cell, from that of the joint counts of its published cell."""
        n_values = len(joint) // self.n_combinations
        chosen = (self.cell_of == place % self.n_cells).astype(np.float64)
        shaped = joint.reshape((n_values, self.n_combinations) * 2)
        return np.asarray(np.einsum("agbh,g,h->ab", shaped, chosen, chosen), dtype=np.float64)

    def spread(self, factors: FloatArray) -> FloatArray:
        """Factors of joint counts, shape (k, published cells, values x combinations), from those of `sum`."""
        k, _, n_values = factors.shape
        shaped = factors.reshape(k, -1, self.n_cells, n_values)
        wide = np.where(self.cell_of[:, None] >= 0, shaped[:, :, self.cell_of], 0.0)
        return np.ascontiguousarray(np.swapaxes(wide, 2, 3)).reshape(k, shaped.shape[1], -1)


@dataclass(frozen=True, eq=False)
class _Grouped(Moments):
    """Sums of joint counts, some cells of them."""

    counts: FloatArray
    joint: Moments
    groups: _Groups
    kept: NDArray[np.intp] | None = None

    @property
    def fixed(self) -> bool:  # type: ignore[override]
        return self.joint.fixed

    def of(self, kept: NDArray[np.intp]) -> _Grouped:
        """The same for some of the cells."""
        return replace(self, counts=self.counts[kept], kept=kept)

    def of_cell(self, place: int) -> FloatArray:
        """The covariance of the counts of one of all cells."""
        if not isinstance(self.joint, CellMoments):
            return self.joint.noise(self.groups.spread(_cell_factors(self.counts, place)))
        return self.groups.within(self.joint.of_cell(place // self.groups.n_cells), place)

    def reach(self, place: int, errors: FloatArray, confidence: float) -> FloatArray:
        return self.joint.reach(place // self.groups.n_cells, errors, confidence)

    def noise(self, factors: FloatArray) -> FloatArray:
        return self.joint.noise(self._spread(factors))

    def sampling(self, factors: FloatArray) -> FloatArray:
        return self.joint.sampling(self._spread(factors))

    def _spread(self, factors: FloatArray) -> FloatArray:
        if self.kept is not None:
            whole = np.zeros((len(factors), len(self.joint.counts) * self.groups.n_cells, factors.shape[2]))
            whole[:, self.kept] = factors
            factors = whole
        return self.groups.spread(factors)


def _check(release: Release, names: Sequence[str], by: Sequence[By], hidden: Sequence[str]) -> None:
    for name in hidden:
        if name in names:
            parameter = "by" if name in {part.column for part in by} else "where"
            raise ParameterError(
                "estimate", parameter, f"must name other columns, but {name!r} is sensitive and what is estimated"
            ).with_hint(_already_counted(release, names, name, parameter))
    if release.grouped or release.rows_per_record > 1:
        raise UnsupportedError(
            "estimate",
            f"cells and filters on {name_some(hidden)}, which no record shows, need published sets: this release does "
            "not say which values occur together",
        ).with_hint("Name published columns.")
    size = int(np.prod([len(release.domain(name)) for name in (*names, *hidden)]))
    if size > _MOST_JOINT:
        raise UnsupportedError(
            "estimate",
            f"cells and filters on hidden columns are offered for at most {_MOST_JOINT} combinations",
            got=size,
        )


def _already_counted(release: Release, names: Sequence[str], name: str, parameter: str) -> Sentence:
    """The ways out of dividing or selecting records by what is estimated."""
    other = next((one for one in release.sensitive if one not in names), None)
    text = f"The estimate has a count of each value of {name!r}: leave it out of {{}}"
    if other is None or release.grouped:
        return say(f"{text}.", Parameter(parameter))
    return say(f"{text}, or estimate another attribute: {{}}.", Parameter(parameter), Setting("sensitive", other))


def _group(release: Release, hidden: Sequence[str], by: Sequence[By], filters: Sequence[Filter]) -> _Groups:
    codes: list[NDArray[np.int64]] = []
    selected: list[BoolArray] = []
    labels: list[tuple[str, pa.Array | None]] = []
    for name in hidden:
        domain = release.domain(name)
        values = pa.chunked_array([domain_array(domain)])
        matches = np.ones(len(domain), dtype=np.bool_)
        for part in filters:
            if part.column == name:
                matches &= _matching(part, domain, values)
        selected.append(matches)
        parts = [part for part in by if part.column == name]
        if not parts:
            codes.append(np.zeros(len(domain), dtype=np.int64))
            labels.append((name, None))
        elif isinstance(parts[0], PlainColumn):
            codes.append(np.arange(len(domain)))
            labels.append((name, values.combine_chunks()))
        else:
            coded = parts[0].encode(values)
            codes.append(coded.codes.astype(np.int64))
            labels.append((name, coded.labels))
    sizes = [1 if label is None else len(label) for _, label in labels]
    flat = np.array([np.ravel_multi_index(one, sizes) for one in product(*codes)], dtype=np.int64)
    chosen = np.array([all(one) for one in product(*selected)])
    if not chosen.any():
        idle = [name for name, matches in zip(hidden, selected, strict=True) if not matches.any()]
        raise ParameterError(
            "estimate",
            "where",
            f"must select values that {name_all(idle or hidden, 'has', 'have')}",
            got="none of them",
        ).with_hint(f"The public values are those that an estimate of {name_some(idle or hidden)} lists.")
    # Cells without a selected value are left out.
    cells = np.full(int(np.prod(sizes)), -1, dtype=np.int64)
    used = np.unique(flat[chosen])
    cells[used] = np.arange(len(used))
    places = np.unravel_index(used, sizes)
    named = tuple(
        (name, label.take(pa.array(place)))
        for (name, label), place in zip(labels, places, strict=True)
        if label is not None
    )
    return _Groups(np.where(chosen, cells[flat], -1), named, len(used))


def _matching(part: Filter, domain: Domain, values: pa.ChunkedArray) -> BoolArray:
    """Which values of a domain a filter selects; of bins, those that lie wholly within its limits."""
    if domain.edges is None or part.operator not in {"<", "<=", ">", ">=", "between"}:
        return part.mask(values)
    low, high = part.bounds(pa.float64())
    edges = np.array(domain.edges)
    if part.operator not in {">=", "<"} or any(np.isfinite(x) and x not in edges for x in (low, high)):
        raise ParameterError(
            "estimate",
            "where",
            f"{part.column!r} is published in bins, and the filter must not divide one",
            got=str(part),
        ).with_hint(f"Use >= and < with an edge of a bin: {_edge_texts(domain.edges)}.")
    inside: BoolArray = (edges[:-1] >= low) & (edges[1:] <= high)
    return np.append(inside, np.zeros(len(domain) - len(inside), dtype=np.bool_))


def _edge_texts(edges: Sequence[float], most: int = 10) -> str:
    """Edges as a filter takes them."""
    more = f" and {len(edges) - most} more" if len(edges) > most else ""
    return f"{', '.join(map(number_text, edges[:most]))}{more}"


def _labels(by: Sequence[By], plain: pa.Table, groups: _Groups) -> pa.Table:
    hidden, n_plain = dict(groups.labels), max(plain.num_rows, 1)
    outer = pa.array(np.repeat(np.arange(n_plain), groups.n_cells))
    inner = pa.array(np.tile(np.arange(groups.n_cells), n_plain))
    columns = {
        part.column: hidden[part.column].take(inner) if part.column in hidden else plain[part.column].take(outer)
        for part in by
    }
    return pa.table(columns)


def _cell_factors(counts: FloatArray, cell: int) -> FloatArray:
    n_cells, n_values = counts.shape
    factors = np.zeros((n_values, n_cells, n_values))
    factors[np.arange(n_values), cell, np.arange(n_values)] = 1.0
    return factors


def _of_counts(
    joint: Estimate,
    moments: _Grouped,
    groups: _Groups,
    counts: FloatArray,
    covariance: Callable[[int], FloatArray],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Standard errors of counts and their limits, which hold the reported count.

    A count of one combination has those of the joint estimate. A sum of several has limits around its estimate, by the
    covariance; where cells are too small for that, the sums of their limits. Where counts have limits of their own, it
    reaches as far up as theirs together (`_upward`).
    """
    n_values = counts.shape[1]
    errors, low, high = (groups.sum(one, n_values) for one in (joint.std_error, joint.low, joint.high))
    own_limits = isinstance(moments.joint, LikeliestMoments)

    @lru_cache(maxsize=1)
    def beyond(outer: int) -> FloatArray:
        return _upward(joint, covariance, outer) if own_limits else np.zeros((joint.count.shape[1],) * 2)

    several = np.bincount(groups.cell_of[groups.cell_of >= 0], minlength=groups.n_cells) > 1
    for place in range(len(counts)):
        outer, inner = divmod(place, groups.n_cells)
        if not several[inner]:
            continue
        errors[place] = _roots(groups.within(covariance(outer), place))
        if not joint.note[outer]:
            reach = moments.reach(place, _roots(moments.of_cell(place)), joint.confidence)
            middle = np.maximum(moments.counts[place], 0.0)
            up = np.maximum(reach, _roots(groups.within(beyond(outer), place)))
            low[place], high[place] = np.maximum(middle - reach, 0.0), middle + up
        if moments.fixed:
            high[place] = np.minimum(high[place], joint.records[outer])
    return errors, np.minimum(low, counts), np.maximum(high, counts)


def _upward(joint: Estimate, covariance: Callable[[int], FloatArray], outer: int) -> FloatArray:
    """The squares and products of how far limits of joint counts reach up, of one published cell.

    Errors of two counts go together as their covariance says, so these products add up to the square for a sum.
    """
    found = covariance(outer)
    deviation = _roots(found)
    reach = np.maximum(joint.high[outer] - joint.count[outer], 0.0)
    factors = np.divide(reach, deviation, out=np.zeros_like(reach), where=deviation > 0)
    return np.asarray(factors[:, None] * found * factors)


def _roots(covariance: FloatArray) -> FloatArray:
    """Standard errors."""
    return np.asarray(np.sqrt(np.maximum(np.diag(covariance), 0.0)))


def _of_shares(
    moments: _Grouped, reported: FloatArray, highest: FloatArray, records: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Limits of shares, which hold the reported share.

    Where counts have limits of their own, the share has at its upper end the error that reaches as far as the limit of
    its count (`highest`): where a rare count is too low by chance, its standard error is, too, and the limit knows it.
    """
    shares = reported / np.where(records > 0, records, 1.0)[:, None]
    low, high = np.zeros(reported.shape), np.ones(reported.shape)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    own_limits = isinstance(moments.joint, LikeliestMoments)
    for cell, counts in enumerate(moments.counts):
        whole = moments.of_cell(cell)
        own, cross, margin = np.diag(whole), whole.sum(axis=1), np.full(len(counts), whole.sum())
        low[cell], high[cell] = _fieller(counts, own, cross, margin, z)
        if own_limits:
            # An error of the count that is so many times as large is part of the error of the margin, too. Half a
            # record is there because counts are whole numbers, which shares are not.
            reach = np.hypot(z * _roots(whole), HALF_A_RECORD)
            times = np.maximum((highest[cell] - counts) / reach, 1.0)
            rest = cross - own
            wider = margin + (times**2 - 1) * own + 2 * (times - 1) * rest
            farther = _fieller(counts, times**2 * own, times**2 * own + times * rest, wider, z)[1]
            high[cell] = np.maximum(high[cell], farther)
    return np.minimum(low, shares), np.maximum(high, shares)


def _fieller(
    counts: FloatArray, own: FloatArray, cross: FloatArray, margin: FloatArray, z: float
) -> tuple[FloatArray, FloatArray]:
    """The limits of the shares of counts in their sum, given variances of counts, products with the sum, and its own.

    Where the sum may be zero, any share is possible.
    """
    total = counts.sum()
    p, q, r = total**2 - z**2 * margin, counts * total - z**2 * cross, counts**2 - z**2 * own
    known = (p > 0) & (total > 0)
    reach, below = np.sqrt(np.maximum(q**2 - p * r, 0.0)), np.where(known, p, 1.0)
    low, high = np.clip((q - reach) / below, 0, 1), np.clip((q + reach) / below, 0, 1)
    return np.where(known, low, 0.0), np.where(known, high, 1.0)
