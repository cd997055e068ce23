"""Surveys that want invitations, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from ldiversity.collection.blind import BlindKey
from ldiversity.collection.server import invitation_hashes, make_invitations
from tests.collection.people import ANN, SURVEY, agree, fill, preview, send
from tests.collection.served import Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Page

CODES = make_invitations(2)


@pytest.fixture(scope="module", params=["invitation", "blind"])
def survey(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A survey to which two people are invited."""
    key = BlindKey.new() if request.param == "blind" else None
    asked = {**SURVEY, "tokens": request.param, "blind_key": None if key is None else key.public.text}
    with served(asked, blind_key=key) as here:
        here.store.add_invitations(here.signed.id, invitation_hashes(here.signed, CODES))
        yield here


def test_an_invitation_in_the_address_is_used_and_counts_once(page: Page, survey: Served) -> None:
    known = survey.count()
    agree(page, f"{survey.address()}&i={CODES[0]}")
    assert page.get_by_label("Your invitation").input_value() == CODES[0]
    fill(page, ANN)
    preview(page)
    with page.expect_request("**/v1/reports") as sent:
        send(page)
    page.get_by_role("button", name="Answer again").click()
    fill(page, ANN)
    preview(page)
    send(page)

    token = json.loads(sent.value.post_data or "")["token"]
    assert survey.count() == known + 1
    assert (token == CODES[0]) == (survey.signed.survey.tokens == "invitation")


def test_an_invitation_that_nobody_gave_is_refused(page: Page, survey: Served) -> None:
    known = survey.count()
    agree(page, survey.address())
    fill(page, ANN)
    page.get_by_label("Your invitation").fill("too short")
    page.get_by_role("button", name="Show what will be sent").click()
    assert page.get_by_role("link", name="Your invitation: Enter its 22 letters.").is_visible()

    page.get_by_label("Your invitation").fill("A" * 21 + "Q")
    page.get_by_role("button", name="Show what will be sent").click()
    if survey.signed.survey.tokens == "invitation":
        page.get_by_role("button", name="Send this").click()
    page.get_by_text("The server does not know this invitation").wait_for()
    assert survey.count() == known
