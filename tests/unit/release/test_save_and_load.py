"""A release goes to a folder and comes back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import ldiversity as ld

FORMATS = ["parquet", "csv"]


@pytest.mark.parametrize("data_format", FORMATS)
def test_a_saved_release_is_loaded_again(release: ld.Release, tmp_path: Path, data_format: str) -> None:
    release.save(tmp_path / "release", data_format=data_format)

    loaded = ld.load_release(tmp_path / "release")

    assert loaded.table.equals(release.table)
    np.testing.assert_array_equal(loaded.sets("disease"), release.sets("disease"))
    assert loaded.claims == release.claims
    assert loaded.domain("disease") == release.domain("disease")
    np.testing.assert_array_equal(loaded.mechanism("disease").inclusion, release.mechanism("disease").inclusion)


def test_a_parquet_file_has_a_list_column_that_any_tool_reads(release: ld.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "release")

    column = pq.read_table(tmp_path / "release" / "data.parquet", columns=["disease"])["disease"]

    assert {len(members) for members in column.to_pylist()} == {3}


def test_a_csv_file_has_one_column_a_member(release: ld.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "release", data_format="csv")

    names = pa.csv.read_csv(tmp_path / "release" / "data.csv").column_names

    assert names == ["age", "sex", "disease_1", "disease_2", "disease_3"]


def test_members_are_in_domain_order(release: ld.Release) -> None:
    assert (np.diff(release.sets("disease"), axis=1) > 0).all()


def test_a_member_column_must_not_clash_with_another(people: pa.Table, tmp_path: Path) -> None:
    clashing = people.rename_columns(["name", "disease_1", "sex", "disease"])

    with pytest.raises(ld.SchemaError, match="'disease_1' has the name"):
        ld.anonymize(
            clashing,
            quasi=["disease_1"],
            sensitive="disease",
            method=ld.RandomizedAddition(l=2),
            output=tmp_path / "release",
            data_format="csv",
        )

    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_not_overwritten(release: ld.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "release")

    with pytest.raises(ld.ParameterError, match="must not exist yet"):
        release.save(tmp_path / "release")


def test_a_release_is_replaced_on_request(release: ld.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "release")
    release.save(tmp_path / "release", data_format="csv", overwrite=True)

    assert sorted(path.name for path in (tmp_path / "release").iterdir()) == ["data.csv", "release.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_folder_that_is_no_release_is_never_replaced(release: ld.Release, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")

    with pytest.raises(ld.ParameterError, match="must be a release, and hold nothing else"):
        release.save(tmp_path / "precious", overwrite=True)

    assert (tmp_path / "precious" / "thesis.txt").exists()


def test_the_manifest_says_what_is_not_protected(release: ld.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "release")

    manifest = json.loads((tmp_path / "release" / "release.json").read_text())

    assert manifest["records"] == 60
    assert any("intersect" in sentence for sentence in manifest["not_protected"])


def test_a_missing_category_survives_both_formats(people: pa.Table, tmp_path: Path) -> None:
    gaps = people.set_column(3, "disease", pa.array([None, *people["disease"].to_pylist()[1:]]))
    release = ld.anonymize(
        gaps, sensitive=ld.Sensitive("disease", missing="category"), quasi="age", method=ld.RandomizedAddition(l=3)
    )
    release.save(tmp_path / "parquet")
    release.save(tmp_path / "csv", data_format="csv")

    assert ld.load_release(tmp_path / "parquet").domain("disease").values[-1] is None
    np.testing.assert_array_equal(ld.load_release(tmp_path / "parquet").sets("disease"), release.sets("disease"))
    np.testing.assert_array_equal(ld.load_release(tmp_path / "csv").sets("disease"), release.sets("disease"))


@pytest.mark.parametrize("data_format", FORMATS)
def test_awkward_texts_survive(tmp_path: Path, data_format: str) -> None:
    texts = ["", 'say "hi"', "a,b", "line\nbreak", "naïve", "日本語", None, " padded "]
    table = pa.table({"note é": texts, "disease": ["x", "y", 'z "q"', "a,b", "c\nd", "日", "é", "0"]})
    release = ld.anonymize(table, quasi="note é", sensitive="disease", method=ld.RandomizedAddition(l=2))
    release.save(tmp_path / "release", data_format=data_format)

    assert ld.load_release(tmp_path / "release").table.equals(release.table)


@pytest.mark.parametrize("data_format", FORMATS)
def test_exploded_rows_are_loaded_again(people: pa.Table, tmp_path: Path, data_format: str) -> None:
    release = ld.anonymize(
        people,
        quasi=["age", "sex"],
        sensitive="disease",
        method=ld.RandomizedAddition(l=3),
        layout="exploded",
        output=tmp_path / "release",
        data_format=data_format,
    )

    assert release.n_rows == 60
    assert release.table.num_rows == 180
    assert release.members("disease").shape == (180,)


def test_exploded_rows_have_no_sets(people: pa.Table) -> None:
    release = ld.anonymize(
        people, quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=3), layout="exploded"
    )

    with pytest.raises(ld.UnsupportedError, match="exploded"):
        release.sets("disease")


def test_sets_can_be_shown_as_rows(release: ld.Release) -> None:
    rows = release.explode()

    assert rows.num_rows == 180
    assert rows.column_names == ["age", "sex", "disease"]


@pytest.mark.parametrize("name", ["age", "nonsense"])
def test_only_sensitive_attributes_have_sets(release: ld.Release, name: str) -> None:
    with pytest.raises(ld.SchemaError):
        release.sets(name)


def test_sensitive_columns_are_not_handed_out_as_columns(release: ld.Release) -> None:
    with pytest.raises(ld.SchemaError, match="is sensitive"):
        release.columns(["disease"])


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_a_loaded_release_hands_out_the_frames_asked_for(release: ld.Release, tmp_path: Path, frame: str) -> None:
    release.save(tmp_path / "release")

    table = ld.load_release(tmp_path / "release", frame=frame).table

    assert type(table).__module__.split(".")[0] == frame
