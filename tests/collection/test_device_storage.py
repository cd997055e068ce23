"""The storage of the device module in a real browser: one secret for all tabs, which no script can read out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

MODULE = Path(__file__).parents[2] / "src" / "ldiversity" / "collection" / "static" / "device"
DERIVED = "async () => Array.from(await (await device.browserStore().secret()).token('ab', 0))"


def _answer(route: Route) -> None:
    name = urlsplit(route.request.url).path.lstrip("/")
    if name.endswith(".js"):
        route.fulfill(body=(MODULE / Path(name).name).read_bytes(), content_type="text/javascript")
    else:
        route.fulfill(body="<!doctype html><title>A page</title>", content_type="text/html")


def _tab(context: BrowserContext) -> Page:
    page = context.new_page()
    page.route("**/*", _answer)
    page.goto("https://device.test/")
    page.evaluate("async () => { globalThis.device = await import('/index.js'); }")
    return page


@pytest.fixture
def context(chromium: Browser) -> BrowserContext:
    return chromium.new_context()


def test_tabs_that_open_at_the_same_time_get_one_secret(context: BrowserContext) -> None:
    tabs = [_tab(context) for _ in range(3)]
    # All tabs start when the first one says so, and make many attempts each.
    many = "Promise.all(Array.from({ length: 20 }, async () => String(await (DERIVED)())))".replace("DERIVED", DERIVED)
    wait = "new Promise((go) => { new BroadcastChannel('go').onmessage = go; })"
    for tab in tabs:
        tab.evaluate(f"() => {{ globalThis.found = {wait}.then(() => {many}); }}")
    tabs[0].evaluate("() => new BroadcastChannel('go').postMessage(1)")

    tokens = {token for tab in tabs for token in tab.evaluate("() => globalThis.found")}

    assert len(tokens) == 1


def test_a_secret_outlives_the_page_and_is_forgotten_when_asked(context: BrowserContext) -> None:
    tab = _tab(context)
    first = tab.evaluate(DERIVED)
    tab.close()
    tab = _tab(context)
    entry = {"name": "disease", "context": "ab", "values": ["cd"]}

    again = tab.evaluate(DERIVED)
    tab.evaluate(
        "async (entry) => { const s = device.browserStore(); await s.record([entry]); await s.record([entry]); }", entry
    )
    kept = tab.evaluate("() => device.browserStore().entries()")
    tab.evaluate("() => device.browserStore().forget()")

    assert again == first
    assert kept == [entry]
    assert tab.evaluate("() => device.browserStore().entries()") == []
    assert tab.evaluate(DERIVED) != first


def test_what_is_stored_is_a_key_that_cannot_be_read_out(context: BrowserContext) -> None:
    tab = _tab(context)
    tab.evaluate(DERIVED)

    kept = tab.evaluate(
        """async () => {
          const done = (request) => new Promise((good, bad) => Object.assign(request, {
            onsuccess: () => good(request.result), onerror: () => bad(request.error) }));
          const database = await done(indexedDB.open("ldiversity-device"));
          const keys = await done(database.transaction("secret").objectStore("secret").getAll());
          const read = await Promise.allSettled(["raw", "jwk"].map((form) => crypto.subtle.exportKey(form, keys[0])));
          return [keys.map((key) => [key.algorithm.name, key.extractable, key.type]), read.map((one) => one.status),
                  [...database.objectStoreNames], localStorage.length, document.cookie];
        }"""
    )

    assert kept == [[["HKDF", False, "secret"]], ["rejected", "rejected"], ["ledger", "secret"], 0, ""]


def test_a_browser_that_keeps_nothing_is_told_so(context: BrowserContext) -> None:
    broken = (
        "async () => device.browserStore({ open() { throw new Error('denied'); } }).secret().catch((e) => e.message)"
    )

    assert _tab(context).evaluate(broken).startswith("storage: must be allowed")
