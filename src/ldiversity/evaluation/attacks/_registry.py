"""Attacks by name."""

from __future__ import annotations

from typing import Final

from ldiversity.base.registry import Registry
from ldiversity.entries import ENTRIES
from ldiversity.evaluation.attacks._base import AnyAttack

__all__ = ["ATTACKS"]

ATTACKS: Final = Registry[type[AnyAttack]]("attacks", ENTRIES["attacks"])
"""Every attack by the name under which users ask for it."""
