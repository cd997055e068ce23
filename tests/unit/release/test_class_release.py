"""Grouped releases: what they hand out, and that files keep it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.models import UniqueDiversity
from ldiversity.release import Form, Marginal
from ldiversity.schema import Attribute, Role, Schema


def save(release: ld.ClassRelease, folder: Path, data_format: Any) -> ld.ClassRelease:
    release.save(folder, data_format=data_format)
    loaded = ld.load_release(folder)
    assert isinstance(loaded, ld.ClassRelease)
    return loaded


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ["generalized", "bucketized", "separate"])
def test_a_saved_release_is_loaded_again(
    request: pytest.FixtureRequest, tmp_path: Path, data_format: str, kind: str
) -> None:
    release: ld.ClassRelease = request.getfixturevalue(kind)

    loaded = save(release, tmp_path / "release", data_format)

    assert loaded.table.equals(release.table)
    assert all(loaded.sensitive_tables[name].equals(release.sensitive_tables[name]) for name in release.sensitive)
    assert loaded.claims == release.claims
    assert loaded.mechanisms == release.mechanisms
    assert (loaded.suppressed, loaded.warnings, loaded.layout) == (
        release.suppressed,
        release.warnings,
        release.layout,
    )
    loaded.verify()


@pytest.mark.parametrize("kind", ["generalized", "bucketized", "separate"])
def test_both_families_are_releases(request: pytest.FixtureRequest, release: ld.Release, kind: str) -> None:
    assert isinstance(request.getfixturevalue(kind), ld.Release)
    assert isinstance(release, ld.Release)


def test_the_table_has_the_class_first_and_cells_by_their_form(generalized: ld.ClassRelease) -> None:
    first = generalized.table.to_pylist()[0]

    assert list(first) == ["class_id", "age", "born", "place", "job", "ward", "disease"]
    assert (first["class_id"], first["age"], first["place"], first["job"]) == (
        1,
        {"low": -5, "high": -3},
        "west",
        ["a|b", "c\\"],
    )


def test_a_csv_file_shows_intervals_and_lists_as_text(generalized: ld.ClassRelease, tmp_path: Path) -> None:
    generalized.save(tmp_path / "release", data_format="csv")

    lines = (tmp_path / "release" / "data.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1] == '1,"-5..-3","2020-02-29..2020-02-29","west","a\\|b|c\\\\","w1","cold"'
    assert lines[2] == '2,,"2020-02-29..2020-02-29","Jena","","w2","cut"'


def test_a_parquet_file_has_plain_types_that_any_tool_reads(generalized: ld.ClassRelease, tmp_path: Path) -> None:
    generalized.save(tmp_path / "release")

    kinds = dict(zip(*((s := pq.read_schema(tmp_path / "release" / "data.parquet")).names, s.types), strict=True))
    assert kinds["age"] == pa.struct([("low", pa.int64()), ("high", pa.int64())])
    assert pa.types.is_list(kinds["job"])
    assert kinds["place"] == pa.string()


def test_values_of_a_bucketized_release_stand_in_a_table_of_their_own(
    bucketized: ld.ClassRelease, tmp_path: Path
) -> None:
    bucketized.save(tmp_path / "release")

    files = sorted(path.name for path in (tmp_path / "release").iterdir())
    assert files == ["data.parquet", "release.json", "sensitive_1.parquet"]
    assert pq.read_schema(tmp_path / "release" / "data.parquet").names == ["class_id", "age"]
    assert bucketized.sensitive_table.to_pylist() == [
        {"class_id": 1, "value": "cut", "count": 1},
        {"class_id": 1, "value": "flu", "count": 1},
        {"class_id": 2, "value": "cold", "count": 1},
        {"class_id": 2, "value": "cut", "count": 1},
    ]


def test_a_record_without_a_value_has_no_class(separate: ld.ClassRelease, tmp_path: Path) -> None:
    loaded = save(separate, tmp_path / "release", "csv")

    assert loaded.table["class_id_job"].to_pylist() == [1, None, None, 1]
    assert loaded.class_of("job").tolist() == [0, -1, -1, 0]
    assert loaded.classes("job").dense().tolist() == [[1, 1, 0]]


def test_several_tables_are_asked_for_by_name(separate: ld.ClassRelease) -> None:
    assert separate.sensitive_tables["job"].num_rows == 2
    with pytest.raises(ld.UnsupportedError, match="each has a table of its own"):
        separate.sensitive_table  # noqa: B018


def test_a_release_is_replaced_on_request_with_all_its_files(
    bucketized: ld.ClassRelease, generalized: ld.ClassRelease, separate: ld.ClassRelease, tmp_path: Path
) -> None:
    target = tmp_path / "release"
    for release in (separate, bucketized, generalized):
        release.save(target, overwrite=True)

    assert sorted(path.name for path in target.iterdir()) == ["data.parquet", "release.json"]


def test_a_folder_with_another_file_is_kept(bucketized: ld.ClassRelease, tmp_path: Path) -> None:
    bucketized.save(tmp_path / "release")
    (tmp_path / "release" / "sensitive_2.parquet").write_bytes(b"mine")

    with pytest.raises(ld.ParameterError, match="hold nothing else"):
        bucketized.save(tmp_path / "release", overwrite=True)


def test_exact_columns_are_handed_out_and_others_are_not(
    generalized: ld.ClassRelease, bucketized: ld.ClassRelease
) -> None:
    assert bucketized.columns(["age"])["age"].to_pylist() == [20, 30, None, 50]
    with pytest.raises(ld.SchemaError, match="'age' is generalized"):
        generalized.columns(["age"])
    with pytest.raises(ld.SchemaError, match="'disease' is sensitive"):
        generalized.columns(["disease"])


def test_each_layout_says_what_it_does_not_have(generalized: ld.ClassRelease, bucketized: ld.ClassRelease) -> None:
    assert generalized.values("disease").tolist() == [0, 1, 2, 1, 2, 0]
    with pytest.raises(ld.UnsupportedError, match="table of their own"):
        bucketized.values("disease")
    with pytest.raises(ld.UnsupportedError, match="as they are"):
        bucketized.regions()


@pytest.mark.parametrize("ask", ["class_of", "values", "classes", "claim", "mechanism", "domain"])
def test_only_sensitive_attributes_have_classes(generalized: ld.ClassRelease, ask: str) -> None:
    with pytest.raises(ld.SchemaError, match="not sensitive"):
        getattr(generalized, ask)("age")


def test_the_manifest_says_what_is_not_protected(bucketized: ld.ClassRelease, tmp_path: Path) -> None:
    bucketized.save(tmp_path / "release")

    manifest = json.loads((tmp_path / "release" / "release.json").read_text())
    assert any("publish once" in sentence for sentence in manifest["not_protected"])
    assert manifest["sensitive"][0]["claim"]["rule"] == {"name": "unique", "l": 2}


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("kind", "ends"),
    [
        (pa.int8(), [(-128, 127)]),
        (pa.uint64(), [(0, 2**62)]),
        (pa.float64(), [(-1e-300, 1e300), (0.1, 0.30000000000000004)]),
        (pa.float32(), [(0.25, 3.5)]),
        (pa.date64(), [(-86400000, 86400000)]),
        (pa.timestamp("us"), [(-1, 10**15 + 1)]),
        (pa.timestamp("ms", tz="Europe/Berlin"), [(0, 1)]),
        (pa.timestamp("ns"), [(1, 2)]),
    ],
)
def test_intervals_of_every_type_come_back(tmp_path: Path, data_format: str, kind: pa.DataType, ends: Any) -> None:
    cells = [pa.array([pair[end] for pair in ends]).cast(kind) for end in range(2)]
    regions = pa.table({"x": pa.StructArray.from_arrays(cells, names=["low", "high"])})
    n = 2 * len(ends)
    release = ld.ClassRelease.in_memory(
        schema=Schema(
            (
                Attribute("x", Role.QUASI, str(kind)),
                Attribute("s", Role.SENSITIVE, "string", ld.Domain(("a", "b"))),
            )
        ),
        layout="generalized",
        rules={"s": UniqueDiversity(l=2)},
        class_of=np.arange(n) // 2,
        values={"s": np.arange(n) % 2},
        regions=regions,
        forms={"x": Form("interval", low=ends[0][0], high=ends[0][1])},
    )

    loaded = save(release, tmp_path / "release", data_format)

    assert loaded.regions().equals(regions)


def test_marginals_come_back(generalized: ld.ClassRelease, tmp_path: Path) -> None:
    marginal = Marginal(np.array([-5, -3, 7]), np.array([1, 1, 2]), missing=2)
    forms = {**generalized.forms, "age": Form("interval", low=-5, high=7, marginal=marginal)}
    object.__setattr__(generalized, "forms", forms)

    loaded = save(generalized, tmp_path / "release", "parquet").forms["age"].marginal

    assert loaded is not None
    assert (loaded.values.tolist(), loaded.counts.tolist(), loaded.missing) == ([-5, -3, 7], [1, 1, 2], 2)
    assert loaded.n_records == 6


@pytest.mark.parametrize("frame", ["arrow", "pandas", "polars"])
def test_a_loaded_release_hands_out_the_frames_asked_for(
    generalized: ld.ClassRelease, tmp_path: Path, frame: str
) -> None:
    generalized.save(tmp_path / "release")

    release = ld.load_release(tmp_path / "release", frame=frame)

    assert frame in type(release.table).__module__ or frame == "arrow"
    assert len(release.table) == 6


def test_the_repr_is_short(separate: ld.ClassRelease) -> None:
    assert repr(separate) == (
        "<ClassRelease of 4 records, bucketized: 2 classes of 'disease', 1 class of 'job'; 1 other column>"
    )
