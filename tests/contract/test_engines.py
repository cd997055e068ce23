"""What every engine keeps: rows have a stable identity, and neither batches, threads nor workers change a result.

An engine that moves work elsewhere is played by one of this file: it pickles what it is given, makes the secrets anew
where the work is done, from the file of the key, and does every batch twice, as a cluster does after a fault.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ldiversity as ld
from ldiversity.base.randomness import FreshWords, Key
from ldiversity.datasets import patients, patients_tree
from ldiversity.engines import BatchFunction, Engine, Factory, LocalEngine, NumberedBatch, Secrets
from ldiversity.publish._draw import DrawSets, HiddenAttribute
from ldiversity.release import DataFile
from ldiversity.tables import COUNT, Coder, Source, open_source

ROWS = 1000
TABLE: pa.Table = patients(ROWS, seed=3).append_column("row", pa.array(range(ROWS)))


class Elsewhere(LocalEngine):
    """Works as an engine with workers in other processes would; keys travel as files that only their owner reads."""

    name: ClassVar[str] = "elsewhere"

    def map(
        self, factory: Factory, source: Source, columns: Sequence[str], *, secrets: Secrets
    ) -> Generator[pa.RecordBatch]:
        """Every batch by a worker of its own, twice, the last batch first."""
        sent = pickle.dumps(factory)
        batches = list(self.rows(source, columns))
        done: dict[int, pa.RecordBatch] = {}
        with tempfile.TemporaryDirectory() as folder:
            secrets.job.save(Path(folder) / "job.key")
            if secrets.key is not None:
                secrets.key.save(Path(folder) / "holder.key")
            for _ in range(2):
                for batch in reversed(batches):
                    key = None if secrets.key is None else Key.load(Path(folder) / "holder.key")
                    own = Secrets(key, job=Key.load(Path(folder) / "job.key"))
                    received: Factory = pickle.loads(sent)  # noqa: S301 - made above
                    again = received(own)(batch)
                    assert again.equals(done.setdefault(batch.first, again))
        yield from (done[batch.first] for batch in batches)


ENGINES: list[Engine] = [
    LocalEngine(),
    LocalEngine(workers=1, chunk_rows=7),
    LocalEngine(workers=3, chunk_rows=64),
    Elsewhere(chunk_rows=97),
]


def engine_id(engine: Engine) -> str:
    return f"{engine.name}, {engine.workers} workers, {getattr(engine, 'chunk_rows', '')} rows"


engines = pytest.mark.parametrize("engine", ENGINES, ids=engine_id)


def doubled(_: Secrets) -> BatchFunction:
    """Make the function of a worker: the identity of each row, and twice its number."""

    def double(rows: NumberedBatch) -> pa.RecordBatch:
        numbers, files = rows.identities.T
        return pa.record_batch({"file": files, "number": numbers, "twice": pc.multiply(rows.cells["row"], 2)})

    return double


@engines
def test_rows_keep_their_identity_however_they_are_cut(engine: Engine) -> None:
    source = open_source(TABLE)

    seen = [(batch.identities, batch.cells["row"].to_pylist()) for batch in engine.rows(source, ["row"])]

    assert np.concatenate([identities for identities, _ in seen])[:, 0].tolist() == list(range(ROWS))
    assert [row for _, rows in seen for row in rows] == list(range(ROWS))


@engines
def test_a_function_is_mapped_over_all_rows_in_their_order(engine: Engine) -> None:
    found = pa.Table.from_batches(engine.map(doubled, open_source(TABLE), ["row"], secrets=Secrets()))

    assert found["twice"].to_pylist() == [2 * row for row in range(ROWS)]
    assert found["number"].to_pylist() == list(range(ROWS))
    assert set(found["file"].to_pylist()) == {0}


@engines
@pytest.mark.parametrize("by", [["sex"], ["sex", "job"], ["disease", "zip", "age"]])
def test_rows_are_counted_by_columns(engine: Engine, by: list[str]) -> None:
    found = engine.count(open_source(TABLE), by)

    expected = TABLE.select(by).group_by(by).aggregate([([], "count_all")]).rename_columns([*by, COUNT])
    assert found is not None
    assert found.column_names == [*by, COUNT]
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected.to_pylist()))


@engines
def test_a_table_without_rows_has_no_counts(engine: Engine) -> None:
    for by in (["sex"], ["sex", "job"]):
        found = engine.count(open_source(TABLE.slice(0, 0)), by)
        assert found is not None
        assert found.num_rows == 0


@engines
@pytest.mark.parametrize("by", [["age"], ["sex", "age"]])
def test_too_many_combinations_are_not_counted(engine: Engine, by: list[str]) -> None:
    n_found = len(set(zip(*(TABLE[name].to_pylist() for name in by), strict=True)))

    assert engine.count(open_source(TABLE), by, most=n_found - 1) is None
    found = engine.count(open_source(TABLE), by, most=n_found)
    assert found is not None
    assert found.num_rows == n_found


def keyed(n_keys: int) -> list[pa.RecordBatch]:
    """Rows with 128-bit keys, of which some are the same, and some differ in their last bits only."""
    words = FreshWords.from_insecure_seed(1).draw(n_keys, 2)
    words[::3, 0] = words[0, 0]
    chosen = words[np.arange(ROWS) % n_keys]
    keys = pa.array([row.tobytes() for row in chosen.astype(">u8")], pa.binary(16))
    return TABLE.append_column("key", keys).to_batches(max_chunksize=90)


@engines
@pytest.mark.parametrize("on_disk", [True, False])
@pytest.mark.parametrize("n_keys", [1, 40, ROWS])
def test_rows_are_ordered_by_their_key(engine: Engine, n_keys: int, on_disk: bool, tmp_path: Path) -> None:  # noqa: FBT001
    given = keyed(n_keys)
    scratch = tmp_path if on_disk else None

    found = pa.concat_tables(engine.order(given, n_rows=ROWS, scratch=scratch, by="key"))

    expected = pa.Table.from_batches(given).sort_by([("key", "ascending")])
    keys = dict(zip(*(pa.Table.from_batches(given)[name].to_pylist() for name in ("row", "key")), strict=True))
    assert [keys[row] for row in found["row"].to_pylist()] == expected["key"].to_pylist()
    assert sorted(found["row"].to_pylist()) == list(range(ROWS))
    assert "key" not in found.column_names
    assert not list(tmp_path.iterdir())


@engines
@pytest.mark.parametrize("on_disk", [True, False])
def test_rows_of_one_key_are_in_one_part(engine: Engine, on_disk: bool, tmp_path: Path) -> None:  # noqa: FBT001
    def summary(part: pa.Table) -> pa.Table:
        return part.group_by("key").aggregate([("row", "count")])

    scratch = tmp_path if on_disk else None
    parts = list(engine.partition(summary, keyed(40), by="key", n_rows=ROWS, scratch=scratch))

    counted = pa.concat_tables(parts)
    assert counted.num_rows == len(set(counted["key"].to_pylist())) == 40
    assert set(counted["row_count"].to_pylist()) == {ROWS // 40}
    assert not list(tmp_path.iterdir())


@engines
def test_a_random_order_loses_no_row_and_is_another_each_time(engine: Engine, tmp_path: Path) -> None:
    def shuffled() -> list[int]:
        batches = TABLE.select(["row"]).to_batches(max_chunksize=90)
        rows: list[int] = pa.concat_tables(engine.order(batches, n_rows=ROWS, scratch=tmp_path))["row"].to_pylist()
        return rows

    first, second = shuffled(), shuffled()

    assert sorted(first) == sorted(second) == list(range(ROWS))
    assert first != second


@engines
@pytest.mark.parametrize("layout", ["sets", "exploded"])
def test_a_keyed_release_is_the_same_on_every_engine(engine: Engine, layout: str) -> None:
    key = Key(bytes(range(32)))

    def sets(on: Engine | None) -> list[str]:
        release = ld.anonymize(
            TABLE,
            quasi="row",
            sensitive="disease",
            method=ld.RandomizedAddition(l=3),
            drop=["age", "sex", "zip", "job"],
            key=key,
            record_id="name",
            layout=layout,  # type: ignore[arg-type]
            engine=on,
        )
        return sorted(map(repr, release.table.to_pylist()))

    assert sets(engine) == sets(None)


WAYS: dict[str, dict[str, Any]] = {
    "alone": {},
    "record": {"record_id": ("name",)},
    "person": {"person": "job"},
    "exploded, in a stable order": {"exploded": True, "stable_order": True},
}


@engines
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("selection", ["uniform", "balanced"])
def test_draws_without_a_key_depend_on_the_job_alone(engine: Engine, way: str, selection: str) -> None:
    """Mapping a batch again, other batches and other workers change nothing; another job changes the draws."""
    domain = ld.Domain(patients_tree().leaves)
    methods: dict[str, Any] = {
        "uniform": ld.RandomizedAddition(l=3),
        "balanced": ld.SemanticDiversity(l=2, d=2, distance=ld.TreeDistance(patients_tree())),
    }
    hidden = HiddenAttribute("disease", Coder("disease", domain, pa.string()), methods[selection].fit(domain))
    factory = DrawSets({"row": pa.int64()}, (hidden,), **WAYS[way])
    job = Secrets()

    def drawn(on: Engine, secrets: Secrets) -> pa.Table:
        return pa.Table.from_batches(on.map(factory, open_source(TABLE), TABLE.column_names, secrets=secrets))

    expected = drawn(LocalEngine(workers=1, chunk_rows=ROWS), job)
    assert drawn(engine, job).combine_chunks().equals(expected.combine_chunks())
    assert not drawn(engine, Secrets()).combine_chunks().equals(expected.combine_chunks())


@engines
def test_a_folder_is_promoted_whole_or_not_at_all(engine: Engine, tmp_path: Path) -> None:
    with engine.staging(tmp_path / "release", overwrite=False) as staging:
        (staging / "data.csv").write_text("x")
        assert not (tmp_path / "release").exists()
    assert (tmp_path / "release" / "data.csv").read_text() == "x"

    def interrupted() -> None:
        with engine.staging(tmp_path / "other", overwrite=False) as unfinished:
            (unfinished / "data.csv").write_text("x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


class Forgetful(LocalEngine):
    """Changes what it is given to write: the first row of every table comes last."""

    def write(self, file: Path, tables: Iterable[pa.Table], data_format: Any) -> int:
        turned = (pa.concat_tables([table.slice(1), table.slice(0, 1)]) for table in tables)
        return super().write(file, turned, data_format)


class Watched(LocalEngine):
    """Notes which columns are read back."""

    def __init__(self) -> None:
        super().__init__(workers=1)
        self.read: set[str] = set()

    def read_back(self, file: DataFile, names: list[str]) -> Iterator[pa.Table]:
        self.read |= {f"{file.name}:{name}" for name in names}
        return super().read_back(file, names)


METHODS = [ld.RandomizedAddition(l=2), ld.Mondrian(l=2), ld.Anatomy(l=2)]


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
@pytest.mark.parametrize("method", METHODS, ids=lambda one: one.name)
def test_claims_are_checked_on_what_the_engine_reads_back(method: ld.Method, data_format: Any, tmp_path: Path) -> None:
    engine = Watched()
    how = {"quasi": ["age", "sex"], "sensitive": "disease", "drop": "name", "method": method}
    output = tmp_path / "release"

    release = ld.anonymize(patients(60, seed=1), **how, output=output, data_format=data_format, engine=engine)

    written = {file.name for file in output.iterdir()} - {"release.json"}
    assert {one.partition(":")[0] for one in engine.read} == written
    release.verify()


@pytest.mark.parametrize("method", METHODS, ids=lambda one: one.name)
def test_an_engine_that_writes_something_else_publishes_nothing(method: ld.Method, tmp_path: Path) -> None:
    how = {"quasi": ["age", "sex"], "sensitive": "disease", "drop": "name", "method": method}

    with pytest.raises(ld.LDiversityError):
        ld.anonymize(patients(60, seed=1), **how, output=tmp_path / "release", engine=Forgetful())

    assert not list(tmp_path.iterdir())
