"""People with a browser, who answer a survey by its page as anyone would."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tests.unit.collection.surveys import plain

if TYPE_CHECKING:
    from playwright.sync_api import Page

DISEASES = ["gastritis", "asthma", "migraine", "none of these"]
JOBS = [f"job {at:02d}" for at in range(48)]

ANN = {"age": "37", "sex": "female", "disease": "migraine"}
"""What one of them answers."""

SURVEY = plain(
    title="Health at work",
    results={"public": True, "minimum": 10, "step": 10, "goal": 0.02},
    questions=[
        {
            "name": "disease",
            "ask": "Which of these did you have?",
            "values": DISEASES,
            "ordered": False,
            "positions": None,
            "mechanism": {"kind": "uniform", "version": 2, "n_values": 4, "l": 2},
        }
    ],
)
"""Three partitions of four values into two sets: two answers often have the same set."""

TWO_QUESTIONS = plain(
    linked=False,
    questions=[
        *SURVEY["questions"],
        {
            "name": "job",
            "ask": "What is your job?",
            "values": JOBS,
            "ordered": False,
            "positions": None,
            "mechanism": {"kind": "uniform", "version": 2, "n_values": 48, "l": 3},
        },
    ],
)
"""A survey that is not linked, with a list that is too long for radio buttons."""

KNOWN_DEVICE = """
const secret = Uint8Array.from(SECRET);
const random = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (places) => {
  if (places instanceof Uint8Array && places.length === 32) places.set(secret);
  else random(places);
  return places;
};
"""
"""Gives a new device a known secret: the page itself is as it is served."""


def with_secret(secret: bytes) -> str:
    """A script that gives a new device this secret."""
    return KNOWN_DEVICE.replace("SECRET", json.dumps(list(secret)))


def agree(page: Page, address: str) -> None:
    """Open the page, agree, and go on to the questions."""
    page.goto("about:blank")  # a browser does not load a page again if only the part after # would change
    page.goto(address)
    page.get_by_label("I agree").check()
    page.get_by_role("button", name="Go to the questions").click()


def fill(page: Page, answers: Mapping[str, str]) -> None:
    """Answer: a number goes into a box, and everything else is chosen."""
    page.get_by_role("heading", name="Questions").wait_for()
    page.get_by_label("How old are you?").fill(answers["age"])
    page.get_by_role("radio", name=answers["sex"], exact=True).check()
    page.get_by_role("radio", name=answers["disease"], exact=True).check()
    if "job" in answers:
        page.get_by_label("What is your job?").select_option(label=answers["job"])


def preview(page: Page) -> list[str]:
    """Go on, and read what will be sent."""
    page.get_by_role("button", name="Show what will be sent").click()
    page.get_by_role("heading", name="This is all that will be sent").wait_for()
    return [re.sub(r"\s+", " ", line).strip() for line in page.locator(".sent > div").all_inner_texts()]


def send(page: Page) -> None:
    """Send what was shown."""
    page.get_by_role("button", name="Send this").click()
    page.get_by_role("heading", name="Thank you").wait_for()


def answer(page: Page, address: str, answers: Mapping[str, str]) -> None:
    """Answer from the first to the last step."""
    agree(page, address)
    fill(page, answers)
    preview(page)
    send(page)
