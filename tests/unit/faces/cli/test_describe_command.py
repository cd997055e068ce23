from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ldiversity.faces.cli import cli

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]


def test_every_column_is_described(facts: Facts, patients: Path) -> None:
    found = facts("describe", patients)

    assert (found["rows"], [column["name"] for column in found["columns"]]) == (
        600,
        ["name", "age", "sex", "zip", "job", "disease"],
    )


def test_roles_are_suggested_with_their_reason(facts: Facts, patients: Path) -> None:
    found = facts("describe", patients)

    assert [column["role"] for column in found["columns"]] == [
        "identifier",
        "quasi",
        "quasi",
        "quasi",
        "quasi",
        "sensitive",
    ]
    assert found["columns"][0]["reason"] == 'its name holds "name"'


def test_the_next_command_plans_with_the_suggested_roles(facts: Facts, patients: Path) -> None:
    found = facts("describe", patients)

    roles = "--quasi age,sex,zip,job --drop name --sensitive disease"
    assert found["next"] == f"ldiversity plan {patients} {roles} --method mondrian --model k-anonymity:5 -l 3"
    assert found["together"]["unique"] > 0.05


def test_the_next_command_keeps_columns_that_single_nobody_out(facts: Facts, tmp_path: Path) -> None:
    table = tmp_path / "few.csv"
    table.write_text("sex,disease\n" + "f,flu\nm,flu\nf,cold\nm,cut\n" * 10)

    assert facts("describe", table)["next"] == f"ldiversity plan {table} --quasi sex --sensitive disease -l 2"


def test_the_next_command_can_be_run(facts: Facts, patients: Path) -> None:
    words = facts("describe", patients)["next"].split()

    assert facts(*words[1:])["feasible"] is True


@pytest.mark.parametrize("marks", [("", ""), ("unknown", ""), ("", "unknown")])
def test_the_next_command_can_be_run_where_something_else_stands_among_dates(
    facts: Facts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marks: tuple[str, str]
) -> None:
    days = [[f"{1 + n % 28:02}.{1 + n % 12:02}.2020" for n in range(40)] for _ in marks]
    for column, mark in zip(days, marks, strict=True):
        column[7], column[8] = mark, "2020-01-31"
    rows = [f"{born},{seen},{'abcd'[n % 4]}" for n, (born, seen) in enumerate(zip(*days, strict=True))]
    (tmp_path / "table.csv").write_text("\n".join(["born,seen,illness", *rows]) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    planned = facts(*shlex.split(facts("describe", "table.csv")["next"])[1:])

    assert planned["records"] == 40


def test_the_next_command_bins_many_numbers(facts: Facts, tmp_path: Path) -> None:
    table = tmp_path / "pay.csv"
    table.write_text("age,income\n" + "".join(f"{20 + i % 7},{1000.5 + i}\n" for i in range(80)))

    found = facts("describe", table)

    assert found["next"].endswith("--sensitive income --bins income=width:WIDTH,low:LOW,high:HIGH -l 3")
    numbers = found["next"].replace("WIDTH", "50").replace("LOW", "0").replace("HIGH", "2000")
    assert facts(*numbers.split()[1:])["feasible"] is True


def test_text_asks_for_public_bounds_of_bins(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "pay.csv"
    table.write_text("age,income\n" + "".join(f"{20 + i % 7},{1000.5 + i}\n" for i in range(80)))

    shown = " ".join(run("describe", table).stdout.split())

    assert "Replace WIDTH, LOW and HIGH by public numbers" in shown
    assert "in the table above" in shown


@pytest.mark.parametrize("content", ["age,disease\n", "age,disease\n30,flu\n", "age,disease\n30,flu\n31,flu\n"])
def test_no_plan_is_suggested_that_cannot_work(run: Run, facts: Facts, tmp_path: Path, content: str) -> None:
    (tmp_path / "t.csv").write_text(content)

    found = facts("describe", tmp_path / "t.csv")
    shown = run("describe", tmp_path / "t.csv").stdout

    assert found["next"] is None
    assert found["problems"][0] in " ".join(shown.split())
    assert "ldiversity plan" not in shown


def test_only_columns_that_can_be_hidden_are_planned(facts: Facts, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("disease,diagnosis\nflu,a\nflu,b\nflu,c\n")

    found = facts("describe", tmp_path / "t.csv")

    assert "--sensitive diagnosis -l 2" in found["next"]
    assert found["problems"][0].startswith("'disease' has one value")


def test_a_declared_type_is_kept_in_the_next_command(facts: Facts, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("zip,disease\n" + "".join(f"{i % 5},d{i % 4}\n" for i in range(40)))

    found = facts("describe", table, "--type", "zip=text")

    assert found["columns"][0]["type"] == "string"
    assert found["next"].endswith("--type zip=text -l 3")


def test_without_a_sensitive_column_the_next_command_asks_for_one(facts: Facts, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("age,sex\n30,f\n40,m\n")

    assert "--sensitive COLUMN" in facts("describe", table)["next"]


def test_text_shows_the_facts_of_json(run: Run, facts: Facts, patients: Path) -> None:
    found = facts("describe", patients)
    columns = found["columns"]
    expected = [
        found["next"],
        *(column["name"] for column in columns),
        *(column["reason"] for column in columns),
        *(frequency["value"] for frequency in columns[-1]["frequencies"]),
        *(reach["rule"] for reach in columns[-1]["reach"]),
        *columns[-1]["advice"],
    ]

    shown = run("describe", patients).stdout

    assert [fact for fact in expected if fact not in shown] == []


@pytest.mark.parametrize("content", ["", "age,age\n1,2\n", "a,b\n1\n"])
def test_a_table_that_cannot_be_read_is_exit_2(run: Run, tmp_path: Path, content: str) -> None:
    table = tmp_path / "t.csv"
    table.write_text(content)

    result = run("describe", table, "--json")

    assert (result.exit_code, json.loads(result.stdout)["fault"]["owner"]) == (2, "t.csv")
    assert result.stderr.startswith("Error: t.csv: ")


def test_a_table_without_rows_is_described(facts: Facts, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("age,disease\n")

    found = facts("describe", table)

    assert (found["rows"], found["columns"][1]["frequencies"]) == (0, [])


def test_of_two_sensitive_columns_that_say_the_same_one_is_dropped(tmp_path: Path) -> None:
    names = ["flu", "cold", "cut", "burn", "gout"]
    rows = [f"{30 + i % 7},{names[i % 5]},J{i % 5}" for i in range(100)]
    others = [f"{30 + i % 7},{names[i % 5]},J{i // 20}" for i in range(100)]
    coded, apart = tmp_path / "coded.csv", tmp_path / "apart.csv"
    coded.write_text("\n".join(["age,Diagnose,ICD", *rows]), encoding="utf-8")
    apart.write_text("\n".join(["age,Diagnose,ICD", *others]), encoding="utf-8")

    def following(table: Path) -> str:
        done = CliRunner().invoke(cli, ["describe", str(table), "--json"], prog_name="ldiversity")
        return str(json.loads(done.stdout)["next"])

    assert "--drop ICD --sensitive Diagnose " in following(coded)
    assert "--sensitive Diagnose,ICD " in following(apart)
    planned = CliRunner().invoke(cli, shlex.split(following(coded))[1:], prog_name="ldiversity")
    assert planned.exit_code == 0
