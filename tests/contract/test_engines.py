"""What every engine keeps: rows have a stable identity, and neither batches, threads nor workers change a result.

An engine that moves work elsewhere is played by one of this file: it pickles what it is given, makes the secrets anew
where the work is done, from the file of the key, and does every batch twice, as a cluster does after a fault.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from scipy.stats import chi2

import ldiversity as ld
from ldiversity.base.randomness import FreshWords, Key
from ldiversity.datasets import patients, patients_tree
from ldiversity.engines import (
    BatchFunction,
    Engine,
    Factory,
    LocalEngine,
    NumberedBatch,
    Part,
    PartFactory,
    PartFunction,
    Rows,
    Secrets,
)
from ldiversity.publish._draw import DrawSets, HiddenAttribute
from ldiversity.release import DataFile, PartWriter, Written
from ldiversity.tables import COUNT, Coder, Source, open_source

ROWS = 1000
TABLE: pa.Table = patients(ROWS, seed=3).append_column("row", pa.array(range(ROWS)))


Sent = TypeVar("Sent")


def sent(thing: Sent) -> Sent:
    """The thing as a worker receives it."""
    received: Sent = pickle.loads(pickle.dumps(thing))  # noqa: S301 - made here
    return received


class GivenRows(Rows):
    """Rows that are there."""

    def __init__(self, batches: list[pa.RecordBatch], schema: pa.Schema | None = None) -> None:
        self._batches, self._schema = batches, schema

    @property
    def schema(self) -> pa.Schema:
        return self._batches[0].schema if self._schema is None else self._schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self._batches)


class Elsewhere(LocalEngine):
    """Works as an engine with workers in other processes would; keys travel as files that only their owner reads."""

    name: ClassVar[str] = "elsewhere"
    orders_by_key: ClassVar[bool] = True

    def map(self, factory: Factory, source: Source | Rows, columns: Sequence[str], *, secrets: Secrets) -> Rows:
        """Every batch by a worker of its own, twice, the last batch first."""
        if isinstance(source, Rows):
            return super().map(sent(factory), source, columns, secrets=secrets)
        return GivenRows(self._mapped(factory, source, columns, secrets), factory.schema)

    def _mapped(
        self, factory: Factory, source: Source, columns: Sequence[str], secrets: Secrets
    ) -> list[pa.RecordBatch]:
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
                    again = sent(factory)(own)(batch)
                    assert again.equals(done.setdefault(batch.first, again))
        return [done[batch.first] for batch in batches]

    def partition(self, factory: PartFactory, rows: Rows, **how: Any) -> Rows:
        """A function that was sent to a worker."""
        return super().partition(sent(factory), rows, **how)


ENGINES: list[Engine] = [
    LocalEngine(),
    LocalEngine(workers=1, chunk_rows=7),
    LocalEngine(workers=3, chunk_rows=64),
    Elsewhere(chunk_rows=97),
]


def engine_id(engine: Engine) -> str:
    return f"{engine.name}, {engine.workers} workers, {getattr(engine, 'chunk_rows', '')} rows"


engines = pytest.mark.parametrize("engine", ENGINES, ids=engine_id)


class Doubled:
    """Makes the function of a worker: the identity of each row, and twice its number."""

    schema = pa.schema({"file": pa.uint64(), "number": pa.uint64(), "twice": pa.int64()})

    def __call__(self, _: Secrets) -> BatchFunction:
        def double(rows: NumberedBatch) -> pa.RecordBatch:
            numbers, files = rows.identities.T
            return pa.record_batch({"file": files, "number": numbers, "twice": pc.multiply(rows.cells["row"], 2)})

        return double


class Halved:
    """Makes the function of a worker: half of a number."""

    schema = pa.schema({"half": pa.int64()})

    def __call__(self, _: Secrets) -> BatchFunction:
        return lambda rows: pa.record_batch({"half": pc.divide(rows.cells["twice"], 2)})


class Summed:
    """Makes the function of a part: the sum of its rows, and a note of how many they are."""

    schema = pa.schema({"part": pa.int64(), "sum": pa.int64()})

    def __call__(self, _: Secrets) -> PartFunction:
        def add(part: Part) -> tuple[pa.Table, bytes]:
            rows = part.rows["row"].to_pylist()
            return pa.table({"part": [part.number], "sum": [sum(rows)]}), f"{part.number}: {len(rows)}".encode()

        return add


@engines
def test_rows_keep_their_identity_however_they_are_cut(engine: Engine) -> None:
    source = open_source(TABLE)

    seen = [(batch.identities, batch.cells["row"].to_pylist()) for batch in engine.rows(source, ["row"])]

    assert np.concatenate([identities for identities, _ in seen])[:, 0].tolist() == list(range(ROWS))
    assert [row for _, rows in seen for row in rows] == list(range(ROWS))


@engines
def test_a_function_is_mapped_over_all_rows_in_their_order(engine: Engine) -> None:
    mapped = engine.map(Doubled(), open_source(TABLE), ["row"], secrets=Secrets())
    found = pa.Table.from_batches(mapped)

    assert found.equals(pa.Table.from_batches(mapped))
    assert found.schema.equals(mapped.schema)
    assert found["twice"].to_pylist() == [2 * row for row in range(ROWS)]
    assert found["number"].to_pylist() == list(range(ROWS))
    assert set(found["file"].to_pylist()) == {0}


@engines
@pytest.mark.parametrize("times", [None, "age"])
@pytest.mark.parametrize("by", [["sex"], ["sex", "job"], ["disease", "zip", "sex"]])
def test_rows_are_counted_by_columns(engine: Engine, by: list[str], times: str | None) -> None:
    found = engine.count(open_source(TABLE), by, times=times)

    expected = TABLE.group_by(by).aggregate([([], "count_all") if times is None else (times, "sum")])
    assert found is not None
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected.rename_columns([*by, COUNT]).to_pylist()))


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

    found = pa.Table.from_batches(engine.order(given, n_rows=ROWS, scratch=scratch, by="key"))

    expected = pa.Table.from_batches(given).sort_by([("key", "ascending")])
    keys = dict(zip(*(pa.Table.from_batches(given)[name].to_pylist() for name in ("row", "key")), strict=True))
    assert [keys[row] for row in found["row"].to_pylist()] == expected["key"].to_pylist()
    assert sorted(found["row"].to_pylist()) == list(range(ROWS))
    assert "key" not in found.column_names
    assert not list(tmp_path.iterdir())


@engines
def test_rows_of_an_engine_are_mapped_again(engine: Engine) -> None:
    once = engine.map(Doubled(), open_source(TABLE), ["row"], secrets=Secrets())

    again = engine.map(Halved(), once, ["twice"], secrets=Secrets())

    assert pa.Table.from_batches(again)["half"].to_pylist() == list(range(ROWS))


@engines
@pytest.mark.parametrize("on_disk", [True, False])
def test_rows_of_one_part_are_together(engine: Engine, on_disk: bool, tmp_path: Path) -> None:  # noqa: FBT001
    parts = [row * row % 7 for row in range(ROWS)]  # never 3, 5 or 6
    batches = TABLE.append_column("part", pa.array(parts, pa.int32())).to_batches(max_chunksize=90)
    scratch = tmp_path if on_disk else None

    made = engine.partition(Summed(), GivenRows(batches), by="part", n_parts=8, secrets=Secrets(), scratch=scratch)
    kept = engine.keep(made, scratch=scratch)

    expected = {part: [row for row in range(ROWS) if parts[row] == part] for part in (0, 1, 2, 4)}
    for rows in (made, kept):
        found = pa.Table.from_batches(rows, rows.schema).to_pydict()
        assert found == {"part": [*expected], "sum": [sum(rows) for rows in expected.values()]}
        assert rows.notes() == [f"{part}: {len(rows)}".encode() for part, rows in expected.items()]


@engines
def test_rows_of_an_engine_are_counted(engine: Engine) -> None:
    rows = GivenRows(TABLE.to_batches(max_chunksize=90))

    found = engine.count(rows, ["sex", "job"])

    expected = engine.count(open_source(TABLE), ["sex", "job"])
    assert found is not None
    assert expected is not None
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected.to_pylist()))
    assert engine.count(rows, ["sex", "job"], most=1) is None


@engines
@pytest.mark.parametrize("n_rows", [1, 10, 400, ROWS, ROWS + 1])
def test_a_sample_depends_on_the_job_alone(engine: Engine, n_rows: int) -> None:
    secrets, source = Secrets(insecure_seed=5), open_source(TABLE)

    found = engine.sample(source, ["row", "sex"], n_rows, secrets=secrets)

    assert found.equals(LocalEngine(workers=1).sample(source, ["row", "sex"], n_rows, secrets=secrets))
    assert len(set(found["row"].to_pylist())) == min(n_rows, ROWS)


def test_every_row_is_equally_likely_to_be_sampled() -> None:
    """Chi-square over 20 rows of 4,000 samples of 5; false alarm once in 10,000 runs."""
    source = open_source(TABLE.slice(0, 20))
    engine, times = LocalEngine(workers=1, chunk_rows=8), 4000
    drawn = [engine.sample(source, ["row"], 5, secrets=Secrets())["row"].to_numpy() for _ in range(times)]

    counts, first = np.bincount(np.concatenate(drawn), minlength=20), np.bincount([one[0] for one in drawn])
    # Rows of one sample differ, so counts vary less than in independent draws: by the factor (20 - 5) / (20 - 1).
    assert ((counts - times / 4) ** 2 / (times / 4 * 15 / 19)).sum() < chi2.isf(1e-4 / 2, 19)
    assert ((first - times / 20) ** 2 / (times / 20)).sum() < chi2.isf(1e-4 / 2, 19)


@engines
def test_a_random_order_loses_no_row_and_is_another_each_time(engine: Engine, tmp_path: Path) -> None:
    def shuffled() -> list[int]:
        batches = TABLE.select(["row"]).to_batches(max_chunksize=90)
        rows: list[int] = pa.Table.from_batches(engine.order(batches, n_rows=ROWS, scratch=tmp_path))["row"].to_pylist()
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


@engines
@pytest.mark.parametrize("n_same", [0, 3])
def test_repeated_ids_are_found_on_every_engine(engine: Engine, n_same: int, tmp_path: Path) -> None:
    ids = pa.array([max(row, n_same) for row in range(ROWS)])
    how: dict[str, Any] = {"quasi": "age", "sensitive": "disease", "drop": ["sex", "zip", "job", "name"]}
    how |= {"key": Key(bytes(32)), "record_id": "row", "method": ld.RandomizedAddition(l=3), "engine": engine}
    table = TABLE.set_column(TABLE.column_names.index("row"), "row", ids)

    if not n_same:
        assert ld.anonymize(table, **how, output=tmp_path / "release").n_rows == ROWS
        return
    with pytest.raises(ld.SchemaError, match=f"got {n_same} repeated among {ROWS} records"):
        ld.anonymize(table, **how, output=tmp_path / "release")
    assert not list(tmp_path.iterdir())


@engines
def test_an_order_under_a_key_is_another_each_time_unless_it_is_asked_for(engine: Engine) -> None:
    how: dict[str, Any] = {"quasi": "age", "sensitive": "disease", "drop": ["sex", "zip", "job", "name"]}
    how |= {"key": Key(bytes(32)), "record_id": "row", "method": ld.RandomizedAddition(l=3), "engine": engine}

    def ages(*, stable: bool) -> list[int]:
        found: list[int] = ld.anonymize(TABLE, **how, stable_order=stable).table["age"].to_pylist()
        return found

    assert ages(stable=False) != ages(stable=False)
    assert ages(stable=True) == ages(stable=True)


WAYS: dict[str, dict[str, Any]] = {
    "alone": {},
    "record": {"record_id": ("name",), "digests": True},
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
    """Changes what it wrote: the first row of every file comes last."""

    def write(self, folder: Path, writer: PartWriter, rows: Iterable[pa.RecordBatch]) -> list[Written]:
        written = super().write(folder, writer, rows)
        for one in written:
            table = pq.read_table(folder / one.file)
            pq.write_table(pa.concat_tables([table.slice(1), table.slice(0, 1)]), folder / one.file)
        return written


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
