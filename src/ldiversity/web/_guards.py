"""The guards of a server: which hosts and origins it answers, how often, with which headers, and never with a trace."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ldiversity.web._headers import Headers
from ldiversity.web._rates import RateLimits
from ldiversity.web._refused import refusal

__all__ = ["Guards", "Policy", "no_content"]

_NO_STORE: Final = (b"cache-control", b"no-store")
_ANY_ORIGIN: Final = (b"access-control-allow-origin", b"*")
_PREFLIGHT: Final = (
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"Content-Type"),
    (b"access-control-max-age", b"7200"),
)
_ASKING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

_ASKING_COSTS: Final = 0.1
"""A page is many small files."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a server answers.

    Attributes
    ----------
    hosts
        The hosts, with ports, for which it answers. A page that makes a browser take this server for its own (DNS
        rebinding) names another one.
    origins
        The origins of its own pages: what they send is taken.
    open_paths
        Paths that pages of any origin may use. Browsers send no cookies or passwords there, and the server has none,
        so that such a page can do nothing that another program could not do. All other paths take what their own
        pages, or programs that are not pages, send.
    any_host
        Paths that are answered for any host, because they say nothing: a load balancer may not know the name.
    headers
        The headers of every answer.
    rates
        How often addresses may ask.
    costs
        What a request for a path counts as, if not as one, or as a tenth where it only asks for something.
    forwarded
        Whether the address that asks is the last one in ``X-Forwarded-For``, which a proxy of the holder's own writes.
    """

    hosts: frozenset[bytes]
    origins: frozenset[bytes]
    headers: Headers
    rates: RateLimits
    open_paths: frozenset[str] = frozenset()
    any_host: frozenset[str] = frozenset()
    costs: Mapping[str, float] = field(default_factory=dict)
    forwarded: bool = False


class Guards:
    """Stands before an application, as the outermost of its middleware.

    Parameters
    ----------
    app
        The application.
    policy
        What is answered.
    tell_fault
        Called with an exception that nobody expected, which is answered with 500 and one sentence.
    """

    def __init__(self, app: ASGIApp, policy: Policy, tell_fault: Callable[[Exception], None]) -> None:
        self._app, self._policy, self._tell = app, policy, tell_fault
        self._closed = policy.headers
        self._open = (*policy.headers, _ANY_ORIGIN)
        self._preflight = (*self._open, *_PREFLIGHT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = self._closed
        if scope["path"] in self._policy.open_paths:
            headers = self._preflight if scope["method"] == "OPTIONS" else self._open
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                said = [*message["headers"], *headers]
                if not any(name == b"cache-control" for name, _ in message["headers"]):
                    said.append(_NO_STORE)
                message = {**message, "headers": said}
            await send(message)

        refused = self._refuse(scope)
        try:
            await (self._app if refused is None else refused)(scope, receive, send_with_headers)
        except Exception as error:  # noqa: BLE001 - nothing of it may reach the one who asked
            self._tell(error)
            if not started:
                fault = refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "The server has a fault. It has noted that.")
                await fault(scope, receive, send_with_headers)

    def _refuse(self, scope: Scope) -> Response | None:
        hosts, origins, forwarded = [], [], b""
        for name, value in scope["headers"]:
            if name == b"host":
                hosts.append(value.lower())
            elif name == b"origin":
                origins.append(value.lower())
            elif name == b"x-forwarded-for":
                forwarded = value
        policy, path = self._policy, scope["path"]
        if (len(hosts) != 1 or hosts[0] not in policy.hosts) and path not in policy.any_host:
            return refusal(HTTPStatus.MISDIRECTED_REQUEST, "This server does not answer for this host.")
        if (
            origins
            and scope["method"] not in _ASKING
            and path not in policy.open_paths
            and not policy.origins.issuperset(origins)
        ):
            return refusal(HTTPStatus.FORBIDDEN, "Pages of other origins may not send this.")
        cost = policy.costs.get(path, _ASKING_COSTS if scope["method"] in _ASKING else 1.0)
        wait = policy.rates.wait_for(_address(scope, forwarded if policy.forwarded else b""), cost)
        if wait > 0:
            later = {"Retry-After": str(math.ceil(wait))}
            return refusal(HTTPStatus.TOO_MANY_REQUESTS, "There are too many requests. Try again later.", later)
        return None


def no_content() -> Response:
    """The answer that says nothing but that it is done.

    Examples
    --------
    >>> int(no_content().status_code), no_content().raw_headers
    (204, [])
    """
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _address(scope: Scope, forwarded: bytes) -> str:
    if forwarded:
        return forwarded.rpartition(b",")[2].strip().decode("latin-1")
    client = scope.get("client")
    return client[0] if client else ""
