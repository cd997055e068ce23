"""Running the server until it is told to stop."""

from __future__ import annotations

import gc
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import uvicorn

from ldiversity.collection.blind import BlindKey
from ldiversity.collection.results import LiveResults
from ldiversity.collection.server._app import LOG, create_app
from ldiversity.collection.server._options import Address, ServerOptions
from ldiversity.collection.store import Store
from ldiversity.collection.survey import SignedSurvey
from ldiversity.errors import StorageError
from ldiversity.web import Rate, make_protocol, security_headers

__all__ = ["serve"]

_STOP_SECONDS: Final = 30
_KEEP_ALIVE_SECONDS: Final = 15
_BACKLOG: Final = 2_048
_SILENT: Final = logging.CRITICAL + 1


def serve(  # noqa: PLR0913 - all by name
    store: Store,
    signed: SignedSurvey,
    *,
    listen: str = "127.0.0.1:8000",
    url: str | None = None,
    forwarded: bool | None = None,
    blind_key: BlindKey | None = None,
    remembered: Path | None = None,
    each: Rate | None = None,
    all_together: Rate | None = None,
    on_start: Callable[[str], None] | None = None,
) -> None:
    """Serve a survey until SIGTERM or SIGINT.

    Then no new connection is taken, requests under way are answered, what waits is written, and the store is tidied.

    Parameters
    ----------
    store
        Where reports are kept; it stays open.
    signed
        The survey.
    listen
        ``HOST:PORT``; port 0 takes a free one.
    url
        The public address, if a proxy that speaks TLS stands before the server.
    forwarded
        Whether the proxy tells addresses in ``X-Forwarded-For``; by default, if it can only be on this machine.
    blind_key
        The key for blind signatures, if the survey wants them.
    remembered
        A file in which the results that were shown are kept for the next start.
    each, all_together
        How many requests one address may send, and all together, if not as many as `ServerOptions` says.
    on_start
        Called with the address that people open, once the server takes connections.
    """
    asked = Address.read(listen)
    if signed.survey.results.public and remembered is not None and remembered.exists():
        LiveResults(signed, remembered=remembered)  # a damaged file is refused now, and not to those who want results
    with _listening(asked) as (door, address):
        options = ServerOptions.reached_at(
            address, url, forwarded=forwarded, blind_key=blind_key, remembered=remembered
        )
        options = replace(options, each=each or options.each, all_together=all_together or options.all_together)
        config = _config(create_app(store, signed, options), options)
        server = _Server(config, lambda: _tell_start(on_start, url or address.url))
        # What was loaded until now stays forever: the collector of garbage need not look through it again and again.
        gc.collect()
        gc.freeze()
        with _signals_that_end_nothing_else(), _some_log():
            try:
                server.run(sockets=[door])
            except SystemExit:
                raise StorageError(
                    "server", "could not start", hint="Check that its database can be reached."
                ) from None
            LOG.info("stopped")


class _Server(uvicorn.Server):
    """Says when it takes connections."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_start()


def _config(app: object, options: ServerOptions) -> uvicorn.Config:
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        # uvicorn tells addresses and traces; this package tells its own faults.
        logging.getLogger(name).setLevel(_SILENT)
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=make_protocol(security_headers(https=options.https)),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )


def _tell_start(on_start: Callable[[str], None] | None, url: str) -> None:
    LOG.info("started")
    if on_start is not None:
        on_start(url)


@contextmanager
def _some_log() -> Iterator[None]:
    """Where nobody has set up logging, tell the standard error stream."""
    if LOG.hasHandlers():
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("ldiversity server: %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        LOG.removeHandler(handler)


@contextmanager
def _listening(asked: Address) -> Iterator[tuple[socket.socket, Address]]:
    family = socket.AF_INET6 if ":" in asked.host else socket.AF_INET
    try:
        door = socket.create_server((asked.host, asked.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise StorageError("serve", f"cannot listen at {asked.host}, port {asked.port}: {error.strerror}").with_hint(
            "Choose another port with listen; port 0 takes a free one."
        ) from None
    with door:
        yield door, Address(asked.host, door.getsockname()[1])


@contextmanager
def _signals_that_end_nothing_else() -> Iterator[None]:
    """The server stops at these signals, and raises them once more when it has: that must not end the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, lambda *_: None) for one in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
