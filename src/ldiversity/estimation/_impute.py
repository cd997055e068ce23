"""Completed tables: true values drawn from what the sets and an estimated distribution say about them.

Multiple imputation is proper when the distribution is drawn, too, and not only the values: then the differences between
completed tables show how uncertain it is, and Rubin's rules hold. By cells, both are drawn in turn, given each other
(data augmentation with a Dirichlet prior); by a regression, its coefficients are drawn from their normal distribution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.asked import asked_of
from ldiversity.base.checks import check_integer, column_names, did_you_mean, name_some
from ldiversity.base.numbers import counted_of
from ldiversity.base.warned import warn
from ldiversity.errors import LDiversityWarning, ParameterError, UnsupportedError
from ldiversity.estimation._admissible import admissible_sets, check_likelihood
from ldiversity.estimation._by import ByLike
from ldiversity.estimation._by_text import read_by
from ldiversity.estimation._cells import index_cells, product_sets
from ldiversity.estimation._coarse import ask_labels
from ldiversity.estimation._likelihood import global_marginal
from ldiversity.estimation._regression import draw_coefficients, outcome_of
from ldiversity.schema import Role
from ldiversity.sentences import Parameter, Setting, say

if TYPE_CHECKING:
    from ldiversity.base.arrays import CodeArray, FloatArray, SetArray
    from ldiversity.release import Release

__all__ = ["draw_values"]

_MOST_TABLES: Final = 10_000

_MOST_VALUES: Final = 10_000
"""The most combinations of values of several attributes."""

_EACH: Final = 0.5
_ALL: Final = 1.0
"""Records that the prior adds to each cell: so many for each value, and so many for all values together.

It must not come from the sets. A prior that is estimated from them counts them twice, and leaves a rare value whose
estimate is zero out of every table, so that tables agree about what the sets do not tell.
"""

_ENOUGH: Final = 10
"""Cells with fewer records per value are drawn noticeably toward equal shares."""

_TOGETHER: Final = (
    "a person may have several records, whose sets were drawn together, and the release does not tell whose they are; "
    "completed tables take every record as drawn on its own: true errors may be greater than those that combine gives, "
    "and then intervals hold less often than stated"
)

_FORGOTTEN: Final = 0.05
"""A completed table is drawn when so little is left of the distribution from which the one before was drawn."""

_MOST_STEPS: Final = 300


@asked_of("impute", "estimate", "regress")
def draw_values(
    release: Release,
    m: int,
    *,
    by: ByLike = None,
    formula: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    seed: int | None = None,
) -> Iterator[dict[str, CodeArray]]:
    """Draw the codes of the true values `m` times, for every record; see `Release.impute`."""
    check_integer("impute", "m", m, minimum=2, maximum=_MOST_TABLES)
    rng = np.random.default_rng(None if seed is None else check_integer("impute", "seed", seed, minimum=0))
    if sensitive is None and formula is not None:
        _check_release(release)
        sensitive = outcome_of(release, formula)
    names = _names(release, sensitive, formula)
    _check_release(release)
    if any(map(release.drawn_together, names)):
        warn(LDiversityWarning("impute", _TOGETHER))
    shown = _Shown.of(release, names)
    if formula is not None:
        if by is not None:
            raise ParameterError("impute", "by", "must be left out where a formula is given")
        return shown.draw(draw_coefficients(release, formula, names[0], m, rng), rng)
    return shown.draw(_by_cells(release, by, shown, m, rng), rng)


def _names(release: Release, sensitive: str | Sequence[str] | None, formula: str | None) -> tuple[str, ...]:
    known = release.sensitive
    names = known if sensitive is None else tuple(column_names("impute", "sensitive", sensitive))
    if not names or not set(names) <= set(known) or len(set(names)) < len(names):
        raise ParameterError(
            "impute", "sensitive", f"must name distinct attributes of {name_some(known)}", got=name_some(names)
        ).with_hint(next((near for name in names if name not in known and (near := did_you_mean(name, known))), None))
    if formula is not None and len(names) > 1:
        raise ParameterError("impute", "sensitive", "must name one attribute where a formula is given").with_hint(
            say("Name the one before the ~ in {}. By cells, several are imputed together.", Parameter("sensitive"))
        )
    size = prod(len(release.domain(name)) for name in names)
    if size > _MOST_VALUES:
        raise UnsupportedError(
            "impute",
            f"attributes that are imputed together may have at most {_MOST_VALUES} combinations of values, but "
            f"{name_some(names)} have {size}",
        ).with_hint(say("Impute fewer at a time: {}.", Setting("sensitive", names[0])))
    return names


def _check_release(release: Release) -> None:
    if release.grouped:
        raise UnsupportedError(
            "impute",
            "records of this release share classes, whose values were grouped by looking at them: drawing values "
            "within a class would break every relation that the class hides",
        ).with_hint("Use estimate, which knows classes, or a release of sets, as randomized addition publishes.")
    if release.rows_per_record > 1:
        raise UnsupportedError("impute", "values are drawn from published sets, but this release has single members")


@dataclass(frozen=True, eq=False)
class _Shown:
    """What each record shows: the combinations of values that may be true, and how likely each leads to its sets."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    sets: SetArray
    candidates: SetArray
    given: FloatArray
    marginal: FloatArray

    @classmethod
    def of(cls, release: Release, names: tuple[str, ...]) -> _Shown:
        mechanisms = [release.drawn_by(name) for name in names]
        parts = [admissible_sets(one, release.sets(name)) for one, name in zip(mechanisms, names, strict=True)]
        given = np.ones((len(parts[0]), 1))
        candidates: list[SetArray] = []
        for mechanism, sets in zip(mechanisms, parts, strict=True):
            values, own = mechanism.explanations(sets)
            check_likelihood(own)
            own = np.asarray(own / own.max(axis=1, keepdims=True), dtype=np.float64)
            given = (given[:, :, None] * own[:, None, :]).reshape(len(sets), -1)
            candidates.append(values)
        sizes = tuple(len(release.domain(name)) for name in names)
        marginal = global_marginal(mechanisms, parts)
        return cls(names, sizes, np.concatenate(parts, axis=1), product_sets(candidates, sizes), given, marginal)

    def draw(self, drawn: Iterator[FloatArray], rng: np.random.Generator) -> Iterator[dict[str, CodeArray]]:
        """For each drawn distribution, shape (records, candidates), the codes of one completed table."""
        for weights in drawn:
            reached = np.cumsum(weights * self.given, axis=1)
            place = (reached < rng.random((len(reached), 1)) * reached[:, -1:]).sum(axis=1)
            codes = self.candidates[np.arange(len(self.candidates)), place]
            apart = np.unravel_index(codes, self.sizes)
            yield {name: part.astype(np.int32) for name, part in zip(self.names, apart, strict=True)}


def _by_cells(release: Release, by: ByLike, shown: _Shown, m: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    divided, _ = ask_labels(release, read_by(by, release.schema.names()), ())
    for part in divided:
        if release.schema[part.column].role is Role.SENSITIVE:
            raise ParameterError(
                "impute", "by", f"must name published columns, but {part.column!r} is sensitive"
            ).with_hint("Attributes that are imputed together keep their relation: name them in sensitive.")
    columns = release.columns(tuple(part.column for part in divided))
    cells = index_cells([part.encode(columns[part.column]) for part in divided], len(shown.candidates))
    _warn_of_small(np.bincount(cells.of_row), len(shown.marginal))
    n_values = len(shown.marginal)
    prior = np.full(n_values, _EACH + _ALL / n_values)
    return _augment(shown, cells.of_row, cells.n_cells, prior, m, rng)


def _warn_of_small(records: NDArray[np.int64], n_values: int) -> None:
    few = int(np.count_nonzero(records < _ENOUGH * n_values))
    if few:
        rule = (
            f"{counted_of(few, len(records), 'cell', 'has', 'have')} fewer than {_ENOUGH} records per value: "
            "shares there are drawn toward equal ones, and differences between cells come out too small; ask for "
            "larger cells in by, or for fewer attributes at a time in sensitive"
        )
        warn(LDiversityWarning("impute", rule))


def _augment(
    shown: _Shown,
    of_row: NDArray[np.int64],
    n_cells: int,
    prior: FloatArray,
    m: int,
    rng: np.random.Generator,
) -> Iterator[FloatArray]:
    """Draw values given shares and shares given values, in turn; equal records of a cell are drawn together."""
    n_values = len(prior)
    different, back, weights = _together(of_row, shown)
    candidates, given = shown.candidates[different], shown.given[different]
    place = of_row[different][:, None] * n_values + candidates
    steps = _steps(shown.marginal, weights, candidates, given)
    shares = np.tile(shown.marginal, (n_cells, 1))
    wait = 2 * steps  # until the start is forgotten
    for _ in range(m):
        for _ in range(wait):
            likely = np.take(shares, place) * given
            likely /= likely.sum(axis=1, keepdims=True)
            values = rng.multinomial(weights, likely)
            counts = np.bincount(place.ravel(), values.ravel(), minlength=shares.size).reshape(shares.shape)
            shares = rng.standard_gamma(counts + prior)
            shares /= shares.sum(axis=1, keepdims=True)
        wait = steps
        yield np.take(shares, place)[back]


def _together(
    of_row: NDArray[np.int64], shown: _Shown
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The first record of each cell and set, where each record finds its own, and how many there are of each."""
    key = np.column_stack([of_row, shown.sets]).astype(np.int64)
    _, first, back, weights = np.unique(key, axis=0, return_index=True, return_inverse=True, return_counts=True)
    return first, back.ravel(), weights


def _steps(shares: FloatArray, weights: NDArray[np.int64], candidates: SetArray, given: FloatArray) -> int:
    """After how many steps a draw is forgotten, by the largest share of information that sets hide.

    That share is one less the smallest eigenvalue of the observed information, measured by that of true values.
    """
    from scipy.linalg import eigvalsh

    likely = np.sqrt(shares)[candidates] * given / (shares[candidates] * given).sum(axis=1, keepdims=True)
    dense = np.zeros((len(candidates), len(shares)))
    np.put_along_axis(dense, candidates.astype(np.int64), likely * np.sqrt(weights)[:, None], axis=1)
    known = float(eigvalsh(dense.T @ dense / weights.sum(), subset_by_index=[0, 0])[0])
    hidden = min(max(1 - known, 0.0), 1 - 1e-9)
    return int(min(max(np.ceil(np.log(_FORGOTTEN) / np.log(hidden)) if hidden > 0 else 1, 1), _MOST_STEPS))
