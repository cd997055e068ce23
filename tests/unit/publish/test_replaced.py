"""A release that takes the place of another about the same people says what the two together give away."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld

DISEASES = ["cold", "cut", "fever", "flu", "sty"]
TABLE = pa.table(
    {
        "name": [f"person {i}" for i in range(40)],
        "age": np.arange(40),
        "disease": [DISEASES[i % 5] for i in range(40)],
        "job": [f"job {i % 4}" for i in range(40)],
    }
)
DISEASE = ld.Sensitive("disease", domain=DISEASES)
SETS: dict[str, Any] = {"quasi": "age", "sensitive": DISEASE, "method": ld.RandomizedAddition(l=2)}
CLASSES: dict[str, Any] = {"quasi": "age", "sensitive": DISEASE, "method": ld.Anatomy(l=2)}


def with_key(key: ld.Key, **given: Any) -> dict[str, Any]:
    return SETS | {"key": key, "record_id": "name"} | given


def replace(folder: Path, **given: Any) -> list[str]:
    """Publish over what is there; return the warnings, of which each must be a note as well."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        release = ld.anonymize(TABLE, **given, output=folder, overwrite=True)
    said = [str(one.message) for one in caught if issubclass(one.category, ld.LDiversityWarning)]
    assert all(text in release.notes for text in said)
    return said


def test_sets_that_are_drawn_anew_are_warned_of(tmp_path: Path) -> None:
    ld.anonymize(TABLE, **SETS, output=tmp_path / "r")

    (said,) = replace(tmp_path / "r", **SETS)

    assert "shows sets of 'disease' too" in said
    assert "ldiversity key new holder.key" in said


def test_of_sets_with_an_epsilon_the_warning_says_that_they_add_up(tmp_path: Path) -> None:
    bounded = SETS | {"method": ld.RandomizedAddition(l=2, epsilon=1)}
    ld.anonymize(TABLE, **bounded, output=tmp_path / "r")

    (said,) = replace(tmp_path / "r", **bounded)
    assert "the epsilons of both add up" in said
    (said,) = replace(tmp_path / "r", **SETS)  # one of the two has none
    assert "can intersect the two" in said


def test_the_warning_is_true(tmp_path: Path) -> None:
    old = ld.anonymize(TABLE, **SETS, output=tmp_path / "old")
    new = ld.anonymize(TABLE, **SETS, output=tmp_path / "new")
    left = []
    for age in range(40):
        sets = [set(r.sets("disease")[np.asarray(r.columns(["age"])["age"]) == age][0].tolist()) for r in (old, new)]
        left.append(len(sets[0] & sets[1]))

    # Each record is left with its value alone with probability 3/4: 15 or fewer of 40 have a chance below 1e-6.
    assert left.count(1) > 15


def test_the_advice_can_be_followed(tmp_path: Path) -> None:
    ld.Key.new().save(tmp_path / "holder.key")
    key = ld.Key.load(tmp_path / "holder.key")
    first = ld.anonymize(TABLE, **with_key(key), output=tmp_path / "r")
    before = {tuple(row) for row in np.column_stack([first.columns(["age"])["age"], first.sets("disease")])}

    assert replace(tmp_path / "r", **with_key(key)) == []
    again = ld.load_release(tmp_path / "r")
    assert {tuple(row) for row in np.column_stack([again.columns(["age"])["age"], again.sets("disease")])} == before


CHANGED = {
    "l": {"method": ld.RandomizedAddition(l=3)},
    "method": {"method": ld.SemanticDiversity(l=2, d=1, distance="discrete")},
    "domain": {"sensitive": ld.Sensitive("disease", domain=[*DISEASES, "gout"])},
}


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED.keys())
def test_a_key_does_not_help_when_something_else_changes(tmp_path: Path, changed: dict[str, Any]) -> None:
    key = ld.Key.new()
    ld.anonymize(TABLE, **with_key(key), output=tmp_path / "r")

    (said,) = replace(tmp_path / "r", **with_key(key, **changed))

    assert "'disease' are drawn again in spite of the key" in said


def test_a_release_that_loses_its_key_is_warned_of(tmp_path: Path) -> None:
    ld.anonymize(TABLE, **with_key(ld.Key.new()), output=tmp_path / "r")

    assert "because there is no key" in replace(tmp_path / "r", **SETS)[0]


@pytest.mark.parametrize(("old", "new"), [(CLASSES, CLASSES), (CLASSES, SETS), (SETS, CLASSES)])
def test_classes_can_be_intersected_in_any_case(tmp_path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    ld.anonymize(TABLE, **old, output=tmp_path / "r")

    (said,) = replace(tmp_path / "r", **new)

    assert "No key prevents that" in said


@pytest.mark.parametrize("given", [SETS, CLASSES])
def test_nothing_is_said_without_a_reason(tmp_path: Path, given: dict[str, Any]) -> None:
    assert replace(tmp_path / "new", **given) == []
    ld.anonymize(TABLE, **(given | {"sensitive": "job"}), output=tmp_path / "other attribute")
    assert replace(tmp_path / "other attribute", **given) == []


def test_what_is_no_release_is_refused_as_before(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").write_text("years of work")

    with pytest.raises(ld.ParameterError, match="must be a release"):
        ld.anonymize(TABLE, **SETS, output=tmp_path / "precious", overwrite=True)
