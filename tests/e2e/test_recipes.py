"""Every command of the recipes runs, in their order, and so do their Python and their SQL; their YAML is read."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import sqlite3
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

from ldiversity.datasets import write_patients
from ldiversity.faces.cli import cli

PAGE = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_every_command_of_the_recipes_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openpyxl", reason="openpyxl is not installed: the recipe for Excel is not run without it")
    monkeypatch.chdir(tmp_path)
    write_patients(".")
    (policy,) = blocks("toml")
    Path("policy.toml").write_text(policy, encoding="utf-8")

    commands = [line.removeprefix("$ ldiversity ") for block in blocks("console") for line in block.splitlines()]
    for command in commands:
        done = CliRunner().invoke(cli, shlex.split(command), prog_name="ldiversity")
        assert done.exit_code == 0, f"{command}\n{done.output}"
    exec(next(block for block in blocks("python") if "load_release" in block))  # noqa: S102 - our own page

    first, second = ({path.name: path.read_bytes() for path in Path(name).iterdir()} for name in ("first", "second"))
    assert first == second
    assert Path("estimate.xlsx").stat().st_size
    assert Path("release.xlsx").stat().st_size


def run(command: str) -> int:
    return CliRunner().invoke(cli, shlex.split(command.removeprefix("ldiversity ")), prog_name="ldiversity").exit_code


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the table of the recipes, in which commands run."""
    monkeypatch.chdir(tmp_path)
    write_patients(".")
    return tmp_path


def test_every_python_of_the_recipes_can_be_parsed() -> None:
    found = blocks("python")

    assert len(found) > 1
    for block in found:
        ast.parse(block)


def test_the_dag_is_whole_and_its_task_publishes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow is not installed: its modules stand in, and take what the recipe imports and gives."""
    given: list[dict[str, Any]] = []
    standing_in = {"airflow.sdk": "DAG", "airflow.providers.standard.operators.bash": "BashOperator"}
    takes = {"DAG": lambda name, **_: nullcontext(name), "BashOperator": lambda **words: given.append(words)}
    for module, name in standing_in.items():
        parts = module.split(".")
        for end in range(1, len(parts) + 1):
            monkeypatch.setitem(sys.modules, ".".join(parts[:end]), ModuleType(parts[end - 1]))
        setattr(sys.modules[module], name, takes[name])

    exec(next(block for block in blocks("python") if "airflow" in block), {})  # noqa: S102 - our own page

    (task,) = given
    shutil.copy("patients.csv", "export.csv")
    (policy,) = blocks("toml")
    Path("policy.toml").write_text(policy, encoding="utf-8")
    assert run("key new holder.key") == 0
    command = task["bash_command"].replace("{{ ds_nodash }}", "20260101")
    assert run(command) == 0
    assert run(command) == 2  # a second run of the same month
    assert (folder / "releases" / "20260101" / "release.json").is_file()


def test_every_yaml_of_the_recipes_can_be_read_and_calls_commands() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: the YAML of recipes is not read without it")

    workflow, hooks = (yaml.safe_load(block) for block in blocks("yaml"))

    commands = [step["run"] for step in workflow["jobs"]["claims"]["steps"] if "run" in step]
    (hook,) = hooks["repos"][0]["hooks"]
    audits = [one for one in (*commands, hook["entry"]) if "audit" in one]
    assert [one.split()[:3] for one in audits] == [["ldiversity", "audit", "release"]] * 2
    assert re.match(hook["files"], "release/release.json")


@pytest.mark.usefixtures("folder")
def test_a_gate_ends_with_0_1_or_2() -> None:
    assert run("anonymize patients.csv --quasi age,sex --sensitive disease --drop name,zip,job -l 3 -o release") == 0
    gate, of_job = (
        next(line for line in PAGE.splitlines() if line.startswith(start))
        for start in ("$ ldiversity audit release", "ldiversity audit patients.csv")
    )

    assert run(gate.removeprefix("$ ")) == 0
    assert run(f"{gate.removeprefix('$ ')} --model distinct:4") == 1
    assert run(of_job) == 0
    assert run(of_job.replace("distinct:3", "distinct:1000")) == 1
    Path("release/release.json").write_text("{")
    assert run(gate.removeprefix("$ ")) == 2
    Path("patients.csv").unlink()
    assert run(of_job) == 2


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("holds", [True, False])
def test_the_query_of_the_dbt_test_fails_where_the_audit_does(*, holds: bool) -> None:
    rows = pyarrow.csv.read_csv("patients.csv").select(["sex", "disease"])
    if not holds:  # a third sex, with two diseases
        few = pa.table({"sex": ["other"] * 4, "disease": ["asthma", "flu"] * 2})
        rows = pa.concat_tables([rows, few])
        pyarrow.csv.write_csv(rows, "patients.csv")
    (query,) = blocks(r"sql\+jinja")
    with sqlite3.connect(":memory:") as warehouse:
        warehouse.execute("create table patients (sex text, disease text)")
        warehouse.executemany("insert into patients values (:sex, :disease)", rows.to_pylist())
        failing = warehouse.execute(query.replace("{{ ref('patients') }}", "patients")).fetchall()
    warehouse.close()

    assert failing == ([] if holds else [("other", 2)])
    audit = "audit patients.csv --quasi sex --sensitive disease --model distinct:3"
    assert audit in PAGE
    assert run(audit) == (0 if holds else 1)
