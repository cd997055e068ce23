"""Stored reports become ordinary releases, which keep their claims and say how they were made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.collection.results import to_release
from ldiversity.collection.results._release import PartLayout
from ldiversity.collection.survey import SignedSurvey, SurveyKey
from ldiversity.errors import ClaimError, SchemaError, StorageError
from tests.unit.collection.surveys import PLAIN, survey


def signed(**changes: Any) -> SignedSurvey:
    return SurveyKey.new().sign(survey(**changes))


def bodies(n: int, seed: int = 1) -> bytes:
    rng = np.random.default_rng(seed)
    sets = np.sort(np.argsort(rng.random((n, 6)), axis=1)[:, :3], axis=1)
    return np.column_stack([rng.integers(0, 3, n), rng.integers(0, 3, n), sets]).astype("<u2").tobytes()


def test_every_report_is_one_row_with_its_ranges_choices_and_set() -> None:
    release = to_release(signed(), 0, np.array([[2, 1, 0, 3, 5]], dtype="<u2").tobytes())
    assert release.table.to_pylist() == [
        {"age": "45 or more", "sex": "male", "disease": ["flu", "gastritis", "none of these"]}
    ]
    release.verify()


def test_rows_are_in_another_order_each_time() -> None:
    stored = bodies(200)
    first, second = (to_release(signed(), 0, stored).sets("disease").tolist() for _ in range(2))
    assert first != second
    assert sorted(first) == sorted(second)
    # Where a stored report ends up does not depend on where it was: |r| < .3 fails once in 50,000 runs.
    stored = np.column_stack([np.zeros(200), np.zeros(200), *np.indices((6, 6, 6)).reshape(3, -1)[:, :200]])
    places = to_release(signed(quasi=[]), 0, stored[:, 2:].astype("<u2").tobytes()).sets("disease") @ [36, 6, 1]
    assert abs(np.corrcoef(places, np.arange(200))[0, 1]) < 0.3


def test_ranges_are_read_as_numbers_and_come_back_from_disk(tmp_path: Path) -> None:
    release = to_release(signed(), 0, bodies(500))
    release.save(tmp_path / "release")
    loaded = ld.load_release(tmp_path / "release")
    assert loaded.coarse == ("age",)
    assert loaded.forms["age"].spans
    older = ld.estimate(loaded, where="age >= 30").n_records
    assert older == sum(row["age"] != "18-29" for row in release.table.to_pylist())
    assert [str(label) for label in ld.estimate(loaded, by="age").labels["age"].to_pylist()] == [
        "18-29",
        "30-44",
        "45 or more",
    ]


def test_it_says_that_devices_drew_the_sets_and_one_answer_counts_per_device(tmp_path: Path) -> None:
    release = to_release(signed(), 0, bodies(50))
    release.save(tmp_path / "release")
    loaded = ld.load_release(tmp_path / "release")
    assert isinstance(loaded, ld.SetRelease)
    assert loaded.collected
    said = " ".join(loaded.not_protected)
    assert "Devices drew the sets" in said
    assert "not for each person" in said
    published = ld.anonymize(ld.datasets.hospital(), quasi="age", sensitive="disease", method="randomized-addition:l=2")
    assert isinstance(published, ld.SetRelease)
    assert not published.collected
    assert "Devices" not in " ".join(published.not_protected)


def test_a_set_that_no_device_sends_is_never_published(tmp_path: Path) -> None:
    planted = bodies(20) + np.array([0, 0, 3, 3, 5], dtype="<u2").tobytes()
    release = to_release(signed(), 0, planted)
    with pytest.raises(ClaimError):
        release.verify()
    with pytest.raises(ClaimError):
        release.save(tmp_path / "release")
    assert not (tmp_path / "release").exists()


def test_estimates_for_counting_are_those_of_the_release() -> None:
    layout = PartLayout.of(signed(), 0)
    rows = layout.rows(bodies(700))
    fast, slow = layout.for_counting(rows), layout.release(rows)
    for by in (None, "age", "sex"):
        one, other = (ld.estimate(release, by=by).cells for release in (fast, slow))
        assert sorted(one, key=str) == sorted(other, key=str)


@pytest.mark.parametrize("planted", [b"\0" * 9, np.array([3, 0, 0, 1, 2], dtype="<u2").tobytes()])
def test_bodies_that_are_none_of_the_survey_are_damage(planted: bytes) -> None:
    with pytest.raises(StorageError, match="none of this survey"):
        to_release(signed(), 0, bodies(20) + planted)


def test_without_a_report_there_is_no_release() -> None:
    with pytest.raises(SchemaError):
        to_release(signed(), 0, b"")


def test_a_part_of_an_unlinked_survey_has_its_question_alone() -> None:
    (question,) = PLAIN["questions"]
    asked = signed(linked=False, questions=[question, {**question, "name": "before"}])
    assert to_release(asked, 1, bodies(20)).schema.names() == ("age", "sex", "before")


@pytest.mark.parametrize(("low", "high"), [(None, None), (18, None), (None, 99), (18, 99)])
def test_open_ends_are_top_and_bottom_coded(low: int | None, high: int | None, tmp_path: Path) -> None:
    age = {**PLAIN["quasi"][0], "low": low, "high": high}
    rows = np.frombuffer(bodies(40), dtype="<u2").reshape(-1, 5)
    release = to_release(signed(quasi=[age]), 0, rows[:, [0, 2, 3, 4]].tobytes())
    release.save(tmp_path / "release")
    form = ld.load_release(tmp_path / "release").forms["age"]
    ends = [reach.unbounded for reach in (form.reaches or {}).values()]
    assert ends == ["low" if low is None else None, None, "high" if high is None else None]
