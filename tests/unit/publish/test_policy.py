from __future__ import annotations

import json
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ldiversity as ld
from ldiversity.datasets import write_patients
from ldiversity.errors import LDiversityError, LDiversityWarning, ParameterError, StorageError
from ldiversity.publish import Policy

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "policy.toml"
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "publication.schema.json").read_text(encoding="utf-8"))

FULL: dict[str, Any] = {
    "table": {"file": "t.csv", "quasi": ["age"], "drop": ["name"], "plain": ["ward"], "types": {"zip": "text"}},
    "sensitive": {
        "disease": {"method": "semantic", "l": 2, "d": 1, "distance": "ordered", "selection": "simple"},
        "income": {
            "method": "randomized-addition",
            "l": 3,
            "missing": "drop",
            "bins": {"width": 10, "low": 0, "high": 50},
        },
        "grade": {"method": "randomized-addition", "l": 2, "domain": ["a", "b", "c"]},
    },
    "output": {"folder": "release", "format": "csv", "layout": "sets"},
    "key": {"file": "holder.key", "record_id": ["name"]},
}


@pytest.fixture
def example(tmp_path: Path) -> Path:
    write_patients(tmp_path, n=300, seed=2)
    copy = tmp_path / "policy.toml"
    copy.write_bytes(EXAMPLE.read_bytes())
    return copy


def changed(path: str, value: object) -> dict[str, Any]:
    described = deepcopy(FULL)
    *parents, last = path.split(".")
    part = described
    for name in parents:
        part = part[name]
    part[last] = value
    return described


def test_the_example_is_published_beside_itself(example: Path) -> None:
    release = Policy.read(example).publish()

    assert (release.n_rows, release.claim("disease").model) == (300, "semantic-diversity")
    assert ld.load_release(example.parent / "release").n_rows == 300


def test_the_example_satisfies_the_published_schema() -> None:
    jsonschema.validate(tomllib.loads(EXAMPLE.read_text(encoding="utf-8")), SCHEMA)


def test_a_full_policy_satisfies_the_published_schema() -> None:
    jsonschema.validate(FULL, SCHEMA)


def test_the_same_file_gives_the_same_policy() -> None:
    first, second = (Policy.from_dict(FULL) for _ in range(2))

    assert first == second


def test_a_policy_gives_the_methods_of_its_columns() -> None:
    methods = Policy.from_dict(FULL).methods()

    assert methods == {
        "disease": ld.SemanticDiversity(l=2, d=1, distance=ld.OrderedDistance(), selection="simple"),
        "income": ld.RandomizedAddition(l=3),
        "grade": ld.RandomizedAddition(l=2),
    }


def test_without_a_method_a_least_distance_decides() -> None:
    entries = {"a": {"l": 2}, "b": {"l": 2, "d": 1, "distance": "ordered"}}

    methods = Policy.from_dict({"table": {"file": "t.csv"}, "sensitive": entries}).methods()

    assert {name: method.name for name, method in methods.items()} == {"a": "randomized-addition", "b": "semantic"}


@pytest.mark.parametrize("key", ["table.file", "key.file"])
def test_a_file_that_is_not_beside_the_policy_is_named_with_the_folder(example: Path, key: str) -> None:
    described = tomllib.loads(example.read_text(encoding="utf-8"))
    described.setdefault("key", {"record_id": ["name"]})[key.split(".")[1]] = "nobody"
    described[key.split(".", maxsplit=1)[0]]["file"] = "nobody"

    with pytest.raises(ParameterError, match=f"policy: {key} must name a file") as error:
        Policy.from_dict(described, folder=example.parent).publish()

    assert str(example.parent.resolve()) in (error.value.hint or "")


def test_a_policy_is_planned_without_publishing(example: Path) -> None:
    before = sorted(example.parent.iterdir())

    answer = Policy.read(example).plan()

    assert (answer.feasible, answer.n_rows, answer.attributes[0].method) == (True, 300, "semantic")
    assert sorted(example.parent.iterdir()) == before


def test_planning_checks_the_key_and_its_columns(example: Path) -> None:
    ld.Key.new().save(example.parent / "holder.key")
    example.write_text(example.read_text() + '\n[key]\nfile = "holder.key"\nrecord_id = ["nobody"]\n')

    with pytest.raises(ld.SchemaError, match="'nobody' does not exist"):
        Policy.read(example).plan()


def test_a_policy_gives_what_is_said_about_its_columns() -> None:
    assert Policy.from_dict(FULL).columns() == [
        ld.Sensitive("disease"),
        ld.Sensitive("income", missing="drop", width=10, low=0, high=50),
        ld.Sensitive("grade", domain=["a", "b", "c"]),
    ]


def test_without_a_folder_the_release_stays_in_memory(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("g\na\nb\nc\n")
    described = {"table": {"file": "t.csv"}, "sensitive": {"g": {"method": "randomized-addition", "l": 2}}}

    release = Policy.from_dict(described, folder=tmp_path).publish(insecure_seed=1)

    assert release.sets("g").shape == (3, 2)
    assert [file.name for file in tmp_path.iterdir()] == ["t.csv"]


def test_an_output_folder_stands_above_the_policy_s(example: Path, tmp_path: Path) -> None:
    Policy.read(example).publish(tmp_path / "elsewhere")

    assert (tmp_path / "elsewhere" / "release.json").is_file()
    assert not (tmp_path / "release").exists()


def test_a_release_is_replaced_only_when_asked(example: Path) -> None:
    policy = Policy.read(example)
    policy.publish()

    with pytest.raises(ParameterError, match="must not exist yet"):
        policy.publish()
    with pytest.warns(LDiversityWarning, match="can intersect the two"):
        assert policy.publish(overwrite=True).n_rows == 300


def test_a_key_is_found_beside_the_policy(example: Path) -> None:
    ld.Key.new().save(example.parent / "holder.key")
    example.write_text(example.read_text() + '\n[key]\nfile = "holder.key"\nrecord_id = ["name"]\n')
    policy = Policy.read(example)

    first, second = policy.publish(example.parent / "a"), policy.publish(example.parent / "b")

    assert sorted(map(str, first.table.to_pylist())) == sorted(map(str, second.table.to_pylist()))


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("table.file", 3, "policy: table.file breaks its rule: input should be a valid string."),
        ("table.quasi", "age", "policy: table.quasi breaks its rule: input should be a valid list."),
        ("table.types", {"zip": "colour"}, "policy: table.types.zip breaks its rule"),
        ("table.color", "red", "policy: table.color is not a key of a policy.\nHint: Known keys there are file, quasi"),
        ("sensitiv", {}, "policy: sensitiv is not a key of a policy.\nHint: Known keys there are table, sensitive"),
        ("sensitive", {}, "policy: sensitive must name at least one column"),
        ("sensitive.disease.l", 0, "policy: sensitive.disease.l breaks its rule: input should be greater than"),
        ("sensitive.disease.l", "3", "policy: sensitive.disease.l breaks its rule: input should be a valid integer."),
        ("sensitive.disease.method", "magic", "policy: sensitive.disease.method must be one of 'randomized-addition'"),
        ("sensitive.disease.d", None, "policy: sensitive.disease: semantic: d must be given."),
        ("sensitive.disease.distance", "far", "distance: it must start with a known kind"),
        ("sensitive.income.selection", "ring", "policy: sensitive.income: randomized-addition: 'selection' is not"),
        ("sensitive.income.bins.quantiles", 3, "policy: sensitive.income: Bins: exactly one of width, edges"),
        ("sensitive.income.bins.wide", 3, "bins.wide is not a key of a policy.\nHint: Known keys there are width"),
        ("sensitive.grade.missing", "guess", "policy: sensitive.grade.missing breaks its rule"),
        ("sensitive.grade.bins", {"width": 1}, "policy: sensitive.grade: Sensitive: domain must be left out"),
        ("output.format", "xml", "policy: output.format breaks its rule: input should be 'parquet' or 'csv'."),
        ("key", {"file": "k"}, "record_id or person must be given with key"),
    ],
)  # fmt: skip
def test_a_wrong_key_is_named_in_a_sentence(path: str, value: object, sentence: str) -> None:
    with pytest.raises(LDiversityError) as error:
        Policy.from_dict(changed(path, value))

    assert sentence in str(error.value)


@pytest.mark.parametrize(("content", "why"), [(b"[table", "must be TOML"), (b'a = "\xff"', "it is not in UTF-8")])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "p.toml").write_bytes(content)

    with pytest.raises(ParameterError, match=why):
        Policy.read(tmp_path / "p.toml")


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be read: No such file"):
        Policy.read(tmp_path / "nobody.toml")


def test_an_enormous_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.publish._document._MOST_BYTES", 10)
    (tmp_path / "p.toml").write_text("# more than ten bytes")

    with pytest.raises(ParameterError, match="at most 10 bytes"):
        Policy.read(tmp_path / "p.toml")
