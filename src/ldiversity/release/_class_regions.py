"""The regions of classes, gathered from rows that must share them."""

from __future__ import annotations

import numpy as np

from ldiversity.base.arrays import CodeArray
from ldiversity.release._cells import Cells, join_cells
from ldiversity.release._damage import damaged

__all__ = ["SharedCells"]


class SharedCells:
    """The cell that all rows of a class share, for each class of the column `name`; rows come batch by batch.

    Examples
    --------
    >>> shared = SharedCells("sex", 2)
    >>> shared.add(Cells(np.arange(4), np.array([7, 5, 7])), np.array([1, 0, 1], dtype=np.int32))
    >>> shared.result().flat.tolist()
    [5, 7]
    """

    def __init__(self, name: str, n_classes: int) -> None:
        self._name = name
        self._place = np.full(n_classes, -1, dtype=np.int64)
        self._differ = False
        self._known = Cells(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int8))

    def add(self, cells: Cells, class_of: CodeArray) -> None:
        """Look at some rows."""
        new = np.flatnonzero(self._place[class_of] < 0)
        if len(new):
            classes, first = np.unique(class_of[new], return_index=True)
            self._place[classes] = len(self._known) + np.arange(len(classes))
            found = cells.take(new[first])
            self._known = join_cells([self._known, found]) if len(self._known) else found
        self._differ = self._differ or not cells.same(self._known.take(self._place[class_of]))

    def result(self) -> Cells:
        """The cells of all classes, each of which must have had a row; `ReleaseFormatError` if rows of one differ."""
        if self._differ:
            raise damaged(f"rows of one class must share {self._name!r}")
        return self._known.take(self._place)
