"""`memory=`: the same release in less memory, and what does not work is said before work begins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.base.budget import Budget
from ldiversity.engines import LocalEngine, choose_engine
from ldiversity.errors import LDiversityError
from ldiversity.tables import open_source


def people(n: int = 5000) -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "id": range(n),
            "age": rng.integers(10, 90, n),
            "zip": [f"{number:05d}" for number in rng.integers(0, 99_999, n)],
            "disease": pa.array(rng.choice(list("abcdef"), n), mask=np.arange(n) % 100 == 99),
        }
    )


@pytest.mark.parametrize("layout", ["sets", "exploded"])
def test_keyed_releases_are_the_same_bytes(tmp_path: Path, layout: str) -> None:
    table = tmp_path / "people.parquet"
    pq.write_table(people(), table)
    key = ld.Key.from_insecure_seed(5)
    disease = ld.Sensitive("disease", missing="drop")
    said = {"quasi": ["age", "zip"], "sensitive": disease, "method": "randomized-addition:l=3", "layout": layout}
    said |= {"key": key, "record_id": "id", "stable_order": True}
    ld.anonymize(table, output=tmp_path / "usual", **said)
    ld.anonymize(table, output=tmp_path / "bounded", memory="400MB", **said)

    for name in ("data.parquet", "release.json"):
        assert (tmp_path / "usual" / name).read_bytes() == (tmp_path / "bounded" / name).read_bytes()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"memory": "350MB"}, "memory must be at least 400 MB to publish, got 350 MB"),
        ({"memory": "little"}, "memory must be a number of bytes, such as '500MB' or '2GiB', got 'little'"),
        ({"memory": "1GB", "output": None}, "output must be given with memory: without a folder"),
        ({"memory": "1GB", "engine": LocalEngine()}, "memory must be left out when engine is an engine"),
        ({"engine": "cluster"}, "engine must be 'local', 'spark' or an engine, got 'cluster'"),
    ],
)
def test_what_does_not_work_is_one_sentence_before_work_begins(
    tmp_path: Path, more: dict[str, object], sentence: str
) -> None:
    said = {"quasi": "age", "sensitive": "disease", "method": "randomized-addition:l=3", "output": tmp_path / "r"}
    with pytest.raises(LDiversityError, match=sentence):
        ld.anonymize(people(20), **(said | more))
    assert not list(tmp_path.iterdir())


def test_an_engine_reads_fewer_rows_at_once_where_memory_is_little_and_rows_are_long() -> None:
    usual, bounded = LocalEngine(), choose_engine(None, "local", Budget("400MB"))
    wide = open_source(pa.table({"text": ["x" * 5000] * 3000}))

    assert usual.memory is None
    assert bounded.memory == Budget("400MB")
    assert usual.chunk_rows > bounded.chunk_rows
    assert max(batch.cells.num_rows for batch in bounded.rows(wide, ["text"])) < 3000
    assert sum(batch.cells.num_rows for batch in bounded.rows(wide, ["text"])) == 3000
