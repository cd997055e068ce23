"""k-anonymity where a person may have several rows: people are counted, and again before anything is written."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.faces.cli import cli
from ldiversity.publish import _prepare, _raising
from ldiversity.publish._ladders import ladder_of
from ldiversity.publish._level_texts import as_level
from ldiversity.publish._levels import Level
from ldiversity.publish._raising import raise_levels
from ldiversity.publish._uniqueness import LookAlikes
from ldiversity.tables import open_source

K = 4
QUASI = ["age", "zip", "sex"]
METHODS = ["randomized-addition:l=2", "semantic:l=2,d=1,distance=discrete", "anatomy:l=2"]


def visits(n: int = 300, n_people: int = 100, seed: int = 1, *, moves: float = 0.2) -> pa.Table:
    """Rows of people who mostly look the same in all of them."""
    rng = np.random.default_rng(seed)
    patient = rng.integers(0, n_people, n)
    now = np.where(rng.random(n) < moves, rng.integers(0, n_people, n), patient)  # some look like someone else
    ages, codes, sexes = (
        rng.integers(20, 60, n_people),
        rng.integers(1300, 1330, n_people),
        rng.integers(0, 2, n_people),
    )
    return pa.table(
        {
            "patient": [f"p{one}" for one in patient],
            "age": pa.array(ages[now], mask=rng.random(n) < 0.05),
            "zip": [f"{number:04d}" for number in codes[now]],
            "sex": np.array(["F", "M"])[sexes[now]],
            "value": rng.permutation(np.resize(list("abcdef"), n)),
        }
    )


def at(table: pa.Table, name: str, level: Level | None) -> list[object]:
    cells = table[name].combine_chunks()
    cells = cells.chunk(0) if isinstance(cells, pa.ChunkedArray) else cells
    shown: list[object] = (cells if level is None else level.labels(name, cells)).to_pylist()
    return shown


def fewest_people(table: pa.Table, levels: dict[str, Level | None]) -> int:
    holders: dict[tuple[object, ...], set[object]] = {}
    for person, *shown in zip(
        table["patient"].to_pylist(), *(at(table, name, level) for name, level in levels.items()), strict=True
    ):
        holders.setdefault(tuple(shown), set()).add(person)
    return min(len(own) for own in holders.values())


def loss(table: pa.Table, name: str, level: Level | None) -> float:
    """The mean share of the values under the label that a row shows; a missing one counts as a value."""
    values = pa.array([*sorted({one for one in table[name].to_pylist() if one is not None}), None])
    if level is None:
        return 0.0
    labels = level.labels(name, values).to_pylist()
    share = {label: labels.count(label) / len(labels) if labels.count(label) > 1 else 0.0 for label in labels}
    shown = at(table, name, level)
    return sum(share[str(label)] for label in shown) / len(shown)


@pytest.mark.parametrize("pairs", [True, False], ids=["pairs first", "at once"])
@pytest.mark.parametrize("person", ["patient", None])
@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_what_a_slow_one_finds(
    seed: int, person: str | None, monkeypatch: pytest.MonkeyPatch, *, pairs: bool
) -> None:
    monkeypatch.setattr(_raising, "_FEW_CHOICES", 0 if pairs else 1 << 20)
    rng = np.random.default_rng(seed)
    table = visits(int(rng.integers(60, 160)), int(rng.integers(8, 60)), seed, moves=float(rng.random()))
    if person is None:
        table = table.set_column(0, "patient", pa.array([str(row) for row in range(table.num_rows)]))
    looks = LookAlikes.read(open_source(table), QUASI, person=person)
    found = raise_levels(looks, {}, {}, [ld.KAnonymity(K)])
    ladders = [[None, *ladder_of(looks.values[name], None)] for name in QUASI]
    costs = [[loss(table, name, level) for level in rungs] for name, rungs in zip(QUASI, ladders, strict=True)]
    kept = [
        sum(own[place] for own, place in zip(costs, places, strict=True))
        for places in itertools.product(*(range(len(rungs)) for rungs in ladders))
        if fewest_people(table, {n: r[p] for n, r, p in zip(QUASI, ladders, places, strict=True)}) >= K
    ]
    chosen: dict[str, Level | None] = {name: found.get(name) for name in QUASI}
    assert fewest_people(table, chosen) >= K
    assert sum(loss(table, name, level) for name, level in chosen.items()) == pytest.approx(min(kept))


def test_columns_begin_at_their_declared_levels() -> None:
    table, declared = visits(), {"age": as_level("age", "width:10"), "zip": as_level("zip", "prefix:2")}
    looks = LookAlikes.read(open_source(table), QUASI, person="patient")
    found = raise_levels(looks, declared, {}, [ld.KAnonymity(K)])
    assert str(found["age"]) in {"width:10", "width:20", "width:40", "suppress"}
    assert fewest_people(table, {name: found.get(name) for name in QUASI}) >= K


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def publish(method: str, **more: Any) -> ld.Release:
    decisions = {"model": f"k-anonymity:{K}", "person": "patient", **more}
    return ld.anonymize(visits(), quasi=QUASI, sensitive="value", method=method, **decisions)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("method", METHODS)
def test_k_people_share_what_a_record_shows(method: str) -> None:
    release = publish(method, output="r")
    release.verify()
    assert ld.audit(release).passed
    said = json.loads(Path("r/release.json").read_text(encoding="utf-8"))
    assert said["person"] is True
    claim = release.claims_of("value")[-1]
    assert claim.statement.endswith("for every record. The holder counted people, each of them once.")
    assert said["sensitive"][0]["further_claims"][-1]["statement"] == claim.statement
    (raised,) = [note for note in release.notes if note.startswith("Levels were raised")]
    levels = dict(part.split("=") for part in raised.partition("holds: ")[2].partition(". ")[0].split(", "))
    assert fewest_people(visits(), {n: as_level(n, levels[n]) if n in levels else None for n in QUASI}) >= K
    assert publish(method).claims_of("value")[-1] == claim


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("method", METHODS)
def test_a_search_that_counts_records_publishes_nothing(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows of each person satisfy the check of the bytes, but not that of people."""
    levels = {name: as_level(name, "suppress") for name in ("age", "zip")}
    monkeypatch.setattr(_prepare, "raise_levels", lambda *_: levels)
    table = pa.table(
        {
            "patient": ["a", "a", "a", "a", "b", "b", "b", "b", *map(str, range(40))],
            "age": list(range(20, 68)),
            "zip": [f"{1300 + row}" for row in range(48)],
            "sex": ["X"] * 8 + ["F", "M"] * 20,
            "value": list("abcdef") * 8,
        }
    )
    decisions: dict[str, Any] = {"quasi": QUASI, "sensitive": "value", "method": method, "model": f"k-anonymity:{K}"}
    ld.anonymize(table, **decisions).verify()
    for more in ({}, {"output": "r"}):
        with pytest.raises(ld.ClaimError, match="1 of 3 combinations of quasi-identifiers has too few people"):
            ld.anonymize(table, **decisions, person="patient", **more)
    assert not Path("r").exists()


def test_too_few_people_are_refused_however_many_rows_they_have() -> None:
    with pytest.raises(ld.InfeasibleError, match="needs more people"):
        publish(METHODS[0], model="k-anonymity:120")


def test_an_id_that_could_be_made_coarser_is_refused() -> None:
    with pytest.raises(ld.ParameterError, match="must be read as it is"):
        ld.anonymize(
            visits(),
            quasi=[*QUASI, "patient"],
            sensitive="value",
            method=METHODS[0],
            person="patient",
            model="k-anonymity:4",
        )


@pytest.mark.usefixtures("folder")
def test_commands_policies_and_plans_count_people() -> None:
    pq.write_table(visits(), "visits.parquet")
    asked = ld.Publication(
        quasi=QUASI, sensitive="value", method=METHODS[0], model=f"k-anonymity:{K}", person="patient"
    )
    asked.save("p.toml")
    assert ld.Publication.load("p.toml") == asked
    words = ["visits.parquet", "--quasi", ",".join(QUASI), "--sensitive", "value", "-l", "2"]
    words += ["--model", f"k-anonymity:{K}", "--person", "patient"]
    for command in (["anonymize", *words, "-o", "r"], ["anonymize", "visits.parquet", "--policy", "p.toml", "-o", "s"]):
        told = CliRunner().invoke(cli, command)
        assert told.exit_code == 0, told.output
    for name in ("r", "s"):
        assert ld.load_release(name).claims_of("value")[-1].statement.endswith("each of them once.")
    plan = asked.plan(visits())
    assert any(note.endswith("each of them once.") for note in plan.notes)
    assert [one.planned for one in plan.uniqueness] == [0, 0, 0]


def test_nothing_is_advised_when_nobody_is_unique_as_published() -> None:
    (found,) = [one for one in publish(METHODS[0]).findings if one.kind == "unique-people"]
    assert found.text.endswith("; as published, nobody is.")
    assert not found.remedy
