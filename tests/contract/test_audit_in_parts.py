"""An audit within a memory setting says exactly what it says without: every model, risk and sentence."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.base.spill import Buckets
from ldiversity.entries import ENTRIES
from ldiversity.evaluation.audit import _tally
from ldiversity.models import MODELS, ClassCounts, LevelUnique, Measured, Population

TOYS = Path(__file__).parent / "toys"
TREE = ld.Hierarchy.from_rows([("a", "x", "*"), ("b", "y", "*"), ("c", "z", "*"), ("d", "z", "*")])
RULES: dict[str, ld.PrivacyModel] = {
    "k-anonymity": ld.KAnonymity(k=3),
    "distinct": ld.DistinctDiversity(l=2),
    "entropy": ld.EntropyDiversity(l=1.5),
    "recursive": ld.RecursiveDiversity(c=2.0, l=2),
    "frequency": ld.FrequencyDiversity(l=2),
    "unique": ld.UniqueDiversity(l=3),
    "alpha-k": ld.AlphaK(alpha=0.5, k=3),
    "t-closeness": ld.TCloseness(t=0.3, ground="hierarchical", hierarchy=TREE),
    "beta-likeness": ld.BetaLikeness(beta=0.5),
    "delta-disclosure": ld.DeltaDisclosure(delta=1.0),
    "semantic": ld.SemanticClassDiversity(l=2, d=2, distance="ordered"),
    "level": ld.LevelDiversity(l=2, e=1, hierarchy=TREE),
    "level-unique": LevelUnique(l=3, levels=(0, 1, 2, 3)),
}
RULES_OF_NUMBERS = {"gap": ld.GapDiversity(l=2, gap=2)}
VALUES = ld.Sensitive("v", domain=("a", "b", "c", "d"))
WEIGHT = ld.Sensitive("w", missing="category")
MEMORY = "300MB"
FEW = 400_000
"""Bytes that a combination is taken for, so that about sixty of them fill the memory."""


def people(n: int = 1000, *, ages: int = 60, seed: int = 5) -> pa.Table:
    draw = np.random.default_rng(seed)
    zips = [None if x < 0.03 else f"z{int(x * 40)}é" for x in draw.random(n)]
    return pa.table(
        {
            "age": draw.integers(0, ages, n),
            "zip": zips,
            "height": np.where(draw.random(n) < 0.02, np.nan, draw.integers(0, 3, n) / 2),
            "born": pa.array(draw.integers(0, 3, n).astype(np.int32), pa.date32()),
            "v": draw.choice(["a", "b", "c", "d"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "w": pa.array([None if x < 0.05 else int(x * 9) for x in draw.random(n)]),
            "patient_id": draw.integers(0, 2 * n // 3, n),
        }
    )


QUASI = ["age", "zip", "height", "born"]
TABLES = {
    "usual": people(ages=4),
    "nearly unique": people(ages=5000),
    "one class": people().set_column(0, "age", pa.array([1] * 1000)).set_column(1, "zip", pa.array(["x"] * 1000)),
}


@pytest.fixture
def dealt(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make memory full after some combinations, and remember how many rows were dealt into buckets."""
    monkeypatch.setattr(_tally, "_BESIDE_BYTES", FEW)
    monkeypatch.setattr(_tally, "_BUCKETS", 40)  # few parts are divided again
    rows: list[int] = []
    deal = Buckets.deal

    def watched(self: Buckets, batch: pa.RecordBatch, numbers: NDArray[np.int64]) -> None:
        rows.append(batch.num_rows)
        deal(self, batch, numbers)

    monkeypatch.setattr(Buckets, "deal", watched)
    return rows


def assert_same(table: pa.Table, **how: Any) -> ld.Audit:
    whole = ld.audit(table, **how)
    parts = ld.audit(table, memory=MEMORY, **how)

    assert parts.to_dict() == whole.to_dict()
    assert [one.verdict for one in parts.asked] == [one.verdict for one in whole.asked]
    assert parts == whole
    return parts


def test_every_model_is_covered() -> None:
    assert set(RULES) | set(RULES_OF_NUMBERS) == set(ENTRIES["models"])


@pytest.mark.parametrize("kind", TABLES)
def test_every_model_says_the_same_of_every_table(kind: str, dealt: list[int]) -> None:
    assert_same(TABLES[kind], quasi=QUASI, sensitive=VALUES, models=list(RULES.values()))

    assert bool(dealt) == (kind != "one class")


@pytest.mark.parametrize("kind", TABLES)
def test_models_of_numbers_say_the_same_of_every_table(kind: str, dealt: list[int]) -> None:
    assert_same(TABLES[kind], quasi=QUASI, sensitive=WEIGHT, models=list(RULES_OF_NUMBERS.values()))

    assert dealt


@pytest.mark.parametrize(
    "how",
    [
        {"sensitive": [VALUES, WEIGHT]},
        {"sensitive": [VALUES, WEIGHT], "joint_knowledge": True},
        {"sensitive": [ld.Sensitive("w", missing="drop"), VALUES], "missing": "drop"},
        {"sensitive": [ld.Sensitive("patient_id", width=400), VALUES]},
        {"sensitive": [VALUES, WEIGHT], "person": "patient_id"},
        {"sensitive": VALUES, "person": "patient_id", "missing": "drop"},
        {"sensitive": VALUES, "sample_fraction": 0.1},
        {"sensitive": VALUES, "population": pa.concat_tables([people(ages=5000), people(seed=8)])},
        {"sensitive": (), "models": "k-anonymity:2"},
    ],
    ids=["several", "joint", "drop", "bins", "people", "people drop", "fraction", "population", "no values"],
)
def test_every_way_to_ask_gets_the_same_answer(how: Mapping[str, Any], dealt: list[int]) -> None:
    assert_same(people(ages=5000), quasi=QUASI, **how)

    assert sum(dealt) > 900


def test_parts_that_are_too_large_are_divided_again(dealt: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tally, "_BUCKETS", 4)

    assert_same(people(ages=5000), quasi=QUASI, sensitive=VALUES)

    assert sum(dealt) > 2 * 1000


def test_a_class_that_does_not_fit_is_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tally, "_BESIDE_BYTES", FEW)
    monkeypatch.setattr(_tally, "_BUCKETS", 2)

    with pytest.raises(ld.ParameterError, match="memory must be larger: one class") as caught:
        ld.audit(TABLES["one class"], quasi=["age"], sensitive=VALUES, person="patient_id", memory=MEMORY)

    assert "got 300 MB" in str(caught.value)


def test_a_model_of_a_stranger_knows_nothing_of_parts(dealt: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOYS))
    minority = importlib.import_module("toy_model").Minority
    with MODELS.registered("toy-minority", minority):
        found = assert_same(TABLES["usual"], quasi=QUASI, sensitive=VALUES, models="toy-minority:2")

    assert found.models["minority_m"].passed is False
    assert dealt


@dataclass(frozen=True)
class Classes(ld.PrivacyModel):
    """Has a figure of all classes that it does not know how to put together."""

    name, monotone, scale, example = "classes", False, "least", "classes:9"
    measured: ClassVar[Measured] = Measured("mean_size", "records per class")
    least: int

    def reached(self, counts: NDArray[np.int64], population: Population) -> NDArray[np.float64]:  # noqa: ARG002
        reached: NDArray[np.float64] = counts.sum(axis=1).astype(np.float64)
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> NDArray[np.bool_]:  # noqa: ARG002
        held: NDArray[np.bool_] = counts.sum(axis=1) >= self.least
        return held

    def overall(self, classes: ClassCounts, smallest: int) -> float:  # noqa: ARG002
        return float(classes.sizes.mean())

    def statement(self, attribute: str) -> str:  # noqa: ARG002
        return f"Every class has {self.least} records."


def test_a_figure_that_cannot_be_put_together_is_left_out_with_a_reason(dealt: list[int]) -> None:
    model = Classes(2)
    whole = ld.audit(TABLES["usual"], quasi=QUASI, sensitive=VALUES, models=model)
    parts = ld.audit(TABLES["usual"], quasi=QUASI, sensitive=VALUES, models=model, memory=MEMORY)

    assert dealt
    assert whole.models["mean_size"].value == pytest.approx(whole.classes.mean)
    assert parts.models["mean_size"].value is None
    assert "without a memory setting" in str(parts.models["mean_size"].why)
    assert parts.asked[0].verdict == whole.asked[0].verdict


@pytest.mark.parametrize("how", [{"missing": "refuse"}, {"sensitive": "height"}, {"person": "age"}])
def test_what_is_refused_is_refused_alike(how: Mapping[str, Any]) -> None:
    asked = {"quasi": ["zip"], "sensitive": "w", **how}
    if how.get("person"):
        asked["quasi"] = ["age"]
    with pytest.raises(ld.LDiversityError) as whole:
        ld.audit(people(), **asked)
    with pytest.raises(ld.LDiversityError) as parts:
        ld.audit(people(), memory=MEMORY, **asked)

    assert str(parts.value) == str(whole.value)
