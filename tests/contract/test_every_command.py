"""What holds for the words of every command, found by walking through all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ldiversity.faces.cli import cli
from ldiversity.faces.cli._command import Command


def walk(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from walk(found, (*path, name))
    else:
        yield path, command


COMMANDS = dict(walk(cli))
SPELLINGS = [
    (path, option, flag)
    for path, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option) and not option.multiple
    for flag in (*option.opts, *option.secondary_opts)
]
SINGLE = [(path, flag) for path, option, flag in SPELLINGS if not option.is_flag]
SWITCHES = [(path, flag) for path, option, flag in SPELLINGS if option.is_flag and option.secondary_opts]
FLAGS = [(path, flag) for path, option, flag in SPELLINGS if option.is_flag and not option.secondary_opts]
PATHS = [
    (path, parameter)
    for path, command in COMMANDS.items()
    for parameter in command.params
    if isinstance(parameter.type, click.Path) and parameter.name != "table"  # which may come from stdin
]


def words_of(case: object) -> str:
    return " ".join(case) if isinstance(case, tuple) else case.name if isinstance(case, click.Parameter) else str(case)  # type: ignore[return-value]


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli, [str(word) for word in words], prog_name="ldiversity")
    return result.exit_code, result.stderr


def test_every_command_is_of_the_class_that_holds_the_rules() -> None:
    assert len(COMMANDS) > 10
    assert [path for path, command in COMMANDS.items() if not isinstance(command, Command)] == []


@pytest.mark.parametrize(("path", "flag"), SINGLE, ids=words_of)
def test_an_option_of_one_value_is_refused_when_it_is_repeated(path: tuple[str, ...], flag: str) -> None:
    code, said = run(*path, flag, "1", flag, "2")

    assert code == 2
    assert "must be given once, but is given 2 times" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(("path", "flag"), SWITCHES, ids=words_of)
def test_a_switch_with_an_opposite_is_refused_when_it_is_repeated(path: tuple[str, ...], flag: str) -> None:
    code, said = run(*path, flag, flag)

    assert code == 2
    assert "must be given once, but is given 2 times" in said


@pytest.mark.parametrize(("path", "flag"), FLAGS, ids=words_of)
def test_a_flag_may_be_repeated_as_it_says_the_same(path: tuple[str, ...], flag: str) -> None:
    assert "must be given once" not in run(*path, flag, flag, "--help")[1]


def test_two_spellings_of_one_option_are_one_option() -> None:
    assert "--output must be given once" in run("anonymize", "table.csv", "-o", "a", "--output=b")[1]


@pytest.mark.parametrize("option", ["--type", "--weight", "--domain", "--bins", "--hierarchy", "--missing"])
def test_a_column_named_twice_is_refused(option: str, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("age,disease\n1,a\n2,b\n3,c\n4,d\n", encoding="utf-8")
    value = {"--type": "integer", "--weight": "1", "--bins": "width:1", "--missing": "drop"}.get(option, "auto")
    column = "age" if option in {"--type", "--weight", "--hierarchy"} else "disease"
    roles = ["--quasi", "age", "--sensitive", "disease", "--method", "bsgi", "-l", 2]

    code, said = run("plan", table, *roles, option, f"{column}={value}", option, f"{column}={value}")

    assert code == 2
    assert f"{option} must name each column once, got {column!r} again" in said


@pytest.mark.parametrize(("path", "parameter"), PATHS, ids=words_of)
def test_a_dash_is_no_name_of_a_file(
    path: tuple[str, ...], parameter: click.Parameter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = [one for one in COMMANDS[path].params if isinstance(one, click.Argument)]
    if isinstance(parameter, click.Argument):
        words = [*("1" for _ in arguments[: arguments.index(parameter)]), "-"]
    else:
        words = [*("1" for _ in arguments), parameter.opts[0], "-"]

    code, said = run(*path, *words)

    assert code == 2
    assert "it must be the name of a file or folder, got '-'" in said
    assert list(tmp_path.iterdir()) == []


def test_commands_that_read_a_table_say_what_its_columns_are_in_the_same_options() -> None:
    readers = {
        path: command for path, command in COMMANDS.items() if any(one.name == "quasi" for one in command.params)
    }
    options = {path: {flag for one in command.params for flag in one.opts} for path, command in readers.items()}
    shared = {"--quasi", "--sensitive", "--drop", "--plain", "--domain", "--missing", "--bins", "--type", "--read-as"}

    assert set(readers) == {("plan",), ("compare",), ("anonymize",), ("audit",)}
    assert {path: shared - own for path, own in options.items() if shared - own} == {}
