"""Whatever is sent, there is an answer with all headers, it is no fault, and it repeats nothing that was sent."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ldiversity.collection.blind import BlindKey
from ldiversity.collection.server import create_app
from ldiversity.web import security_headers
from tests.collection.servers import ORIGIN, TWO, Asked, application, report_of, signed_survey

PATHS = (
    "/",
    "/results",
    "/v1/survey",
    "/v1/reports",
    "/v1/reports/batch",
    "/v1/results",
    "/v1/tokens",
    "/health",
    "/static/page/page.css",
    "/static/",
    "/nothing",
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT")
HEADERS = security_headers(https=False)
CANARY = "cAnArY-7f3a"
EXAMPLES = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Asked]]:
    """One server for each kind of token."""
    key = BlindKey.new()
    surveys = [
        ({}, {}),
        ({"tokens": "invitation", "linked": False, "questions": TWO}, {}),
        ({"tokens": "blind", "blind_key": key.public.text}, {"blind_key": key}),
    ]
    with ExitStack() as stack:
        yield [
            stack.enter_context(application(tmp_path_factory.mktemp("fuzz"), signed_survey(**changes), **options))
            for changes, options in surveys
        ]


@pytest.fixture(autouse=True)
def faults(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="ldiversity")
    return caplog


def check(answer: httpx.Response, faults: pytest.LogCaptureFixture) -> None:
    assert answer.status_code < 500
    assert [header for header in HEADERS if header not in answer.headers.raw] == []
    assert CANARY not in answer.text + str(answer.headers)
    assert faults.messages == []
    if answer.status_code >= 400 and answer.request.method != "HEAD":
        assert list(answer.json()) == ["error"]


def test_every_address_of_the_server_is_tried(servers: list[Asked]) -> None:
    app = create_app(servers[0].store, servers[0].signed, servers[0].options)
    addresses = [str(getattr(route, "path", "")).replace("{path:path}", "page/page.css") for route in app.routes]

    assert len(addresses) > 1
    assert [address for address in addresses if address not in PATHS] == []


some_name = st.text(max_size=8) | st.just(CANARY)
junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.just(CANARY)
    | st.integers(min_value=-3, max_value=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.just(CANARY), inner, max_size=4)
    ),
    max_leaves=12,
)
names = st.sampled_from(
    [
        "content-type",
        "content-length",
        "origin",
        "x-forwarded-for",
        "content-encoding",
        "accept-encoding",
        "if-none-match",
    ]
)
values = st.sampled_from(
    ["application/json", "text/plain", "", "0", "-1", "9" * 30, ORIGIN, "null", "gzip", CANARY, "a,b", "::1, %zz"]
) | st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40)


@EXAMPLES
@given(
    place=st.integers(0, 2),
    method=st.sampled_from(METHODS),
    path=st.sampled_from(PATHS) | st.text(st.characters(codec="utf-8"), max_size=20).map(lambda text: f"/{text}"),
    headers=st.lists(st.tuples(names, values), max_size=4),
    body=st.binary(max_size=600) | junk.map(lambda made: json.dumps(made).encode()),
)
def test_anything_at_any_address(
    servers: list[Asked],
    faults: pytest.LogCaptureFixture,
    place: int,
    method: str,
    path: str,
    headers: Any,
    body: bytes,
) -> None:
    try:
        answer = servers[place].client.request(method, path, headers=headers, content=body)
    except (httpx.InvalidURL, UnicodeError):
        return  # the client itself does not send that
    check(answer, faults)


@st.composite
def changed(draw: st.DrawFn) -> tuple[int, list[tuple[str, Any]]]:
    fields = st.sampled_from(["survey", "token", "quasi", "sets", "signature", "age", "disease", "first", CANARY])
    return draw(st.integers(0, 2)), draw(st.lists(st.tuples(fields, junk), min_size=1, max_size=3))


@EXAMPLES
@given(change=changed(), inside=st.booleans(), path=st.sampled_from(["/v1/reports", "/v1/reports/batch"]))
def test_reports_with_a_few_wrong_fields(
    servers: list[Asked], faults: pytest.LogCaptureFixture, change: Any, inside: Any, path: str
) -> None:
    place, changes = change
    asked = servers[place]
    report = json.loads(report_of(asked.signed, 1))
    for name, value in changes:
        target = report["quasi"] if inside and name == "age" else report["sets"] if inside else report
        if isinstance(target, dict):
            target[name] = value
    body = json.dumps([report] if path.endswith("batch") else report).encode()

    check(asked.post(path, body.ljust(asked.signed.survey.report_bytes)), faults)


@EXAMPLES
@given(place=st.integers(0, 2), at=st.integers(0, 400), byte=st.integers(0, 255), cut=st.integers(0, 3))
def test_reports_with_one_other_byte(
    servers: list[Asked], faults: pytest.LogCaptureFixture, place: int, at: int, byte: int, cut: int
) -> None:
    body = bytearray(report_of(servers[place].signed, 2))
    body[at % len(body)] = byte
    sent = bytes(body) if cut else bytes(body[:at])

    check(servers[place].post("/v1/reports", sent), faults)


@EXAMPLES
@given(
    fields=st.fixed_dictionaries(
        {},
        optional={
            "survey": st.just("0" * 64) | junk,
            "part": st.integers(-2, 30) | junk,
            "invitation": st.just("A" * 22) | junk,
            "blinded": st.just("A" * 512) | st.just("_" * 512) | junk,
            CANARY: junk,
        },
    )
)
def test_requests_for_tokens(servers: list[Asked], faults: pytest.LogCaptureFixture, fields: dict[str, Any]) -> None:
    known = {"survey": servers[2].signed.id, "part": 0, "invitation": "A" * 22, "blinded": "A" * 511 + "E"}

    check(servers[2].post("/v1/tokens", {**known, **fields}), faults)


def test_a_planted_fault_is_caught(servers: list[Asked], faults: pytest.LogCaptureFixture, monkeypatch: Any) -> None:
    def fail(*_: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr("ldiversity.collection.survey._report.Reports._keep", fail)
    answer = servers[0].post("/v1/reports", report_of(servers[0].signed, 1))

    with pytest.raises(AssertionError):
        check(answer, faults)
    assert CANARY not in answer.text + str(faults.messages)
