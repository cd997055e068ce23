"""Attacks on releases, each with stated knowledge, scored against the claim and against guessing."""

from __future__ import annotations

from ldiversity.evaluation.attacks._attack import attack, attack_each
from ldiversity.evaluation.attacks._attack_table import attack_table
from ldiversity.evaluation.attacks._background import BackgroundKnowledge
from ldiversity.evaluation.attacks._base import AnyAttack, Attack, AttackResult, Beliefs, Criterion, Knowledge, Targets
from ldiversity.evaluation.attacks._definetti import DeFinetti
from ldiversity.evaluation.attacks._downcoding import Downcoding
from ldiversity.evaluation.attacks._extremes import Extremes
from ldiversity.evaluation.attacks._homogeneity import Homogeneity
from ldiversity.evaluation.attacks._inference import Inference
from ldiversity.evaluation.attacks._joint import JointAttributes
from ldiversity.evaluation.attacks._linkability import Linkability
from ldiversity.evaluation.attacks._mechanism import MechanismAware
from ldiversity.evaluation.attacks._memory import memory_table
from ldiversity.evaluation.attacks._minimality import Minimality
from ldiversity.evaluation.attacks._order import OrderLinkage
from ldiversity.evaluation.attacks._outside import FaultyAttackError
from ldiversity.evaluation.attacks._registry import ATTACKS
from ldiversity.evaluation.attacks._report import AttackReport
from ldiversity.evaluation.attacks._risk import PrivacyRisk, Rate
from ldiversity.evaluation.attacks._risk_attack import RiskAttack
from ldiversity.evaluation.attacks._score import CERTAIN
from ldiversity.evaluation.attacks._several_rows import SeveralRows
from ldiversity.evaluation.attacks._shown import People, Shown, draw_people
from ldiversity.evaluation.attacks._similarity import Similarity
from ldiversity.evaluation.attacks._singling_out import SinglingOut
from ldiversity.evaluation.attacks._skewness import Skewness
from ldiversity.evaluation.attacks._two_releases import Changes, Composition, Intersection

__all__ = [
    "ATTACKS",
    "CERTAIN",
    "AnyAttack",
    "Attack",
    "AttackReport",
    "AttackResult",
    "BackgroundKnowledge",
    "Beliefs",
    "Changes",
    "Composition",
    "Criterion",
    "DeFinetti",
    "Downcoding",
    "Extremes",
    "FaultyAttackError",
    "Homogeneity",
    "Inference",
    "Intersection",
    "JointAttributes",
    "Knowledge",
    "Linkability",
    "MechanismAware",
    "Minimality",
    "OrderLinkage",
    "People",
    "PrivacyRisk",
    "Rate",
    "RiskAttack",
    "SeveralRows",
    "Shown",
    "Similarity",
    "SinglingOut",
    "Skewness",
    "Targets",
    "attack",
    "attack_each",
    "attack_table",
    "draw_people",
    "memory_table",
]
