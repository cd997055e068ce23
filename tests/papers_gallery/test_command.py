from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest
from matplotlib.figure import Figure

from papers import STUDIES, Exhibit, Setting, Study, Verdict, command

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Result:
    exit_code: int
    stdout: str
    stderr: str


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def invoke(*words: object) -> Result:
        return Result(command.run([str(word) for word in words]), *capsys.readouterr())

    return invoke


class Small(Study):
    paper: ClassVar[str] = "000"
    title: ClassVar[str] = "A small paper"

    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        data = pa.table({"l": [2], "quick": [setting.quick]})
        yield Exhibit(
            "000", "Fig. 1", "A title", data, Figure, "A picture", Verdict("agrees", "It comes out."), "It is so."
        )


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("papers.run.load_study", lambda _: Small())


def test_verdicts_are_printed(run: Run) -> None:
    result = run("000")

    assert result.exit_code == 0, result.stderr
    assert "- Fig. 1 (agrees): It comes out." in result.stdout
    assert "Nothing was written" in result.stdout


def test_the_folder_gets_an_index_page(run: Run, tmp_path: Path) -> None:
    result = run("000", "--quick", "-o", tmp_path / "rerun")

    assert result.exit_code == 0, result.stderr
    assert "A small paper" in (tmp_path / "rerun" / "index.html").read_text()


def test_json_holds_the_data(run: Run) -> None:
    found = json.loads(run("000", "--quick", "--json").stdout)

    assert found["studies"][0]["exhibits"][0]["rows"] == [{"l": 2, "quick": True}]


class Busy(Small):
    """Keeps a child process busy for a fifth of a second."""

    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        program = "import time\nwhile time.process_time() < 0.2: pass"
        subprocess.run([sys.executable, "-c", program], check=True)
        yield from super().exhibits(setting)


def test_processor_time_is_printed_with_that_of_children_and_is_in_no_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("papers.run.load_study", lambda _: Busy())

    shown = run("000", "-o", tmp_path / "rerun").stdout
    found = json.loads(run("000", "--json").stdout)["cpu_seconds"]

    assert re.search(r"^CPU seconds: 000 [\d.,]+; in all, with pictures and pages, [\d.,]+\.$", shown, re.MULTILINE)
    assert 0.2 <= found["000"] <= found["all"]
    assert not [file for file in (tmp_path / "rerun").rglob("*.*") if b"CPU" in file.read_bytes()]
    assert "cpu" not in json.loads((tmp_path / "rerun" / "reproduction.json").read_text())


def test_all_papers_are_run_unless_some_are_named(run: Run) -> None:
    found = json.loads(run("--json", "--workers", "1").stdout)

    assert [study["paper"] for study in found["studies"]] == ["000", "002", "003", "004", "001"]


def test_a_folder_with_other_things_is_refused_before_anything_is_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")

    result = run("000", "-o", tmp_path, "--overwrite")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "nothing else" in result.stderr


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")

    result = run("000", "-o", tmp_path / "letter.txt" / "rerun")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "cannot be written" in result.stderr


@pytest.mark.parametrize("content", [b"x\n", gzip.compress(b"name,SECRET\n1,2\n")], ids=["not zipped", "other columns"])
def test_a_file_that_is_no_such_table_is_one_line_on_stderr(run: Run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "adult.csv.gz").write_bytes(content)

    result = run("000", "--data", tmp_path)

    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert ("adult.csv.gz" in result.stderr, "SECRET" in result.stderr) == (True, False)


class Lacking(Small):
    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        yield from super().exhibits(setting)
        setting.file("missing.csv")


class Nothing(Small):
    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        setting.file("missing.csv")
        yield from super().exhibits(setting)


def test_without_the_data_nothing_is_run_and_nothing_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("papers.run.load_study", lambda _: Nothing())

    result = run("002", "--data", tmp_path, "-o", tmp_path / "rerun")

    assert (result.exit_code, (tmp_path / "rerun").exists()) == (2, False)
    assert f"the data folder '{tmp_path}' does not hold it" in result.stderr


def test_what_could_be_run_is_shown_with_what_could_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("papers.run.load_study", lambda _: Lacking())

    result = run("000", "--data", tmp_path)

    assert (result.exit_code, "Not run, or not to the end: 000." in result.stdout) == (0, True)


class StandIn(Small):
    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        yield from (replace(one, stand_in="Others stand for them.") for one in super().exhibits(setting))


def test_stand_in_data_are_named_beside_the_verdict(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("papers.run.load_study", lambda _: StandIn())

    printed = run("000").stdout

    assert "agrees, stand-in data" in printed
    assert "- Stand-in data: Others stand for them." in printed


def test_an_earlier_rerun_is_overwritten_on_request_alone(run: Run, tmp_path: Path) -> None:
    run("000", "-o", tmp_path / "rerun")

    refused = run("000", "-o", tmp_path / "rerun")
    replaced = run("000", "-o", tmp_path / "rerun", "--overwrite")

    assert (refused.exit_code, replaced.exit_code) == (2, 0)
    assert "--overwrite" in refused.stderr


def test_an_unknown_paper_is_one_line_on_stderr(run: Run) -> None:
    result = run("042")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "'042'" in result.stderr


@pytest.mark.parametrize("words", [["--workers", "0"], ["--nonsense"], ["000", "--data", "nowhere"]])
def test_a_wrong_option_is_one_line_on_stderr(run: Run, words: list[str]) -> None:
    result = run(*words)

    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert words[-2 if len(words) > 1 else 0] in result.stderr


def test_help_names_every_paper(run: Run) -> None:
    result = run("--help")

    assert (result.exit_code, result.stderr) == (0, "")
    assert [paper for paper in STUDIES if paper not in result.stdout] == []


class Interrupted(Small):
    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        yield from super().exhibits(setting)
        raise KeyboardInterrupt


def test_an_interruption_leaves_nothing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("papers.run.load_study", lambda _: Interrupted())

    result = run("000", "-o", tmp_path / "rerun")

    assert (result.exit_code, list(tmp_path.iterdir())) == (130, [])
    assert "Traceback" not in result.stderr


TERMINATED = """
import os, signal, sys
from papers import command, files

def stop(exhibit, folder):
    (folder / "half").write_text("written")
    os.kill(os.getpid(), signal.SIGTERM)

from tests.papers_gallery.test_command import Small
import papers.run
papers.run.load_study = lambda _: Small()
papers.run.write_exhibit = stop
sys.argv = ["papers", "000", "-o", sys.argv[1], "--workers", "1", "--overwrite"]
command.main()
"""


def test_sigterm_leaves_the_earlier_rerun_and_nothing_else(run: Run, tmp_path: Path) -> None:
    run("000", "-o", tmp_path / "rerun")
    before = {path: path.read_bytes() for path in (tmp_path / "rerun").rglob("*.*")}

    ended = subprocess.run(
        [sys.executable, "-c", TERMINATED, str(tmp_path / "rerun")], cwd=ROOT, capture_output=True, check=False
    )

    assert (ended.returncode, [path.name for path in tmp_path.iterdir()]) == (143, ["rerun"]), ended.stderr
    assert {path: path.read_bytes() for path in (tmp_path / "rerun").rglob("*.*")} == before
