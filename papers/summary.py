"""The summary of a rerun: one line for each figure and table, on one page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from papers.verdicts import MEANINGS

__all__ = ["markdown_text", "summary_page"]

_ABOUT: Final = (
    "[The gallery](index.md) has the pictures, the data and the reasons in full. One rule computes each verdict from "
    "where the statements held, as the last column counts it. An asterisk marks data that stand in for others, which "
    "are not public."
)
_HEAD: Final = ("exhibit", "the paper says", "here", "verdict", "why")


def summary_page(facts: Mapping[str, Any]) -> str:
    """Make the page: what the paper says, our figure, the verdict and what it follows from.

    Parameters
    ----------
    facts
        What `Rerun.to_dict` returns.
    """
    exhibits = [exhibit for study in facts["studies"] for exhibit in study["exhibits"]]
    counts = Counter(exhibit["outcome"] for exhibit in exhibits)
    told = ", ".join(f"{counts[outcome]} {outcome}" for outcome in MEANINGS if counts[outcome])
    lines = [
        "# The papers' statements, and what came out",
        "",
        f"Generated; do not edit. {len(exhibits)} figures and tables: {told}. {_ABOUT}",
        "",
        *(f"- **{outcome}**: {meaning}" for outcome, meaning in MEANINGS.items() if counts[outcome]),
        "",
    ]
    for study in facts["studies"]:
        lines += [f"## Paper {markdown_text(study['paper'])}: {markdown_text(study['title'])}", ""]
        if study["problem"] is not None:
            lines += [f"**not run** {markdown_text(study['problem'])}", ""]
        if study["exhibits"]:
            lines += [_row(_HEAD), _row("---" for _ in _HEAD), *map(_line, study["exhibits"]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _line(exhibit: Mapping[str, Any]) -> str:
    mark = "\\*" if exhibit["stand_in"] else ""
    item = markdown_text(exhibit["item"])
    shown = f"[{item}]({exhibit['files']['png']})" if exhibit["files"] else item
    figure, why = (markdown_text(exhibit[key]) for key in ("figure", "why"))
    reason = why or markdown_text(exhibit["words"])
    return _row((f"{shown}{mark}", markdown_text(exhibit["claim"]), figure, f"**{exhibit['outcome']}**", reason))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def markdown_text(text: str) -> str:
    r"""Write a text on one line, with the marks that Markdown and HTML would read escaped.

    Examples
    --------
    >>> print(markdown_text("|S| = 2, l_1"))
    \|S\| = 2, l\_1
    """
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))
