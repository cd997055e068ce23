"""What draws by public weights have in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from ldiversity.collection.draw._base import Draw
from ldiversity.collection.draw._whole import double_text, draw_below, whole_weights

__all__ = ["WeightedDraw"]

_CLOSENESS: Final = 20_000_000
"""Members of a set are equally likely up to one part in this many: fitted weights are rounded doubles."""

_OFF_ONE: Final = 100_000_000
"""The weights of a value's sets sum to one up to one part in this many."""


class WeightedDraw(Draw):
    """A set R has the weight ``product of weights over R``; an answer's sets are drawn in proportion.

    So the set of an answer is one whole number below the total weight of the answer's sets, unranked.
    """

    keyed_by_answer: ClassVar[bool] = True

    def __init__(self, l: int, weights: Sequence[float]) -> None:
        self.l = l
        self.n_values = len(weights)
        self._weights = list(weights)
        self.whole = whole_weights(weights)

    @property
    def first_words(self) -> int:
        """Twice the words of a number below the greatest total, so that a rejected draw seldom asks again."""
        bits = max(self.total(code) for code in range(self.n_values)).bit_length()
        return 4 * -(-bits // 64)

    @abstractmethod
    def total(self, code: int) -> int:
        """The weight of all sets with this value, without its own weight."""

    @abstractmethod
    def set_at(self, code: int, rank: int) -> tuple[int, ...]:
        """The set at a rank below `total`; a set has as many ranks as its weight, without that of the answer."""

    def sample(self, code: int, words: Sequence[int]) -> tuple[int, ...] | None:
        """The set at a random rank."""
        rank = draw_below(self.total(code), words)
        return None if rank is None else self.set_at(code, rank)

    @property
    def is_balanced(self) -> bool:
        """Whether every set is equally likely from each of its members, and every value has a set.

        The probability of a set R from its member v is the weight of R over ``weight of v * total(v)``. So members are
        equally likely if these products are equal.
        """
        products = [self.whole[code] * self.total(code) for code in range(self.n_values)]
        return min(products) > 0 and (max(products) - min(products)) * _CLOSENESS <= max(products)

    @property
    def is_normalized(self) -> bool:
        """Whether the weights of the sets of each value sum to one, as a collector needs them."""
        least = min(math.frexp(weight)[1] for weight in self._weights)
        one = 1 << max(0, self.l * (53 - least))  # the whole number that stands for one
        products = [self.whole[code] * self.total(code) for code in range(self.n_values)]
        return all(abs(product - one) * _OFF_ONE <= one for product in products)

    def structure(self) -> Iterable[int | str]:
        """The weights."""
        return [double_text(weight) for weight in self._weights]
