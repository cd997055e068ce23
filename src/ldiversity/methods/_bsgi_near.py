"""BSGI's selections: by default parts that form classes of nearest partners independently; or as published."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import Lock
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

_PILOT: Final = 32_768
"""Most rows of the pilot; a table of no more is its own pilot."""


def group_near(space: Space, keys: Keys, rows: NDArray[np.int32], l: int, run: GroupingRun) -> tuple[CodeArray, int]:
    """Form ``len(rows) // l`` classes (fewer where several keys conflict); some rows stay without, marked -1.

    No value of the first key may have more than ``len(rows) // l`` of the rows. `rows` is reordered.
    """
    class_of = np.full(len(space.points), -1, dtype=np.int32)
    rows = set_aside(keys, rows, len(rows) % l)
    part = max(_PART, 2 * l - 1)
    with ThreadPoolExecutor(max(1, run.workers)) as pool:
        pilot = _choose_tolerance(space, keys, rows, l, run, pool) if len(rows) > part else _Pilot(0.0)
        if pilot.formed:
            bounds, formed = pilot.bounds, pilot.formed
            class_of[rows] = pilot.class_of
        else:
            bounds = _cut_all(space, keys, rows, l, part, pilot.tolerance, run, pool)
            formed = _group_all(space, keys, rows, bounds, l, run, pool, class_of)
    return close_gaps(class_of, np.array(bounds[:-1]) // l, formed)


@dataclass(frozen=True, eq=False)
class _Pilot:
    """The tolerance that lost least, and, if all rows were grouped with it, their parts and classes."""

    tolerance: float
    bounds: list[int] = field(default_factory=list)
    formed: list[int] = field(default_factory=list)
    class_of: CodeArray = field(default_factory=lambda: np.empty(0, dtype=np.int32))


def _choose_tolerance(
    space: Space, keys: Keys, rows: NDArray[np.int32], l: int, run: GroupingRun, pool: ThreadPoolExecutor
) -> _Pilot:
    """Group a sample with each tolerance, in as many parts as the table will have; the one that loses least.

    A table of at most `_PILOT` rows is grouped whole, and need not be grouped again. Nothing is grouped when all
    tolerances cut alike.
    """
    from ldiversity._kernels.bsgi_loss import total_loss

    # Rows come in a random order: the first ones are a fair sample.
    sample = rows[:_PILOT]
    own_space = replace(space, points=space.points[sample])
    own_keys = Keys(keys.codes[sample], keys.sizes, keys.names, keys.n_sensitive)
    eligible = keep_eligible(own_keys.codes, own_keys.sizes, np.arange(len(sample), dtype=np.int32), l)
    eligible = set_aside(own_keys, eligible, len(eligible) % l)
    if not len(eligible):
        return _Pilot(_TOLERANCES[0])
    part = max(2 * l - 1, -(-_PART * len(sample) // len(rows)))
    cuts: dict[bytes, tuple[float, NDArray[np.int32], list[int]]] = {}
    for tolerance in _TOLERANCES:
        chosen = eligible.copy()
        bounds = _cut_all(own_space, own_keys, chosen, l, part, tolerance, run, pool)
        cuts.setdefault(chosen.tobytes(), (tolerance, chosen, bounds))
    if len(cuts) == 1:
        return _Pilot(_TOLERANCES[0])
    found: list[tuple[float, _Pilot]] = []
    whole = len(eligible) == len(rows)
    pilot = replace(run, progress=lambda _, word: run.progress(0.0, word))
    for tolerance, chosen, bounds in cuts.values():
        class_of = np.full(len(sample), -1, dtype=np.int32)
        formed = _group_all(own_space, own_keys, chosen, bounds, l, pilot, pool, class_of)
        loss = float(total_loss(space.loss, own_space.points, class_of, len(eligible) // l))
        found.append((loss, _Pilot(tolerance, bounds, formed, class_of) if whole else _Pilot(tolerance)))
    return min(found, key=lambda one: one[0])[1]


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
) -> list[int]:
    """Cut until no part has more than `part` rows; all parts of a round at once."""
    from ldiversity._kernels.bsgi_parts import cut

    values = np.ascontiguousarray(keys.codes[:, 0])
    bounds = [0, len(rows)]

    def halve(span: tuple[int, int]) -> list[int]:
        start, end = span
        if end - start <= part:
            return [start]
        place, _ = cut(space.loss, space.points, values, int(keys.sizes[0]), rows[start:end], l, tolerance)
        return [start, start + place]

    while max(np.diff(bounds)) > part:
        run.progress(0.0, "cutting")
        bounds = [*_flat(pool.map(halve, pairwise(bounds))), len(rows)]
    return bounds


def _flat(parts: Iterable[list[int]]) -> list[int]:
    return [place for part in parts for place in part]


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
