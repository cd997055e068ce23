"""Policies with a method that groups records."""

from __future__ import annotations

import json
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG, OPTIONS
from ldiversity.datasets import write_patients
from ldiversity.errors import LDiversityError
from ldiversity.methods import Anatomy, Mondrian, SemanticAnatomy
from ldiversity.publish import Policy

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "policy-grouping.toml"
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "publication.schema.json").read_text(encoding="utf-8"))

GROUPED: dict[str, Any] = {
    "table": {"file": "t.csv", "quasi": ["age", "zip"], "drop": ["name"], "types": {"zip": "text"}},
    "sensitive": {"disease": {"domain": ["flu", "cut", "sty"]}},
    "method": {"name": "anatomy", "l": 2},
    "output": {"folder": "release", "format": "csv"},
}
ROWS = "name,age,zip,disease\na,20,13053,flu\nb,31,13068,cut\nc,42,14850,flu\nd,53,14853,sty\n"


def changed(path: str, value: object) -> dict[str, Any]:
    described = deepcopy(GROUPED)
    *parents, last = path.split(".")
    part = described
    for name in parents:
        part = part.setdefault(name, {})
    part[last] = value
    return described


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text(ROWS)
    return tmp_path


def test_one_method_is_for_all_sensitive_columns() -> None:
    policy = Policy.from_dict(changed("sensitive.ward", {}))

    assert policy.methods() == {"disease": Anatomy(l=2), "ward": Anatomy(l=2)}


def test_switches_texts_and_shares_become_options() -> None:
    section = {"name": "mondrian", "model": "entropy:2", "strict": False, "weights": {"age": 2, "zip": 0.5}}

    method = Policy.from_dict(changed("method", section)).methods()["disease"]

    assert method == Mondrian(model="entropy:2", strict=False, weights={"age": 2, "zip": 0.5})


def test_a_tree_file_is_found_beside_the_policy(folder: Path) -> None:
    (folder / "tree.csv").write_text("flu;lung;*\ncut;skin;*\nsty;eye;*\n")
    section = {"name": "le-anatomy", "l": 2, "e": 1, "tree": "tree.csv"}

    method = Policy.from_dict(changed("method", section), folder=folder).methods()["disease"]

    assert isinstance(method, SemanticAnatomy)
    assert len(method.tree) == 3


@pytest.mark.parametrize(
    "described",
    [
        GROUPED,
        changed("method", {"name": "mondrian", "model": "entropy:2", "strict": False, "weights": {"age": 2}}),
        changed("table.hierarchies", {"zip": "zip.csv", "age": "width:5/10"}),
        changed("table.person", "name"),
        changed("output.marginals", True),
    ],
)
def test_a_policy_satisfies_the_published_schema(described: dict[str, Any]) -> None:
    jsonschema.validate(described, SCHEMA)


@pytest.mark.parametrize(
    ("path", "value"),
    [("method.tree", "tree.csv"), ("method.name", "semantic"), ("method.l", 0), ("sensitive.disease.effort", 2)],
)
def test_the_published_schema_refuses_options_of_other_methods(path: str, value: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed(path, value), SCHEMA)


@pytest.mark.parametrize("option", OPTIONS)
def test_the_published_schema_documents_every_option(option: str) -> None:
    sections = [SCHEMA["$defs"][name]["properties"] for name in ("SensitivePolicy", "MethodPolicy")]

    assert [section for section in sections if section.get(option, {}).get("description")]


@pytest.mark.parametrize("method", [name for name, entry in CATALOG.items() if entry.family == "classes"])
def test_the_published_schema_knows_every_method_that_groups(method: str) -> None:
    assert method in SCHEMA["$defs"]["MethodPolicy"]["properties"]["name"]["enum"]


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("method.name", "magic", "policy: method.name must be one of 'bsgi', 'llmsu'"),
        ("method.name", "semantic", "Name it in the section of each sensitive column."),
        ("method.l", 0, "policy: method.l breaks its rule: input should be greater than or equal to 1."),
        ("method.l", 1, "policy: method: Anatomy: l must be an integer of at least 2, got 1."),
        ("method.l", None, "policy: method: anatomy: l must be given."),
        ("method.effort", 2, "method: anatomy: 'effort' is not an option of this method.\nHint: Its options are l"),
        ("method.speed", 2, "policy: method.speed is not a key of a policy.\nHint: Known keys there are l, selection"),
        ("sensitive.disease.l", 3, "policy: sensitive.disease.l must be left out with [method]"),
        ("sensitive.disease.method", "semantic", "policy: sensitive.disease.method must be left out with [method]"),
        ("output.layout", "exploded", "policy: output.layout must be left out with anatomy, a method that"),
        ("key", {"file": "k", "record_id": ["name"]}, "policy: key must be left out with anatomy, a method"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_grouping_is_named(path: str, value: object, sentence: str) -> None:
    with pytest.raises(LDiversityError) as error:
        Policy.from_dict(changed(path, value))

    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [("table.hierarchies", {"age": "age.csv"}), ("output.marginals", True)],
)
def test_what_goes_with_grouping_only_is_named(path: str, value: object) -> None:
    described = changed(path, value)
    del described["method"]
    described["sensitive"]["disease"]["l"] = 2

    with pytest.raises(
        ld.ParameterError, match=f"policy: {path} must be left out with randomized-addition, a method that hides"
    ):
        Policy.from_dict(described)


def test_a_grouping_method_in_the_section_of_a_column_says_where_it_belongs() -> None:
    described = {"table": {"file": "t.csv"}, "sensitive": {"disease": {"method": "bsgi", "l": 2}}}

    with pytest.raises(ld.ParameterError, match=r'write \[method\] with name = "bsgi"'):
        Policy.from_dict(described)


def test_a_policy_is_planned_without_publishing(folder: Path) -> None:
    answer = Policy.from_dict(GROUPED, folder=folder).plan()

    assert (answer.feasible, answer.method, answer.n_rows) == (True, "anatomy", 4)
    assert [file.name for file in folder.iterdir()] == ["t.csv"]


def test_the_example_is_published_beside_itself(tmp_path: Path) -> None:
    write_patients(tmp_path, n=300, seed=2)
    copy = tmp_path / EXAMPLE.name
    copy.write_bytes(EXAMPLE.read_bytes())

    release = Policy.read(copy).publish()

    assert (release.n_rows, release.claim("disease").l) == (300, 4)
    assert ld.load_release(tmp_path / "grouped").forms["zip"].kind == "node"


def test_the_example_satisfies_the_published_schema() -> None:
    jsonschema.validate(tomllib.loads(EXAMPLE.read_text(encoding="utf-8")), SCHEMA)


def test_progress_is_told_while_records_are_grouped(folder: Path) -> None:
    told: list[float] = []

    Policy.from_dict(changed("method", {"name": "bsgi", "l": 2}), folder=folder).publish(
        progress=lambda share, _: told.append(share)
    )

    assert told
    assert max(told) <= 1


def test_planning_reads_the_hierarchies_beside_the_policy(folder: Path) -> None:
    (folder / "zip.csv").write_text("13053;130**;*\n")

    with pytest.raises(ld.SchemaError, match="every value must be a leaf"):
        Policy.from_dict(changed("table.hierarchies", {"zip": "zip.csv"}), folder=folder).plan()
