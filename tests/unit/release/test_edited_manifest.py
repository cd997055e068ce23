"""A description that was changed after publishing: nothing in it is shown as true that can be computed anew."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.release import SEPARATE_CLASSES, claim_of
from ldiversity.schema import Role

SAMPLES = Path(__file__).parents[2] / "data"
SETS = ["balanced-parquet", "exploded-parquet", "simple-csv", "two-attributes-parquet", "uniform-csv"]
CLASSES = ["bucketized-csv", "generalized-csv", "separate-parquet"]

Manifest = dict[str, Any]


@pytest.fixture
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLES / f"release-v1-{request.param}", tmp_path / "release"))


def edit(folder: Path, change: Callable[[Manifest], object]) -> None:
    manifest = json.loads((folder / "release.json").read_text())
    change(manifest)
    (folder / "release.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999, 1.001, 1.1])
@pytest.mark.parametrize("sample", [*SETS, *CLASSES], indirect=True)
def test_an_edited_posterior_is_refused(sample: Path, share: float) -> None:
    ld.load_release(sample)
    edit(sample, lambda m: [e["claim"].update(posterior=e["claim"]["posterior"] * share) for e in m["sensitive"]])

    with pytest.raises(ld.ReleaseFormatError, match="claim about 'disease' must be its"):
        ld.load_release(sample)


def test_the_posterior_of_a_leaking_mechanism_cannot_be_edited_to_the_promise_of_a_good_one(tmp_path: Path) -> None:
    table = pa.table({"age": list(range(90)), "level": list(range(9)) * 10})
    sensitive = ld.Sensitive("level", domain=list(range(9)))
    method = ld.SemanticDiversity(l=3, d=2, distance="ordered", selection="simple")
    release = ld.anonymize(table, quasi="age", sensitive=sensitive, method=method)
    release.save(tmp_path / "release")
    assert release.claims[0].posterior == pytest.approx(0.393, abs=0.001)
    edit(tmp_path / "release", lambda m: m["sensitive"][0]["claim"].update(posterior=1 / 3))

    with pytest.raises(ld.ReleaseFormatError, match="must be its mechanism's"):
        ld.load_release(tmp_path / "release")


@pytest.mark.parametrize("sample", SETS, indirect=True)
def test_a_claim_that_promises_nothing_is_replaced_by_what_can_be_proven(sample: Path) -> None:
    edit(sample, lambda m: [entry["claim"].update(posterior=1) for entry in m["sensitive"]])

    release = ld.load_release(sample)

    assert isinstance(release, ld.SetRelease)
    assert release.claims == tuple(
        claim_of(name, release.mechanisms[name]) for name in release.schema.names(Role.SENSITIVE)
    )


@pytest.mark.parametrize("sample", ["uniform-csv", "generalized-csv"], indirect=True)
def test_sentences_of_the_file_are_not_ours(sample: Path) -> None:
    before = ld.load_release(sample)
    edit(sample, lambda m: [entry["claim"].update(statement="LIE") for entry in m["sensitive"]])
    edit(sample, lambda m: m.update(not_protected=["LIE"], order="LIE", software="LIE"))

    release = ld.load_release(sample)

    assert release.claims == before.claims
    said = json.dumps(ld.user_report(release).to_dict())
    assert "LIE" not in said


@pytest.mark.parametrize("sample", ["separate-parquet"], indirect=True)
def test_a_warning_that_every_reader_must_see_cannot_be_taken_out(sample: Path) -> None:
    edit(sample, lambda m: m["classes"].update(warnings=["Trust me."]))

    release = ld.load_release(sample)

    assert isinstance(release, ld.ClassRelease)
    assert release.warnings == (SEPARATE_CLASSES, "Trust me.")
    assert "The publisher warns: Trust me." in ld.user_report(release).to_html()


@pytest.mark.parametrize("sample", ["generalized-csv", "generalized-parquet"], indirect=True)
def test_a_public_range_that_does_not_hold_the_rows_is_refused(sample: Path) -> None:
    edit(sample, lambda m: m["classes"]["forms"][0].update(high=m["classes"]["forms"][0]["high"] - 1))
    release = ld.load_release(sample)
    assert isinstance(release, ld.ClassRelease)

    with pytest.raises(ld.ReleaseFormatError, match="within its public range"):
        release.regions()


@pytest.mark.parametrize("sample", ["generalized-csv"], indirect=True)
def test_marginals_of_another_number_of_records_are_refused(sample: Path) -> None:
    edit(sample, lambda m: m["classes"]["forms"][0].update(marginal={"values": [20, 30], "counts": [20, 21]}))

    with pytest.raises(ld.ReleaseFormatError, match="counts of all records"):
        ld.load_release(sample)


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ('"records": 40,', '"records": 40, "records": 40,', "the key 'records' must occur only once"),
        ('"records": 40,', '"records": 40, "rec\\u006frds": 40,', "the key 'records' must occur only once"),
        ('"l": 3,', '"l": 2, "l": 3,', "the key 'l' must occur only once"),
        ('"n_values": 8,', '"n_values": 8, "later": {"a": 1, "b": 2, "a": 3},', "the key 'a' must occur only once"),
        ('"n_values": 8,', '"n_values": 8, "later": NaN,', "numbers must be finite"),
        ('"n_values": 8,', '"n_values": 8, "later": -Infinity,', "numbers must be finite"),
        ('"n_values": 8,', '"n_values": 8, "later": 1e999,', "numbers must be finite"),
        ('"n_values": 8,', '"n_values": 8, "later": ' + "[" * 100_000 + "]" * 100_000 + ",", "a few levels deep"),
        ('"n_values": 8,', '"n_values": 8, "later": ' + "9" * 100_000 + ",", "damaged"),
        ('"n_values": 8,', '"n_values": 8, "later": "\\ud800",', "damaged"),
    ],
    ids=lambda text: text[:40],
)
@pytest.mark.parametrize("sample", ["uniform-parquet"], indirect=True)
def test_json_that_readers_understand_differently_is_refused(sample: Path, old: str, new: str, rule: str) -> None:
    content = (sample / "release.json").read_text()
    assert old in content
    (sample / "release.json").write_text(content.replace(old, new, 1))

    with pytest.raises(ld.ReleaseFormatError, match=rule):
        ld.load_release(sample)


@pytest.mark.parametrize("sample", ["uniform-parquet"], indirect=True)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_description_in_another_encoding_is_refused(sample: Path, encoding: str) -> None:
    content = (sample / "release.json").read_text()
    (sample / "release.json").write_text(content, encoding=encoding)

    with pytest.raises(ld.ReleaseFormatError, match="damaged"):
        ld.load_release(sample)


@pytest.mark.parametrize("name", ["release.json", "data.parquet", "sensitive_1.parquet"])
@pytest.mark.parametrize("sample", ["bucketized-parquet"], indirect=True)
def test_no_file_of_a_release_may_be_a_link(sample: Path, tmp_path: Path, name: str) -> None:
    (sample / name).rename(tmp_path / "elsewhere")
    (sample / name).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ld.ReleaseFormatError, match="regular file"):
        ld.load_release(sample)


@pytest.mark.parametrize("sample", ["bucketized-parquet"], indirect=True)
def test_the_folder_itself_may_be_a_link_of_the_reader(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(sample, target_is_directory=True)

    ld.load_release(tmp_path / "link").verify()
