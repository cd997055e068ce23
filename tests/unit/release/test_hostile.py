"""Releases that are damaged, or made to do harm."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld


@pytest.fixture
def folder(release: ld.Release, tmp_path: Path) -> Path:
    release.save(tmp_path / "release")
    return tmp_path / "release"


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((folder / "release.json").read_text())
    change(manifest)
    (folder / "release.json").write_text(json.dumps(manifest))


def replace_data(folder: Path, table: pa.Table) -> None:
    """Swap the rows and mend size and checksum, as someone who means harm would."""
    pq.write_table(table, folder / "data.parquet")
    content = (folder / "data.parquet").read_bytes()
    edit(folder, lambda m: m["data"].update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest()))


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ld.ReleaseFormatError, match="nowhere"):
        ld.load_release(tmp_path / "nowhere")


def test_a_folder_without_a_manifest_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(ld.ReleaseFormatError, match=r"must contain release\.json"):
        ld.load_release(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", '"x"', "null", '{"format": 1}', '{"format": "x", "version": "y"}'])
def test_a_manifest_that_is_no_description_is_refused(folder: Path, content: str) -> None:
    (folder / "release.json").write_text(content)

    with pytest.raises(ld.ReleaseFormatError, match="damaged"):
        ld.load_release(folder)


def test_a_later_version_is_refused_with_a_way_out(folder: Path) -> None:
    edit(folder, lambda m: m.update(version=3))

    with pytest.raises(ld.ReleaseFormatError, match="newer version"):
        ld.load_release(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("records"),
        lambda m: m.update(records=-1),
        lambda m: m.update(records=61),
        lambda m: m["data"].update(file="../../etc/passwd"),
        lambda m: m["data"].update(file="/etc/passwd"),
        lambda m: m["data"].update(rows=10**12),
        lambda m: m["data"].update(bytes=1),
        lambda m: m["data"].update(sha256="0" * 64),
        lambda m: m["data"].update(layout="exploded"),
        lambda m: m["columns"].append(m["columns"][0]),
        lambda m: m["columns"][0].update(type="object"),
        lambda m: m["columns"][2].update(role="plain"),
        lambda m: m["columns"][0].update(role="identifier"),
        lambda m: m["sensitive"].append(m["sensitive"][0]),
        lambda m: m["sensitive"][0]["domain"]["values"].append("angina"),
        lambda m: m["sensitive"][0]["domain"].update(values=[]),
        lambda m: m["sensitive"][0]["domain"].update(values=[{"a": 1}] * 7),
        lambda m: m["sensitive"][0]["mechanism"].update(kind="os.system"),
        lambda m: m["sensitive"][0]["mechanism"].update(version=99),
        lambda m: m["sensitive"][0]["mechanism"].update(l=10**9),
        lambda m: m["sensitive"][0]["mechanism"].pop("kind"),
        lambda m: m["sensitive"][0]["mechanism"].update(l="3"),
        lambda m: m["sensitive"][0]["claim"].update(l=2),
        lambda m: m["sensitive"][0]["claim"].update(posterior=0),
        lambda m: m["sensitive"][0]["claim"].update(posterior=0.0001),
        lambda m: m["sensitive"][0]["claim"].update(d=50.0),
        lambda m: m["sensitive"][0]["claim"].update(model="semantic-diversity"),
        lambda m: (m.update(records=10**12), m["data"].update(rows=10**12)),
        lambda m: (m.update(records=10**30), m["data"].update(rows=10**30)),
        lambda m: m["sensitive"][0]["domain"].update(values=[10**400, 2, 3, 4, 5, 6, 7]),
        lambda m: m["sensitive"][0]["domain"].update(edges=[1e308, -1e308]),
        lambda m: m["sensitive"][0].update(mechanism={"kind": "balanced", "version": 1, "l": 3, "d": 10**400}),
    ],
)
def test_a_tampered_manifest_is_refused_in_one_sentence(folder: Path, change: Callable[[Any], object]) -> None:
    edit(folder, change)

    with pytest.raises(ld.ReleaseFormatError):
        ld.load_release(folder)


def test_a_changed_data_file_is_noticed(folder: Path) -> None:
    content = bytearray((folder / "data.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "data.parquet").write_bytes(content)

    with pytest.raises(ld.ReleaseFormatError, match="checksum"):
        ld.load_release(folder)


def test_a_data_file_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "data.parquet").rename(tmp_path / "elsewhere")
    (folder / "data.parquet").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ld.ReleaseFormatError, match="regular file"):
        ld.load_release(folder)


@pytest.mark.parametrize(
    "sets",
    [
        [["angina", "asthma"]] * 60,
        [["angina", "asthma", "plague"]] * 60,
        [["angina", "asthma", None]] * 60,
        [None] * 60,
        ["angina"] * 60,
        [[1, 2, 3]] * 60,
    ],
    ids=["short sets", "unknown value", "missing member", "no sets", "no lists", "numbers"],
)
def test_rows_that_break_the_description_are_refused(folder: Path, sets: list[Any]) -> None:
    table = pq.read_table(folder / "data.parquet").set_column(2, "disease", pa.array(sets))
    replace_data(folder, table)

    with pytest.raises(ld.ReleaseFormatError):
        ld.load_release(folder).sets("disease")


def test_a_missing_column_is_named(folder: Path) -> None:
    replace_data(folder, pq.read_table(folder / "data.parquet").drop_columns(["sex"]))

    with pytest.raises(ld.ReleaseFormatError, match="'sex'"):
        ld.load_release(folder).columns(["sex"])


def test_rows_that_are_not_parquet_are_refused(folder: Path) -> None:
    (folder / "data.parquet").write_bytes(b"PAR1 and then nothing")
    content = (folder / "data.parquet").read_bytes()
    edit(folder, lambda m: m["data"].update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest()))

    with pytest.raises(ld.ReleaseFormatError, match="cannot be read as Parquet"):
        ld.load_release(folder).sets("disease")


def test_a_file_with_fewer_rows_is_refused(folder: Path) -> None:
    replace_data(folder, pq.read_table(folder / "data.parquet").slice(0, 59))

    with pytest.raises(ld.ReleaseFormatError, match="60 rows"):
        ld.load_release(folder).sets("disease")


def test_a_loaded_release_that_breaks_its_claim_is_told_apart(folder: Path) -> None:
    good = pq.read_table(folder / "data.parquet")
    replace_data(folder, good.set_column(2, "disease", pa.array([["angina", "angina", "asthma"]] * 60)))

    with pytest.raises((ld.ReleaseFormatError, ld.ClaimError)):
        ld.load_release(folder).verify()


def test_a_file_that_unfolds_without_end_is_refused(folder: Path) -> None:
    long = pa.array(["x" * 1_000_000]).dictionary_encode()
    cells = pa.DictionaryArray.from_arrays(pa.array([0] * 60), long.dictionary)
    table = pq.read_table(folder / "data.parquet").set_column(1, "sex", cells.cast(pa.string()))
    replace_data(folder, table)
    grown = Path(folder / "data.parquet").stat().st_size
    assert grown < 100_000  # for 60 MB of texts
    release = ld.load_release(folder)

    # 60 MB are within the limit of small files; the same file with its limit lowered is not.
    assert release.columns(["sex"]).num_rows == 60
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ldiversity.release._parquet._MOST_EXPANSION", 10)
        with pytest.raises(ld.ReleaseFormatError, match="must not expand"):
            release.columns(["sex"])


def test_a_claim_beyond_its_mechanism_does_not_verify(folder: Path) -> None:
    release = ld.load_release(folder)

    boasting = replace(release, claims=(replace(release.claims[0], posterior=0.1),))

    with pytest.raises(ld.ClaimError, match="promises more"):
        boasting.verify()


def test_a_path_beyond_all_measure_is_no_release() -> None:
    with pytest.raises(ld.ReleaseFormatError):
        ld.load_release("x" * 5000)


def test_members_in_any_order_are_read_alike(folder: Path) -> None:
    before = ld.load_release(folder).sets("disease")
    table = pq.read_table(folder / "data.parquet")
    turned = pa.array([members[::-1] for members in table["disease"].to_pylist()])
    replace_data(folder, table.set_column(2, "disease", turned))

    assert (ld.load_release(folder).sets("disease") == before).all()


def test_a_csv_file_with_fewer_rows_is_refused(release: ld.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "csv", data_format="csv")
    lines = (tmp_path / "csv" / "data.csv").read_bytes().splitlines(keepends=True)
    content = b"".join(lines[:-1])
    (tmp_path / "csv" / "data.csv").write_bytes(content)
    edit(
        tmp_path / "csv",
        lambda m: m["data"].update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest()),
    )

    with pytest.raises(ld.ReleaseFormatError, match="60 rows"):
        ld.load_release(tmp_path / "csv").sets("disease")


def test_a_check_that_sees_too_few_records_fails(release: ld.Release) -> None:
    with pytest.raises(ld.ClaimError, match="there must be 61 records, got 60"):
        replace(release, n_rows=61).verify()


def test_a_release_without_a_claim_does_not_verify(release: ld.Release) -> None:
    with pytest.raises(ld.ClaimError, match="must have a claim"):
        replace(release, claims=()).verify()
