"""An audit as HTML: no scripts, nothing loaded from elsewhere, every text escaped."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

__all__ = ["fragment", "page"]

_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .75rem;border-bottom:1px solid #ccc;"
    "text-align:left}td.n{text-align:right;font-variant-numeric:tabular-nums}.bad{color:#a40000;font-weight:600}"
    ".good{color:#1a5e1a;font-weight:600}code{background:#f2f2f2;padding:.1rem .3rem}"
)


def page(facts: Mapping[str, Any]) -> str:
    """A whole page.

    Parameters
    ----------
    facts
        What `Audit.to_dict` gives.
    """
    title = f"Audit of {escape(facts['name'])}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n<body><h1>{title}</h1>\n"
        f"{fragment(facts)}\n{_risks(facts)}\n{_attributes(facts)}\n{_notes(facts)}</body></html>\n"
    )


def fragment(facts: Mapping[str, Any]) -> str:
    """The verdict, the first thing to do, and the table of models."""
    return f"{_verdict(facts)}\n{_advice(facts)}\n{_models(facts)}"


def _verdict(facts: Mapping[str, Any]) -> str:
    mark = {
        True: '<p class="good">What was asked for holds.</p>',
        False: '<p class="bad">What was asked for fails.</p>',
    }
    return mark.get(facts["passed"], "") + _list(facts["verdict"])


def _advice(facts: Mapping[str, Any]) -> str:
    advice = facts["advice"]
    command = "" if advice["command"] is None else f"<br><code>{escape(shlex.join(advice['command']))}</code>"
    return f"<p><strong>First:</strong> {escape(advice['text'])}{command}</p>"


def _models(facts: Mapping[str, Any]) -> str:
    rows = [
        [
            name,
            _shown(one["value"]),
            {True: "holds", False: "fails", None: ""}[one["passed"]],
            one["why"] or one["meaning"],
        ]
        for name, one in facts["models"].items()
    ]
    return _table(["model", "reached", "asked", "meaning"], rows, numbers={1})


def _risks(facts: Mapping[str, Any]) -> str:
    risk, classes = facts["risk"], facts["classes"]
    rows = [
        [name, _shown(risk[name].get("max")), _shown(risk[name]["mean"]), _shown(risk[name].get("records_above"))]
        for name in ("prosecutor", "journalist", "marketer")
    ]
    heads = ["attacker", "greatest", "mean", f"records above {risk['threshold']:g}"]
    sizes = _table(
        ["records in a class", "classes"], [[k, _shown(v)] for k, v in classes["sizes"].items()], numbers={1}
    )
    return f"<h2>Recognizing people</h2>{_table(heads, rows, numbers={1, 2, 3})}{sizes}"


def _attributes(facts: Mapping[str, Any]) -> str:
    parts = []
    for name, risk in facts["attribute_risk"].items():
        rows = [
            ["can be read off", _shown(risk["records_read_off"])],
            ["likeliest value at least 90 %", _shown(risk["records_at_least_90"])],
            ["likeliest value at least 50 %", _shown(risk["records_at_least_50"])],
        ]
        parts.append(f"<h2>Learning {escape(name)}</h2>{_table(['people', 'number'], rows, numbers={1})}")
    return "\n".join(parts)


def _notes(facts: Mapping[str, Any]) -> str:
    return f"<h2>Notes</h2>{_list(facts['notes'])}" if facts["notes"] else ""


def _list(texts: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: set[int]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>"
        + "".join(f"<td{' class=n' if place in numbers else ''}>{escape(cell)}</td>" for place, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(value: Any) -> str:  # noqa: ANN401 - a number, or numbers by name
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_shown(number)}" for name, number in list(value.items())[:3])
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
