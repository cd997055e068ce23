"""An audit as HTML: no scripts, nothing loaded from elsewhere, every text escaped."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from ldiversity.base.html import bullets, document, escape, shown, table
from ldiversity.base.numbers import level, percent
from ldiversity.evaluation.audit._words import learned

__all__ = ["fragment", "page"]


def page(facts: Mapping[str, Any]) -> str:
    """A whole page.

    Parameters
    ----------
    facts
        What `Audit.to_dict` gives.
    """
    parts = (fragment(facts), _risks(facts), _attributes(facts), _notes(facts))
    return document(f"Audit of {facts['name']}", "\n".join(parts))


def fragment(facts: Mapping[str, Any]) -> str:
    """The verdict, the first thing to do, and the table of models."""
    return f"{_verdict(facts)}\n{_advice(facts)}\n{_models(facts)}"


def _verdict(facts: Mapping[str, Any]) -> str:
    mark = {
        True: '<p class="good">What was asked for holds.</p>',
        False: '<p class="bad">What was asked for fails.</p>',
    }
    return mark.get(facts["passed"], "") + bullets(facts["verdict"])


def _advice(facts: Mapping[str, Any]) -> str:
    advice = facts["advice"]
    command = "" if advice["command"] is None else f"<br><code>{escape(shlex.join(advice['command']))}</code>"
    return f"<p><strong>First:</strong> {escape(advice['text'])}{command}</p>"


def _models(facts: Mapping[str, Any]) -> str:
    rows = [
        [
            name,
            shown(one["value"]),
            {True: "holds", False: "fails", None: ""}[one["passed"]],
            one["why"] or one["meaning"],
        ]
        for name, one in facts["models"].items()
    ]
    return table(["model", "reached", "asked", "meaning"], rows, numbers={1})


def _risks(facts: Mapping[str, Any]) -> str:
    risk, classes = facts["risk"], facts["classes"]
    rows = [
        [name, percent(risk[name].get("max")), percent(risk[name]["mean"]), shown(risk[name].get("records_above"))]
        for name in ("prosecutor", "journalist", "marketer")
    ]
    heads = ["attacker", "greatest", "mean", f"records above {level(risk['threshold'])}"]
    sizes = table(["records in a class", "classes"], [[k, shown(v)] for k, v in classes["sizes"].items()], numbers={1})
    return f"<h2>Recognizing people</h2>{table(heads, rows, numbers={1, 2, 3})}{sizes}"


def _attributes(facts: Mapping[str, Any]) -> str:
    parts = []
    for name, risk in facts["attribute_risk"].items():
        found = learned(facts["kind"], risk)
        rows = [[text, *map(shown, numbers)] for text, numbers in found.rows]
        people = table(found.heads, rows, numbers=range(1, len(found.heads)))
        parts.append(f"<h2>Learning {escape(name)}</h2>{people}<p>{escape(found.sentence)}</p>")
    return "\n".join(parts)


def _notes(facts: Mapping[str, Any]) -> str:
    return f"<h2>Notes</h2>{bullets(facts['notes'])}" if facts["notes"] else ""
