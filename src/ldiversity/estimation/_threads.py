"""Work on cells in parallel: compiled loops release the interpreter's lock, so threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["map_threads", "over_cells", "slices"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_CHUNKS_PER_WORKER: Final = 4
_WORTH_THREADS: Final = 400_000
"""Below this cost, which takes one or two milliseconds, starting threads would take as long as the work."""

_WORTH_SLICES: Final = 1 << 16


def over_cells(work: Callable[[int, int], object], cost: NDArray[np.int64]) -> None:
    """Call ``work(first, last)`` for ranges of cells that cover all of them and cost about the same."""
    reached = np.concatenate([[0], np.cumsum(cost)])
    workers = os.cpu_count() or 1
    if workers == 1 or reached[-1] < _WORTH_THREADS:
        work(0, len(cost))
        return
    wanted = np.linspace(0, reached[-1], workers * _CHUNKS_PER_WORKER + 1)
    bounds = np.unique(np.searchsorted(reached, wanted))
    bounds[-1] = len(cost)
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, int(a), int(b)) for a, b in pairwise(bounds)]:
            done.result()


def map_threads(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Call `work` for every item in parallel; the results have the order of the items."""
    if len(items) < 2:  # noqa: PLR2004 - nothing to do in parallel
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(len(items), os.cpu_count() or 1)) as pool:
        return list(pool.map(work, items))


def slices(n_rows: int) -> list[slice]:
    """Divide rows among the workers; one slice when they are few."""
    parts = min(os.cpu_count() or 1, max(1, n_rows // _WORTH_SLICES))
    bounds = [n_rows * part // parts for part in range(parts + 1)]
    return [slice(a, b) for a, b in pairwise(bounds)]
