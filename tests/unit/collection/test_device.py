"""The Python device: what it sends, what it remembers, and what never leaves it."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import ldiversity as ld
from ldiversity.collection.device import Device, Preview
from ldiversity.collection.survey import Reports, SignedSurvey, SurveyKey, write_report
from ldiversity.errors import InternalError, ParameterError, StorageError
from tests.unit.collection.surveys import PLAIN, survey

ANSWERS: Mapping[str, str | int] = {"age": 44, "sex": "male", "disease": "ulcer"}


def signed(**changes: Any) -> SignedSurvey:
    return SurveyKey.new().sign(survey(**changes))


def with_values(name: str, values: list[str], l: int = 3) -> dict[str, Any]:
    mechanism = {"kind": "uniform", "version": 2, "n_values": len(values), "l": l}
    return {**PLAIN["questions"][0], "name": name, "values": values, "mechanism": mechanism}


SAME = PLAIN["questions"][0]["values"]


@pytest.fixture
def device(tmp_path: Path) -> Device:
    return Device.open(tmp_path / "device")


def remember(device: Device, preview: Preview) -> None:
    """What sending does first."""
    device._ledger.add(preview.questions)


def test_a_report_is_one_that_the_collector_accepts_and_holds_the_answer_in_its_set(device: Device) -> None:
    asked = signed()
    (report,) = device.answer(asked, ANSWERS).reports
    kept, read = Reports(asked.survey, asked.id).read(report.body)
    assert read.quasi == {"age": 1, "sex": 1}
    assert asked.survey.questions[0].values.index("ulcer") in read.sets["disease"]
    assert (kept.part, len(read.token)) == (0, 22)


def test_the_preview_says_exactly_what_the_bytes_say(device: Device) -> None:
    asked = signed()
    preview = device.answer(asked, ANSWERS)
    sent = json.loads(preview.reports[0].body)
    members = [asked.survey.questions[0].values[code] for code in sent["sets"]["disease"]]
    assert preview.lines[:3] == ("age: 30-44", "sex: male", f"disease: one of {', '.join(members)}")
    assert set(sent) == {"survey", "token", "quasi", "sets"}


def test_answers_with_the_same_set_send_the_same_bytes(device: Device) -> None:
    asked = signed()
    by_answer = {
        value: device.answer(asked, {**ANSWERS, "disease": value}).reports[0]
        for value in asked.survey.questions[0].values
    }
    for report in by_answer.values():
        same = [by_answer[value].body for value in report.hidden[0].members]
        assert set(same) == {report.body}, "sets of one device are equal or disjoint"
    assert len({report.body for report in by_answer.values()}) == 2


def test_another_number_of_the_same_range_sends_the_same_bytes(device: Device) -> None:
    asked = signed()
    assert device.answer(asked, ANSWERS) == device.answer(asked, {**ANSWERS, "age": 30})


def test_the_same_folder_is_the_same_device(tmp_path: Path) -> None:
    asked = signed()
    first = Device.open(tmp_path / "device").answer(asked, ANSWERS)
    assert Device.open(tmp_path / "device").answer(asked, ANSWERS) == first
    assert Device.open(tmp_path / "other").answer(asked, ANSWERS) != first


def test_the_same_question_in_another_survey_gets_the_same_set_and_another_token(device: Device) -> None:
    first, second = device.answer(signed(), ANSWERS), device.answer(signed(title="Another"), ANSWERS)
    assert first.reports[0].hidden == second.reports[0].hidden
    assert json.loads(first.reports[0].body)["token"] != json.loads(second.reports[0].body)["token"]


def test_questions_that_are_not_linked_have_reports_and_tokens_of_their_own(device: Device) -> None:
    asked = signed(linked=False, questions=[*PLAIN["questions"], with_values("income", list("abcdef"))])
    preview = device.answer(asked, {**ANSWERS, "income": "c"})
    tokens = {json.loads(report.body)["token"] for report in preview.reports}
    assert [len(report.hidden) for report in preview.reports] == [1, 1]
    assert len(tokens) == 2


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_secret_and_ledger_can_be_read_by_their_owner_only(device: Device, tmp_path: Path) -> None:
    remember(device, device.answer(signed(), ANSWERS))
    files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "device").iterdir()}
    assert files == {"device.secret": 0o600, "ledger.json": 0o600}
    (tmp_path / "device" / "device.secret").chmod(0o644)
    with pytest.raises(ParameterError, match="readable by its owner only"):
        Device.open(tmp_path / "device")


def test_a_scale_in_several_questions_of_one_survey_needs_no_consent_but_one_in_another_survey_does(
    device: Device,
) -> None:
    asked = signed(questions=[*PLAIN["questions"], with_values("illness", list(SAME))])
    answers = {**ANSWERS, "illness": "flu"}
    remember(device, device.answer(asked, answers))
    assert device.answer(asked, answers).reports
    with pytest.raises(ParameterError, match="'trouble' shares half or more of its values with"):
        device.answer(
            signed(questions=[with_values("trouble", list(SAME))]), {"age": 44, "sex": "male", "trouble": "flu"}
        )


def test_processes_that_share_a_folder_forget_nothing_of_each_other(tmp_path: Path) -> None:
    devices = [Device.open(tmp_path / "device") for _ in range(3)]
    for one, name in zip(devices, ("disease", "income", "work"), strict=True):
        asked = signed(questions=[with_values(name, [f"{name} {code}" for code in range(6)])])
        remember(one, one.answer(asked, {"age": 44, "sex": "male", name: f"{name} 1"}))
    other = signed(questions=[with_values("x", [f"disease {code}" for code in range(6)])])
    for one in (*devices, Device.open(tmp_path / "device")):
        assert [found.before for found in one.repeated(other)] == ["disease"]


def test_what_was_answered_since_the_preview_is_asked_about_when_it_is_sent(tmp_path: Path) -> None:
    one, other = Device.open(tmp_path / "device"), Device.open(tmp_path / "device")
    asked = signed(questions=[with_values("illness", list(SAME))])
    answers = {"age": 44, "sex": "male", "illness": "flu"}
    preview, agreed = one.answer(asked, answers), one.answer(asked, answers, again=True)
    remember(other, other.answer(signed(), ANSWERS))
    with pytest.raises(ParameterError, match="'illness' shares half or more of its values with 'disease'"):
        one.send(preview, "http://127.0.0.1:9/")
    assert one.repeated(asked), "what was refused was not answered"
    assert one._ledger.add(agreed.questions, agreed=agreed.agreed) == ()


def test_the_ledger_has_no_answer_and_no_value(device: Device, tmp_path: Path) -> None:
    for value in ("ulcer", "flu"):
        remember(device, device.answer(signed(), {**ANSWERS, "disease": value}))
    text = (tmp_path / "device" / "ledger.json").read_text()
    assert not any(value in text for value in PLAIN["questions"][0]["values"])
    assert len(json.loads(text)["questions"]) == 1, "it does not say how often a question was answered"


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        (with_values("disease", SAME), False),  # the same question: the same set
        (with_values("disease", SAME, l=2), True),  # another rule: another set of the same fact
        (with_values("disease", [*SAME, "gout"]), True),
        (with_values("illness", SAME), True),  # another name
        (with_values("illness", [value.upper() for value in SAME]), True),
        (with_values("illness", [f"({value}) ." for value in SAME]), True),
        (with_values("illness", ["".join(chr(ord(c) + 0xFEE0) for c in value) for value in SAME]), True),  # wide
        (with_values("illness", [*SAME[:3], "a", "b", "c"]), True),  # half of the values
        (with_values("illness", [*SAME[:2], "a", "b", "c", "d"]), False),
    ],
)
def test_a_question_that_may_ask_for_the_same_fact_is_asked_about_first(
    device: Device, tmp_path: Path, question: dict[str, Any], *, asks: bool
) -> None:
    remember(device, device.answer(signed(), ANSWERS))
    later, value = Device.open(tmp_path / "device"), question["values"][0]
    asked, answers = signed(questions=[question]), {"age": 20, "sex": "other", question["name"]: value}
    if asks:
        with pytest.raises(ParameterError, match="answered before"):
            later.answer(asked, answers)
    assert later.answer(asked, answers, again=True).reports


def test_a_question_is_not_taken_as_remembered_before_it_is_on_disk(device: Device, tmp_path: Path) -> None:
    preview = device.answer(signed(), ANSWERS)
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch("ldiversity.base.private_files.os.fsync", side_effect=full):
        for _ in range(2):  # the second attempt must not be easier than the first
            with pytest.raises(StorageError, match="cannot be written: No space"):
                remember(device, preview)

    remember(device, preview)

    assert Device.open(tmp_path / "device")._ledger._entries.keys() == device._ledger._entries.keys() != set()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"age": 17}, r"answers\['age'\] must be a whole number from 18"),
        ({"age": True}, "whole number"),
        ({"age": "44"}, "whole number"),
        ({"sex": "secret-sex"}, "one of the survey's choices"),
        ({"disease": "secret-disease"}, "one of the question's values"),
        ({"disease": 3}, "one of the question's values"),
        ({"more": "secret-more"}, "and no other"),
    ],
)
def test_answers_that_do_not_fit_are_refused_without_being_quoted(
    device: Device, changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(ParameterError, match=said) as caught:
        device.answer(signed(), {**ANSWERS, **changed})
    assert "secret" not in str(caught.value)


def test_a_missing_answer_is_named(device: Device) -> None:
    with pytest.raises(ParameterError, match="must have an answer to 'sex'"):
        device.answer(signed(), {"age": 44, "disease": "flu"})


def test_a_survey_that_was_changed_is_not_answered(device: Device) -> None:
    asked = signed()
    changed = SignedSurvey(asked.raw.replace(b"Health", b"Wealth"), asked.signature, asked.public_key)
    with pytest.raises(ParameterError, match="signature does not fit"):
        device.answer(changed, ANSWERS)


def test_an_invitation_is_the_token_where_a_survey_wants_one(device: Device) -> None:
    asked = signed(tokens="invitation")
    with pytest.raises(ParameterError, match="code of 22 letters"):
        device.answer(asked, ANSWERS)
    (report,) = device.answer(asked, ANSWERS, invitation="A" * 22).reports
    assert json.loads(report.body)["token"] == "A" * 22


def test_a_ledger_that_is_none_is_refused(device: Device, tmp_path: Path) -> None:
    (tmp_path / "device" / "ledger.json").write_text("{}")
    with pytest.raises(ParameterError, match="must be a ledger"):
        Device.open(tmp_path / "device")


def test_to_answer_needs_neither_arrays_nor_web_nor_database(tmp_path: Path) -> None:
    signed().save(tmp_path / "survey.json")
    program = (
        "import sys, ldiversity as ld\n"
        f"signed = ld.collection.SignedSurvey.load({str(tmp_path / 'survey.json')!r})\n"
        f"device = ld.collection.Device.open({str(tmp_path / 'own')!r})\n"
        "device.answer(signed, {'age': 44, 'sex': 'male', 'disease': 'ulcer'})\n"
        "heavy = {'numpy', 'pyarrow', 'scipy', 'starlette', 'uvicorn', 'jinja2', 'sqlalchemy', 'alembic', 'numba'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "[]"


def test_the_public_names_are_those_of_the_rooms() -> None:
    assert ld.collection.Device is Device
    assert set(dir(ld.collection)) == {"Device", "SignedSurvey", "Survey"}
    with pytest.raises(AttributeError, match="has no attribute 'Server'"):
        _ = ld.collection.Server  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("tokens", "said"), [("device", "which nothing in it links"), ("invitation", "which the invitation code links")]
)
def test_the_preview_says_what_links_reports(device: Device, tokens: str, said: str) -> None:
    questions = [*PLAIN["questions"], with_values("work", [f"work {code}" for code in range(6)])]
    asked = signed(tokens=tokens, linked=False, questions=questions)
    code = "A" * 22 if tokens == "invitation" else None
    preview = device.answer(asked, {**ANSWERS, "work": "work 1"}, invitation=code)
    tokens_sent = {json.loads(report.body)["token"] for report in preview.reports}
    assert (len(tokens_sent) == 1) == (tokens == "invitation")
    assert said in str(preview)


def test_a_report_that_would_be_longer_than_the_others_is_never_written() -> None:
    asked = survey()
    fits = write_report(asked, "a" * 64, "b" * 22, {"age": 0, "sex": 0}, {"disease": [0, 1, 2]})
    assert len(fits) == asked.report_bytes
    with pytest.raises(InternalError, match="one length"):
        write_report(asked, "a" * 64, "b" * 22, {"age": 0, "sex": 0}, {"disease": [0, 1, 2]}, "c" * 800)
