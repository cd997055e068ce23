"""Summaries for the data holder, and pictures of estimates, mechanisms and plans."""

from ldiversity.report._class_outlook import ClassAttributePlan, ClassOutlook, ClassPlan
from ldiversity.report._describe import ColumnDescription, Description, Reach, describe
from ldiversity.report._estimates import draw_estimate, label_text, value_name
from ldiversity.report._figures import save_figure
from ldiversity.report._map import plot_map
from ldiversity.report._outlook import AttributePlan, Outlook, Plan
from ldiversity.report._plan import plan
from ldiversity.report._plots import plot_estimate, plot_inclusion, plot_plan
from ldiversity.report._report import Report, holder_report, user_report
from ldiversity.report._report_svg import embedded_picture

__all__ = [
    "AttributePlan",
    "ClassAttributePlan",
    "ClassOutlook",
    "ClassPlan",
    "ColumnDescription",
    "Description",
    "Outlook",
    "Plan",
    "Reach",
    "Report",
    "describe",
    "draw_estimate",
    "embedded_picture",
    "holder_report",
    "label_text",
    "plan",
    "plot_estimate",
    "plot_inclusion",
    "plot_map",
    "plot_plan",
    "save_figure",
    "user_report",
    "value_name",
]
