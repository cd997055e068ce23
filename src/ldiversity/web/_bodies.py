"""Bodies of requests, read within limits of size and time."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Final

from starlette.types import Message, Receive, Scope

from ldiversity.web._refused import Refused

__all__ = ["read_json_body"]

_LAST: Final = {"Connection": "close"}
"""What is left of a body that was not read to its end goes with its connection."""


async def read_json_body(scope: Scope, receive: Receive, *, most: int, seconds: float) -> bytes:
    """The body of a request, which says that it is JSON; it is not parsed.

    A body that is announced as longer than `most` bytes is refused before any of it is read.

    Raises
    ------
    Refused
        With 415 if the body is announced as something else, 413 if it is too long, 408 if it comes too slowly, 400 if
        the sender goes away.
    """
    _check_headers(scope, most)
    try:
        async with asyncio.timeout(seconds):
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body", False):
                return _within(message.get("body", b""), most)
            return await _read_rest(message, receive, most)
    except TimeoutError:
        raise Refused(HTTPStatus.REQUEST_TIMEOUT, "The body of the request came too slowly.", _LAST) from None


async def _read_rest(message: Message, receive: Receive, most: int) -> bytes:
    body = bytearray()
    while True:
        if message["type"] != "http.request":
            raise Refused(HTTPStatus.BAD_REQUEST, "The request ended before its body did.", _LAST)
        body += message.get("body", b"")
        if len(body) > most:
            raise _too_long(most)
        if not message.get("more_body", False):
            return bytes(body)
        message = await receive()


def _within(body: bytes, most: int) -> bytes:
    if len(body) > most:
        raise _too_long(most)
    return body


def _too_long(most: int) -> Refused:
    return Refused(413, f"The body must have at most {most} bytes.", _LAST)


def _check_headers(scope: Scope, most: int) -> None:
    announced, kind = 0, b""
    for name, value in scope["headers"]:
        if name == b"content-length":
            announced = int(value) if value.isdigit() and len(value) < 16 else most + 1  # noqa: PLR2004 - a huge number
        elif name == b"content-type":
            kind = value.partition(b";")[0].strip().lower()
        elif name == b"content-encoding" and value.strip().lower() != b"identity":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body must not be compressed.", _LAST)
    if announced > most:
        raise _too_long(most)
    if kind != b"application/json":
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body must be sent as application/json.", _LAST)
