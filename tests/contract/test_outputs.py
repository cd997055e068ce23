"""No command destroys what it reads, a release, or any file that it was not told to replace."""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.base.outputs import release_around
from ldiversity.errors import ParameterError
from ldiversity.faces.cli import cli
from ldiversity.faces.cli._paths import Output, PicturesFolder, Written
from tests.contract.test_every_command import COMMANDS, run, words_of

WRITING = [(path, one) for path, command in COMMANDS.items() for one in command.params if isinstance(one.type, Written)]
FILES = [(path, one) for path, one in WRITING if isinstance(one.type, Output)]
PATHS = [
    (path, one) for path, command in COMMANDS.items() for one in command.params if isinstance(one.type, click.Path)
]
DECIDES_ITSELF = {  # folders and files that may only be new, empty, or what the same command made
    ("compare", "folder"),
    ("anonymize", "output"),
    ("key new", "file"),
    ("collect new", "survey"),
    ("collect invite", "output"),
    ("collect export", "output"),
    ("demo", "folder"),
}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    table = pd.DataFrame({"age": [30, 31, 32, 33] * 10, "disease": ["a", "b", "c", "d", "e"] * 8})
    ld.anonymize(table, method=ld.RandomizedAddition(l=2), quasi="age", sensitive="disease", output=folder)
    return folder


def words_for(path: tuple[str, ...], parameter: click.Parameter, value: object) -> list[object]:
    """A command that writes to `value`; all its arguments name nothing that exists."""
    arguments = [one for one in COMMANDS[path].params if isinstance(one, click.Argument)]
    words = [value if one is parameter else "1" for one in arguments]
    required = [one for one in COMMANDS[path].params if one.required and isinstance(one, click.Option)]
    given: list[object] = [word for one in required if one is not parameter for word in (one.opts[0], "1")]
    return [*path, *words, *given, *([] if isinstance(parameter, click.Argument) else [parameter.opts[0], value])]


def ending(parameter: click.Parameter) -> str:
    return parameter.type.endings[0] if isinstance(parameter.type, Output) else ""


def test_every_option_that_writes_has_the_rule_or_one_of_its_own() -> None:
    ruled = {(" ".join(path), one.name) for path, one in WRITING if isinstance(one.type, Output | PicturesFolder)}

    assert {(" ".join(path), one.name) for path, one in WRITING} - ruled == DECIDES_ITSELF
    assert {path for path, _ in FILES} <= {path for path, one in COMMANDS.items() if "overwrite" in names(one)}
    assert len(FILES) >= 8


def names(command: click.Command) -> set[str | None]:
    return {one.name for one in command.params}


@pytest.mark.parametrize(("path", "parameter"), PATHS, ids=words_of)
def test_an_empty_name_is_refused(
    path: tuple[str, ...], parameter: click.Parameter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    code, said = run(*words_for(path, parameter, ""))

    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert "it must be the name of a file or folder, but is empty" in said


@pytest.mark.parametrize(("path", "parameter"), WRITING, ids=words_of)
def test_nothing_is_written_into_a_release(path: tuple[str, ...], parameter: click.Parameter, release: Path) -> None:
    before = {one.name: one.read_bytes() for one in release.iterdir()}
    for name in (f"new{ending(parameter)}", "data.parquet", "release.json"):
        words = words_for(path, parameter, release / name)
        for also in ([], ["--overwrite"]) if "overwrite" in names(COMMANDS[path]) else ([],):
            code, said = run(*words, *also)

            assert code == 2
            assert "must not lie in the folder of a release" in said
            assert {one.name: one.read_bytes() for one in release.iterdir()} == before


@pytest.mark.parametrize(("path", "parameter"), FILES, ids=words_of)
def test_what_exists_is_replaced_only_if_that_is_said(
    path: tuple[str, ...], parameter: click.Parameter, tmp_path: Path
) -> None:
    there = tmp_path / f"there{ending(parameter)}"
    there.write_text("", encoding="utf-8")
    words = words_for(path, parameter, there)

    code, said = run(*words)

    assert code == 2
    assert "already exists. Choose another name, or use --overwrite." in said
    assert "already exists" not in run(*words, "--overwrite")[1]
    there.unlink()
    there.symlink_to(tmp_path / "elsewhere")
    assert "must be" in run(*words)[1]  # a link that leads nowhere yet


@pytest.mark.parametrize(("path", "parameter"), FILES, ids=words_of)
def test_the_ending_and_the_folder_must_fit(path: tuple[str, ...], parameter: click.Parameter, tmp_path: Path) -> None:
    assert f"must end in {ending(parameter)}" in run(*words_for(path, parameter, tmp_path / "a.xyz"))[1]
    inside = tmp_path / "nowhere" / f"a{ending(parameter)}"
    assert "must be a file in a folder that can be written" in run(*words_for(path, parameter, inside))[1]


@pytest.mark.parametrize(("path", "parameter"), FILES, ids=words_of)
def test_what_is_read_is_never_replaced(path: tuple[str, ...], parameter: click.Parameter, tmp_path: Path) -> None:
    read = tmp_path / f"read{ending(parameter)}"
    read.write_text("age,disease\n1,a\n", encoding="utf-8")
    alias = tmp_path / f"alias{ending(parameter)}"
    alias.hardlink_to(read)
    table = tmp_path / "folder"
    table.mkdir()
    first = next(one for one in COMMANDS[path].params if isinstance(one, click.Argument))
    rest = ["nothing" for one in COMMANDS[path].params if isinstance(one, click.Argument)][1:]
    assert isinstance(first.type, click.Path)

    for target in (read, alias):
        code, said = run(*path, read, *rest, parameter.opts[0], target, "--overwrite")
        assert code == 2
        assert "must not be what the command reads" in said
    code, said = run(*path, table, *rest, parameter.opts[0], table / read.name, "--overwrite")

    assert code == 2
    assert "must not lie in a folder that the command reads" in said
    assert read.read_text(encoding="utf-8") == "age,disease\n1,a\n"
    assert list(table.iterdir()) == []


def test_a_file_that_a_text_names_is_read_too(release: Path, tmp_path: Path) -> None:
    zones = tmp_path / "zones.csv"
    zones.write_text("30;all\n", encoding="utf-8")

    code, said = run("estimate", release, "--by", f"age@{zones}", "--csv", zones, "--overwrite")

    assert (code, zones.read_text(encoding="utf-8")) == (2, "30;all\n")
    assert "--csv must not be what the command reads" in said


def test_two_results_need_two_names(release: Path, tmp_path: Path) -> None:
    words = ["report", release, "-o", tmp_path / "a.html", "--pictures", tmp_path / "a.html"]

    assert "must not be the same as" in run(*words)[1]


def test_a_folder_of_pictures_is_new_or_empty_unless_it_is_said(release: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("mine", encoding="utf-8")

    assert "--pictures must be a new or empty folder" in run("report", release, "--pictures", mine)[1]
    assert "--pictures must not be" in run("report", release, "--pictures", release, "--overwrite")[1]
    assert [one.name for one in mine.iterdir()] == ["thesis.txt"]


def test_the_same_command_can_be_repeated(release: Path, tmp_path: Path) -> None:
    words = ["estimate", release, "--csv", tmp_path / "estimate.csv", "--overwrite"]
    for _ in range(2):
        assert CliRunner().invoke(cli, [str(word) for word in words]).exit_code == 0


def test_functions_do_not_write_into_a_release(release: Path) -> None:
    loaded = ld.load_release(release)
    report = ld.user_report(release)
    hierarchy = ld.Hierarchy.by_width([1, 2, 3], [2])
    before = sorted(one.name for one in release.iterdir())
    publication = ld.Publication(quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=2))
    writes = [
        lambda: ld.estimate(loaded).plot(release / "a.png"),
        lambda: report.save(release / "a.html"),
        lambda: report.pictures(release),
        lambda: hierarchy.save(release / "a.csv", overwrite=True),
        lambda: publication.save(release / "a.toml"),
        lambda: loaded.save(release / "inner", overwrite=True),
    ]
    for write in writes:
        with pytest.raises(ParameterError, match="must not lie in the folder of a release"):
            write()  # type: ignore[no-untyped-call]
    assert sorted(one.name for one in release.iterdir()) == before


def test_only_our_manifest_makes_a_release(tmp_path: Path) -> None:
    (tmp_path / "release.json").write_text('{"version": "1.0", "notes": "of some program"}', encoding="utf-8")

    assert release_around(tmp_path / "a.csv") is None
