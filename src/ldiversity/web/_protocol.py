"""HTTP connections with limits: how long heads and requests may be and take, and how many connections there are."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ldiversity.web._headers import Headers
from ldiversity.web._refused import error_body

__all__ = ["GuardedHttp", "make_protocol"]

_HEAD_BYTES: Final = 16_384
_HEAD_SECONDS: Final = 10.0
_BODY_SECONDS: Final = 30.0
_MOST_CONNECTIONS: Final = 4_096


class GuardedHttp(HttpToolsProtocol):
    """A connection that must bring a request in time, and its head within a size.

    uvicorn itself waits forever, and keeps as much of a head as comes. Answers that are given before an
    application is asked have the same headers and the same form as all others.
    """

    answer_headers: Headers = ()
    head_seconds: float = _HEAD_SECONDS
    body_seconds: float = _BODY_SECONDS
    head_bytes: int = _HEAD_BYTES
    most_connections: int = _MOST_CONNECTIONS

    _timer: asyncio.TimerHandle | None = None
    _head_seen = 0
    _in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin: the head of the first request is awaited."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            self._end(HTTPStatus.SERVICE_UNAVAILABLE, "There are too many connections. Try again later.")
        else:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came, unless the head of a request has become too long."""
        if self.transport.is_closing():
            return
        if self._in_head:
            self._head_seen += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        # What came with the end of a head is its body: only a head that did not end is measured.
        if self._in_head and self._head_seen > self.head_bytes:
            self._end(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The head of the request is too long.")
        elif self._timer is None and (self._head_seen or not self._in_head):
            self._start_timer()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those after a body are refused, because nobody would count them."""
        if not self._in_head:
            raise ValueError("trailer")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head has come."""
        self._in_head = False
        self._stop_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The whole request has come, and another may follow."""
        super().on_message_complete()
        self._in_head, self._head_seen = True, 0
        self._stop_timer()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        del msg
        self._end(HTTPStatus.BAD_REQUEST, "This is not a valid HTTP request.")

    def _start_timer(self) -> None:
        seconds = self.head_seconds if self._in_head else self.body_seconds
        self._timer = self.loop.call_later(seconds, self._too_slow)

    def _too_slow(self) -> None:
        self._end(HTTPStatus.REQUEST_TIMEOUT, "The request came too slowly.")

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self, status: HTTPStatus, sentence: str) -> None:
        self._stop_timer()
        if self.transport.is_closing():
            return
        body = error_body(sentence)
        head = [
            f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode(),
            b"content-type: application/json\r\ncache-control: no-store\r\nconnection: close\r\n",
            b"content-length: %d\r\n" % len(body),
            *(b"%s: %s\r\n" % header for header in self.answer_headers),
        ]
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(b"".join([*head, b"\r\n", body]))
        self.transport.close()


def make_protocol(headers: Headers) -> type[GuardedHttp]:
    """The connections of a server whose every answer has these headers."""
    return type("GuardedHttp", (GuardedHttp,), {"answer_headers": headers})
