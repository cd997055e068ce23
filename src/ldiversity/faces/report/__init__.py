"""Pages about a table or a release, for the data holder and the data user."""

from ldiversity.faces.report._describe import ColumnDescription, Description, Reach, describe
from ldiversity.faces.report._estimates import draw_estimate, label_text, value_name
from ldiversity.faces.report._notebook import fragment as notebook_page
from ldiversity.faces.report._notebook import save as save_picture
from ldiversity.faces.report._report import Report, holder_report, user_report

__all__ = [
    "ColumnDescription",
    "Description",
    "Reach",
    "Report",
    "describe",
    "draw_estimate",
    "holder_report",
    "label_text",
    "notebook_page",
    "save_picture",
    "user_report",
    "value_name",
]
