"""The data user's side: from a release alone to the distribution of the sensitive values, with error bars."""

from __future__ import annotations

from ldiversity.estimation._base import Estimator, Solution
from ldiversity.estimation._by import By, bins, groups
from ldiversity.estimation._by_text import parse_by
from ldiversity.estimation._cells import CellData
from ldiversity.estimation._class_estimators import CLASS_ESTIMATORS, ClassEstimator
from ldiversity.estimation._estimate import estimate
from ldiversity.estimation._registry import ESTIMATORS
from ldiversity.estimation._result import Estimate
from ldiversity.estimation._where import Filter, parse_where

__all__ = [
    "CLASS_ESTIMATORS",
    "ESTIMATORS",
    "By",
    "CellData",
    "ClassEstimator",
    "Estimate",
    "Estimator",
    "Filter",
    "Solution",
    "bins",
    "estimate",
    "groups",
    "parse_by",
    "parse_where",
]
