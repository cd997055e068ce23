"""The repository keeps its own rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ldiversity.catalog import CATALOG, OPTIONS
from ldiversity.entries import ENTRIES

ROOT = Path(__file__).parents[2]
PARTS = ("claim", "threat", "what is not protected", "cost", "when to choose it")
UNSAID = {"level-unique"}
"""Nobody asks for it: the claim of a method that merges values into levels."""

TEXTS = [
    path
    for folder in ("src", "papers", "tests", "docs", "examples", "benchmarks", "tools")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".md", ".toml", ".json"} and path.name != "test_repository.py"
]


@pytest.mark.parametrize("method", CATALOG)
def test_every_method_has_a_page_with_all_its_parts(method: str) -> None:
    page = (ROOT / "docs" / "methods" / f"{method}.md").read_text(encoding="utf-8").lower()

    assert [part for part in PARTS if f"\n## {part}" not in page] == []


@pytest.mark.parametrize("method", CATALOG)
def test_the_first_page_names_every_method_and_links_its_page(method: str) -> None:
    assert f"docs/methods/{method}.md" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", [option.flag for option in OPTIONS.values() if option.flag])
def test_the_guide_to_the_command_line_names_every_option(option: str) -> None:
    guide = (ROOT / "docs" / "guides" / "command-line.md").read_text(encoding="utf-8")

    assert any(f"`{flag}" in guide for flag in option.split("/"))


@pytest.mark.parametrize(
    ("kind", "guide"),
    [
        ("models", "privacy-models"),
        ("estimators", "estimating"),
        ("class_estimators", "estimating"),
        ("attacks", "attacks"),
        ("distances", "distances"),
        ("hierarchies", "hierarchies"),
    ],
)
def test_a_guide_names_every_entry(kind: str, guide: str) -> None:
    text = (ROOT / "docs" / "guides" / f"{guide}.md").read_text(encoding="utf-8")

    assert [name for name in ENTRIES[kind] if f"`{name}" not in text and name not in UNSAID] == []


def test_no_doctest_is_skipped() -> None:
    assert not [path for path in TEXTS if "doctest: " + "+SKIP" in path.read_text(encoding="utf-8")]


def test_no_link_between_pages_is_broken() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    links = [
        (page, link)
        for page in pages
        for link in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8"))
    ]

    assert not [(str(page), link) for page, link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize(
    ("folder", "most"),
    [("src", 400), ("papers", 400), ("tests", 450), ("benchmarks", 300), ("examples", 100), ("tools", 150)],
)
def test_files_stay_small_enough_to_read(folder: str, most: int) -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in (ROOT / folder).rglob("*.py")}

    assert not [str(path) for path, count in lines.items() if count > most]
