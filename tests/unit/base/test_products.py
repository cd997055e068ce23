"""Products in blocks are products."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity.base.products import multiply


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (7, 5, 3), (1000, 50, 50), (130, 1225, 50), (3, 2000, 700), (600, 1, 600), (14, 16384, 64)]
)
def test_products_in_blocks_are_products(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(0)
    n, inner, width = shape
    left, right = rng.normal(size=(n, inner)), rng.normal(size=(inner, width))

    np.testing.assert_allclose(multiply(left, right), left @ right, rtol=1e-9, atol=1e-10)
