"""Whoever builds a publication builds the same value: keyword arguments, texts, flags, files and comparisons."""

from __future__ import annotations

import json
import pickle
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.catalog import CATALOG, LISTED, OPTIONS
from ldiversity.datasets import patients, patients_tree
from ldiversity.faces.cli import cli
from ldiversity.methods import METHODS

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "publication.schema.json").read_text(encoding="utf-8"))
OLD = ROOT / "tests" / "data" / "policy-v1.toml"
NEEDED: dict[str, dict[str, Any]] = {
    "semantic": {"d": 2, "distance": "tree:tree.csv"},
    "le-anatomy": {"e": 1, "tree": "tree.csv"},
}
COLUMNS: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "drop": ["name"], "types": {"zip": "text"}}
SECTION = {"quasi": ["age", "sex"], "drop": ["name"], "types": {"zip": "text"}}
FLAGS = ["--quasi", "age,sex", "--sensitive", "disease", "--drop", "name", "--type", "zip=text"]


def options_of(method: str) -> dict[str, Any]:
    strength = METHODS[method].strength
    return {**({} if strength is None else {strength: 2}), **NEEDED.get(method, {})}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the options name, which is where everything starts."""
    patients_tree().save(tmp_path / "tree.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def by_arguments(method: str) -> ld.Publication:
    return ld.Publication(**COLUMNS, method=METHODS[method].from_options(options_of(method)))


def by_text(method: str) -> ld.Publication:
    options = ",".join(f"{name}={value}" for name, value in options_of(method).items())
    return ld.Publication(**COLUMNS, method=f"{method}:{options}")


def by_flags(method: str) -> ld.Publication:
    asked: list[ld.Publication] = []

    def keep(publication: ld.Publication, _table: object) -> None:
        asked.append(publication)
        raise ld.InternalError("test", "seen enough")

    words = [word for name, value in options_of(method).items() for word in (OPTIONS[name].flag, str(value))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ld.Publication, "plan", keep)
        CliRunner().invoke(cli, ["plan", "t.csv", *FLAGS, "--method", method, *map(str, words)])
    return asked[0]


def by_file(method: str) -> ld.Publication:
    own = options_of(method)
    described: dict[str, Any] = {"table": SECTION, "sensitive": {"disease": {}}}
    if CATALOG[method].family == "classes":
        described["method"] = {"name": method, **own}
    else:
        described["sensitive"]["disease"] = {"method": method, **own}
    return ld.Policy.from_dict(described).publication


def by_saving(method: str) -> ld.Publication:
    by_text(method).save("saved.toml")
    return ld.Publication.load("saved.toml")


def by_comparing(method: str) -> ld.Publication:
    table = patients(60, seed=3)
    own = {name: value for name, value in options_of(method).items() if name != METHODS[method].strength}
    few: dict[str, Any] = {"queries": 2, "attacks": "homogeneity", "targets": 5, "seed": 1}
    found = ld.compare(table, **COLUMNS, methods=method, l=2, options=own, **few)
    return found.publications[found.rows[0].label]


WAYS = [by_text, by_flags, by_file, by_saving, by_comparing]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("method", CATALOG)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_way_builds_the_same_publication(way: Any, method: str) -> None:
    assert way(method) == by_arguments(method)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("method", [name for name in CATALOG if METHODS[name].strength is not None])
def test_another_option_is_another_publication(method: str) -> None:
    changed = ld.Publication(**COLUMNS, method=METHODS[method].from_options(options_of(method)).at(3))

    assert changed != by_arguments(method)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("method", CATALOG)
def test_a_publication_is_the_same_after_pickling(method: str) -> None:
    publication = by_text(method)

    copy = pickle.loads(pickle.dumps(publication))  # noqa: S301 - made here

    assert copy == publication
    assert copy.command() == publication.command()


@pytest.mark.parametrize("method", LISTED)  # the schema has the methods of this package alone
def test_a_saved_publication_satisfies_the_schema(folder: Path, method: str) -> None:
    by_text(method).save(folder / "saved.toml")

    jsonschema.validate(tomllib.loads((folder / "saved.toml").read_text(encoding="utf-8")), SCHEMA)


@pytest.mark.parametrize("method", CATALOG)
def test_the_command_of_a_publication_asks_for_it(folder: Path, method: str) -> None:
    publication = by_text(method)
    patients(60, seed=3, frame="pandas").to_csv(folder / "t.csv", index=False)
    words = publication.command("t.csv", "out")
    assert words is not None

    result = CliRunner().invoke(cli, words[1:])

    assert (result.exit_code, ld.load_release(folder / "out").sensitive) == (0, ("disease",))


def test_a_policy_of_the_first_version_is_still_read() -> None:
    policy = ld.Policy.read(OLD)

    assert (policy.table, policy.output_folder) == (OLD.parent / "patients.csv", OLD.parent / "release")
    assert policy.publication == ld.Publication(
        quasi=["age", "sex"],
        drop="name",
        plain="ward",
        types={"zip": "text"},
        sensitive=[
            "disease",
            ld.Sensitive("income", missing="drop", width=10, low=0, high=50),
            ld.Sensitive("grade", domain=["a", "b", "c"]),
        ],
        method={
            "disease": ld.SemanticDiversity(l=3, d=2, distance="ordered", selection="simple"),
            "income": "randomized-addition:l=3",
            "grade": "randomized-addition:l=2",
        },
        key=OLD.parent / "holder.key",
        record_id="name",
        data_format="csv",
        layout="sets",
    )
    jsonschema.validate(tomllib.loads(OLD.read_text(encoding="utf-8")), SCHEMA)


def test_a_publication_takes_no_key_and_names_its_file_only(folder: Path) -> None:
    key = ld.Key.new()
    key.save(folder / "holder.key")
    asked: dict[str, Any] = {**COLUMNS, "drop": (), "method": "randomized-addition:l=2", "record_id": "name"}
    publication = ld.Publication(**asked, key="holder.key")

    publication.save("saved.toml")

    secret = (folder / "holder.key").read_bytes().split()[-1]
    assert secret not in pickle.dumps(publication) + (folder / "saved.toml").read_bytes()
    with pytest.raises(ld.ParameterError, match="a publication holds no secret"):
        ld.Publication(**asked, key=key)
    with pytest.raises(ld.ParameterError, match="must not be pickled"):
        pickle.dumps(key)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"method": ld.SemanticAnatomy(l=2, e=1, tree=patients_tree())}, "le-anatomy: tree must be a text"),
        ({"hierarchies": {"age": patients_tree()}}, "the hierarchy of 'age' must be in a file"),
        ({"sensitive": ld.Sensitive("disease", domain=["a", None], missing="category")}, "the domain of 'disease'"),
    ],
)
def test_what_no_file_can_say_is_refused_when_saved(folder: Path, given: dict[str, Any], sentence: str) -> None:
    publication = ld.Publication(**{**COLUMNS, "method": "bsgi:l=2", **given})

    with pytest.raises(ld.ParameterError, match=sentence):
        publication.save(folder / "saved.toml")

    assert not (folder / "saved.toml").exists()


def test_levels_are_the_same_in_python_on_the_command_line_and_in_files(folder: Path) -> None:
    patients_tree().save(folder / "jobs.csv")
    texts = {
        "age": "width:5,bottom:20,top:90",
        "zip": "prefix:3",
        "born": "year,bottom:1930-01-01",
        "job": "jobs.csv:2",
    }
    common: dict[str, Any] = {"quasi": list(texts), "sensitive": "disease", "method": "randomized-addition:l=2"}
    asked = ld.Publication(**common, levels=texts)
    saved = ld.Publication(**common, levels=asked.levels)
    saved.save("saved.toml")
    described = tomllib.loads(Path("saved.toml").read_text(encoding="utf-8"))
    assert described["table"]["publish"] == texts
    jsonschema.validate(described, SCHEMA)
    assert ld.Publication.load("saved.toml") == asked == pickle.loads(pickle.dumps(asked))  # noqa: S301 - our own
    words = asked.command() or []
    assert [words[at + 1] for at, word in enumerate(words) if word == "--publish"] == [
        f"{name}={text}" for name, text in texts.items()
    ]


@pytest.mark.parametrize("text", ["century", "width:0"])
def test_every_face_says_what_is_wrong_with_a_level(folder: Path, text: str) -> None:
    Path("t.csv").write_text("age,disease\n30,flu\n40,cut\n", encoding="utf-8")
    flags = ["--quasi", "age", "--sensitive", "disease", "-l", "2", "--publish", f"age={text}"]
    told = CliRunner().invoke(cli, ["anonymize", "t.csv", *flags, "-o", "r"])
    assert told.exit_code == 2
    assert "--publish" in told.output
    described = {"table": {"quasi": ["age"], "publish": {"age": text}}, "sensitive": {"disease": {"l": 2}}}
    with pytest.raises(ld.ParameterError, match=r"table\.publish"):
        ld.Policy.from_dict(described)
