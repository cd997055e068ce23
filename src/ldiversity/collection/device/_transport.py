"""How a device speaks to a collector: plain requests that are the same for everybody."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from ipaddress import ip_address
from typing import IO, Final, NoReturn
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

from ldiversity.errors import ParameterError, StorageError

__all__ = ["Address", "get", "post"]

_AGENT: Final = "ldiversity-device/1"
_TIMEOUT: Final = 20.0
_MOST_BYTES: Final = 500_000
_PAUSES: Final = (0.5, 1.0, 2.0)
_BUSY: Final = frozenset({429, 502, 503, 504})
_MOST_LETTERS: Final = 300


class Address:
    """Where a collector is, and the fingerprint that the link named.

    Examples
    --------
    >>> address = Address("https://example.org/health/#k=AAAAAAAAAAAAAAAAAAAAAA")
    >>> address.to("v1/survey"), address.fingerprint
    ('https://example.org/health/v1/survey', 'AAAAAAAAAAAAAAAAAAAAAA')
    """

    def __init__(self, url: str) -> None:
        rule = "must be the address of a survey, such as https://example.org/"
        try:
            parts = urlsplit(url)
            host = parts.hostname
            _ = parts.port
            (host or "").encode("idna")  # as it will be when it is looked up
        except (TypeError, ValueError, AttributeError):
            raise ParameterError("device", "url", rule) from None
        if parts.scheme not in {"http", "https"} or not host:
            raise ParameterError("device", "url", rule)
        if parts.username is not None or parts.password is not None:
            raise ParameterError("device", "url", "must not have a name or a password in it")
        if parts.scheme == "http" and not (_is_loopback(host) or host.endswith(".onion")):
            raise ParameterError("device", "url", "must begin with https://, unless it is of this machine").with_hint(
                "Without TLS, anybody on the way could read and change what is sent."
            )
        path = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")  # as a browser writes it
        self._start = urlunsplit((parts.scheme, parts.netloc, f"{path}/", "", ""))
        # An empty fingerprint is one that no key has: a link that was cut off must not be taken for one without it.
        self.fingerprint = parse_qs(parts.fragment, keep_blank_values=True).get("k", [None])[0]

    def to(self, path: str) -> str:
        """The address of an endpoint."""
        return self._start + path


def get(url: str) -> bytes:
    """Ask for something public."""
    return _ask(urllib.request.Request(url, headers={"User-Agent": _AGENT, "Accept": "application/json"}))  # noqa: S310 - checked by Address


def post(url: str, body: bytes) -> bytes:
    """Send a body; it may arrive more than once, which changes nothing."""
    headers = {"User-Agent": _AGENT, "Accept": "application/json", "Content-Type": "application/json"}
    return _ask(urllib.request.Request(url, data=body, headers=headers, method="POST"))  # noqa: S310 - as above


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Nothing is sent to a place that was not named, and its name is not even read."""

    def http_error_302(
        self,
        req: urllib.request.Request,  # noqa: ARG002
        fp: IO[bytes],
        code: int,  # noqa: ARG002
        msg: str,  # noqa: ARG002
        headers: http.client.HTTPMessage,  # noqa: ARG002
    ) -> NoReturn:
        """Refuse."""
        fp.close()
        raise StorageError("device", "the collector sends to another address, which is not followed").with_hint(
            "Ask the collector for the right link."
        )

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _ask(request: urllib.request.Request) -> bytes:
    opener = urllib.request.build_opener(_NoRedirect())
    for pause in (*_PAUSES, None):
        try:
            with opener.open(request, timeout=_TIMEOUT) as response:
                content: bytes = response.read(_MOST_BYTES + 1)
        except StorageError:
            raise  # the collector sends elsewhere
        except urllib.error.HTTPError as error:
            said = _sentence(error)
            if error.code not in _BUSY or pause is None:
                raise StorageError("device", f"the collector answered: {said}" if said else _odd(error.code)) from None
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            if pause is None:
                raise StorageError("device", f"the collector cannot be reached: {_reason(error)}").with_hint(
                    "Try again later: sending the same answer twice counts once."
                ) from None
        else:
            if len(content) > _MOST_BYTES:
                raise StorageError("device", "the collector sent more than a survey can be")
            return content
        time.sleep(pause)
    raise AssertionError  # the last round returns or raises


def _sentence(answered: urllib.error.HTTPError) -> str:
    """What the collector says went wrong, as one printable line; nothing if it cannot be read."""
    try:
        with answered:
            said = json.loads(answered.read(_MOST_BYTES))
    except (http.client.HTTPException, OSError, ValueError, RecursionError):
        return ""
    text = said.get("error") if isinstance(said, dict) else None
    return "".join(c for c in text if c.isprintable())[:_MOST_LETTERS] if isinstance(text, str) else ""


def _odd(code: int) -> str:
    return f"the collector refused it, with status {code}"


def _reason(error: BaseException) -> str:
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return "it did not answer in time"
    kind = type(reason).__name__
    if "SSL" in kind:
        return "its certificate cannot be trusted"
    return (reason.strerror if isinstance(reason, OSError) else None) or kind


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
