"""Blind signatures (RFC 9474): the collector signs a token without seeing it, and cannot recognize it later."""

from __future__ import annotations

from ldiversity.collection.blind._key import BlindKey
from ldiversity.collection.blind._public import Blinded, BlindPublicKey, prepare, token_message
from ldiversity.collection.blind._text import from_text, to_text

__all__ = ["BlindKey", "BlindPublicKey", "Blinded", "from_text", "prepare", "to_text", "token_message"]
