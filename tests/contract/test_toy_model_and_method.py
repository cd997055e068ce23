"""A model and methods that a stranger registers work everywhere: one file, one registration, no list elsewhere."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.catalog import CATALOG, OPTIONS
from ldiversity.faces.cli import cli
from ldiversity.methods import METHODS, GroupingMethod, Method
from ldiversity.models import MODELS, Measured
from ldiversity.release import Form
from ldiversity.schema import Attribute, Role, Schema

TOYS = Path(__file__).parent / "toys"
ROLES = ("--quasi", "age,sex", "--sensitive", "disease")
METHOD_TOYS = ["toy-blocks", "toy-thirds"]
POLICY = """[table]
file = "people.csv"
quasi = ["age", "sex"]

[sensitive.disease]

[method]
name = "toy-blocks"
size = 6

[output]
folder = "release"
"""
ANNOUNCED = """[ldiversity.models]
toy-minority = toy_model:Minority

[ldiversity.methods]
toy-blocks = toy_method:Blocks
toy-thirds = toy_method:Thirds
"""


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(TOYS))
    model, methods = importlib.import_module("toy_model"), importlib.import_module("toy_method")
    with ExitStack() as stack:
        stack.enter_context(MODELS.registered("toy-minority", model.Minority))
        stack.enter_context(METHODS.registered("toy-blocks", methods.Blocks))
        stack.enter_context(METHODS.registered("toy-thirds", methods.Thirds))
        yield


@pytest.fixture(scope="module")
def people() -> pa.Table:
    drawn = np.random.default_rng(5)
    return pa.table(
        {
            "age": drawn.integers(20, 90, 200),
            "sex": drawn.choice(["f", "m"], 200),
            "disease": drawn.choice(["flu", "cold", "cut", "gout", "sty"], 200),
        }
    )


@pytest.fixture
def table(people: pa.Table, tmp_path: Path) -> Path:
    people.to_pandas().to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def publish(people: pa.Table, method: Method) -> ld.Release:
    return ld.anonymize(people, quasi=["age", "sex"], sensitive="disease", method=method)


def run(*words: object) -> Any:
    return CliRunner().invoke(cli, [str(word) for word in words], prog_name="ldiversity")


# --- the model --------------------------------------------------------------------------------------


@pytest.fixture
def kept(people: pa.Table, tmp_path: Path) -> ld.ClassRelease:
    """A release that claims the toy model besides another one, read from its folder."""
    publish(people, ld.Mondrian(model=["toy-minority:3", "k-anonymity:5"])).save(tmp_path / "release")
    read = ld.load_release(tmp_path / "release")
    assert isinstance(read, ld.ClassRelease)
    return read


def test_a_claimed_toy_model_is_verified_and_audited(kept: ld.ClassRelease) -> None:
    kept.verify()
    found = ld.audit(kept)

    assert [(one.model.text, one.verdict.passed) for one in found.asked] == [
        ("toy-minority:3", True),
        ("k-anonymity:5", True),
    ]
    figure = found.models["minority_m"]
    assert (figure.passed, figure.required, figure.meaning) == (
        True,
        ("toy-minority:3",),
        "records outside the majority of the worst class",
    )
    assert isinstance(figure.value, int)
    assert figure.value >= 3


def test_a_toy_model_is_asked_for_by_its_text(people: pa.Table) -> None:
    found = ld.audit(people, quasi=["age", "sex"], sensitive="disease", models=["toy-minority:2", "distinct:2"])

    assert found.passed is False
    assert "--method bsgi -l 3" in " ".join(found.advice.words)  # classes of three different values
    assert ld.check("toy-minority:2", publish(people, ld.BSGI(l=3))).passed


def test_a_toy_model_judges_sets(people: pa.Table) -> None:
    assert ld.audit(publish(people, ld.RandomizedAddition(l=3)), models="toy-minority:2").passed


def test_a_report_shows_a_toy_model(kept: ld.ClassRelease, people: pa.Table) -> None:
    for page in (ld.user_report(kept).to_html(), ld.holder_report(kept, people).to_html()):
        assert "at least 3 records do not have the most frequent value" in page
        assert "toy-minority:3" in page


def test_a_broken_toy_model_is_never_written(tmp_path: Path) -> None:
    domain = ld.Domain(("a", "b"))
    release = ld.ClassRelease.in_memory(
        schema=Schema((Attribute("age", Role.QUASI, "int64"), Attribute("v", Role.SENSITIVE, "string", domain))),
        layout="generalized",
        rules={"v": [ld.KAnonymity(2), MODELS["toy-minority"].from_text(["1"])]},
        class_of=np.array([0, 0, 1, 1], dtype=np.int32),
        values={"v": np.array([0, 1, 1, 1], dtype=np.int32)},
        regions=pa.table({"age": [{"low": 1, "high": 2}, {"low": 3, "high": 4}]}),
        forms={"age": Form("interval", low=1, high=4)},
    )

    with pytest.raises(ld.ClaimError, match="at least 1 records do not have the most frequent value"):
        release.save(tmp_path / "release")
    assert not (tmp_path / "release").exists()
    assert not ld.audit(release).passed


def test_commands_take_a_toy_model(table: Path, tmp_path: Path) -> None:
    asked = ("--method", "incognito", "--model", "toy-minority:2", "--model", "k-anonymity:4")
    for words in (("plan", table, *ROLES, *asked), ("anonymize", table, *ROLES, *asked, "-o", tmp_path / "release")):
        done = run(*words)
        assert done.exit_code == 0, done.output
        assert "at least 2 records do not have the most frequent value" in " ".join(done.output.split())
    assert run("audit", tmp_path / "release", "--model", "toy-minority:2").exit_code == 0
    assert run("audit", tmp_path / "release", "--model", "toy-minority:90").exit_code == 1
    assert "toy-minority" in run("audit", tmp_path / "release", "--model", "minorities:2").output


def test_a_comparison_takes_a_toy_model(people: pa.Table) -> None:
    found = ld.compare(
        people,
        quasi="age",
        sensitive="disease",
        methods=["mondrian"],
        l=[2],
        models=["toy-minority:2"],
        queries=5,
        seed=1,
    )

    assert "mondrian model=toy-minority:2" in [row.label for row in found.rows if row.measured]


# --- the methods ------------------------------------------------------------------------------------


@pytest.fixture(params=METHOD_TOYS)
def toy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_toy_method_is_in_the_catalog(toy: str) -> None:
    entry = CATALOG[toy]

    assert entry.family == {"toy-blocks": "classes", "toy-thirds": "sets"}[toy]
    assert entry.summary == (METHODS[toy].__doc__ or "").strip()
    assert [name for name in entry.options if name not in OPTIONS] == []


def test_what_a_toy_method_publishes_is_read_audited_reported_estimated_and_attacked(
    people: pa.Table, toy: str, tmp_path: Path
) -> None:
    publish(people, METHODS[toy]()).save(tmp_path / "release")
    read = ld.load_release(tmp_path / "release")

    read.verify()
    assert ld.audit(read).passed
    assert "Promised" in ld.user_report(read).to_html()
    assert "Promised" in ld.holder_report(read, people).to_html()
    assert ld.estimate(read).count.sum() == pytest.approx(200)
    assert ld.attack(read, people, attacks=["homogeneity"]).results


def test_a_toy_method_publishes_a_table_without_numbers(people: pa.Table, toy: str) -> None:
    ld.anonymize(people, quasi="sex", sensitive="disease", method=METHODS[toy]()).verify()


def test_a_toy_method_is_planned(people: pa.Table, toy: str) -> None:
    answer = ld.plan(people, quasi=["age", "sex"], sensitive="disease", method=METHODS[toy]())

    assert answer.feasible
    assert answer.to_dict()


def test_a_comparison_runs_toy_methods_once(people: pa.Table) -> None:
    found = ld.compare(
        people, quasi="age", sensitive="disease", methods=[*METHOD_TOYS, "anatomy"], l=[2, 3], queries=5, seed=1
    )

    assert [row.label for row in found.rows] == ["toy-blocks", "toy-thirds", "anatomy l=2", "anatomy l=3"]
    assert all(row.measured for row in found.rows)
    assert found.rows[0].words == ("--method", "toy-blocks")


def test_the_command_compare_gives_options_to_a_toy_method(table: Path) -> None:
    done = run("compare", table, *ROLES, "--methods", "toy-blocks", "--size", 6, "--queries", 5, "--seed", 1, "--json")

    assert done.exit_code in {0, 1}, done.output
    assert [row["label"] for row in json.loads(done.stdout)["rows"]] == ["toy-blocks size=6"]


def test_a_comparison_gives_options_to_a_toy_method(people: pa.Table) -> None:
    found = ld.compare(
        people, quasi="age", sensitive="disease", methods=["toy-blocks"], options={"size": 6}, queries=5, seed=1
    )

    assert found.rows[0].words == ("--method", "toy-blocks", "--size", "6")


@pytest.mark.parametrize(
    ("words", "size"),
    [
        (("--method", "toy-blocks", "--size", 5, "--descending"), 5),
        (("--method", "toy-blocks"), 4),
        (("--method", "toy-thirds"), None),
    ],
)
def test_commands_take_a_toy_method(table: Path, tmp_path: Path, words: tuple[object, ...], size: int | None) -> None:
    assert run("plan", table, *ROLES, *words).exit_code == 0
    done = run("anonymize", table, *ROLES, *words, "-o", tmp_path / "release")

    assert done.exit_code == 0, done.output
    claim = ld.load_release(tmp_path / "release").claim("disease")
    assert size is None or claim.rule == ld.KAnonymity(size)  # type: ignore[union-attr]
    assert run("report", tmp_path / "release", "-o", tmp_path / "report.html").exit_code == 0
    assert run("estimate", tmp_path / "release").exit_code == 0


def test_help_names_a_toy_method_and_its_options() -> None:
    said = " ".join(run("anonymize", "--help").output.split())

    assert (METHODS["toy-blocks"].__doc__ or "") in said
    assert "Records in a block. For toy-blocks." in said


def test_a_wrong_option_of_a_toy_method_is_one_sentence(table: Path, tmp_path: Path) -> None:
    done = run("anonymize", table, *ROLES, "--method", "toy-blocks", "-l", 3, "-o", tmp_path / "release")

    assert done.exit_code == 2
    assert "not an option of this method" in done.output


@dataclass(frozen=True)
class Greedy(GroupingMethod):
    """Options called like parameters of commands."""

    name: ClassVar[str] = "greedy"
    layout: ClassVar[str] = "generalized"

    output: int = 3
    table: int = 1
    quasi: float = 0.5


def test_options_that_are_called_like_those_of_a_command_change_nothing_for_others(table: Path, tmp_path: Path) -> None:
    with METHODS.registered("greedy", Greedy), METHODS.registered("undescribed", object):
        published = run("anonymize", table, *ROLES, "--method", "bsgi", "-l", 2, "-o", tmp_path / "release")
        compared = run("compare", table, *ROLES, "--methods", "anatomy", "-l", 2, "--queries", 3)

    assert published.exit_code == 0, published.output
    assert compared.exit_code == 0, compared.output
    assert (tmp_path / "release" / "release.json").exists()


def test_the_least_number_of_an_option_is_checked(table: Path, tmp_path: Path) -> None:
    words = ("anonymize", table, *ROLES, "--method", "toy-blocks", "--size", 1, "-o", tmp_path / "release")

    done = CliRunner().invoke(cli, [str(word) for word in words])

    assert done.exit_code == 2
    assert "--size" in done.output
    assert not (tmp_path / "release").exists()


def test_a_publication_with_a_toy_method_is_saved_and_loaded(people: pa.Table, tmp_path: Path) -> None:
    asked = ld.Publication(quasi=["age", "sex"], sensitive="disease", method="toy-blocks:size=6,descending=yes")
    asked.save(tmp_path / "asked.toml")
    read = ld.Publication.load(tmp_path / "asked.toml")

    assert read == asked
    assert read.publish(people).claim("disease").rule == ld.KAnonymity(6)  # type: ignore[union-attr]


def test_a_publication_keeps_several_promises(people: pa.Table, tmp_path: Path) -> None:
    method = ld.Mondrian(l=2, model=["toy-minority:2", "k-anonymity:4"])
    asked = ld.Publication(quasi=["age", "sex"], sensitive="disease", method=method)
    asked.save(tmp_path / "asked.toml")
    read = ld.Publication.load(tmp_path / "asked.toml")

    assert [claim.model for claim in read.publish(people).claims] == ["frequency", "toy-minority", "k-anonymity"]


# --- every entry ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*MODELS, "toy-minority"])
def test_every_model_says_what_it_measures(name: str) -> None:
    model = MODELS[name]
    figures = [one.figure for one in model.survey()] or [model.measured]

    assert model.name == name
    assert all(isinstance(figure, Measured) and figure.name.isidentifier() and figure.meaning for figure in figures)
    assert model.example.startswith(name) or not model.example
    assert isinstance(model.monotone, bool)


@pytest.mark.parametrize("name", [*METHODS, *METHOD_TOYS])
def test_every_method_says_its_family_and_its_strength(name: str) -> None:
    method = METHODS[name]

    assert method.name == name
    assert method.family == CATALOG[name].family
    assert method.strength is None or method.strength in CATALOG[name].options


# --- from a package of its own ----------------------------------------------------------------------


@pytest.fixture
def elsewhere(tmp_path: Path) -> dict[str, str]:
    """The environment of a program in which a package announces the toys."""
    folder = tmp_path / "site"
    announced = folder / "toys-1.0.dist-info"
    announced.mkdir(parents=True)
    (announced / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n", "utf-8")
    (announced / "entry_points.txt").write_text(ANNOUNCED, "utf-8")
    for file in TOYS.glob("*.py"):
        (folder / file.name).write_bytes(file.read_bytes())
    source = str(Path(ld.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), source, *filter(None, sys.path)])}


IN_ONE_PROCESS = """
import json, sys
from click.testing import CliRunner
from ldiversity.faces.cli import cli
done = [CliRunner().invoke(cli, words) for words in json.loads(sys.argv[1])]
print(json.dumps([[one.exit_code, one.stdout, one.stderr] for one in done]))
"""


def call(environment: dict[str, str], *commands: tuple[object, ...]) -> Iterator[str]:
    """What each command prints, one after the other in one process of its own; all must end well."""
    words = json.dumps([list(map(str, command)) for command in commands])
    run = [sys.executable, "-c", IN_ONE_PROCESS, words]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    for code, printed, errors in json.loads(done.stdout):
        assert code == 0, errors
        yield printed


def test_a_package_announces_its_model_and_method(elsewhere: dict[str, str], table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    both = ("--method", "mondrian", "--model", "toy-minority:2", "--model", "k-anonymity:4")

    _, audited, *_ = call(
        elsewhere,
        ("anonymize", table, *ROLES, "--method", "toy-blocks", "--size", 7, "-o", folder),
        ("audit", folder, "--model", "toy-minority:1", "--json"),
        ("anonymize", table, *ROLES, *both, "-o", tmp_path / "both"),
        ("audit", tmp_path / "both"),
    )

    assert json.loads(audited)["asked"][0]["text"] == "toy-minority:1"


def test_a_policy_names_a_toy_method(elsewhere: dict[str, str], table: Path, tmp_path: Path) -> None:
    assert table.exists()
    (tmp_path / "policy.toml").write_text(POLICY, "utf-8")
    assert run("plan", "--policy", tmp_path / "policy.toml").exit_code == 0

    assert list(call(elsewhere, ("anonymize", "--policy", tmp_path / "policy.toml")))
    assert ld.load_release(tmp_path / "release").claim("disease").rule == ld.KAnonymity(6)  # type: ignore[union-attr]


def test_a_claim_of_a_model_that_is_not_installed_is_refused(kept: ld.ClassRelease, tmp_path: Path) -> None:
    assert kept.claims
    withdrawn = MODELS["toy-minority"]
    MODELS.withdraw("toy-minority")
    try:
        with pytest.raises(ld.ReleaseFormatError, match="known privacy model"):
            ld.load_release(tmp_path / "release")
    finally:
        MODELS.register("toy-minority", withdrawn)
