"""A report as one page: no script, nothing loaded from elsewhere, every text escaped, below a megabyte."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ldiversity.base.html import STYLE, bullets, document, escape
from ldiversity.base.numbers import counted, decimal, number, percent, percent_at_most, points
from ldiversity.faces.report._box import box, conditions, criterion
from ldiversity.faces.report._glossary import glossary
from ldiversity.faces.report._phrases import interval_words, setting_words, short, type_words
from ldiversity.faces.report._tables import data_table, figures, not_run, paragraph

if TYPE_CHECKING:
    from ldiversity.faces.report._parts import Estimated
    from ldiversity.faces.report._report import Report

__all__ = ["audience_mark", "body", "page"]

_STYLE: Final = STYLE + (
    "body{max-width:66rem}h2{margin-top:2.5rem;border-top:2px solid #ddd;padding-top:1rem}"
    "figure{margin:1.5rem 0}figure img{max-width:100%;height:auto}figcaption{font-size:.9rem;color:#444}"
    "h3{margin:0 0 .5rem;font-size:1.05rem;overflow-wrap:anywhere}"
    "caption{text-align:left;font-weight:600;padding:.25rem 0}"
    "summary{cursor:pointer}"
    "details table{font-size:.85rem}.scroll{overflow-x:auto}pre{background:#f2f2f2;padding:.6rem;white-space:pre-wrap;"
    "overflow-wrap:anywhere;margin:.2rem 0 1rem}nav ol{columns:2}li,p,dd,caption{overflow-wrap:anywhere}"
    "td,th{overflow-wrap:break-word}"
    "@media print{body{max-width:none;margin:0}nav{display:none}details{display:block}summary{list-style:none}"
    "details::details-content{content-visibility:visible;display:block;height:auto}"
    "figure img{max-height:22cm;break-inside:avoid}h2,h3,summary,caption{break-after:avoid}"
    "thead{display:table-header-group}"
    "tr,li,figcaption,.alarm,.note{break-inside:avoid}.scroll{overflow:visible}details table{font-size:.7rem}}"
)
_SOURCE: Final = re.compile(r'src="[^"]*"')
_AUDIENCES: Final = {
    "user": "Report on a release, for those who use it",
    "holder": "Report on a release, for the data holder only",
}


def audience_mark(audience: str) -> str:
    """The mark in the head of a page that names its audience, so that no page replaces one for the other audience."""
    return f'<meta name="ldiversity-audience" content="{audience}">'


def page(report: Report, body: str) -> str:
    """Give the whole page."""
    made = document(_AUDIENCES[report.audience], body, style=_STYLE)
    return made.replace("<title>", f"{audience_mark(report.audience)}<title>", 1)


def body(report: Report) -> str:
    """Give the page without its head, for notebooks."""
    text: dict[str, str] = {one.criterion: criterion(one) for one in report.criteria}
    text |= {part: write(report) for part, _, write in _PARTS}
    drawn = figures(report, taken=sum(len(made.encode("utf-8")) for made in text.values()))
    # The glossary comes last: it explains the words that the other parts use, captions included.
    read = _SOURCE.sub("", " ".join([box(report), *text.values(), *drawn.values()]))
    text["words"] = _words(report, read)
    titles: dict[str, str] = {one.criterion: one.title for one in report.criteria}
    titles |= {part: title for part, title, _ in _PARTS} | {"words": "Words"}
    contents = "".join(f'<li><a href="#{part}">{escape(title)}</a></li>' for part, title in titles.items())
    parts = [
        f'<section id="{part}"><h2>{escape(title)}</h2>\n{text[part]}\n{drawn.get(part, "")}</section>'
        for part, title in titles.items()
    ]
    return "\n".join([_head(report), box(report), f"<nav><ol>{contents}</ol></nav>", *parts])


def _head(report: Report) -> str:
    if report.audience == "holder":
        return paragraph(
            "alarm",
            "Do not hand out. This report was made with the original table and shows true counts, which the release "
            "hides. It is for the data holder alone.",
        )
    return paragraph(
        "note",
        "Made from the release alone: it tells nothing that the release does not tell, and may be handed out with it.",
    )


def _published(report: Report) -> str:
    release = report.release
    claims = bullets(claim.statement for claim in release.claims)
    columns = [
        [short(one.name), "quasi-identifier" if one.role == "quasi" else one.role, type_words(one.type), one.published]
        for one in release.columns
    ]
    warnings = "".join(paragraph("bad", f"The publisher warns: {text}") for text in release.warnings)
    methods = [
        [
            short(claim.attribute or "records"),
            claim.method,
            setting_words(claim.parameters),
            claim.model,
            number(claim.l),
            percent_at_most(claim.posterior) if claim.posterior < 1 else "-",
            number(claim.values),
        ]
        for claim in release.claims
    ]
    heads = ["attribute", "method", "settings", "model", "l", "one value at most this likely", "public values"]
    secrets = any(claim.attribute for claim in release.claims)
    hidden = "How each sensitive attribute was hidden" if secrets else "How records were grouped"
    return (
        f"<p>{escape(release.meaning)}</p>{warnings}<p><strong>Promised:</strong></p>{claims}"
        f"{data_table(hidden, heads, methods, {4, 5, 6})}"
        f"{data_table('Columns', ['column', 'role', 'type', 'published'], columns)}"
    )


def _distributions(report: Report) -> str:
    exact = all(one.exact for one in report.distributions)
    words = "Bars are shares of the published records." if exact else "Bars are estimates; lines on them are intervals."
    if report.audience == "holder":
        words += (
            " Before: circles are the true shares in the original. After: bars are what a data user sees or estimates."
        )
    lines = []
    for one in report.distributions:
        lines += [f"{one.what}: {interval_words(one, left_out=report.release.suppressed)}"]
        lines += [*_accuracy(one), *one.caveats]
    return f"<p>{escape(words)}</p>{bullets(dict.fromkeys(lines))}"


def _contingency(report: Report) -> str:
    lines = list(report.skipped)
    for one in report.contingency:
        lines.append(f"{one.what}: {interval_words(one, left_out=report.release.suppressed)}")
        lines += _accuracy(one)
        rest = [
            *([counted(one.cells_left_out, "cell") + " with fewer records"] if one.cells_left_out else []),
            *([counted(one.values_left_out, "further value")] if one.values_left_out else []),
        ]
        if rest:
            verb = "is" if one.cells_left_out + one.values_left_out == 1 else "are"
            lines.append(f"{one.what}: {' and '.join(rest)} {verb} not shown; the commands below give all.")
        lost = one.true_records_in_no_cell
        if lost:
            verb = "lies" if lost == 1 else "lie"
            lines.append(f"{counted(lost, 'record')} of the original {verb} in no cell that is estimated.")
        lines += one.caveats
    if not report.contingency and not lines:
        lines.append("No published column was divided into cells; --by names columns.")
    words = "Each row is a group of records, each column a value; a number is the percentage of the row."
    return f"<p>{escape(words)}</p>{bullets(dict.fromkeys(lines)) if lines else ''}"


def _classes(report: Report) -> str:
    classes = report.audit.classes
    if not report.audit.quasi:
        return "<p>No quasi-identifiers are published.</p>"
    fit = "1 record that fits" if classes.smallest == 1 else f"{number(classes.smallest)} records that fit"
    verb, alone = "looks" if classes.uniques == 1 else "look", report.audit.counting.counted(classes.uniques)
    alone = f"{alone} {verb} like nobody else" if classes.uniques else "Everybody looks like somebody else"
    return (
        f"<p>Someone who knows a person's quasi-identifiers finds at least {fit}, and {decimal(classes.mean)} on "
        f"average over {counted(classes.count, 'group')}. {alone}.</p>"
    )


def _risks(report: Report) -> str:
    audit = report.audit
    rows = [
        [
            one.promise,
            "all" if one.attribute is None else short(one.attribute),
            number(one.verdict.required),
            number(one.verdict.reached),
            "holds" if one.verdict.passed else "fails",
        ]
        for one in audit.asked
    ]
    worst = report.release.unit
    heads = ["promise", "attribute", "required", f"reached by the worst {worst}", "verdict"]
    models = data_table(f"What was checked for every {worst}", heads, rows, {2, 3}) if rows else ""
    # The last sentences are about the models, which the table has in plain words.
    return f"{bullets(audit.verdict[: len(audit.verdict) - len(rows)])}{models}"


def _attacks(report: Report) -> str:
    attacks = report.attacks
    if attacks is None:
        return "<p>Attacks were not run; <code>--attacks</code> runs them.</p>"
    knows = bullets(f"{name}: {text}" for name, text in attacks.knowledge.items())
    unsure = (
        ""
        if all(result.scored for result in attacks.results)
        else "<p>An expectation is not a success: attackers can be surer than they are right, and may expect more than "
        "is promised. Only the holder, who has the original, can score them.</p>"
    )
    told = f"<details><summary>What they know</summary>{knows}</details>"
    return f"{bullets(attacks.verdict)}{unsure}{told}{not_run(attacks)}"


def _not_protected(report: Report) -> str:
    return bullets([*report.not_protected, *report.audit.notes])


def _again(report: Report) -> str:
    lines = "".join(f"<dt>{escape(one.what)}</dt><dd><pre>{escape(one.line)}</pre></dd>" for one in report.commands)
    return f"<dl>{lines}</dl>"


def _words(report: Report, text: str) -> str:
    entries = (
        f"<dt><strong>{escape(word)}</strong></dt><dd>{escape(said)}</dd>" for word, said in glossary(report, text)
    )
    return f"<dl>{''.join(entries)}</dl>"


def _accuracy(one: Estimated) -> list[str]:
    found = one.accuracy
    if found is None or found.rms_error is None:
        return []
    everything = found.of_all
    also = ""
    if everything.held is not None and everything.shares != found.shares and not one.grouped:
        also = f", and {percent(everything.held)} of all {number(everything.shares)}"
    exact, what = one.exact, one.what
    held = "" if exact or found.held is None else f"; {percent(found.held)} of the intervals shown hold the truth{also}"
    if exact and _points(found.largest_error) == "0":
        return [f"{what}: the published shares are those in the original."]
    verb = "share is" if found.shares == 1 else "shares are"
    kind = "published" if exact else "estimated"
    said = (
        f"{what}: {number(found.shares)} {kind} {verb} off from those in the original by {_points(found.rms_error)} "
        f"percentage points (root of the mean square), at most by {_points(found.largest_error)}{held}."
    )
    return [said]


def _points(error: float) -> str:
    return points(round(error, 9))  # what is smaller is the rounding of sums


_PARTS: Final[tuple[tuple[str, str, Callable[[Report], str]], ...]] = (
    ("conditions", "Recipients and agreements", conditions),
    ("published", "What was published, and what is promised", _published),
    ("distributions", "How often each value occurs", _distributions),
    ("contingency", "How values go together with other columns", _contingency),
    ("classes", "How many people look alike", _classes),
    ("risks", "Risks", _risks),
    ("attacks", "Attacks", _attacks),
    ("not-protected", "What is not protected", _not_protected),
    ("again", "How to make this again", _again),
)
"""The parts of a page in their order, with the titles and writers; the glossary follows them."""
