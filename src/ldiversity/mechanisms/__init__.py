"""Set mechanisms: public rules that hide a true value in a set, one file per kind, and a registry by name."""

from __future__ import annotations

from ldiversity.mechanisms._arguments import check_prior, check_sample, described_integer, described_number
from ldiversity.mechanisms._balanced import BalancedSelection
from ldiversity.mechanisms._base import CONDITION_LIMIT, SINGULAR_CONDITION, SetMechanism
from ldiversity.mechanisms._classes import ClassMechanism
from ldiversity.mechanisms._compatibility import Compatibility
from ldiversity.mechanisms._enumerated import distinct_rows
from ldiversity.mechanisms._epsilon import EpsilonSelection, check_epsilon
from ldiversity.mechanisms._minmax import MinMaxSelection
from ldiversity.mechanisms._nearest import nearest_feasible
from ldiversity.mechanisms._partitions import Partitions
from ldiversity.mechanisms._registry import MECHANISMS, mechanism_from_dict
from ldiversity.mechanisms._ring import RingLeak, RingSelection
from ldiversity.mechanisms._simple import SimpleSelection
from ldiversity.mechanisms._uniform import UniformSelection
from ldiversity.mechanisms._violation import Violation

__all__ = [
    "CONDITION_LIMIT",
    "MECHANISMS",
    "SINGULAR_CONDITION",
    "BalancedSelection",
    "ClassMechanism",
    "Compatibility",
    "EpsilonSelection",
    "MinMaxSelection",
    "Partitions",
    "RingLeak",
    "RingSelection",
    "SetMechanism",
    "SimpleSelection",
    "UniformSelection",
    "Violation",
    "check_epsilon",
    "check_prior",
    "check_sample",
    "described_integer",
    "described_number",
    "distinct_rows",
    "mechanism_from_dict",
    "nearest_feasible",
]
