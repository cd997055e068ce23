"""Extremes: ends that are cells single people out, and ends on a grid do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.attacks import AttackReport, AttackResult
from ldiversity.release import Form
from ldiversity.schema import Attribute, Role, Schema

N = 900
WEIGHTS = np.random.default_rng(4).permutation(np.arange(N) * 997 + 13)  # all different, and none on a grid
TABLE = pa.table({"weight": WEIGHTS, "disease": (np.arange(N) % 6).astype(str)})


def extremes(table: pa.Table, **given: Any) -> AttackResult:
    roles: dict[str, Any] = {"quasi": "weight", "sensitive": "disease", "method": ld.BSGI(l=3), "insecure_seed": 1}
    release = ld.anonymize(table, **{**roles, **given})
    (result,) = ld.attack(release, table, attacks="extremes").results
    return result


def test_without_a_grid_every_region_singles_somebody_out() -> None:
    found = extremes(TABLE, grid="exact")

    assert found.details["verbatim"] == found.details["verbatim_weight"] == 1.0
    assert found.details["isolated_by_end"] == 1.0
    assert found.details["isolating_column"] == "weight"
    assert "begin at the exact cell" in str(AttackReport((found,)).verdict)


def test_on_a_grid_nobody_is_singled_out_and_the_ends_tell_nothing() -> None:
    found = extremes(TABLE, grid={"weight": 1000})

    # The 13 of every weight keeps it off the grid until 13 + 997 i is a multiple of 1000: for one person at most.
    assert found.details["verbatim"] <= 3 / N  # type: ignore[operator]
    assert found.details["isolated_by_end"] <= 3 / N  # type: ignore[operator]
    assert not found.broken


def test_ends_tell_which_of_several_classes_is_theirs() -> None:
    # Every class holds two people, at its ends, and all regions overlap.
    n = 60
    ages = np.stack([np.arange(n), 2 * n + np.arange(n)])
    values = np.stack([np.arange(n) % 6, (np.arange(n) + 1) % 6])
    letters = ld.Domain(tuple("abcdef"))

    release = ld.ClassRelease.in_memory(
        schema=Schema((Attribute("age", Role.QUASI, "int64"), Attribute("s", Role.SENSITIVE, "string", letters))),
        layout="generalized",
        rules={"s": ld.FrequencyDiversity(2)},
        class_of=np.repeat(np.arange(n), 2),
        values={"s": values.T.reshape(-1)},
        regions=pa.table({"age": [{"low": low, "high": high} for low, high in ages.T.tolist()]}),
        forms={"age": Form("interval", low=0, high=3 * n - 1)},
    )
    table = pa.table({"age": ages.T.reshape(-1), "s": [letters.values[code] for code in values.T.reshape(-1)]})

    (found,) = ld.attack(release, table, attacks="extremes").results

    assert found.success == 0.5
    assert found.reference is not None
    # Without the ends, one of about 30 classes is drawn. It has the value with probability 1/3, and names it half of
    # the time: a standard error of at most .034 for 120 people; five of them give a false alarm below 1e-6.
    assert found.reference < 1 / 6 + 0.02 + 5 * 0.034 < found.success
    assert not found.broken


def test_of_many_classes_some_are_drawn_and_the_interval_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = extremes(TABLE, grid={"weight": 500})
    monkeypatch.setattr("ldiversity.evaluation.attacks._extremes._MOST_CLASSES", 100)

    drawn = extremes(TABLE, grid={"weight": 500})

    assert "isolated_low" not in whole.details
    low, high = drawn.details["isolated_low"], drawn.details["isolated_high"]
    # The 95 % interval misses the share of all classes with probability .05; the seed decides it once and for all.
    assert low <= whole.details["isolated_by_end"] <= high  # type: ignore[operator]


@pytest.mark.parametrize(
    ("given", "original", "why"),
    [
        ({"method": ld.Anatomy(l=3)}, TABLE, "intervals of numbers"),
        ({"method": ld.RandomizedAddition(l=3)}, TABLE, "intervals of numbers"),
        ({}, None, "the quasi-identifiers of the original"),
    ],
)
def test_it_says_what_it_needs(given: Any, original: Any, why: str) -> None:
    roles: dict[str, Any] = {"quasi": "weight", "sensitive": "disease", "method": ld.BSGI(l=3)}
    release = ld.anonymize(TABLE, **{**roles, **given})

    with pytest.raises(ld.UnsupportedError, match=why):
        ld.attack(release, original, attacks="extremes")
