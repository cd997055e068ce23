"""Whatever the method: names and codings are refused until confirmed, and whoever reads the release is told."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.catalog import CATALOG
from ldiversity.faces.cli import cli

N = 240
RANDOM = np.random.default_rng(3)
DISEASE = np.array([f"disease {i}" for i in range(6)])[np.arange(N) % 6]
HIDDEN = "Qwertz"
"""Stands in every cell that no message may show."""

PLANTED = {
    "name": ("identifier", [f"{HIDDEN} {chr(97 + i % 26)}{i}" for i in range(N)]),
    "notes": ("free-text", [f"{HIDDEN} was here with pain number {i} and left the next day" for i in range(N)]),
    "icd": ("tells", [f"{HIDDEN[:3]}{value[-1]}" for value in DISEASE]),
}
TABLE = pa.table(
    {
        "age": RANDOM.integers(20, 60, N),
        "sex": np.array(["f", "m"])[RANDOM.integers(0, 2, N)],
        **{name: cells for name, (_, cells) in PLANTED.items()},
        "disease": DISEASE,
    }
)


TREE = ld.Hierarchy.from_rows([(f"disease {code}", f"group-{code % 3}") for code in range(6)])
OPTIONS: dict[str, dict[str, Any]] = {
    "semantic": {"d": 1, "distance": ld.DiscreteDistance()},
    "le-anatomy": {"e": 1, "tree": TREE},
}


@pytest.fixture(params=sorted(CATALOG))
def method(request: pytest.FixtureRequest) -> ld.Method:
    """Every registered method."""
    module, _, name = CATALOG[request.param].home.partition(":")
    made: ld.Method = getattr(import_module(module), name).of_level(3, **OPTIONS.get(request.param, {}))
    return made


@pytest.mark.parametrize("column", PLANTED)
def test_it_is_refused_by_every_method_until_it_is_confirmed(method: ld.Method, column: str, tmp_path: Path) -> None:
    said = {"quasi": ["age", "sex"], "plain": column, "sensitive": "disease", "method": method}

    with pytest.raises(ld.SchemaError, match=f"column '{column}' must be dropped or confirmed: ") as fault:
        ld.anonymize(TABLE, **said, output=tmp_path / "refused")
    assert HIDDEN[:3] not in str(fault.value)
    assert f"confirm='{column}'" in str(fault.value)
    assert not (tmp_path / "refused").exists()
    ld.anonymize(TABLE, **said, confirm=column, output=tmp_path / "release")
    kept = ld.load_release(tmp_path / "release")

    assert [(one.column, one.kind) for one in kept.confirmed] == [(column, PLANTED[column][0])]
    audited = ld.audit(kept)
    assert audited.verdict[0].startswith(f"The column {column!r} is published, and ")
    given_away = f"{column!r} ({kept.confirmed[0].does})"
    assert given_away in (audited.conclusion or "")
    assert given_away in audited.advice.text
    assert f"again without {column!r}" in audited.advice.text
    report = ld.user_report(kept, by=())
    gauge = next(one for one in report.risks if one.attribute == ("disease" if column == "icd" else None))
    assert (gauge.value, gauge.state) in {(1.0, "above"), (1.0, "no threshold")}


def test_without_such_columns_every_method_publishes_and_confirms_nothing(method: ld.Method, tmp_path: Path) -> None:
    release = ld.anonymize(TABLE, quasi=["age", "sex"], sensitive="disease", method=method, output=tmp_path / "release")

    assert release.confirmed == ()
    assert not any(one.blocking for one in release.findings)
    assert HIDDEN[:3] not in " ".join(map(str, release.findings))
    assert "confirmed" not in json.loads((tmp_path / "release" / "release.json").read_text(encoding="utf-8"))


def run(*words: str) -> Any:
    return CliRunner().invoke(cli, list(words), prog_name="ldiversity")


def test_the_command_line_refuses_in_one_line_and_says_both_ways_out(tmp_path: Path) -> None:
    table = tmp_path / "patients.csv"
    pa.csv.write_csv(TABLE, table)
    words = ("anonymize", str(table), "--quasi", "age,sex", "--plain", "notes,icd", "--sensitive", "disease", "-l", "3")

    refused = run(*words, "-o", str(tmp_path / "r"))
    assert refused.exit_code == 2
    (line,) = refused.stderr.strip().splitlines()
    assert "column 'notes' must be dropped or confirmed" in line
    assert "--confirm notes,icd" in line
    assert "take them out of --plain" in line
    planned = run("plan", *words[1:])
    assert planned.exit_code == 2
    assert "Refused: notes: " in planned.stdout
    done = run(*words, "--confirm", "notes,icd", "-o", str(tmp_path / "r"), "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert [one["column"] for one in found["confirmed"]] == ["notes", "icd"]
    assert {"column", "kind", "share", "text", "remedy", "blocking"} <= found["findings"][0].keys()
    assert HIDDEN[:3] not in refused.stderr + planned.stdout + done.stdout
    audited = run("audit", str(tmp_path / "r"), "--html", str(tmp_path / "audit.html"))
    told = "'notes' (people can be recognized by it alone), 'icd' (it tells 'disease')"
    assert " ".join(audited.stdout.split()).count(told) == 2  # after the verdict, and in the first thing to do
    assert "What was asked for holds." not in audited.stdout + (tmp_path / "audit.html").read_text(encoding="utf-8")
    followed = run(*words[:4], *words[6:], "-o", str(tmp_path / "r2"))
    assert followed.exit_code == 0


def test_a_policy_confirms_too_and_is_told_in_its_own_words(tmp_path: Path) -> None:
    pa.csv.write_csv(TABLE, tmp_path / "patients.csv")
    policy = tmp_path / "policy.toml"
    text = '[table]\nfile = "patients.csv"\nquasi = ["age"]\nplain = ["icd"]\n{}\n[sensitive.disease]\nl = 3\n'

    policy.write_text(text.format(""), encoding="utf-8")
    refused = run("anonymize", "--policy", str(policy), "-o", str(tmp_path / "r"))
    assert refused.exit_code == 2
    assert 'confirm = ["icd"]' in refused.stderr
    policy.write_text(text.format('confirm = ["icd"]'), encoding="utf-8")
    assert run("anonymize", "--policy", str(policy), "-o", str(tmp_path / "r")).exit_code == 0
    loaded = ld.Publication.load(policy)
    loaded.save(tmp_path / "again.toml")
    assert loaded.confirm == ("icd",)
    assert ld.Publication.load(tmp_path / "again.toml") == loaded


def test_an_unknown_column_cannot_be_confirmed_and_an_innocent_one_is_told() -> None:
    said = {"quasi": ["age", "sex"], "sensitive": "disease", "method": "randomized-addition:l=3"}

    with pytest.raises(ld.SchemaError, match="'nmae' does not exist"):
        ld.anonymize(TABLE, **said, confirm="nmae")
    release = ld.anonymize(TABLE, **said, confirm="age")
    assert release.confirmed == ()
    assert "Nothing needs to be confirmed about 'age'." in [one.text for one in release.findings]


def test_a_manifest_that_confirms_a_column_it_does_not_publish_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    ld.anonymize(
        TABLE, quasi="age", plain="icd", confirm="icd", sensitive="disease", method="anatomy:l=3", output=folder
    )
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    manifest["confirmed"][0]["column"] = "other"
    (folder / "release.json").write_text(json.dumps(manifest), encoding="utf-8")

    with pytest.raises(ld.ReleaseFormatError, match="confirmed columns must be published"):
        ld.load_release(folder)
