"""Where a person may have several rows, reports, audits, comparisons and attacks agree on how many are recognized."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.catalog import LISTED
from ldiversity.faces.cli import cli

QUASI = ["age", "sex"]
KEEPING = ["randomized-addition:l=2", "anatomy:l=2", "llmsu:l=2", "mbf:l=2"]
GENERALIZING = ["bsgi:l=2", "mondrian:l=2", "incognito:l=2", "tp:l=2"]
VALUES = tuple("abcdef")


def visits(n_people: int = 90, seed: int = 3) -> pa.Table:
    """Four visits of each person, who mostly look the same in all of them."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_people), 4)
    older = rng.random(len(patient)) < 0.1
    return pa.table(
        {
            "patient": [f"p{one}" for one in patient],
            "age": rng.integers(20, 70, n_people)[patient] + older,
            "sex": np.array(["F", "M"])[rng.integers(0, 2, n_people)][patient],
            "value": rng.permutation(np.resize(VALUES, len(patient))),
        }
    )


def publish(table: pa.Table, method: str, **more: Any) -> ld.Release:
    disease = ld.Sensitive("value", domain=VALUES)
    return ld.anonymize(table, quasi=QUASI, sensitive=disease, method=method, **{"drop": "patient", **more})


def people_alike(table: pa.Table, width: int = 1) -> list[int]:
    """How many people show each combination, counted slowly."""
    ages = [age // width for age in table["age"].to_pylist()]
    shown = set(zip(ages, table["sex"].to_pylist(), table["patient"].to_pylist(), strict=True))
    return list(Counter(one[:2] for one in shown).values())


@pytest.mark.parametrize("person", [True, False], ids=["kept together", "as if strangers"])
@pytest.mark.parametrize("method", KEEPING)
def test_all_count_the_people_who_look_alike(method: str, person: bool) -> None:  # noqa: FBT001 - a parameter
    table = visits()
    release = publish(table, method, **({"person": "patient", "drop": ()} if person else {}))
    sizes = people_alike(table)

    report = ld.holder_report(release, table, person="patient", by=())
    audit = ld.audit(release, original=table, person="patient")
    of_table = ld.audit(table, quasi=QUASI, sensitive="value", person="patient")

    if not release.suppressed:
        assert audit.risk.prosecutor == of_table.risk.prosecutor
        assert (audit.risk.uniques, audit.classes) == (sizes.count(1), of_table.classes)
    assert report.audit.risk == audit.risk
    assert report.audit.risk.prosecutor.max == 1.0
    assert (report.summary.people, audit.people, of_table.people) == (90, 90, 90)
    assert next(one for one in report.summary.worst if one.what.startswith("Finding")).value == 1.0
    assert "of 90 people" in report.criteria[0].measured[0]
    assert audit.passed  # what is promised about records holds, whoever they belong to
    by_records = ld.audit(release).risk.prosecutor
    assert audit.risk.prosecutor.mean > by_records.mean


@pytest.mark.parametrize("person", [True, False], ids=["kept together", "as if strangers"])
@pytest.mark.parametrize("method", GENERALIZING)
def test_in_regions_nobody_seems_better_hidden_than_they_are(method: str, person: bool) -> None:  # noqa: FBT001
    table = visits()
    release = publish(table, method, **({"person": "patient", "drop": ()} if person else {}))

    found, records = ld.audit(release, original=table, person="patient"), ld.audit(release)
    report = ld.holder_report(release, table, person="patient", by=())

    assert report.audit.risk == found.risk
    assert found.classes.count == records.classes.count
    assert found.risk.prosecutor.max >= records.risk.prosecutor.max
    assert found.risk.records <= records.risk.records
    if not person:
        assert found.risk.prosecutor.mean > records.risk.prosecutor.mean


def test_a_class_of_one_persons_rows_hides_nobody() -> None:
    """Planted: ten people, four equal rows each. By records four look alike, and nobody is alone."""
    table = visits(10)
    table = table.set_column(1, "age", pa.array(np.repeat(np.arange(20, 30), 4)))
    release = publish(table, "randomized-addition:l=2")
    assert ld.audit(release).risk.uniques == 0

    report = ld.holder_report(release, table, person="patient", by=(), attacks=True)

    assert (report.audit.risk.uniques, report.audit.risk.prosecutor.mean) == (10, 1.0)
    assert report.attacks is not None
    singled = next(one for one in report.attacks.risks if one.attack == "singling-out (record)")
    assert singled.success.share == 1.0


def test_comparisons_count_people_too() -> None:
    table = visits()
    asked: dict[str, Any] = {
        "quasi": QUASI,
        "sensitive": "value",
        "l": 2,
        "queries": 5,
        "seed": 1,
        "attacks": "homogeneity",
    }
    found = ld.compare(table, **asked, person="patient", methods=["anatomy"])
    assert found.rows[0].uniques == people_alike(table).count(1)


def test_the_command_line_takes_the_original_of_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(visits(), "visits.parquet")
    publish(visits(), "anatomy:l=2", output="r")
    told = CliRunner().invoke(cli, ["audit", "r", "--original", "visits.parquet", "--person", "patient", "--json"])
    assert json.loads(told.stdout)["risk"]["uniques"] == people_alike(visits()).count(1)
    for words, said in ((["--person", "patient"], "--original"), (["--original", "visits.parquet"], "--person")):
        refused = CliRunner().invoke(cli, ["audit", "r", *words])
        assert refused.exit_code == 2
        assert said in refused.stderr


def test_another_table_is_refused() -> None:
    release = publish(visits(), "anatomy:l=2")
    with pytest.raises(ld.SchemaError, match="original must be the table that the release was made from"):
        ld.audit(release, original=visits(20, seed=9), person="patient")
    with pytest.raises(ld.ParameterError, match="original must be left out for a table"):
        ld.audit(visits(), quasi=QUASI, original=visits(), person="patient")


def test_every_method_is_among_those_that_are_tested() -> None:
    tested = {method.partition(":")[0] for method in (*KEEPING, *GENERALIZING)}
    assert set(LISTED) - tested == {"semantic", "le-anatomy"}  # their quasi-identifiers are those of their kin


@pytest.mark.parametrize("method", [*KEEPING, "bsgi:l=2", "mondrian:l=2"])
def test_people_whose_rows_were_all_left_out_are_not_counted(method: str) -> None:
    table = visits()
    people = table["patient"].to_pylist()
    gone = {f"p{one}" for one in range(0, 90, 7)}
    rng = np.random.default_rng(1)
    values = [
        None if who in gone or rng.random() < 0.1 else value
        for who, value in zip(people, table["value"].to_pylist(), strict=True)
    ]
    table = table.set_column(3, "value", pa.array(values))
    disease = ld.Sensitive("value", domain=VALUES, missing="drop")

    release = ld.anonymize(table, quasi=QUASI, sensitive=disease, method=method, person="patient")
    audit = ld.audit(release, original=table, person="patient")

    published = table.filter(table["value"].is_valid())
    assert audit.people == len(set(published["patient"].to_pylist())) < 90 - len(gone) + 1
    if method in KEEPING and not release.suppressed:
        assert audit.risk.uniques == people_alike(published).count(1)
