"""Signed surveys: the bytes that were signed, who signed them, and what they say."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, TypeAdapter, ValidationError

from ldiversity.base.secret import Secret
from ldiversity.base.secret_files import SecretFile
from ldiversity.collection.survey._canonical import MOST_BYTES, read_canonical, write_canonical
from ldiversity.collection.survey._document import Survey
from ldiversity.collection.survey._faults import first_fault
from ldiversity.collection.survey._mechanism import Part
from ldiversity.errors import ParameterError, StorageError

__all__ = ["SignedForm", "SignedSurvey", "SurveyKey"]

_KEY_BYTES: Final = 32
_FINGERPRINT: Final = 22
_MOST_JSON: Final = MOST_BYTES * 4 // 3 + 1000
"""The survey in base64, and the rest of its file."""

_NOT_TRUSTED: Final = "Do not answer it. Ask the collector for a good copy, by another way than this one."
_FILE: Final = SecretFile(
    "survey key",
    "ldiversity-survey-key-v1",
    "`ldiversity collect new`",
    "it makes it impossible to sign as the same collector",
    _KEY_BYTES,
)


class SignedForm(Part):
    """The file of a signed survey; all three fields are base64."""

    survey: Annotated[str, Field(max_length=_MOST_JSON)]
    """The signed bytes: the survey as canonical JSON."""
    signature: Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]{86}==$")]
    """The Ed25519 signature of the bytes."""
    public_key: Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]{43}=$")]
    """The collector's public key."""


@dataclass(frozen=True)
class SignedSurvey:
    """A survey as it was signed. Its bytes are what counts: they are its id, and what devices agree to.

    Nothing of it is read before its signature holds.

    Parameters
    ----------
    raw
        The survey as canonical JSON.
    signature, public_key
        The Ed25519 signature of the bytes, and the collector's key.

    Examples
    --------
    >>> SignedSurvey(b"{}", bytes(64), bytes(32)).id[:16]
    '44136fa355b3678a'
    """

    raw: bytes
    signature: bytes
    public_key: bytes

    @cached_property
    def survey(self) -> Survey:
        """What the bytes say; `ParameterError` if they are not signed, or break a rule of surveys."""
        self.verify()
        return read_survey(self.raw)

    @cached_property
    def id(self) -> str:
        """The SHA-256 of the bytes, in hexadecimal digits."""
        return hashlib.sha256(self.raw).hexdigest()

    @cached_property
    def fingerprint(self) -> str:
        """What people compare to know who signed: 22 letters of the SHA-256 of the public key, in base64url."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.public_key).digest()).decode()[:_FINGERPRINT]

    def verify(self, fingerprint: str | None = None) -> None:
        """Check the signature and, if it is given, that the key is the one with this fingerprint.

        Raises
        ------
        ParameterError
            When the bytes are not what the key signed, or the key is another one.
        """
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        if len(self.raw) > MOST_BYTES:
            raise ParameterError("survey", f"must be at most {MOST_BYTES // 1000} kB long", hint=_NOT_TRUSTED)
        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(self.signature, self.raw)
        except (InvalidSignature, ValueError, TypeError):
            rule = "must be what its collector signed, but the signature does not fit"
            raise ParameterError("survey", rule, hint=_NOT_TRUSTED) from None
        if fingerprint is not None and fingerprint.strip() != self.fingerprint:
            rule = "must be signed by the collector with the expected fingerprint, but another key signed it"
            raise ParameterError("survey", rule, hint=_NOT_TRUSTED)

    def to_json(self) -> bytes:
        """The file of the signed survey."""
        parts = {"survey": self.raw, "signature": self.signature, "public_key": self.public_key}
        return write_canonical({name: base64.b64encode(part).decode() for name, part in parts.items()}) + b"\n"

    @classmethod
    def from_json(cls, content: bytes) -> SignedSurvey:
        """Read such a file from a stranger, and check its signature."""
        if len(content) > _MOST_JSON:
            raise ParameterError("survey", f"must be at most {MOST_BYTES // 1000} kB long", hint=_NOT_TRUSTED)
        try:
            form = _FORM.validate_json(content)
            parts = [base64.b64decode(part, validate=True) for part in (form.survey, form.signature, form.public_key)]
        except ValidationError as error:
            if error.errors(include_input=False, include_url=False)[0]["type"] == "json_invalid":
                rule = "must be a file of JSON with survey, signature and public_key"
                raise ParameterError("survey", rule, hint=_NOT_TRUSTED) from None
            raise first_fault(error) from None
        except (binascii.Error, ValueError):
            raise ParameterError("survey", "must be in base64", hint=_NOT_TRUSTED) from None
        signed = cls(*parts)
        signed.verify()
        return signed

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SignedSurvey:
        """Read the file of a signed survey."""
        file = Path(path)
        try:
            with file.open("rb") as stream:
                content = stream.read(_MOST_JSON + 1)
        except OSError as error:
            raise StorageError("survey", f"file {str(file)!r} cannot be read: {error.strerror}").with_hint(
                "Sign a survey with `ldiversity collect new survey.toml` first."
            ) from None
        return cls.from_json(content)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file; one that is there is replaced at once or not at all."""
        file = Path(path)
        beside = file.with_name(f"{file.name}.new")
        try:
            beside.write_bytes(self.to_json())
            beside.replace(file)
        except OSError as error:
            raise StorageError("survey", f"file {str(file)!r} cannot be written: {error.strerror}") from None


class SurveyKey(Secret):
    """The collector's Ed25519 key, which signs surveys. It is never part of a survey, a message or a log.

    Examples
    --------
    >>> SurveyKey.new()
    SurveyKey(<secret>)
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes) or len(secret) != _KEY_BYTES:
            raise ParameterError("SurveyKey", "secret", f"must be {_KEY_BYTES} bytes")
        self._secret = secret

    @classmethod
    def new(cls) -> SurveyKey:
        """A new key from the operating system's randomness."""
        return cls(os.urandom(_KEY_BYTES))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SurveyKey:
        """Read a key file that only its owner may read."""
        return cls(_FILE.read(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file with mode 0600; an existing file is never overwritten."""
        _FILE.write(path, self._secret)

    def sign(self, survey: Survey) -> SignedSurvey:
        """Sign a survey; the same survey and key give the same bytes again."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        raw = survey_bytes(survey)
        key = Ed25519PrivateKey.from_private_bytes(self._secret)
        return SignedSurvey(raw, key.sign(raw), key.public_key().public_bytes_raw())


def survey_bytes(survey: Survey) -> bytes:
    """The survey as canonical JSON; `ParameterError` if it is too long, or has a number that no device reads."""
    try:
        raw = write_canonical(survey.model_dump(mode="json"))
    except ValueError:
        rule = "must have numbers below 2^53, which every language reads alike"
        raise ParameterError("survey", rule, hint="Give positions and distances in a larger unit.") from None
    if len(raw) > MOST_BYTES:
        raise ParameterError(
            "survey", f"must be at most {MOST_BYTES // 1000} kB long", got=f"{len(raw) // 1000} kB"
        ).with_hint("Ask for less, use fewer values, or a tree of groups in place of a matrix.")
    return raw


def read_survey(raw: bytes) -> Survey:
    """What bytes of a stranger say; `ParameterError` with one sentence if they break a rule."""
    try:
        return Survey.model_validate(read_canonical(raw))
    except ValidationError as error:
        raise first_fault(error) from None


_FORM: Final = TypeAdapter(SignedForm)
