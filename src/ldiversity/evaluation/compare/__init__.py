"""Several methods on one table: which one to publish."""

from __future__ import annotations

from ldiversity.evaluation.compare._choice import Choice, choose, pareto_set
from ldiversity.evaluation.compare._compare import compare
from ldiversity.evaluation.compare._result import Comparison, JudgedRun
from ldiversity.evaluation.compare._run import ComparedAttack, ComparedRun
from ldiversity.evaluation.compare._table import (
    ASSOCIATION,
    LEGEND,
    association_table,
    exposure_table,
    failures,
    figures_table,
)

__all__ = [
    "ASSOCIATION",
    "LEGEND",
    "Choice",
    "ComparedAttack",
    "ComparedRun",
    "Comparison",
    "JudgedRun",
    "association_table",
    "choose",
    "compare",
    "exposure_table",
    "failures",
    "figures_table",
    "pareto_set",
]
