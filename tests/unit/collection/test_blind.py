"""Blind signatures: the vectors of RFC 9474, exponents of parts, and what is refused."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from ldiversity.collection.blind import BlindKey, BlindPublicKey, from_text, prepare, to_text, token_message
from ldiversity.collection.blind._public import MOST_PARTS, exponent
from ldiversity.errors import ParameterError

VECTORS = json.loads((Path(__file__).parents[2] / "data/collection/rfc9474.json").read_text())["vectors"]
KEY = BlindKey.new()


def _number(text: str) -> int:
    return int(text.removeprefix("0x"), 16)


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_the_vectors_of_the_standard_are_met(vector: dict[str, str]) -> None:
    key = BlindKey(_number(vector["p"]), _number(vector["q"]))
    message, prefix = _bytes(vector["msg"]), _bytes(vector["msg_prefix"])
    prepared = prepare(message, prefix) if prefix else message
    factor = pow(_number(vector["inv"]), -1, key.public.modulus)

    blinded = key.public.blind(prepared, salt=_bytes(vector["salt"]), factor=factor)
    signed = key.sign(blinded.message)
    signature = key.public.finalize(prepared, blinded, signed, salt_bytes=len(_bytes(vector["salt"])))

    assert key.public.modulus == _number(vector["n"])
    assert prepared == _bytes(vector["input_msg"])
    assert blinded.message == _bytes(vector["blinded_msg"])
    assert signed == _bytes(vector["blind_sig"])
    assert signature == _bytes(vector["sig"])


def test_a_token_is_good_for_one_survey_and_one_part() -> None:
    token = os.urandom(32)
    prepared = token_message("ab", 1, token)
    blinded = KEY.public.blind(prepared, 1)
    signature = KEY.public.finalize(prepared, blinded, KEY.sign(blinded.message, 1), 1)

    holds = [
        KEY.public.verify(token_message(survey, part, token), signature, part)
        for survey, part in [("ab", 1), ("ab", 0), ("ac", 1), ("ab", 2)]
    ]

    assert holds == [True, False, False, False]


def test_what_was_signed_for_one_part_cannot_be_spent_in_another() -> None:
    # The device lies about the message: it is one of part 0, but is signed as one of part 1.
    prepared = token_message("ab", 0, os.urandom(32))
    blinded = KEY.public.blind(prepared, 1)
    signed = KEY.sign(blinded.message, 1)

    signature = KEY.public.finalize(prepared, blinded, signed, 1)

    assert KEY.public.verify(prepared, signature, 1)
    assert not KEY.public.verify(prepared, signature, 0)


def test_exponents_are_distinct_primes_that_every_new_key_can_use() -> None:
    exponents = [exponent(part) for part in range(MOST_PARTS)]
    slow = [n for n in range(65537, 66000) if all(n % k for k in range(2, 260))][:MOST_PARTS]

    assert exponents == slow
    assert all(len(KEY.sign(b"\0" * 383 + b"\2", part)) == 384 for part in range(MOST_PARTS))


@pytest.mark.parametrize("blinded", [b"", bytes(384), b"\xff" * 384, b"\0" * 384 + b"\1", b"\1" * 383])
def test_what_is_no_number_below_the_modulus_is_not_signed(blinded: bytes) -> None:
    with pytest.raises(ParameterError, match="below the modulus"):
        KEY.sign(blinded)


def test_a_collector_who_signs_something_else_is_found_out() -> None:
    prepared = token_message("ab", 0, os.urandom(32))
    blinded = KEY.public.blind(prepared)
    for wrong in (KEY.sign(blinded.message, 1), BlindKey.new().sign(bytes(383) + b"\2"), b"", b"\xff" * 384):
        with pytest.raises(ParameterError, match="must sign the token"):
            KEY.public.finalize(prepared, blinded, wrong)


def test_blinding_the_same_message_again_gives_another_number() -> None:
    prepared = token_message("ab", 0, bytes(32))

    assert KEY.public.blind(prepared).message != KEY.public.blind(prepared).message


def test_a_key_is_kept_in_a_file_of_its_owner_alone(tmp_path: Path) -> None:
    KEY.save(tmp_path / "blind.key")

    assert stat.S_IMODE((tmp_path / "blind.key").stat().st_mode) == 0o600
    assert BlindKey.load(tmp_path / "blind.key").public == KEY.public == BlindPublicKey.from_text(KEY.public.text)
    with pytest.raises(ParameterError, match="must not exist yet"):
        KEY.save(tmp_path / "blind.key")
    (tmp_path / "blind.key").chmod(0o644)
    with pytest.raises(ParameterError, match="readable by its owner only"):
        BlindKey.load(tmp_path / "blind.key")


def test_a_token_has_one_spelling() -> None:
    token = to_text(bytes(range(32)))
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    same = [letter for letter in letters if from_text(token[:-1] + letter) == bytes(range(32))]

    assert same == [token[-1]]
