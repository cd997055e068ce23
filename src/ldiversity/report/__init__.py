"""Summaries for the data holder, and pictures of estimates, mechanisms and plans."""

from ldiversity.report._describe import ColumnDescription, Description, Reach, describe
from ldiversity.report._figures import save_figure
from ldiversity.report._outlook import AttributePlan, Outlook, Plan
from ldiversity.report._plan import plan
from ldiversity.report._plots import plot_estimate, plot_inclusion, plot_plan

__all__ = [
    "AttributePlan",
    "ColumnDescription",
    "Description",
    "Outlook",
    "Plan",
    "Reach",
    "describe",
    "plan",
    "plot_estimate",
    "plot_inclusion",
    "plot_plan",
    "save_figure",
]
