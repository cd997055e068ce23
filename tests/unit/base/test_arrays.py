"""Arrays: whether all sets ascend, against the obvious comparison."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity.base.arrays import all_ascend


@pytest.mark.parametrize("n", [0, 1, 2, 7])
@pytest.mark.parametrize("l", [0, 1, 2, 3, 5])
def test_rows_ascend_if_each_does(n: int, l: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        sets = rng.integers(0, 6, (n, l)).astype(np.int32)
        for own in (sets, np.sort(sets, axis=1), np.asfortranarray(np.sort(sets, axis=1))):
            assert all_ascend(own) == all(list(row) == sorted(set(row)) for row in own.tolist())
