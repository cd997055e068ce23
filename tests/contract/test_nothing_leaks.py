"""What must never be in a release: names, keys, seeds, the order of the source, true values apart."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import ldiversity as ld
from ldiversity.engines import LocalEngine
from ldiversity.mechanisms import SetMechanism

SEED = 918273645546372819
CASES = ["parquet", "csv"]


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.fixture(params=CASES)
def published(request: pytest.FixtureRequest, people: pa.Table, tmp_path: Path) -> Path:
    """A keyed release of a table that carries index metadata of a data frame."""
    frame = people.to_pandas().set_index("name", drop=False)
    key = ld.Key(bytes(range(100, 132)))
    ld.anonymize(
        frame,
        quasi=["age", "sex"],
        sensitive="disease",
        method=ld.RandomizedAddition(l=3),
        key=key,
        record_id="name",
        output=tmp_path / "release",
        data_format=request.param,
    )
    return tmp_path / "release"


def test_no_identifier_is_in_the_bytes(published: Path) -> None:
    assert b"person-" not in bytes_of(published)


@pytest.mark.parametrize("form", [bytes, bytes.hex, base64.b64encode], ids=["raw", "hex", "base64"])
def test_no_key_is_in_the_bytes(published: Path, form: type) -> None:
    secret = form(bytes(range(100, 132)))

    assert (secret.encode() if isinstance(secret, str) else secret) not in bytes_of(published)


def test_no_record_id_is_named_in_the_bytes(published: Path) -> None:
    assert b"record_id" not in bytes_of(published)
    assert b'"name": "name"' not in bytes_of(published)


def test_no_metadata_of_the_source_is_in_the_file(people: pa.Table, tmp_path: Path) -> None:
    tagged = people.replace_schema_metadata({"pandas": "index of the source", "secret": "value"})
    ld.anonymize(
        tagged, quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=3), output=tmp_path / "release"
    )

    metadata = pq.read_schema(tmp_path / "release" / "data.parquet").metadata or {}

    assert not {b"pandas", b"secret"} & set(metadata)
    assert b"index of the source" not in bytes_of(tmp_path / "release")


def test_no_seed_is_in_the_bytes(people: pa.Table, tmp_path: Path) -> None:
    ld.anonymize(
        people,
        quasi="age",
        sensitive="disease",
        method=ld.RandomizedAddition(l=3),
        insecure_seed=SEED,
        output=tmp_path / "release",
    )

    content = bytes_of(tmp_path / "release")
    assert str(SEED).encode() not in content
    assert SEED.to_bytes(8, "little") not in content


def test_no_path_of_the_source_is_in_the_bytes(people: pa.Table, tmp_path: Path) -> None:
    source = tmp_path / "secret-project.parquet"
    pq.write_table(people, source)
    ld.anonymize(source, quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=3), output=tmp_path / "out")

    assert b"secret-project" not in bytes_of(tmp_path / "out")


def test_the_manifest_holds_no_count_of_true_values(published: Path) -> None:
    manifest = json.loads((published / "release.json").read_text())

    assert set(manifest) == {
        *("format", "version", "software", "records", "columns", "sensitive", "data", "order", "not_protected"),
    }
    assert set(manifest["sensitive"][0]) == {"attribute", "domain", "mechanism", "claim"}


def test_a_streamed_file_of_many_chunks_loses_its_order(tmp_path: Path) -> None:
    n = 20_000
    table = pa.table({"row": np.arange(n), "disease": [f"d{i % 7}" for i in range(n)]})
    release = ld.anonymize(
        table,
        quasi="row",
        sensitive="disease",
        method=ld.RandomizedAddition(l=3),
        output=tmp_path / "release",
        engine=LocalEngine(chunk_rows=1500),
    )

    rows = np.asarray(release.table["row"])

    # Fresh randomness: this fails by chance in 7e-6 of runs (4.5 standard errors of a rank correlation).
    assert abs(stats.spearmanr(rows, np.arange(n)).statistic) < 4.5 / np.sqrt(n - 1)
    assert (np.diff(rows) == 1).mean() < 0.01


def test_no_two_publications_use_the_same_randomness(people: pa.Table) -> None:
    """Publish twice in new processes, as two runs of the command would; nothing may repeat."""
    program = (
        "import hashlib, pyarrow as pa, ldiversity as ld\n"
        "table = pa.table({'row': list(range(200)), 'd': ['abcdefghij'[i % 10] for i in range(200)]})\n"
        "release = ld.anonymize(table, quasi='row', sensitive='d', method=ld.RandomizedAddition(l=3))\n"
        "rows = release.table.sort_by('row')['d'].to_pylist()\n"
        "print(hashlib.sha256(repr(rows).encode()).hexdigest())\n"
    )

    seen = {
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    }

    assert len(seen) == 2


@pytest.mark.parametrize("to_folder", [False, True])
def test_the_order_of_rows_tells_nothing_of_the_source(tmp_path: Path, to_folder: bool) -> None:  # noqa: FBT001
    n = 4000
    table = pa.table({"row": np.arange(n), "disease": [f"d{i % 7}" for i in range(n)]})
    release = ld.anonymize(
        table,
        quasi="row",
        sensitive="disease",
        method=ld.RandomizedAddition(l=3),
        insecure_seed=5,
        output=tmp_path / "release" if to_folder else None,
    )

    rows = np.asarray(release.table["row"])

    # Rank correlation of n places has standard error 1/sqrt(n-1); 4.5 of them: a false alarm in 7e-6 of seeds.
    assert abs(stats.spearmanr(rows, np.arange(n)).statistic) < 4.5 / np.sqrt(n - 1)


def test_the_place_of_a_member_tells_nothing_of_the_truth() -> None:
    n = 30_000
    truth = np.random.default_rng(2).integers(0, 10, n)
    table = pa.table({"row": np.arange(n), "disease": truth})
    release = ld.anonymize(table, quasi="row", sensitive="disease", method=ld.RandomizedAddition(l=3), insecure_seed=3)
    sets = release.sets("disease")[np.argsort(np.asarray(release.table["row"]))]

    places = np.argmax(sets == truth[:, None], axis=1)

    # With uniform truth and dummies the true member is equally often first, second and third: chi-square with
    # 2 degrees of freedom, a false alarm in one of 10,000 seeds.
    assert stats.chisquare(np.bincount(places, minlength=3)).pvalue > 1e-4


@pytest.mark.parametrize("to_folder", [False, True])
def test_the_order_of_exploded_rows_tells_nothing_even_of_sets_that_put_the_truth_first(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    to_folder: bool,  # noqa: FBT001
) -> None:
    def truth_first(mechanism: SetMechanism, codes: np.ndarray, *_: object) -> np.ndarray:
        return ((codes[:, None] + np.arange(mechanism.l)) % mechanism.n_values).astype(np.int32)

    monkeypatch.setattr("ldiversity.publish._draw.draw_sets", truth_first)
    n = 20_000
    truth = np.random.default_rng(4).integers(0, 10, n)
    release = ld.anonymize(
        pa.table({"row": np.arange(n), "disease": truth}),
        quasi="row",
        sensitive="disease",
        method=ld.RandomizedAddition(l=3),
        layout="exploded",
        output=tmp_path / "release" if to_folder else None,
        engine=LocalEngine(chunk_rows=7000),
    )
    rows, members = np.asarray(release.table["row"]), release.members("disease")

    together = members[np.argsort(rows, kind="stable")].reshape(n, 3)  # a person's rows, in the order published
    places = np.argmax(together == truth[:, None], axis=1)

    # The true row is equally often the first, second and third of a person's: chi-square with 2 degrees of freedom, a
    # false alarm in one of 10,000 runs of each case (fresh randomness).
    assert stats.chisquare(np.bincount(places, minlength=3)).pvalue > 1e-4
