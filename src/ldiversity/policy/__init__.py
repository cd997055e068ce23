"""Publications as reviewed files."""

from __future__ import annotations

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
    "BinsPolicy",
    "KeyPolicy",
    "MethodPolicy",
    "OutputPolicy",
    "Policy",
    "SensitivePolicy",
    "TablePolicy",
]
