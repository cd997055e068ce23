"""Attacks on releases, each with stated knowledge, scored against the claim and against guessing."""

from __future__ import annotations

from ldiversity.attacks._attack import attack
from ldiversity.attacks._background import BackgroundKnowledge
from ldiversity.attacks._base import Attack, AttackResult, Beliefs, Targets
from ldiversity.attacks._definetti import DeFinetti
from ldiversity.attacks._homogeneity import Homogeneity
from ldiversity.attacks._joint import JointAttributes
from ldiversity.attacks._mechanism import MechanismAware
from ldiversity.attacks._minimality import Minimality
from ldiversity.attacks._order import OrderLinkage
from ldiversity.attacks._registry import ATTACKS
from ldiversity.attacks._report import AttackReport
from ldiversity.attacks._similarity import Similarity
from ldiversity.attacks._skewness import Skewness
from ldiversity.attacks._two_releases import Composition, Intersection

__all__ = [
    "ATTACKS",
    "Attack",
    "AttackReport",
    "AttackResult",
    "BackgroundKnowledge",
    "Beliefs",
    "Composition",
    "DeFinetti",
    "Homogeneity",
    "Intersection",
    "JointAttributes",
    "MechanismAware",
    "Minimality",
    "OrderLinkage",
    "Similarity",
    "Skewness",
    "Targets",
    "attack",
]
