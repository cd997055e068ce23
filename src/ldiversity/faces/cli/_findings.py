"""What was found about a table before it is published, as a command says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ldiversity.base.findings import Finding
from ldiversity.faces.cli._show import Page
from ldiversity.faces.cli._words import in_words

__all__ = ["finding_in_words", "show_findings"]


def finding_in_words(finding: Finding) -> Finding:
    """The same, with the options of the command line in its sentences."""
    return replace(finding, text=in_words(finding.text), remedy=in_words(finding.remedy))


def show_findings(findings: Sequence[Finding], page: Page) -> None:
    """Show what would be given away, what blocks first."""
    if not findings:
        return
    page.title("What the table would give away")
    for one in findings:
        if one.blocking:
            page.warning(f"Refused: {one}")
        else:
            page.bullet(str(one))
