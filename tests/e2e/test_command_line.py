"""The commands as users type them, each in a process of its own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ldiversity.datasets import write_patients

CELL = "Zaphod-has-the-plague"


def ldiversity(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; from ldiversity.faces.cli import main; sys.argv[0] = 'ldiversity'; main()"
    words = [sys.executable, "-c", program, *shlex.split(line)]
    environment = {name: value for name, value in os.environ.items() if name != "LDIVERSITY_DEBUG"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("work")
    write_patients(path, n=500, seed=3)
    return path


@pytest.fixture(scope="module")
def published(folder: Path) -> Path:
    line = "anonymize patients.csv --quasi age,sex,zip --sensitive disease --drop name -l 3 -o release/"
    ran = ldiversity(line, folder)
    assert ran.returncode == 0, ran.stderr
    return folder


def test_describe_then_plan_as_it_suggests(folder: Path) -> None:
    described = json.loads(ldiversity("describe patients.csv --json", folder).stdout)

    planned = ldiversity(described["next"].removeprefix("ldiversity ") + " --json", folder)

    assert (planned.returncode, planned.stderr) == (0, "")
    assert json.loads(planned.stdout)["feasible"] is True


def test_anonymize_then_estimate(published: Path) -> None:
    ran = ldiversity("estimate release/ --by sex,age:10 --where 'zip != 01001' --json --plot out.png", published)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["by"] == ["sex", "age"]
    assert (published / "out.png").stat().st_size > 1000


def test_a_release_holds_neither_names_nor_dropped_columns(published: Path) -> None:
    content = b"".join(file.read_bytes() for file in (published / "release").iterdir())

    assert b"P000001" not in content
    assert b"retired" not in content


def test_semantic_diversity_from_a_policy_with_a_key(folder: Path) -> None:
    (folder / "policy.toml").write_text(
        """
        [table]
        file = "patients.csv"
        quasi = ["age", "sex"]
        drop = ["name"]
        [sensitive.disease]
        method = "semantic"
        l = 3
        d = 2
        distance = "tree:diseases.csv"
        [key]
        file = "holder.key"
        record_id = ["name"]
        """
    )
    assert ldiversity("key new holder.key", folder).returncode == 0

    ran = ldiversity("anonymize --policy policy.toml -o keyed --json", folder)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["claims"][0]["model"] == "semantic-diversity"


def test_an_infeasible_plan_is_exit_2(folder: Path) -> None:
    ran = ldiversity("plan patients.csv --sensitive disease -l 8 -d 3 --distance tree:diseases.csv", folder)

    assert ran.returncode == 2
    assert ran.stderr.startswith("Error: disease: ")
    assert "Traceback" not in ran.stderr


def test_an_error_is_one_line_without_traceback_or_cell(folder: Path) -> None:
    (folder / "bad.csv").write_text(f"age,disease\n1,{CELL}\n2,\n3,flu\n")

    ran = ldiversity("anonymize bad.csv --quasi age --sensitive disease -l 2 -o bad", folder)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("Error: bad.csv: column 'disease'")
    assert ran.stderr.count("\n") == 1
    assert CELL not in ran.stderr
    assert not (folder / "bad").exists()


def test_a_reader_that_goes_away_is_no_fault(published: Path) -> None:
    program = (
        "import sys; from ldiversity.faces.cli import main; sys.argv = ['ldiversity', 'estimate', 'release']; main()"
    )
    reading, writing = os.pipe()
    os.close(reading)

    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=published, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)

    assert ran.stderr == ""
    assert ran.returncode in {0, 1}


def test_the_installed_command_is_this_one() -> None:
    command = Path(sys.executable).with_name("ldiversity")

    ran = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)

    assert ran.stdout.startswith("ldiversity ")


def test_a_module_writes_the_schemas(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "ldiversity.faces.cli.schemas", str(tmp_path)], check=True)

    assert {"audit.schema.json", "publication.schema.json"} <= {file.name for file in tmp_path.iterdir()}
