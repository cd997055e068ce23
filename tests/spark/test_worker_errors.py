"""A row in the middle of a table breaks a rule: one sentence without cells, as on one machine, and no release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.engines.spark import SparkEngine
from ldiversity.faces.cli import cli

CELL = "Canary-of-a-cell"
DISEASES = ["asthma", "cold", "flu", "gout"]
N_ROWS = 400
BAD = 217


def _people(**changed: Any) -> pa.Table:
    """A table with one row that breaks a rule."""
    columns: dict[str, list[Any]] = {
        "id": [f"id {number}" for number in range(N_ROWS)],
        "number": [float(number) for number in range(N_ROWS)],
        "age": [20 + number % 50 for number in range(N_ROWS)],
        "disease": [DISEASES[number % 4] for number in range(N_ROWS)],
    }
    for name, cell in changed.items():
        columns[name][BAD] = cell
    return pa.table(columns)


@pytest.mark.parametrize(
    ("changed", "record_id", "said"),
    [
        ({"id": None}, "id", "record_id: column 'id' must not have missing values, got 1."),
        ({"number": 1234.5678}, "number", "record_id: column 'number' must hold texts, whole numbers or dates"),
        ({"disease": CELL}, "id", "column 'disease' must hold values of its declared domain only, got 1 row"),
        ({"disease": None}, "id", "column 'disease' must have a value in every row, got 1 row without."),
        ({"id": "id 3"}, "id", "record_id: ids must be unique, got 1 repeated among 400 records."),
    ],
    ids=["missing id", "bad id", "value outside the domain", "missing value", "repeated id"],
)
def test_a_row_that_breaks_a_rule_is_one_sentence_and_no_release(
    engine: SparkEngine,
    tmp_path: Path,
    changed: dict[str, Any],
    record_id: str,
    said: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    table = _people(**changed)
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=100)
    ld.Key.new().save(tmp_path / "holder.key")
    spare = "number" if record_id == "id" else "id"
    how: dict[str, Any] = {
        "quasi": "age",
        "drop": spare,
        "sensitive": ld.Sensitive("disease", domain=DISEASES),
        "method": "randomized-addition:l=3",
        "record_id": record_id,
        "key": str(tmp_path / "holder.key"),
        "output": tmp_path / "release",
    }

    messages = []
    for data, where in ((tmp_path / "people.parquet", engine), (tmp_path / "people.parquet", "local")):
        with pytest.raises(ld.LDiversityError) as caught:
            ld.anonymize(data, **how, engine=where)
        messages.append(str(caught.value))
        assert caught.value.__cause__ is None

    assert messages[0] == messages[1]
    assert said in messages[0]
    printed = "".join(capfd.readouterr())
    for text in (messages[0], printed):
        assert "Traceback" not in text
        assert CELL not in text
        assert "1234.5678" not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["holder.key", "people.parquet"]


def test_on_the_command_line_it_is_one_sentence_and_exit_code_2(engine: SparkEngine, tmp_path: Path) -> None:
    del engine  # it is active, and so the command uses its session
    table, key, output = tmp_path / "people.parquet", tmp_path / "holder.key", tmp_path / "release"
    pq.write_table(_people(id=None), table, row_group_size=100)
    ld.Key.new().save(key)
    words = ["--quasi", "age", "--drop", "number", "--sensitive", "disease", "--record-id", "id", "-l", "3"]
    words += ["--key", str(key), "-o", str(output), "--engine", "spark"]

    done = CliRunner().invoke(cli, ["anonymize", str(table), *words])

    assert done.exit_code == 2
    assert done.stderr.startswith("Error: --record-id: column 'id' must not have missing values, got 1.")
    assert "Traceback" not in done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["holder.key", "people.parquet"]
