"""Surveys for tests of collection."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ldiversity.collection.survey import SignedSurvey, Survey
from ldiversity.collection.survey._canonical import write_canonical
from ldiversity.distances import distance_from_dict
from ldiversity.mechanisms import BalancedSelection
from ldiversity.schema import Domain

PLAIN: dict[str, Any] = {
    "format": "ldiversity-survey",
    "version": 1,
    "title": "Health and income",
    "collector": "Department of Statistics",
    "contact": "survey@example.org",
    "purpose": "To learn how health and income go together.",
    "consent": "I take part of my own free will.",
    "language": "en",
    "closes": "2030-12-31",
    "linked": True,
    "tokens": "device",
    "results": {"public": True, "minimum": 100, "step": 50, "goal": 0.02},
    "quasi": [
        {"kind": "ranges", "name": "age", "ask": "How old are you?", "low": 18, "cuts": [30, 45], "high": None},
        {"kind": "choice", "name": "sex", "ask": "What is your sex?", "values": ["female", "male", "other"]},
    ],
    "questions": [
        {
            "name": "disease",
            "ask": "Which of these did you have?",
            "values": ["flu", "cold", "asthma", "gastritis", "ulcer", "none of these"],
            "ordered": False,
            "positions": None,
            "mechanism": {"kind": "uniform", "version": 2, "n_values": 6, "l": 3},
        }
    ],
    "blind_key": None,
}
"""A survey as JSON, which a test may change after `plain` copied it."""


def plain(**changes: Any) -> dict[str, Any]:
    """A survey as JSON, with other fields."""
    return deepcopy({**PLAIN, **changes})


def survey(**changes: Any) -> Survey:
    """A survey."""
    return Survey.model_validate(plain(**changes))


def balanced(
    values: Sequence[str], distance: dict[str, Any], *, l: int, d: float, weight: float | None = None
) -> dict[str, Any]:
    """A question whose sets have values `d` apart, as JSON; its weights are fitted unless one is given for all."""
    if weight is None:
        domain = Domain(tuple(values), ordered=True)
        fitted = BalancedSelection.fit(domain, distance_from_dict(distance, domain), l, d).theta.tolist()
    else:
        fitted = [weight] * len(values)
    mechanism = {"kind": "balanced", "version": 2, "l": l, "d": d, "distance": distance, "fitted": fitted}
    return {
        "name": "question",
        "ask": "What?",
        "values": list(values),
        "ordered": True,
        "positions": None,
        "mechanism": mechanism,
    }


def ring(n_values: int) -> dict[str, Any]:
    """Values on a ring, of which neighbors are at distance 1."""
    return {
        "kind": "matrix",
        "below": [[min(i - j, n_values - i + j) for j in range(i)] for i in range(n_values)],
    }


def write(said: object) -> bytes:
    """A survey as canonical JSON, without any check."""
    return write_canonical(said)


def signed_bytes(raw: bytes) -> SignedSurvey:
    """Any bytes, signed by a stranger."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    return SignedSurvey(raw, key.sign(raw), key.public_key().public_bytes_raw())
