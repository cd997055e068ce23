"""A finite epsilon: the value is first replaced by a random one, with a known probability, and then hidden in a set."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from math import ceil, tanh
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, Json, SetArray, WordArray
from ldiversity.base.checks import check_number
from ldiversity.distances import Distance
from ldiversity.errors import InfeasibleError, ParameterError, ReleaseFormatError, UnsupportedError
from ldiversity.mechanisms._arguments import check_prior, check_sample, described_number, read_only
from ldiversity.mechanisms._balanced import BalancedSelection
from ldiversity.mechanisms._base import SetMechanism
from ldiversity.mechanisms._itself import Itself
from ldiversity.mechanisms._uniform import UniformSelection
from ldiversity.schema import Domain

__all__ = ["GREATEST_EPSILON", "LEAST_EPSILON", "EpsilonSelection", "check_epsilon", "least_error_l"]

LEAST_EPSILON: Final = 0.01
"""Below it, nearly all values are replaced, and estimates are noise."""

GREATEST_EPSILON: Final = 20.0
"""Above it, a promise of e**epsilon means nothing."""

MARGIN: Final = Fraction(1, 2**20)
"""How much less than e**epsilon the factor is, which leaves room for the rounding of weights and draws."""

_OWN_WORDS: Final = 2
_DIGITS: Final = 50
_WORDS: Final = 2**64

_Base = UniformSelection | BalancedSelection | Itself
_BASES: Final[tuple[type[_Base], ...]] = (UniformSelection, BalancedSelection, Itself)


class EpsilonSelection(SetMechanism):
    """Publish each set with probabilities that differ by a factor of at most e**epsilon between any two values.

    With probability `replaced` the value is replaced by a value of the whole domain, all equally likely. The value that
    is left is hidden by `base`, where sets are equally likely from each of their members. So the true value may be
    missing from its set, and a set rules nothing out: this is local differential privacy. With l = 1 it is randomized
    response, the only way to hide a value among two.

    Parameters
    ----------
    base
        How the value that is left is hidden: uniform or balanced selection without a prior, or the value itself.
    epsilon
        From 0.01 to 20.

    Notes
    -----
    With w(R) = P(R | v) for all members v of R under `base`, and D = l e**epsilon + F - l, a set R is published with
    probability ``l e**epsilon w(R) / D`` if it holds the true value, and with ``l w(R) / D`` if not; `replaced` is F/D.

    A word replaces a value if it is below a whole number, so `replaced` is a multiple of 2**-64. It is rounded up, as
    if e**epsilon were smaller by `MARGIN`, about a millionth. All facts here are those of the rounded number. The
    margin is far greater than what else is rounded: the weights of balanced selection (1e-8), and the draw of the new
    value (F / 2**64). Only a set so rare that it is drawn less than once in 2**40 draws may be rounded by more in the
    tables of balanced selection; even then the factor is at most ``1 + l (e**epsilon - 1)``.

    References
    ----------
    Ye and Barg, Optimal Schemes for Discrete Distribution Estimation under Locally Differential Privacy, 2018, and
    Wang et al., Mutual Information Optimally Local Private Discrete Distribution Estimation, 2016, for uniform sets.

    Examples
    --------
    >>> mechanism = EpsilonSelection(UniformSelection(n_values=6, l=2), epsilon=1)
    >>> mechanism
    EpsilonSelection(UniformSelection(n_values=6, l=2), epsilon=1)
    >>> print(mechanism.inclusion[0].round(3))
    [0.576 0.285 0.285 0.285 0.285 0.285]
    """

    kind: ClassVar[str] = "epsilon"

    version: int = 1
    """Raise it when you change `MARGIN`, or what the first two words are for."""

    def __init__(self, base: SetMechanism, epsilon: float) -> None:
        if not isinstance(base, _BASES) or not base.flat_likelihood:
            raise ParameterError(
                "EpsilonSelection", "base", "must make sets equally likely from each of their members", got=repr(base)
            )
        self.base = base
        self._epsilon = check_epsilon("EpsilonSelection", epsilon)

    @classmethod
    def fit(cls, domain: Domain, epsilon: float, l: int | None = None) -> EpsilonSelection:
        """Uniform sets of l values, or of as many as give the least expected error; l = 1 is randomized response.

        Raises
        ------
        InfeasibleError
            When the domain has fewer than l + 1 values.
        """
        size = len(domain)
        if size < 2:  # noqa: PLR2004 - nothing to hide
            raise InfeasibleError(
                "EpsilonSelection", "domain", "must have at least 2 values", got=size, hint="Declare a larger domain."
            )
        epsilon = check_epsilon("EpsilonSelection", epsilon)
        chosen = least_error_l(size, epsilon) if l is None else l
        return cls(Itself(size) if chosen == 1 else UniformSelection.fit(domain, chosen), epsilon)

    @classmethod
    def fit_balanced(
        cls, domain: Domain, distance: Distance, d: float, epsilon: float, l: int | None = None
    ) -> EpsilonSelection:
        """Balanced sets of l values that are at least d apart, or of as many as give the least expected error.

        Without l, one value more is tried as long as balanced sets exist and the expected error falls, from 2 on.

        Raises
        ------
        InfeasibleError
            When no balanced sets of l values exist, or of 2.
        """
        if l is not None:
            return cls(BalancedSelection.fit(domain, distance, l, d), epsilon)
        best = cls(BalancedSelection.fit(domain, distance, 2, d), epsilon)
        for more in range(3, len(domain) + 1):
            try:
                tried = cls(BalancedSelection.fit(domain, distance, more, d), epsilon)
            except (InfeasibleError, UnsupportedError):
                break
            if tried.expected_mse(1) >= best.expected_mse(1):
                break
            best = tried
        return best

    def __repr__(self) -> str:
        return f"EpsilonSelection({self.base!r}, epsilon={self.epsilon:g})"

    # --- what it promises --------------------------------------------------------------------------

    @property
    def epsilon(self) -> float:
        """What is promised: no two values make a set likely by factors that differ by more than e**epsilon."""
        return self._epsilon

    @cached_property
    def _threshold(self) -> int:
        with localcontext() as context:
            context.prec = _DIGITS  # correctly rounded, and so the same on every machine
            factor = Fraction(Decimal(self.epsilon).exp()) * (1 - MARGIN)
        spread = Fraction(self.n_values, self.l)
        return ceil(spread / (factor - 1 + spread) * _WORDS)

    @property
    def replaced(self) -> float:
        """The probability with which a value is replaced, as it is drawn."""
        return self._threshold / _WORDS

    @property
    def kept(self) -> float:
        """The probability with which a value is not replaced."""
        return (_WORDS - self._threshold) / _WORDS

    @property
    def truth(self) -> float:
        """The probability that a set holds the true value."""
        return self.kept + self.replaced * self.l / self.n_values

    @property
    def likelihood_ratio(self) -> float:
        """The greatest factor between the probabilities of a set for two values, as it is drawn."""
        return 1.0 + self.kept * self.n_values / (self.replaced * self.l)

    @property
    def closeness(self) -> float:
        """The t of t-closeness that holds for every prior, ``tanh(epsilon / 4)``: the furthest a belief can move."""
        return tanh(self.epsilon / 4)

    # --- what it publishes -------------------------------------------------------------------------

    @property
    def n_values(self) -> int:
        """F, the number of values of the domain."""
        return self.base.n_values

    @property
    def l(self) -> int:  # noqa: E743 - the letter of the literature
        """How many values a published set has."""
        return self.base.l

    @property
    def d(self) -> float | None:
        """Least distance between two members, where the base has one."""
        return self.base.d if isinstance(self.base, BalancedSelection) else None

    @property
    def distance(self) -> object:
        """The distance of the base, if it has one."""
        return getattr(self.base, "distance", None)

    @property
    def compatibility(self) -> object:
        """Which values may share a set, where the base says so."""
        return getattr(self.base, "compatibility", None)

    @property
    def words_per_record(self) -> int:
        """Two words, and those of the base."""
        return _OWN_WORDS + self.base.words_per_record

    def sample(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        """Draw one set for each true code; see `SetMechanism.sample`.

        The first word decides whether the value is replaced, and the second one by what.
        """
        codes, words = check_sample(
            "EpsilonSelection", codes, words, n_values=self.n_values, n_words=self.words_per_record
        )
        other = (words[:, 1] % np.uint64(self.n_values)).astype(np.int32)
        left = np.where(words[:, 0] < np.uint64(self._threshold), other, codes).astype(np.int32)
        return self.base.sample(left, words[:, _OWN_WORDS:])

    def admits(self, sets: SetArray) -> BoolArray:
        """Whether each row is a set of the base."""
        return self.base.admits(sets)

    # --- exact facts -------------------------------------------------------------------------------

    @property
    def _spread(self) -> float:
        """The probability with which a value becomes a given one by replacement."""
        return self.replaced / self.n_values

    @cached_property
    def inclusion(self) -> FloatArray:
        """Q of the base, mixed with l/F, which is what a random value shows."""
        return read_only(self.kept * self.base.inclusion + self._spread * self.l)

    @cached_property
    def inverse(self) -> FloatArray:
        """A = inverse(Q'), from that of the base."""
        return read_only((self.base.inverse - self._spread / self.l) / self.kept)

    @cached_property
    def condition(self) -> float:
        """Condition number of Q, that of the base over `kept`."""
        return self.base.condition / self.kept

    def likelihood(self, sets: SetArray) -> FloatArray:
        """The same for each member; `explanations` has the other values."""
        return self.base.likelihood(sets) * self.truth

    def explanations(self, sets: SetArray) -> tuple[SetArray, FloatArray]:
        """All values of the domain, for each set: no set rules a value out."""
        rows = np.asarray(sets)
        codes = np.broadcast_to(np.arange(self.n_values, dtype=np.int32), (len(rows), self.n_values))
        known = np.full(codes.shape, self._spread * self.l)
        np.put_along_axis(known, rows.astype(np.int64), self.truth, axis=1)
        known[~self.admits(rows)] = 0.0
        return np.ascontiguousarray(codes), known

    def worst_posterior(self, prior: ArrayLike | None = None) -> float:
        """Return the greatest probability with which a published set can point at one value, over all sets."""
        shares = check_prior("EpsilonSelection", prior, self.n_values)
        # Only a member gains, and most with the members that are least likely beside it.
        beside = self.base.lightest(shares)
        other = self._spread * self.l
        return float((shares * self.truth / (self.kept * beside + other)).max())

    @cached_property
    def variance_factors(self) -> FloatArray:
        """G, from that of the base: a value counts as a record of its own if kept, and as F of a share if replaced."""
        c, own = self._spread, np.eye(self.n_values)
        squares = (self.base.variance_factors + (1 - 2 * c) * own + c * c) / self.kept**2
        mixed = self.kept * squares + c * squares.sum(axis=1, keepdims=True)
        return read_only(mixed - own)

    def expected_mse(self, n: float, prior: ArrayLike | None = None) -> float:
        """Mean squared error of the linear estimate of the F shares, from that of the base; see `SetMechanism`."""
        shares = check_prior("EpsilonSelection", prior, self.n_values)
        left, c = self.kept * shares + self._spread, self._spread
        size = self.n_values
        squares = (self.base.expected_mse(1, left) + (1 - 2 * c) / size + c * c) / self.kept**2
        return (squares - 1 / size) / n

    # --- as data -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Json]:
        """Describe the mechanism in JSON's types, with its base."""
        return self._described(self.base.to_dict())

    def parameters(self) -> dict[str, Json]:
        """What the holder chose, also for the base."""
        return self._described(self.base.parameters())

    def _described(self, base: dict[str, Json]) -> dict[str, Json]:
        return {"kind": self.kind, "version": self.version, "epsilon": self.epsilon, "base": base}

    @classmethod
    def from_dict(cls, described: Mapping[str, Json], domain: Domain) -> EpsilonSelection:
        """Read what `to_dict` wrote; the description is not trusted."""
        from ldiversity.mechanisms._registry import mechanism_from_dict

        epsilon = described_number(described, "epsilon")
        if not LEAST_EPSILON <= epsilon <= GREATEST_EPSILON:
            raise ReleaseFormatError("release", f"mechanism: epsilon must be {_RANGE}")
        base = described.get("base")
        kinds = {kind.kind for kind in _BASES}
        if not isinstance(base, dict) or base.get("kind") not in kinds:
            raise ReleaseFormatError("release", "mechanism: base must be uniform or balanced, or the value itself")
        if base["kind"] == Itself.kind:
            return cls(Itself.from_dict(base, domain), epsilon)
        made = mechanism_from_dict(base, domain)
        if not made.flat_likelihood:
            raise ReleaseFormatError("release", "mechanism: base must be without a prior")
        return cls(made, epsilon)


_RANGE: Final = f"from {LEAST_EPSILON:g} to {GREATEST_EPSILON:g}"


def check_epsilon(owner: str, epsilon: object) -> float:
    """Return an epsilon that can be promised.

    Examples
    --------
    >>> check_epsilon("RandomizedAddition", 0)
    Traceback (most recent call last):
    ldiversity.errors.ParameterError: RandomizedAddition: epsilon must be from 0.01 to 20, got 0.
    Hint: Usual are 0.5 to 4: the smaller, the more private, and the noisier are estimates.
    """
    number = check_number(owner, "epsilon", epsilon)
    if not LEAST_EPSILON <= number <= GREATEST_EPSILON:
        raise ParameterError(owner, "epsilon", f"must be {_RANGE}", got=f"{number:g}").with_hint(
            "Usual are 0.5 to 4: the smaller, the more private, and the noisier are estimates."
        )
    return number


def least_error_l(n_values: int, epsilon: float) -> int:
    """Return the l with which uniform sets give the least expected error at an epsilon, if no value is frequent.

    It depends on nothing but the number of values. The published optimum, F / (e**epsilon + 1), is near it.

    Examples
    --------
    >>> [least_error_l(24, epsilon) for epsilon in (0.5, 1, 2, 4)]
    [9, 6, 3, 1]
    """
    near = n_values / (float(np.exp(epsilon)) + 1)
    tried = range(max(1, int(near) - 1), min(n_values - 1, ceil(near) + 1) + 1)
    bases = [Itself(n_values) if l == 1 else UniformSelection(n_values, l) for l in tried]
    return min(bases, key=lambda base: EpsilonSelection(base, epsilon).expected_mse(1)).l
