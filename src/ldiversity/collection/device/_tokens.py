"""Tokens that the collector signs without seeing them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

from ldiversity.collection.blind import BlindPublicKey, from_text, to_text, token_message
from ldiversity.collection.device._transport import Address, post

if TYPE_CHECKING:
    from ldiversity.collection.draw import DeviceSecret
    from ldiversity.collection.survey import SignedSurvey

__all__ = ["Token", "ask_for_token"]

Token: TypeAlias = tuple[str, str | None]
"""What a report spends, and the signature that it needs, if any."""


def ask_for_token(secret: DeviceSecret, signed: SignedSurvey, part: int, invitation: str, address: Address) -> Token:
    """Have a token signed. Everything random follows from the secret, so that asking again gives the same one."""
    key = BlindPublicKey.from_text(signed.survey.blind_key or "")
    token, salt, wide = secret.blind_token(signed.id, part, key.factor_bytes)
    prepared = token_message(signed.id, part, token)
    blinded = key.blind(prepared, part, salt=salt, factor=key.factor(wide))
    asked = {"survey": signed.id, "part": part, "invitation": invitation, "blinded": to_text(blinded.message)}
    answered = post(address.to("v1/tokens"), json.dumps(asked, separators=(",", ":")).encode())
    return to_text(token), to_text(key.finalize(prepared, blinded, _signature(answered), part))


def _signature(answered: bytes) -> bytes:
    """What the collector signed; empty, which no key signs, if it sent something else."""
    try:
        said = json.loads(answered)
    except (ValueError, RecursionError):
        return b""
    text = said.get("signature") if isinstance(said, dict) else None
    return (from_text(text) if isinstance(text, str) else None) or b""
