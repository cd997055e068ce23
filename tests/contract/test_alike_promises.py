"""k-anonymity as a further promise where records keep their quasi-identifiers: reached, stored and checked again."""

from __future__ import annotations

import hashlib
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
from ldiversity.publish import _prepare
from ldiversity.publish._ladders import ladder_of
from ldiversity.publish._raising import raise_levels
from ldiversity.publish._uniqueness import LookAlikes
from ldiversity.release import Release
from ldiversity.tables import open_source

K = 5
QUASI = ["age", "zip", "sex"]
METHODS = ["randomized-addition:l=2", "semantic:l=2,d=1,distance=discrete", "anatomy:l=2"]


def people(n: int = 400, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": pa.array(rng.integers(20, 60, n), mask=rng.random(n) < 0.05),
            "zip": [f"{number:04d}" for number in rng.integers(1300, 1400, n)],
            "sex": rng.choice(["F", "M"], n),
            "value": rng.permutation(np.resize(list("abcdef"), n)),
        }
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def publish(method: str, **more: Any) -> Release:
    return ld.anonymize(
        people(), quasi=QUASI, sensitive="value", method=method, **{"model": f"k-anonymity:{K}", **more}
    )


def smallest(release: Release) -> int:
    shown = release.columns(QUASI).group_by(QUASI).aggregate([([], "count_all")])
    return int(min(shown["count_all"].to_pylist())) // release.rows_per_record


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("how", ["memory", "parquet", "csv"])
def test_every_record_looks_like_k_minus_one_others(method: str, how: str) -> None:
    release = publish(method, **({} if how == "memory" else {"output": "r", "data_format": how}))
    assert smallest(release) >= K
    release.verify()
    claim = release.claims_of("value")[-1]
    assert claim.statement == f"At least {K} records look alike in all quasi-identifiers, for every record."
    audit = ld.audit(release)
    assert audit.passed
    assert audit.models["k_anonymity"].required == (f"k-anonymity:{K}",)
    assert any("Levels were raised" in note for note in release.notes)


def test_exploded_rows_count_records() -> None:
    release = publish(METHODS[0], layout="exploded", output="r")
    assert smallest(release) >= K
    ld.load_release("r").verify()


def test_declared_levels_are_where_the_search_begins() -> None:
    release = publish(METHODS[0], levels={"age": "width:10,bottom:30", "zip": "prefix:2"})
    assert set(release.columns(["zip"])["zip"].to_pylist()) <= {"13*", "1*", "*"}
    assert not set(release.columns(["age"])["age"].to_pylist()) & {str(age) for age in range(20, 60)}


def test_levels_that_suffice_stay() -> None:
    levels = {"age": "suppress", "zip": "suppress"}
    release = publish(METHODS[0], levels=levels)
    assert set(release.columns(["sex"])["sex"].to_pylist()) == {"F", "M"}
    assert not any("raised" in note for note in release.notes)


def test_the_search_finds_the_least_loss_of_a_slow_one() -> None:
    table = people(60).drop_columns(["zip"])
    looks = LookAlikes.read(open_source(table), ["age", "sex"])
    found = raise_levels(looks, {}, {}, [ld.KAnonymity(K)])
    ladders = {name: [None, *ladder_of(looks.values[name], None)] for name in looks.codes}

    def coded(name: str, level: Any) -> Any:
        return (looks.codes[name], len(looks.values[name]) + 1) if level is None else looks.at(name, level)

    def loss(name: str, level: Any) -> float:
        if level is None:
            return 0.0
        codes, size = coded(name, level)
        values = looks.at(name, level)[0]
        leaves = np.zeros(size)
        everything = pa.concat_arrays([looks.values[name], pa.nulls(1, looks.values[name].type)])
        labels = level.labels(name, everything).dictionary_encode()
        np.add.at(leaves, np.asarray(labels.indices), 1)
        share = leaves[values] / len(everything)
        return float(np.where(leaves[values] > 1, share, 0.0).mean()) + 0.0 * codes.sum()

    best = None
    for chosen in itertools.product(*ladders.values()):
        pairs = list(zip(*(coded(name, level)[0] for name, level in zip(ladders, chosen, strict=True)), strict=True))
        if min(pairs.count(pair) for pair in set(pairs)) >= K:
            total = sum(loss(name, level) for name, level in zip(ladders, chosen, strict=True))
            best = total if best is None else min(best, total)
    reached = sum(loss(name, found.get(name)) for name in ladders)
    assert best is not None
    assert reached == pytest.approx(best)


def test_what_cannot_be_reached_is_refused() -> None:
    with pytest.raises(ld.InfeasibleError, match="needs more records"):
        publish(METHODS[0], model="k-anonymity:1000")
    with pytest.raises(ld.ParameterError, match="must be about how many records look alike"):
        publish(METHODS[0], model="entropy:2")
    with pytest.raises(ld.ParameterError, match="must be left out with bsgi"):
        publish("bsgi:l=2")


# --- planted violations ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_search_that_stops_too_early_publishes_nothing(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_prepare, "raise_levels", lambda _looks, declared, *_: dict(declared))
    for more in ({}, {"output": "r"}):
        with pytest.raises(ld.ClaimError, match=r"look alike breaks? the claim"):
            publish(method, **more)
    assert not Path("r").exists()


@pytest.mark.parametrize("method", METHODS)
def test_a_file_that_breaks_the_promise_is_found(method: str) -> None:
    publish(method, output="r")
    rows = pq.read_table("r/data.parquet")
    place = rows.column_names.index("age")
    labels = sorted(set(rows["age"].to_pylist()))
    sexes = rows["sex"].to_pylist()
    others = [next(label for label in labels if label != own) for own in rows["age"].to_pylist()]
    rare = rows["age"].to_pylist()
    # Move all but one record of a group into another label.
    first = (rare[0], sexes[0], rows["zip"][0].as_py())
    for row in range(1, rows.num_rows):
        if (rare[row], sexes[row], rows["zip"][row].as_py()) == first:
            rare[row] = others[row]
    pq.write_table(rows.set_column(place, "age", pa.array(rare)), "r/data.parquet")
    sign_again(Path("r"), {})
    release = ld.load_release("r")
    with pytest.raises(ld.ClaimError, match=r"look alike breaks? the claim"):
        release.verify()
    assert not ld.audit(release).passed


@pytest.mark.parametrize("method", METHODS)
def test_a_claim_that_was_changed_is_found(method: str) -> None:
    publish(method, output="r")
    further = json.loads(Path("r/release.json").read_text(encoding="utf-8"))["sensitive"][0]["further_claims"]
    assert [claim["model"] for claim in further] == ["k-anonymity"]
    further[0]["rule"]["k"] = 390
    sign_again(Path("r"), {"further_claims": further})
    release = ld.load_release("r")
    with pytest.raises(ld.ClaimError, match=r"look alike breaks? the claim"):
        release.verify()
    further[0]["rule"] = {"name": "entropy", "l": 2}
    sign_again(Path("r"), {"further_claims": further})
    with pytest.raises(ld.ReleaseFormatError):
        ld.load_release("r")


def sign_again(folder: Path, changed: dict[str, Any]) -> None:
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    content = (folder / "data.parquet").read_bytes()
    manifest["data"] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest["sensitive"][0] |= changed
    (folder / "release.json").write_text(json.dumps(manifest), encoding="utf-8")


# --- faces ----------------------------------------------------------------------------------------


def test_commands_and_policies_take_it() -> None:
    pq.write_table(people(), "people.parquet")
    asked = ld.Publication(quasi=QUASI, sensitive="value", method=METHODS[0], model="k-anonymity:5")
    asked.save("p.toml")
    assert ld.Publication.load("p.toml") == asked
    words = ["people.parquet", "--quasi", "age,zip,sex", "--sensitive", "value", "-l", "2", "--model", "k-anonymity:5"]
    for command in (["anonymize", *words, "-o", "r"], ["plan", *words], ["anonymize", "people.parquet", "--policy"]):
        given = [*command, "p.toml", "-o", "s"] if command[-1] == "--policy" else command
        told = CliRunner().invoke(cli, given)
        assert told.exit_code == 0, told.output
    assert smallest(ld.load_release("r")) >= K
    assert "--model k-anonymity:5" in " ".join(asked.command() or [])


def test_left_out_records_do_not_decide_about_levels() -> None:
    rng = np.random.default_rng(0)
    many = pa.table({"age": rng.integers(20, 60, 90), "value": ["a"] * 60 + ["b", "c", "d"] * 10})
    release = ld.anonymize(
        many, quasi="age", sensitive="value", method="anatomy:l=2,overflow=suppress", model="k-anonymity:5"
    )
    assert release.suppressed
    release.verify()
    shown = release.columns(["age"]).group_by(["age"]).aggregate([([], "count_all")])["count_all"].to_pylist()
    assert min(shown) >= K


def test_the_command_gives_no_posterior_to_a_promise_about_quasi_identifiers() -> None:
    pq.write_table(people(), "people.parquet")
    words = ["people.parquet", "--quasi", "age,sex", "--sensitive", "value", "-l", "2", "--model", "k-anonymity:5"]
    told = CliRunner().invoke(cli, ["anonymize", *words, "-o", "r"]).output
    (row,) = [line for line in told.splitlines() if " k-anonymity " in line]
    assert "%" not in row
    assert "label of its level" in told
