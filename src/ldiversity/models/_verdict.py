"""Whether the classes of a table satisfy a model, what they reach, and which are the worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.answers import HIDDEN, STORED, Answer, Unbounded, fact
from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.base.numbers import number
from ldiversity.models._contradicted import contradicted
from ldiversity.models._counts import ClassCounts

if TYPE_CHECKING:
    from ldiversity.models._base import PrivacyModel

__all__ = ["Verdict", "WorstClass", "judge", "together"]

_N_WORST: Final = 10


@dataclass(frozen=True)
class WorstClass:
    """One of the least private classes: how many records it has, what it reaches, and whether it passes.

    `index` is its number among the classes that were judged with it. It says nothing about the class, and is not
    compared.
    """

    index: int = field(metadata=HIDDEN, compare=False)
    size: int
    reached: Unbounded
    passed: bool


@dataclass(frozen=True, repr=False)
class Verdict(Answer, schema="verdict", version=1):
    """What a model says about the classes of one sensitive attribute; no cell of the table is in it.

    Parameters
    ----------
    model
        The model.
    reached
        What the worst class reaches. Without any class: infinitely much, or 0 where less is safer.
    n_classes, n_records
        How many classes there are, and how many records in them.
    n_failing, n_records_failing
        How many of them break the rule.
    worst
        At most ten classes, the worst first; among equals the smallest.

    Examples
    --------
    >>> from ldiversity.models import DistinctDiversity, count_classes
    >>> from ldiversity.schema import Domain
    >>> classes = count_classes(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 1]), 2, Domain(("flu", "cut")))
    >>> verdict = DistinctDiversity(2).verdict(classes)
    >>> verdict.passed, verdict.reached, verdict.margin, verdict.n_failing, verdict.worst[0].size
    (False, 1.0, -1.0, 1, 3)
    """

    model: PrivacyModel = field(metadata=STORED)
    reached: Unbounded
    n_classes: int
    n_records: int
    n_failing: int
    n_records_failing: int
    worst: tuple[WorstClass, ...]

    @fact
    def passed(self) -> bool:
        """Whether every class satisfies the rule."""
        return self.n_failing == 0

    @fact
    def required(self) -> float:
        """What the model asks for, on the scale of `reached`."""
        return self.model.required

    @fact
    def margin(self) -> Unbounded:
        """How far the worst class is on the safe side of what is required; negative when it is on the other.

        At 0 it is just on the border, which a strict model does not allow.
        """
        safer, other = (self.reached, self.required) if self.model.higher_is_safer else (self.required, self.reached)
        return safer - other

    def __str__(self) -> str:
        held = "holds" if self.passed else f"does not hold in {self.n_failing:,} of {self.n_classes:,} classes"
        return (
            f"{self.model.name} {held}: the worst reaches {number(self.reached)}, required is {number(self.required)}."
        )


def judge(models: Sequence[PrivacyModel], classes: ClassCounts) -> tuple[Verdict, ...]:
    """Judge the classes by several models in one pass over their counts.

    Examples
    --------
    >>> from ldiversity.models import KAnonymity, FrequencyDiversity, count_classes
    >>> from ldiversity.schema import Domain
    >>> classes = count_classes(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 0]), 2, Domain(("flu", "cut")))
    >>> [verdict.reached for verdict in judge([KAnonymity(2), FrequencyDiversity(2)], classes)]
    [2.0, 1.5]
    """
    reached = np.empty((len(models), classes.n_classes))
    holds = np.empty((len(models), classes.n_classes), dtype=np.bool_)
    population = classes.population
    for block, counts in classes.blocks():
        for row, model in enumerate(models):
            reached[row, block] = model.reached(counts, population)
            believed = ~contradicted(model, counts, reached[row, block])
            holds[row, block] = model.holds(counts, population) & believed
    return tuple(
        _summarized(model, values, passed, classes.sizes)
        for model, values, passed in zip(models, reached, holds, strict=True)
    )


def _summarized(model: PrivacyModel, reached: FloatArray, holds: BoolArray, sizes: NDArray[np.int64]) -> Verdict:
    if not len(reached):
        return Verdict(model, float("inf") if model.higher_is_safer else 0.0, 0, 0, 0, 0, ())
    danger = reached if model.higher_is_safer else -reached
    worst = np.lexsort((sizes, danger, holds))[:_N_WORST]
    return Verdict(
        model=model,
        reached=float(reached[np.argmin(danger)]),
        n_classes=len(reached),
        n_records=int(sizes.sum()),
        n_failing=int(np.count_nonzero(~holds)),
        n_records_failing=int(sizes[~holds].sum()),
        worst=tuple(WorstClass(int(i), int(sizes[i]), float(reached[i]), bool(holds[i])) for i in worst),
    )


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on all classes, from those of one model on some of the classes each.

    Examples
    --------
    >>> from ldiversity.models import DistinctDiversity, count_classes
    >>> from ldiversity.schema import Domain
    >>> classes = count_classes(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2, Domain(("flu", "cut")))
    >>> verdict = DistinctDiversity(2).verdict(classes)
    >>> both = together([verdict, verdict])
    >>> both.reached, both.n_classes, both.n_failing, [one.passed for one in both.worst]
    (1.0, 4, 2, [False, False, True, True])
    """
    if len(verdicts) == 1:
        return verdicts[0]
    model = verdicts[0].model
    sign = 1 if model.higher_is_safer else -1
    worst = sorted(
        (one for verdict in verdicts for one in verdict.worst),
        key=lambda one: (one.passed, sign * one.reached, one.size),
    )
    return Verdict(
        model=model,
        reached=min((verdict.reached for verdict in verdicts), key=lambda reached: sign * reached),
        n_classes=sum(verdict.n_classes for verdict in verdicts),
        n_records=sum(verdict.n_records for verdict in verdicts),
        n_failing=sum(verdict.n_failing for verdict in verdicts),
        n_records_failing=sum(verdict.n_records_failing for verdict in verdicts),
        worst=tuple(worst[:_N_WORST]),
    )
