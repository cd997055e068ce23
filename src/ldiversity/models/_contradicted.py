"""Whether a model's own figures agree with what it says: models of other packages are taken at nobody's word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.models._counts import ClassCounts

if TYPE_CHECKING:
    from ldiversity.models._base import PrivacyModel

__all__ = ["contradicted", "failing_and_contradicted"]

_NOTHING: Final = 1e-12


def contradicted(model: PrivacyModel, counts: NDArray[np.int64], reached: FloatArray) -> BoolArray:
    """Shape (classes,): where a value has a greater share than `posterior`, or `reached` is not what is required.

    Where `holds` says yes, neither may be. Shares of up to a billion records are told apart; a class that is at the
    border of what is required but for rounding contradicts nothing.

    Examples
    --------
    >>> from ldiversity.models import FrequencyDiversity
    >>> counts = np.array([[1, 1, 1], [2, 1, 0]])
    >>> contradicted(FrequencyDiversity(3), counts, np.array([3.0, 3.0])).tolist()
    [False, True]
    >>> contradicted(FrequencyDiversity(3), counts[:1], np.array([2.0])).tolist()
    [True]
    """
    slack = model.rounding * abs(model.required) + _NOTHING
    beyond: BoolArray = reached < model.required - slack if model.higher_is_safer else reached > model.required + slack
    beyond = beyond | np.isnan(reached)
    if model.posterior < 1:
        most = counts.sum(axis=1) * model.posterior * (1 + model.rounding)
        beyond |= counts.max(axis=1) > most
    return beyond


def failing_and_contradicted(model: PrivacyModel, classes: ClassCounts) -> tuple[int, int]:
    """How many classes break the rule, and how many satisfy it only by the model's word."""
    failing = alone = 0
    for _, counts in classes.blocks():
        holds = model.holds(counts, classes.population)
        failing += int(np.count_nonzero(~holds))
        reached = model.reached(counts, classes.population)
        alone += int(np.count_nonzero(holds & contradicted(model, counts, reached)))
    return failing, alone
