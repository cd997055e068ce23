"""The whole server in its own process: stopping, logging, and what comes before any application is asked."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from ldiversity.collection.server import serve
from ldiversity.collection.store import Store
from ldiversity.collection.survey import Kept, Reports, SignedSurvey
from ldiversity.errors import ParameterError, StorageError
from ldiversity.web import security_headers
from tests.collection.servers import JSON, PROGRAM, Running, report_of, server, signed_survey

SHORT = PROGRAM.replace(
    "from ldiversity.collection.store",
    "from ldiversity.web import GuardedHttp\n"
    "GuardedHttp.head_seconds, GuardedHttp.body_seconds, GuardedHttp.most_connections = 0.5, 0.5, 6\n"
    "from ldiversity.collection.store",
)
"""The same server with less patience."""


@pytest.fixture(scope="module")
def signed() -> SignedSurvey:
    return signed_survey()


@pytest.fixture(scope="module")
def impatient(signed: SignedSurvey, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("impatient")
    with server(f"sqlite:///{folder}/survey.db", signed, folder, SHORT) as running:
        yield running


def talk(running: Running, *pieces: bytes, pause: float = 0.0) -> bytes:
    """Send bytes, and read until the server closes or says nothing more."""
    with socket.create_connection((urlsplit(running.url).hostname, urlsplit(running.url).port), timeout=3) as line:
        try:
            for piece in pieces:
                line.sendall(piece)
                time.sleep(pause)
        except OSError:
            pass  # it closed before all was sent
        found = b""
        try:
            while piece := line.recv(65_536):
                found += piece
        except OSError:
            pass
    return found


@pytest.mark.parametrize(
    ("pieces", "pause", "status"),
    [
        ([b"nonsense\r\n\r\n"], 0, 400),
        ([b"GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n"], 0, 400),
        ([b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n"], 0, 400),
        ([b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000], 0, 431),
        ([b"GET / HTTP/1.1\r\n", *[b"X: " + b"a" * 1000 + b"\r\n"] * 40], 0, 431),
        ([b"GET / HTTP/1.1\r\nHost"], 0, 408),
        ([b"GET / HTTP/1.1\r\n", *[b"X: a\r\n"] * 8], 0.1, 408),
        ([b""], 0, 408),
        ([b"POST /v1/reports HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999999999999999\r\n\r\n"], 0, 400),
        ([b"POST /v1/reports HTTP/1.1\r\nHost: HOST\r\nContent-Length: 999999999999\r\n\r\n"], 0, 413),
        ([b"GET /v1/survey HTTP/1.1\r\nConnection: close\r\n\r\n"], 0, 421),
        (
            [b"GET /v1/survey HTTP/1.1\r\nHost: HOST\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n"],
            0,
            200,
        ),
    ],
)
def test_what_is_no_good_request_is_answered_in_time_with_all_headers(
    impatient: Running, pieces: list[bytes], pause: float, status: int
) -> None:
    host = urlsplit(impatient.url).netloc.encode()
    began = time.monotonic()

    answer = talk(impatient, *(piece.replace(b"HOST", host) for piece in pieces), pause=pause)

    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    head = answer.partition(b"\r\n\r\n")[0].lower()
    assert [name for name, text in security_headers(https=False) if b"%s: %s" % (name, text.lower()) not in head] == []
    assert b"\r\nserver:" not in head
    assert b"\r\ndate:" not in head
    assert status == 200 or time.monotonic() - began < 2.5


def test_a_body_that_drips_and_headers_after_a_body_end_the_connection(impatient: Running) -> None:
    host = urlsplit(impatient.url).netloc.encode()
    head = b"POST /health HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n" % host
    began = time.monotonic()

    dripping = talk(impatient, head, *[b"1\r\na\r\n"] * 12, pause=0.1)
    trailing = talk(impatient, head, b"1\r\na\r\n0\r\n", b"X: a\r\n" * 3, pause=0.1)

    assert dripping.startswith(b"HTTP/1.1 405 ")
    assert trailing.startswith(b"HTTP/1.1 405 ")
    assert time.monotonic() - began < 6


def test_there_are_only_so_many_connections(impatient: Running) -> None:
    where = (urlsplit(impatient.url).hostname, urlsplit(impatient.url).port)
    lines = [socket.create_connection(where, timeout=3) for _ in range(6)]
    time.sleep(0.1)

    refused = talk(impatient)
    for line in lines:
        line.close()
    time.sleep(0.2)

    assert refused.startswith(b"HTTP/1.1 503 ")
    assert httpx.get(f"{impatient.url}/health").status_code == 200


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_at_a_signal_what_is_under_way_is_answered_and_kept(signed: SignedSurvey, tmp_path: Path, sign: int) -> None:
    acknowledged: set[int] = set()

    async def send(client: httpx.AsyncClient, first: int) -> None:
        for number in range(first, 100_000, 20):
            try:
                answer = await client.post("/v1/reports", content=report_of(signed, number), headers=JSON)
            except httpx.TransportError:
                return
            if answer.status_code == 204:
                acknowledged.add(number)
            else:  # asked to wait, or the server ends
                await asyncio.sleep(0.05)

    async def load(running: Running) -> int:
        async with httpx.AsyncClient(base_url=running.url, timeout=30) as client:
            tasks = [asyncio.create_task(send(client, first)) for first in range(20)]
            await asyncio.sleep(1.0)
            before = len(acknowledged)
            running.process.send_signal(sign)
            await asyncio.gather(*tasks)
            return before

    with server(f"sqlite:///{tmp_path}/survey.db", signed, tmp_path) as running:
        before = asyncio.run(load(running))
        said, log = running.process.communicate(timeout=60)

        assert running.process.returncode == 0
        assert said == "ended\n"
        assert before > 0
        assert own_lines(log) == ["INFO:started", "INFO:stopped"]
    with Store.open(f"sqlite:///{tmp_path}/survey.db") as store:
        count = store.count(signed.id)
        assert store.add(signed.id, _kept(signed, acknowledged)) == 0  # all of them are there
        assert count == len(acknowledged)  # and nobody waited for an answer in vain
    assert not list(tmp_path.glob("survey.db-wal")) or (tmp_path / "survey.db-wal").stat().st_size == 0


def _kept(signed: SignedSurvey, numbers: set[int]) -> list[Kept]:
    reader = Reports(signed.survey, signed.id)
    return [reader.read(report_of(signed, number))[0] for number in sorted(numbers)]


def own_lines(log: str) -> list[str]:
    """What was logged, without what the database's own tools say of its tables before the start."""
    return [line.replace("ldiversity.collection.server:", "") for line in log.splitlines() if ":alembic." not in line]


def test_the_log_holds_no_address_token_or_body(signed: SignedSurvey, tmp_path: Path) -> None:
    # The planted fault carries the body in its message, and happens where every report passes.
    broken = PROGRAM.replace(
        "with Store",
        "import ldiversity.collection.survey._report as planted\n"
        "def fail(self, report): raise RuntimeError(repr(report))\n"
        "with Store",
    ).replace("with Store", "if 'fault' in sys.argv[1]: planted.Reports._keep = fail\nwith Store", 1)
    (tmp_path / "fault").mkdir()
    body = report_of(signed, 1)
    with server(f"sqlite:///{tmp_path}/fault/survey.db", signed, tmp_path, broken) as running:
        answers = [
            httpx.post(f"{running.url}/v1/reports", content=body, headers={**JSON, "User-Agent": "canary"}),
            httpx.post(f"{running.url}/v1/reports/canary?canary", content=b"canary", headers={"X-Canary": "canary"}),
            httpx.post(f"{running.url}/v1/reports", content=b"canary", headers=JSON),
        ]
        talk(running, b"canary\r\n\r\n")
        log = running.stop(signal.SIGTERM)

    assert [answer.status_code for answer in answers] == [500, 404, 422]
    assert own_lines(log) == ["INFO:started", "ERROR:fault: RuntimeError in <string>, line 8", "INFO:stopped"]
    assert not [one for one in ("canary", "127.0.0.1", json.loads(body)["token"], signed.id, "disease") if one in log]


def test_bad_addresses_are_refused_in_one_sentence(signed: SignedSurvey, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/survey.db") as store:
        for listen, url, rule in [
            ("nowhere", None, "HOST:PORT"),
            ("127.0.0.1:99999", None, "port up to"),
            ("0.0.0.0:0", None, "must be given"),
            ("127.0.0.1:0", "http://survey.example", "begin with https://"),
            ("127.0.0.1:0", "https://user@survey.example", "address that people open"),
            ("127.0.0.1:0", "https://[", "address that people open"),
        ]:
            with pytest.raises(ParameterError, match=rule):
                serve(store, signed, listen=listen, url=url)
        with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(StorageError, match="cannot listen"):
            serve(store, signed, listen=f"127.0.0.1:{taken.getsockname()[1]}")
