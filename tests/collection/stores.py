"""Surveys and reports that tests of storage share."""

from __future__ import annotations

import hashlib

from ldiversity.collection.store import Store
from ldiversity.collection.survey import Kept, SignedSurvey

BODY = 8
ONE, OTHER = (SignedSurvey(raw, bytes(64), bytes(32)) for raw in (b"one", b"other"))


def kept(number: int, body: int | None = None, part: int = 0) -> Kept:
    """The report of a device with a number; by default this number is its body."""
    spent = hashlib.sha256(f"token {part} {number}".encode()).digest()[:16]
    return Kept(part, spent, (number if body is None else body).to_bytes(BODY, "big"))


def bodies(store: Store, survey: SignedSurvey = ONE, part: int = 0) -> list[int]:
    """The bodies in a store, as numbers, in their order."""
    joined = store.bodies(survey.id, part)
    return [int.from_bytes(joined[at : at + BODY], "big") for at in range(0, len(joined), BODY)]
