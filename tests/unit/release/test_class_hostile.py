"""Grouped releases that are damaged, or made to do harm."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld

Manifest = dict[str, Any]


def edit(folder: Path, change: Callable[[Manifest], object]) -> None:
    manifest = json.loads((folder / "release.json").read_text())
    change(manifest)
    (folder / "release.json").write_text(json.dumps(manifest))


@pytest.fixture
def folder(generalized: ld.ClassRelease, tmp_path: Path) -> Path:
    generalized.save(tmp_path / "release")
    return tmp_path / "release"


@pytest.fixture
def buckets(bucketized: ld.ClassRelease, tmp_path: Path) -> Path:
    bucketized.save(tmp_path / "release")
    return tmp_path / "release"


def form(manifest: Manifest, number: int) -> Manifest:
    found: Manifest = manifest["classes"]["forms"][number]
    return found


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda m: m["data"].update(layout="later"), r"damaged at data\.layout"),
        (lambda m: m.update(classes=None), "must describe its classes"),
        (lambda m: m.update(records=5), "rows and records must agree"),
        (lambda m: m["classes"].update(columns={}), "must have a class column"),
        (lambda m: m["classes"].update(columns={"disease": "other"}), "must have a class column"),
        (lambda m: m["classes"].update(numbers={"class_id": 7}), "numbers of classes of their own"),
        (lambda m: m["classes"].update(numbers={"class_id": 0}), "damaged at classes"),
        (lambda m: m["classes"].update(numbers={"class_id": 10**18}), "numbers of classes of their own"),
        (lambda m: m["classes"].update(columns={"disease": "age"}, numbers={"age": 3}), "of their own"),
        (lambda m: m["classes"].update(suppressed=-1), "damaged at classes.suppressed"),
        (lambda m: m["classes"]["forms"].pop(), "every quasi-identifier must have one form"),
        (lambda m: form(m, 0).update(column="ward"), "every quasi-identifier must have one form"),
        (lambda m: form(m, 0).update(kind="cloud"), "damaged at classes.forms"),
        (lambda m: form(m, 0).update(low=9, high=1), "low end is not above"),
        (lambda m: form(m, 0).update(low=None), "low end is not above"),
        (lambda m: form(m, 2).update(kind="interval"), "numbers or times"),
        (lambda m: form(m, 2).update(hierarchy=None), "must have a hierarchy"),
        (lambda m: form(m, 2).update(hierarchy=[["a", "*"], ["a", "*"]]), "distinct"),
        (lambda m: form(m, 2).update(hierarchy=[["a"] * 65]), "damaged at classes.forms"),
        (lambda m: form(m, 3).update(labels=["a", "a"]), "public values, each once"),
        (lambda m: form(m, 3).update(labels=None), "public values, each once"),
        (lambda m: form(m, 0).update(marginal={"values": [1], "counts": [1, 2]}), "counts of its values"),
        (lambda m: form(m, 0).update(marginal={"values": [2, 1], "counts": [1, 2]}), "counts of its values"),
        (lambda m: form(m, 0).update(marginal={"values": [1], "counts": [0]}), "damaged at classes.forms"),
        (lambda m: form(m, 3).update(marginal={"values": [4], "counts": [1]}), "counts of its values"),
        (lambda m: form(m, 3).update(marginal={"values": [0.5], "counts": [1]}), "counts of its values"),
        (lambda m: m["classes"].update(tables=[]) or m["data"].update(layout="bucketized"), "must be exact"),
        (lambda m: m.update(records=10**6) or m["data"].update(rows=10**6), "too small for the rows"),
        (lambda m: m["sensitive"][0]["claim"].update(rule=None), "known privacy model"),
        (lambda m: m["sensitive"][0]["claim"].update(rule={"name": "os.system"}), "known privacy model"),
        (lambda m: m["sensitive"][0]["claim"]["rule"].update(l=1), "claim 'unique' is damaged"),
        (lambda m: m["sensitive"][0]["claim"].update(l=5), "must be its rule's"),
        (lambda m: m["sensitive"][0]["claim"].update(posterior=0.01), "must be its rule's"),
        (lambda m: m["sensitive"][0]["mechanism"].update(kind="x"), "mechanism must be of kind"),
        (lambda m: m["data"].update(layout="sets"), "."),
    ],
)
def test_a_description_that_cannot_be_is_refused(folder: Path, change: Callable[[Manifest], object], rule: str) -> None:
    edit(folder, change)

    with pytest.raises(ld.ReleaseFormatError, match=rule):
        ld.load_release(folder)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda m: m["classes"]["tables"][0].update(attribute="age"), "those of the sensitive attributes"),
        (lambda m: m["classes"].update(tables=[]), "those of the sensitive attributes"),
        (lambda m: m["classes"]["tables"][0].update(file="../data.parquet"), "damaged at classes.tables"),
        (lambda m: m["classes"]["tables"][0].update(file="/etc/passwd"), "damaged at classes.tables"),
        (lambda m: m["classes"]["tables"][0].update(file="sensitive_2.parquet"), "regular file"),
        (lambda m: m["classes"]["tables"][0].update(bytes=1), "size and checksum"),
        (lambda m: m["classes"]["tables"][0].update(sha256="0" * 64), "size and checksum"),
        (lambda m: m["classes"]["tables"][0].update(rows=10**12), "more rows than there are records"),
        (lambda m: form(m, 0).update(kind="values", labels=["a"]), "must be exact"),
    ],
)
def test_tables_of_values_that_cannot_be_are_refused(
    buckets: Path, change: Callable[[Manifest], object], rule: str
) -> None:
    edit(buckets, change)

    with pytest.raises(ld.ReleaseFormatError, match=rule):
        ld.load_release(buckets)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda rows: rows[0].update(class_id=4), "numbers of classes"),
        (lambda rows: rows[0].update(class_id=0), "numbers of classes"),
        (lambda rows: rows[0].update(class_id=-1), "numbers of classes"),
        (lambda rows: rows[0].update(class_id=None), "number in every row"),
        (lambda rows: [rows[place].update(class_id=1) for place in (1, 4)], "every class must have a row"),
        (lambda rows: rows[0].update(age={"low": 5, "high": 1}), "low end is not above"),
        (lambda rows: rows[0].update(age={"low": 5, "high": None}), "two ends"),
        (lambda rows: rows[0].update(place="Paris"), "public values"),
        (lambda rows: rows[0].update(place=None), "public values"),
        (lambda rows: rows[0].update(job=["x"]), "public values"),
        (lambda rows: rows[0].update(job=[]), "each once and in their order"),
        (lambda rows: rows[0].update(job=None), "lists of its values"),
        (lambda rows: rows[0].update(job=["x"] * 10_000), "must not have lists of more than"),
        (lambda rows: rows[0].update(job=["c\\", "a|b"]), "each once and in their order"),
        (lambda rows: rows[0].update(job=["c\\", "c\\"]), "each once and in their order"),
    ],
)
def test_damaged_rows_are_named_in_one_sentence(folder: Path, plant: Any, change: Any, rule: str) -> None:
    plant(folder, "data.parquet", change)
    release = ld.load_release(folder)
    assert isinstance(release, ld.ClassRelease)

    with pytest.raises(ld.ReleaseFormatError, match=rule):
        release.regions()


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda rows: rows[0].update(count=0), "positive counts"),
        (lambda rows: rows[0].update(count=-3), "positive counts"),
        (lambda rows: rows[0].update(count=10**15), "positive counts"),
        (lambda rows: rows[0].update(count=None), "a class and a count in every row"),
        (lambda rows: rows[0].update(class_id=None), "a class and a count in every row"),
        (lambda rows: rows[0].update(class_id=9), "numbers of classes"),
        (lambda rows: rows[0].update(value="plague"), "values of its domain"),
        (lambda rows: rows[0].update(value=None), "values of its domain"),
        (lambda rows: rows.reverse(), "in the order of classes"),
        (lambda rows: (rows.pop(), rows.pop()), "a value for every class"),
    ],
)
def test_damaged_tables_of_values_are_named_in_one_sentence(buckets: Path, plant: Any, change: Any, rule: str) -> None:
    plant(buckets, "sensitive_1.parquet", change)
    release = ld.load_release(buckets)
    assert isinstance(release, ld.ClassRelease)

    with pytest.raises(ld.ReleaseFormatError, match=rule):
        release.classes("disease")


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ('"-5..-3"', '"5"', "must hold intervals"),
        ('"-5..-3"', '"a..b"', "'age' cannot be read"),
        ('"-5..-3"', '"-5..-3..-1"', "'age' cannot be read"),
        ('"-5..-3"', '"..-3"', "'age' cannot be read"),
        ('"west"', "", "public values"),
        ('"a\\|b|c\\\\"', "", "lists of its values"),
    ],
)
def test_damaged_texts_are_named_in_one_sentence(
    generalized: ld.ClassRelease, tmp_path: Path, old: str, new: str, rule: str
) -> None:
    folder = tmp_path / "release"
    generalized.save(folder, data_format="csv")
    content = (folder / "data.csv").read_bytes().replace(old.encode(), new.encode(), 1)
    (folder / "data.csv").write_bytes(content)
    edit(folder, lambda m: m["data"].update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest()))
    release = ld.load_release(folder)
    assert isinstance(release, ld.ClassRelease)

    with pytest.raises(ld.ReleaseFormatError, match=rule):
        release.regions()


def test_a_column_of_another_type_is_named(folder: Path, plant: Any) -> None:
    table = pq.read_table(folder / "data.parquet")
    changed = table.set_column(1, "age", pa.array([1] * 6))
    pq.write_table(changed, folder / "data.parquet")
    plant(folder, "data.parquet", lambda rows: rows)
    release = ld.load_release(folder)
    assert isinstance(release, ld.ClassRelease)

    with pytest.raises(ld.ReleaseFormatError, match="'age' must hold intervals"):
        release.regions()


def test_class_zero_is_no_missing_class(separate: ld.ClassRelease, tmp_path: Path, plant: Any) -> None:
    separate.save(tmp_path / "release")
    plant(tmp_path / "release", "data.parquet", lambda rows: rows[0].update(class_id_job=0))
    release = ld.load_release(tmp_path / "release")
    assert isinstance(release, ld.ClassRelease)

    with pytest.raises(ld.ReleaseFormatError, match="numbers of classes"):
        release.class_of("job")


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda m: m["data"].update(layout="generalized"), "one class column"),
        (lambda m: m["classes"]["tables"][1].update(m["classes"]["tables"][0], attribute="job"), "files of their own"),
    ],
)
def test_classes_of_their_own_must_be_apart(
    separate: ld.ClassRelease, tmp_path: Path, change: Callable[[Manifest], object], rule: str
) -> None:
    separate.save(tmp_path / "release")
    edit(tmp_path / "release", change)

    with pytest.raises(ld.ReleaseFormatError, match=rule):
        ld.load_release(tmp_path / "release")


def test_a_link_in_place_of_a_table_is_refused(buckets: Path, tmp_path: Path) -> None:
    (buckets / "sensitive_1.parquet").rename(tmp_path / "elsewhere")
    (buckets / "sensitive_1.parquet").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ld.ReleaseFormatError, match="regular file"):
        ld.load_release(buckets)


NODES = [
    ("a label of no node", lambda nodes: nodes[0].update(label="other")),
    ("a label twice", lambda nodes: nodes.append(dict(nodes[0]))),
    ("neither ends nor beginnings", lambda nodes: nodes[0].update(low=None, high=None)),
    ("one end", lambda nodes: nodes[0].update(high=None)),
    ("ends and beginnings", lambda nodes: nodes[0].update(starts=["1"])),
    ("a low end above the high one", lambda nodes: nodes[0].update(low=nodes[0]["high"] + 1)),
    ("ends outside the range", lambda nodes: nodes[0].update(high=10**6)),
]


@pytest.mark.parametrize("change", [change for _, change in NODES], ids=[what for what, _ in NODES])
def test_nodes_that_do_not_say_what_they_stand_for_are_refused(change: Any, tmp_path: Path) -> None:
    ages = pa.table({"age": range(20, 60), "s": ["a", "b"] * 20})
    ld.anonymize(
        ages,
        quasi="age",
        sensitive="s",
        method=ld.Incognito(l=2),
        hierarchies={"age": "width:10/20"},
        output=tmp_path / "release",
    )
    file = tmp_path / "release" / "release.json"
    manifest = json.loads(file.read_text())
    change(manifest["classes"]["forms"][0]["nodes"])
    file.write_text(json.dumps(manifest))

    with pytest.raises(ld.ReleaseFormatError, match="column 'age' must"):
        ld.load_release(tmp_path / "release")
