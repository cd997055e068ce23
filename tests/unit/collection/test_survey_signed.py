"""Signed surveys: the same bytes for the same survey, and nothing is read that was changed."""

from __future__ import annotations

import base64
import json
import os
import pickle
import stat
from pathlib import Path

import pytest

import ldiversity as ld
from ldiversity.collection.survey import SignedSurvey, SurveyKey
from tests.unit.collection.surveys import plain, survey


def test_a_signed_survey_comes_back_as_it_was(tmp_path: Path) -> None:
    signed = SurveyKey.new().sign(survey())
    signed.save(tmp_path / "survey.signed.json")

    again = SignedSurvey.load(tmp_path / "survey.signed.json")

    assert (again, again.id, again.survey) == (signed, signed.id, survey())
    assert [one.name for one in tmp_path.iterdir()] == ["survey.signed.json"]


def test_the_bytes_are_sorted_and_without_blanks() -> None:
    raw = SurveyKey.new().sign(survey(title="Gesundheit in Zürich")).raw

    expected = json.dumps(
        plain(title="Gesundheit in Zürich"), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert raw.decode() == expected


@pytest.mark.parametrize("unit", [1e-300, 1e-7, 0.1, 1.0, 1e15, 1e21, 1e300])
def test_numbers_of_any_size_come_back_as_they_were(unit: float) -> None:
    asked = plain()["questions"][0] | {"positions": [unit * place for place in range(6)]}

    signed = SurveyKey.new().sign(survey(questions=[asked]))

    assert signed.survey.questions[0].positions == asked["positions"]


@pytest.mark.parametrize("unit", [1e16, 9007199254740993.0, 1.5e20])
def test_a_number_that_no_device_reads_is_not_signed(unit: float) -> None:
    asked = plain()["questions"][0] | {"positions": [unit * place for place in range(6)]}

    with pytest.raises(ld.ParameterError, match=r"must have numbers below 2\^53"):
        SurveyKey.new().sign(survey(questions=[asked]))


def test_the_same_key_signs_the_same_survey_with_the_same_bytes(tmp_path: Path) -> None:
    key = SurveyKey.new()
    key.save(tmp_path / "survey.key")

    assert SurveyKey.load(tmp_path / "survey.key").sign(survey()) == key.sign(survey())


def test_a_fingerprint_tells_who_signed() -> None:
    signed, other = SurveyKey.new().sign(survey()), SurveyKey.new().sign(survey())

    signed.verify(signed.fingerprint)
    assert (len(signed.fingerprint), signed.id) == (22, other.id)
    with pytest.raises(ld.ParameterError, match="another key signed it"):
        other.verify(signed.fingerprint)


def changed(byte: int, part: str) -> bytes:
    """A signed survey of which one bit is another."""
    parts = json.loads(SurveyKey.new().sign(survey()).to_json())
    content = bytearray(base64.b64decode(parts[part]))
    content[byte] ^= 1
    return json.dumps({**parts, part: base64.b64encode(content).decode()}).encode()


@pytest.mark.parametrize("byte", [0, 20, -1])
@pytest.mark.parametrize("part", ["survey", "signature", "public_key"])
def test_a_changed_byte_is_found(byte: int, part: str) -> None:
    with pytest.raises(ld.ParameterError, match="the signature does not fit") as caught:
        SignedSurvey.from_json(changed(byte, part))

    assert "Do not answer it" in str(caught.value)


def test_nothing_is_read_before_the_signature_holds() -> None:
    signed = SurveyKey.new().sign(survey())

    with pytest.raises(ld.ParameterError, match="the signature does not fit"):
        _ = SignedSurvey(signed.raw, signed.signature, SurveyKey.new().sign(survey()).public_key).survey


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "must be a file of JSON"),
        (b"[" * 100_000, "must be a file of JSON"),
        (b"\xff\xfe{}", "must be a file of JSON"),
        (b"[]", "must be an object"),
        (b"{}", "survey must be given"),
        (b'{"survey": 3}', "survey must be a text"),
        (b'{"survey": "e30=", "signature": "e30=", "public_key": "e30="}', "signature must be of its form"),
        (b'{"survey": "e30", "signature": "%b==", "public_key": "%b="}' % (b"A" * 86, b"A" * 43), "must be in base64"),
        (b'{"survey": "%b"}' % (b"A" * 400_000), "must be at most 256 kB long"),
    ],
)
def test_a_file_that_is_none_is_refused_with_a_sentence(content: bytes, rule: str) -> None:
    with pytest.raises(ld.ParameterError, match=rule):
        SignedSurvey.from_json(content)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ld.StorageError, match=r"nowhere\.json"):
        SignedSurvey.load(tmp_path / "nowhere.json")


# --- keys ------------------------------------------------------------------------------------------------


def test_a_key_is_kept_like_the_holders(tmp_path: Path) -> None:
    file = tmp_path / "survey.key"
    SurveyKey.new().save(file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text(encoding="ascii").startswith("ldiversity-survey-key-v1 ")
    with pytest.raises(ld.ParameterError, match="must not exist yet"):
        SurveyKey.new().save(file)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "survey.key"
    SurveyKey.new().save(file)
    file.chmod(0o644)

    with pytest.raises(ld.ParameterError, match="readable by its owner only"):
        SurveyKey.load(file)


def test_a_holders_key_is_no_survey_key(tmp_path: Path) -> None:
    ld.Key.new().save(tmp_path / "holder.key")

    with pytest.raises(ld.ParameterError, match="must be a key file"):
        SurveyKey.load(tmp_path / "holder.key")


def test_a_key_shows_nothing() -> None:
    key = SurveyKey.new()

    assert repr(key) == "SurveyKey(<secret>)"
    with pytest.raises(ld.ParameterError, match="must not be pickled"):
        pickle.dumps(key)
