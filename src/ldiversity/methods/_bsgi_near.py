"""BSGI's selections: by default parts that form classes of nearest partners independently; or as published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import Lock
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.methods._anatomy_classes import keep_eligible
from ldiversity.methods._base import GroupingRun
from ldiversity.methods._bsgi_space import Keys, Space

__all__ = ["close_gaps", "group_near", "group_paper"]

_PART: Final = 4096
"""Most rows of a part."""

_TOLERANCES: Final = (0.005, 0.02, 0.05)
"""Shares of records that may change sides at a cut, of which a pilot chooses one."""

_DRAFT: Final = 131_072
_DRAFTS: Final = 2
_SURE: Final = 2_048
"""Rows of a draft, which says by what spans of more than `_SURE` of its rows are cut, and how many drafts there are for
each tolerance. A table of no more rows than a draft is grouped with each tolerance instead."""

_PILOT: Final = 32_768
_PILOT_PART: Final = 1024
"""Rows of the pilot, the sample that is grouped as each draft says, and how many its parts may have at least: smaller
ones favor a large tolerance."""


def group_near(space: Space, keys: Keys, rows: NDArray[np.int32], l: int, run: GroupingRun) -> tuple[CodeArray, int]:
    """Form ``len(rows) // l`` classes (fewer where several keys conflict); some rows stay without, marked -1.

    No value of the first key may have more than ``len(rows) // l`` of the rows. `rows` is reordered.
    """
    class_of = np.full(len(space.points), -1, dtype=np.int32)
    rows = set_aside(keys, rows, len(rows) % l)
    part = max(_PART, 2 * l - 1)
    with ThreadPoolExecutor(max(1, run.workers)) as pool:
        best = _choose_cuts(space, keys, rows, l, run, pool) if len(rows) > part else _Draft(0.0)
        if best.formed:
            bounds, formed = best.bounds, best.formed
            class_of[rows] = best.class_of
        else:
            bounds, _ = _cut_all(space, keys, rows, l, part, best.tolerance, run, pool, best.coordinates)
            formed = _group_all(space, keys, rows, bounds, l, run, pool, class_of)
    return close_gaps(class_of, np.array(bounds[:-1]) // l, formed)


@dataclass(frozen=True, eq=False)
class _Draft:
    """A tolerance, what is cut by what with it, and, if all rows were grouped so, their parts and classes.

    `coordinates` are those of the first spans, numbered as `_cut_all` does; where none is said, the tolerance decides.
    """

    tolerance: float
    coordinates: Mapping[int, int] = field(default_factory=dict)
    bounds: list[int] = field(default_factory=list)
    formed: list[int] = field(default_factory=list)
    class_of: CodeArray = field(default_factory=lambda: np.empty(0, dtype=np.int32))


def _choose_cuts(
    space: Space, keys: Keys, rows: NDArray[np.int32], l: int, run: GroupingRun, pool: ThreadPoolExecutor
) -> _Draft:
    """Draft the first cuts with each tolerance, group one sample as each draft says; the draft that loses least.

    Where the share of records that change sides is close to a tolerance, or two coordinates nearly tie, a sample may
    cut otherwise than the table would. So the table is cut as the best draft was: what was measured is what is done.
    A table of at most `_DRAFT` rows is grouped whole with each tolerance, and need not be grouped again. Nothing is
    grouped when all drafts cut alike.
    """
    from ldiversity._kernels.bsgi_loss import total_loss

    # Rows come in a random order: any run of them is a fair sample.
    small = len(rows) <= _DRAFT
    if small:
        drafts = [_Draft(tolerance) for tolerance in _TOLERANCES]
    else:
        starts = [min(draft * _DRAFT, len(rows) - _DRAFT) for draft in range(_DRAFTS)]
        samples = (_Sample.of(space, keys, rows[start : start + _DRAFT], l) for start in starts)
        drafts = [draft for sample in samples for draft in _drafts(sample, l, run, pool)]
    sample = _Sample.of(space, keys, rows if small else rows[:_PILOT], l)
    if not drafts or not len(sample.eligible):
        return _Draft(_TOLERANCES[0])
    part = max(2 * l - 1, -(-_PART * len(sample.rows) // len(rows)), min(_PILOT_PART, _PART))
    cuts: dict[bytes, tuple[_Draft, NDArray[np.int32], list[int]]] = {}
    for draft in drafts:
        chosen = sample.eligible.copy()
        bounds, _ = _cut_all(sample.space, sample.keys, chosen, l, part, draft.tolerance, run, pool, draft.coordinates)
        cuts.setdefault(chosen.tobytes(), (draft, chosen, bounds))
    if len(cuts) == 1:
        return next(iter(cuts.values()))[0]
    found: list[tuple[float, _Draft]] = []
    whole = len(sample.eligible) == len(rows)
    pilot = replace(run, progress=lambda _, word: run.progress(0.0, word))
    for draft, chosen, bounds in cuts.values():
        class_of = np.full(len(sample.rows), -1, dtype=np.int32)
        formed = _group_all(sample.space, sample.keys, chosen, bounds, l, pilot, pool, class_of)
        loss = float(total_loss(space.loss, sample.space.points, class_of, len(chosen) // l))
        found.append((loss, replace(draft, bounds=bounds, formed=formed, class_of=class_of) if whole else draft))
    return min(found, key=lambda one: one[0])[1]


@dataclass(frozen=True, eq=False)
class _Sample:
    """Some rows as a table of their own, and those of them of which classes can be formed."""

    rows: NDArray[np.int32]
    space: Space
    keys: Keys
    eligible: NDArray[np.int32]

    @classmethod
    def of(cls, space: Space, keys: Keys, rows: NDArray[np.int32], l: int) -> _Sample:
        own = Keys(keys.codes[rows], keys.sizes, keys.names, keys.n_sensitive)
        eligible = keep_eligible(own.codes, own.sizes, np.arange(len(rows), dtype=np.int32), l)
        eligible = set_aside(own, eligible, len(eligible) % l)
        return cls(rows, replace(space, points=space.points[rows]), own, eligible)


def _drafts(sample: _Sample, l: int, run: GroupingRun, pool: ThreadPoolExecutor) -> Iterator[_Draft]:
    """What is cut by what with each tolerance, as far down as the sample is sure of it."""
    for tolerance in _TOLERANCES if len(sample.eligible) else ():
        chosen = sample.eligible.copy()
        _, coordinates = _cut_all(sample.space, sample.keys, chosen, l, max(_SURE, 2 * l - 1), tolerance, run, pool)
        yield _Draft(tolerance, coordinates)


def set_aside(keys: Keys, rows: NDArray[np.int32], n_out: int) -> NDArray[np.int32]:
    """Leave out one row of each of the `n_out` most frequent values of the first key."""
    codes = keys.codes[rows, 0]
    counts = np.bincount(codes, minlength=int(keys.sizes[0]))
    largest = np.argsort(-counts, kind="stable")[:n_out]
    out = [int(np.argmax(codes == value)) for value in largest]
    return np.delete(rows, out)


def close_gaps(class_of: CodeArray, firsts: NDArray[np.int64], formed: list[int]) -> tuple[CodeArray, int]:
    """Renumber classes when a part formed fewer than it has numbers for."""
    total = sum(formed)
    starts = np.cumsum([0, *formed])[:-1]
    if np.array_equal(starts, firsts):
        return class_of, total
    placed = class_of >= 0
    part = np.searchsorted(firsts, class_of[placed], side="right") - 1
    class_of[placed] += (starts - firsts)[part].astype(np.int32)
    return class_of, total


def _cut_all(  # noqa: PLR0913, PLR0917 - one call
    space: Space,
    keys: Keys,
    rows: NDArray[np.int32],
    l: int,
    part: int,
    tolerance: float,
    run: GroupingRun,
    pool: ThreadPoolExecutor,
    given: Mapping[int, int] = MappingProxyType({}),
) -> tuple[list[int], dict[int, int]]:
    """Cut until no part has more than `part` rows, all parts of a round at once; the bounds, and what was cut by what.

    Spans are numbered as in a heap: what is left of a cut has twice the number of the whole, what is right one more.
    `given` are coordinates of some of them. Those of all spans with more than `_SURE` rows are returned.
    """
    from ldiversity._kernels.bsgi_parts import cut

    values = np.ascontiguousarray(keys.codes[:, 0])
    spans = [(0, len(rows), 1)]
    coordinates: dict[int, int] = {}

    def halve(span: tuple[int, int, int]) -> list[tuple[int, int, int]]:
        start, end, number = span
        if end - start <= part:
            return [span]
        own, n_values = rows[start:end], int(keys.sizes[0])
        place, coordinate = cut(space.loss, space.points, values, n_values, own, l, tolerance, given.get(number, -1))
        coordinates[number] = coordinate
        return [(start, start + place, 2 * number), (start + place, end, 2 * number + 1)]

    while max(end - start for start, end, _ in spans) > part:
        run.progress(0.0, "cutting")
        spans = [half for halves in pool.map(halve, spans) for half in halves]
    return [*(start for start, _, _ in spans), len(rows)], coordinates


def _group_all(  # noqa: PLR0913, PLR0917 - one call
    space: Space,
    keys: Keys,
    rows: NDArray[np.int32],
    bounds: list[int],
    l: int,
    run: GroupingRun,
    pool: ThreadPoolExecutor,
    class_of: CodeArray,
) -> list[int]:
    """Form the classes of every part; return how many each has."""
    from ldiversity._kernels.bsgi_group import group_part

    done = 0
    lock = Lock()

    def group(span: tuple[int, int]) -> int:
        nonlocal done
        start, end = span
        own = rows[start:end]
        codes, sizes = _own_codes(keys, own)
        own_class = np.empty(len(own), dtype=np.int32)
        formed = group_part(
            space.loss,
            space.points[own],
            codes,
            sizes,
            keys.n_sensitive,
            space.centers,
            space.rarity,
            l,
            own_class,
        )
        class_of[own] = np.where(own_class >= 0, own_class + start // l, -1)
        with lock:
            done += end - start
            run.progress(done / len(rows), "grouping")
        return int(formed)

    return list(pool.map(group, pairwise(bounds)))


def _own_codes(keys: Keys, rows: NDArray[np.int32]) -> tuple[CodeArray, NDArray[np.int64]]:
    """The keys of some rows; where a key has more values than there are rows, as codes of those alone."""
    codes, sizes = keys.codes[rows], keys.sizes.copy()
    for key in np.flatnonzero(sizes > len(rows)):
        known, codes[:, key] = np.unique(codes[:, key], return_inverse=True)
        sizes[key] = len(known)
    return codes, sizes


def group_paper(space: Space, keys: Keys, rows: NDArray[np.int32], l: int, run: GroupingRun) -> tuple[CodeArray, int]:
    """Select and group as published; residual rows stay without a class, marked -1."""
    from ldiversity._kernels.bsgi_paper import select_paper

    own = np.empty(len(rows), dtype=np.int32)
    n_classes = select_paper(
        space.loss, space.points[rows], keys.codes[rows], int(keys.sizes[0]), l, own,
        lambda share: run.progress(share, "grouping"),
    )  # fmt: skip
    class_of = np.full(len(space.points), -1, dtype=np.int32)
    class_of[rows] = own
    return class_of, n_classes
