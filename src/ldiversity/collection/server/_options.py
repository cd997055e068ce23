"""What the holder of a server decides: where it listens, how people reach it, and its limits."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ldiversity.collection.blind import BlindKey
from ldiversity.errors import ParameterError
from ldiversity.web import Rate

__all__ = ["Address", "ServerOptions"]

_MOST_PORT: Final = 65_535
_EACH: Final = Rate(at_once=600, each_second=20)
_ALL_TOGETHER: Final = Rate(at_once=20_000, each_second=5_000)
_HINT_LISTEN: Final = "Write it like 127.0.0.1:8000 or [::1]:8000; port 0 takes a free one."
_HINT_URL: Final = "Browsers keep a device's key on https pages only. Put a proxy that speaks TLS before the server."


@dataclass(frozen=True)
class Address:
    """Where a server listens.

    Examples
    --------
    >>> Address.read("[::1]:8000"), Address.read("127.0.0.1:0").is_loopback
    (Address(host='::1', port=8000), True)
    """

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> Address:
        """The address that ``HOST:PORT`` names; the host is a number or localhost."""
        host, _, port = text.rpartition(":")
        try:
            if host.startswith("["):
                host = str(ipaddress.IPv6Address(host.removeprefix("[").removesuffix("]") if host[-1] == "]" else ""))
            else:
                host = str(ipaddress.IPv4Address("127.0.0.1" if host == "localhost" else host))
        except ValueError:
            raise ParameterError("serve", "listen", "must be HOST:PORT, where the host is an IP address").with_hint(
                _HINT_LISTEN
            ) from None
        if not (port.isascii() and port.isdigit() and int(port) <= _MOST_PORT):
            raise ParameterError("serve", "listen", f"must end with a port up to {_MOST_PORT}", hint=_HINT_LISTEN)
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return ipaddress.ip_address(self.host).is_loopback

    @property
    def url(self) -> str:
        """How a browser on this machine reaches it."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """How people reach a server, and its limits.

    Attributes
    ----------
    origins
        The origins of its pages, like ``https://survey.example``; it answers for their hosts only.
    forwarded
        Whether a proxy of the holder's own tells the address of who asks as the last one in ``X-Forwarded-For``.
    each, all_together
        How many reports one address may send, and all together. A batch counts as 50, a blind signature as 2, a page
        as a tenth. People behind one router share an address, so one address may send many at once.
    body_seconds
        How long the body of a request may take.
    blind_key
        The key for blind signatures, if the survey wants them.
    remembered
        A file in which the results that were shown are kept for the next start.
    """

    origins: tuple[str, ...]
    forwarded: bool = False
    each: Rate = _EACH
    all_together: Rate = _ALL_TOGETHER
    body_seconds: float = 20.0
    blind_key: BlindKey | None = None
    remembered: Path | None = None

    @classmethod
    def reached_at(
        cls,
        address: Address,
        url: str | None = None,
        *,
        forwarded: bool | None = None,
        blind_key: BlindKey | None = None,
        remembered: Path | None = None,
    ) -> ServerOptions:
        """The options of a server at an address and, behind a proxy that speaks TLS, at a public one.

        Unless it is said, forwarded addresses are believed when there is a public address and only this machine, on
        which the proxy then is, can reach the server.

        Examples
        --------
        >>> ServerOptions.reached_at(Address("127.0.0.1", 80), "https://survey.example/2026").origins
        ('http://127.0.0.1:80', 'http://localhost:80', 'https://survey.example')
        """
        if url is None and not address.is_loopback:
            raise ParameterError(
                "serve", "url", "must be given if others than this machine can reach the server"
            ).with_hint(_HINT_URL)
        own = (address.url, f"http://localhost:{address.port}") if address.is_loopback else (address.url,)
        public = () if url is None else (_origin(url),)
        believed = url is not None and address.is_loopback if forwarded is None else forwarded
        return cls(origins=(*own, *public), forwarded=believed, blind_key=blind_key, remembered=remembered)

    @property
    def https(self) -> bool:
        """Whether people reach it by HTTPS."""
        return any(origin.startswith("https:") for origin in self.origins)

    @property
    def hosts(self) -> frozenset[bytes]:
        """The values of the header ``Host`` that are its own; a browser leaves the usual port out."""
        found = set()
        for origin in self.origins:
            scheme, _, host = origin.partition("://")
            usual = ":443" if scheme == "https" else ":80"
            found |= {host, host.removesuffix(usual)}
        return frozenset(host.encode() for host in found)


def _origin(url: str) -> str:
    rule = "must be the address that people open, like https://survey.example"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ParameterError("serve", "url", rule) from None
    if not host or not host.isascii() or parts.username or parts.query or parts.fragment:
        raise ParameterError("serve", "url", rule)
    if parts.scheme != "https" and not (parts.scheme == "http" and host in {"localhost", "127.0.0.1", "::1"}):
        raise ParameterError("serve", "url", "must begin with https://", hint=_HINT_URL)
    named = f"[{host}]" if ":" in host else host
    usual = port is None or port == {"https": 443, "http": 80}[parts.scheme]
    return f"{parts.scheme}://{named}" if usual else f"{parts.scheme}://{named}:{port}"
