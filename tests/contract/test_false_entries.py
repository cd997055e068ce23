"""What a stranger's entry says is not taken for granted: nothing false is published, and a sentence names the entry."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.attacks import ATTACKS
from ldiversity.methods import METHODS
from ldiversity.models import MODELS
from ldiversity.release import AlikeClaim
from ldiversity.schema import Attribute, Role, Schema

TOYS = Path(__file__).parent / "toys"
MODEL_TOYS = {"boast": "Boast", "always": "Always", "crowd": "Crowd"}
METHOD_TOYS = {"buckets": "Buckets", "dropper": "Dropper", "silent": "Silent", "coupling": "Coupling"}


@pytest.fixture(autouse=True)
def false(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(TOYS))
    toys = importlib.import_module("toy_false")
    with ExitStack() as stack:
        for registry, names in ((MODELS, MODEL_TOYS), (METHODS, METHOD_TOYS)):
            for name, made in names.items():
                stack.enter_context(registry.registered(name, getattr(toys, made)))
        yield toys


@pytest.fixture(scope="module")
def people() -> pa.Table:
    drawn = np.random.default_rng(5)
    return pa.table(
        {
            "age": drawn.integers(20, 90, 200),
            "sex": drawn.choice(["f", "m"], 200),
            "disease": drawn.choice(["flu", "cold", "cut", "gout"], 200, p=[0.46, 0.18, 0.18, 0.18]),
        }
    )


def refused(people: pa.Table, method: str, output: Path) -> str:
    with pytest.raises(ld.LDiversityError) as caught:
        ld.anonymize(people, quasi=["age", "sex"], sensitive="disease", method=method, output=output)
    assert caught.value.exit_code == 2
    assert not output.exists()
    return str(caught.value)


def test_sets_from_which_nothing_could_be_estimated_are_planned_and_published_by_nobody(
    people: pa.Table, tmp_path: Path
) -> None:
    said = refused(people, "coupling:l=2", tmp_path / "release")

    assert said == (
        "disease: Coupling: the inclusion matrix is singular, so no distribution could be estimated.\n"
        "Hint: Another l or another domain may do."
    )
    plan = ld.plan(people, quasi=["age", "sex"], sensitive="disease", method="coupling:l=2")
    assert not plan.feasible
    assert "no distribution could be estimated" in str(plan)


@pytest.mark.parametrize("values_too", ["yes", "no"])
def test_a_bucketized_method_promises_no_look_alikes(people: pa.Table, values_too: str, tmp_path: Path) -> None:
    method = f"buckets:values_too={values_too}"

    assert "buckets: must not promise 'k-anonymity:8'" in refused(people, method, tmp_path / "release")
    with pytest.raises(ld.UnsupportedError, match="keep their quasi-identifiers"):
        ld.plan(people, quasi=["age", "sex"], sensitive="disease", method=method)


@pytest.mark.parametrize("rules", [ld.KAnonymity(2), [ld.DistinctDiversity(2), ld.KAnonymity(2)]])
def test_look_alikes_of_a_bucketized_release_are_counted_whatever_place_they_have(rules: object) -> None:
    def release(ages: list[int]) -> ld.ClassRelease:
        domain = ld.Domain(("a", "b"))
        return ld.ClassRelease.in_memory(
            schema=Schema((Attribute("age", Role.QUASI, "int64"), Attribute("v", Role.SENSITIVE, "string", domain))),
            layout="bucketized",
            rules={"v": rules},  # type: ignore[dict-item]
            class_of=np.array([0, 0, 1, 1], dtype=np.int32),
            values={"v": np.array([0, 1, 1, 0], dtype=np.int32)},
            columns=pa.table({"age": ages}),
        )

    kept = release([1, 1, 2, 2])
    assert isinstance(kept.claims[-1], AlikeClaim)
    kept.verify()
    assert ld.audit(kept).passed
    broken = release([1, 2, 3, 4])
    with pytest.raises(ld.ClaimError, match="4 of 4 groups of records that look alike break"):
        broken.verify()
    assert ld.audit(broken).passed is False
    assert broken.contradictions("v") == 0


@pytest.mark.parametrize("model", ["boast:3", "always:4"])
def test_a_class_that_contradicts_its_model_is_not_published(people: pa.Table, model: str, tmp_path: Path) -> None:
    told = refused(people, f"mondrian:model={model}", tmp_path / "release")

    assert f"{model!r} by the word of that model alone" in told
    verdict = ld.check(model, people, quasi="sex", sensitive="disease")
    assert verdict.passed is (model == "always:4")  # four values are in both classes


def test_an_audit_does_not_take_the_word_of_a_model() -> None:
    table = pa.table({"age": [1, 1, 1, 2, 2, 2], "v": ["a", "a", "b", "a", "b", "c"]})

    assert ld.check("always:2", table, quasi="age", sensitive="v").passed
    assert ld.check("always:3", table, quasi="age", sensitive="v").n_failing == 1
    assert ld.check("boast:2", table, quasi="age", sensitive="v").n_failing == 1  # two of three are 'a'


def test_a_model_of_people_never_sees_values(people: pa.Table, tmp_path: Path) -> None:
    crowd = MODELS["crowd"].from_text(["1"])
    counts = np.array([[1, 2, 3], [6, 0, 0]])
    population = ld.models.Population(ld.Domain(("a", "b", "c")), counts.sum(axis=0))

    assert crowd.reached(counts, population).tolist() == [1.0, 1.0]
    assert "all records together reach 1" in refused(people, "mondrian:model=crowd:3", tmp_path / "release")
    release = ld.anonymize(people, quasi=["age", "sex"], sensitive="disease", method="mondrian:model=crowd:1")
    assert ld.audit(release).passed


def test_records_are_left_out_only_where_a_method_says_so(people: pa.Table, tmp_path: Path) -> None:
    told = refused(people, "dropper", tmp_path / "release")

    assert "dropper: leaves out 100 of 200 records, and says that it leaves out none" in told


def test_a_method_must_promise_something(people: pa.Table, tmp_path: Path) -> None:
    assert "silent: must promise at least one privacy model" in refused(people, "silent", tmp_path / "release")


# --- estimators -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("Borrowed", "'borrowed' must name itself, or an estimator to which it handed cells, and not 'linear'"),
        ("Unnamed", "'unnamed' must name the estimator of each of 2 cells, got 1"),
        ("Turned", "'turned' must return counts of shape (2, 4), got (4, 2)"),
        ("Missing", "'missing' must return counts that are finite numbers"),
    ],
)
def test_what_an_estimator_returns_is_checked(people: pa.Table, false: ModuleType, made: str, told: str) -> None:
    release = ld.anonymize(people, quasi=["age", "sex"], sensitive="disease", method="randomized-addition:l=2")

    with pytest.raises(ld.UnsupportedError) as caught:
        ld.estimate(release, by="sex", estimator=getattr(false, made)())
    assert told in str(caught.value)
    assert set(ld.estimate(release, by="sex", estimator=false.Asking()).estimator) == {"simplex"}


@pytest.mark.parametrize(("made", "told"), [("FalseClasses", "and not 'linear'"), ("TurnedClasses", "of shape (2, 4)")])
def test_what_a_class_estimator_returns_is_checked(people: pa.Table, false: ModuleType, made: str, told: str) -> None:
    release = ld.anonymize(people, quasi=["age", "sex"], sensitive="disease", method="mondrian:model=k-anonymity:5")

    with pytest.raises(ld.UnsupportedError) as caught:
        ld.estimate(release, by="sex", estimator=getattr(false, made)())
    assert told in str(caught.value)


# --- attacks ----------------------------------------------------------------------------------------

ATTACK_TOYS = {
    "overfull": ("Overfull", "returns probabilities that add up to more than 1"),
    "misplaced": ("Misplaced", "names rows of beliefs that it does not return"),
    "crash": ("Crash", "failed (ZeroDivisionError)"),
    "crashing-risk": ("CrashingRisk", "failed (KeyError)"),
}


@pytest.fixture
def attackers(false: ModuleType) -> Iterator[None]:
    with ExitStack() as stack:
        for name, (made, _) in ATTACK_TOYS.items():
            stack.enter_context(ATTACKS.registered(name, getattr(false, made)))
        yield


@pytest.mark.usefixtures("attackers")
def test_an_attack_that_fails_stops_no_other(people: pa.Table) -> None:
    release = ld.anonymize(people, quasi=["age", "sex"], sensitive="disease", method="anatomy:l=2")
    report = ld.attack(release, people, targets=20)

    assert "homogeneity" in {one.attack for one in report.results}
    assert "linkability" in {one.attack for one in report.risks}
    why = {one.attack: one.reason for one in report.skipped}
    for name, (_, told) in ATTACK_TOYS.items():
        assert why[name] == f"the attack of the package 'toy_false' {told}"
        with pytest.raises(ld.UnsupportedError, match=f"{name!r} cannot be run: the attack of the package 'toy_false'"):
            ld.attack(release, people, attacks=name)
    assert "somebody" not in str(report.skipped)


@pytest.mark.usefixtures("attackers")
def test_a_comparison_says_which_attack_failed(people: pa.Table) -> None:
    found = ld.compare(
        people, quasi=["age", "sex"], sensitive="disease", methods=["mondrian"], l=[2], queries=3, seed=1
    )

    assert "Not run: the attack 'crash'. " in " ".join(str(found).split())
    assert "the package 'toy_false' failed (ZeroDivisionError)" in " ".join(str(found).split())
