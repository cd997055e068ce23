"""Every attack that measures a risk runs on the release of every method, or refuses in one sentence; so does a toy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.datasets import patients, patients_tree
from ldiversity.errors import LDiversityError
from ldiversity.evaluation.attacks import ATTACKS, Criterion, People, Rate, Shown
from ldiversity.faces.cli import cli
from ldiversity.methods import METHODS

RISKS = ["singling-out", "linkability", "inference"]
QUASI = ["age", "sex", "job"]
OPTIONS: dict[str, dict[str, Any]] = {
    "semantic": {"d": 2, "distance": ld.TreeDistance(patients_tree())},
    "le-anatomy": {"e": 1, "tree": patients_tree()},
}
KINDS = [*((name, None) for name in METHODS), ("randomized-addition", "exploded")]


@dataclass(frozen=True)
class AlwaysRight(ld.RiskAttack):
    """Succeeds on everyone in the table, and on nobody else."""

    name: ClassVar[str] = "always-right"
    meaning: ClassVar[str] = "succeed"

    @property
    def knowledge(self) -> str:
        return "They know everything."

    def measure(self, shown: Shown, original: People, control: People | None, attacks: int) -> ld.PrivacyRisk:
        tries = min(attacks, original.n)
        others = None if control is None else Rate(0, control.n)
        return self.result(columns=shown.names, success=Rate(tries, tries), baseline=Rate(0, tries), control=others)


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    ATTACKS.register("always-right", AlwaysRight)
    yield
    ATTACKS.withdraw("always-right")


@pytest.fixture(params=KINDS, ids=str, scope="module")
def release(request: pytest.FixtureRequest) -> ld.Release:
    name, layout = request.param
    given = {} if layout is None else {"layout": layout}
    return ld.anonymize(
        patients(120, seed=5),
        quasi=QUASI,
        sensitive="disease",
        drop=("name", "zip"),
        method=METHODS[name].of_level(2, **OPTIONS.get(name, {})),
        insecure_seed=3,
        **given,
    )


def measuring() -> list[str]:
    return [name for name in ATTACKS if issubclass(ATTACKS[name], ld.RiskAttack)]


def attacked(
    release: ld.Release, original: pa.Table, control: pa.Table, name: str
) -> tuple[ld.AttackReport | None, str]:
    """What an attack reports, or its refusal."""
    try:
        return ld.attack(release, original, control=control, attacks=name, targets=40), ""
    except LDiversityError as refusal:
        return None, str(refusal)


def test_every_risk_is_measured_or_refused_in_one_sentence(release: ld.Release) -> None:
    original, control = patients(120, seed=5), patients(120, seed=6)
    for name in [*measuring(), "always-right"]:
        found, refusal = attacked(release, original, control, name)
        if found is None:
            assert "cannot be run" in refusal
            assert refusal.count("\n") <= 1
            continue
        assert found.risks
        for one in found.risks:
            assert one.attack.startswith(name)
            assert one.criterion in get_args(Criterion)
            assert 0 <= one.interval[0] <= one.risk <= one.interval[1] <= 1
            assert one.success.tries <= 40
            assert one.control is not None
            for rate in (one.success, one.baseline, one.control):
                assert 0 <= rate.interval[0] <= rate.share <= rate.interval[1] <= 1
            assert found.to_dict()["risks"][0]["success"]["share"] == found.risks[0].success.share


def test_the_same_attacks_are_made_each_time(release: ld.Release) -> None:
    original = patients(120, seed=5)

    first, again = (ld.attack(release, original, attacks=RISKS, targets=20).risks for _ in range(2))

    assert first == again


def test_a_toy_runs_in_every_face(tmp_path: Path) -> None:
    original = patients(120, seed=5)
    release = ld.anonymize(original, quasi=QUASI, sensitive="disease", drop=("name", "zip"), method="mondrian:l=2")
    release.save(tmp_path / "release")

    found = ld.attack(release, original, control=patients(60, seed=6), targets=20)

    (one,) = (one for one in found.risks if one.attack == "always-right")
    assert one.beyond_chance
    assert any("always-right" in sentence for sentence in found.verdict)
    assert "always-right" in ld.holder_report(release, original, attacks=True).to_html()
    source = tmp_path / "patients.parquet"
    pq.write_table(original, source)
    words = ("attack", str(tmp_path / "release"), "--original", str(source), "--attacks", "always-right")
    assert "always-right" in CliRunner().invoke(cli, words, catch_exceptions=False).output


def test_a_comparison_refuses_risks_by_name() -> None:
    with pytest.raises(ld.ParameterError, match="attacks must name known attacks"):
        ld.compare(patients(60, seed=1), quasi=QUASI, sensitive="disease", methods="anatomy", attacks="singling-out")
