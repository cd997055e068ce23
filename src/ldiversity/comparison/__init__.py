"""Several methods on one table: which one to publish."""

from __future__ import annotations

from ldiversity.comparison._choice import Choice, choose, pareto_set
from ldiversity.comparison._compare import compare
from ldiversity.comparison._result import Comparison
from ldiversity.comparison._run import ComparedRun
from ldiversity.comparison._setting import DEFAULT_ATTACKS

__all__ = ["DEFAULT_ATTACKS", "Choice", "ComparedRun", "Comparison", "choose", "compare", "pareto_set"]
