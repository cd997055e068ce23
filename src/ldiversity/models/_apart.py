"""How many values of a class are pairwise far from each other: an exact count.

Call two values near when their distance is below d. Wanted is the largest set of present values no two of which are
near: a largest independent set of the near graph. Three facts make that exact and fast.

*A pass is exact in a perfect elimination order.* In such an order the near values that come after a value are all near
each other. Look at the first present value v. Any largest set holds at most one of v and the values near it, and at
least one, or v could be added; replacing that one by v keeps the set valid. So v may be taken and the values near it
dropped, and the rest is the same question. What is left of the order when values are absent is again such an order:
one order serves all classes.

*Lines and trees have such an order.* On a line take the values from left to right: two values to the right of v that
are nearer than d to v are nearer than d to each other. In a tree, with the level at which leaves meet or the length of
the path between them as distance, near means that the balls of radius d/2 around two values overlap; balls are
subtrees, and graphs of overlapping subtrees are chordal: exactly those that have such an order (Gavril, 1974).

*Whether a graph has one is decided* by maximum cardinality search (Tarjan and Yannakakis, 1984) for every distance, so
also for matrices and semilattices. Where there is none, a search with a clique-cover bound is exact too, and refuses
when it would take more than a stated number of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray
from ldiversity.base.numbers import counted
from ldiversity.distances import Distance
from ldiversity.errors import UnsupportedError
from ldiversity.schema import Domain

__all__ = ["MOST_STEPS", "Apart", "apart"]

MOST_STEPS: Final = 100_000
"""Steps that the search may take for one class, where the distance has no order for a single pass."""


@dataclass(frozen=True, eq=False)
class Apart:
    """Which values are near each other, ready for counting.

    Parameters
    ----------
    order
        Shape (F,): the values in the order in which they are looked at.
    near
        Shape (F, words): bit i of row k says that the i-th and the k-th of them are different and near.
    exact_pass
        Whether a single pass in this order is exact.
    """

    order: NDArray[np.int64]
    near: NDArray[np.uint64]
    exact_pass: bool

    def count(self, counts: NDArray[np.int64], enough: int | None = None) -> NDArray[np.int64]:
        """Shape (classes,): how many present values can be chosen no two of which are near.

        Counting stops at `enough`: then the number is at least that.

        Raises
        ------
        UnsupportedError
            When the distance allows no single pass, and the search would take too many steps.
        """
        from ldiversity._kernels.models import count_apart, search_apart

        enough = len(self.order) if enough is None else enough
        if self.exact_pass:
            return count_apart(np.ascontiguousarray(counts), self.order, self.near, enough)
        present = _packed(counts[:, self.order] > 0)
        sets, set_of = np.unique(present, axis=0, return_inverse=True)
        found = search_apart(sets, self.near, enough, MOST_STEPS)
        if (found < 0).any():
            raise UnsupportedError(
                "(l,d)-diversity",
                f"{counted(int(np.count_nonzero(found < 0)), 'set')} of values cannot be decided exactly in "
                f"{MOST_STEPS} steps under this distance",
            ).with_hint("Orders, numbers and trees never need a search; merge values, or use one of these distances.")
        decided: NDArray[np.int64] = found[set_of.ravel()]
        return decided


@lru_cache(maxsize=32)
def apart(distance: Distance, d: float, domain: Domain) -> Apart:
    """Prepare the near graph of a domain."""
    near = distance.matrix(domain) < d
    np.fill_diagonal(near, val=False)
    order = _elimination_order(near)
    ordered = near[np.ix_(order, order)]
    return Apart(order, _packed(ordered), _is_perfect(ordered))


def _elimination_order(near: BoolArray) -> NDArray[np.int64]:
    """Maximum cardinality search: last comes any value, before it always one near most of those behind it."""
    n_values = len(near)
    order = np.empty(n_values, dtype=np.int64)
    weights = np.zeros(n_values, dtype=np.int64)
    for place in range(n_values - 1, -1, -1):
        chosen = int(np.argmax(weights))
        order[place] = chosen
        weights += near[chosen]
        weights[chosen] = -n_values - 1
    return order


def _is_perfect(near: BoolArray) -> bool:
    """Whether, in this order, the later values near any one are near each other.

    It suffices that they are near the first of them: to that one the same applies.
    """
    for place, row in enumerate(near):
        later = np.flatnonzero(row[place + 1 :]) + place + 1
        if len(later) > 1 and not near[later[0], later[1:]].all():
            return False
    return True


def _packed(bits: BoolArray) -> NDArray[np.uint64]:
    """Shape (rows, words): bit i of a row as bit i % 64 of word i // 64."""
    n_words = max(1, -(-bits.shape[1] // 64))
    padded: NDArray[Any] = np.zeros((len(bits), 64 * n_words), dtype=np.bool_)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
