"""A report has a section for each question of Opinion 05/2014, and every registered attack appears in one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.entries import ENTRIES
from ldiversity.estimation import CLASS_ESTIMATORS, ESTIMATORS
from ldiversity.evaluation.attacks import ATTACKS, Beliefs, Criterion, Targets
from ldiversity.evaluation.compare import ComparedRun
from ldiversity.methods import METHODS

CRITERIA = ("singling-out", "linkability", "inference")


@dataclass(frozen=True)
class Neighbor(ld.Attack):
    """A stranger's attack."""

    name: ClassVar[str] = "neighbor"
    criterion: ClassVar[Criterion] = "singling-out"
    attacker: ClassVar[str] = "A neighbor who looks over the fence."

    @property
    def knowledge(self) -> str:
        return "They know the domain."

    def beliefs(self, release: ld.Release, targets: Targets, attribute: str) -> Beliefs:
        return Beliefs(np.eye(1, len(release.domain(attribute))), np.zeros(targets.n, dtype=np.int64))


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return pa.table({"age": [30, 31, 32, 33] * 15, "disease": ["flu", "cold", "cut", "gout", "ache"] * 12})


@pytest.fixture(scope="module", params=["sets", "classes"])
def release(request: pytest.FixtureRequest, people: pa.Table) -> ld.Release:
    method = ld.RandomizedAddition(l=3) if request.param == "sets" else ld.Anatomy(l=3)
    return ld.anonymize(people, quasi="age", sensitive="disease", method=method, insecure_seed=1)


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_informs_one_of_the_three_questions(name: str) -> None:
    assert ATTACKS[name].criterion in CRITERIA
    said = ATTACKS[name].attacker  # glossaries leave out attackers of other packages who are not described
    assert said.endswith(".") or (not said and name not in ENTRIES["attacks"])


def test_every_registered_attack_is_measured_or_open_whether_attacks_are_run_or_not(release: ld.Release) -> None:
    with ATTACKS.registered("neighbor", Neighbor):
        for report in (ld.user_report(release), ld.user_report(release, attacks=True)):
            assert [one.criterion for one in report.criteria] == list(CRITERIA)
            for name in ATTACKS:
                (section,) = [one for one in report.criteria if one.criterion == ATTACKS[name].criterion]
                assert any(name in text for text in (*section.measured, *section.open)), name


def test_a_stranger_s_attack_appears_in_its_section_and_in_the_glossary(release: ld.Release, people: pa.Table) -> None:
    with ATTACKS.registered("neighbor", Neighbor):
        report = ld.holder_report(release, people, attacks=True)
        page = report.to_html()

    assert any(text.startswith("neighbor on 'disease'") for text in report.criteria[0].measured)
    assert page.count("A neighbor who looks over the fence.") == 1


@pytest.mark.usefixtures("undrawn")
def test_the_glossary_explains_estimators_by_their_own_words(release: ld.Release) -> None:
    report = ld.user_report(release, by="age:2")
    used = {one.estimator for one in report.distributions} | {
        cell.estimator for one in report.contingency for cell in one.cells
    }
    known = {**ESTIMATORS, **CLASS_ESTIMATORS}

    for name in used:
        meaning = known[name].meaning
        assert not meaning or meaning in report.to_html()


def test_a_stranger_s_method_that_is_kept_for_comparison_is_marked_in_every_run(people: pa.Table) -> None:
    class Kept(METHODS["anatomy"]):  # type: ignore[misc]
        """Like Anatomy."""

        name = "kept"
        for_comparison = True

    with METHODS.registered("kept", Kept):
        found = ld.compare(
            people, quasi="age", sensitive="disease", l=3, methods=["kept", "anatomy"], queries=20,
            attacks="homogeneity", seed=1,
        )  # fmt: skip

    assert {run.method: run.for_comparison for run in found.rows} == {"kept": True, "anatomy": False}
    assert isinstance(found.choice.run, ComparedRun)
    assert found.choice.run.method == "anatomy"
