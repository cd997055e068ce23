"""The gallery in docs: pages, data and one picture per exhibit, and no more."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from papers.folder import FACTS_FILE, FORMAT
from papers.pages import markdown_page
from papers.run import VERSION
from papers.summary import summary_page

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
IGNORED = {"index.html"}
"""Written, but not kept in git."""

MOST_BYTES = 4_000_000


def facts() -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((GALLERY / FACTS_FILE).read_text(encoding="utf-8"))
    return stored


def kept() -> dict[str, Path]:
    files = {path.relative_to(GALLERY).as_posix(): path for path in GALLERY.rglob("*") if path.is_file()}
    return {name: path for name, path in files.items() if name not in IGNORED}


def broken_links(page: str, folder: Path) -> list[str]:
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", page) if not (folder / link).is_file()]


def test_the_gallery_is_small() -> None:
    assert sum(path.stat().st_size for path in kept().values()) < MOST_BYTES


@pytest.mark.parametrize("page", ["index.md", "summary.md"])
def test_every_link_works(page: str) -> None:
    assert broken_links((GALLERY / page).read_text(encoding="utf-8"), GALLERY) == []


def test_a_broken_link_is_found() -> None:
    assert broken_links("![a](000/fig-1.png) [b](000/nothing.csv)", GALLERY) == ["000/nothing.csv"]


def test_the_folder_holds_the_listed_files_and_no_others() -> None:
    stored = facts()

    assert (stored["format"], stored["version"]) == (FORMAT, VERSION)
    assert set(kept()) == {FACTS_FILE, *stored["files"]} - IGNORED


def test_every_exhibit_has_data_and_one_picture() -> None:
    exhibits = [exhibit for study in facts()["studies"] for exhibit in study["exhibits"]]

    assert [
        one["item"] for one in exhibits if one["outcome"] != "not run" and set(one["files"]) != {"csv", "png"}
    ] == []


@pytest.mark.parametrize(("page", "make"), [("index.md", markdown_page), ("summary.md", summary_page)])
def test_the_pages_are_made_from_the_stored_facts(page: str, make: Callable[[dict[str, Any]], str]) -> None:
    assert (GALLERY / page).read_text(encoding="utf-8") == make(facts())


def test_the_summary_has_a_line_for_every_exhibit_with_a_figure_and_a_reason() -> None:
    exhibits = [exhibit for study in facts()["studies"] for exhibit in study["exhibits"]]
    lines = [line for line in summary_page(facts()).splitlines() if line.startswith("| [")]

    assert len(lines) == len(exhibits)
    assert [one["item"] for one in exhibits if not (one["figure"] and one["why"])] == []


def test_every_query_figure_asks_as_many_queries_as_the_paper() -> None:
    for stem in ("fig-2", "fig-3", "fig-4", "fig-5"):
        with (GALLERY / "000" / f"{stem}.csv").open(encoding="utf-8", newline="") as lines:
            asked = {int(row["queries"]) for row in csv.DictReader(lines) if row["method"] == "Proposal"}
        assert asked - {0} == {1000}
