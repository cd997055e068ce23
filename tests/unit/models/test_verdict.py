"""Verdicts over all classes, and the strongest form of a model that holds."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from ldiversity.models import (
    AlphaK,
    BetaLikeness,
    ClassCounts,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Measured,
    Population,
    PrivacyModel,
    RecursiveDiversity,
    SemanticClassDiversity,
    TCloseness,
    UniqueDiversity,
    _counts,
    count_classes,
    judge,
)
from ldiversity.schema import Domain

DOMAIN = Domain(("flu", "cold", "cut", "burn"), ordered=True)


def classes_of(*rows: list[int]) -> ClassCounts:
    counts = np.array(rows, dtype=np.int64).reshape(-1, len(DOMAIN))
    class_of, codes = np.nonzero(counts)
    times = counts[class_of, codes]
    return count_classes(np.repeat(class_of, times), np.repeat(codes, times).astype(np.int32), len(counts), DOMAIN)


THREE = classes_of([2, 2, 0, 0], [3, 0, 0, 0], [1, 1, 1, 1])


def test_a_planted_class_of_one_value_fails_and_comes_first() -> None:
    verdict = DistinctDiversity(2).verdict(THREE)

    assert not verdict.passed
    assert (verdict.reached, verdict.required, verdict.margin) == (1, 2, -1)
    assert (verdict.n_classes, verdict.n_records, verdict.n_failing, verdict.n_records_failing) == (3, 11, 1, 3)
    assert [(one.index, one.size, one.passed) for one in verdict.worst] == [(1, 3, False), (0, 4, True), (2, 4, True)]


def test_the_margin_is_positive_on_the_safe_side_where_less_is_safer() -> None:
    verdict = RecursiveDiversity(c=5, l=2).verdict(classes_of([2, 2, 0, 0], [3, 1, 0, 0]))

    assert verdict.passed
    assert (verdict.reached, verdict.margin) == (3, 2)


def test_just_on_the_border_the_margin_is_a_plain_zero_and_a_strict_model_fails() -> None:
    verdict = RecursiveDiversity(c=3, l=2).verdict(classes_of([3, 1, 0, 0]))

    assert not verdict.passed
    assert str(verdict.margin) == "0.0"


def test_no_classes_satisfy_everything() -> None:
    verdict = DistinctDiversity(2).verdict(classes_of())

    assert verdict.passed
    assert verdict.reached == np.inf
    assert TCloseness(0.1).verdict(classes_of()).reached == 0


def test_a_verdict_survives_json_even_when_infinite() -> None:
    told = json.loads(json.dumps(RecursiveDiversity(3, 2).verdict(THREE).to_dict(), allow_nan=False))

    assert told["reached"] is None
    assert told["passed"] is False
    assert told["worst"][0] == {"size": 3, "reached": None, "passed": False}


def test_at_most_ten_classes_are_named() -> None:
    verdict = KAnonymity(2).verdict(classes_of(*([[1, 1, 0, 0]] * 30)))

    assert len(verdict.worst) == 10


def test_several_models_are_judged_in_one_pass_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    models = [KAnonymity(2), EntropyDiversity(2), TCloseness(0.2), SemanticClassDiversity(2, 2, "ordered")]
    one_by_one = tuple(model.verdict(THREE) for model in models)
    monkeypatch.setattr(_counts, "_BLOCK_CELLS", 4)

    assert judge(models, THREE) == one_by_one


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (KAnonymity(5), KAnonymity(3)),
        (FrequencyDiversity(5), FrequencyDiversity(2)),
        (AlphaK(0.1, 2), AlphaK(0.5, 2)),
        (SemanticClassDiversity(4, 2, "ordered"), SemanticClassDiversity(2, 2, "ordered")),
    ],
)
def test_the_strongest_form_that_holds_is_named(model: PrivacyModel, expected: PrivacyModel) -> None:
    assert model.weakened(classes_of([2, 2, 2, 2], [1, 0, 1, 1], [0, 2, 0, 2])) == expected


@pytest.mark.parametrize(
    "model",
    [
        EntropyDiversity(4),
        RecursiveDiversity(0.1, 2),
        AlphaK(0.01, 2),
        TCloseness(0),
        TCloseness(0, "ordered"),
        BetaLikeness(0.001),
        DeltaDisclosure(0.001),
    ],
)
def test_the_strongest_number_holds_and_is_what_was_reached(model: PrivacyModel) -> None:
    classes = classes_of([3, 1, 1, 2], [1, 1, 1, 3], [2, 3, 1, 1])
    weaker = model.weakened(classes)

    assert weaker is not None
    assert not weaker.failing(classes).size
    assert weaker.required == pytest.approx(model.verdict(classes).reached, rel=1e-14)


@dataclass(frozen=True)
class Times(PrivacyModel):
    """The first value occurs at most so many times as often as the second: a whole number, and less is safer."""

    name, monotone, higher_is_safer, scale, example = "times", False, False, "most", "times:2"
    measured = Measured("times", "how often the first value occurs for each second")
    most: int

    def reached(self, counts: NDArray[np.int64], population: Population) -> NDArray[np.float64]:  # noqa: ARG002
        first, second = np.sort(counts, axis=1)[:, ::-1].T[:2]
        reached: NDArray[np.float64] = first / second
        return reached

    def holds(self, counts: NDArray[np.int64], population: Population) -> NDArray[np.bool_]:
        holds: NDArray[np.bool_] = self.reached(counts, population) <= self.most
        return holds

    def statement(self, attribute: str) -> str:
        return f"The first value of {attribute!r} occurs at most {self.most} times as often as the second."


def test_a_whole_number_is_rounded_to_the_safe_side() -> None:
    assert Times(1).weakened(classes_of([5, 2, 1, 0], [1, 1, 0, 0])) == Times(3)


@pytest.mark.parametrize("model", [BetaLikeness(1), DeltaDisclosure(1)])
def test_classes_just_like_all_records_satisfy_the_smallest_parameter(model: PrivacyModel) -> None:
    weaker = model.weakened(classes_of([1, 1, 2, 0], [2, 2, 4, 0]))

    assert weaker is not None
    assert weaker.required == 1e-9


@pytest.mark.parametrize(
    "model",
    [DistinctDiversity(3), EntropyDiversity(2), UniqueDiversity(2), RecursiveDiversity(3, 2), DeltaDisclosure(1)],
)
def test_no_form_is_named_when_none_means_anything(model: PrivacyModel) -> None:
    assert model.weakened(THREE) is None
