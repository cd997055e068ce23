"""Reports of devices, exported: an ordinary release that estimates, audits, attacks and reports read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ldiversity as ld
from ldiversity.collection.device import Device
from ldiversity.collection.device._ledger import Ledger
from ldiversity.collection.draw import DeviceSecret
from ldiversity.collection.results import export
from ldiversity.collection.store import Store
from ldiversity.collection.survey import Reports, SignedSurvey, SurveyKey
from ldiversity.errors import ClaimError, ParameterError, SchemaError
from ldiversity.schema import Domain
from tests.unit.collection.surveys import PLAIN, survey

N = 400
DISEASES = PLAIN["questions"][0]["values"]
LEVELS = [f"level {place}" for place in range(8)]
INCOME = {
    "name": "income",
    "ask": "How much do you earn?",
    "values": LEVELS,
    "ordered": True,
    "positions": None,
    "mechanism": ld.SemanticDiversity(l=2, d=3, distance="ordered").fit(Domain((*LEVELS,), ordered=True)).to_dict(),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'survey.db'}") as opened:
        yield opened


def answer_all(store: Store, signed: SignedSurvey, n: int = N) -> None:
    """Many devices answer, as they would over the network."""
    reports = Reports(signed.survey, signed.id)
    store.add_survey(signed)
    kept = []
    for place in range(n):
        device = Device(DeviceSecret(os.urandom(32)), Ledger(Path("there-is-none.json")))
        given = {"age": 18 + place % 60, "sex": ("female", "male")[place % 2], "disease": DISEASES[place % 3]}
        if len(signed.survey.questions) > 1:
            given["income"] = LEVELS[place % 5]
        kept += [reports.read(report.body)[0] for report in device.answer(signed, given).reports]
    store.add(signed.id, kept)


def signed(**changes: Any) -> SignedSurvey:
    return SurveyKey.new().sign(survey(**changes))


def test_a_linked_survey_is_one_release_that_everything_reads(store: Store, tmp_path: Path) -> None:
    asked = signed(questions=[*PLAIN["questions"], INCOME])
    answer_all(store, asked)
    (written,) = export(store, asked.id, tmp_path / "release")
    assert (written.questions, written.records) == (("disease", "income"), N)

    release = ld.load_release(tmp_path / "release")
    release.verify()
    estimate = ld.estimate(release, by="age", sensitive="disease")
    assert estimate.n_records == N
    both = ld.estimate(release, sensitive=["disease", "income"])
    assert both.count.shape == (1, 48), "the joint distribution of two questions"
    audit = ld.audit(release)
    assert audit.passed
    attacked = ld.attack(release, targets=20)
    assert attacked.results
    assert not attacked.broken
    report = ld.user_report(release)
    assert any("Devices drew the sets" in said for said in report.not_protected)
    report.save(tmp_path / "report.html")
    assert "Devices drew the sets" in (tmp_path / "report.html").read_text()


def test_an_unlinked_survey_is_a_release_for_each_question(store: Store, tmp_path: Path) -> None:
    asked = signed(questions=[*PLAIN["questions"], INCOME], linked=False)
    answer_all(store, asked, 60)
    written = export(store, asked.id, tmp_path / "releases")
    assert [Path(one.folder).name for one in written] == ["disease", "income"]
    for one in written:
        release = ld.load_release(one.folder)
        release.verify()
        assert release.sensitive == one.questions
    assert sorted(path.name for path in (tmp_path / "releases").iterdir()) == ["disease", "income"]


def test_what_no_device_sends_is_not_exported(store: Store, tmp_path: Path) -> None:
    asked = signed()
    answer_all(store, asked, 20)
    kept, _ = Reports(asked.survey, asked.id).read(_report(asked))
    planted = type(kept)(kept.part, b"planted-planted!", kept.body[:-2] + kept.body[-4:-2])
    store.add(asked.id, [planted])
    with pytest.raises(ClaimError):
        export(store, asked.id, tmp_path / "release")
    assert [path.name for path in tmp_path.iterdir() if "release" in path.name] == []


def _report(asked: SignedSurvey) -> bytes:
    device = Device(DeviceSecret(os.urandom(32)), Ledger(Path("there-is-none.json")))
    return device.answer(asked, {"age": 20, "sex": "other", "disease": "flu"}).reports[0].body


def test_nothing_of_tokens_or_of_the_survey_s_id_is_in_a_release(store: Store, tmp_path: Path) -> None:
    asked = signed()
    store.add_survey(asked)
    body = _report(asked)
    kept, report = Reports(asked.survey, asked.id).read(body)
    store.add(asked.id, [kept])
    export(store, asked.id, tmp_path / "release")
    written = b"".join(path.read_bytes() for path in (tmp_path / "release").iterdir())
    for secret in (report.token.encode(), kept.spent, kept.spent.hex().encode()):
        assert secret not in written
    assert json.loads((tmp_path / "release" / "release.json").read_text())["collected"] is True


def test_a_folder_that_is_there_and_an_empty_survey_are_refused(store: Store, tmp_path: Path) -> None:
    asked = signed()
    store.add_survey(asked)
    with pytest.raises(SchemaError):
        export(store, asked.id, tmp_path / "release")
    with pytest.raises(ParameterError, match="must be one of this database"):
        export(store, "0" * 64, tmp_path / "release")
    answer_all(store, asked, 10)
    (tmp_path / "release").mkdir()
    with pytest.raises(ParameterError, match="must not exist yet"):
        export(store, asked.id, tmp_path / "release")
