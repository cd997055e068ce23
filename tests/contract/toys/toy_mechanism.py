"""A set mechanism as a stranger writes it, all of it: its sets are those of random partitions, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, Json, SetArray, WordArray
from ldiversity.errors import InfeasibleError, ReleaseFormatError
from ldiversity.mechanisms import Partitions, SetMechanism, check_prior, described_integer
from ldiversity.methods import RandomizingMethod
from ldiversity.schema import Domain


@dataclass(frozen=True)
class Deck(SetMechanism):
    """All values are shuffled and dealt out; a value is published with those that were dealt with it."""

    kind: ClassVar[str] = "deck"

    cards: int
    hand: int

    def __post_init__(self) -> None:
        if not 2 <= self.hand < self.cards:
            raise InfeasibleError("Deck", "l", f"must be from 2 to {self.cards - 1}", got=self.hand, nearest=[])

    @property
    def n_values(self) -> int:
        """All values."""
        return self.cards

    @property
    def l(self) -> int:  # noqa: E743 - the letter of the literature
        """Those that are dealt together."""
        return self.hand

    @cached_property
    def partitions(self) -> Partitions:
        """How values are dealt."""
        return Partitions(self.l, np.arange(self.n_values, dtype=np.int32)[:, None])

    @property
    def words_per_record(self) -> int:
        """As many as a partition takes."""
        return self.partitions.words_per_record

    def sample(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        """A partition for each record."""
        return self.partitions.sample(codes, words)

    def admits(self, sets: SetArray) -> BoolArray:
        """Any different values may be dealt together."""
        if sets.shape[1] != self.l:
            return np.zeros(len(sets), dtype=np.bool_)
        rows = np.sort(sets, axis=1)
        known = (rows[:, 0] >= 0) & (rows[:, -1] < self.n_values)
        admitted: BoolArray = known & (np.diff(rows, axis=1) > 0).all(axis=1)
        return admitted

    @property
    def _chance(self) -> float:
        return (self.l - 1) / (self.n_values - 1)

    @cached_property
    def inclusion(self) -> FloatArray:
        """Every other value is dealt with the same chance."""
        matrix = np.full((self.n_values, self.n_values), self._chance)
        np.fill_diagonal(matrix, 1.0)
        matrix.flags.writeable = False
        return matrix

    @property
    def flat_likelihood(self) -> bool:
        """A set is as likely from each of its members."""
        return True

    def likelihood(self, sets: SetArray) -> FloatArray:
        """The same for all."""
        return np.ones(sets.shape)

    def worst_posterior(self, prior: FloatArray | None = None) -> float:
        """The likeliest value, among those that are least likely."""
        shares = np.sort(check_prior("Deck", prior, self.n_values))
        return float(shares[-1] / (shares[-1] + shares[: self.l - 1].sum()))

    @cached_property
    def variance_factors(self) -> FloatArray:
        """A value that is not true is in the set by chance alone."""
        factors = np.full((self.n_values, self.n_values), self._chance / (1 - self._chance))
        np.fill_diagonal(factors, 0.0)
        return factors

    def to_dict(self) -> dict[str, Json]:
        """Describe it completely."""
        return {"kind": self.kind, "version": self.version, "n_values": self.n_values, "l": self.l}

    @classmethod
    def from_dict(cls, described: Mapping[str, Json], domain: Domain) -> Deck:
        """Read what `to_dict` wrote."""
        if described.get("n_values") != len(domain):
            raise ReleaseFormatError("release", "mechanism: n_values must be the number of values of the domain")
        return cls(len(domain), described_integer(described, "l", 2, len(domain) - 1))


@dataclass(frozen=True)
class Decks(RandomizingMethod):
    """Deals all values into sets of `l`."""

    name: ClassVar[str] = "decks"
    strength: ClassVar[str | None] = "l"

    l: int = 3

    def fit(self, domain: Domain) -> SetMechanism:
        """The deck of this domain."""
        return Deck(len(domain), self.l)
