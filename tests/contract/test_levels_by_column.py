"""A level for each sensitive column, from the text of a command to the claims of a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.base.typed import join_levels, split_levels
from ldiversity.faces.cli import cli
from ldiversity.models import count_classes
from ldiversity.publish import _publish_classes
from ldiversity.publish._method import ChosenMethod
from ldiversity.publish._parts import PartSizes
from ldiversity.release import Form
from ldiversity.schema import Attribute, Role, Schema

LEVELS = {"disease": 2, "job": 4}
METHODS: list[Any] = [ld.BSGI, ld.LLMSU]
COLUMNS = ["--quasi", "age,sex", "--sensitive", "disease,job"]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(4)
    return pa.table(
        {
            "age": rng.integers(20, 80, 1200),
            "sex": rng.choice(["f", "m"], 1200),
            "disease": rng.choice(["flu", "cold", "cut"], 1200, p=[0.45, 0.35, 0.2]),
            "job": rng.choice(["baker", "clerk", "judge", "nurse", "smith", "tailor"], 1200),
            "who": np.arange(1200) % 1100,
        }
    )


def publish(table: pa.Table, method: Any, **given: Any) -> ld.ClassRelease:
    decisions: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": ["disease", "job"], "drop": "who", **given}
    release = ld.anonymize(table, method=method, **decisions)
    assert isinstance(release, ld.ClassRelease)
    return release


@pytest.mark.parametrize("method", METHODS)
def test_each_column_claims_its_own_level_on_what_was_written(table: pa.Table, method: Any, tmp_path: Path) -> None:
    publish(table, method(l=LEVELS), output=tmp_path / "release")

    read = ld.load_release(tmp_path / "release")

    assert isinstance(read, ld.ClassRelease)
    read.verify()
    assert {claim.attribute: claim.rule for claim in read.claims} == {  # type: ignore[union-attr]
        "disease": ld.FrequencyDiversity(2),
        "job": ld.FrequencyDiversity(4),
    }
    for name, l in LEVELS.items():
        classes = read.classes(name).dense()
        assert (classes.max(axis=1) * l <= classes.sum(axis=1)).all()
    assert all(one.verdict.passed for one in ld.audit(read).asked)
    assert read.mechanism("job").parameters["l"] == LEVELS  # type: ignore[union-attr]


def planted(layout: str) -> ld.ClassRelease:
    """Two classes of four records: the first column keeps its level 2, the second breaks its level 4."""
    domain = ld.Domain(("a", "b", "c", "d"))
    generalized = layout == "generalized"
    return ld.ClassRelease.in_memory(
        schema=Schema(
            (
                Attribute("age", Role.QUASI, "int64"),
                *(Attribute(name, Role.SENSITIVE, "string", domain) for name in LEVELS),
            )
        ),
        layout=layout,  # type: ignore[arg-type]
        rules={name: ld.FrequencyDiversity(l) for name, l in LEVELS.items()},
        class_of=np.repeat(np.arange(2, dtype=np.int32), 4),
        values={
            "disease": np.array([0, 0, 1, 1, 0, 1, 2, 3], dtype=np.int32),
            "job": np.array([0, 1, 2, 3, 0, 0, 2, 3], dtype=np.int32),
        },
        regions=pa.table({"age": [{"low": 1, "high": 4}, {"low": 5, "high": 8}]}) if generalized else None,
        columns=None if generalized else pa.table({"age": range(1, 9)}),
        forms={"age": Form("interval", low=1, high=8)} if generalized else None,
    )


@pytest.mark.parametrize("layout", ["generalized", "bucketized"])
def test_a_planted_violation_of_the_second_column_is_refused_when_written_verified_and_audited(
    layout: str, tmp_path: Path
) -> None:
    release = planted(layout)

    with pytest.raises(ld.ClaimError, match="job"):
        release.save(tmp_path / "release")
    with pytest.raises(ld.ClaimError, match="job"):
        release.verify()
    assert not (tmp_path / "release").exists()
    assert [(one.attribute, one.verdict.passed) for one in ld.audit(release).asked] == [
        ("disease", True),
        ("job", False),
    ]


@pytest.mark.parametrize("method", METHODS)
def test_a_release_that_claims_more_for_the_second_column_is_refused_when_loaded(
    table: pa.Table, method: Any, tmp_path: Path
) -> None:
    publish(table, method(l=LEVELS), output=tmp_path / "release")
    manifest = tmp_path / "release" / "release.json"
    said = manifest.read_text(encoding="utf-8")
    changed = said.replace('"l":4', '"l":6').replace('"l": 4', '"l": 6')
    assert changed != said
    manifest.write_text(changed, encoding="utf-8")

    with pytest.raises((ld.ClaimError, ld.ReleaseFormatError)):
        ld.load_release(tmp_path / "release").verify()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("given", [{}, {"drop": [], "person": "who"}])
def test_parts_keep_the_level_of_each_column(
    table: pa.Table, method: Any, given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_publish_classes, "part_sizes", lambda _: PartSizes(400))

    release = publish(table, method(l=LEVELS), output=tmp_path / "release", **given)

    release.verify()
    assert any("grouped in" in note for note in release.notes)
    for name, l in LEVELS.items():
        domain = release.domain(name)
        classes = release.classes(name).dense()
        assert (classes.max(axis=1) * l <= classes.sum(axis=1)).all()
        assert classes.shape[1] == len(domain) == len(set(table[name].to_pylist()))
    assert release.n_rows + release.suppressed == 1200


def test_parts_may_leave_records_out(table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_publish_classes, "part_sizes", lambda _: PartSizes(400))
    method = ld.BSGI(l={"disease": 3, "job": 4}, overflow="suppress")

    declared = [ld.Sensitive(name, domain=sorted(set(table[name].to_pylist()))) for name in LEVELS]

    release = publish(table, method, output=tmp_path / "release", grid={"age": 5}, sensitive=declared)

    release.verify()
    assert 0 < release.suppressed < 1100


@pytest.mark.parametrize("name", ["bsgi", "llmsu"])
def test_flags_a_policy_and_python_say_the_same(table: pa.Table, name: str, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(table.drop_columns(["who"]), tmp_path / "people.csv")
    words = [str(tmp_path / "people.csv"), *COLUMNS, "--method", name, "-l", "disease=2,job=4"]

    planned = CliRunner().invoke(cli, ["plan", *words, "--json"])
    ld.Publication(quasi=["age", "sex"], sensitive=["disease", "job"], method=f"{name}:l=disease=2,l=job=4").save(
        tmp_path / "policy.toml"
    )
    read = ld.Publication.load(tmp_path / "policy.toml")

    assert planned.exit_code == 0, planned.output
    said = json.loads(planned.output)
    assert said["parameters"]["l"] == LEVELS
    assert ["1 of 2" in text or "1 of 4" in text for one in said["attributes"] for text in one["claims"]] == [True] * 2
    assert read.grouping == {"bsgi": ld.BSGI, "llmsu": ld.LLMSU}[name](l=LEVELS)
    assert ChosenMethod.of(f"{name}:l=disease=2,l=job=4").words == ["--method", name, "-l", "disease=2,job=4"]


def test_a_way_out_is_said_as_the_command_line_writes_it(table: pa.Table, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(table.drop_columns(["who"]), tmp_path / "people.csv")
    words = ["plan", str(tmp_path / "people.csv"), *COLUMNS, "--method", "bsgi", "-l"]

    refused = CliRunner().invoke(cli, [*words, "disease=3,job=4"])
    unread = CliRunner().invoke(cli, [*words, "disease=2,job=many"])

    assert refused.exit_code != 0
    assert "-l disease=2,job=4" in " ".join(refused.output.split())
    assert CliRunner().invoke(cli, [*words, "disease=2,job=4"]).exit_code == 0
    assert "-l must be a whole number, or one for each column" in unread.output


def test_other_methods_take_one_level(table: pa.Table) -> None:
    with pytest.raises(ld.ParameterError, match="l must be an integer"):
        publish(table, "anatomy:l=disease=2,l=job=4")


def test_a_comparison_takes_a_method_with_levels_by_column(table: pa.Table) -> None:
    found = ld.compare(
        table,
        quasi=["age", "sex"],
        sensitive=["disease", "job"],
        drop="who",
        methods=[ld.LLMSU(l=LEVELS), ld.BSGI(l=LEVELS)],
        queries=5,
    )

    assert [run.measured for run in found.rows] == [True, True]
    assert found.alt
    assert found.figure() is not None


@pytest.mark.parametrize("levels", [{"a": 2}, {"a, b": 2, 'c"d': 3, "e=f": 4}])
def test_levels_are_read_as_they_are_written(levels: dict[str, int]) -> None:
    assert split_levels(join_levels(levels), "l") == levels


def test_classes_are_counted_as_the_release_shows_them(table: pa.Table) -> None:
    release = publish(table, ld.LLMSU(l=LEVELS))

    codes = release.classes("job")
    again = count_classes(
        np.repeat(np.arange(codes.n_classes), codes.sizes),
        np.repeat(codes.codes, codes.counts),
        codes.n_classes,
        codes.domain,
    )
    assert np.array_equal(codes.dense(), again.dense())
