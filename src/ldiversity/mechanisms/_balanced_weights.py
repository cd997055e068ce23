"""Balanced weights, computed in the way that suits the graph."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ldiversity.base.arrays import FloatArray
from ldiversity.errors import InternalError
from ldiversity.mechanisms._balanced_chain import ChainWeights
from ldiversity.mechanisms._balanced_listed import ListedWeights
from ldiversity.mechanisms._base import FITTED_CONDITION
from ldiversity.mechanisms._compatibility import Compatibility
from ldiversity.mechanisms._feasibility import balance_verdict

__all__ = ["Weights", "fit_weights", "weights_kind"]

Weights: TypeAlias = ChainWeights | ListedWeights


def weights_kind(compatibility: Compatibility) -> type[ChainWeights | ListedWeights]:
    """Choose the class by the structure of the graph."""
    return ListedWeights if compatibility.structure == "general" else ChainWeights


def fit_weights(compatibility: Compatibility, l: int, targets: FloatArray) -> Weights | None:
    """Find maximum-entropy weights whose sums over each value's sets are `targets`, with an invertible Q.

    The targets are positive: ones, or F times a prior. Returns None if there are no such weights, or Q is singular.
    Weights of zero never occur: if some valid set needs weight zero, Q is singular.

    Raises
    ------
    UnsupportedError
        When the graph has no structure and too many valid sets.
    InternalError
        When there are such weights, and they were not found.
    """
    if balance_verdict(compatibility, l, targets) != "balanced":
        return None
    weights = weights_kind(compatibility).fit(compatibility, l, targets)
    if weights is None:
        raise InternalError(
            "BalancedSelection", "balanced weights exist for this goal, but the calibration did not find them"
        ).with_hint("Use a smaller l or d, or leave out the prior; and please report the goal and the domain.")
    inclusion = weights.pairs / targets[:, None]
    return weights if float(np.linalg.cond(inclusion)) <= FITTED_CONDITION else None
