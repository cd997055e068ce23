"""Buckets of tokens: against a slow reference, with bounded memory, and without addresses."""

from __future__ import annotations

import random

import pytest

from ldiversity.web import Rate, RateLimits


def test_waits_are_those_of_a_bucket_that_is_filled_second_by_second() -> None:
    source, now, tokens = random.Random(1), 0, 5.0
    limits = RateLimits(each=Rate(5, 0.5), all_together=Rate(1e9, 1e9), clock=lambda: float(now))
    for _ in range(500):
        step = source.randrange(4)
        now += step
        for _ in range(step):
            tokens = min(5.0, tokens + 0.5)
        cost = source.choice([1, 2, 9])
        waited = limits.wait_for("192.0.2.1", cost)
        need = min(cost, 5)
        assert waited == pytest.approx(max(0.0, (need - tokens) / 0.5))
        tokens -= cost if waited == 0 else 0


def test_all_together_have_one_bucket() -> None:
    limits = RateLimits(each=Rate(5, 1), all_together=Rate(10, 1), clock=lambda: 0.0)

    assert [limits.wait_for(f"192.0.2.{at}") > 0 for at in range(12)] == [False] * 10 + [True] * 2


def test_memory_is_bounded_and_holds_no_address() -> None:
    limits = RateLimits(each=Rate(5, 1), all_together=Rate(1e9, 1), most=50)
    for at in range(500):
        limits.wait_for(f"192.0.2.{at}")

    assert len(limits) == 50
    assert all(isinstance(name, bytes) and len(name) == 16 and b"192.0" not in name for name in limits._buckets)


def test_an_ipv6_network_is_one_address_and_names_differ_between_processes() -> None:
    one, other = (RateLimits(each=Rate(1, 1), all_together=Rate(99, 1), clock=lambda: 0.0) for _ in range(2))

    waits = [
        one.wait_for(a) for a in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "::ffff:192.0.2.1", "192.0.2.1")
    ]
    other.wait_for("2001:db8::1")

    assert [wait > 0 for wait in waits] == [False, True, False, False, True]
    assert not set(one._buckets) & set(other._buckets)
