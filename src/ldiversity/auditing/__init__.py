"""What a table gives away: every model in one pass, risks, and a verdict in plain words."""

from __future__ import annotations

from ldiversity.auditing._advice import Advice
from ldiversity.auditing._audit import audit, check
from ldiversity.auditing._classes import CountedTable, count_table
from ldiversity.auditing._figures import Asked, Figure, figure_name
from ldiversity.auditing._result import Audit

__all__ = ["Advice", "Asked", "Audit", "CountedTable", "Figure", "audit", "check", "count_table", "figure_name"]
