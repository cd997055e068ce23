"""Invitations: codes for people, of which the collector's server keeps hashes only."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import Final

from ldiversity.base.checks import check_integer
from ldiversity.collection.blind import to_text
from ldiversity.collection.survey import SignedSurvey

__all__ = ["invitation_hash", "invitation_hashes", "make_invitations"]

_CODE_BYTES: Final = 16
_MOST: Final = 1_000_000


def make_invitations(n: int) -> tuple[str, ...]:
    """New codes of 128 random bits, 22 letters each.

    Give one to each person, and keep no list of who got which: with it you could see who answered, though never what.

    Examples
    --------
    >>> len({*make_invitations(3)}), len(make_invitations(1)[0])
    (3, 22)
    """
    n = check_integer("make_invitations", "n", n, minimum=1, maximum=_MOST)
    return tuple(to_text(os.urandom(_CODE_BYTES)) for _ in range(n))


def invitation_hash(survey_id: str, part: int, code: str) -> bytes:
    """What is kept of an invitation, for each part of the survey."""
    return hashlib.sha256(f"ldiversity/1/invitation\0{survey_id}/{part}/{code}".encode()).digest()


def invitation_hashes(signed: SignedSurvey, codes: Iterable[str]) -> list[bytes]:
    """What is kept of codes: pass it to `Store.add_invitations`."""
    parts = range(len(signed.survey.parts))
    return [invitation_hash(signed.id, part, code) for code in codes for part in parts]
