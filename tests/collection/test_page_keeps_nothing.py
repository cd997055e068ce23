"""After sending, nothing of the answer is left: on the page, in its address and history, or in any storage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.collection.people import SURVEY, answer, with_secret
from tests.collection.served import Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ANN = {"age": "43", "sex": "other", "disease": "migraine"}
BEA = {"age": "31", "sex": "other", "disease": "asthma"}

LEFT = """async () => {
  const databases = {};
  for (const { name } of await indexedDB.databases()) {
    const opening = indexedDB.open(name);
    await new Promise((done) => { opening.onsuccess = done; });
    const database = opening.result;
    for (const store of database.objectStoreNames) {
      const rows = database.transaction(store).objectStore(store).getAll();
      await new Promise((done) => { rows.onsuccess = done; });
      databases[`${name}/${store}`] = rows.result.map((row) => row instanceof CryptoKey
        ? { kind: row.algorithm.name, extractable: row.extractable } : row);
    }
    database.close();
  }
  const cached = [];
  for (const name of await caches.keys()) {
    for (const request of await (await caches.open(name)).keys()) cached.push(request.url);
  }
  return {
    page: document.documentElement.outerHTML,
    typed: [...document.querySelectorAll("input, select, textarea")].map((box) => [box.value, box.checked]),
    address: location.href, history: history.state, entries: history.length, title: document.title, name: window.name,
    local: { ...localStorage }, session: { ...sessionStorage }, cookies: document.cookie, databases, cached,
  };
}"""

Left = dict[str, object]

KEEPERS = {
    "local storage": "localStorage.setItem('chosen', text)",
    "database": "Object.assign(indexedDB.open('notes'), { onupgradeneeded: (event) => "
    "event.target.result.createObjectStore('all', { autoIncrement: true }).add(text) })",
    "address": "history.replaceState(null, '', `#${text}`)",
    "page": "document.body.dataset.chosen = text",
}
"""Pages that keep the answer when the person goes on."""


@pytest.fixture(scope="module")
def survey() -> Iterator[Served]:
    """A survey with one question."""
    with served(SURVEY) as here:
        yield here


def left_by(context: BrowserContext, here: Served, answers: dict[str, str]) -> tuple[Page, Left]:
    """What is left after answering."""
    page = context.new_page()
    answer(page, here.address(), answers)
    left: Left = page.evaluate(LEFT)
    left["jar"] = context.cookies()
    return page, left


def test_no_word_of_the_answer_is_left(chromium: Browser, survey: Served) -> None:
    context = chromium.new_context()
    page, left = left_by(context, survey, ANN)

    assert "migraine" not in json.dumps(left)
    assert left["cookies"] == ""
    assert left["jar"] == left["cached"] == []
    assert left["local"] == left["session"] == {}
    assert left["address"] == survey.address()
    page.go_back()
    page.go_forward()
    page.get_by_label("I agree").wait_for()
    assert "migraine" not in json.dumps(page.evaluate(LEFT))
    context.close()


def test_what_is_left_is_the_same_whatever_was_answered(chromium: Browser, survey: Served) -> None:
    """Also codes and hashes are found by this."""
    found = []
    for answers in (ANN, BEA):
        context = chromium.new_context()
        context.add_init_script(with_secret(bytes(32)))
        found.append(left_by(context, survey, answers)[1])
        context.close()

    assert found[0] == found[1]
    assert any(row == [{"kind": "HKDF", "extractable": False}] for row in found[0]["databases"].values())  # type: ignore[attr-defined]


@pytest.mark.parametrize("keep", KEEPERS.values(), ids=KEEPERS)
def test_a_page_that_keeps_the_answer_is_caught(chromium: Browser, survey: Served, keep: str) -> None:
    context = chromium.new_context()
    context.add_init_script(f"""addEventListener("click", (event) => {{
      const chosen = document.querySelector("#questions :checked[name=q2]");
      if (event.target.id !== "send" || !chosen) return;
      const text = chosen.parentElement.textContent.trim();
      {keep};
    }}, true);""")
    _, left = left_by(context, survey, ANN)
    context.close()

    assert "migraine" in json.dumps(left)


def test_no_word_of_the_answer_is_on_the_disk(
    chromium: Browser, chromium_path: str, survey: Served, tmp_path: Path
) -> None:
    """The whole profile of the browser is searched after it ended: sessions, caches, forms and databases."""
    launched = chromium.browser_type.launch_persistent_context(
        tmp_path, executable_path=chromium_path, headless=True, args=["--no-sandbox"]
    )
    page = launched.new_page()
    answer(page, survey.address(), ANN)
    page.evaluate("localStorage.setItem('planted', 'neuralgia')")
    launched.close()

    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert any(_has(content, "neuralgia") for content in files)
    assert not any(_has(content, "migraine") for content in files)


def _has(content: bytes, word: str) -> bool:
    return word.encode() in content or word.encode("utf-16-le") in content
