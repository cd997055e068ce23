"""Several promises at once: each is kept in every class, claimed, checked on the bytes, and audited by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.faces.cli import cli
from ldiversity.models import Population
from ldiversity.release import Form
from ldiversity.schema import Attribute, Role, Schema

MODELS = ["k-anonymity:5", "t-closeness:0.4"]
DOMAIN = ld.Domain(("a", "b", "c", "d"))
SECOND = [ld.KAnonymity(2), ld.FrequencyDiversity(2)]


@pytest.fixture(scope="module")
def people() -> pa.Table:
    drawn = np.random.default_rng(8)
    return pa.table(
        {
            "age": drawn.integers(20, 90, 300),
            "sex": drawn.choice(["f", "m"], 300),
            "disease": drawn.choice(["flu", "cold", "cut", "gout"], 300, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


@pytest.fixture(scope="module", params=["mondrian", "incognito"])
def release(people: pa.Table, request: pytest.FixtureRequest) -> ld.Release:
    method = {"mondrian": ld.Mondrian, "incognito": ld.Incognito}[request.param](model=MODELS)
    return ld.anonymize(people, quasi=["age", "sex"], sensitive="disease", method=method)


def of_classes(values: str, rules: Any, layout: str = "bucketized") -> ld.ClassRelease:
    """Two classes of three records each, with these values."""
    generalized = layout == "generalized"
    return ld.ClassRelease.in_memory(
        schema=Schema((Attribute("age", Role.QUASI, "int64"), Attribute("v", Role.SENSITIVE, "string", DOMAIN))),
        layout=layout,  # type: ignore[arg-type]
        rules={"v": rules},
        class_of=np.repeat(np.arange(2, dtype=np.int32), 3),
        values={"v": np.array(["abcd".index(value) for value in values], dtype=np.int32)},
        regions=pa.table({"age": [{"low": 1, "high": 3}, {"low": 4, "high": 6}]}) if generalized else None,
        columns=None if generalized else pa.table({"age": np.repeat([1, 4], 3)}),
        forms={"age": Form("interval", low=1, high=6)} if generalized else None,
    )


def test_every_class_satisfies_every_model_by_a_slow_count(people: pa.Table, release: ld.ClassRelease) -> None:
    classes = release.classes("disease").dense()
    overall = np.array([people["disease"].to_pylist().count(value) for value in release.domain("disease").values])

    for counts in classes:
        moved = np.abs(counts / counts.sum() - overall / overall.sum()).sum() / 2
        assert counts.sum() >= 5
        assert moved <= 0.4


def test_each_model_is_a_claim_that_is_written_and_read_again(release: ld.ClassRelease, tmp_path: Path) -> None:
    release.save(tmp_path / "release")
    read = ld.load_release(tmp_path / "release")

    read.verify()
    assert [claim.rule for claim in read.claims_of("disease")] == [ld.KAnonymity(5), ld.TCloseness(0.4)]  # type: ignore[union-attr]
    assert read.claims == release.claims


def test_each_claim_has_its_own_verdict(release: ld.ClassRelease) -> None:
    assert [(one.model.text, one.verdict.passed) for one in ld.audit(release).asked] == [
        ("k-anonymity:5", True),
        ("t-closeness:0.4", True),
    ]


@pytest.mark.usefixtures("undrawn")
def test_a_report_shows_each_claim(release: ld.ClassRelease) -> None:
    page = ld.user_report(release).to_html()

    assert page.count("Every class has at least 5 records") >= 1
    assert "values are spread as in all records, but for at most 40 % (t-closeness)" in page


def test_l_and_a_model_are_both_promised() -> None:
    method = ld.Mondrian(l=3, model="k-anonymity:5")

    assert method.promises(DOMAIN) == (ld.FrequencyDiversity(3), ld.KAnonymity(5))
    assert method.parameters()["l"] == 3
    assert method.parameters()["model"] == {"name": "k-anonymity", "k": 5}


def test_the_same_promise_twice_is_one() -> None:
    assert ld.Mondrian(l=3, model=["frequency:3"]).promises(DOMAIN) == (ld.FrequencyDiversity(3),)


def test_a_method_with_several_models_can_be_hashed() -> None:
    assert hash(ld.Mondrian(model=MODELS)) == hash(ld.Mondrian(model=tuple(MODELS)))


def test_one_model_that_is_not_monotone_is_refused_by_incognito() -> None:
    with pytest.raises(ld.ParameterError, match="monotone"):
        ld.Incognito(model=["k-anonymity:3", "unique:2"])


@pytest.mark.parametrize("nothing", [None, (), []])
def test_no_promise_at_all_is_refused(nothing: Any) -> None:
    with pytest.raises(ld.ParameterError, match="l or model must be given"):
        ld.Mondrian(model=nothing)


def test_the_model_that_cannot_be_kept_is_named(people: pa.Table) -> None:
    with pytest.raises(ld.InfeasibleError, match="must satisfy model='distinct:5'"):
        ld.anonymize(
            people, quasi="age", sensitive="disease", method=ld.Mondrian(model=["k-anonymity:5", "distinct:5"])
        )


# --- planted violations: the first claim holds, the second does not ---------------------------------


@pytest.mark.parametrize("layout", ["generalized", "bucketized"])
def test_a_broken_second_claim_is_never_written(layout: str, tmp_path: Path) -> None:
    with pytest.raises(ld.ClaimError, match="no value of 'v' belongs to more than 1 of 2"):
        of_classes("abcaab", SECOND, layout).save(tmp_path / "release")

    assert not (tmp_path / "release").exists()


def planted(folder: Path) -> Path:
    """A release whose second claim was made stronger than its classes are."""
    of_classes("abcaab", [ld.KAnonymity(2), ld.DistinctDiversity(2)]).save(folder)
    described = json.loads((folder / "release.json").read_text("utf-8"))
    (claim,) = described["sensitive"][0]["further_claims"]
    claim |= {"l": 3, "rule": {"name": "distinct", "l": 3}}
    (folder / "release.json").write_text(json.dumps(described), "utf-8")
    return folder


def test_a_broken_second_claim_is_found_in_what_was_loaded(tmp_path: Path) -> None:
    with pytest.raises(ld.ClaimError, match="1 of 2 published classes breaks the claim"):
        ld.load_release(planted(tmp_path / "release")).verify()


def test_an_audit_of_a_broken_second_claim_fails(tmp_path: Path) -> None:
    done = run("audit", planted(tmp_path / "release"))

    assert done.exit_code == 1
    assert "distinct:3 of 'v' does not hold" in " ".join(done.output.split())


def test_a_second_claim_that_says_more_than_its_rule_is_refused(tmp_path: Path) -> None:
    folder = planted(tmp_path / "release")
    described = json.loads((folder / "release.json").read_text("utf-8"))
    described["sensitive"][0]["further_claims"][0]["posterior"] = 0.1
    (folder / "release.json").write_text(json.dumps(described), "utf-8")

    with pytest.raises(ld.ReleaseFormatError, match="must be its rule's"):
        ld.load_release(folder)


def test_one_claim_is_written_as_it_always_was(tmp_path: Path) -> None:
    of_classes("abcabc", ld.DistinctDiversity(3)).save(tmp_path / "release")

    assert "further_claims" not in (tmp_path / "release" / "release.json").read_text("utf-8")


def test_the_claim_of_an_attribute_is_the_one_that_bounds_shares_most() -> None:
    assert of_classes("abcabc", [ld.KAnonymity(3), ld.FrequencyDiversity(3)]).claim("v").model == "frequency"


# --- faces ------------------------------------------------------------------------------------------


def run(*words: object) -> Any:
    return CliRunner().invoke(cli, [str(word) for word in words], prog_name="ldiversity")


@pytest.fixture
def table(people: pa.Table, tmp_path: Path) -> Path:
    people.to_pandas().to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


ROLES = ("--quasi", "age,sex", "--sensitive", "disease")


def test_the_command_line_takes_several_models(table: Path, tmp_path: Path) -> None:
    models = ("-l", 2, "--model", MODELS[0], "--model", MODELS[1])
    done = run("anonymize", table, *ROLES, "--method", "mondrian", *models, "-o", tmp_path / "release")

    assert done.exit_code == 0, done.output
    release = ld.load_release(tmp_path / "release")
    assert [claim.model for claim in release.claims_of("disease")] == ["frequency", "k-anonymity", "t-closeness"]
    assert run("audit", tmp_path / "release").exit_code == 0


def test_a_plan_names_each_promise(table: Path) -> None:
    models = ("--model", MODELS[0], "--model", MODELS[1])
    done = run("plan", table, *ROLES, "--method", "mondrian", *models, "--json")

    assert done.exit_code == 0, done.output
    assert len(json.loads(done.output)["attributes"][0]["claims"]) == 2


def test_a_comparison_runs_several_models_as_one(people: pa.Table) -> None:
    found = ld.compare(
        people, quasi="age", sensitive="disease", methods=["mondrian"], l=[2], models=[MODELS], queries=5, seed=1
    )

    labels = {row.label: row for row in found.rows}
    both = labels["mondrian model=k-anonymity:5 and t-closeness:0.4"]
    assert both.measured
    assert both.words == ("--method", "mondrian", "--model", MODELS[0], "--model", MODELS[1])


def test_the_command_compare_runs_several_models_as_one(table: Path) -> None:
    few = ("--methods", "mondrian", "-l", 2, "--queries", 5, "--attacks", "homogeneity", "--seed", 1)
    done = run("compare", table, *ROLES, *few, "--model", " and ".join(MODELS), "--json")

    assert done.exit_code in {0, 1}, done.output
    labels = [row["label"] for row in json.loads(done.stdout)["rows"]]
    assert labels == ["mondrian l=2", "mondrian model=k-anonymity:5 and t-closeness:0.4"]


def test_models_are_asked_only_about_classes_in_doubt() -> None:
    from ldiversity.methods._rule import rules_of

    rules = rules_of("Mondrian", None, ["k-anonymity:3", "distinct:2"])
    counts = np.array([[3, 0], [2, 2], [1, 1]])

    assert rules.holds(counts, Population(ld.Domain(("a", "b")), counts.sum(axis=0))).tolist() == [False, True, False]


def test_files_of_models_in_a_policy_are_relative_to_it(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "reviewed"
    (folder / "trees").mkdir(parents=True)
    rows = [("flu", "lung", "*"), ("cold", "lung", "*"), ("cut", "skin", "*"), ("gout", "joint", "*")]
    (folder / "trees" / "t.csv").write_text("\n".join(map(",".join, rows)) + "\n", "utf-8")
    models = ["level:2:1:trees/t.csv", "t-closeness:0.5:hierarchical:trees/t.csv", "semantic:2:1:tree:trees/t.csv"]
    method = f'[method]\nname = "mondrian"\nmodel = {json.dumps(models)}\n'
    (folder / "asked.toml").write_text(f'[table]\nquasi = ["age"]\n[sensitive.disease]\n{method}', "utf-8")
    monkeypatch.chdir(tmp_path)

    release = ld.Publication.load(folder / "asked.toml").publish(people.select(["age", "disease"]))

    assert [claim.model for claim in release.claims] == ["level", "t-closeness", "semantic"]
