"""Exports as hospitals and offices make them, through every command that reads a table."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import ldiversity as ld
from ldiversity.faces.cli import cli

DISEASES = ("Grippe", "Schnupfen", "Übelkeit", "Gicht", "Asthma")
NAMES = ("Geboren", "Größe", "PLZ", "Diagnose")
DRAWN = random.Random(1)
ROWS = [
    (f"{1 + n % 28:02}.{1 + n % 12:02}.{1940 + n % 50}", f"1,{50 + n % 40}", f"0{1000 + n % 7}", DRAWN.choice(DISEASES))
    for n in range(200)
]
CSV = "--encoding cp1252 --decimal , --date-format dmy --skip-rows 2"
EXCEL = "--sheet Daten --decimal , --date-format %d.%m.%Y --skip-rows 2"
ROLES = "--quasi Geboren,Größe,PLZ --sensitive Diagnose"


def ldiversity(line: str) -> Result:
    return CliRunner().invoke(cli, shlex.split(line), prog_name="ldiversity")


def said(line: str) -> Any:
    result = ldiversity(f"{line} --json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path_factory.mktemp("exports")
    lines = ["Klinik Süd, Auszug", "", ";".join(NAMES), *(";".join(row) for row in ROWS)]
    (path / "export.csv").write_bytes("".join(f"{line}\r\n" for line in lines).encode("cp1252"))
    book = openpyxl.Workbook()
    book.active.title = "Hinweise"
    book.active.append(["Bitte vertraulich behandeln"])
    sheet = book.create_sheet("Daten")
    for row in (["Klinik Süd"], [], NAMES, *ROWS):
        sheet.append(row)
    book.save(path / "export.xlsx")
    return path


@pytest.fixture(params=[("export.csv", CSV), ("export.xlsx", EXCEL)], ids=["csv", "excel"])
def export(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(folder)
    return request.param


def test_every_command_reads_the_export(export: tuple[str, str], tmp_path: Path) -> None:
    table, options = export
    release = tmp_path / "release"

    columns = {one["name"]: one["type"] for one in said(f"describe {table} {options}")["columns"]}
    assert columns == {"Geboren": "date32[day]", "Größe": "double", "PLZ": "string", "Diagnose": "string"}
    assert said(f"plan {table} {options} {ROLES} -l 3")["feasible"]
    assert said(f"audit {table} {options} {ROLES}")["records"] == len(ROWS)
    assert said(f"hierarchy {table} {options} --column Geboren --date")["leaves"] > 1
    said(f"anonymize {table} {options} {ROLES} -l 3 -o {release}")
    assert ld.load_release(release).n_rows == len(ROWS)
    assert said(f"attack {release} --original {table} {options} --attacks homogeneity")["results"]
    reported = said(f"report {release} --original {table} {options} --by PLZ")
    again = [one["line"] for one in reported["commands"] if "--original" in one["line"]]
    assert again
    assert all(shlex.join(shlex.split(options)) in line for line in again)
    compared = said(f"compare {table} {options} {ROLES} --methods randomized-addition -l 3 --queries 20 --targets 50")
    assert shlex.join(shlex.split(options)) in json.dumps(compared)


def test_the_next_command_reads_the_export_as_well(export: tuple[str, str]) -> None:
    table, options = export
    advised = said(f"describe {table} {options}")["next"]

    assert said(advised.removeprefix("ldiversity "))["records"] == len(ROWS)


def test_a_policy_says_how_its_table_is_read(export: tuple[str, str], tmp_path: Path) -> None:
    table, options = export
    read = ld.ReadOptions(
        **({"encoding": "cp1252"} if table.endswith("csv") else {"sheet": 2}),  # type: ignore[arg-type]
        skip_rows=2,
        decimal=",",
        date_format="dmy",
    )
    asked = ld.Publication(quasi=NAMES[:3], sensitive=NAMES[3], method="randomized-addition:l=3", read=read)

    asked.save(tmp_path / "policy.toml")

    assert ld.Publication.load(tmp_path / "policy.toml") == asked
    assert said(f"plan {table} --policy {tmp_path / 'policy.toml'}")["records"] == len(ROWS)
    words = asked.command(table)
    assert words is not None
    assert said(shlex.join(words[1:-2]) + f" -o {tmp_path / 'release'}")["records"] == len(ROWS)
    refused = ldiversity(f"plan {table} {options.partition(' ')[0]} x --policy {tmp_path / 'policy.toml'}")
    assert refused.exit_code == 2
    assert "the policy says it" in refused.stderr


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("export.csv", "--encoding cp1252"),
        ("export.csv --encoding cp1252", "--skip-rows 2"),
        ("export.csv --encoding cp1252 --skip-rows 2 --sheet 2", "--sheet must be left out for files that end in .csv"),
        ("export.csv --encoding cp1252 --skip-rows 2 --type Geboren=date", "--date-format dmy"),
        ("export.csv --encoding cp1252 --skip-rows 2 --type Größe=number", "--decimal ,"),
        ("export.csv --encoding cp1252 --skip-rows 2 --date-format mdy", "something else in row 13 below the names"),
        ("export.csv --encoding klingon", "--encoding must be an encoding"),
        ("export.xlsx --sheet Data", "Its sheets are 'Hinweise', 'Daten'."),
        ("export.xlsx --sheet 2", "--skip-rows 2"),
        ("export.xlsx --encoding cp1252", "--encoding must be left out for files that end in .xlsx"),
    ],
)
def test_a_wrong_or_missing_option_is_told_in_flags(
    folder: Path, monkeypatch: pytest.MonkeyPatch, wrong: str, told: str
) -> None:
    monkeypatch.chdir(folder)

    result = ldiversity(f"describe {wrong}")

    assert result.exit_code == 2
    assert told in result.stderr
    assert not any(cell in result.stderr for row in ROWS for cell in row)


def test_every_command_that_reads_a_table_takes_the_options() -> None:
    options = {"types", "sheet", "encoding", "decimal", "date_format", "skip_rows"}
    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        names = {one.name for one in command.params}
        reads = bool(names & {"table", "original"})
        assert (options <= names) == reads, name


def test_what_describe_advises_publishes_nobody_unique(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    people = ld.datasets.patients(2000, seed=5).to_pylist()
    births = [f"{1 + n % 28:02}.{1 + n % 12:02}.{1930 + n % 70}" for n in range(len(people))]
    lines = ["name;birth;sex;zip;disease"]
    lines += [
        f"{row['name']};{birth};{row['sex']};{row['zip']};{row['disease']}"
        for row, birth in zip(people, births, strict=True)
    ]
    (tmp_path / "hospital.csv").write_text("\n".join(lines), encoding="utf-8")
    advised = said("describe hospital.csv")["next"]

    assert said(advised.removeprefix("ldiversity "))["feasible"]
    said(advised.replace("ldiversity plan", "anonymize") + " -o release")

    audited = ld.audit(tmp_path / "release")
    assert audited.passed
    assert audited.models["k_anonymity"].value >= 5
    assert "date32[day]" in {one.type for one in ld.load_release(tmp_path / "release").schema.attributes}
