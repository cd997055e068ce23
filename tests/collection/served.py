"""A survey on a real server, in a thread of its own."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn

from ldiversity.collection.server import ServerOptions, create_app
from ldiversity.collection.store import Store
from ldiversity.collection.survey import SignedSurvey, Survey, SurveyKey
from ldiversity.web import make_protocol, security_headers


@dataclass(frozen=True)
class Served:
    """A survey that can be answered."""

    port: int
    signed: SignedSurvey
    store: Store

    def address(self, port: int | None = None) -> str:
        """What people open: the address names the key."""
        return f"{self.root(port)}#k={self.signed.fingerprint}"

    def root(self, port: int | None = None) -> str:
        """The same without the key."""
        return f"http://127.0.0.1:{port or self.port}/"

    def count(self, part: int = 0) -> int:
        """How many reports are kept."""
        return self.store.count(self.signed.id, part)


@contextmanager
def served(survey: Mapping[str, object], also: int | None = None, **more: Any) -> Iterator[Served]:
    """Serve a survey at a free port; `also` is a port that passes everything on to it, `more` are options."""
    signed = SurveyKey.new().sign(Survey.model_validate(survey))
    with TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        options = ServerOptions(
            origins=tuple(f"http://127.0.0.1:{one}" for one in (port, also) if one is not None), **more
        )
        with Store.open(f"sqlite:///{Path(folder) / 'survey.db'}") as store:
            config = uvicorn.Config(
                create_app(store, signed, options),
                http=make_protocol(security_headers(https=False)),
                lifespan="on",
                log_config=None,
                server_header=False,
                date_header=False,
            )
            with _running(uvicorn.Server(config), door):
                yield Served(port, signed, store)


@contextmanager
def _running(server: uvicorn.Server, door: socket.socket) -> Iterator[None]:
    thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()
