"""Every privacy model can be a claim: written, read again, and refused when a class breaks it."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.entries import ENTRIES
from ldiversity.models import LevelUnique, Population, contradicted
from ldiversity.release import Form
from ldiversity.schema import Attribute, Role, Schema

TREE = ld.Hierarchy.from_rows([("a", "x", "*"), ("b", "y", "*"), ("c", "z", "*"), ("d", "z", "*")])
RULES: dict[str, ld.PrivacyModel] = {
    "k-anonymity": ld.KAnonymity(k=3),
    "distinct": ld.DistinctDiversity(l=3),
    "entropy": ld.EntropyDiversity(l=1.5),
    "recursive": ld.RecursiveDiversity(c=2.0, l=2),
    "frequency": ld.FrequencyDiversity(l=3),
    "unique": ld.UniqueDiversity(l=3),
    "alpha-k": ld.AlphaK(alpha=0.5, k=3),
    "t-closeness": ld.TCloseness(t=0.3),
    "beta-likeness": ld.BetaLikeness(beta=0.5),
    "delta-disclosure": ld.DeltaDisclosure(delta=1.0),
    "gap": ld.GapDiversity(l=3, gap=1),
    "semantic": ld.SemanticClassDiversity(l=2, d=2, distance="ordered"),
    "level": ld.LevelDiversity(l=3, e=1, hierarchy=TREE),
    "level-unique": LevelUnique(l=3, levels=(0, 1, 2, 3)),
}
DOMAIN = ld.Domain(("a", "b", "c", "d"), ordered=True, positions=(0.0, 1.0, 2.0, 3.0))
GOOD = np.array([0, 1, 2, 3, 0, 1, 2, 3], dtype=np.int32)
BAD = np.array([0, 0, 0, 0, 1, 2, 3, 1], dtype=np.int32)
"""Classes 0 and 1 hold four records each; class 0 holds one value only."""


def release_of(codes: np.ndarray, rule: ld.PrivacyModel, layout: str, sizes: tuple[int, int] = (4, 4)) -> ld.Release:
    generalized = layout == "generalized"
    return ld.ClassRelease.in_memory(
        schema=Schema((Attribute("age", Role.QUASI, "int64"), Attribute("v", Role.SENSITIVE, "string", DOMAIN))),
        layout=layout,  # type: ignore[arg-type]
        rules={"v": rule},
        class_of=np.repeat(np.arange(2, dtype=np.int32), sizes),
        values={"v": codes},
        regions=pa.table({"age": [{"low": 1, "high": 4}, {"low": 5, "high": 8}]}) if generalized else None,
        columns=None if generalized else pa.table({"age": np.repeat([1, 5], sizes)}),
        forms={"age": Form("interval", low=1, high=8)} if generalized else None,
    )


def test_every_model_is_covered() -> None:
    assert set(RULES) == set(ENTRIES["models"])


@pytest.mark.parametrize("layout", ["generalized", "bucketized"])
@pytest.mark.parametrize("name", RULES)
def test_a_claim_is_written_and_read_again(name: str, layout: str, tmp_path: Path) -> None:
    release_of(GOOD, RULES[name], layout).save(tmp_path / "release")

    read = ld.load_release(tmp_path / "release")

    read.verify()
    assert read.claims[0].rule == RULES[name]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", RULES)
def test_what_holds_is_neither_beyond_the_posterior_nor_beyond_what_is_required(name: str) -> None:
    rule, draw = RULES[name], np.random.default_rng(8)
    counts = draw.integers(0, draw.integers(1, 9, 4000)[:, None], (4000, 4))
    counts = counts[counts.any(axis=1)]
    everyone = Population(DOMAIN, np.array([9, 9, 8, 8]))
    holds, reached = rule.holds(counts, everyone), rule.reached(counts, everyone)

    assert holds.any()
    assert not (holds & contradicted(rule, counts, reached)).any()


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.monotone])
def test_classes_that_satisfy_a_monotone_rule_satisfy_it_together(name: str) -> None:
    rule, draw = RULES[name], np.random.default_rng(9)
    counts = draw.integers(0, draw.integers(1, 9, 4000)[:, None], (4000, 4))
    counts = counts[counts.any(axis=1)]
    everyone = Population(DOMAIN, np.array([9, 9, 8, 8]))
    kept = counts[rule.holds(counts, everyone)]

    assert len(kept) > 20
    assert rule.holds(kept + draw.permutation(kept), everyone).all()


@pytest.mark.parametrize("name", RULES)
@pytest.mark.usefixtures("undrawn")
def test_a_claim_is_audited_and_reported(name: str, tmp_path: Path) -> None:
    release_of(GOOD, RULES[name], "generalized").save(tmp_path / "release")
    read = ld.load_release(tmp_path / "release")
    found, page = ld.audit(read), ld.user_report(read).to_html()

    assert [(one.model, one.verdict.passed) for one in found.asked] == [(RULES[name], True)]
    assert found.models[RULES[name].figure.name].passed
    assert escape(RULES[name].statement("v")) in page
    assert escape(RULES[name].phrase) in page


@pytest.mark.parametrize("layout", ["generalized", "bucketized"])
@pytest.mark.parametrize("name", [name for name in RULES if name != "k-anonymity"])
def test_a_class_of_one_value_is_never_written(name: str, layout: str, tmp_path: Path) -> None:
    with pytest.raises(ld.ClaimError, match="claim"):
        release_of(BAD, RULES[name], layout).save(tmp_path / "release")

    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("layout", ["generalized", "bucketized"])
def test_a_class_of_two_records_is_never_written_when_three_are_promised(layout: str, tmp_path: Path) -> None:
    with pytest.raises(ld.ClaimError, match="claim"):
        release_of(GOOD, RULES["k-anonymity"], layout, sizes=(2, 6)).save(tmp_path / "release")
