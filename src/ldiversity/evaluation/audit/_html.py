"""An audit as HTML: no scripts, nothing loaded from elsewhere, every text escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldiversity.base.html import bullets, document, escape, table
from ldiversity.base.numbers import figure, number, percent
from ldiversity.evaluation.audit._sampled_words import sampled_tables
from ldiversity.evaluation.audit._words import learned

if TYPE_CHECKING:
    from ldiversity.evaluation.audit._result import Audit

__all__ = ["fragment", "page", "risk_rows", "risk_words"]


def page(audit: Audit) -> str:
    """A whole page."""
    notes = f"<h2>Notes</h2>{bullets(audit.notes)}" if audit.notes else ""
    parts = (fragment(audit), _risks(audit), _attributes(audit), _sampled(audit), notes)
    return document(f"Audit of {audit.name}", "\n".join(parts))


def fragment(audit: Audit) -> str:
    """The verdict, the first thing to do, and the table of models."""
    return f"{_verdict(audit)}\n{_advice(audit)}\n{_models(audit)}"


def _verdict(audit: Audit) -> str:
    good = audit.passed and not audit.confirmed
    said = audit.conclusion
    mark = "" if said is None else f'<p class="{"good" if good else "bad"}">{escape(said)}</p>'
    return mark + bullets(audit.verdict)


def _advice(audit: Audit) -> str:
    advice = audit.advice
    command = "" if advice.command is None else f"<br><code>{escape(advice.command)}</code>"
    return f"<p><strong>First:</strong> {escape(advice.text)}{command}</p>"


def _models(audit: Audit) -> str:
    rows = [
        [name, figure(one.value), {True: "holds", False: "fails", None: ""}[one.passed], one.why or one.meaning]
        for name, one in audit.models.items()
    ]
    return table(["model", "reached", "asked", "meaning"], rows, numbers={1})


def _risks(audit: Audit) -> str:
    heads, rows = risk_rows(audit)
    sizes = table(
        [f"{audit.in_a_class} in a class", "classes"], [[k, number(v)] for k, v in audit.classes.sizes.items()], {1}
    )
    said = "".join(f"<p>{escape(text)}</p>" for text in risk_words(audit))
    return f"<h2>Recognizing people</h2>{table(heads, rows, numbers={1, 2, 3})}{said}{sizes}"


def risk_rows(audit: Audit) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of attackers who want to recognize people."""
    risk = audit.risk
    rows = [
        [name, percent(one.max), percent(one.mean), number(one.records_above)]
        for name, one in (("prosecutor", risk.prosecutor), ("journalist", risk.journalist))
    ]
    heads = ["attacker", "greatest", "mean", f"{audit.unit} above {percent(risk.threshold)}"]
    return heads, [*rows, ["marketer", percent(None), percent(risk.marketer.mean), number(None)]]


def risk_words(audit: Audit) -> tuple[str, ...]:
    """What the table of attackers is held against: the limit with its source, and who is alone in the population."""
    limit = f"Limit: {percent(audit.threshold.limit)}. {audit.threshold.reason}"
    alone, exact = audit.risk.journalist.uniques, audit.population.known == "table"
    if audit.population.known == "none":
        return (limit,)
    about = audit.counting.counted(round(alone))
    verb = "is" if round(alone) == 1 else "are"
    return (limit, f"{about if exact else f'About {about}'} of the table {verb} alone in the population too.")


def _sampled(audit: Audit) -> str:
    if audit.sampled is None:
        return ""
    parts = [
        f"<p>{escape(about)}</p>{table(heads, rows, numbers=range(1, len(heads)))}"
        for about, heads, rows in sampled_tables(audit.sampled, audit.models)
    ]
    return f"<h2>The population that the table stands for</h2>{''.join(parts)}"


def _attributes(audit: Audit) -> str:
    parts = []
    for name, risk in audit.attribute_risk.items():
        found = learned(audit.kind, risk, audit.people)
        rows = [[text, *map(number, numbers)] for text, numbers in found.rows]
        people = table(found.heads, rows, numbers=range(1, len(found.heads)))
        parts.append(f"<h2>Learning {escape(name)}</h2>{people}<p>{escape(found.sentence)}</p>")
    return "\n".join(parts)
