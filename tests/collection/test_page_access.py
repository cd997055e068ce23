"""Everyone can use the pages: with the keyboard alone, with a screen reader, on a small phone, in light and dark."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import pytest

from ldiversity.collection.draw import DeviceSecret
from ldiversity.collection.survey import Reports, write_report
from tests.collection.people import ANN, SURVEY, agree, fill, preview, send
from tests.collection.served import Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def survey() -> Iterator[Served]:
    """A survey with one question, and so many answers that some results are shown."""
    with served(SURVEY) as here:
        reports = Reports(here.signed.survey, here.signed.id)
        question = here.signed.survey.questions[0]
        raw = []
        for at in range(40):
            secret = DeviceSecret(at.to_bytes(32, "big"))
            members = secret.hide(question.draw, question.name, question.values, at % 3)
            quasi = {"age": int(at > 35), "sex": at % 2}
            raw.append(write_report(here.signed.survey, here.signed.id, f"{at:022d}", quasi, {"disease": members}))
        here.store.add(here.signed.id, [reports.read(one)[0] for one in raw])
        yield here


def complaints(page: Page) -> list[str]:
    """What axe finds serious or critical."""
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{one['id']}: {node['target']}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]


@pytest.fixture(params=["light", "dark"])
def examined(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[Page]:
    """A page that axe can look at; only for that, scripts of others are let in."""
    pytest.importorskip("axe_core_python", reason="axe is not installed: pip install axe-core-python")
    axe = importlib.resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    scheme: Scheme = request.param
    context = chromium.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": 390, "height": 844})
    context.add_init_script(axe)
    yield context.new_page()
    context.close()


def test_axe_finds_nothing_serious_on_any_step(examined: Page, survey: Served) -> None:
    found = {}
    examined.goto(survey.address())
    examined.get_by_role("button", name="Go to the questions").click()
    examined.locator("footer summary").first.click()
    found["about"] = complaints(examined)
    agree(examined, survey.address())
    examined.get_by_role("button", name="Show what will be sent").click()
    found["questions"] = complaints(examined)
    fill(examined, ANN)
    preview(examined)
    examined.locator("summary").filter(has_text="exact").click()
    found["check"] = complaints(examined)
    send(examined)
    found["done"] = complaints(examined)
    examined.get_by_role("button", name="Erase the key and the list").first.click()
    found["erase"] = complaints(examined)

    assert not any(found.values()), found


def test_axe_finds_nothing_serious_in_the_results(examined: Page, survey: Served) -> None:
    examined.goto(f"{survey.root()}results")
    for summary in examined.locator("summary").all():
        summary.click()

    assert examined.get_by_role("table").count() > 1
    assert complaints(examined) == []


def test_axe_finds_planted_faults(examined: Page, survey: Served) -> None:
    examined.goto(survey.address())
    examined.get_by_label("I agree").wait_for()
    examined.evaluate("""() => {
      const box = document.querySelector("#agree");
      box.closest("label").replaceWith(box);
      const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
      document.querySelector("#consent p").style.color = isDark ? "#505860" : "#a0a8b0";
    }""")

    assert {"label: ['#agree']", "color-contrast: ['#consent > p']"} <= set(complaints(examined))


@pytest.fixture
def strict(chromium: Browser) -> Iterator[Page]:
    """A page of the smallest phone on which every breach of the policy, and every foreign request, is noted."""
    context = chromium.new_context(viewport={"width": 320, "height": 568}, reduced_motion="reduce")
    page = context.new_page()
    noted: list[str] = []

    def note(said: str) -> None:  # the driver wants a function of Python
        noted.append(said)

    page.expose_function("note", note)
    page.add_init_script(
        "document.addEventListener('securitypolicyviolation', (event) => note(event.violatedDirective))"
    )
    page.on("request", lambda request: None if "//127.0.0.1:" in request.url else noted.append(request.url))
    page.on("pageerror", lambda error: noted.append(str(error)))
    page.on("console", lambda message: noted.append(message.text) if message.type in {"error", "warning"} else None)
    yield page
    context.close()
    assert not noted


def press(page: Page, *keys: str) -> None:
    """Press keys one after another."""
    for key in keys:
        page.keyboard.press(key)


def focused(page: Page) -> str:
    """What has the focus: its text, or that of its label."""
    said: str = page.evaluate(
        "() => { const node = document.activeElement; return (node.labels?.[0] ?? node).textContent.trim(); }"
    )
    return said


def tab_to(page: Page, text: str) -> None:
    """Tab until something with this text has the focus."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if focused(page) == text:
            return
    raise AssertionError(f"the keyboard does not reach {text!r}")


def test_the_keyboard_is_enough(strict: Page, survey: Served) -> None:
    known = survey.count()
    strict.goto(survey.address())
    strict.get_by_label("I agree").wait_for()
    press(strict, "Tab")
    assert focused(strict) == "Skip to the content"
    tab_to(strict, "I agree")
    press(strict, "Space")
    tab_to(strict, "Go to the questions")
    press(strict, "Enter")
    strict.get_by_role("heading", name="Questions").wait_for()
    assert focused(strict) == "Questions"
    tab_to(strict, "How old are you?")
    strict.keyboard.type("37")
    tab_to(strict, "female")
    press(strict, "Space", "ArrowDown")
    tab_to(strict, "gastritis")
    press(strict, "Space", "ArrowDown", "ArrowDown")
    tab_to(strict, "Show what will be sent")
    press(strict, "Enter")
    strict.get_by_role("heading", name="This is all that will be sent").wait_for()
    assert focused(strict) == "This is all that will be sent"
    assert strict.locator(".sent dd").all_inner_texts()[:2] == ["30-44", "male"]
    assert "migraine" in strict.locator(".set").inner_text()
    tab_to(strict, "Send this")
    press(strict, "Enter")
    strict.get_by_role("heading", name="Thank you").wait_for()
    assert focused(strict) == "Thank you"
    tab_to(strict, "Erase the key and the list")
    press(strict, "Enter")
    assert focused(strict) == "Keep them"
    press(strict, "Escape")
    assert focused(strict) == "Erase the key and the list"
    assert survey.count() == known + 1


def test_nothing_is_wider_than_the_smallest_phone(strict: Page, survey: Served) -> None:
    def check() -> None:
        assert strict.evaluate("document.documentElement.scrollWidth") == 320

    agree(strict, survey.address())
    strict.get_by_role("button", name="Show what will be sent").click()
    check()
    fill(strict, ANN)
    preview(strict)
    strict.locator("summary").filter(has_text="exact").click()
    check()
    send(strict)
    check()
    strict.goto(f"{survey.root()}results")
    for summary in strict.locator("summary").all():
        summary.click()
    check()


def test_results_are_read_without_javascript(chromium: Browser, survey: Served) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{survey.root()}results")
    table = page.get_by_role("table", name="Which of these did you have?").first

    assert table.get_by_role("rowheader").all_inner_texts() == ["gastritis", "asthma", "migraine", "none of these"]
    assert page.get_by_text("They change in steps of 10 answers").is_visible()
    page.get_by_text("By age").click()
    assert page.get_by_text("Not shown, because fewer than 10 answers can be counted").first.is_visible()
    context.close()
