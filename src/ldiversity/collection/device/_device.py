"""`Device`: hides answers here, and sends what cannot be undone."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ldiversity.base.secret import Secret
from ldiversity.base.secret_files import SecretFile
from ldiversity.collection.blind import to_text
from ldiversity.collection.device._ledger import Ledger, Repeated
from ldiversity.collection.device._preview import Hidden, Prepared, Preview
from ldiversity.collection.device._tokens import Token, ask_for_token
from ldiversity.collection.device._transport import Address, get, post
from ldiversity.collection.draw import DeviceSecret
from ldiversity.collection.survey import Choice, Question, Ranges, SignedSurvey, write_report
from ldiversity.errors import ParameterError, StorageError

if TYPE_CHECKING:
    from ldiversity.collection.survey import Survey

__all__ = ["Device"]

_BYTES: Final = 32
_INVITATION: Final = re.compile(r"[A-Za-z0-9_-]{22}\Z")
_FILE: Final = SecretFile(
    "device",
    "ldiversity-device-v1",
    "`ld.collection.Device.open`",
    "it makes the device draw other sets, which can be intersected with the old ones",
    _BYTES,
)
_COUNTED_ONCE: Final = {
    "device": "A token of this device, so that it counts once; tokens of two surveys cannot be linked.",
    "invitation": "The invitation code, so that it counts once. The collector may know whom it was sent to.",
    "blind": "A token that the collector signed without seeing it, so that it counts once.",
}


class Device(Secret):
    """A device that answers surveys: its secret, and the ledger of what it answered.

    The true answer never leaves `answer`: what is sent is made there, and shown before it is sent.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     device = Device.open(folder)
    >>> device
    Device(<secret>)
    """

    __slots__ = ("_ledger", "_secret")

    def __init__(self, secret: DeviceSecret, ledger: Ledger) -> None:
        self._secret, self._ledger = secret, ledger

    @classmethod
    def open(cls, folder: str | os.PathLike[str] | None = None) -> Device:
        """Open the device of a folder, which is made with a new secret if there is none.

        Parameters
        ----------
        folder
            Where secret and ledger are kept, readable by their owner only. The user's folder for settings if None.
            A copy of the folder is the same device; without its folder a device draws other sets.
        """
        home = _default_folder() if folder is None else Path(folder)
        file = home / "device.secret"
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            missing = not file.exists()
        except OSError as error:
            raise StorageError("device", f"folder {str(home)!r} cannot be used: {error.strerror}") from None
        if missing:
            try:
                _FILE.write(file, os.urandom(_BYTES))
            except ParameterError:
                if not file.exists():
                    raise
                # Another process made it in between: both use that one.
        return cls(DeviceSecret(_FILE.read(file)), Ledger.load(home / "ledger.json"))

    @staticmethod
    def fetch(url: str, fingerprint: str | None = None) -> SignedSurvey:
        """Get a survey, and check that it was signed.

        Parameters
        ----------
        url
            The address of the survey, as its collector gave it. A fingerprint at its end (``#k=...``) is checked.
        fingerprint
            The fingerprint of the collector's key, if it is known from elsewhere.
        """
        address = Address(url)
        signed = SignedSurvey.from_json(get(address.to("v1/survey")))
        signed.verify(fingerprint or address.fingerprint)
        return signed

    def repeated(self, signed: SignedSurvey) -> tuple[Repeated, ...]:
        """Questions that may ask for a fact that was answered before, in another form."""
        return self._ledger.repeated(signed.survey.questions)

    def answer(
        self,
        signed: SignedSurvey,
        answers: Mapping[str, str | int],
        *,
        again: bool = False,
        invitation: str | None = None,
        url: str | None = None,
    ) -> Preview:
        """Hide answers, and return what would be sent. No answer is sent or kept.

        Parameters
        ----------
        signed
            The survey; its signature is checked.
        answers
            One answer for each quasi-identifier (a whole number, or a choice) and each question (one of its values).
        again
            Whether to answer questions that may ask for the same fact as one that was answered before.
        invitation
            The code that the collector sent, where the survey asks for one.
        url
            The address of the survey, where its tokens are signed blindly: the collector signs before the report is
            made. Nothing of the answers is in what is sent for that.

        Raises
        ------
        ParameterError
            When an answer is missing or none of the survey's, or a question was answered before in another form.
            No message has an answer in it.
        """
        signed.verify()
        survey = signed.survey
        _check_names(survey, answers)
        quasi = {one.name: _code_of(one, answers[one.name]) for one in survey.quasi}
        codes = {one.name: _code_in(one, answers[one.name]) for one in survey.questions}
        repeated = () if again else self.repeated(signed)
        if repeated:
            raise _asked_before(repeated)
        shown = tuple((one.name, one.labels[quasi[one.name]]) for one in survey.quasi)
        reports = []
        for place, part in enumerate(survey.parts):
            sets = {one.name: self._secret.hide(one.draw, one.name, one.values, codes[one.name]) for one in part}
            hidden = tuple(Hidden(one.name, tuple(one.values[code] for code in sets[one.name])) for one in part)
            token, signature = self._token(signed, place, invitation, url)
            body = write_report(survey, signed.id, token, quasi, sets, signature)
            reports.append(Prepared(place, shown, hidden, body))
        linked_by = "the invitation code" if survey.tokens == "invitation" else None
        questions = tuple(survey.questions)
        return Preview(signed.id, tuple(reports), questions, _COUNTED_ONCE[survey.tokens], linked_by, again)

    def send(self, preview: Preview, url: str) -> None:
        """Send what was shown; sending it again changes nothing.

        Parameters
        ----------
        preview
            What `answer` returned.
        url
            The address of the survey.

        Raises
        ------
        ParameterError
            When a question may ask for the same fact as one that was answered since `answer`, also by another process.
        """
        address = Address(url)
        # Before anything is sent: a question whose set may have left is never forgotten.
        repeated = self._ledger.add(preview.questions, agreed=preview.agreed)
        if repeated:
            raise _asked_before(repeated)
        for report in random.SystemRandom().sample(preview.reports, len(preview.reports)):
            post(address.to("v1/reports"), report.body)

    def _token(self, signed: SignedSurvey, part: int, invitation: str | None, url: str | None) -> Token:
        kind = signed.survey.tokens
        if kind == "device":
            return to_text(self._secret.token(signed.id, part)), None
        if invitation is None or not _INVITATION.match(invitation):
            raise ParameterError("device", "invitation", "must be the code of 22 letters that the collector sent")
        if kind == "invitation":
            return invitation, None
        if url is None:
            raise ParameterError("device", "url", "must be given where the collector signs tokens blindly")
        return ask_for_token(self._secret, signed, part, invitation, Address(url))


def _default_folder() -> Path:
    from click import get_app_dir

    return Path(get_app_dir("ldiversity")) / "device"


def _asked_before(repeated: Sequence[Repeated]) -> ParameterError:
    return ParameterError("device", repeated[0].sentence, hint="Answer with again=True only if you accept that.")


def _check_names(survey: Survey, answers: Mapping[str, str | int]) -> None:
    names = [one.name for one in (*survey.quasi, *survey.questions)]
    missing = [name for name in names if name not in answers]
    if missing:
        raise ParameterError("device", "answers", f"must have an answer to {missing[0]!r}")
    if len(answers) > len(names):
        raise ParameterError("device", "answers", f"must have the names {', '.join(names)}, and no other")


def _code_of(one: Ranges | Choice, answer: str | int) -> int:
    if isinstance(one, Ranges):
        code = one.code(answer) if isinstance(answer, int) and not isinstance(answer, bool) else None
        low, high = one.low, one.high
        between = " ".join([f"from {low}" if low is not None else "", f"up to {high}" if high is not None else ""])
        rule = f"must be a whole number {between.strip()}".strip()
    else:
        code = one.code(answer) if isinstance(answer, str) else None
        rule = "must be one of the survey's choices"
    if code is None:
        raise ParameterError("device", f"answers[{one.name!r}]", rule)
    return code


def _code_in(question: Question, answer: str | int) -> int:
    if not isinstance(answer, str) or answer not in question.values:
        raise ParameterError("device", f"answers[{question.name!r}]", "must be one of the question's values")
    return question.values.index(answer)
