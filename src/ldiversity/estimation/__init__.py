"""The data user's side: from a release alone to the distribution of the sensitive values, with error bars."""

from __future__ import annotations

from ldiversity.estimation._association import Association, association
from ldiversity.estimation._base import CautiousEstimator, Estimator, MatrixEstimator, Solution
from ldiversity.estimation._by import BinnedColumn, By, ByLike, GroupedColumn, PlainColumn, as_by, bins, groups
from ldiversity.estimation._by_text import parse_by, read_by
from ldiversity.estimation._calendar import CalendarColumn
from ldiversity.estimation._cells import CellData
from ldiversity.estimation._class_cells import ClassCells
from ldiversity.estimation._class_estimators import ClassEstimator, ClassSolution
from ldiversity.estimation._coarse import true_cells
from ldiversity.estimation._combine import Combined, CombinedFigure, combine
from ldiversity.estimation._errors import Asked, Errors
from ldiversity.estimation._estimate import estimate
from ldiversity.estimation._exchange import Exchange
from ldiversity.estimation._impute import draw_values
from ldiversity.estimation._likelihood import global_marginal
from ldiversity.estimation._matrix_estimators import Paper
from ldiversity.estimation._quantity import Quantity
from ldiversity.estimation._registry import CLASS_ESTIMATORS, ESTIMATORS
from ldiversity.estimation._regression import Coefficient, Regression, regress
from ldiversity.estimation._result import Estimate, EstimatedCell, EstimatedValue
from ldiversity.estimation._set_estimators import LikelihoodEstimator
from ldiversity.estimation._trend import Trend, trend
from ldiversity.estimation._where import Filter, parse_where

__all__ = [
    "CLASS_ESTIMATORS",
    "ESTIMATORS",
    "Asked",
    "Association",
    "BinnedColumn",
    "By",
    "ByLike",
    "CalendarColumn",
    "CautiousEstimator",
    "CellData",
    "ClassCells",
    "ClassEstimator",
    "ClassSolution",
    "Coefficient",
    "Combined",
    "CombinedFigure",
    "Errors",
    "Estimate",
    "EstimatedCell",
    "EstimatedValue",
    "Estimator",
    "Exchange",
    "Filter",
    "GroupedColumn",
    "LikelihoodEstimator",
    "MatrixEstimator",
    "Paper",
    "PlainColumn",
    "Quantity",
    "Regression",
    "Solution",
    "Trend",
    "as_by",
    "association",
    "bins",
    "combine",
    "draw_values",
    "estimate",
    "global_marginal",
    "groups",
    "parse_by",
    "parse_where",
    "read_by",
    "regress",
    "trend",
    "true_cells",
]
