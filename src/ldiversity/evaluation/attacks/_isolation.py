"""How many predicates would isolate one person in a table of another size."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray

__all__ = ["scaled_isolations"]

_SIZES: Final = 10
_SMALLEST: Final = 0.1
"""The smallest part of the control table at which isolations are counted, to see how they grow."""


def scaled_isolations(fitting: NDArray[np.int64], n: int, size: int) -> float:
    """How many predicates would be satisfied by exactly one of `size` people, from how many of `n` satisfy each.

    For fewer people it is the exact expectation over random parts of the table. For more, a curve is fitted to that
    expectation at growing sizes and carried on: predicates whose weight, the chance that anyone satisfies them, is
    spread evenly up to a limit isolate one of s people with the mean probability of s w (1 - w)^(s - 1).

    Parameters
    ----------
    fitting
        Shape (predicates,): how many people of the table satisfy each.
    n, size
        The number of people of the table, and of the other.

    References
    ----------
    Giomi, Boenisch, Wehmeyer, Tasnadi, A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs 2023.

    Examples
    --------
    >>> scaled_isolations(np.array([1, 1, 0, 5]), 100, 100)
    2.0
    >>> round(scaled_isolations(np.array([1, 1, 0, 0]), 100, 50), 6)
    1.0
    """
    if n == 0:
        return 0.0
    if size <= n:
        return _isolated(fitting, n, size)
    now = _isolated(fitting, n, n)
    if now == 0:
        return 0.0
    sizes = np.unique(np.linspace(max(1, int(n * _SMALLEST)), n, _SIZES).astype(np.int64))
    counts = np.array([_isolated(fitting, n, int(one)) for one in sizes])
    limit = _fitted_limit(sizes.astype(np.float64), counts)
    return now * float(_chance(float(size), limit) / _chance(float(n), limit))


def _chance(size: FloatArray | float, limit: float) -> FloatArray | float:
    """The integral over weights w from 0 to `limit` of the chance that exactly one of `size` people satisfies."""
    return (1 - (size * limit + 1) * (1 - limit) ** size) / (size + 1)


def _fitted_limit(sizes: FloatArray, counts: FloatArray) -> float:
    """The limit of the weights whose curve is nearest to the counts, up to a factor; by a search over its logarithm."""
    from scipy.optimize import minimize_scalar

    def squares(logarithm: float) -> float:
        curve = np.asarray(_chance(sizes, float(np.exp(logarithm))))
        factor = float(curve @ counts) / float(curve @ curve)
        return float(((counts - factor * curve) ** 2).sum())

    least, most = np.log(1e-3 / sizes.max()), np.log(0.999)
    grid = np.linspace(least, most, 60)
    best = int(np.argmin([squares(float(one)) for one in grid]))
    around = (float(grid[max(0, best - 1)]), float(grid[min(len(grid) - 1, best + 1)]))
    return float(np.exp(minimize_scalar(squares, bounds=around, method="bounded").x))


def _isolated(fitting: NDArray[np.int64], n: int, size: int) -> float:
    """The expected number of predicates that exactly one of `size` people, drawn from `n`, satisfies."""
    from scipy.stats import hypergeom

    return float(np.sum(hypergeom.pmf(1, n, fitting, size)))
