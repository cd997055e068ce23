"""The data holder's side: the way from a table to a release."""

from ldiversity.publish._class_plan_result import ClassAttributePlan, ClassOutlook, ClassPlan
from ldiversity.publish._draw import draw_sets
from ldiversity.publish._hierarchies import is_made, read_hierarchies
from ldiversity.publish._pipeline import anonymize
from ldiversity.publish._plan import plan
from ldiversity.publish._plan_result import AttributePlan, Outlook, Plan
from ldiversity.publish._policy import Policy
from ldiversity.publish._prepare import GroupPreparation, Preparation, prepare, prepare_groups

__all__ = [
    "AttributePlan",
    "ClassAttributePlan",
    "ClassOutlook",
    "ClassPlan",
    "GroupPreparation",
    "Outlook",
    "Plan",
    "Policy",
    "Preparation",
    "anonymize",
    "draw_sets",
    "is_made",
    "plan",
    "prepare",
    "prepare_groups",
    "read_hierarchies",
]
