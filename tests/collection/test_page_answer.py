"""Answering a survey in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

from ldiversity.collection.survey import Survey, SurveyKey
from tests.collection.people import ANN, DISEASES, SURVEY, TWO_QUESTIONS, agree, answer, fill, preview, send
from tests.collection.served import Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def survey() -> Iterator[Served]:
    """A survey with one question."""
    with served(SURVEY) as here:
        yield here


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page of a new device, on which nothing may go wrong unseen."""
    context = chromium.new_context(viewport={"width": 320, "height": 640})
    context.set_default_timeout(20_000)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    context.close()
    assert not faults


def ask_instead(page: Page, survey: Mapping[str, object]) -> None:
    """Let the same server ask another survey: a browser keeps the secrets of two servers apart."""
    other = SurveyKey.new().sign(Survey.model_validate(survey)).to_json()
    page.route("**/v1/survey", lambda route: route.fulfill(body=other))


def test_what_is_shown_is_what_is_sent(page: Page, survey: Served) -> None:
    agree(page, survey.address())
    fill(page, ANN)
    lines = preview(page)
    shown = page.locator("pre").text_content()
    with page.expect_request("**/v1/reports") as sent:
        send(page)

    report = json.loads(shown or "")
    members = [DISEASES[code] for code in report["sets"]["disease"]]
    assert sent.value.post_data == shown
    assert lines == [
        "How old are you? 30-44",
        "What is your sex? female",
        f"Which of these did you have? one of {' '.join(members)}",
    ]
    assert "migraine" in members
    assert report["quasi"] == {"age": 1, "sex": 0}


def test_answering_again_gives_the_same_set_and_counts_once(page: Page, survey: Served) -> None:
    agree(page, survey.address())
    fill(page, ANN)
    first = preview(page)
    send(page)
    page.get_by_role("button", name="Answer again").click()
    fill(page, ANN)

    assert preview(page) == first
    assert page.locator("#again").is_visible()
    known = survey.count()
    send(page)
    assert survey.count() == known


def test_nothing_is_sent_before_the_person_sends(page: Page, survey: Served) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(f"{request.method} {request.url}"))
    agree(page, survey.address())
    loaded = len(sent)
    fill(page, ANN)
    preview(page)
    page.get_by_role("button", name="Change my answers").click()
    page.get_by_role("heading", name="Questions").wait_for()

    assert len(sent) == loaded
    assert all(line.startswith("GET ") for line in sent)
    assert page.get_by_role("radio", name="migraine").is_checked()


def test_a_survey_that_is_not_linked_sends_one_report_per_question(page: Page) -> None:
    with served(TWO_QUESTIONS) as here:
        agree(page, here.address())
        page.get_by_label("Find in the list").fill("JOB 17")
        assert page.get_by_label("What is your job?").locator("option").all_inner_texts() == ["job 17"]
        fill(page, {**ANN, "job": "job 17"})
        lines = preview(page)
        assert page.get_by_text("Nothing in them says that they belong together").is_visible()
        send(page)

        assert page.get_by_text("All reports have arrived").is_visible()
        assert [here.count(part) for part in (0, 1)] == [1, 1]
        person = ["How old are you", "What is your sex"]
        asked = [*person, "Which of these did you have", *person, "What is your job"]
        assert [line.split("?")[0] for line in lines] == asked


def test_missing_answers_are_named_and_led_to(page: Page, survey: Served) -> None:
    agree(page, survey.address())
    page.get_by_label("How old are you?").fill("17")
    page.get_by_role("button", name="Show what will be sent").click()
    summary = page.get_by_role("alert").filter(has_text="Please look at this again")

    assert summary.evaluate("node => node === document.activeElement")
    assert summary.get_by_role("link").all_inner_texts() == [
        "How old are you? Enter a whole number from 18 up.",
        "What is your sex? Choose one answer.",
        "Which of these did you have? Choose one answer.",
    ]
    summary.get_by_role("link", name="Which of these").click()
    assert page.get_by_role("radio", name="gastritis").evaluate("node => node === document.activeElement")
    assert page.url == survey.address()


def test_consent_is_needed(page: Page, survey: Served) -> None:
    page.goto(survey.address())
    page.get_by_role("button", name="Go to the questions").click()

    assert page.get_by_text("Tick the box to go on").is_visible()
    assert page.get_by_label("I agree").evaluate("node => node === document.activeElement")
    assert not page.get_by_role("heading", name="Questions").is_visible()


def test_a_question_in_another_form_is_asked_first(page: Page, survey: Served) -> None:
    answer(page, survey.address(), ANN)
    question = {
        **SURVEY["questions"][0],
        "values": [*DISEASES, "flu", "cold"],
        "mechanism": {"kind": "uniform", "version": 2, "n_values": 6, "l": 2},
    }
    ask_instead(page, {**SURVEY, "questions": [question]})
    agree(page, survey.root())
    page.get_by_role("heading", name="Before you answer").wait_for()
    assert page.get_by_text("answered a question named disease before").is_visible()

    page.get_by_role("button", name="Answer anyway").click()
    fill(page, ANN)
    assert preview(page)[:2] == ["How old are you? 30-44", "What is your sex? female"]


def test_a_person_who_does_not_want_to_answer_twice_leaves(page: Page, survey: Served) -> None:
    answer(page, survey.address(), ANN)
    renamed = {**SURVEY, "questions": [{**SURVEY["questions"][0], "name": "illness"}]}
    known = survey.count()
    ask_instead(page, renamed)
    agree(page, survey.root())
    page.get_by_role("button", name="Do not answer").click()
    page.get_by_role("heading", name="Nothing was sent").wait_for()

    assert survey.count() == known


def test_erasing_makes_a_new_device(page: Page, survey: Served) -> None:
    answer(page, survey.address(), ANN)
    known = survey.count()
    page.get_by_role("button", name="Erase the key and the list").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Erase for good").click()
    page.get_by_role("heading", name="Erased").wait_for()
    answer(page, survey.address(), ANN)

    assert survey.count() == known + 1
