"""What the network and the collector see does not depend on the answer beyond its set.

Two new devices with different answers but the same set must cause the same traffic: every request and every response,
byte for byte, in any order, apart from the token, which follows from the device's secret alone. Devices get known
secrets, so that the sets, and the tokens, are those that Python computes.

How it can miss a leak: it compares few answers in one browser, so a page that leaks other ones, at other times or
by chance is not seen. It does not look at when messages are sent, at how connections are shared, or at what lies below
HTTP. It sees what one visit sends; what a later visit could send of stored answers is the matter of another test, which
searches the storage.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from ldiversity.collection.draw import DeviceSecret
from tests.collection.people import SURVEY, TWO_QUESTIONS, answer, with_secret
from tests.collection.served import Served, served
from tests.collection.wire import Wire

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Exchanges = list[tuple[bytes, bytes]]

ANN = {"age": "31", "sex": "female", "disease": "gastritis"}
BEA = {"age": "44", "sex": "female", "disease": "asthma"}
"""Another age of the same range, and another answer."""

EXTRA_HEADER = """
const honest = window.fetch;
window.fetch = (address, options = {}) => {
  const chosen = document.querySelector("#questions :checked[name=q2]");
  return honest(address, chosen && options.method === "POST"
    ? { ...options, headers: { ...options.headers, "x-trace": chosen.value } } : options);
};
"""
ONE_BIT_OF_PADDING = """
const honest = window.fetch;
window.fetch = (address, options = {}) => {
  const chosen = document.querySelector("#questions :checked[name=q2]");
  if (chosen && options.method === "POST" && chosen.value % 2) options.body[options.body.length - 1] = 9;
  return honest(address, options);
};
"""
"""A tab in the place of the last blank tells whether the answer is odd; the server takes both."""


@dataclass
class Office:
    """A survey behind a wire that remembers everything."""

    here: Served
    wire: Wire
    browser: Browser

    def traffic(self, secret: bytes, answers: dict[str, str], leak: str = "") -> Exchanges:
        """What a new device with this secret sends and gets, its token left out."""
        self.wire.start_again()
        context = self.browser.new_context()
        context.add_init_script(with_secret(secret) + leak)
        answer(context.new_page(), self.here.address(self.wire.port), answers)
        context.close()
        found = self.wire.exchanges()
        for token in self.tokens_of(secret):
            assert sum(token in said for said, _ in found) == 1
            assert not any(token in heard for _, heard in found)
            found = [(said.replace(token, b"T" * len(token)), heard) for said, heard in found]
        return sorted(found)

    def sets_of(self, secret: bytes, answers: dict[str, str]) -> list[tuple[int, ...]]:
        """The sets that Python draws for a device."""
        hide = DeviceSecret(secret).hide
        asked = self.here.signed.survey.questions
        return [hide(one.draw, one.name, one.values, one.values.index(answers[one.name])) for one in asked]

    def tokens_of(self, secret: bytes) -> list[bytes]:
        """The tokens that Python derives for a device, one for each report."""
        derived = (
            DeviceSecret(secret).token(self.here.signed.id, at) for at in range(len(self.here.signed.survey.parts))
        )
        return [base64.urlsafe_b64encode(token).rstrip(b"=") for token in derived]

    def devices(self, *people: dict[str, str]) -> list[bytes]:
        """A secret for each person, all different, so that all have the same sets."""
        secrets = [at.to_bytes(32, "big") for at in range(400)]
        drawn = [{secret: self.sets_of(secret, person) for secret in secrets} for person in people]
        for goal in drawn[0].values():
            found = [[secret for secret, sets in one.items() if sets == goal] for one in drawn]
            # One secret can give two answers the same sets, but two devices never have the same secret.
            chosen = [secrets_of[at] for at, secrets_of in enumerate(found) if len(secrets_of) > at]
            if len(set(chosen)) == len(people):
                return chosen
        raise AssertionError("more secrets must be tried")


@pytest.fixture(scope="module")
def office(chromium: Browser) -> Iterator[Office]:
    """A survey with one question."""
    with Wire() as wire, served(SURVEY, also=wire.port) as here:
        wire.pass_on_to(here.port)
        yield Office(here, wire, chromium)


def test_a_report_says_the_set_that_python_draws_and_nothing_else(office: Office) -> None:
    (secret,) = office.devices(ANN)
    posted = [said for said, _ in office.traffic(secret, ANN) if said.startswith(b"POST ")]

    body = posted[0].partition(b"\r\n\r\n")[2]
    assert len(posted) == 1
    assert len(body) == office.here.signed.survey.report_bytes
    assert json.loads(body) == {
        "survey": office.here.signed.id,
        "token": "T" * 22,
        "quasi": {"age": 1, "sex": 0},
        "sets": {"disease": list(office.sets_of(secret, ANN)[0])},
    }


def test_the_first_answer_moves_less_than_100_kb(office: Office) -> None:
    """Everything that a new browser gets and sends until its first report is stored, with all headers."""
    (secret,) = office.devices(ANN)
    traffic = office.traffic(secret, ANN)
    paths = [said.split(b" ")[1].decode() for said, _ in traffic]
    page = next(heard for said, heard in traffic if said.startswith(b"GET / "))
    scripts = {f"/{path}" for path in re.findall(r'(?:href|src)="(static/[^"]+[.]js)"', page.decode())}

    assert sum(len(said) + len(heard) for said, heard in traffic) < 100_000
    # A phone far away gets all scripts at once, each of them once, and none that the answer does not need.
    assert sorted(scripts) == [path for path in sorted(paths) if path.endswith(".js")]


def test_two_devices_with_the_same_answer_and_set_send_equal_traffic(office: Office) -> None:
    one, other = office.devices(ANN, ANN)

    assert office.traffic(one, ANN) == office.traffic(other, ANN)


def test_two_devices_with_different_answers_and_the_same_set_send_equal_traffic(office: Office) -> None:
    one, other = office.devices(ANN, BEA)

    assert office.traffic(one, ANN) == office.traffic(other, BEA)


def test_reports_that_are_not_linked_are_equal_as_well(chromium: Browser) -> None:
    ann, bea = {**ANN, "job": "job 07"}, {**BEA, "job": "job 31"}
    with Wire() as wire, served(TWO_QUESTIONS, also=wire.port) as here:
        wire.pass_on_to(here.port)
        office = Office(here, wire, chromium)
        one, other = office.devices(ann, bea)

        traffic = office.traffic(one, ann)
        assert traffic == office.traffic(other, bea)
        assert sum(said.startswith(b"POST ") for said, _ in traffic) == 2


@pytest.mark.parametrize("leak", [EXTRA_HEADER, ONE_BIT_OF_PADDING], ids=["header", "padding"])
def test_a_page_that_leaks_is_caught(office: Office, leak: str) -> None:
    one, other, same = office.devices(ANN, BEA, ANN)

    assert office.traffic(one, ANN, leak) != office.traffic(other, BEA, leak)
    assert office.traffic(one, ANN, leak) == office.traffic(same, ANN, leak)
