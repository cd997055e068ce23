from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from papers.files import file_stem
from papers.pages import html_page, markdown_page
from papers.summary import summary_page
from papers.verdicts import MEANINGS

NASTY = '<script>alert("x")</script> & [link](http://a) *b* `c`'


def facts(text: str = "plain", outcome: str = "agrees", rows: int = 2, stand_in: str | None = None) -> dict[str, Any]:
    files = {kind: f"000/fig-1.{kind}" for kind in ("csv", "png")}
    exhibit = {
        "item": "Fig. 1", "title": text, "claim": text, "outcome": outcome, "words": text, "alt": text,
        "figure": text, "why": text, "stand_in": stand_in,
        "files": {} if outcome == "not run" else files,
        "rows": [{"name": text, "l": 1234, "error": 0.123456, "none": None}] * rows,
    }  # fmt: skip
    study = {"paper": "000", "title": text, "problem": None, "exhibits": [exhibit]}
    return {
        "package": "1",
        "quick": False,
        "seed": 1,
        "command": ["python", "-m", "papers", "000"],
        "studies": [study],
    }


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "000").mkdir()
    (tmp_path / "000" / "fig-1.png").write_bytes(b"picture")
    return tmp_path


def test_no_text_becomes_a_tag(folder: Path) -> None:
    tags = Tags(html_page(facts(NASTY), folder)).found

    assert "script" not in [tag for tag, _ in tags]
    assert [attributes["alt"] for tag, attributes in tags if tag == "img"] == [NASTY]


def test_the_page_loads_nothing_from_elsewhere(folder: Path) -> None:
    tags = Tags(html_page(facts(), folder)).found

    sources = [value for _, attributes in tags for name, value in attributes.items() if name == "src"]
    assert [str(source)[:22] for source in sources] == ["data:image/png;base64,"]


@pytest.mark.parametrize("outcome", MEANINGS)
def test_the_verdict_is_a_word_and_not_only_a_color(folder: Path, outcome: str) -> None:
    page = html_page(facts(outcome=outcome), folder)

    assert page.count(f'<span class="badge {file_stem(outcome)}">{outcome}</span>') == 3  # legend, table, exhibit


def test_long_data_are_cut_and_the_page_says_so(folder: Path) -> None:
    page = html_page(facts(rows=100), folder)

    assert "All 100 rows are in the CSV file." in page
    assert page.count("<td class=n>1,234</td>") == 60


def test_the_page_says_how_to_run_it_again(folder: Path) -> None:
    assert "<code>python -m papers 000 -o FOLDER</code>" in html_page(facts(), folder)


def test_a_study_names_its_own_command_with_the_options_of_the_run(folder: Path) -> None:
    page = html_page({**facts(), "quick": True, "seed": 7}, folder)

    assert "<p><code>python -m papers 000 --quick --seed 7</code></p>" in page


def test_the_contents_link_every_exhibit(folder: Path) -> None:
    tags = Tags(html_page(facts(), folder)).found

    links = {str(attributes["href"]) for tag, attributes in tags if tag == "a"}
    places = {f"#{attributes['id']}" for _, attributes in tags if "id" in attributes}
    assert places == {"#paper-000", "#000-fig-1"}
    assert places <= links


@pytest.mark.parametrize("make", [html_page, lambda found, _: markdown_page(found)])
def test_stand_in_data_are_marked_beside_the_verdict(folder: Path, make: Any) -> None:
    page = make(facts(outcome="differs", stand_in="Others stand for them."), folder)

    assert "Others stand for them." in page
    assert page.count("stand-in data") == page.count("differs</span>") or "**stand-in data** Others" in page


def test_the_gallery_links_pictures_and_data() -> None:
    links = re.findall(r"\]\(([^)]+)\)", markdown_page(facts()))

    assert links == ["summary.md", "000/fig-1.png", "000/fig-1.csv"]


def test_the_gallery_escapes_what_markdown_reads() -> None:
    page = markdown_page(facts(NASTY))

    assert "<script>" not in page.replace("\\<", "")
    assert "[link](" not in page.replace("\\[", "").replace("\\]", "")


def test_the_gallery_names_what_was_not_run() -> None:
    assert "![" not in markdown_page(facts(outcome="not run"))


def test_the_summary_has_one_line_for_each_exhibit() -> None:
    page = summary_page(facts("a | b", outcome="undecided (data)", stand_in="Others stand for them."))

    lines = [line for line in page.splitlines() if line.startswith("| [Fig. 1]")]
    assert lines == ["| [Fig. 1](000/fig-1.png)\\* | a \\| b | a \\| b | **undecided (data)** | a \\| b |"]
    assert "1 figures and tables: 1 undecided (data)." in page


def test_the_summary_escapes_what_markdown_reads() -> None:
    page = summary_page(facts(NASTY))

    assert "<script>" not in page.replace("\\<", "")
    assert "[link](" not in page.replace("\\[", "").replace("\\]", "")


def test_the_summary_says_why_something_was_not_run() -> None:
    found = facts("The data are missing.", outcome="not run")
    found["studies"][0]["exhibits"][0] |= {"figure": "", "why": ""}

    assert "| **not run** | The data are missing. |" in summary_page(found)


@pytest.mark.parametrize(("item", "stem"), [("Fig. 1(b)", "fig-1-b"), ("../../x", "x"), ("...", "item")])
def test_file_names_are_plain(item: str, stem: str) -> None:
    assert file_stem(item) == stem
