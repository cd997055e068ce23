"""What is said about a file that cannot be read as was asked, by every command that reads a table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldiversity.errors import SchemaError
from ldiversity.tables import open_source
from tests.contract.test_every_command import COMMANDS, run, words_of

READERS = [path for path, command in COMMANDS.items() if any(one.name == "read_as" for one in command.params)]
CELLS = "<5\nn.a.\n4.5\n<5\n\n7\n"


def words_for(path: tuple[str, ...], table: Path) -> list[object]:
    roles = ["--sensitive", "crp"]
    others = {
        "describe": [],
        "hierarchy": ["--column", "crp"],
        "plan": [*roles, "-l", "2"],
        "anonymize": [*roles, "-l", "2", "-o", str(table.parent / "release")],
    }
    return [*path, table, *others.get(path[0], roles)]


@pytest.mark.parametrize("path", READERS, ids=words_of)
def test_an_unknown_ending_is_pointed_at_read_as(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "table.dat"
    table.write_text(f"crp\n{CELLS}", encoding="utf-8")

    code, said = run(*words_for(path, table))

    assert code == 2
    assert "TABLE must end in a known way, got 'table.dat': say what it is, as in --read-as csv." in said
    assert "known way" not in run(*words_for(path, table), "--read-as", "csv")[1]


@pytest.mark.parametrize("name", ["nobody", "nobody.dat", "nobody.csv"])
@pytest.mark.parametrize("path", READERS, ids=words_of)
def test_a_file_that_is_not_there_is_said_not_to_be(path: tuple[str, ...], name: str, tmp_path: Path) -> None:
    code, said = run(*words_for(path, tmp_path / name))

    assert code == 2
    assert "does not exist" in said


@pytest.mark.parametrize("path", READERS, ids=words_of)
def test_a_wrong_kind_names_the_real_file(path: tuple[str, ...], tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(f"crp\n{CELLS}", encoding="utf-8")

    code, said = run(*words_for(path, table), "--read-as", "parquet")

    assert code == 2
    assert said.startswith("Error: table.csv: ")
    assert "table.parquet" not in said
    assert "If --read-as parquet is wrong, leave it out, or choose another." in said


@pytest.mark.parametrize("kind", ["number", "integer", "date", "boolean"])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_cells_that_do_not_fit_are_counted_and_the_type_has_the_word_of_the_option(
    kind: str, ending: str, tmp_path: Path
) -> None:
    table = tmp_path / f"table{ending}"
    rows = CELLS.splitlines() * 3
    if ending == ".csv":
        table.write_text("crp,n\n" + "".join(f"{cell},1\n" for cell in rows), encoding="utf-8")
    else:
        pq.write_table(pa.table({"crp": [cell or None for cell in rows]}), table)

    with pytest.raises(SchemaError) as refused:
        list(open_source(table, types={"crp": kind}).batches(["crp"]))

    misfits = {"number": 9, "integer": 12, "date": 15, "boolean": 15}[kind]
    if kind == "boolean" and ending == ".parquet":
        misfits = int(str(refused.value.got).split()[2])  # Arrow takes some numbers for truth values
    assert f"can be read as {kind}, got others in {misfits} rows" in str(refused.value)
    assert "Correct these cells or make them empty" in str(refused.value)
    assert "n.a." not in str(refused.value)


def test_bins_of_texts_lead_to_a_way_out_that_works(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    words = ["plan", table, "--quasi", "age", "--sensitive", "crp", "--bins", "crp=edges:0/2/3/9", "-l", 2]
    table.write_text("age;crp\n" + "".join(f"{n};{cell}\n" for n, cell in enumerate(["<5", "1,5", "2,5", "3,5"] * 5)))

    first = run(*words, "--decimal", ",")[1]
    second = run(*words, "--decimal", ",", "--type", "crp=number")[1]
    table.write_text(table.read_text().replace("<5", ""), encoding="utf-8")

    assert "got text. If it holds numbers, declare --type crp=number, which counts the rows that hold none" in first
    assert "point" not in first + second
    assert "got others in 5 rows. Correct these cells or make them empty" in second
    assert run(*words, "--decimal", ",", "--type", "crp=number", "--missing", "drop")[0] == 0


def test_errors_name_types_in_the_words_of_options() -> None:
    schema = pa.table({"a": ["a"], "b": [1], "c": [1.5]}).schema

    assert [SchemaError("t", "must fit", got=kind).got for kind in schema.types] == ["text", "integer", "number"]
