"""A report as one page: no script, nothing loaded from elsewhere, every text escaped, below a megabyte."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ldiversity.auditing._html_parts import STYLE, bullets, document, escape, shown, table
from ldiversity.report._figures import shorten
from ldiversity.report._report_pictures import Picture, pictures
from ldiversity.report._report_svg import svg_source

__all__ = ["body", "page"]

_MOST_BYTES: Final = 900_000
"""Pictures and tables together; further ones are named, and left to the commands that make them."""

_LEAST_BYTES: Final = 10_000
"""No picture is smaller."""

_MOST_ROWS: Final = 120
_MOST_LETTERS: Final = 80
_STYLE: Final = STYLE + (
    "body{max-width:66rem}h2{margin-top:2.5rem;border-top:2px solid #ddd;padding-top:1rem}"
    "figure{margin:1.5rem 0}figure img{max-width:100%;height:auto}figcaption{font-size:.9rem;color:#444}"
    ".alarm{border:4px solid #a40000;background:#fff1f1;color:#a40000;font-weight:700;padding:1rem 1.25rem}"
    ".note{border-left:4px solid #0072b2;background:#f0f7fc;padding:.6rem 1rem}summary{cursor:pointer}"
    "details table{font-size:.85rem}.scroll{overflow-x:auto}pre{background:#f2f2f2;padding:.6rem;white-space:pre-wrap;"
    "overflow-wrap:anywhere;margin:.2rem 0 1rem}nav ol{columns:2}td,li,p,dd{overflow-wrap:anywhere}"
)
_AUDIENCES: Final = {
    "user": "Report on a release, for those who use it",
    "holder": "Report on a release, for the data holder only",
}
_PARTS: Final = (
    ("published", "What was published, and what is promised"),
    ("distributions", "How often each value occurs"),
    ("contingency", "How values go together with other columns"),
    ("classes", "How many people look alike"),
    ("risks", "Risks"),
    ("attacks", "Attacks"),
    ("not-protected", "What is not protected"),
    ("again", "How to make this again"),
)


def page(facts: Mapping[str, Any]) -> str:
    """Give the whole page.

    Parameters
    ----------
    facts
        What `Report.to_dict` gives.
    """
    return document(_AUDIENCES[facts["audience"]], body(facts), style=_STYLE)


def body(facts: Mapping[str, Any]) -> str:
    """Give the page without its head, for notebooks."""
    drawn = _figures(facts)
    writers: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
        "published": _published,
        "distributions": _distributions,
        "contingency": _contingency,
        "classes": _classes,
        "risks": _risks,
        "attacks": _attacks,
        "not-protected": _not_protected,
        "again": _again,
    }
    contents = "".join(f'<li><a href="#{part}">{escape(title)}</a></li>' for part, title in _PARTS)
    parts = [
        f'<section id="{part}"><h2>{escape(title)}</h2>\n{writers[part](facts)}\n{drawn.get(part, "")}</section>'
        for part, title in _PARTS
    ]
    return "\n".join([_head(facts), _summary(facts), f"<nav><ol>{contents}</ol></nav>", *parts])


def _head(facts: Mapping[str, Any]) -> str:
    if facts["audience"] == "holder":
        return (
            '<p class="alarm" role="alert">Do not hand out. This report was made with the original table and shows '
            "true counts, which the release hides. It is for the data holder alone.</p>"
        )
    return (
        '<p class="note">Made from the release alone: it tells nothing that the release does not tell, and may be '
        "handed out with it.</p>"
    )


def _summary(facts: Mapping[str, Any]) -> str:
    release = facts["release"]
    left = f"; {release['suppressed']:,} were left out" if release["suppressed"] else ""
    mark = {
        True: '<p class="good">Checked on what was published: every promise holds.</p>',
        False: '<p class="bad">Checked on what was published: a promise does not hold. Do not use this release.</p>',
    }
    broken = facts["attacks"] is not None and facts["attacks"]["broken"]
    beaten = '<p class="bad">An attack beats what the release promises.</p>' if broken else ""
    counts = f"<p>{release['records']:,} records{left}. Made with ldiversity {escape(facts['package'])}.</p>"
    return counts + mark.get(facts["audit"]["passed"], "") + beaten


def _published(facts: Mapping[str, Any]) -> str:
    release = facts["release"]
    claims = bullets(claim["statement"] for claim in release["claims"])
    columns = [[_short(one[key]) for key in ("name", "role", "type", "published")] for one in release["columns"]]
    warnings = "".join(f'<p class="bad">{escape(text)}</p>' for text in release["warnings"])
    methods = [
        [
            _short(claim["attribute"]),
            claim["method"],
            _short(", ".join(f"{key} = {value}" for key, value in claim["parameters"].items())),
            claim["model"],
            shown(claim["l"]),
            "nothing promised" if claim["posterior"] >= 1 else _percent(claim["posterior"]),
            shown(claim["values"]),
        ]
        for claim in release["claims"]
    ]
    heads = ["attribute", "method", "settings", "model", "l", "one value at most this likely", "public values"]
    return (
        f"<p>{escape(release['meaning'])}</p>{warnings}<p><strong>Promised:</strong></p>{claims}"
        f"{_scroll(table(heads, methods, {4, 5, 6}))}{_scroll(table(['column', 'role', 'type', 'published'], columns))}"
    )


def _distributions(facts: Mapping[str, Any]) -> str:
    words = "Bars are estimates; the lines on them are intervals that hold the true share as often as the legend says."
    if facts["audience"] == "holder":
        words += " Before: circles are the true shares in the original. After: bars are what a data user estimates."
    lines = [text for one in facts["distributions"] for text in [*_accuracy(one, one["attribute"]), *one["caveats"]]]
    return f"<p>{escape(words)}</p>{bullets(dict.fromkeys(lines)) if lines else ''}"


def _contingency(facts: Mapping[str, Any]) -> str:
    lines = list(facts["skipped"])
    for one in facts["contingency"]:
        what = f"{one['attribute']} by {' and '.join(one['by'])}"
        lines += _accuracy(one, what)
        if one["cells_left_out"] or one["values_left_out"]:
            lines.append(
                f"{what}: {one['cells_left_out']:,} cells with fewer records and "
                f"{one['values_left_out']:,} rarer values are not shown; the commands below give all."
            )
        if one["true_records_in_no_cell"]:
            lines.append(
                f"{one['true_records_in_no_cell']:,} records of the original lie in no cell that is estimated."
            )
    if not facts["contingency"] and not lines:
        lines.append("No published column was divided into cells; --by names columns.")
    words = "Each row is a group of records, each column a value; a number is the estimated percentage of the row."
    return f"<p>{escape(words)}</p>{bullets(dict.fromkeys(lines)) if lines else ''}"


def _classes(facts: Mapping[str, Any]) -> str:
    classes = facts["audit"]["classes"]
    if not facts["audit"]["quasi"]:
        return "<p>No quasi-identifiers are published.</p>"
    return (
        f"<p>Someone who knows a person's quasi-identifiers finds at least {classes['smallest']:,} records that fit, "
        f"and {classes['mean']:,.1f} on average over {classes['count']:,} groups. {classes['uniques']:,} people look "
        "like nobody else.</p>"
    )


def _risks(facts: Mapping[str, Any]) -> str:
    asked = [
        [
            _short(one["text"] if one["attribute"] is None else f"{one['text']} of {one['attribute']}"),
            shown(one["required"]),
            shown(one["reached"]),
            "holds" if one["passed"] else "fails",
        ]
        for one in facts["audit"]["asked"]
    ]
    models = table(["promise", "required", "reached by the worst class", "verdict"], asked, {1, 2}) if asked else ""
    return f"{bullets(facts['audit']['verdict'])}{_scroll(models)}"


def _attacks(facts: Mapping[str, Any]) -> str:
    attacks = facts["attacks"]
    if attacks is None:
        return "<p>Attacks were not run; <code>--attacks</code> runs them.</p>"
    known = {result["attack"]: result["knowledge"] for result in attacks["results"]}
    skipped = [f"{one['attack']} on {one['attribute']!r}: {one['reason']}." for one in attacks["skipped"]]
    not_run = f"<details><summary>Not run</summary>{bullets(skipped)}</details>" if skipped else ""
    knows = bullets(f"{name}: {text}" for name, text in known.items())
    return f"{bullets(attacks['verdict'])}<details><summary>What they know</summary>{knows}</details>{not_run}"


def _not_protected(facts: Mapping[str, Any]) -> str:
    return bullets([*facts["not_protected"], *facts["audit"]["notes"]])


def _again(facts: Mapping[str, Any]) -> str:
    lines = "".join(
        f"<dt>{escape(one['what'])}</dt><dd><pre>{escape(one['line'])}</pre></dd>" for one in facts["commands"]
    )
    return f"<dl>{lines}</dl>"


def _accuracy(one: Mapping[str, Any], what: str) -> list[str]:
    found = one["accuracy"]
    if found is None or found["rms_error"] is None:
        return []
    held = "" if found["held"] is None else f"; {_percent(found['held'])} of the intervals hold the truth"
    said = (
        f"{what}: {found['shares']:,} estimated shares are off by {100 * found['rms_error']:.2g} percentage points "
        f"(root of the mean square), at most by {100 * found['largest_error']:.2g}{held}."
    )
    return [said]


def _figures(facts: Mapping[str, Any]) -> dict[str, str]:
    """The pictures of each part, each with its table; those for which there is no room are named."""
    room, parts = _MOST_BYTES, {part: "" for part, _ in _PARTS}
    for picture in pictures(facts):
        made = _figure(picture) if room > _LEAST_BYTES else ""
        size = len(made.encode("utf-8"))
        if size > room or not made:
            words = f"{_short(picture.title)}: left out to keep this page small; the commands at its end make it."
            made = f"<p>{escape(words)}</p>"
            size = 0
        room -= size
        parts[picture.part] += made
    return parts


def _figure(picture: Picture) -> str:
    alt = escape(picture.alt)
    return (
        f'<figure><img alt="{alt}" src="{svg_source(picture.draw())}">'
        f"<figcaption>{alt}</figcaption>{_data(picture.heads, picture.rows)}</figure>\n"
    )


def _data(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    numbers = {place for place in range(len(heads)) if rows and isinstance(rows[0][place], int | float | None)}
    cells = [[_cell(value, head) for value, head in zip(row, heads, strict=True)] for row in rows[:_MOST_ROWS]]
    more = "" if len(rows) <= _MOST_ROWS else f"<p>The first {_MOST_ROWS} of {len(rows):,} rows.</p>"
    return (
        f"<details><summary>The numbers of this picture ({len(rows):,} rows)</summary>"
        f"{_scroll(table(heads, cells, numbers))}{more}</details>"
    )


def _cell(value: object, head: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, float) and "count" not in head and head != "records":
        return _percent(value)
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def _scroll(made: str) -> str:
    return f"<div class=scroll>{made}</div>"


def _short(text: object) -> str:
    return shorten(str(text), _MOST_LETTERS)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
