"""Balanced weights, whichever way suits the graph."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ldiversity._types import FloatArray
from ldiversity.mechanisms._balanced_chain import ChainWeights
from ldiversity.mechanisms._balanced_listed import ListedWeights
from ldiversity.mechanisms._base import SINGULAR_CONDITION
from ldiversity.mechanisms._chain import Chain
from ldiversity.mechanisms._compatibility import Compatibility

__all__ = ["Weights", "fit_weights", "weights_kind"]

Weights: TypeAlias = ChainWeights | ListedWeights


def weights_kind(compatibility: Compatibility) -> type[ChainWeights | ListedWeights]:
    """Choose by the structure of the graph."""
    return ListedWeights if compatibility.structure == "general" else ChainWeights


def fit_weights(compatibility: Compatibility, l: int, targets: FloatArray) -> Weights | None:
    """Find maximum-entropy weights whose sums over each value's sets are `targets`, with an invertible Q.

    Parameters
    ----------
    compatibility, l
        The valid sets.
    targets
        Wanted sums, all positive; ones, or F times a prior.

    Returns
    -------
    weights
        None when there are none, or Q is singular. Weights of zero never occur: where some valid set must have
        none, Q is singular.

    Raises
    ------
    UnsupportedError
        When the graph has no structure and too many valid sets.
    """
    chain = Chain.of(compatibility)
    if chain is not None and not chain.has_slack(targets, l):
        return None
    weights = weights_kind(compatibility).fit(compatibility, l, targets)
    if weights is None:
        return None
    inclusion = weights.pairs / targets[:, None]
    return weights if float(np.linalg.cond(inclusion)) <= SINGULAR_CONDITION else None
