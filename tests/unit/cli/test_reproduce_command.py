from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest
from click.testing import Result
from matplotlib.figure import Figure

from ldiversity.reproduction import Exhibit, Setting, Study

Run = Callable[..., Result]


class Small(Study):
    paper: ClassVar[str] = "000"
    title: ClassVar[str] = "A small paper"

    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        data = pa.table({"l": [2], "quick": [setting.quick]})
        yield Exhibit("000", "Fig. 1", "A title", data, Figure, "A picture", "agrees", "It comes out.", "It is so.")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.reproduction._run.load_study", lambda _: Small())


def test_verdicts_are_printed(run: Run) -> None:
    result = run("reproduce", "000")

    assert result.exit_code == 0, result.stderr
    assert "- Fig. 1: It comes out." in result.stdout
    assert "Nothing was written" in result.stdout


def test_the_folder_gets_an_index_page(run: Run, tmp_path: Path) -> None:
    result = run("reproduce", "000", "--quick", "-o", tmp_path / "rerun")

    assert result.exit_code == 0, result.stderr
    assert "A small paper" in (tmp_path / "rerun" / "index.html").read_text()


def test_json_holds_the_data(run: Run) -> None:
    found = json.loads(run("reproduce", "000", "--quick", "--json").stdout)

    assert found["studies"][0]["exhibits"][0]["rows"] == [{"l": 2, "quick": True}]


def test_all_papers_are_run_unless_some_are_named(run: Run) -> None:
    found = json.loads(run("reproduce", "--json").stdout)

    assert [study["paper"] for study in found["studies"]] == ["000", "002", "003", "004", "001"]


def test_a_folder_with_other_things_is_refused_before_anything_is_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")

    result = run("reproduce", "000", "-o", tmp_path, "--overwrite")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "nothing else" in result.stderr


def test_an_earlier_rerun_is_overwritten_on_request_alone(run: Run, tmp_path: Path) -> None:
    run("reproduce", "000", "-o", tmp_path / "rerun")

    refused = run("reproduce", "000", "-o", tmp_path / "rerun")
    replaced = run("reproduce", "000", "-o", tmp_path / "rerun", "--overwrite")

    assert (refused.exit_code, replaced.exit_code) == (2, 0)
    assert "--overwrite" in refused.stderr


def test_an_unknown_paper_is_one_line_on_stderr(run: Run) -> None:
    result = run("reproduce", "042")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "'042'" in result.stderr
