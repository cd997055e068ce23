"""Columns come back as the types that they had: in memory and from files, in each kind of frame, for each layout."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.methods import Method

N = 40
DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=(i * 7) % 90) for i in range(N)]
TIMES = pd.date_range("2020-01-01 08:00", periods=N, freq="h").to_pydatetime().tolist()
LEVELS = [("low", "mid", "high")[i % 3] for i in range(N)]
GAPS = [None if i == 3 else i % 5 for i in range(N)]
TRUTHS = [None if i == 2 else i % 2 == 0 for i in range(N)]
TEXTS = [f"s{i % 3}" for i in range(N)]
COLUMNS: dict[str, dict[str, Any]] = {
    "pandas": {
        "ordered": pd.Categorical(LEVELS, ["low", "mid", "high"], ordered=True),
        "category": pd.Categorical(TEXTS),
        "numbered": pd.Categorical([i % 3 for i in range(N)]),
        "gaps": pd.array(GAPS, dtype="Int64"),
        "nullable": pd.array([i % 5 for i in range(N)], dtype="Int32"),
        "fractions": pd.array([i / 2 for i in range(N)], dtype="Float64"),
        "short": pd.Series([i % 7 for i in range(N)], dtype="int16"),
        "day": pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32())),
        "zone": pd.Series(TIMES).dt.tz_localize("Europe/Berlin").dt.as_unit("us"),
        "time": pd.Series(TIMES).dt.as_unit("ns"),
        "truth": pd.array(TRUTHS, dtype="boolean"),
        "string": pd.array(TEXTS, dtype="string"),
        "object": pd.Series(TEXTS, dtype=object),
        "arrow": pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    },
    "polars": {
        "ordered": pl.Series(LEVELS, dtype=pl.Enum(["low", "mid", "high"])),
        "category": pl.Series(TEXTS, dtype=pl.Categorical),
        "gaps": pl.Series(GAPS, dtype=pl.Int64),
        "short": pl.Series([i % 7 for i in range(N)], dtype=pl.Int16),
        "day": pl.Series(DAYS),
        "zone": pl.Series(TIMES, dtype=pl.Datetime("us")).dt.replace_time_zone("Europe/Berlin"),
        "truth": pl.Series(TRUTHS),
        "string": pl.Series(TEXTS),
    },
    "arrow": {
        "ordered": pa.DictionaryArray.from_arrays(
            pa.array([i % 3 for i in range(N)], pa.int32()), pa.array(["low", "mid", "high"]), ordered=True
        ),
        "category": pa.array(TEXTS).dictionary_encode(),
        "gaps": pa.array(GAPS, pa.int64()),
        "short": pa.array([i % 7 for i in range(N)], pa.int16()),
        "day": pa.array(DAYS),
        "zone": pa.array(TIMES, pa.timestamp("us", "Europe/Berlin")),
        "truth": pa.array(TRUTHS),
        "string": pa.array(TEXTS),
    },
}
MAKE: dict[str, Any] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
METHODS: dict[str, tuple[Method, str, str]] = {
    "sets": (ld.RandomizedAddition(l=2), "sets", "quasi"),
    "exploded": (ld.RandomizedAddition(l=2), "exploded", "quasi"),
    "bucketized": (ld.Anatomy(l=2), "bucketized", "quasi"),
    "generalized": (ld.Mondrian(l=2), "generalized", "plain"),
}


def types(frame: Any) -> dict[str, Any]:
    if isinstance(frame, pa.Table):
        return {field.name: field.type for field in frame.schema}
    return dict((frame.dtypes if isinstance(frame, pd.DataFrame) else frame.schema).items())


def publish(frame: Any, layout: str, **more: Any) -> ld.Release:
    method, _, role = METHODS[layout]
    names = [name for name in types(frame) if name != "sensitive"]
    given: dict[str, Any] = {"quasi": [], role: names, **more}
    if layout == "exploded":
        given["layout"] = layout
    return ld.anonymize(frame, sensitive="sensitive", method=method, insecure_seed=4, **given)


@pytest.mark.parametrize("layout", METHODS)
@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_that_are_published_keep_their_types(kind: str, layout: str, tmp_path: Path) -> None:
    frame = MAKE[kind]({**COLUMNS[kind], "sensitive": [f"v{i % 4}" for i in range(N)]})
    release = publish(frame, layout)
    tables = {"memory": release.table, "flat": release.flat}
    for data_format in ("parquet", "csv"):
        release.save(tmp_path / data_format, data_format=data_format)  # type: ignore[arg-type]
        tables[data_format] = ld.load_release(tmp_path / data_format, frame=kind).table

    before = types(frame)
    for where, table in tables.items():
        changed = {name: types(table)[name] for name in COLUMNS[kind] if types(table)[name] != before[name]}
        assert changed == {}, where


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_ends_of_generalized_columns_have_the_type_of_the_column(data_format: Any, tmp_path: Path) -> None:
    names = ("gaps", "nullable", "short", "day", "zone", "time", "fractions")
    frame = pd.DataFrame({**{n: COLUMNS["pandas"][n] for n in names}, "sensitive": [f"v{i % 4}" for i in range(N)]})
    release = ld.anonymize(frame, quasi=list(names), sensitive="sensitive", method=ld.Mondrian(l=2))
    release.save(tmp_path / "release", data_format=data_format)

    for flat in (release.flat, ld.load_release(tmp_path / "release", frame="pandas").flat):
        before = {f"{name}_{end}": frame.dtypes[name] for name in names for end in ("low", "high")}
        assert {name: flat.dtypes[name] for name in before} == before


@pytest.mark.parametrize("layout", METHODS)
@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_a_category_that_no_published_row_has_is_not_told(layout: str, data_format: Any, tmp_path: Path) -> None:
    stage = pd.Categorical(LEVELS, ["low", "rare-secret", "mid", "high"], ordered=True)
    release = publish(pd.DataFrame({"stage": stage, "sensitive": [f"v{i % 4}" for i in range(N)]}), layout)
    release.save(tmp_path / "release", data_format=data_format)

    assert list(release.table["stage"].cat.categories) == ["low", "mid", "high"]
    assert release.schema["stage"].categories == ("low", "mid", "high")
    assert not any(b"rare-secret" in file.read_bytes() for file in (tmp_path / "release").iterdir())


def test_a_folder_that_is_written_directly_tells_of_no_unused_category(tmp_path: Path) -> None:
    stage = pd.Categorical(LEVELS, ["low", "rare-secret", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"stage": stage, "sensitive": [f"v{i % 4}" for i in range(N)]})
    for layout in METHODS:
        publish(frame, layout, output=tmp_path / layout)
        assert not any(b"rare-secret" in file.read_bytes() for file in (tmp_path / layout).iterdir())


@pytest.mark.parametrize("planted", [["low", "mid"], ["low", "low", "mid", "high"]])
def test_categories_from_a_stranger_that_contradict_the_rows_are_damage(planted: list[str], tmp_path: Path) -> None:
    frame = pd.DataFrame({"stage": COLUMNS["pandas"]["ordered"], "sensitive": [f"v{i % 4}" for i in range(N)]})
    publish(frame, "sets", output=tmp_path / "release")
    file = tmp_path / "release" / "release.json"
    said = json.loads(file.read_text(encoding="utf-8"))
    said["columns"][0]["categories"] = planted
    file.write_text(json.dumps(said), encoding="utf-8")

    with pytest.raises(ld.ReleaseFormatError, match="column 'stage' must"):
        _ = ld.load_release(tmp_path / "release", frame="pandas").table


def ordered(values: pa.Array) -> pa.DictionaryArray:
    """A column of ordered categories: of the first three, each occurs."""
    return pa.DictionaryArray.from_arrays(pa.array([i % 3 for i in range(N)], pa.int32()), values, ordered=True)


ODD = {
    "nan": ordered(pa.array([0.5, float("nan"), 1.5])),
    "zeros": ordered(pa.array([0.0, -0.0, 1.5])),
    "long": ordered(pa.array(["x" * 10_001, "b", "c"])),
    "unused": ordered(pa.array([f"c{i}" for i in range(100_001)])),
    "unused-long": ordered(pa.array(["a", "b", "c", "x" * 10_001])),
}


@pytest.mark.parametrize("layout", METHODS)
@pytest.mark.parametrize("odd", ODD)
def test_categories_that_cannot_be_told_are_no_reason_to_refuse_a_table(odd: str, layout: str, tmp_path: Path) -> None:
    table = pa.table({"odd": ODD[odd], "sensitive": [f"v{i % 4}" for i in range(N)]})
    publish(table, layout, output=tmp_path / "written")
    publish(table, layout).save(tmp_path / "saved")

    for folder in ("written", "saved"):
        for kind in COLUMNS:
            release = ld.load_release(tmp_path / folder, frame=kind)
            assert len(release.table) == len(release.flat)


@pytest.mark.parametrize("planted", [["nan", "0.5"], ["0", "-0", "0.5"]])
def test_categories_from_a_stranger_that_no_frame_can_have_are_damage(planted: list[str], tmp_path: Path) -> None:
    numbers = ordered(pa.array([0.0, 0.5, 1.5]))
    publish(pa.table({"odd": numbers, "sensitive": [f"v{i % 4}" for i in range(N)]}), "sets", output=tmp_path / "r")
    file = tmp_path / "r" / "release.json"
    said = json.loads(file.read_text(encoding="utf-8"))
    said["columns"][0]["categories"] = planted
    file.write_text(json.dumps(said), encoding="utf-8")

    with pytest.raises(ld.ReleaseFormatError, match="column 'odd' must have categories, each once"):
        ld.load_release(tmp_path / "r", frame="pandas")


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("layout", METHODS)
def test_a_time_zone_from_a_stranger_that_nobody_knows_is_told(layout: str, kind: str, tmp_path: Path) -> None:
    table = pa.table({"zone": COLUMNS["arrow"]["zone"], "sensitive": [f"v{i % 4}" for i in range(N)]})
    publish(table, layout, output=tmp_path / "r", **({"quasi": ["zone"], "plain": []} if "gen" in layout else {}))
    file = tmp_path / "r" / "release.json"
    file.write_text(file.read_text(encoding="utf-8").replace("Europe/Berlin", "Nowhere/Bad"), encoding="utf-8")
    release = ld.load_release(tmp_path / "r", frame=kind)

    for view in ("table", "flat"):
        with pytest.raises(ld.LDiversityError, match=f"time zone that {kind} knows|time zone 'Nowhere/Bad' must be"):
            getattr(release, view)
