"""The site is built without a warning, no link of it is broken, and it asks nobody else for anything."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import ldiversity as ld

ROOT = Path(__file__).parents[2]
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}


class Page(HTMLParser):
    """What a page links, loads and can be jumped to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.places |= {given["id"]} if "id" in given else set()
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given:
            self.loads.append(given[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("furo", reason="Sphinx, myst-parser and furo are not installed: the site is not built here")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-E", "-W", "--keep-going", "docs", str(folder)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    return folder


def test_the_archive_of_sources_builds_its_site_without_what_it_lacks(sdist: Path, tmp_path: Path) -> None:
    pytest.importorskip("furo", reason="Sphinx, myst-parser and furo are not installed: the site is not built here")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    command = [sys.executable, "-m", "sphinx", "-b", "dummy", "-q", "-E", "-W", "--keep-going", "docs", "docs/_build"]

    done = subprocess.run(command, cwd=unpacked, check=False, capture_output=True, text=True, env=dict(os.environ))

    assert done.returncode == 0, done.stderr
    assert done.stderr == "The site is built without gallery and pictures, which only the repository has.\n"


def broken(site: Path) -> list[tuple[str, str]]:
    """Every link between pages that leads nowhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            lost = place and target in pages and place not in pages[target].places
            if not target.exists() or lost:
                found.append((path.name, link))
    return found


def test_every_link_of_the_site_leads_somewhere_and_a_planted_one_is_found(site: Path) -> None:
    assert broken(site) == []

    (site / "planted.html").write_text("<a href='index.html#nowhere'>x</a><a href='missing.html'>y</a>")
    assert len(broken(site)) == 2
    (site / "planted.html").unlink()


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        loads = Page(path.read_text(encoding="utf-8")).loads
        assert [load for load in loads if urlsplit(load).netloc] == []
    for sheet in site.rglob("*.css"):
        assert "url(http" not in sheet.read_text(encoding="utf-8")


def test_the_reference_lists_exactly_the_public_names(site: Path) -> None:
    from sphinx.util.inventory import InventoryFile

    entries = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="").data
    listed = {name for kind in ("py:class", "py:function", "py:data", "py:exception") for name in entries.get(kind, ())}
    modules = {name for name in ld.__all__ if hasattr(getattr(ld, name), "__path__")}

    assert {name for name in listed if name.count(".") == 1} == {
        f"ldiversity.{name}" for name in {*ld.__all__} - modules
    }
