"""The pages of a rerun: HTML that is complete in itself, and Markdown for the documentation."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ldiversity.base.html import escape
from ldiversity.base.numbers import number
from papers.files import file_stem
from papers.summary import markdown_text
from papers.verdicts import MEANINGS

__all__ = ["html_page", "markdown_page", "rerun_command"]

_MOST_ROWS: Final = 60
_NOT_RUN: Final = "not run"
_STAND_IN: Final = "stand-in data"
_STAND_IN_MEANING: Final = "the paper's data are not public; the verdict is about other data, which are named"
_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}"
    "img{max-width:100%;height:auto;border:1px solid #ddd;background:#fff}"
    "table{border-collapse:collapse;margin:1rem 0;font-size:.85rem}th,td{padding:.2rem .6rem;"
    "border-bottom:1px solid #ccc;text-align:left}td.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".badge{display:inline-block;padding:.05rem .6rem;border-radius:1rem;font-size:.85rem;font-weight:600;"
    "border:2px solid;white-space:nowrap}.agrees{color:#00563f;border-color:#009e73}.better{color:#00466e;"
    "border-color:#0072b2}.agrees-with-exceptions{color:#00563f;border-color:#009e73;border-style:dotted}"
    ".undecided-data{color:#444;border-color:#737373;border-style:dotted}.differs{color:#8a3d00;border-color:#d55e00}.stand-in-data{color:#6b4a00;border-color:#e69f00}"
    ".not-run{color:#444;border-color:#737373;border-style:dashed}blockquote{margin:.5rem 0;padding:0 1rem;"
    "border-left:4px solid #ddd;color:#444}code{background:#f2f2f2;padding:.1rem .3rem}section{margin:2.5rem 0}"
    ".scroll{overflow-x:auto}summary{cursor:pointer}td{vertical-align:top}.items{list-style:none;"
    "padding:0;margin:.3rem 0;display:flex;flex-wrap:wrap;gap:.3rem 1.2rem}"
)


def rerun_command(papers: Sequence[str], *, quick: bool, seed: int) -> list[str]:
    """The command that runs papers again, as a list of words.

    Examples
    --------
    >>> rerun_command(["003"], quick=True, seed=7)
    ['python', '-m', 'papers', '003', '--quick', '--seed', '7']
    """
    seeded = ["--seed", str(seed)] if seed != 1 else []
    return ["python", "-m", "papers", *papers, *(["--quick"] if quick else []), *seeded]


def html_page(facts: Mapping[str, Any], folder: Path) -> str:
    """Make the index page; pictures are read from `folder` and become part of the page.

    Parameters
    ----------
    facts
        What `Rerun.to_dict` returns.
    folder
        Where the files of the exhibits are.
    """
    parts = "\n".join(_study(study, facts, folder) for study in facts["studies"])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The papers' evaluations, rerun</title><style>{_STYLE}</style></head>\n<body>"
        f"<h1>The papers' evaluations, rerun</h1>\n<p>{escape(_how(facts))} To run it again:<br>"
        f"<code>{escape(shlex.join(facts['command']))} -o FOLDER</code></p>\n{_legend()}\n{_contents(facts)}\n"
        f"{parts}</body></html>\n"
    )


def _how(facts: Mapping[str, Any]) -> str:
    how = "with smaller tables and fewer repetitions (--quick)" if facts["quick"] else "in full"
    return f"Run {how}, seed {facts['seed']}, ldiversity {facts['package']}."


def _badge(outcome: str) -> str:
    return f'<span class="badge {file_stem(outcome)}">{escape(outcome)}</span>'


def _legend() -> str:
    meanings = [*MEANINGS.items(), (_STAND_IN, _STAND_IN_MEANING)]
    items = "".join(f"<li>{_badge(mark)} {escape(text)}</li>" for mark, text in meanings)
    return f"<ul>{items}</ul>"


def _contents(facts: Mapping[str, Any]) -> str:
    """The papers and their exhibits with the verdicts, each a link to its place."""
    rows = []
    for study in facts["studies"]:
        links = "".join(
            f'<li><a href="#{_anchor(study["paper"], exhibit)}">{escape(exhibit["item"])}</a> {_badges(exhibit)}</li>'
            for exhibit in study["exhibits"]
        )
        rows.append(
            f'<tr><td><a href="#paper-{escape(study["paper"])}">{escape(study["paper"])}</a></td>'
            f"<td>{escape(study['title'])}<ul class=items>{links or f'<li>{_badge(_NOT_RUN)}</li>'}</ul></td></tr>"
        )
    head = "<tr><th>paper</th><th>figures and tables</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _anchor(paper: str, exhibit: Mapping[str, Any]) -> str:
    return f"{escape(paper)}-{file_stem(exhibit['item'])}"


def _badges(exhibit: Mapping[str, Any]) -> str:
    return _badge(exhibit["outcome"]) + (f" {_badge(_STAND_IN)}" if exhibit["stand_in"] else "")


def _study(study: Mapping[str, Any], facts: Mapping[str, Any], folder: Path) -> str:
    problem = "" if study["problem"] is None else f"<p>{_badge('not run')} {escape(study['problem'])}</p>"
    exhibits = "\n".join(_exhibit(study["paper"], exhibit, folder) for exhibit in study["exhibits"])
    again = shlex.join(rerun_command([study["paper"]], quick=facts["quick"], seed=facts["seed"]))
    return (
        f'<h2 id="paper-{escape(study["paper"])}">Paper {escape(study["paper"])}: {escape(study["title"])}</h2>\n'
        f"<p><code>{escape(again)}</code></p>{problem}\n{exhibits}"
    )


def _exhibit(paper: str, exhibit: Mapping[str, Any], folder: Path) -> str:
    files = exhibit["files"]
    stand_in = f"<p>{_badge(_STAND_IN)} {escape(exhibit['stand_in'])}</p>\n" if exhibit["stand_in"] else ""
    shown = ""
    if files:
        picture = base64.b64encode((folder / files["png"]).read_bytes()).decode("ascii")
        links = " ".join(f'<a href="{escape(name)}">{kind.upper()}</a>' for kind, name in files.items())
        shown = (
            f'<p><img alt="{escape(exhibit["alt"])}" src="data:image/png;base64,{picture}"></p>'
            f"<p>Files beside this page: {links}</p>{_table(exhibit['rows'])}"
        )
    return (
        f'<section id="{_anchor(paper, exhibit)}"><h3>{escape(exhibit["item"])}: '
        f"{escape(exhibit['title'])}</h3>\n<blockquote>The paper: {escape(exhibit['claim'])}</blockquote>\n"
        f"{stand_in}<p>{_badge(exhibit['outcome'])} {escape(exhibit['words'])}</p>\n{shown}</section>"
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in rows[0])
    body = "".join(f"<tr>{''.join(map(_cell, row.values()))}</tr>" for row in rows[:_MOST_ROWS])
    more = "" if len(rows) <= _MOST_ROWS else f"<p>All {len(rows)} rows are in the CSV file.</p>"
    return (
        f"<details><summary>The data ({len(rows)} rows)</summary><div class=scroll><table><thead><tr>{head}</tr>"
        f"</thead><tbody>{body}</tbody></table></div>{more}</details>"
    )


def _cell(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td>{escape('' if value is None else str(value))}</td>"
    return f"<td class=n>{number(value)}</td>"


def markdown_page(facts: Mapping[str, Any]) -> str:
    """Make the page of the gallery, which links to the pictures beside it.

    Parameters
    ----------
    facts
        What `Rerun.to_dict` returns.
    """
    lines = [
        "# The papers' evaluations, rerun",
        "",
        "Generated; do not edit. " + markdown_text(_how(facts)) + " To run it again:",
        "",
        f"    {shlex.join(facts['command'])} -o FOLDER",
        "",
        "[The summary](summary.md) has one line for each figure and table: what the paper says, what came out, why.",
        "",
        *(f"- **{mark}**: {text}" for mark, text in [*MEANINGS.items(), (_STAND_IN, _STAND_IN_MEANING)]),
        "",
    ]
    for study in facts["studies"]:
        lines += [f"## Paper {markdown_text(study['paper'])}: {markdown_text(study['title'])}", ""]
        if study["problem"] is not None:
            lines += [f"**not run** {markdown_text(study['problem'])}", ""]
        for exhibit in study["exhibits"]:
            lines += _markdown_exhibit(exhibit)
    return "\n".join(lines).rstrip() + "\n"


def _markdown_exhibit(exhibit: Mapping[str, Any]) -> list[str]:
    lines = [
        f"### {markdown_text(exhibit['item'])}: {markdown_text(exhibit['title'])}",
        "",
        f"> The paper: {markdown_text(exhibit['claim'])}",
        "",
        *([f"**{_STAND_IN}** {markdown_text(exhibit['stand_in'])}", ""] if exhibit["stand_in"] else []),
        f"**{exhibit['outcome']}** {markdown_text(exhibit['words'])}",
        "",
    ]
    files = exhibit["files"]
    if files:
        lines += [f"![{markdown_text(exhibit['alt'])}]({files['png']})", ""]
        lines += [f"[data]({files['csv']})", ""]
    return lines
