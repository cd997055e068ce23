"""Servers for tests: an application in this process, or the whole server in its own."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx
from starlette.applications import Starlette

from ldiversity.collection.blind import to_text
from ldiversity.collection.server import ServerOptions, create_app
from ldiversity.collection.store import Store
from ldiversity.collection.survey import SignedSurvey, SurveyKey, write_report
from ldiversity.web import Rate
from tests.unit.collection.surveys import survey

ORIGIN = "http://127.0.0.1:8000"
JSON = {"Content-Type": "application/json"}
PLENTY = Rate(1e9, 1e9)
TWO = [
    {
        "name": name,
        "ask": "Which one?",
        "values": ["a", "b", "c", "d"],
        "ordered": False,
        "positions": None,
        "mechanism": {"kind": "uniform", "version": 2, "n_values": 4, "l": 2},
    }
    for name in ("first", "second")
]
"""Two questions; a survey that is not linked has one part for each."""


def signed_survey(**changes: Any) -> SignedSurvey:
    """A survey with other fields, signed."""
    return SurveyKey.new().sign(survey(**changes))


def report_of(signed: SignedSurvey, number: int, *, part: int = 0, token: str | None = None, **more: Any) -> bytes:
    """The report of a device with a number; each has its own token."""
    source = random.Random(number)
    asked = signed.survey
    sets = {one.name: sorted(source.sample(range(len(one.values)), one.l)) for one in asked.parts[part]}
    quasi = {one.name: source.randrange(len(one.labels)) for one in asked.quasi}
    own = to_text(source.randbytes(16)) if token is None else token
    return write_report(asked, signed.id, own, quasi, sets, **more)


class Client:
    """Asks an application without a network; its event loop has a thread of its own."""

    def __init__(self, app: Starlette) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._life = app.router.lifespan_context(app)
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=ORIGIN)

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._life.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._life.__aexit__(None, None, None))
        self._run(self._client.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Send one request."""
        return self._run(self._client.request(method, path, **more))

    def get(self, path: str, **more: Any) -> httpx.Response:
        """Ask for something."""
        return self.request("GET", path, **more)

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=60)


@dataclass
class Asked:
    """An application, its store, and a client."""

    client: Client
    store: Store
    signed: SignedSurvey
    options: ServerOptions

    def post(self, path: str, body: bytes | object, **headers: str) -> httpx.Response:
        """Send JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.request("POST", path, content=content, headers={**JSON, **headers})

    def stored(self, part: int = 0) -> int:
        """How many reports there are."""
        return self.store.count(self.signed.id, part)


@contextmanager
def application(database: Path | str, signed: SignedSurvey, **options: Any) -> Iterator[Asked]:
    """The application of a survey, with the database at an address or in a folder."""
    url = database if isinstance(database, str) else f"sqlite:///{database}/survey.db"
    chosen = ServerOptions(**{"origins": (ORIGIN,), "each": PLENTY, "all_together": PLENTY, **options})
    with Store.open(url) as store:
        app = create_app(store, signed, chosen)
        with Client(app) as client:
            yield Asked(client, store, signed, chosen)


@dataclass
class Running:
    """A server in its own process."""

    url: str
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def stop(self, signal: int) -> str:
        """Send a signal, wait for the end, and return what it logged."""
        self.process.send_signal(signal)
        return self.process.communicate(timeout=60)[1]


PROGRAM = """
import logging, sys
from ldiversity.collection.server import serve
from ldiversity.collection.store import Store
from ldiversity.collection.survey import SignedSurvey
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
with Store.open(sys.argv[1]) as store:
    serve(store, SignedSurvey.load(sys.argv[2]), listen="127.0.0.1:0", on_start=lambda url: print(url, flush=True))
print("ended", flush=True)
"""


@contextmanager
def server(database: str, signed: SignedSurvey, folder: Path, program: str = PROGRAM) -> Iterator[Running]:
    """A server in its own process, which is killed at the end if it still runs."""
    signed.save(folder / "survey.signed.json")
    process = subprocess.Popen(
        [sys.executable, "-c", program, database, str(folder / "survey.signed.json")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Running(process.stdout.readline().strip(), process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
