"""Everything that goes over the wire between a browser and a server, byte for byte."""

from __future__ import annotations

import re
import select
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

_CHUNK = 65_536
_NO_BODY = (b"204", b"304")


@dataclass
class _Line:
    """One connection: what went in and what came out."""

    said: bytearray = field(default_factory=bytearray)
    heard: bytearray = field(default_factory=bytearray)


class Wire:
    """A port that passes every byte on to a server, and remembers them."""

    def __init__(self) -> None:
        self._server = 0
        self._lines: list[_Line] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join(10)

    def pass_on_to(self, port: int) -> None:
        """Name the server's port; a server must know the port that browsers use, so it starts later."""
        self._server = port

    def start_again(self) -> None:
        """Forget what went over the wire so far; connections must be closed."""
        self._lines = []

    def exchanges(self) -> list[tuple[bytes, bytes]]:
        """Every request with its response, in an order that says nothing of when they came."""
        pairs: list[tuple[bytes, bytes]] = []
        for line in self._lines:
            requests, responses = split_messages(bytes(line.said)), split_messages(bytes(line.heard))
            assert len(requests) == len(responses), "every request must have been answered"
            pairs += zip(requests, responses, strict=True)
        return sorted(pairs)

    def _accept(self) -> None:
        while True:
            try:
                browser, _ = self._listening.accept()
            except OSError:
                return
            line = _Line()
            self._lines.append(line)
            self._start(self._pass_on, browser, line)

    def _pass_on(self, browser: socket.socket, line: _Line) -> None:
        """Both directions of a connection, until one side ends it."""
        with browser, socket.create_connection(("127.0.0.1", self._server)) as server:
            ways = {browser: (server, line.said), server: (browser, line.heard)}
            while True:
                for source in select.select(list(ways), [], [])[0]:
                    target, seen = ways[source]
                    try:
                        part = source.recv(_CHUNK)
                        seen += part  # first, so that what a browser got is known here
                        target.sendall(part)
                    except OSError:
                        return
                    if not part:
                        return

    def _start(self, run: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=run, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()


def split_messages(stream: bytes) -> list[bytes]:
    """The HTTP messages of one direction of a connection; bodies have a stated length."""
    found = []
    while stream:
        head, blank, rest = stream.partition(b"\r\n\r\n")
        assert blank, "a message was cut off"
        assert b"transfer-encoding" not in head.lower(), "bodies must have a stated length"
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
        size = 0 if length is None or head.split(b" ")[1] in _NO_BODY else int(length[1])
        found.append(head + blank + rest[:size])
        stream = rest[size:]
    return found
