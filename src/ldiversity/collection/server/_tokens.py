"""Which tokens may be spent, and blind signatures for them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Final, Protocol

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ldiversity.collection.blind import BlindKey, BlindPublicKey, from_text, to_text, token_message
from ldiversity.collection.server._invitations import invitation_hash
from ldiversity.collection.store import Store
from ldiversity.collection.survey import Kept, Report, SignedSurvey
from ldiversity.errors import ParameterError
from ldiversity.web import Refused

__all__ = ["BlindSigner", "TokenRule", "token_rule"]

_LETTERS: Final = 22
_LAST_LETTERS: Final = "AQgw"
"""How 16 bytes end in base64url, in their one spelling: the last four bits stand for nothing, and are zero."""

_BLIND_BYTES: Final = 32
_MANY: Final = 16
"""From so many reports on, signatures are checked in another thread, so that others need not wait."""


class TokenRule(Protocol):
    """Says which tokens of a survey may be spent."""

    async def check(self, read: Sequence[tuple[Kept, Report]]) -> None:
        """Refuse reports if the token of one may not be spent."""


def token_rule(store: Store, signed: SignedSurvey) -> TokenRule:
    """The rule of a survey."""
    survey = signed.survey
    if survey.blind_key is not None:
        return _Blind(BlindPublicKey.from_text(survey.blind_key), signed.id)
    return _Invited(store, signed.id) if survey.tokens == "invitation" else _Device()


class _Device:
    """Every device brings a token of its own."""

    async def check(self, read: Sequence[tuple[Kept, Report]]) -> None:
        for _, report in read:
            _check_form(report, "be 16 bytes in base64url")


class _Invited:
    """The token is the code of an invitation."""

    def __init__(self, store: Store, survey_id: str) -> None:
        self._store, self._survey_id = store, survey_id

    async def check(self, read: Sequence[tuple[Kept, Report]]) -> None:
        for _, report in read:
            _check_form(report, "be the code of an invitation")
        hashes = [invitation_hash(self._survey_id, kept.part, report.token) for kept, report in read]
        if not await asyncio.to_thread(self._all_known, hashes):
            raise _refused("be the code of an invitation")

    def _all_known(self, hashes: Sequence[bytes]) -> bool:
        return all(self._store.has_invitation(self._survey_id, one) for one in hashes)


class _Blind:
    """The token was signed blindly for this part of the survey."""

    def __init__(self, key: BlindPublicKey, survey_id: str) -> None:
        self._key, self._survey_id = key, survey_id

    async def check(self, read: Sequence[tuple[Kept, Report]]) -> None:
        good = self._all_signed(read) if len(read) < _MANY else await asyncio.to_thread(self._all_signed, read)
        if not good:
            raise _refused("be signed by the collector for this part of the survey")

    def _all_signed(self, read: Sequence[tuple[Kept, Report]]) -> bool:
        return all(self._is_signed(kept.part, report) for kept, report in read)

    def _is_signed(self, part: int, report: Report) -> bool:
        token, signature = from_text(report.token), from_text(report.signature or "")
        if token is None or signature is None or len(token) != _BLIND_BYTES:
            return False
        return self._key.verify(token_message(self._survey_id, part, token), signature, part)


def _check_form(report: Report, rule: str) -> None:
    token = report.token
    if len(token) != _LETTERS or token[-1] not in _LAST_LETTERS or report.signature is not None:
        raise _refused(f"{rule}, without a signature")


def _refused(rule: str) -> ParameterError:
    return ParameterError("report", "token", f"must {rule}")


class _Asked(BaseModel):
    """What a device sends to have a token signed."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    survey: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    part: Annotated[int, Field(ge=0, le=23)]
    invitation: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22}$")]
    blinded: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{300,800}$")]


_ASKED: Final = TypeAdapter(_Asked)


class BlindSigner:
    """Signs one blinded token for each invitation and part; the same one again, as often as it is asked."""

    most_bytes: Final = 2_048

    def __init__(self, store: Store, signed: SignedSurvey, key: BlindKey | None) -> None:
        if key is None:
            raise ParameterError("serve", "blind_key", "must be given, because the survey wants tokens signed blindly")
        if signed.survey.blind_key != key.public.text:
            raise ParameterError("serve", "blind_key", "must be the key that the survey names")
        self._store, self._survey_id, self._key = store, signed.id, key
        self._n_parts = len(signed.survey.parts)

    async def sign(self, raw: bytes) -> str:
        """The blind signature for what a device asks.

        Unknown invitations and used ones are refused in the same words.
        """
        try:
            asked = _ASKED.validate_json(raw)
        except ValidationError:
            raise ParameterError(
                "request", "must have survey, part, invitation and blinded of the right form"
            ) from None
        blinded = from_text(asked.blinded)
        modulus = self._key.public.modulus
        if blinded is None or len(blinded) != self._key.public.n_bytes or not 0 < int.from_bytes(blinded) < modulus:
            raise ParameterError("request", "blinded", "must be a number below the survey's modulus, in base64url")
        if asked.survey != self._survey_id or asked.part >= self._n_parts:
            raise ParameterError("request", "must be for a part of this survey")
        return to_text(await asyncio.to_thread(self._issue, asked, blinded))

    def _issue(self, asked: _Asked, blinded: bytes) -> bytes:
        invitation = invitation_hash(self._survey_id, asked.part, asked.invitation)
        if not self._store.issue(self._survey_id, invitation, hashlib.sha256(blinded).digest()):
            raise Refused(HTTPStatus.FORBIDDEN, "This invitation cannot be used, or was used for another token.")
        return self._key.sign(blinded, asked.part)
