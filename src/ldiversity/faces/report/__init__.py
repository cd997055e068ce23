"""Pages about a table or a release, for the data holder and the data user."""

from ldiversity.faces.report._committee import TEMPLATE as COMMITTEE_TEMPLATE
from ldiversity.faces.report._committee import Committee
from ldiversity.faces.report._describe import ColumnDescription, Description, Frequency, Reach, describe, told_apart
from ldiversity.faces.report._make import ReportChoices, holder_report, user_report
from ldiversity.faces.report._notebook import fragment as notebook_page
from ldiversity.faces.report._report import Report, audience_of

__all__ = [
    "COMMITTEE_TEMPLATE",
    "ColumnDescription",
    "Committee",
    "Description",
    "Frequency",
    "Reach",
    "Report",
    "ReportChoices",
    "audience_of",
    "describe",
    "holder_report",
    "notebook_page",
    "told_apart",
    "user_report",
]
