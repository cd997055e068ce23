"""A comparison as a fragment of HTML: recommendation, map, table. Names from the data are escaped."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from ldiversity.auditing._html_parts import escape
from ldiversity.comparison._result import HOLDER_ONLY

if TYPE_CHECKING:
    from ldiversity.comparison._result import Comparison

__all__ = ["fragment"]

_HEADS = ("run", "risk", "attack", "success", "promised", "guessing", "query error", "NCP", "left out", "CPU s", "")


def fragment(comparison: Comparison) -> str:
    """Make the fragment; it needs no other file, no network and no script."""
    facts = comparison.to_dict()
    command = "" if facts["command"] is None else f"<p><code>{escape(shlex.join(facts['command']))}</code></p>"
    cautions = "".join(f"<li>{escape(text)}</li>" for text in facts["cautions"])
    return (
        f'<p style="color:#a40000;font-weight:600">{escape(HOLDER_ONLY)}</p>'
        f"<p><strong>{escape(facts['recommendation'])}</strong></p>{f'<ul>{cautions}</ul>' if cautions else ''}"
        f"{command}{_picture(comparison)}{_table(facts)}"
    )


def _picture(comparison: Comparison) -> str:
    if not any(run.measured for run in comparison.rows):
        return ""
    from ldiversity.report import embedded_picture

    return embedded_picture(comparison.figure(), comparison.alt)


def _table(facts: dict[str, Any]) -> str:
    head = "".join(f"<th>{name}</th>" for name in _HEADS)
    body = "".join(_row(row) for row in facts["rows"])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(row: dict[str, Any]) -> str:
    if row["reason"] is not None:
        rest = f'<td colspan="{len(_HEADS) - 1}">{escape(row["reason"])}</td>'
        return f"<tr><td>{escape(row['label'])}</td>{rest}</tr>"
    best: dict[str, Any] = next((one for one in row["attacks"] if one["attack"] == row["best_attack"]), {})
    mark = "recommended" if row["recommended"] else "not beaten" if row["pareto"] else ""
    shares = [best.get("success"), best.get("claim"), best.get("baseline"), row["relative_error"], row["ncp"]]
    cells = [
        _percent(row["risk"]),
        row["best_attack"] or "-",
        *map(_percent, [*shares, row["suppression"]]),
        "-" if row["cpu_seconds"] is None else f"{row['cpu_seconds']:.2f}",
        mark,
    ]
    return f"<tr><td>{escape(row['label'])}</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.3g} %"
