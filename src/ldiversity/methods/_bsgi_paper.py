"""BSGI's published selection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.methods._base import GroupingRun
from ldiversity.methods._bsgi_space import Keys, Space

__all__ = ["group_paper"]


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
