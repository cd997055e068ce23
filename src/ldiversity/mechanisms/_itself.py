"""The value itself as a set of one: a part of randomized response, and nothing that is published on its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, Json, SetArray, WordArray
from ldiversity.base.checks import check_integer
from ldiversity.errors import ReleaseFormatError
from ldiversity.mechanisms._arguments import check_prior, check_sample, read_only
from ldiversity.mechanisms._base import SetMechanism
from ldiversity.schema import Domain

__all__ = ["Itself"]


class Itself(SetMechanism):
    """Publish the value. It hides nothing, so it is not among `MECHANISMS`; `EpsilonSelection` replaces values first.

    Examples
    --------
    >>> Itself(2).sample(np.array([1, 0]), np.empty((2, 0), dtype=np.uint64))[0].tolist()
    [[1], [0]]
    """

    kind: ClassVar[str] = "itself"

    def __init__(self, n_values: int) -> None:
        self._n_values = check_integer("Itself", "n_values", n_values, minimum=2, maximum=2**31 - 1)

    def __repr__(self) -> str:
        return f"Itself({self.n_values})"

    @property
    def n_values(self) -> int:
        """F, the number of values of the domain."""
        return self._n_values

    @property
    def l(self) -> int:  # noqa: E743 - the letter of the literature
        """One."""
        return 1

    @property
    def words_per_record(self) -> int:
        """None: nothing is drawn."""
        return 0

    def sample(self, codes: CodeArray, words: WordArray) -> tuple[SetArray, BoolArray]:
        """The codes, each as a set."""
        codes, _ = check_sample("Itself", codes, words, n_values=self.n_values, n_words=0)
        return codes[:, None].copy(), np.zeros(len(codes), dtype=np.bool_)

    def admits(self, sets: SetArray) -> BoolArray:
        """Whether each row holds one code of the domain."""
        rows = np.asarray(sets)
        if rows.shape[1] != 1:
            return np.zeros(len(rows), dtype=np.bool_)
        inside: BoolArray = (rows[:, 0] >= 0) & (rows[:, 0] < self.n_values)
        return inside

    @property
    def inclusion(self) -> FloatArray:
        """The identity."""
        return read_only(np.eye(self.n_values))

    @property
    def flat_likelihood(self) -> bool:
        """True: there is one member."""
        return True

    def likelihood(self, sets: SetArray) -> FloatArray:
        """One."""
        return self.admits(sets)[:, None].astype(np.float64)

    def lightest(self, costs: FloatArray) -> FloatArray:
        """The costs: each value has one set, which holds nothing else."""
        return costs

    def worst_posterior(self, prior: ArrayLike | None = None) -> float:
        """One."""
        check_prior("Itself", prior, self.n_values)
        return 1.0

    @property
    def variance_factors(self) -> FloatArray:
        """Zero: counts are exact."""
        return read_only(np.zeros((self.n_values, self.n_values)))

    def to_dict(self) -> dict[str, Json]:
        """Describe it in JSON's types."""
        return {"kind": self.kind, "version": self.version, "n_values": self.n_values}

    @classmethod
    def from_dict(cls, described: Mapping[str, Json], domain: Domain) -> Itself:
        """Read what `to_dict` wrote; the description is not trusted."""
        if (described.get("version"), described.get("n_values")) != (cls.version, len(domain)):
            raise ReleaseFormatError("release", "mechanism: n_values must be the number of values of the domain")
        return cls(len(domain))
