"""A comparison as a fragment of HTML: recommendation, map, tables. Names from the data are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ldiversity.base.html import bullets, escape, table
from ldiversity.evaluation.compare._result import HOLDER_ONLY
from ldiversity.evaluation.compare._table import (
    ASSOCIATION,
    LEGEND,
    TextTable,
    association_table,
    exposure_table,
    failures,
    figures_table,
)

if TYPE_CHECKING:
    from ldiversity.evaluation.compare._result import Comparison

__all__ = ["fragment"]


def fragment(comparison: Comparison) -> str:
    """Make the fragment; it needs no other file, no network and no script."""
    line = comparison.command_line
    command = "" if line is None else f"<p><code>{escape(line)}</code></p>"
    return (
        f'<p style="color:#a40000;font-weight:600">{escape(HOLDER_ONLY)}</p>'
        f"<p><strong>{escape(comparison.recommendation)}</strong></p>{_listed('', comparison.cautions)}"
        f"{command}{_picture(comparison)}{_table(figures_table(comparison))}<p>{escape(LEGEND)}</p>"
        f"{_table(association_table(comparison))}<p>{escape(ASSOCIATION)}</p>"
        f"{_table(exposure_table(comparison))}{_listed('Not possible here', failures(comparison))}"
        f"{_listed('Notes', comparison.notes)}"
    )


def _picture(comparison: Comparison) -> str:
    if not any(run.measured for run in comparison.rows):
        return ""
    from ldiversity.pictures import embedded_picture

    return embedded_picture(comparison.figure(), comparison.alt)


def _table(texts: TextTable) -> str:
    return table(texts.heads, texts.rows, texts.numbers) if texts.rows else ""


def _listed(title: str, texts: Sequence[str]) -> str:
    head = f"<p><strong>{escape(title)}</strong></p>" if title else ""
    return head + bullets(texts) if texts else ""
