"""Attacks by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ldiversity.evaluation.attacks._background import BackgroundKnowledge
from ldiversity.evaluation.attacks._base import Attack
from ldiversity.evaluation.attacks._definetti import DeFinetti
from ldiversity.evaluation.attacks._homogeneity import Homogeneity
from ldiversity.evaluation.attacks._joint import JointAttributes
from ldiversity.evaluation.attacks._mechanism import MechanismAware
from ldiversity.evaluation.attacks._minimality import Minimality
from ldiversity.evaluation.attacks._order import OrderLinkage
from ldiversity.evaluation.attacks._similarity import Similarity
from ldiversity.evaluation.attacks._skewness import Skewness
from ldiversity.evaluation.attacks._two_releases import Composition, Intersection

__all__ = ["ATTACKS"]

ATTACKS: Final[Mapping[str, type[Attack]]] = {
    kind.name: kind
    for kind in (
        Homogeneity,
        BackgroundKnowledge,
        Similarity,
        Skewness,
        MechanismAware,
        Intersection,
        Composition,
        Minimality,
        DeFinetti,
        JointAttributes,
        OrderLinkage,
    )
}
"""Every attack by the name under which users ask for it."""
