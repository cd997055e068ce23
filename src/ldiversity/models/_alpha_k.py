"""(alpha,k)-anonymity: classes of at least k records in which no value has more than a share alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.base.checks import check_integer, check_number
from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import ClassCounts, Population
from ldiversity.models._exact import as_written, at_most
from ldiversity.models._measured import Figures, Measured

__all__ = ["AlphaK"]


@dataclass(frozen=True)
class AlphaK(PrivacyModel):
    """Every class has at least `k` records, and no value has more than the share `alpha` of them.

    Reached is the share of the most frequent value; infinite for a class of fewer than k records, which satisfies no
    alpha.

    Parameters
    ----------
    alpha
        Greater than 0 and at most 1.
    k
        At least 1.

    Notes
    -----
    Monotone: sizes add up, and the share of a value in a merged class lies between its shares in the two.

    References
    ----------
    Wong, Li, Fu and Wang, "(alpha, k)-anonymity", 2006; here alpha bounds every value, not one of them.

    Examples
    --------
    >>> from ldiversity.schema import Domain
    >>> everyone = Population(Domain(("flu", "cut")), np.array([5, 5]))
    >>> AlphaK(alpha=0.5, k=3).holds(np.array([[2, 2], [2, 1], [1, 1]]), everyone).tolist()
    [True, False, False]
    """

    name: ClassVar[str] = "alpha-k"
    monotone: ClassVar[bool] = True
    only_counts: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    scale: ClassVar[str] = "alpha"
    example: ClassVar[str] = "alpha-k:0.5:5"
    probes: ClassVar[tuple[tuple[Any, ...], ...]] = ((1.0, 1),)
    not_of_sets: ClassVar[str] = (
        "In a release of sets, k is about records that look alike and alpha about the values of one set: ask for "
        "k-anonymity and frequency instead."
    )
    measured: ClassVar[Measured] = Measured(
        "alpha_k", "the greatest share of one value in a class (alpha), together with the smallest class (k)"
    )

    alpha: float
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_number("AlphaK", "alpha", self.alpha, minimum=0, maximum=1, above=0))
        object.__setattr__(self, "k", check_integer("AlphaK", "k", self.k, minimum=1))

    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:  # noqa: ARG002 - the class alone decides
        """The share of the most frequent value; infinite below k records."""
        sizes = counts.sum(axis=1)
        reached: FloatArray = np.where(sizes >= self.k, counts.max(axis=1) / sizes, np.inf)
        return reached

    def overall(self, classes: ClassCounts, smallest: int) -> Figures:
        """Both parameters that the classes reach."""
        largest = np.maximum.reduceat(classes.counts, classes.starts[:-1]) if classes.n_classes else classes.counts
        return {"alpha": float((largest / classes.sizes).max(initial=0.0)), "k": smallest}

    def of_all(self, figures: Sequence[Figures]) -> Figures:
        """The greatest share, and the smallest class."""
        by_name = [one for one in figures if isinstance(one, Mapping)]
        return {"alpha": max(one["alpha"] for one in by_name), "k": min(one["k"] for one in by_name)}

    def worst_of(self, figures: Sequence[Figures]) -> Figures:
        """Of the attribute with the greatest share."""
        return max((one for one in figures if isinstance(one, Mapping)), key=lambda one: one["alpha"])

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:  # noqa: ARG002 - the class alone decides
        """Whether there are k records and no value has too many of them."""
        sizes = counts.sum(axis=1)
        holds: BoolArray = (sizes >= self.k) & at_most(counts.max(axis=1), as_written(self.alpha), sizes)
        return holds

    @property
    def posterior(self) -> float:
        """Alpha."""
        return self.alpha

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return (
            f"Every class has at least {self.k} records, and no value of {attribute!r} belongs to more than "
            f"{self.alpha:.6g} of them."
        )
