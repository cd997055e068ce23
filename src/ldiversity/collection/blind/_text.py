"""Bytes as base64url without padding, in one spelling only."""

from __future__ import annotations

import base64
import binascii

__all__ = ["from_text", "to_text"]


def to_text(content: bytes) -> str:
    """Bytes as base64url.

    Examples
    --------
    >>> to_text(b"token")
    'dG9rZW4'
    """
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def from_text(text: str) -> bytes | None:
    """What a text in base64url says; None if it is none.

    The last letter may have bits that stand for nothing. A text in which they are set is refused: otherwise one token
    could be spelled, and spent, in several ways.

    Examples
    --------
    >>> from_text("dG9rZW4"), from_text("dG9rZW5"), from_text("dG9r ZW4")
    (b'token', None, None)
    """
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return content if to_text(content) == text else None
