"""What the tests of collection share: programs outside Python, each skipped with a sentence where it is missing."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.collection.postgresql import PostgreSQLServer

_OLDEST_NODE = 20
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def node() -> str:
    """The path of Node."""
    path = shutil.which("node")
    if path is None:
        pytest.skip("Node is not installed: install Node 20 or later to test the JavaScript of devices")
    told = subprocess.run([path, "--version"], check=True, capture_output=True, text=True).stdout
    if int(told.strip().removeprefix("v").split(".")[0]) < _OLDEST_NODE:
        pytest.skip("Node is too old: install Node 20 or later to test the JavaScript of devices")
    return path


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The path of a browser."""
    path = next((found for name in _CHROMIUM if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("Chromium is not installed: install the package chromium to test pages in a real browser")
    return path


@pytest.fixture(scope="module")
def chromium(chromium_path: str) -> Iterator[Browser]:
    """A real browser without a window. One per module: while it runs, no other event loop can run in this thread."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium_path, headless=True, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page of a new device."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQLServer]:
    """A real PostgreSQL of its own, in a temporary folder."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install ldiversity[postgresql]")
    from tests.collection.postgresql import started

    with started() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new database; a test that asks for it runs on both kinds."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/survey.db"
    server: PostgreSQLServer = request.getfixturevalue("postgresql")
    return server.url(server.new_database())
