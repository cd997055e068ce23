"""Sets on Spark: the same draws as on one machine, once for each row, in a random order, or no release at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import ldiversity as ld
from ldiversity.base.randomness import Key
from ldiversity.engines import LocalEngine, NumberedBatch, Secrets
from ldiversity.engines.spark import SparkEngine
from ldiversity.publish._draw import DrawSets, HiddenAttribute
from ldiversity.tables import Coder, open_source
from tests.spark.conftest import N_ROWS

HOW: dict[str, Any] = {"quasi": ["age", "sex"], "plain": "row", "confirm": ["row"], "sensitive": "disease"}
DROPPED = ["name", "zip", "job"]


def hiding_everything(n_rows: int) -> tuple[pa.Table, DrawSets]:
    """A table with a sensitive column for each kind of mechanism that takes a key, and what draws them at once."""
    from tests.contract.test_mechanisms import CASES

    rng = np.random.default_rng(3)
    columns: dict[str, pa.Array] = {"id": pa.array([f"id {number}" for number in range(n_rows)])}
    hidden = []
    for name, (domain, mechanism) in CASES.items():
        if mechanism.epsilon is not None:  # these take no key; the job's draws are compared below
            continue
        values = pa.array(list(domain.values))
        columns[name] = values.take(pa.array(rng.integers(len(domain), size=n_rows)))
        hidden.append(HiddenAttribute(name, Coder(name, domain, values.type), mechanism))
    return pa.table(columns), DrawSets({"id": pa.string()}, tuple(hidden), record_id=("id",))


@pytest.mark.parametrize("n_partitions", [1, 7, 64])
def test_keyed_sets_of_every_mechanism_are_those_of_the_local_engine(
    engine: SparkEngine, spark: Any, n_partitions: int, tmp_path: Path
) -> None:
    table, factory = hiding_everything(400)
    Key(bytes(range(32))).save(tmp_path / "holder.key")
    secrets = Secrets(Key.load(tmp_path / "holder.key"), key_file=tmp_path / "holder.key")
    pq.write_table(table, tmp_path / "all.parquet")
    frame = spark.read.parquet(str(tmp_path / "all.parquet")).repartition(n_partitions)

    drawn = engine.map(factory, engine.open(frame), table.column_names, secrets=secrets)

    expected = LocalEngine().map(factory, open_source(table), table.column_names, secrets=secrets)
    found, wanted = (pa.Table.from_batches(iter(rows)).sort_by("id") for rows in (drawn, expected))
    assert found.combine_chunks().equals(wanted.combine_chunks())


@pytest.mark.parametrize("epsilon", [None, 2.0], ids=["exact", "epsilon"])
@pytest.mark.parametrize("how", [{}, {"person": "job"}], ids=["row", "person"])
def test_draws_of_a_job_are_those_of_the_local_engine(
    engine: SparkEngine, one_file: Path, how: dict[str, str], epsilon: float | None
) -> None:
    coder = _diseases(one_file)
    hidden = HiddenAttribute("disease", coder, ld.RandomizedAddition(l=3, epsilon=epsilon).fit(coder.domain))
    factory = DrawSets({"row": pa.int64()}, (hidden,), random_order=True, **how)
    job = Secrets()
    columns = ["row", "disease", "job"]

    drawn = engine.map(factory, engine.open(one_file), columns, secrets=job)

    expected = LocalEngine().map(factory, open_source(one_file), columns, secrets=job)
    found, wanted = (pa.Table.from_batches(iter(rows)).sort_by("row") for rows in (drawn, expected))
    assert found.combine_chunks().equals(wanted.combine_chunks())


def _diseases(file: Path) -> Coder:
    from ldiversity.tables import Sensitive, fit_coder

    return fit_coder(open_source(file), Sensitive("disease"))[0]


def test_a_release_has_every_row_once_and_is_read_without_spark(
    engine: SparkEngine, spark: Any, many_files: Path, table: pa.Table, tmp_path: Path
) -> None:
    small = SparkEngine(engine.session, file_rows=400)
    seen: list[float] = []

    release = ld.anonymize(
        many_files,
        **HOW,
        drop=DROPPED,
        method=ld.RandomizedAddition(l=3),
        output=tmp_path / "release",
        engine=small,
        progress=lambda share, _: seen.append(share),
    )

    files = sorted(path.name for path in (tmp_path / "release").iterdir())
    assert files == sorted(["release.json", *(f"data_{number}.parquet" for number in range(1, 9))])
    release.verify()
    loaded = ld.load_release(tmp_path / "release").table
    order = loaded["row"].to_numpy()
    assert sorted(order) == list(range(N_ROWS))
    true = dict(zip(table["row"].to_pylist(), table["disease"].to_pylist(), strict=True))
    assert all(true[row] in values for row, values in zip(order, loaded["disease"].to_pylist(), strict=True))
    assert seen == sorted(seen)
    assert any(0.1 < share < 0.9 for share in seen)


@dataclass(frozen=True)
class OrderOnly:
    """Gives each row a key of the job, as drawing does."""

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([("row", pa.int64()), ("\0order", pa.binary(16))])

    def __call__(self, secrets: Secrets, /) -> Callable[[NumberedBatch], pa.RecordBatch]:
        from ldiversity.base.randomness import KeyedWords
        from ldiversity.publish._identities import key_column

        words = KeyedWords(secrets.job, b"", "order")

        def run(rows: NumberedBatch) -> pa.RecordBatch:
            keys = key_column(words.for_records(rows.identities, 2))
            return pa.RecordBatch.from_arrays([rows.cells["row"], keys], schema=self.schema)

        return run


def test_the_order_is_uniform_over_places_and_files(engine: SparkEngine, many_files: Path) -> None:
    """Where rows go is independent of where they were: 20 x 20 places, with three jobs together.

    The statistic has a chi-square distribution with 3 x 19 x 19 degrees of freedom; false alarm rate 1e-6.
    """
    small = SparkEngine(engine.session, file_rows=400)
    source, statistic = small.open(many_files), 0.0
    for _ in range(3):
        job = Secrets()
        mapped = small.map(OrderOnly(), source, ["row"], secrets=job)
        ordered = small.order(mapped, n_rows=N_ROWS, scratch=None, by="\0order")
        rows = np.concatenate([batch["row"].to_numpy() for batch in ordered])
        counts = np.zeros((20, 20))
        np.add.at(counts, (rows * 20 // N_ROWS, np.arange(N_ROWS) * 20 // N_ROWS), 1)
        expected = N_ROWS / 400
        statistic += float(((counts - expected) ** 2).sum() / expected)

    assert statistic < stats.chi2.ppf(1 - 1e-6, 3 * 19 * 19)


def test_repeated_ids_are_found_on_the_cluster(engine: SparkEngine, many_files: Path, tmp_path: Path) -> None:
    Key.new().save(tmp_path / "holder.key")

    with pytest.raises(ld.SchemaError, match="ids must be unique, got") as caught:
        ld.anonymize(
            many_files,
            **HOW,
            drop=["name", "zip"],
            method=ld.RandomizedAddition(l=3),
            key=str(tmp_path / "holder.key"),
            record_id="job",
            output=tmp_path / "release",
            engine=engine,
        )

    assert "\n\tat " not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["holder.key"]


def test_input_that_changes_is_refused(engine: SparkEngine, table: pa.Table, tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    pq.write_table(table, file)

    def change(share: float, _: str) -> None:
        if share > 0.3:
            pq.write_table(table.slice(1), file)

    with pytest.raises(ld.LDiversityError, match="stay as they are"):
        ld.anonymize(
            file,
            **HOW,
            drop=DROPPED,
            method=ld.RandomizedAddition(l=3),
            output=tmp_path / "release",
            engine=engine,
            progress=change,
        )
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]
