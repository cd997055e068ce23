"""Which tokens may be spent: invitations and tokens that were signed blindly."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ldiversity.collection.blind import BlindKey, from_text, to_text, token_message
from ldiversity.collection.server import invitation_hashes, make_invitations
from ldiversity.collection.server._tokens import _LAST_LETTERS
from ldiversity.collection.survey import SignedSurvey
from ldiversity.errors import ParameterError
from tests.collection.servers import TWO, Asked, application, report_of, signed_survey

KEY = BlindKey.new()


@pytest.fixture
def invited(tmp_path: Path) -> Iterator[Asked]:
    """A survey with invitations, whose two questions are not linked."""
    with application(tmp_path, signed_survey(tokens="invitation", linked=False, questions=TWO)) as asked:
        yield asked


@pytest.fixture
def blind(tmp_path: Path) -> Iterator[Asked]:
    """A survey with blind tokens, whose two questions are not linked."""
    changes = {"tokens": "blind", "blind_key": KEY.public.text, "linked": False, "questions": TWO}
    with application(tmp_path, signed_survey(**changes), blind_key=KEY) as asked:
        yield asked


def invite(asked: Asked, n: int = 1) -> list[str]:
    codes = make_invitations(n)
    asked.store.add_invitations(asked.signed.id, invitation_hashes(asked.signed, codes))
    return list(codes)


def request(asked: Asked, code: str, blinded: bytes, part: int = 0) -> dict[str, object]:
    return {"survey": asked.signed.id, "part": part, "invitation": code, "blinded": to_text(blinded)}


def get_token(asked: Asked, code: str, part: int = 0) -> tuple[str, str, list[bytes]]:
    """A token, its signature, and everything that the server saw and said."""
    token = os.urandom(32)
    prepared = token_message(asked.signed.id, part, token)
    blinded = KEY.public.blind(prepared, part)
    answer = asked.post("/v1/tokens", request(asked, code, blinded.message, part))
    assert answer.status_code == 200
    signed = from_text(answer.json()["signature"])
    assert signed is not None
    signature = KEY.public.finalize(prepared, blinded, signed, part)
    return to_text(token), to_text(signature), [code.encode(), blinded.message, signed]


def test_an_invitation_is_good_once_for_each_part(invited: Asked) -> None:
    (code,) = invite(invited)

    answers = [
        invited.post("/v1/reports", report_of(invited.signed, number, part=part, token=code)).status_code
        for number, part in ((1, 0), (2, 0), (3, 1))
    ]

    assert answers == [204, 204, 204]
    assert (invited.stored(0), invited.stored(1)) == (1, 1)


def test_a_code_that_nobody_was_given_is_refused_alone_and_in_a_batch(invited: Asked) -> None:
    (code,), (other,) = invite(invited), make_invitations(1)
    reports = [report_of(invited.signed, 1, token=one) for one in (code, other)]

    assert invited.post("/v1/reports", reports[1]).status_code == 422
    assert invited.post("/v1/reports/batch", [json.loads(one) for one in reports]).status_code == 422
    assert invited.stored() == 0


def test_only_hashes_of_invitations_are_kept(invited: Asked, tmp_path: Path) -> None:
    codes = invite(invited, 20)

    kept = b"".join(path.read_bytes() for path in tmp_path.glob("survey.db*"))

    assert all(code.encode() not in kept and (from_text(code) or b"?") not in kept for code in codes)
    assert len({*codes}) == 20
    assert all(len(from_text(code) or b"") == 16 for code in codes)


def test_a_blind_token_is_spent_once_in_the_part_it_was_signed_for(blind: Asked) -> None:
    (code,) = invite(blind)
    token, signature, _ = get_token(blind, code, 1)

    def send(number: int, part: int, **spent: str) -> int:
        return blind.post("/v1/reports", report_of(blind.signed, number, part=part, **spent)).status_code

    good = {"token": token, "signature": signature}
    assert [send(1, 1, **good), send(1, 1, **good), send(2, 1, **good)] == [204, 204, 204]
    assert send(3, 0, **good) == 422
    assert send(4, 1, token=to_text(os.urandom(32)), signature=signature) == 422
    assert send(5, 1, token=token, signature=to_text(os.urandom(384))) == 422
    assert send(6, 1, token=token) == 422
    assert (blind.stored(0), blind.stored(1)) == (0, 1)


def test_a_token_signed_for_one_part_cannot_be_made_one_of_another(blind: Asked) -> None:
    (code,) = invite(blind)
    token = os.urandom(32)
    prepared = token_message(blind.signed.id, 0, token)
    lying = KEY.public.blind(prepared, 1)  # a second token for part 0, in place of that for part 1
    signed = from_text(blind.post("/v1/tokens", request(blind, code, lying.message, 1)).json()["signature"])
    signature = KEY.public.finalize(prepared, lying, signed or b"", 1)

    body = report_of(blind.signed, 1, part=0, token=to_text(token), signature=to_text(signature))

    assert blind.post("/v1/reports", body).status_code == 422


def test_another_spelling_of_a_token_does_not_spend_it_again(blind: Asked) -> None:
    (code,) = invite(blind)
    token, signature, _ = get_token(blind, code)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    place = letters.index(token[-1])
    others = [token[:-1] + letters[place + more] for more in (1, 2, 3)]

    answers = [
        blind.post("/v1/reports", report_of(blind.signed, 1, token=one, signature=signature)).status_code
        for one in (token, *others)
    ]

    assert answers == [204, 422, 422, 422]
    assert blind.stored() == 1


def test_asking_again_for_the_same_token_is_answered_as_the_first_time(blind: Asked) -> None:
    (code,) = invite(blind)
    blinded = KEY.public.blind(token_message(blind.signed.id, 0, os.urandom(32))).message

    first, again = (blind.post("/v1/tokens", request(blind, code, blinded)) for _ in range(2))

    assert (first.status_code, first.content, first.headers.raw) == (200, again.content, again.headers.raw)


def test_unknown_and_used_invitations_are_refused_in_the_same_words(blind: Asked) -> None:
    (used,), (unknown,) = invite(blind), make_invitations(1)
    get_token(blind, used)
    other = KEY.public.blind(token_message(blind.signed.id, 0, os.urandom(32))).message

    refused = [blind.post("/v1/tokens", request(blind, code, other)) for code in (used, unknown)]

    assert [answer.status_code for answer in refused] == [403, 403]
    assert refused[0].content == refused[1].content
    assert refused[0].headers.raw == refused[1].headers.raw


@pytest.mark.parametrize(
    "change",
    [
        {"blinded": to_text(bytes(384))},
        {"blinded": to_text(b"\xff" * 384)},
        {"blinded": to_text(b"\1" * 383)},
        {"part": 2},
        {"part": -1},
        {"survey": "0" * 64},
        {"invitation": "canary"},
        {"canary": 1},
    ],
)
def test_what_cannot_be_signed_uses_no_invitation(blind: Asked, change: dict[str, object]) -> None:
    (code,) = invite(blind)
    asked = {**request(blind, code, b"\1" * 384), **change}

    answer = blind.post("/v1/tokens", asked)

    assert answer.status_code == 422
    assert "canary" not in answer.text
    get_token(blind, code)


def test_what_the_server_saw_when_it_signed_does_not_occur_in_the_report(blind: Asked, tmp_path: Path) -> None:
    seen, reports = [], []
    for number, code in enumerate(invite(blind, 4)):
        token, signature, saw = get_token(blind, code)
        seen += [*saw, *(to_text(one).encode() for one in saw), *(hashlib.sha256(one).digest() for one in saw)]
        reports.append(report_of(blind.signed, number, token=token, signature=signature))
        assert blind.post("/v1/reports", reports[-1]).status_code == 204

    # A report holds none of it, neither as text nor as bytes; nor does its signature, opened with either exponent.
    spent = [json.loads(report) for report in reports]
    raw = [from_text(one[name]) or b"" for one in spent for name in ("token", "signature")]
    opened = [pow(int.from_bytes(one), e, KEY.public.modulus).to_bytes(384) for one in raw for e in (65537, 65539)]
    assert not [one for one in seen for said in (*reports, *raw, *opened) if one in said or said in one]
    assert blind.stored() == 4
    assert not [one for one in seen if one in blind.store.bodies(blind.signed.id)]


def test_a_survey_without_blind_tokens_signs_nothing(invited: Asked) -> None:
    assert invited.post("/v1/tokens", {}).status_code == 404


def test_another_key_than_the_survey_names_is_refused_at_the_start(tmp_path: Path) -> None:
    signed: SignedSurvey = signed_survey(tokens="blind", blind_key=KEY.public.text)
    with (
        pytest.raises(ParameterError, match="must be the key that the survey names"),
        application(tmp_path, signed, blind_key=BlindKey.new()),
    ):
        pass
    with pytest.raises(ParameterError, match="must be given"), application(tmp_path, signed):
        pass


def test_the_last_letters_of_tokens_are_those_of_their_one_spelling() -> None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    assert "".join(letter for letter in letters if from_text("A" * 21 + letter) is not None) == _LAST_LETTERS
