"""Attacks by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ldiversity.attacks._background import BackgroundKnowledge
from ldiversity.attacks._base import Attack
from ldiversity.attacks._definetti import DeFinetti
from ldiversity.attacks._homogeneity import Homogeneity
from ldiversity.attacks._joint import JointAttributes
from ldiversity.attacks._mechanism import MechanismAware
from ldiversity.attacks._minimality import Minimality
from ldiversity.attacks._order import OrderLinkage
from ldiversity.attacks._similarity import Similarity
from ldiversity.attacks._skewness import Skewness
from ldiversity.attacks._two_releases import Composition, Intersection

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
