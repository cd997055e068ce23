"""Ring selection: the paper's duplicate-processing algorithm, kept for comparison. It leaks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import ClassVar, Final

import numpy as np

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, SetArray, WordArray
from ldiversity.base.numbers import percent
from ldiversity.distances import Distance
from ldiversity.errors import UnsupportedError
from ldiversity.mechanisms._arguments import read_only
from ldiversity.mechanisms._sequential import SequentialSelection
from ldiversity.schema import Domain

__all__ = ["RingLeak", "RingSelection"]

MOST_MEMBERS: Final = 8
"""The greatest l: P(set | member) visits all orders of the members."""


@dataclass(frozen=True)
class RingLeak:
    """What ring sets reveal when all true values are equally frequent.

    Attributes
    ----------
    ruled_out
        Share of the records whose set could not come from at least one of its members.
    disclosed
        Share of the records whose set could come from the true value only.
    exact
        Whether all sets were examined; otherwise the shares come from a large sample.
    """

    ruled_out: float
    disclosed: float
    exact: bool


class RingSelection(SequentialSelection):
    """Draw dummies from a ring of values that closes up around every choice.

    The published Algorithm 3. Every value far enough from the true one is included equally often, with probability
    (l-1) / (number of such values). The price: some sets can never come from some of their members, so anyone who knows
    the algorithm rules these out. See `leak`, and use balanced selection instead. Values must be ordered: two may share
    a set if their codes differ by d or more.

    Notes
    -----
    The ring of value v is v+d, ..., F-1, 0, ..., v-d. After index k of a ring of m values is drawn, the next ring
    holds the indices k+d, ..., k+m-d (mod m). Every ring is long enough when F >= (l-1)(2d-1) + 1.

    References
    ----------
    Oishi, Sei, Tahara and Ohsuga, Semantic Diversity, Algorithm 3 and Fig. 4.

    Examples
    --------
    >>> from ldiversity.distances import OrderedDistance
    >>> from ldiversity.schema import Domain
    >>> incomes = Domain(("30K", "40K", "50K", "60K", "70K", "80K", "90K", "100K", "110K"), ordered=True)
    >>> mechanism = RingSelection.fit(incomes, OrderedDistance(), l=3, d=2)
    >>> print(mechanism.inclusion[2].round(3))
    [0.333 0.    1.    0.    0.333 0.333 0.333 0.333 0.333]
    >>> mechanism.worst_posterior()
    1.0
    """

    kind: ClassVar[str] = "ring"

    version: int = 2
    """Raise it when you change the order of the ring. Version 1 had other words for a record under a key."""

    def __init__(self, domain: Domain, distance: Distance, l: int, d: float) -> None:
        super().__init__(domain, distance, l, d)
        gap = self.compatibility.even_gap
        if gap is None:
            raise UnsupportedError(
                "RingSelection",
                "distance",
                "must be ordered, so that values whose codes differ by d or more may share a set",
            ).with_hint("Use balanced or simple selection with this distance.")
        self._gap = gap

    @property
    def _most_members(self) -> int:
        return MOST_MEMBERS

    @property
    def _work(self) -> int:
        return factorial(self.l)

    def _draw(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        from ldiversity._kernels.sampling import sample_ring

        drawn: tuple[SetArray, BoolArray] = sample_ring(codes, words, self.n_values, self.l, self._gap)
        return drawn

    def _why_infeasible(self) -> str | None:
        least = (self.l - 1) * (2 * self._gap - 1) + 1
        if self.n_values >= least:
            return None
        return f"its rings need (l-1)(2d-1) + 1 = {least} values"

    def _explain(self, sets: SetArray) -> FloatArray:
        from ldiversity._kernels.likelihood import ring_likelihood

        explained: FloatArray = ring_likelihood(sets, self.n_values, self._gap)
        return explained

    @cached_property
    def inclusion(self) -> FloatArray:
        """Q: every value far enough from v has the same probability, (l-1) / (number of such values)."""
        allowed = self.compatibility.allowed
        matrix = allowed * ((self.l - 1) / allowed.sum(axis=1, keepdims=True))
        np.fill_diagonal(matrix, 1.0)
        return read_only(matrix)

    @cached_property
    def _leak(self) -> RingLeak:
        enumerated = self._enumerated
        # A set discloses its record if only one member could have produced it.
        possible = (enumerated.likelihood > 0).sum(axis=1)
        share = enumerated.weights.sum(axis=1) / self.n_values
        return RingLeak(
            ruled_out=float(share[possible < self.l].sum()),
            disclosed=float(share[possible == 1].sum()),
            exact=enumerated.exact,
        )

    def leak(self) -> RingLeak:
        """Return the shares of records whose set reveals something, for equally frequent true values."""
        return self._leak

    def cautions(self) -> tuple[str, ...]:
        """What the holder should know before publishing with this mechanism."""
        leak = self.leak()
        leaking = (
            f"Ring selection leaks: {percent(leak.ruled_out)} of the records get a set that rules out one of its "
            "members, "
            f"and {percent(leak.disclosed)} are disclosed; use balanced selection to protect people."
        )
        return (*super().cautions(), leaking)
