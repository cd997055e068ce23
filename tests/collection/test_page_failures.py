"""What a person reads when something does not work: one sentence with a way out, and nothing of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from ldiversity.collection.survey import SurveyKey
from tests.collection.people import ANN, SURVEY, agree, fill, preview
from tests.collection.served import Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


NO_DATABASE = "Object.defineProperty(globalThis, 'indexedDB', { value: undefined })"
BLOCKED_DATABASE = "IDBFactory.prototype.open = () => { throw new DOMException('', 'SecurityError') }"
NO_SIGNATURES = """
for (const name of ["importKey", "generateKey"]) {
  const known = SubtleCrypto.prototype[name];
  SubtleCrypto.prototype[name] = function (...given) {
    const unknown = new DOMException("", "NotSupportedError");
    return given.includes("Ed25519") ? Promise.reject(unknown) : known.apply(this, given);
  };
}
"""


@pytest.fixture(scope="module")
def survey() -> Iterator[Served]:
    """A survey with one question."""
    with served(SURVEY) as here:
        yield here


def problem(page: Page) -> Locator:
    """What did not work; it has the focus, so that a screen reader begins there."""
    found = page.get_by_role("alert").filter(has_text="This did not work")
    found.wait_for()
    assert found.evaluate("node => node === document.activeElement")
    assert "migraine" not in found.inner_text()
    return found


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (NO_DATABASE, "Open the page in an ordinary window, not in a private one."),
        (BLOCKED_DATABASE, "Open the page in an ordinary window, not in a private one."),
        (NO_SIGNATURES, "This browser is too old to check the collector's signature."),
        ("Object.defineProperty(globalThis, 'isSecureContext', { value: false })", "This page works only over https"),
    ],
    ids=["no database", "blocked database", "no signatures", "no https"],
)
def test_a_browser_that_cannot_hide_an_answer_is_not_asked(page: Page, survey: Served, script: str, said: str) -> None:
    page.add_init_script(script)
    page.goto(survey.address())

    assert said in problem(page).inner_text()
    assert not page.get_by_label("I agree").is_visible()


def test_another_key_than_that_of_the_address_is_refused(page: Page, survey: Served) -> None:
    page.goto(f"{survey.root()}#k={'A' * 22}")

    assert "another key signed it" in problem(page).inner_text()
    assert not page.get_by_label("I agree").is_visible()


def test_a_survey_that_was_changed_is_refused(page: Page, survey: Served) -> None:
    other = SurveyKey.new().sign(survey.signed.survey)
    forged = type(other)(other.raw.replace(b"migraine", b"headache"), other.signature, other.public_key)
    page.route("**/v1/survey", lambda route: route.fulfill(body=forged.to_json()))
    page.goto(survey.root())

    assert "the signature does not fit" in problem(page).inner_text()
    assert not page.get_by_label("I agree").is_visible()


def test_without_a_connection_the_page_can_be_tried_again(page: Page, survey: Served) -> None:
    page.route("**/v1/survey", lambda route: route.abort())
    page.goto(survey.address())
    assert "The server cannot be reached." in problem(page).inner_text()
    page.unroute("**/v1/survey")
    page.get_by_role("button", name="Try again").click()

    page.get_by_label("I agree").wait_for()
    assert not page.get_by_text("This did not work").is_visible()


@pytest.mark.parametrize(
    ("status", "said", "again"),
    [
        (410, "The survey is closed and takes no more answers.", False),
        (422, "The server refused what was sent, and kept nothing of it.", False),
        (429, "Many people are answering right now.", True),
        (503, "The server cannot store answers at the moment.", True),
        (0, "The server cannot be reached.", True),
    ],
)
def test_a_report_that_is_not_taken(page: Page, survey: Served, status: int, said: str, again: bool) -> None:  # noqa: FBT001
    page.route(
        "**/v1/reports", lambda route: route.fulfill(status=status, body="{}") if status else route.abort("failed")
    )
    agree(page, survey.address())
    fill(page, ANN)
    preview(page)
    page.get_by_role("button", name="Send this").click()

    assert said in problem(page).inner_text()
    assert page.get_by_role("button", name="Try again").is_visible() == again


def test_a_report_that_is_tried_again_counts_once(page: Page, survey: Served) -> None:
    known = survey.count()
    agree(page, survey.address())
    fill(page, ANN)
    preview(page)
    # The server stores the report, but its answer is lost.
    page.route("**/v1/reports", lambda route: (route.fetch(), route.abort("failed")))
    page.get_by_role("button", name="Send this").click()
    problem(page)
    page.unroute("**/v1/reports")
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("heading", name="Thank you").wait_for()

    assert survey.count() == known + 1


def test_a_closed_survey_asks_nothing(page: Page) -> None:
    with served(SURVEY) as here:
        here.store.close_survey(here.signed.id)
        page.goto(here.address())

        assert page.get_by_text("It takes no more answers.").is_visible()
        assert not page.get_by_label("I agree").is_visible()


def test_without_javascript_the_page_says_why_it_is_needed(chromium: Browser, survey: Served) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(survey.address())

    assert page.get_by_role("heading", name="This page needs JavaScript").is_visible()
    context.close()
