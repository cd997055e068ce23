"""Publications as reviewed files."""

from __future__ import annotations

from ldiversity.policy._hierarchies import HIERARCHY_FORMS, read_hierarchies
from ldiversity.policy._parts import (
    BinsPolicy,
    KeyPolicy,
    MethodPolicy,
    OutputPolicy,
    SensitivePolicy,
    TablePolicy,
)
from ldiversity.policy._policy import Policy

__all__ = [
    "HIERARCHY_FORMS",
    "BinsPolicy",
    "KeyPolicy",
    "MethodPolicy",
    "OutputPolicy",
    "Policy",
    "SensitivePolicy",
    "TablePolicy",
    "read_hierarchies",
]
