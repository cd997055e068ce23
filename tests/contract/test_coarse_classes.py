"""Methods that generalize begin at a declared level: nothing finer is published, and people are still found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG
from ldiversity.evaluation import measures
from ldiversity.methods import METHODS, GroupingMethod
from ldiversity.publish._level_texts import as_level
from ldiversity.release import Release, load_release

JOBS = ld.Hierarchy.from_rows(
    [("nurse", "health", "work"), ("doctor", "health", "work"), ("cook", "food", "work"), ("baker", "food", "work")]
)
LEVELS: dict[str, Any] = {"age": "width:10,bottom:20,top:80", "zip": "prefix:3", "job": (JOBS, 1)}
QUASI = ["age", "zip", "job", "sex"]


def generalizes(method: str) -> bool:
    kind = METHODS[method]
    return issubclass(kind, GroupingMethod) and kind.layout == "generalized"


GENERALIZING = sorted(name for name in CATALOG if generalizes(name))


def people(n: int = 600) -> pa.Table:
    rng = np.random.default_rng(2)
    return pa.table(
        {
            "age": pa.array(rng.integers(10, 95, n), mask=rng.random(n) < 0.03),
            "zip": [f"{number:05d}" for number in rng.integers(13000, 13400, n)],
            "job": rng.choice(["nurse", "doctor", "cook", "baker"], n),
            "sex": rng.choice(["F", "M"], n),
            "value": rng.permutation(np.resize([f"v{number}" for number in range(8)], n)),
        }
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def publish(method: str, **more: Any) -> Release:
    made = METHODS[method].of_level(2)
    return ld.anonymize(people(), quasi=QUASI, sensitive="value", method=made, levels=LEVELS, **more)


@pytest.mark.parametrize("method", GENERALIZING)
@pytest.mark.parametrize("how", ["memory", "parquet", "csv"])
def test_nothing_finer_than_the_level_is_published(method: str, how: str) -> None:
    release = publish(method, **({} if how == "memory" else {"output": "r", "data_format": how, "marginals": True}))
    release.verify()
    exact = {str(age) for age in range(100)} | {"nurse", "doctor", "cook", "baker"}
    shown = {label for name in ("age", "zip", "job") for label in release.regions()[name].to_pylist()}
    assert not shown & exact
    assert all(len(label.rstrip("*")) <= 3 for label in release.regions()["zip"].to_pylist())
    if how != "memory":
        told = json.loads(Path("r/release.json").read_text(encoding="utf-8"))
        del told["data"]  # a checksum may have any five digits
        assert not any(zipped in json.dumps(told) for zipped in set(people()["zip"].to_pylist()))


@pytest.mark.parametrize("method", GENERALIZING)
def test_every_label_of_a_record_lies_under_its_region(method: str) -> None:
    release, original = publish(method, output="r"), people()
    for name in ("age", "zip"):
        region = release.region(name)
        labels = as_level(name, LEVELS[name]).labels(name, original[name].combine_chunks())
        places = region.places(original[name])
        assert (places < len(region.form.labels)).all() or release.suppressed
        # Each declared label is within one public value: a person is looked for where the label is.
        found: dict[str, set[int]] = {}
        for label, place in zip(labels.to_pylist(), places.tolist(), strict=True):
            found.setdefault(label, set()).add(place)
        assert all(len(one) == 1 for one in found.values())
    assert release.region("job").form.labels == JOBS.leaves


@pytest.mark.parametrize("method", GENERALIZING)
def test_audits_attacks_measures_and_estimates_work(method: str) -> None:
    release, original = publish(method, output="r"), people()
    assert ld.audit(release).passed
    assert ld.attack(release, original, targets=20).results
    losses = measures.ncp_by_column(original, release)
    assert losses["job"] >= 0.5
    assert load_release("r").flat.num_rows == release.n_rows
    if release.region("age").says_nothing.all():  # one level for all records may be the highest
        return
    counted = ld.estimate(release, by=ld.bins("age", edges=[0, 20, 80]))
    assert counted.records.sum() == pytest.approx(release.n_rows)
    if ">= 80" not in release.regions()["age"].to_pylist():
        assert method not in {"bsgi", "mondrian", "tp"}
        return  # no class of so many ages is of the oldest alone
    with pytest.raises(ld.UnsupportedError, match="published as '>= 80'"):
        ld.estimate(release, where="age >= 90")
