"""The estimators by name."""

from __future__ import annotations

from typing import Final

from ldiversity.base.registry import Registry
from ldiversity.entries import ENTRIES
from ldiversity.estimation._base import Estimator
from ldiversity.estimation._class_estimators import ClassEstimator

__all__ = ["CLASS_ESTIMATORS", "ESTIMATORS"]

ESTIMATORS: Final = Registry[type[Estimator]]("estimators", ENTRIES["estimators"])
"""Every estimator of sets, by the name under which users ask for it."""

CLASS_ESTIMATORS: Final = Registry[type[ClassEstimator]]("class_estimators", ENTRIES["class_estimators"])
"""Every estimator of grouped releases, by the name under which users ask for it."""
