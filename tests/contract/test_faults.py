"""Errors are data: no text embeds what has a field; every class pickles; every command tells its faults as JSON."""

from __future__ import annotations

import ast
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import click
import jsonschema
import pytest
from click.testing import CliRunner

import ldiversity.errors
from ldiversity.catalog import CATALOG, OPTIONS
from ldiversity.errors import InfeasibleError, LDiversityError, LDiversityWarning
from ldiversity.faces.cli import cli
from ldiversity.faces.cli.schemas import json_schema
from ldiversity.sentences import Setting, say

SOURCE = Path(ldiversity.errors.__file__).parent
CLASSES = {name: getattr(ldiversity.errors, name) for name in ldiversity.errors.__all__}


def walk(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from walk(command.get_command(click.Context(command), name) or command, (*path, name))
    else:
        yield path, command


COMMANDS = [path for path, command in walk(cli) if any("--json" in one.opts for one in command.params)]


def text_of(node: ast.expr) -> str:
    """The text of a string, with an x in place of what an f-string fills in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def bare_texts(source: str) -> Iterator[str]:
    """What errors and warnings say in one text though there are fields for it; and messages that are edited later."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr == "message":
                    yield ast.unparse(node)
        if not isinstance(node, ast.Call):
            continue
        named = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if named == "warn" and node.args and any(ast.unparse(one) == "LDiversityWarning" for one in node.args[1:]):
            rules = [text_of(node.args[0])]
        else:
            rules = [text_of(one) for one in node.args] if named in CLASSES else []
        owner, colon, _ = rules[0].partition(": ") if len(rules) == 1 else ("", "", "")
        if (colon and " " not in owner) or any(", got " in rule for rule in rules):
            yield ast.unparse(node)


def test_no_error_embeds_in_its_text_what_has_a_field() -> None:
    files = [file for file in sorted(SOURCE.rglob("*.py")) if file != SOURCE / "errors.py"]

    assert len(files) > 300
    assert {file.name: found for file in files if (found := list(bare_texts(file.read_text(encoding="utf-8"))))} == {}


@pytest.mark.parametrize(
    "planted",
    [
        'raise ParameterError(f"{owner}: {name} must be {rule}.")',
        'raise ParameterError("BSGI: l must be at least 2, got 1.", hint="Use l=2.")',
        'raise ld.SchemaError("table", f"column {name!r} must hold numbers, got {kind}")',
        'error.message = f"{column}: {error.message}"',
        'warnings.warn("where: no record has it.", LDiversityWarning, stacklevel=2)',
    ],
)
def test_a_planted_text_is_found(planted: str) -> None:
    assert len(list(bare_texts(planted))) == 1


def python_spelling(source: str) -> Iterator[str]:
    """Texts of errors and hints that write a setting or a method as Python does, which no other face could reword."""
    names = "|".join([*OPTIONS, "by", "marginals", "missing", "overwrite", "record_id", "spread", "types"])
    classes = "|".join(entry.class_name for entry in CATALOG.values())
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        named = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if named in CLASSES or named in {"say", "with_hint"}:
            parts = [*node.args, *(one.value for one in node.keywords if one.arg == "hint")]
            texts = [text_of(one) for part in parts for one in ast.walk(part) if isinstance(one, ast.expr)]
            yield from (one for one in texts if " " in one and re.search(rf"\b({names})=|\b({classes})\b", one))


def test_no_error_spells_settings_and_methods_in_python() -> None:
    files = sorted(SOURCE.rglob("*.py"))

    assert {file.name: found for file in files if (found := list(python_spelling(file.read_text("utf-8"))))} == {}


@pytest.mark.parametrize(
    "planted",
    [
        """raise SchemaError("table", "must be short", hint="Use missing='drop'.")""",
        """raise SchemaError("table", "must be short").with_hint("Declare it" if far else f"Use l={most} or less.")""",
        """raise UnsupportedError(owner, "must be one", hint=say("Mondrian and {} take several.", one))""",
    ],
)
def test_a_planted_spelling_is_found(planted: str) -> None:
    assert list(python_spelling(planted))


@pytest.mark.parametrize("name", CLASSES)
def test_an_error_survives_pickling_with_its_fields(name: str) -> None:
    error = CLASSES[name]("BSGI", "l", "must be at least 2", got=1, hint=say("Use {}.", Setting("l", 2)))
    error.about("disease")
    if isinstance(error, InfeasibleError):
        error.nearest = [{"l": 2}]

    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here

    assert (type(again), vars(again), str(again)) == (type(error), vars(error), str(error))
    assert (again.message.parts, again.hint.parts) == (error.message.parts, error.hint.parts)
    assert str(again) == "disease: BSGI: l must be at least 2, got 1.\nHint: Use l=2."


def test_the_exit_code_belongs_to_the_class() -> None:
    codes = {name: kind.exit_code for name, kind in CLASSES.items() if kind is not LDiversityWarning}

    assert {code for name, code in codes.items() if name not in {"InternalError", "NotEnoughMemoryError"}} == {2}
    assert (codes["InternalError"], codes["NotEnoughMemoryError"]) == (70, 71)


def fault_of(*words: object) -> tuple[dict[str, object], str]:
    result = CliRunner().invoke(cli, [str(word) for word in words], prog_name="ldiversity")
    document = json.loads(result.stdout)
    jsonschema.validate(document, json_schema("fault"))
    fault: dict[str, object] = document["fault"]
    assert fault["exit_code"] == result.exit_code == 2
    assert result.stderr.endswith("\n")
    assert result.stderr.startswith("Error: ")
    return fault, result.stderr


def test_commands_that_print_json_are_found() -> None:
    assert {("describe",), ("key", "new"), ("anonymize",)} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_wrong_option_is_told_as_json(command: tuple[str, ...]) -> None:
    fault, said = fault_of(*command, "--json", "--no-such-option")

    assert fault["kind"] == "UsageError"
    assert str(fault["message"]) in said


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_json_a_fault_leaves_stdout_empty(command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(cli, [*command, "--no-such-option"], prog_name="ldiversity")

    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["describe", "empty.csv"], {"kind": "SchemaError", "owner": "empty.csv", "got": "an empty file"}),
        (
            ["audit", "t.csv", "--quasi", "nobody"],
            {"kind": "SchemaError", "column": "nobody", "rule": "does not exist"},
        ),
        (["estimate", "."], {"kind": "ReleaseFormatError", "owner": "release"}),
        (
            ["anonymize", "t.csv", "--sensitive", "s", "-l", 9, "-o", "out"],
            {"kind": "InfeasibleError", "owner": "UniformSelection", "parameter": "l", "column": "s", "got": "9"},
        ),
        (["anonymize", "t.csv", "--sensitive", "s", "-l", "x", "-o", "out"], {"kind": "UsageError", "parameter": "l"}),
    ],
)
def test_a_fault_in_json_says_what_it_is_about(
    words: list[object], expected: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.csv").write_text("", encoding="utf-8")
    Path("t.csv").write_text("q,s\n1,a\n2,b\n3,c\n4,d\n", encoding="utf-8")

    fault, said = fault_of(*words, "--json")

    assert {name: fault[name] for name in expected} == expected
    assert str(fault["message"]) in said


def test_an_infeasible_goal_names_the_nearest_in_json(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("q,s\n1,a\n2,b\n3,c\n4,d\n", encoding="utf-8")

    fault, _ = fault_of("anonymize", table, "--sensitive", "s", "-l", 9, "-o", tmp_path / "out", "--json")

    assert fault["nearest"] == [{"l": 3}]
    assert fault["hint"] == "Use -l 3 or less, or declare a domain of at least 10 values."


def test_every_error_of_the_package_has_the_fields() -> None:
    assert all(issubclass(kind, LDiversityError | LDiversityWarning) for kind in CLASSES.values())
