"""A light load for servers: prepared requests over connections that stay open, from a process of its own.

Usage: python benchmarks/_load.py HOST PORT PATH CONNECTIONS FILE
The file has one body a line, in hexadecimal. It prints how many requests were answered with 204.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path


class _Line(asyncio.Protocol):
    """One connection: the next request goes out when the last was answered."""

    def __init__(self, requests: Iterator[bytes], done: asyncio.Future[int]) -> None:
        self._requests, self._done, self._good, self._seen = requests, done, 0, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        self._seen += data
        if self._seen.endswith(b"\r\n\r\n"):  # an answer of 204 has no body
            self._good += self._seen.startswith(b"HTTP/1.1 204 ")
            self._seen = b""
            self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if not self._done.done():
            self._done.set_result(self._good)

    def _next(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self._transport.close()
        else:
            self._transport.write(request)


async def _send(host: str, port: int, n_connections: int, requests: list[bytes]) -> int:
    loop, left = asyncio.get_running_loop(), iter(requests)
    ends: list[asyncio.Future[int]] = [loop.create_future() for _ in range(n_connections)]
    for end in ends:
        await loop.create_connection(lambda end=end: _Line(left, end), host, port)
    return sum(await asyncio.gather(*ends))


def main() -> None:
    host, port, path, n_connections, file = sys.argv[1:]
    bodies = [bytes.fromhex(line) for line in Path(file).read_text(encoding="ascii").split()]
    head = f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\nContent-Length: "
    requests = [head.encode() + b"%d\r\n\r\n" % len(body) + body for body in bodies]
    print(asyncio.run(_send(host, int(port), int(n_connections), requests)))


if __name__ == "__main__":
    main()
