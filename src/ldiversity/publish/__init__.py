"""The data holder's side: the way from a table to a release."""

from ldiversity.base.findings import Confirmed, Finding
from ldiversity.publish._anonymize import anonymize, plan
from ldiversity.publish._check import Checked
from ldiversity.publish._coarse import check_levels
from ldiversity.publish._columns_said import ColumnDecisions, Columns
from ldiversity.publish._draw import draw_sets
from ldiversity.publish._grids import GivenGrid
from ldiversity.publish._hierarchies import is_made, read_hierarchies
from ldiversity.publish._levels import Level
from ldiversity.publish._method import ChosenMethod, method_words
from ldiversity.publish._plan_result import (
    AttributePlan,
    ClassAttributePlan,
    ClassOutlook,
    ClassPlan,
    Outlook,
    Plan,
    UniformViolation,
)
from ldiversity.publish._policy import Policy
from ldiversity.publish._publication import Decisions, Publication
from ldiversity.publish._screening import check_confirm
from ldiversity.publish._typed import TypedColumns, TypedPublication, typed_columns, typed_options, typed_publication
from ldiversity.publish._uniqueness import ColumnUniqueness, LevelUniqueness, count_unique

__all__ = [
    "AttributePlan",
    "Checked",
    "ChosenMethod",
    "ClassAttributePlan",
    "ClassOutlook",
    "ClassPlan",
    "ColumnDecisions",
    "ColumnUniqueness",
    "Columns",
    "Confirmed",
    "Decisions",
    "Finding",
    "GivenGrid",
    "Level",
    "LevelUniqueness",
    "Outlook",
    "Plan",
    "Policy",
    "Publication",
    "TypedColumns",
    "TypedPublication",
    "UniformViolation",
    "anonymize",
    "check_confirm",
    "check_levels",
    "count_unique",
    "draw_sets",
    "is_made",
    "method_words",
    "plan",
    "read_hierarchies",
    "typed_columns",
    "typed_options",
    "typed_publication",
]
