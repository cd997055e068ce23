"""What every method that groups records keeps, found through the catalog."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG, MethodEntry
from ldiversity.methods import GroupingMethod
from ldiversity.models import count_classes
from ldiversity.release import Form
from ldiversity.release._reached import places_of

DISEASES = ["angina", "asthma", "cold", "cut", "flu", "measles", "sty"]
DOMAIN = ld.Domain(tuple(DISEASES))
QUASI = ["age", "zip", "born", "smoker"]
TREE = ld.Hierarchy.from_rows([(disease, f"group-{code % 3}") for code, disease in enumerate(DISEASES)])
REQUIRED: dict[str, dict[str, Any]] = {"le-anatomy": {"e": 1, "tree": TREE}}


def load(entry: MethodEntry) -> GroupingMethod:
    module, _, name = entry.home.partition(":")
    made: GroupingMethod = getattr(import_module(module), name).of_level(2, **REQUIRED.get(entry.name, {}))
    return made


def holds(cell: Any, value: Any, form: Form) -> bool:
    """Whether a published cell allows a value."""
    text = "(missing)" if value is None else str(value)
    if form.kind == "exact":
        return bool(cell == value)
    if form.kind == "values":
        return text in cell
    if form.kind == "node":
        assert form.hierarchy is not None
        place = places_of("", form, pa.array([value]), pa.array([value]).type)[0]
        return place < len(form.labels) and cell in form.hierarchy.path(form.labels[place])
    return cell["low"] is None or bool(cell["low"] <= value <= cell["high"])


METHODS = [
    pytest.param(entry, id=entry.name)
    for entry in CATALOG.values()
    if entry.family == "classes" and find_spec(entry.home.partition(":")[0])
]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Three hundred records: numbers with gaps, texts, dates, truth values, and a number for each person."""
    rng = np.random.default_rng(3)
    n = 300
    age = rng.integers(18, 80, n)
    return pa.table(
        {
            "person": np.arange(n),
            "age": pa.array(age, mask=rng.random(n) < 0.03),
            "zip": [f"{code:05d}" for code in rng.choice([10115, 10117, 20095, 20097, 80331], n)],
            "born": pa.array(19000 - age * 365, pa.int32()).cast(pa.date32()),
            "smoker": rng.random(n) < 0.3,
            "disease": rng.choice(DISEASES, n),
        }
    )


def publish(table: pa.Table, entry: MethodEntry, *, drop: Any = "person", **given: Any) -> ld.ClassRelease:
    release = ld.anonymize(
        table,
        quasi=QUASI,
        drop=drop,
        sensitive=ld.Sensitive("disease", domain=DISEASES),
        method=load(entry),
        **given,
    )
    assert isinstance(release, ld.ClassRelease)
    return release


def refusal(table: pa.Table, entry: MethodEntry) -> ld.InfeasibleError | None:
    """The error of a table that cannot be grouped; None when it can, and what is published keeps the claim."""
    disease = ld.Sensitive("disease", domain=DISEASES)
    try:
        release = ld.anonymize(table, quasi="age", sensitive=disease, method=load(entry))
    except ld.InfeasibleError as error:
        return error
    assert isinstance(release, ld.ClassRelease)
    release.verify()
    return None


@pytest.mark.parametrize("entry", METHODS)
def test_no_published_class_breaks_the_claim(table: pa.Table, entry: MethodEntry) -> None:
    release = publish(table, entry)

    rows = release.table.group_by("class_id").aggregate([([], "count_all")])
    classes = release.classes("disease")
    assert sorted(rows["class_id"].to_pylist()) == list(range(1, classes.n_classes + 1))
    assert release.claim("disease").rule.failing(classes).size == 0


@pytest.mark.parametrize("entry", METHODS)
def test_every_record_is_published_or_counted_as_left_out(table: pa.Table, entry: MethodEntry) -> None:
    release = publish(table, entry)

    assert release.n_rows + release.suppressed == 300
    assert release.classes("disease").sizes.sum() == release.n_rows


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
@pytest.mark.parametrize("entry", METHODS)
def test_what_is_written_is_what_was_made(
    table: pa.Table, entry: MethodEntry, data_format: Any, tmp_path: Path
) -> None:
    made = publish(table, entry, insecure_seed=5)

    read = publish(table, entry, insecure_seed=5, output=tmp_path / "release", data_format=data_format)

    assert read.table.equals(made.table)
    assert read.sensitive_table.equals(made.sensitive_table)
    read.verify()


@pytest.mark.parametrize("entry", METHODS)
def test_every_record_lies_in_the_region_of_its_class(table: pa.Table, entry: MethodEntry) -> None:
    release = publish(table, entry, plain="person", confirm="person", drop=())

    for row in release.table.to_pylist():
        record = table.slice(row["person"], 1).to_pylist()[0]
        assert [name for name in QUASI if not holds(row[name], record[name], release.forms[name])] == []


@pytest.mark.parametrize("entry", METHODS)
def test_every_class_has_the_values_of_its_records(table: pa.Table, entry: MethodEntry) -> None:
    release = publish(table, entry, plain="person", confirm="person", drop=())

    true = np.array([DISEASES.index(value) for value in table["disease"].to_pylist()], dtype=np.int32)
    codes = true[release.columns(["person"])["person"].to_numpy()]
    expected = count_classes(release.class_of("disease"), codes, release.classes("disease").n_classes, DOMAIN)
    assert np.array_equal(release.classes("disease").dense(), expected.dense())


@pytest.mark.parametrize("entry", METHODS)
def test_a_tight_table_is_grouped_or_refused_and_never_broken(entry: MethodEntry) -> None:
    n = 84
    tight = pa.table(
        {
            "age": [30] * n,
            "zip": ["1"] * n,
            "born": pa.array([0] * n, pa.int32()).cast(pa.date32()),
            "smoker": [True] * n,
            "disease": ["flu"] * (n // 2) + ["cut"] * (n // 2),
        }
    )

    release = ld.anonymize(
        tight,
        quasi=["age", "zip", "born", "smoker"],
        sensitive=ld.Sensitive("disease", domain=DISEASES),
        method=load(entry),
    )

    assert isinstance(release, ld.ClassRelease)
    assert release.n_rows + release.suppressed == n
    assert release.claim("disease").rule.failing(release.classes("disease")).size == 0


@pytest.mark.parametrize("entry", METHODS)
def test_a_value_that_is_too_frequent_is_refused_with_a_way_out(entry: MethodEntry) -> None:
    skewed = pa.table({"age": list(range(40)), "disease": ["flu"] * 38 + ["cut", "cold"]})

    refused = refusal(skewed, entry)

    assert refused is None or refused.hint or refused.nearest


@pytest.mark.parametrize("entry", METHODS)
def test_the_same_seed_repeats_a_release_and_no_seed_does_not(table: pa.Table, entry: MethodEntry) -> None:
    first = publish(table, entry, insecure_seed=9).table

    assert publish(table, entry, insecure_seed=9).table.equals(first)
    assert not publish(table, entry).table.equals(publish(table, entry).table)


@pytest.mark.parametrize("entry", METHODS)
def test_the_release_names_its_method(table: pa.Table, entry: MethodEntry) -> None:
    mechanism = publish(table, entry).mechanism("disease")

    assert mechanism.method == entry.name
    assert mechanism.parameters.get("l", 2) == 2  # a method may have no l
