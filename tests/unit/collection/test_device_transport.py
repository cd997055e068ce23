"""What a device sends over the network, seen by a collector that keeps every byte, and by hostile ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ldiversity.collection.answer import command
from ldiversity.collection.device import Device, _transport
from ldiversity.collection.survey import SignedSurvey, SurveyKey
from ldiversity.errors import ParameterError, StorageError
from tests.unit.collection.surveys import survey

ANSWERS = {"age": 44, "sex": "male", "disease": "ulcer"}


class Collector(ThreadingHTTPServer):
    """A collector that keeps what it is sent, and answers as a test wants it to."""

    def __init__(self, signed: SignedSurvey) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.survey = signed.to_json()
        self.sent: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[tuple[int, bytes, dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_GET(self) -> None:
        self._reply(200, self.server.survey, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.sent.append((self.path, dict(self.headers), body))
        self._reply(*(self.server.answers.pop(0) if self.server.answers else (204, b"", {})))

    def _reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def signed() -> SignedSurvey:
    return SurveyKey.new().sign(survey())


@pytest.fixture
def collector(signed: SignedSurvey, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    monkeypatch.setattr(_transport, "_PAUSES", (0.0, 0.0, 0.0))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Collector(signed) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def device(tmp_path: Path) -> Device:
    return Device.open(tmp_path / "device")


def test_what_is_sent_is_what_was_shown_and_the_same_for_everybody(
    collector: Collector, signed: SignedSurvey, device: Device, tmp_path: Path
) -> None:
    other, heads = Device.open(tmp_path / "other"), []
    for one in (device, other):
        preview = one.answer(signed, ANSWERS)
        one.send(preview, collector.url)
        path, headers, body = collector.sent.pop()
        assert (path, body) == ("/v1/reports", preview.reports[0].body)
        heads.append(headers)
    assert heads[0] == heads[1], "headers are the same for everybody"
    assert set(heads[0]) == {
        "Accept",
        "Accept-Encoding",
        "Connection",
        "Content-Length",
        "Content-Type",
        "Host",
        "User-Agent",
    }
    assert heads[0]["User-Agent"] == "ldiversity-device/1"


def test_a_survey_is_fetched_and_its_signer_compared(collector: Collector, signed: SignedSurvey) -> None:
    assert Device.fetch(collector.url).id == signed.id
    assert Device.fetch(f"{collector.url}#k={signed.fingerprint}").id == signed.id
    cut_off = {"url": f"{collector.url}#k="}
    for wrong in (cut_off, {"url": f"{collector.url}#k={'A' * 22}"}, {"url": collector.url, "fingerprint": "A" * 22}):
        with pytest.raises(ParameterError, match="another key signed it"):
            Device.fetch(**wrong)


def test_a_survey_that_was_changed_on_the_way_is_refused(collector: Collector, signed: SignedSurvey) -> None:
    collector.survey = SignedSurvey(signed.raw + b" ", signed.signature, signed.public_key).to_json()
    with pytest.raises(ParameterError, match="signature does not fit"):
        Device.fetch(collector.url)


def test_no_other_address_is_followed(collector: Collector, signed: SignedSurvey, device: Device) -> None:
    places = ("http://127.0.0.1:9/v1/reports", "file:///etc/passwd", "http://[")
    for status, place in product((301, 302, 303, 307, 308), places):
        collector.answers = [(status, b"", {"Location": place})]
        with pytest.raises(StorageError, match="sends to another address"):
            device.send(device.answer(signed, ANSWERS), collector.url)


def test_a_busy_collector_is_asked_again_with_the_same_bytes(
    collector: Collector, signed: SignedSurvey, device: Device
) -> None:
    collector.answers = [(503, b"{}", {}), (429, b"{}", {}), (204, b"", {})]
    device.send(device.answer(signed, ANSWERS), collector.url)
    assert len({body for _, _, body in collector.sent}) == 1
    assert len(collector.sent) == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((410, b'{"error": "The survey is closed."}', {}), "the collector answered: The survey is closed."),
        ((422, b'{"error": "a\\u001b[31m b"}', {}), "the collector answered: a[31m b"),
        ((422, b'{"error": 3}', {}), "with status 422"),
        ((500, b"<html>", {}), "with status 500"),
        ((422, b"[" * 200_000, {}), "with status 422"),
        ((422, b"zz", {"Transfer-Encoding": "chunked"}), "with status 422"),
    ],
)
def test_what_a_collector_says_is_one_printable_sentence(
    collector: Collector, signed: SignedSurvey, device: Device, answer: Any, said: str
) -> None:
    collector.answers = [answer] * 4
    with pytest.raises(StorageError) as caught:
        device.send(device.answer(signed, ANSWERS), collector.url)
    assert said in caught.value.message
    assert "\x1b" not in str(caught.value)


def test_an_address_may_have_any_letters(collector: Collector, signed: SignedSurvey) -> None:
    assert Device.fetch(f"{collector.url}befragung/größe").id == signed.id
    assert _transport.Address("https://example.org/gr%C3%B6ße/").to("") == "https://example.org/gr%C3%B6%C3%9Fe/"


def test_an_endless_answer_is_not_read(collector: Collector) -> None:
    collector.survey = b" " * 600_000
    with pytest.raises(StorageError, match="more than a survey can be"):
        Device.fetch(collector.url)


def test_a_question_is_in_the_ledger_even_if_nobody_answered(
    collector: Collector, signed: SignedSurvey, device: Device, tmp_path: Path
) -> None:
    collector.answers = [(500, b"", {})]
    with pytest.raises(StorageError):
        device.send(device.answer(signed, ANSWERS), collector.url)
    assert '"disease"' in (tmp_path / "device" / "ledger.json").read_text()


def test_nobody_at_the_address_is_said(
    signed: SignedSurvey, device: Device, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = collector.url
    monkeypatch.setattr(collector, "survey", b"")
    collector.shutdown()
    collector.server_close()
    with pytest.raises(StorageError, match="cannot be reached"):
        device.send(device.answer(signed, ANSWERS), url)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "example.org",
        "https://name:word@example.org/",
        "https://example.org:port/",
        f"https://{'a' * 64}.example.org/",
        "",
        3,
    ],
)
def test_addresses_that_are_not_safe_are_refused_without_being_quoted(url: Any) -> None:
    with pytest.raises(ParameterError, match="url must") as caught:
        Device.fetch(url)
    assert "word" not in str(caught.value).replace("password", "")


def ask(collector: Collector, tmp_path: Path, *options: str, given: str = "") -> Any:
    words = [collector.url, "--device", str(tmp_path / "terminal"), *options]
    return CliRunner().invoke(command, words, input=given)


def test_the_terminal_asks_shows_and_sends(collector: Collector, tmp_path: Path) -> None:
    told = ask(collector, tmp_path, given="44\n2\n5\ny\n")
    assert told.exit_code == 0, told.output
    ((_, _, body),) = collector.sent
    assert body.decode().rstrip() in told.output
    for words in ("I take part of my own free will.", "age: 30-44", "What does not:", "82 %", "is stored"):
        assert words in told.output


def test_nothing_is_sent_before_it_is_confirmed(collector: Collector, tmp_path: Path) -> None:
    assert ask(collector, tmp_path, given="44\n2\n5\nn\n").exit_code == 1
    assert collector.sent == []


def test_what_another_process_answers_before_it_is_confirmed_is_not_agreed_to(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {**survey().model_dump()["questions"][0], "name": "illness"}

    def confirm(*_: object, **__: object) -> bool:
        meanwhile = Device.open(tmp_path / "terminal")
        asked = SurveyKey.new().sign(survey(questions=[other]))
        meanwhile._ledger.add(meanwhile.answer(asked, {"age": 44, "sex": "male", "illness": "flu"}).questions)
        return True

    monkeypatch.setattr("click.confirm", confirm)
    told = ask(collector, tmp_path, given="44\n2\n5\n")
    assert told.exit_code == 2
    assert "'disease' shares half or more of its values with 'illness'" in told.output
    assert collector.sent == []


def test_programs_answer_from_a_file(collector: Collector, tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(ANSWERS))
    assert ask(collector, tmp_path, "--answers", str(file), "--yes").exit_code == 0
    assert ask(collector, tmp_path, "--answers", "-", "--yes", given=json.dumps(ANSWERS)).exit_code == 0
    assert len({body for _, _, body in collector.sent}) == 1, "the same device sends the same"


@pytest.mark.parametrize(
    "content", ["[]", "{", "[" * 100_000, '{"age": null}', '{"age": 44, "sex": "male", "disease": "gout-3"}']
)
def test_bad_files_are_one_sentence_and_exit_code_2(collector: Collector, tmp_path: Path, content: str) -> None:
    told = ask(collector, tmp_path, "--answers", "-", "--yes", given=content)
    assert told.exit_code == 2
    assert "\nError: " in told.output
    assert "gout-3" not in told.output
    assert collector.sent == []


def test_answers_are_never_options(collector: Collector, tmp_path: Path) -> None:
    told = ask(collector, tmp_path, "--yes")
    assert told.exit_code == 2
    assert "--answers" in told.output


def test_a_question_in_another_form_is_asked_about_first(collector: Collector, tmp_path: Path) -> None:
    ask(collector, tmp_path, "--answers", "-", "--yes", given=json.dumps(ANSWERS))
    mechanism = {"kind": "uniform", "version": 2, "n_values": 6, "l": 2}
    question = {**survey().model_dump()["questions"][0], "mechanism": mechanism}
    collector.survey = SurveyKey.new().sign(survey(questions=[question])).to_json()
    told = ask(collector, tmp_path, "--answers", "-", "--yes", given=json.dumps(ANSWERS))
    assert (told.exit_code, "Use --again" in told.output) == (2, True)
    assert ask(collector, tmp_path, given="44\n2\n5\nn\n").exit_code == 1
    assert len(collector.sent) == 1
    assert ask(collector, tmp_path, "--answers", "-", "--yes", "--again", given=json.dumps(ANSWERS)).exit_code == 0
