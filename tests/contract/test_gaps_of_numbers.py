"""Numbers that count as different only beyond a gap, from the text of a command to the claims of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.faces.cli import cli
from ldiversity.publish import _publish_classes
from ldiversity.publish._parts import PartSizes
from ldiversity.schema import Attribute, Role, Schema

METHODS: list[Any] = [ld.Anatomy, ld.LLMSU, ld.BSGI]
GAP = {"pay": 250.0}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(4)
    return pa.table(
        {
            "age": rng.integers(20, 80, 900),
            "pay": rng.integers(10, 60, 900) * 50,
            "who": np.arange(900) % 850,
        }
    )


def slowly(release: ld.ClassRelease, l: int, gap: float) -> bool:
    """Whether no interval shorter than the gap has more than 1/l of a class, one by one."""
    values = np.array(release.domain("pay").values)
    for counts in release.classes("pay").dense():
        own = np.repeat(values, counts)
        if any(((own >= low) & (own - low < gap)).sum() * l > len(own) for low in own):
            return False
    return True


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("parts", [None, PartSizes(300)])
def test_the_claim_is_written_read_and_audited(
    table: pa.Table, method: Any, parts: PartSizes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_publish_classes, "part_sizes", lambda _: parts)
    ld.anonymize(
        table,
        quasi="age",
        sensitive="pay",
        drop="who",
        method=method(l=3, gap=GAP),
        output=tmp_path / "release",
    )

    read = ld.load_release(tmp_path / "release")

    assert isinstance(read, ld.ClassRelease)
    read.verify()
    assert [claim.rule for claim in read.claims] == [ld.GapDiversity(3, 250)]  # type: ignore[union-attr]
    assert slowly(read, 3, 250)
    assert read.n_rows == 900
    assert all(one.verdict.passed for one in ld.audit(read).asked)
    assert read.mechanism("pay").parameters["gap"] == GAP  # type: ignore[union-attr]


def test_a_planted_violation_is_refused_when_written_verified_and_audited(tmp_path: Path) -> None:
    domain = ld.Domain((100, 200, 300, 900), ordered=True, positions=(100.0, 200.0, 300.0, 900.0))
    release = ld.ClassRelease.in_memory(
        schema=Schema((Attribute("age", Role.QUASI, "int64"), Attribute("pay", Role.SENSITIVE, "int64", domain))),
        layout="bucketized",
        rules={"pay": ld.GapDiversity(2, 150)},
        class_of=np.array([0, 0, 1, 1], dtype=np.int32),
        values={"pay": np.array([0, 3, 1, 2], dtype=np.int32)},  # different, yet 200 and 300 are too near
        columns=pa.table({"age": range(4)}),
    )

    with pytest.raises(ld.ClaimError, match="pay"):
        release.save(tmp_path / "release")
    with pytest.raises(ld.ClaimError, match="pay"):
        release.verify()
    assert [one.verdict.passed for one in ld.audit(release).asked] == [False]


@pytest.mark.parametrize("method", METHODS)
def test_a_release_that_claims_a_wider_gap_is_refused_when_loaded(table: pa.Table, method: Any, tmp_path: Path) -> None:
    ld.anonymize(
        table, quasi="age", sensitive="pay", drop="who", method=method(l=3, gap=GAP), output=tmp_path / "release"
    )
    manifest = tmp_path / "release" / "release.json"
    said = manifest.read_text(encoding="utf-8")
    changed = said.replace("250", "2000")
    assert changed != said
    manifest.write_text(changed, encoding="utf-8")

    with pytest.raises((ld.ClaimError, ld.ReleaseFormatError)):
        ld.load_release(tmp_path / "release").verify()


@pytest.mark.parametrize("name", ["anatomy", "llmsu", "bsgi"])
def test_flags_a_policy_and_python_say_the_same(table: pa.Table, name: str, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(table.drop_columns(["who"]), tmp_path / "people.csv")
    words = [str(tmp_path / "people.csv"), "--quasi", "age", "--sensitive", "pay", "--method", name, "-l", "3"]
    ld.Publication(quasi="age", sensitive="pay", method=f"{name}:l=3,gap=pay=250").save(tmp_path / "policy.toml")

    planned = CliRunner().invoke(cli, ["plan", *words, "--gap", "pay=250"])
    refused = CliRunner().invoke(cli, ["plan", *words, "--gap", "pay=2000"])

    assert planned.exit_code == 0, planned.output
    assert "no interval shorter than 250" in " ".join(planned.output.split())
    assert refused.exit_code != 0
    read = ld.Publication.load(tmp_path / "policy.toml").grouping
    assert read == {"anatomy": ld.Anatomy, "llmsu": ld.LLMSU, "bsgi": ld.BSGI}[name](l=3, gap=GAP)


def test_any_method_that_takes_models_takes_the_gap_as_a_model(table: pa.Table) -> None:
    release = ld.anonymize(table, quasi="age", sensitive="pay", drop="who", method=ld.Mondrian(model="gap:3:250"))

    assert isinstance(release, ld.ClassRelease)
    assert slowly(release, 3, 250)


def test_estimates_of_a_release_with_a_gap_add_up_to_its_records(table: pa.Table) -> None:
    release = ld.anonymize(table, quasi="age", sensitive="pay", drop="who", method=ld.Anatomy(l=3, gap=GAP))

    assert ld.estimate(release).count.sum() == pytest.approx(900)


def test_rows_of_a_person_stay_apart(table: pa.Table) -> None:
    for method in (ld.LLMSU(l=3, gap=GAP), ld.BSGI(l=3, gap=GAP)):
        release = ld.anonymize(table, quasi="age", sensitive="pay", person="who", method=method)
        assert isinstance(release, ld.ClassRelease)
        release.verify()
        assert slowly(release, 3, 250)
