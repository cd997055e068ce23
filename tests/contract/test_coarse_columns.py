"""Quasi-identifiers at a declared level, with every method that keeps them."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG
from ldiversity.evaluation import measures
from ldiversity.methods import METHODS, GroupingMethod
from ldiversity.release import Release

JOBS = ld.Hierarchy.from_rows([("nurse", "health"), ("doctor", "health"), ("cook", "food"), ("baker", "food")])
VALUES = [f"v{number}" for number in range(8)]
LEVELS: dict[str, Any] = {
    "age": "width:10,bottom:20,top:80",
    "zip": "prefix:3",
    "born": "decade",
    "job": (JOBS, 1),
}
QUASI = ["age", "zip", "born", "job", "sex"]
OPTIONS = {"semantic": "d=2,distance=tree:tree.csv", "le-anatomy": "e=1,tree=tree.csv"}


def table(n: int = 800, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    ages = rng.integers(10, 95, n)
    return pa.table(
        {
            "age": pa.array(ages, pa.int16(), mask=rng.random(n) < 0.05),
            "zip": [f"{number:05d}" for number in rng.integers(13000, 13400, n)],
            "born": [dt.date(2020 - int(age), 1 + int(age) % 12, 1 + int(age) % 28) for age in ages],
            "job": rng.choice(["nurse", "doctor", "cook", "baker"], n),
            "sex": rng.choice(["F", "M"], n),
            "value": rng.permutation(np.resize(VALUES, n)),
        }
    )


def keeps(method: str) -> bool:
    kind = METHODS[method]
    return not issubclass(kind, GroupingMethod) or kind.layout == "bucketized"


KEEPING = sorted(name for name in CATALOG if keeps(name))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    ld.Hierarchy.from_rows([(value, f"g{int(value[1]) // 2}") for value in VALUES]).save("tree.csv")
    return tmp_path


def publish(method: str, **more: Any) -> Release:
    strength = METHODS[method].strength
    options = ",".join(filter(None, [strength and f"{strength}=2", OPTIONS.get(method)]))
    text = f"{method}:{options}" if options else method
    decisions: dict[str, Any] = {"quasi": QUASI, "sensitive": "value", "method": text, "levels": LEVELS}
    return ld.anonymize(table(), **{**decisions, **more})


@pytest.mark.parametrize("method", KEEPING)
@pytest.mark.parametrize("how", ["memory", "parquet", "csv"])
def test_every_method_that_keeps_quasi_identifiers_publishes_levels(method: str, how: str) -> None:
    release = publish(method, **({} if how == "memory" else {"output": "r", "data_format": how}))
    release.verify()
    assert release.coarse == ("age", "zip", "born", "job")
    original = release.as_published(table().select(QUASI))
    shown = release.columns(QUASI)
    for name in QUASI:
        published, known = sorted(shown[name].to_pylist()), sorted(original[name].to_pylist())
        assert published == known, "each record shows the label of its value, and nothing else"
    assert set(shown["job"].to_pylist()) == {"health", "food"}
    release.save("copy", data_format="csv")
    again = ld.load_release("copy")
    again.verify()
    assert {name: form.labels for name, form in again.forms.items()} == {
        name: form.labels for name, form in release.forms.items()
    }


@pytest.mark.parametrize("method", KEEPING)
def test_frames_have_ordered_labels_and_ends(method: str) -> None:
    release = publish(method, output="r")
    ages = release.table["age"].type
    assert pa.types.is_dictionary(ages)
    assert ages.ordered
    column = release.table["age"].combine_chunks()
    categories = (column.chunk(0) if isinstance(column, pa.ChunkedArray) else column).dictionary.to_pylist()
    assert categories == ["< 20", *(f"[{low}, {low + 10})" for low in range(20, 80, 10)), ">= 80"]
    flat = release.flat
    assert {"age_low", "age_high", "age_label", "born_low", "zip_label", "job_label"} <= set(flat.column_names)
    assert flat["age_low"].type == pa.int16()
    assert set(flat["age_high"].to_pylist()) == {19, *range(29, 80, 10), None}


@pytest.mark.parametrize("method", KEEPING)
def test_attacks_audits_and_measures_see_the_labels(method: str) -> None:
    release, original = publish(method, output="r"), table()
    audit = ld.audit(release)
    alike = release.as_published(original.select(QUASI)).group_by(QUASI).aggregate([([], "count_all")])
    sizes = alike["count_all"].to_pylist()
    assert audit.risk.uniques == sum(size == 1 for size in sizes) < ld.audit(original, quasi=QUASI).risk.uniques
    assert ld.audit(release, population=original).risk.journalist.classes_not_in_population == 0
    report = ld.attack(release, original, targets=20)
    assert report.results
    losses = measures.ncp_by_column(original, release)
    assert losses["sex"] == 0 < losses["age"] < losses["job"] == 0.5
    assert measures.kl_divergence(original, release) >= 0
    workload = measures.QueryWorkload.random(original, quasi=QUASI, sensitive="value", n_queries=20, seed=0)
    assert np.isfinite(workload.mean_squared_error(original, release))


def test_labels_of_rows_that_are_not_published_are_not_public() -> None:
    people = table(60).append_column("extra", pa.nulls(60))
    ages = pa.array([500, *people["age"].to_pylist()[1:]], pa.int16())
    values = pa.array([None, *people["value"].to_pylist()[1:]])
    people = people.set_column(0, "age", ages).set_column(5, "value", values)
    for output, method in (("r", "randomized-addition:l=2"), ("s", "anatomy:l=2,overflow=suppress")):
        ld.anonymize(
            people,
            quasi="age",
            sensitive=ld.Sensitive("value", missing="drop"),
            method=method,
            levels={"age": "width:10"},
            output=output,
        )
        assert "[500, 510)" not in Path(output, "release.json").read_text(encoding="utf-8")
        assert max(end or 0 for end in (form.high for form in ld.load_release(output).forms.values())) < 500


@pytest.mark.parametrize("method", KEEPING)
def test_a_label_that_the_form_does_not_know_is_refused(method: str) -> None:
    publish(method, output="r")
    rows = pq.read_table("r/data.parquet")
    planted = pa.array(["[23, 24)", *rows["age"].to_pylist()[1:]])
    pq.write_table(rows.set_column(rows.column_names.index("age"), "age", planted), "r/data.parquet")
    _sign_again(Path("r"))
    release = ld.load_release("r")
    with pytest.raises(ld.ReleaseFormatError, match="'age' must hold its public values"):
        release.columns(["age"])


@pytest.mark.parametrize("damage", ["kind", "column", "unbounded"])
def test_forms_from_a_stranger_are_checked(damage: str) -> None:
    publish("randomized-addition", output="r")
    manifest = json.loads(Path("r/release.json").read_text(encoding="utf-8"))
    form = manifest["forms"][0]
    if damage == "kind":
        form |= {"kind": "interval", "hierarchy": None, "nodes": None}
    elif damage == "column":
        manifest["forms"].reverse()
    else:
        zipped = next(one for one in manifest["forms"] if one["column"] == "zip")
        zipped["nodes"][0]["unbounded"] = "low"
    Path("r/release.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ld.ReleaseFormatError):
        ld.load_release("r")


def test_a_release_without_levels_has_no_forms() -> None:
    publish("randomized-addition", levels=None, output="r")
    assert "forms" not in json.loads(Path("r/release.json").read_text(encoding="utf-8"))


def _sign_again(folder: Path) -> None:
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    content = (folder / "data.parquet").read_bytes()
    manifest["data"] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "release.json").write_text(json.dumps(manifest), encoding="utf-8")
