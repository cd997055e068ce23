"""Balanced selection: sets of values at least d apart, equally likely from each of their members."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, Json, SetArray, WordArray
from ldiversity.base.checks import check_integer, check_number
from ldiversity.distances import Distance, distance_from_dict
from ldiversity.errors import (
    InfeasibleError,
    LDiversityError,
    ParameterError,
    ReleaseFormatError,
    UnsupportedError,
)
from ldiversity.mechanisms._apart import ApartSelection
from ldiversity.mechanisms._arguments import (
    check_prior,
    check_sample,
    described_integer,
    described_number,
    read_only,
)
from ldiversity.mechanisms._balanced_weights import Weights, fit_weights, weights_kind
from ldiversity.mechanisms._base import SINGULAR_CONDITION
from ldiversity.mechanisms._compatibility import Compatibility
from ldiversity.mechanisms._partitions import Partitions
from ldiversity.mechanisms._refusal import refuse
from ldiversity.schema import Domain
from ldiversity.sentences import say

__all__ = ["BalancedSelection"]

MARGINAL_TOLERANCE: Final = 1e-8
"""The greatest relative error of the weights in a release: how far the sum for a value may be off."""

MOST_WORK: Final = 200_000_000
"""The limit of l F^2. The exact facts take time in proportion, and a release is not trusted."""

ROUNDING: Final = 1e-13
"""A probability within this distance of one counts as one."""

PRIOR_TOLERANCE: Final = 1e-6
"""How far the sum of a prior may be from one."""


class BalancedSelection(ApartSelection):
    """Hide the true value in a set of `l` values at least `d` apart, which is equally likely from each of its members.

    Every valid set R has a weight w(R). For every value, the weights of the sets that contain it sum to one. A record
    with value v publishes R with probability w(R), whichever member of R is v, so the set changes no odds between its
    members. Among all such weights, we take those of maximum entropy, ``w(R) = product of theta over R``.

    An attacker with a uniform prior is right with probability 1/l. An attacker who knows that some values are frequent
    still knows it: see `worst_posterior`. With `prior`, the weights of a value's sets sum to F times its prior, and an
    attacker with this prior is right with probability 1/l.

    Use `fit`. The constructor trusts that the weights `theta` are balanced, for the given `prior` if there is one.

    Notes
    -----
    Ordered domains and trees take O(l F^2) time for each of about ten steps, without listing the sets. For other
    distances, all valid sets are listed, at most two million.

    Examples
    --------
    >>> from ldiversity.distances import OrderedDistance
    >>> mechanism = BalancedSelection.fit(Domain(tuple("abcde"), ordered=True), OrderedDistance(), l=2, d=2)
    >>> mechanism.worst_posterior()
    0.5
    >>> print(mechanism.inclusion[0].round(3))
    [1.    0.    0.5   0.333 0.167]
    """

    kind: ClassVar[str] = "balanced"

    version: int = 2
    """Raise it when you change `LISTED_ENTRIES` (one word or several), the order in which sets are listed, how alias
    tables are filled, the walks along a chain, which weights are taken, or `Partitions`.
    Version 1 had no partitions."""

    def __init__(
        self,
        domain: Domain,
        distance: Distance,
        *,
        l: int,
        d: float,
        theta: FloatArray,
        prior: FloatArray | None = None,
        compatibility: Compatibility | None = None,
    ) -> None:
        super().__init__(domain, distance, l=_check_work(l, len(domain)), d=d, compatibility=compatibility)
        self.theta: FloatArray = read_only(np.array(theta, dtype=np.float64))
        self.prior: FloatArray | None = None if prior is None else read_only(np.array(prior, dtype=np.float64))
        self._weights: Weights = weights_kind(self.compatibility)(self.compatibility, l, self.theta)

    @classmethod
    def fit(
        cls, domain: Domain, distance: Distance, l: int, d: float, prior: ArrayLike | None = None
    ) -> BalancedSelection:
        """Find the balanced weights of maximum entropy.

        `prior` is public: one positive share per value, with sum one. It protects against an attacker who holds this
        belief, and makes estimates less accurate.

        Raises
        ------
        InfeasibleError
            When no balanced weights exist, or Q is singular; names the bound and the nearest feasible l and d.
        UnsupportedError
            When the distance has neither an order nor blocks and there are too many valid sets to list, or when
            l F^2 is above 200 million.
        """
        l = check_integer("BalancedSelection", "l", l, minimum=2)
        d = check_number("BalancedSelection", "d", d, minimum=0)
        if len(domain) == 0:
            raise InfeasibleError("BalancedSelection", "the domain must have at least one value")
        _check_work(l, len(domain))
        shares = None if prior is None else _check_public_prior(prior, len(domain))
        compatibility = Compatibility.of(distance, domain, d)
        weights = fit_weights(compatibility, l, _targets(shares, len(domain)))
        if weights is None:
            raise refuse(domain, distance.matrix(domain), l, d, shares)
        return cls(domain, distance, l=l, d=d, theta=weights.theta, prior=shares, compatibility=compatibility)

    def __repr__(self) -> str:
        calibrated = "" if self.prior is None else ", prior=..."
        return f"BalancedSelection(n_values={self.n_values}, l={self.l}, d={self.d:g}{calibrated})"

    # --- what it publishes -------------------------------------------------------------------------

    @property
    def words_per_record(self) -> int:
        """Random words per record: one if the sets are listed, otherwise l - 1. No draw is rejected."""
        return self._weights.words

    def sample(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        """Draw one set for each true code; see `SetMechanism.sample`. No record runs out of words."""
        codes, words = check_sample(
            "BalancedSelection", codes, words, n_values=self.n_values, n_words=self.words_per_record
        )
        return self._weights.sampler.sample(codes, words), np.zeros(len(codes), dtype=np.bool_)

    @cached_property
    def partitions(self) -> Partitions | None:
        """Random partitions, if the values fall into groups of one size and only values of a group are too close.

        All valid sets then have the same weight, as in `Partitions`. Otherwise the weights are not known to be those of
        partitions, nor are they with a prior.
        """
        grid = None if self.version == 1 else self.compatibility.even_blocks
        return None if grid is None or self.prior is not None or self.l > len(grid) else Partitions(self.l, grid)

    def admits(self, sets: SetArray) -> BoolArray:
        """Whether each row holds `l` codes in ascending order that are pairwise at least `d` apart."""
        rows = np.asarray(sets)
        if rows.ndim != 2 or rows.shape[1] != self.l:  # noqa: PLR2004 - rows and columns
            raise ParameterError("BalancedSelection", "sets", f"must have shape (n, {self.l})", got=rows.shape)
        ascending: BoolArray = np.logical_and.reduce(rows[:, 1:] > rows[:, :-1], axis=1)
        return ascending & self.compatibility.admits(rows)

    # --- exact facts -------------------------------------------------------------------------------

    @cached_property
    def _targets(self) -> FloatArray:
        return _targets(self.prior, self.n_values)

    @cached_property
    def inclusion(self) -> FloatArray:
        """Q[v, j] = sum of w(R) over sets with v and j, divided by the sum for v. Symmetric without a prior."""
        matrix = self._weights.pairs / self._weights.marginals[:, None]
        matrix[matrix > 1.0 - ROUNDING] = 1.0  # both sums have the same terms, in another order
        np.fill_diagonal(matrix, 1.0)
        return read_only(matrix)

    @property
    def flat_likelihood(self) -> bool:
        """True without a prior: a set is equally likely from each of its members."""
        return self.prior is None

    def likelihood(self, sets: SetArray) -> FloatArray:
        """One for every member; with a prior, one over the prior of the member."""
        return 1.0 / self._targets[np.asarray(sets)]

    def lightest(self, costs: FloatArray) -> FloatArray:
        """Return the least sum of `costs` over a set, among the sets of each value."""
        return self._weights.lightest(costs)

    def worst_posterior(self, prior: ArrayLike | None = None) -> float:
        """Return the greatest probability with which a published set can point at one value, over all valid sets.

        Every valid set has a positive weight, so even the worst one may be published. `prior` is what an attacker
        believes before seeing the set; uniform when None.
        """
        if prior is None and self.prior is None:
            return 1.0 / self.l
        odds = check_prior("BalancedSelection", prior, self.n_values) / self._targets
        held = odds > 0
        return float((odds[held] / self._weights.lightest(odds)[held]).max())

    @cached_property
    def variance_factors(self) -> FloatArray:
        """G: see `SetMechanism.variance_factors`; exact, without listing the sets of a chain."""
        squares = self._weights.squares(self.inverse)
        return read_only(squares / self._weights.marginals[None, :] - np.eye(self.n_values))

    # --- as data -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Describe the mechanism in JSON's types, with the fitted weights, so that readers need not fit again."""
        described: dict[str, Json] = {
            "kind": self.kind,
            "version": self.version,
            "l": self.l,
            "d": self.d,
            "distance": self.distance.to_dict(self.domain),
            "fitted": self.theta.tolist(),
        }
        if self.prior is not None:
            described["prior"] = self.prior.tolist()
        return described

    @classmethod
    def from_dict(cls, described: Mapping[str, Json], domain: Domain) -> BalancedSelection:
        """Read what `to_dict` wrote, and check that the weights are balanced and Q is invertible."""
        l = described_integer(described, "l", 2, len(domain))
        d = described_number(described, "d")
        theta = _described_shares(described, "fitted", len(domain))
        prior = _described_shares(described, "prior", len(domain)) if "prior" in described else None
        distance = distance_from_dict(described.get("distance"), domain)
        try:
            mechanism = cls(domain, distance, l=l, d=d, theta=theta, prior=prior)
            with np.errstate(all="ignore"):  # hostile weights may overflow; the comparisons then fail
                off = float(np.abs(mechanism._weights.marginals / mechanism._targets - 1.0).max())
                balanced = off <= MARGINAL_TOLERANCE and mechanism.condition <= SINGULAR_CONDITION
        except LDiversityError as error:
            raise ReleaseFormatError(
                "release", say("mechanism {}: {}", repr(cls.kind), error.message), hint=error.hint
            ) from None
        if not balanced:
            raise ReleaseFormatError("release", "mechanism: fitted must give balanced and recoverable weights")
        return mechanism


def _check_work(l: int, n_values: int) -> int:
    most = MOST_WORK // n_values**2
    if most < l < n_values:
        raise UnsupportedError(
            "BalancedSelection", "l", f"must be at most {most} for {n_values} values", got=l
        ).with_hint(
            "Exact facts about larger sets would take too long. Use a smaller l, or a domain with fewer values."
        )
    return l


def _targets(prior: FloatArray | None, n_values: int) -> FloatArray:
    return np.ones(n_values) if prior is None else prior * n_values


def _check_public_prior(prior: ArrayLike, n_values: int) -> FloatArray:
    shares = check_prior("BalancedSelection", prior, n_values)
    if not bool((shares > 0).all()):
        raise ParameterError("BalancedSelection", "prior", "must be positive for every value").with_hint(
            "Give unexpected values a small share."
        )
    if abs(float(np.sum(np.asarray(prior, dtype=np.float64))) - 1.0) > PRIOR_TOLERANCE:
        raise ParameterError("BalancedSelection", "prior", "must sum to 1", hint="Divide the shares by their sum.")
    return shares


def _described_shares(described: Mapping[str, Json], name: str, n_values: int) -> FloatArray:
    numbers: Any = described.get(name)
    plain = isinstance(numbers, list) and len(numbers) == n_values
    if not plain or not all(type(number) in {int, float} and 0 < number < float("inf") for number in numbers or ()):
        raise ReleaseFormatError("release", f"mechanism: {name} must be {n_values} positive numbers")
    shares = np.array(numbers, dtype=np.float64)
    if name == "prior" and abs(float(shares.sum()) - 1.0) > MARGINAL_TOLERANCE:
        raise ReleaseFormatError("release", "mechanism: prior must sum to 1")
    return shares
