"""Errors, warnings and hints in the words of each command, and of a policy."""

from __future__ import annotations

import click
import pytest

import ldiversity as ld
import ldiversity.tables
from ldiversity.errors import InfeasibleError, LDiversityWarning, ParameterError, SchemaError
from ldiversity.faces.cli import cli
from ldiversity.faces.cli._words import in_words, mark_command, mark_policy
from ldiversity.sentences import Method, Named, Options, Parameter, Setting, say


def shown(command: str, text: str, *, policy: bool = False) -> str:
    group = click.Context(cli)
    found = cli.get_command(group, command)
    assert found is not None
    with click.Context(found, parent=group) as ctx:
        mark_command(ctx, [])
        if policy:
            mark_policy(ctx, {"overwrite", "output", "memory"})
        return in_words(text)


@pytest.mark.parametrize(
    ("command", "error", "expected"),
    [
        ("describe", ParameterError("open_source", "file 'a.csv' does not exist"), "file 'a.csv' does not exist."),
        (
            "describe",
            SchemaError("open.csv", "must hold numbers", column="q"),
            "open.csv: column 'q' must hold numbers.",
        ),
        ("estimate", ParameterError("save_figure", "path", "must end in .png"), "--plot: path must end in .png."),
        ("estimate", ParameterError("estimate", "min_records", "must be odd"), "--min-records must be odd."),
        ("estimate", ParameterError("by", "quotes must come in pairs"), "--by: quotes must come in pairs."),
        ("anonymize", ParameterError("output", "folder 'r' must be new"), "-o: folder 'r' must be new."),
        ("anonymize", ParameterError("anonymize", "data_format", "must be 'csv'"), "--format must be 'csv'."),
        ("anonymize", SchemaError("record_id", "ids must be unique"), "--record-id: ids must be unique."),
        ("anonymize", ParameterError("Bins", "width", "must be above 0"), "--bins: width must be above 0."),
        ("anonymize", ParameterError("semantic", "d", "must be given"), "semantic: -d must be given."),
        ("anonymize", InfeasibleError("UniformSelection", "l", "must be 2", got=3), "-l must be 2, got 3."),
        ("audit", ParameterError("audit", "models", "must be known"), "--model must be known."),
        ("compare", ParameterError("compare", "l", "must hold numbers"), "-l must hold numbers."),
        ("hierarchy", ParameterError("Hierarchy.by_width", "low", "must be a number"), "--low must be a number."),
    ],
)
def test_an_error_names_the_option_of_the_command(command: str, error: ld.LDiversityError, expected: str) -> None:
    assert shown(command, error.message) == expected


@pytest.mark.parametrize(
    ("hint", "expected", "in_policy"),
    [
        (say("Use {}.", Setting("missing", "drop")), "Use --missing drop.", 'Use missing = "drop".'),
        (say("{}", Setting("types", ("zip", "text"))), "--type zip=text", 'types = { "zip" = "text" }'),
        (say("{}", Setting("overwrite", True)), "--overwrite", "--overwrite"),
        (say("{} {}", Setting("memory", "2GB"), Parameter("output")), "--memory 2GB -o", "--memory 2GB -o"),
        (say("{}", Setting("strict", False)), "--relaxed", "strict = false"),
        (say("{}", Setting("d", 2.0)), "-d 2", "d = 2"),
        (say("{} or {}", Method("SemanticAnatomy"), Method("Toy")), "le-anatomy or Toy", "le-anatomy or Toy"),
        (say("{}", Options(("l", "prior", "weights"))), "-l, --weight", "l, prior, weights"),
        (say("{}", Parameter("record_id")), "--record-id", "record_id"),
        (say("{}", Named("by_prefix", "prefix")), "prefix", "prefix"),
        ("Use l=3, as in 'BSGI'.", "Use l=3, as in 'BSGI'.", "Use l=3, as in 'BSGI'."),
    ],
)
def test_a_hint_is_said_as_it_is_typed(hint: str, expected: str, in_policy: str) -> None:
    assert shown("anonymize", hint) == expected
    assert shown("anonymize", hint, policy=True) == in_policy


def test_a_warning_drops_what_only_python_has() -> None:
    rule = say("declare the values in their order{}", Named(" and ordered=True", ""))
    warning = LDiversityWarning("OrderedDistance", rule)

    assert str(warning) == "OrderedDistance: declare the values in their order and ordered=True."
    assert shown("anonymize", warning.message) == "declare the values in their order."


def test_a_column_that_is_named_later_stands_before_the_message() -> None:
    error = InfeasibleError("UniformSelection", "l", "must be at most 2", got=3)
    error.about("disease")

    assert (error.column, error.message) == ("disease", "disease: UniformSelection: l must be at most 2, got 3.")
    assert shown("plan", error.message) == "disease: -l must be at most 2, got 3."


def test_commands_that_read_no_table_mention_the_options_of_those_that_do() -> None:
    text = say("{}.", Setting("types", ("patient no", "number")))

    assert shown("estimate", text) == shown("anonymize", text) == "--type 'patient no=number'."
