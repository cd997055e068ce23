"""How often one address may ask, and all together: in memory only, and forgotten when the process ends."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Rate", "RateLimits"]


@dataclass(frozen=True)
class Rate:
    """So many requests at once, and so many each second afterwards."""

    at_once: float
    each_second: float


class RateLimits:
    """Buckets of tokens: one for each address, and one for all.

    An address is known by a hash under a key that the process draws when it starts and never stores. Addresses of one
    IPv6 network (64 bits) share a bucket, because one person has all of them. At most `most` buckets are kept: those
    that were not used for longest go first.

    Examples
    --------
    >>> limits = RateLimits(each=Rate(2, 1), all_together=Rate(100, 100), clock=lambda: 0.0)
    >>> [limits.wait_for("192.0.2.1") for _ in range(3)], limits.wait_for("192.0.2.2")
    ([0.0, 0.0, 1.0], 0.0)
    """

    def __init__(
        self, *, each: Rate, all_together: Rate, most: int = 65_536, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._each, self._all, self._most, self._clock = each, all_together, most, clock
        self._key = os.urandom(32)
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()
        self._shared = (all_together.at_once, clock())

    def __len__(self) -> int:
        return len(self._buckets)

    def wait_for(self, address: str, cost: float = 1.0) -> float:
        """Zero if the request may go on, which then has taken its tokens; otherwise the seconds to wait.

        A request that costs more than a full bucket may go on when the bucket is full.
        """
        now = self._clock()
        name = hashlib.blake2b(_network(address), digest_size=16, key=self._key).digest()
        own = _filled(self._buckets.pop(name, (self._each.at_once, now)), self._each, now)
        shared = _filled(self._shared, self._all, now)
        wait = max(_missing(own, cost, self._each), _missing(shared, cost, self._all))
        if wait == 0.0:
            own, shared = own - cost, shared - cost
        self._shared = (shared, now)
        self._buckets[name] = (own, now)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return wait


def _filled(bucket: tuple[float, float], rate: Rate, now: float) -> float:
    tokens, then = bucket
    return min(rate.at_once, tokens + (now - then) * rate.each_second)


def _missing(tokens: float, cost: float, rate: Rate) -> float:
    short = min(cost, rate.at_once) - tokens
    return max(0.0, short / rate.each_second)


def _network(address: str) -> bytes:
    if ":" not in address:
        return address.encode("utf-8", "replace")
    try:
        parsed = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address.encode("utf-8", "replace")
    return str(parsed.ipv4_mapped).encode() if parsed.ipv4_mapped is not None else parsed.packed[:8]
