from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ldiversity.faces.cli import cli

Run = Callable[..., Result]

ROWS = "age\tdisease\n1\tflu\n2\tcold\n3\tcut\n4\tflu\n"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def piped(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], input=ROWS, prog_name="ldiversity")


def test_a_table_is_described_from_stdin(temporary: Path) -> None:
    result = piped("describe", "-", "--read-as", "tsv", "--json")

    found = json.loads(result.stdout)
    assert (found["table"], found["rows"], [column["name"] for column in found["columns"]]) == (
        "-",
        4,
        ["age", "disease"],
    )
    assert found["next"].startswith("ldiversity plan - --read-as tsv ")
    assert list(temporary.iterdir()) == []


def test_a_table_is_planned_from_stdin() -> None:
    result = piped("plan", "-", "--read-as", "tsv", "--sensitive", "disease", "-l", 2, "--json")

    assert json.loads(result.stdout)["records"] == 4


def test_a_table_is_published_from_stdin(temporary: Path, tmp_path: Path) -> None:
    result = piped(
        "anonymize", "-", "--read-as", "tsv", "--sensitive", "disease", "-l", 2, "-o", tmp_path / "r", "--json"
    )

    assert json.loads(result.stdout)["records"] == 4
    assert list(temporary.iterdir()) == []


def test_nothing_of_stdin_is_left_behind_by_a_failure(temporary: Path, tmp_path: Path) -> None:
    result = piped("anonymize", "-", "--read-as", "tsv", "--sensitive", "nobody", "-l", 2, "-o", tmp_path / "r")

    assert result.exit_code == 2
    assert list(temporary.iterdir()) == []


def test_stdin_needs_a_word_for_what_it_is(run: Run) -> None:
    assert "--read-as must be given for stdin." in run("describe", "-").stderr


@pytest.mark.parametrize("name", ["table.txt", "table", "table.csv"])
def test_a_file_is_read_as_what_it_is_said_to_be(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(ROWS)

    found = json.loads(run("describe", tmp_path / name, "--read-as", "tsv", "--json").stdout)

    assert (found["table"], found["rows"], len(found["columns"])) == (name, 4, 2)


def test_a_packed_file_is_unpacked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "table.txt.gz").write_bytes(gzip.compress(ROWS.encode()))

    found = json.loads(run("describe", tmp_path / "table.txt.gz", "--read-as", "tsv", "--json").stdout)

    assert found["rows"] == 4


def test_without_links_a_file_is_copied(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    (tmp_path / "table.txt").write_text(ROWS)
    monkeypatch.setattr(Path, "symlink_to", refuse)

    assert run("describe", tmp_path / "table.txt", "--read-as", "tsv").exit_code == 0


def test_a_file_that_does_not_exist_is_named(run: Run, tmp_path: Path) -> None:
    result = run("describe", tmp_path / "nobody.txt", "--read-as", "csv")

    assert result.exit_code == 2
    assert "nobody.txt' does not exist" in result.stderr
