"""An audit on Spark says what an audit of the same rows says on one machine."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.engines.spark import SparkEngine
from ldiversity.evaluation.audit import _on_engine
from ldiversity.faces.cli import cli

MODELS = ["k-anonymity:3", "t-closeness:0.3", "recursive:3:2", "alpha-k:0.5:2", "entropy:1.5"]


@pytest.mark.parametrize(
    "how",
    [
        {"quasi": ["age", "sex"], "sensitive": "disease", "models": MODELS},
        {"quasi": ["age", "sex", "row"], "sensitive": "disease", "sample_fraction": 0.1},
        {"quasi": ["age"], "sensitive": "disease", "person": "row"},
    ],
    ids=["usual", "nearly unique", "people"],
)
def test_every_figure_is_the_same(
    how: Mapping[str, Any],
    engine: SparkEngine,
    table: pa.Table,
    one_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_on_engine, "_PART_ROWS", 700)
    whole = ld.audit(one_file, **how)

    found = ld.audit(one_file, engine=engine, **how)

    assert found.to_dict() == whole.to_dict()
    assert [one.verdict for one in found.asked] == [one.verdict for one in whole.asked]
    assert whole.records == table.num_rows


def test_the_command_that_an_audit_of_a_folder_advises_works(
    engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del engine  # it is active, and so the commands use its session
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two files").mkdir()
    few = pa.table({"sex": ["f", "f", "m"] * 20, "disease": ["flu", "asthma", "flu"] * 20})
    for name in ("one", "other"):
        pq.write_table(few, tmp_path / "two files" / f"{name}.parquet")
    words = ["two files", "--quasi", "sex", "--sensitive", "disease", "--engine", "spark", "--json"]
    audited = CliRunner().invoke(cli, ["audit", *words])
    advised = shlex.split(json.loads(audited.stdout)["advice"]["command"])

    followed = CliRunner().invoke(cli, advised[1:])

    assert advised[advised.index("--engine") + 1] == "spark"
    assert followed.exit_code == 0, followed.output
    assert (tmp_path / advised[-1] / "release.json").is_file()


def test_a_frame_of_spark_is_audited_there(spark: Any, table: pa.Table, one_file: Path) -> None:
    how: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "models": MODELS}

    found = ld.audit(spark.read.parquet(str(one_file)), **how)
    whole = ld.audit(table, **how)

    assert found.models == whole.models
    assert found.risk == whole.risk
    assert found.attribute_risk == whole.attribute_risk


def test_a_release_of_sets_in_several_files_is_audited_there(engine: SparkEngine) -> None:
    folder = Path(__file__).parents[1] / "data" / "release-v2-uniform-parquet"

    assert ld.audit(folder, engine=engine) == ld.audit(folder)
