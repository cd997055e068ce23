"""What every endpoint answers, and that answers do not depend on what was stored before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ldiversity.collection.survey import SignedSurvey
from ldiversity.errors import ParameterError, StorageError
from ldiversity.web import security_headers
from tests.collection.servers import ORIGIN, Asked, application, report_of, signed_survey


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    with application(tmp_path, signed_survey()) as found:
        yield found


@pytest.fixture
def on_each_database(database_url: str) -> Iterator[Asked]:
    with application(database_url, signed_survey()) as found:
        yield found


def whole(answer: httpx.Response) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Everything that an answer says."""
    return answer.status_code, answer.headers.raw, answer.content


def test_a_report_is_stored_once_and_every_answer_is_the_same(on_each_database: Asked) -> None:
    asked = on_each_database
    first, other = report_of(asked.signed, 1), report_of(asked.signed, 2)
    token = json.loads(first)["token"]
    same_token = report_of(asked.signed, 3, token=token)

    answers = [whole(asked.post("/v1/reports", body)) for body in (first, first, same_token, other)]

    assert same_token != first
    assert answers[0] == answers[1] == answers[2] == answers[3]
    assert answers[0][0] == 204
    assert asked.stored() == 2
    assert asked.client.get("/health").status_code == 200


def test_a_batch_is_stored_as_single_reports_are(on_each_database: Asked) -> None:
    asked = on_each_database
    reports = [json.loads(report_of(asked.signed, number)) for number in range(1000)]
    asked.post("/v1/reports", report_of(asked.signed, 7))

    answers = [whole(asked.post("/v1/reports/batch", reports)) for _ in range(2)]

    assert answers[0] == answers[1]
    assert answers[0][0] == 204
    assert asked.stored() == 1000


def test_a_batch_of_more_than_a_thousand_is_too_large(asked: Asked) -> None:
    reports = [json.loads(report_of(asked.signed, number)) for number in range(1001)]

    assert asked.post("/v1/reports/batch", reports).status_code == 413
    assert asked.stored() == 0


def test_one_bad_report_refuses_its_batch(asked: Asked) -> None:
    reports = [json.loads(report_of(asked.signed, number)) for number in range(3)]
    reports[1]["sets"]["disease"] = [0, 0, 1]

    assert asked.post("/v1/reports/batch", reports).status_code == 422
    assert asked.stored() == 0


@pytest.mark.parametrize(
    "change",
    [
        {"canary": 1},
        {"survey": "0" * 64},
        {"token": "short"},
        {"token": "B" * 22},  # spells the same bytes as another text
        {"token": "A" * 43},
        {"signature": "A" * 512},
        {"quasi": {"age": 0}},
        {"quasi": {"age": 3, "sex": 0}},
        {"quasi": {"age": 0, "sex": 0, "canary": 0}},
        {"sets": {"disease": [0, 1]}},
        {"sets": {"disease": [2, 1, 0]}},
        {"sets": {"disease": [0, 1, 6]}},
        {"sets": {"disease": [0, 1, "canary"]}},
        {"sets": {"canary": [0, 1, 2]}},
        {"sets": {}},
    ],
)
def test_what_no_device_sends_is_refused_in_one_sentence_without_it(asked: Asked, change: dict[str, object]) -> None:
    report = {**json.loads(report_of(asked.signed, 1)), **change}
    body = json.dumps(report).encode().ljust(asked.signed.survey.report_bytes)

    for path, sent in (("/v1/reports", body), ("/v1/reports/batch", json.dumps([report]).encode())):
        answer = asked.post(path, sent)
        assert answer.status_code == (413 if path == "/v1/reports" and "signature" in change else 422)
        assert "canary" not in answer.text
        assert list(answer.json()) == ["error"]
    assert asked.stored() == 0


@pytest.mark.parametrize("length", [-1, 1, 5000])
def test_a_report_of_another_length_is_refused(asked: Asked, length: int) -> None:
    body = report_of(asked.signed, 1)
    sent = body[:length] if length < 0 else body + b" " * length

    assert asked.post("/v1/reports", sent).status_code == (422 if length < 0 else 413)


def test_the_survey_is_served_as_it_was_signed(asked: Asked) -> None:
    answer = asked.client.get("/v1/survey")

    assert SignedSurvey.from_json(answer.content) == asked.signed
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", ["/", "/results", "/v1/survey", "/v1/results", "/health", "/static/page/page.css"])
def test_pages_and_data_are_there_for_get_and_head(asked: Asked, path: str) -> None:
    got, head = asked.client.get(path), asked.client.request("HEAD", path)

    assert (got.status_code, head.status_code, head.content) == (200, 200, b"")
    assert got.headers == head.headers
    assert asked.client.request("OPTIONS", path).headers["allow"] == "GET, HEAD, OPTIONS"
    assert asked.client.request("POST", path).status_code == 405
    assert "server" not in got.headers
    assert "set-cookie" not in got.headers


def test_results_are_those_of_the_stored_reports(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.collection.server._live._REST_SECONDS", -1.0)
    assert asked.client.get("/v1/results").json()["answers"] is None
    for begin in (0, 500):
        reports = [json.loads(report_of(asked.signed, number)) for number in range(begin, begin + 500)]
        asked.post("/v1/reports/batch", reports)
        asked.post("/v1/reports/batch", reports)
        shown = asked.client.get("/v1/results").json()
        assert begin < shown["answers"] <= begin + 500
    assert str(shown["answers"]) in asked.client.get("/results").text.replace(",", "")


def test_results_that_cannot_be_remembered_are_not_shown(tmp_path: Path) -> None:
    with application(tmp_path, signed_survey(), remembered=tmp_path / "missing" / "results.json") as asked:
        asked.post("/v1/reports/batch", [json.loads(report_of(asked.signed, number)) for number in range(500)])
        for path in ("/v1/results", "/results"):
            answer = asked.client.get(path)
            assert (answer.status_code, list(answer.json())) == (503, ["error"])


def test_a_file_of_results_that_cannot_be_used_is_told_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text("{}")
    with (
        pytest.raises(ParameterError, match="must be one that this command wrote"),
        application(tmp_path, signed_survey(), remembered=file),
    ):
        pass


def test_results_that_are_not_public_are_not_shown(tmp_path: Path) -> None:
    rules = {"public": False, "minimum": 100, "step": 50, "goal": 0.02}
    with application(tmp_path, signed_survey(results=rules)) as asked:
        assert [asked.client.get(path).status_code for path in ("/results", "/v1/results")] == [403, 403]


def test_a_closed_survey_takes_no_more_reports(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    body = report_of(asked.signed, 1)
    assert asked.post("/v1/reports", body).status_code == 204
    asked.store.close_survey(asked.signed.id)

    # Within a second the server may not know, but the store does.
    assert asked.post("/v1/reports", report_of(asked.signed, 2)).status_code == 410
    monkeypatch.setattr("ldiversity.collection.server._collector._FRESH_SECONDS", -1.0)
    answers = [asked.post("/v1/reports", report_of(asked.signed, number)) for number in (1, 2)]

    assert whole(answers[0]) == whole(answers[1])
    assert answers[0].status_code == 410
    assert asked.stored() == 1
    assert asked.client.get("/health").status_code == 200


def test_a_survey_closes_at_the_end_of_its_last_day(tmp_path: Path) -> None:
    with application(tmp_path, signed_survey(closes="2020-01-01")) as asked:
        assert asked.post("/v1/reports", report_of(asked.signed, 1)).status_code == 410
        assert asked.post("/v1/reports/batch", b"[]").status_code == 410


def test_a_database_that_fails_is_told_in_one_sentence(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise StorageError("database", "canary")

    monkeypatch.setattr(asked.store, "add", fail)
    answers = [asked.post("/v1/reports", report_of(asked.signed, 1)), asked.client.get("/health")]

    assert [answer.status_code for answer in answers] == [503, 503]
    assert not [answer for answer in answers if "canary" in answer.text]
    assert answers[0].headers["retry-after"] == "5"


def test_another_host_and_posts_of_other_pages_are_refused(asked: Asked) -> None:
    body = report_of(asked.signed, 1)
    other = "https://other.example"

    assert asked.client.get("/v1/survey", headers={"Host": "other.example"}).status_code == 421
    assert asked.post("/v1/reports/batch", b"[]", Origin=other).status_code == 403
    assert asked.post("/v1/reports/batch", b"[]", Origin=ORIGIN).status_code == 204
    assert asked.post("/v1/reports", body, Origin=other).status_code == 204


def test_every_answer_has_the_security_headers(asked: Asked) -> None:
    expected = security_headers(https=False)
    answers = [
        asked.client.get("/"),
        asked.client.get("/nothing"),
        asked.post("/v1/reports", report_of(asked.signed, 1)),
        asked.post("/v1/reports", b"{}"),
        asked.client.request("PUT", "/v1/reports"),
    ]

    assert [len([h for h in expected if h in a.headers.raw]) for a in answers] == [len(expected)] * len(answers)


def test_the_holder_learns_that_the_database_was_not_tidied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StorageError("database", "has no room left")

    monkeypatch.setattr("ldiversity.collection.store.Store.tidy", fail)
    monkeypatch.setattr("ldiversity.collection.server._app._WATCH_SECONDS", 0.01)
    with application(tmp_path, signed_survey()) as asked:
        assert asked.post("/v1/reports", report_of(asked.signed, 1)).status_code == 204
        while not caplog.messages:
            asked.client.get("/health")
        assert asked.stored() == 1

    assert {*caplog.messages} == {"the database could not be tidied: database: has no room left."}
