"""A model about records that a stranger writes is promised by releases of every kind, sensitive columns or not."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.datasets import patients
from ldiversity.faces.cli import cli
from ldiversity.models import MODELS

TOYS = Path(__file__).parent / "toys"
QUASI = ("--quasi", "age,sex")
MODEL = ("--model", "share-of-all:0.04")
KINDS = {
    "sets": (*QUASI, "--sensitive", "disease", "-l", "2", *MODEL),
    "bucketized": (*QUASI, "--sensitive", "disease", "--method", "anatomy", "-l", "2", *MODEL),
    "classes": (*QUASI, "--sensitive", "disease", "--method", "mondrian", *MODEL),
    "records": (*QUASI, "--method", "mondrian", *MODEL),
}


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(TOYS))
    pc.write_csv(patients(300, seed=6), "patients.csv")
    with MODELS.registered("share-of-all", importlib.import_module("toy_promise").ShareOfAll):
        yield


def run(*words: str) -> str:
    done = CliRunner().invoke(cli, words, prog_name="ldiversity", catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_planned_promised_checked_and_reported(kind: str) -> None:
    for words in (("plan", "patients.csv"), ("anonymize", "patients.csv", "-o", "release")):
        told = run(*words, *KINDS[kind])
        assert "at least 4% of all records" in told
        assert "Share-of-all:" not in told
        assert "''" not in told
    release = ld.load_release("release")
    release.verify()
    audit = ld.audit(release)
    assert audit.models["share_of_all"].passed
    assert audit.models["share_of_all"].required == ("share-of-all:0.04",)
    assert "share-of-all" in run("audit", "release", *MODEL)
    page = ld.user_report(release).to_html()
    assert "at least 4% of all records" in page
    assert "Share-of-all:" not in page


def test_what_not_even_all_records_reach_is_refused_without_an_empty_name() -> None:
    asked = ld.Publication(quasi="age", drop=["name", "sex", "zip", "job"], method="mondrian:model=k-anonymity:51")
    few = patients(50, seed=1).drop_columns(["disease"])
    with pytest.raises(ld.InfeasibleError) as caught:
        asked.publish(few)

    for told in (str(caught.value), str(asked.plan(few).outlook.reason)):
        assert "''" not in told
        assert "50" in told


def test_a_plain_table_is_audited_by_it() -> None:
    table = pa.table({"age": [20, 20, 30], "disease": ["flu", "cut", "flu"]})

    assert ld.check("share-of-all:0.3", table, quasi="age").passed
    assert not ld.check("share-of-all:0.4", table, quasi="age").passed
    assert ld.audit(table, quasi="age", models="share-of-all:0.3").models["share_of_all"].value == pytest.approx(1 / 3)
    with pytest.raises(ld.ParameterError) as caught:
        ld.audit(table, quasi="age", models="frequency:2")
    assert "share-of-all" in str(caught.value)
