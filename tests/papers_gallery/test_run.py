from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import ldiversity as ld
from papers import STUDIES, Exhibit, Rerun, Setting, Study, StudyResult, attempt, load_study, rerun
from papers.verdicts import Outcome, Verdict


def exhibit(item: str = "Fig. 1", outcome: Outcome = "agrees", **changed: str) -> Exhibit:
    texts = {"title": "A title", "alt": "A picture", "claim": "It is so.", **changed}
    data = pa.table({"l": [2, 3], "error": [0.5, 0.25], "note": ["", "=1+1"]})
    return Exhibit(paper="000", item=item, data=data, draw=Figure, verdict=Verdict(outcome, "It comes out."), **texts)


class Small(Study):
    paper: ClassVar[str] = "000"
    title: ClassVar[str] = "A small paper"

    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        setting.progress(0.5, "half")
        yield exhibit()
        yield exhibit("Table 5", "better")


class Lacking(Small):
    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        yield exhibit()
        setting.file("missing.csv")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("papers.run.load_study", lambda _: Small())


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("papers.run.load_study", lambda _: Lacking())


def test_every_exhibit_has_its_data_and_one_picture_in_the_folder(small: None, tmp_path: Path) -> None:
    rerun("000", tmp_path / "rerun")

    assert {path.relative_to(tmp_path / "rerun").as_posix() for path in (tmp_path / "rerun").rglob("*.*")} == {
        "index.html",
        "index.md",
        "reproduction.json",
        "summary.md",
        *(f"000/{stem}.{kind}" for stem in ("fig-1", "table-5") for kind in ("csv", "png")),
    }


def test_the_stored_facts_are_those_of_the_result(small: None, tmp_path: Path) -> None:
    found = rerun("000", tmp_path / "rerun", quick=True)

    stored = json.loads((tmp_path / "rerun" / "reproduction.json").read_text())
    stored["studies"][0]["exhibits"][0]["rows"] = found.exhibits[0].data.to_pylist()  # these are in the CSV files
    stored["studies"][0]["exhibits"][1]["rows"] = found.exhibits[1].data.to_pylist()
    assert {name: stored[name] for name in found.to_dict()} == found.to_dict()
    assert (stored["format"], stored["version"]) == ("ldiversity-reproduction", 3)


def test_the_data_are_written_as_numbers_and_formulas_are_disarmed(small: None, tmp_path: Path) -> None:
    rerun("000", tmp_path / "rerun")

    with (tmp_path / "rerun" / "000" / "fig-1.csv").open() as stream:
        assert list(csv.reader(stream)) == [["l", "error", "note"], ["2", "0.5", ""], ["3", "0.25", "'=1+1"]]


def test_without_a_folder_nothing_is_drawn(small: None) -> None:
    found = rerun(["000"])

    assert [one.item for one in found.exhibits] == ["Fig. 1", "Table 5"]


def test_an_existing_rerun_is_kept_unless_it_may_be_overwritten(small: None, tmp_path: Path) -> None:
    rerun("000", tmp_path / "rerun")

    with pytest.raises(ld.ParameterError, match="must not exist yet"):
        rerun("000", tmp_path / "rerun")
    rerun("000", tmp_path / "rerun", quick=True, overwrite=True)

    assert json.loads((tmp_path / "rerun" / "reproduction.json").read_text())["quick"] is True


def test_a_folder_that_holds_anything_else_is_never_replaced(small: None, tmp_path: Path) -> None:
    rerun("000", tmp_path / "rerun")
    (tmp_path / "rerun" / "letter.txt").write_text("mine")

    with pytest.raises(ld.ParameterError, match="nothing else"):
        rerun("000", tmp_path / "rerun", overwrite=True)

    assert (tmp_path / "rerun" / "letter.txt").read_text() == "mine"


@pytest.mark.parametrize("facts", ["{}", "[1]", "no json", '{"format": "other", "files": ["a"]}'])
def test_a_folder_with_a_file_of_the_same_name_is_no_rerun(small: None, tmp_path: Path, facts: str) -> None:
    (tmp_path / "reproduction.json").write_text(facts)

    with pytest.raises(ld.ParameterError, match="earlier rerun"):
        rerun("000", tmp_path, overwrite=True)


def test_an_empty_folder_is_used(small: None, tmp_path: Path) -> None:
    rerun("000", tmp_path)

    assert (tmp_path / "index.html").is_file()


def test_a_failed_drawing_leaves_nothing_behind(tmp_path: Path) -> None:
    broken = attempt(exhibit, paper="000", item="a", title="b", claim="c")
    wrong = Exhibit(**{**vars(broken), "draw": lambda: 1 / 0})

    with pytest.raises(ZeroDivisionError):
        Rerun((StudyResult("000", "A paper", (wrong,)),)).save(tmp_path / "rerun")

    assert list(tmp_path.iterdir()) == []


def test_what_lacks_its_data_keeps_the_rest_and_says_why(
    lacking: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LDIVERSITY_DATA", raising=False)

    found = rerun("000", tmp_path / "rerun")

    assert len(found.exhibits) == 1
    assert "missing.csv is needed" in str(found.studies[0].problem)
    assert "missing.csv is needed" in (tmp_path / "rerun" / "index.html").read_text()


class Nothing(Small):
    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        setting.file("missing.csv")
        yield exhibit()


def test_where_nothing_can_be_run_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("papers.run.load_study", lambda _: Nothing())

    with pytest.raises(ld.UnsupportedError, match=r"Nothing was run: .*missing\.csv is needed"):
        rerun("000", tmp_path / "rerun", data=tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_the_folder_that_was_given_is_named_when_it_lacks_a_file(tmp_path: Path) -> None:
    with pytest.raises(ld.UnsupportedError, match=rf"{tmp_path.name}' does not hold it") as refusal:
        Setting(data=tmp_path).file("adult.csv.gz")

    assert "--data" in str(refusal.value.hint)


def test_the_variable_is_named_when_its_folder_lacks_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LDIVERSITY_DATA", str(tmp_path))

    with pytest.raises(ld.UnsupportedError, match="of LDIVERSITY_DATA does not hold it"):
        Setting().file("adult.csv.gz")


def test_a_file_that_is_no_such_table_is_refused_before_anything_is_run(small: None, tmp_path: Path) -> None:
    (tmp_path / "adult.csv.gz").write_bytes(b"x\n")

    with pytest.raises(ld.SchemaError, match=r"adult\.csv\.gz' cannot be read"):
        rerun("000", data=tmp_path)


class Unwanted(Small):
    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        raise AssertionError(setting)


@pytest.mark.parametrize("place", ["file.txt/rerun", "file.txt/deep/rerun", f"{'x' * 300}"])
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "file.txt").write_text("mine")
    monkeypatch.setattr("papers.run.load_study", lambda _: Unwanted())

    with pytest.raises(ld.StorageError, match="cannot be written"):
        rerun("000", tmp_path / place)

    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_an_exhibit_without_its_data_is_marked_and_has_no_files(tmp_path: Path) -> None:
    def make() -> Exhibit:
        Setting(data=tmp_path).file("adult.csv.gz")
        raise AssertionError

    one = attempt(make, paper="000", item="Fig. 6", title="A title", claim="It is so.")
    Rerun((StudyResult("000", "A paper", (one,)),)).save(tmp_path / "rerun")

    assert (one.outcome, "adult.csv.gz" in one.words, "\n" in one.words) == ("not run", True, False)
    assert not (tmp_path / "rerun" / "000").exists()


def test_progress_counts_all_papers(small: None) -> None:
    told: list[tuple[float, str]] = []

    rerun(["000", "003"], progress=lambda share, what: told.append((share, what)))

    assert told == [
        (0.0, "000: starting"), (0.25, "000: half"), (0.5, "000: done"),
        (0.5, "003: starting"), (0.75, "003: half"), (1.0, "003: done"),
    ]  # fmt: skip


@pytest.mark.parametrize("papers", ["005", [], ["000", "5"]])
def test_an_unknown_paper_is_refused(papers: str | list[str]) -> None:
    with pytest.raises(ld.ParameterError, match="papers must be 'all' or some of"):
        rerun(papers)


def test_the_command_runs_the_same_again(small: None) -> None:
    found = rerun("000", quick=True, seed=3)

    assert found.command == ["python", "-m", "papers", "000", "--quick", "--seed", "3"]


@pytest.mark.parametrize("paper", STUDIES)
def test_every_registered_study_is_there_under_its_number(paper: str) -> None:
    assert load_study(paper).paper == paper
