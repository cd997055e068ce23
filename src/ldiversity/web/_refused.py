"""Refusals: one sentence as JSON, and nothing of what was sent."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Final, TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

__all__ = ["Refused", "error_body", "refusal", "refusal_handlers"]

Handler: TypeAlias = Callable[[Request, Exception], Response | Awaitable[Response]]

_SENTENCES: Final = {
    404: "There is nothing at this address.",
    405: "This address does not take this method.",
}


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """Ends a request with a status and one sentence, which never quotes what was sent."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers


def error_body(sentence: str) -> bytes:
    """An error as JSON.

    Examples
    --------
    >>> error_body("It is too long.")
    b'{"error": "It is too long."}'
    """
    return json.dumps({"error": sentence}).encode()


def refusal(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that refuses a request."""
    return Response(error_body(sentence), status, headers, "application/json")


def refusal_handlers() -> Mapping[type[Exception], Handler]:
    """How an application answers refusals of its own and of the router."""
    return {Refused: _answer_refused, HTTPException: _answer_router}


def _answer_refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)  # noqa: S101 - registered for it
    return refusal(error.status, error.sentence, error.headers)


def _answer_router(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(sorted({*headers.get("Allow", "").replace(" ", "").split(","), "OPTIONS"} - {""}))
        if request.method == "OPTIONS":
            return Response(status_code=HTTPStatus.NO_CONTENT, headers=headers)
    return refusal(error.status_code, _SENTENCES.get(error.status_code, "The request is refused."), headers)
