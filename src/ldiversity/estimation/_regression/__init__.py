"""Regression of sensitive attributes on published columns, from published sets."""

from __future__ import annotations

from ldiversity.estimation._regression._answer import Coefficient, Regression
from ldiversity.estimation._regression._draws import draw_coefficients, outcome_of
from ldiversity.estimation._regression._regress import regress

__all__ = ["Coefficient", "Regression", "draw_coefficients", "outcome_of", "regress"]
