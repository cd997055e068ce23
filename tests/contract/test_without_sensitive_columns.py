"""Releases that promise something about records alone: every grouping method publishes one, or says what it lacks."""

from __future__ import annotations

import json
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.catalog import CATALOG, MethodEntry
from ldiversity.datasets import patients, write_patients
from ldiversity.faces.cli import cli
from ldiversity.methods import GroupingMethod
from ldiversity.models import MODELS
from ldiversity.release import PEOPLE, RECORDS

PATIENTS = patients(300, seed=6)
ROLES: dict[str, Any] = {"quasi": ["age", "sex", "zip"], "plain": ["job"], "drop": ["name"]}
TREE = ld.Hierarchy.from_rows([("flu", "any"), ("cold", "any")])
REQUIRED: dict[str, dict[str, Any]] = {"le-anatomy": {"e": 1, "tree": TREE}}
METHODS = [pytest.param(entry, id=entry.name) for entry in CATALOG.values() if find_spec(entry.home.partition(":")[0])]
GENERALIZING = ["mondrian:model=k-anonymity:5", "incognito:model=k-anonymity:5,suppression=0.1"]


def made(entry: MethodEntry) -> ld.Method:
    """The method with k-anonymity in place of l, where it takes a model."""
    module, _, name = entry.home.partition(":")
    kind = getattr(import_module(module), name)
    if "model" in {field.name for field in fields(kind)}:
        return kind(model="k-anonymity:5")  # type: ignore[no-any-return]
    distance = {"d": 1.0, "distance": "ordered"} if entry.name == "semantic" else {}
    return kind.of_level(2, **REQUIRED.get(entry.name, {}), **distance)  # type: ignore[no-any-return]


def about_records(method: ld.Method) -> bool:
    """Whether a method generalizes, and promises nothing about values."""
    if not isinstance(method, GroupingMethod) or method.layout != "generalized":
        return False
    return all(rule.of_people for rule in method.promises(RECORDS))


@pytest.mark.parametrize("entry", METHODS)
def test_every_method_publishes_without_a_sensitive_column_or_says_what_it_needs(entry: MethodEntry) -> None:
    method = made(entry)
    if not about_records(method):
        with pytest.raises(ld.ParameterError, match="sensitive must name at least one column") as caught:
            ld.anonymize(PATIENTS, **ROLES, method=method)
        assert "k-anonymity:5" in str(caught.value.hint)
        return

    release = ld.anonymize(PATIENTS, **ROLES, method=method)

    release.verify()
    assert release.sensitive == ()
    assert not any(claim.rule.failing(release.classes(PEOPLE)).size for claim in release.claims_of(PEOPLE))
    assert "model" not in entry.options or np.bincount(release.class_of(PEOPLE)).min() >= 5


@pytest.mark.parametrize("name", MODELS)
def test_only_promises_about_records_can_be_made(name: str) -> None:
    model = MODELS[name].example
    if MODELS[name].of_people:
        assert ld.Publication(**ROLES, method=ld.Mondrian(model=model)).check(PATIENTS).promises
        return
    try:
        method = ld.Mondrian(model=model)
    except ld.LDiversityError:
        pytest.skip("its example names a file")
    with pytest.raises(ld.ParameterError, match="sensitive must name at least one column"):
        ld.Publication(**ROLES, method=method)


@pytest.mark.parametrize("method", GENERALIZING)
@pytest.mark.parametrize("data_format", ["csv", "parquet"])
def test_a_folder_gives_back_what_was_published(method: str, data_format: Any, tmp_path: Path) -> None:
    kept = ld.anonymize(PATIENTS, **ROLES, method=method, insecure_seed=3)
    ld.anonymize(PATIENTS, **ROLES, method=method, insecure_seed=3, output=tmp_path / "r", data_format=data_format)

    read = ld.load_release(tmp_path / "r")

    read.verify()
    assert read.claims == kept.claims
    assert read.not_protected == kept.not_protected
    assert read.table.sort_by("class_id")["class_id"].equals(kept.table.sort_by("class_id")["class_id"])
    assert set(read.flat.column_names) >= {"class_id", "sex_label", "job"}
    assert "disease" not in (tmp_path / "r" / "release.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("change", ["claim", "class", "sensitive"])
def test_a_promise_that_does_not_hold_is_found(change: str, tmp_path: Path) -> None:
    ld.anonymize(PATIENTS, **ROLES, method=GENERALIZING[0], output=tmp_path / "r", data_format="csv")
    file = tmp_path / "r" / "release.json"
    said = json.loads(file.read_text(encoding="utf-8"))
    if change == "claim":
        said["classes"]["people"]["claim"]["rule"]["k"] = 50
    elif change == "class":
        said["classes"]["people"]["claim"]["rule"] = {"name": "frequency", "l": 2}
    else:
        del said["classes"]["people"]
    file.write_text(json.dumps(said), encoding="utf-8")

    with pytest.raises((ld.ClaimError, ld.ReleaseFormatError)):
        ld.load_release(tmp_path / "r").verify()


@pytest.mark.parametrize("method", GENERALIZING)
def test_what_needs_no_value_answers_and_the_rest_refuses_in_a_sentence(method: str) -> None:
    release = ld.anonymize(PATIENTS, **ROLES, method=method)

    audited = ld.audit(release)
    assert audited.passed
    assert audited.models["k_anonymity"].value >= 5
    assert "Every class has at least 5 records." in str(ld.plan(PATIENTS, **ROLES, method=method))
    assert "Every class has at least 5 records." in ld.user_report(release).to_html()
    assert ld.holder_report(release, PATIENTS).audit.passed
    assert 0 < ld.ncp(PATIENTS, release) < 1
    assert ld.average_class_size(release) >= 5
    assert ld.discernibility(release) > 0
    assert repr(release).startswith("<ClassRelease of")
    asked = {
        "attack": lambda: ld.attack(release),
        "estimate": lambda: ld.estimate(release),
        "regress": lambda: ld.regress(release, "age ~ age"),
        "kl_divergence": lambda: ld.kl_divergence(PATIENTS, release),
        "sensitive_table": lambda: release.sensitive_table,
        "compare": lambda: ld.compare(PATIENTS, quasi=["age", "sex"]),
    }
    for name, ask in asked.items():
        with pytest.raises(ld.LDiversityError, match="sensitive") as caught:
            ask()
        assert "None" not in str(caught.value), name


def test_risks_of_being_recognized_are_measured_without_a_sensitive_column() -> None:
    release = ld.anonymize(PATIENTS, **ROLES, method=GENERALIZING[0])

    found = ld.attack(release, PATIENTS, targets=20)
    assert {one.criterion for one in found.risks} == {"singling-out", "linkability"}
    assert {str(one) for one in found.skipped} >= {"homogeneity: the release has no sensitive attribute."}
    assert found.results == ()
    assert ld.attack(release, PATIENTS, attacks="inference", secret="sex").risks[0].columns == ("sex",)  # noqa: S106
    for refused in ({"attacks": "homogeneity"}, {"sensitive": "job"}):
        with pytest.raises(ld.UnsupportedError, match="no sensitive attribute"):
            ld.attack(release, PATIENTS, **refused)  # type: ignore[arg-type]
    with pytest.raises(ld.ParameterError, match="'inference' needs the original table, and a column to guess"):
        ld.attack(release, PATIENTS, attacks="inference")
    assert ld.holder_report(release, PATIENTS, attacks=True).attacks is not None
    assert ld.user_report(release, attacks=True).attacks is None


def test_a_publication_without_sensitive_columns_is_saved_and_loaded(tmp_path: Path) -> None:
    asked = ld.Publication(**ROLES, method=GENERALIZING[0])

    for _ in range(2):
        asked.save(tmp_path / "policy.toml")

    assert ld.Publication.load(tmp_path / "policy.toml") == asked


def test_the_command_line_publishes_k_anonymity_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_patients(tmp_path, n=300, seed=1)
    roles = ["--quasi", "age,zip", "--method", "mondrian", "--model", "k-anonymity:5"]

    for words in (
        ["plan", "patients.csv", *roles],
        ["anonymize", "patients.csv", *roles, "-o", "release"],
        ["audit", "release"],
        ["report", "release", "-o", "report.html"],
    ):
        done = CliRunner().invoke(cli, words, prog_name="ldiversity")
        assert done.exit_code == 0, done.output
        assert "''" not in done.output

    refused = CliRunner().invoke(cli, ["estimate", "release"], prog_name="ldiversity")
    assert refused.exit_code == 2
    assert "no sensitive attribute" in refused.stderr
