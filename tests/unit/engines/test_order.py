"""Rows come out in an order that carries nothing, however large the table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from ldiversity.base.randomness import FreshWords
from ldiversity.engines._buckets import AtRandom, put_in_order


def shuffle_batches(
    given: list[pa.RecordBatch], *, n_rows: int, bucket_rows: int, words: FreshWords, scratch: Path
) -> Iterator[pa.Table]:
    return put_in_order(given, AtRandom(words), n_rows=n_rows, bucket_rows=bucket_rows, scratch=scratch)


def batches(n: int, size: int) -> list[pa.RecordBatch]:
    return pa.table({"row": np.arange(n), "text": [f"t{i}" for i in range(n)]}).to_batches(max_chunksize=size)


@pytest.mark.parametrize(("n", "bucket_rows"), [(1, 10), (10, 10), (1000, 100), (5000, 7), (20_000, 100)])
def test_every_row_comes_out_once(tmp_path: Path, n: int, bucket_rows: int) -> None:
    tables = list(
        shuffle_batches(batches(n, 64), n_rows=n, bucket_rows=bucket_rows, words=FreshWords(), scratch=tmp_path)
    )

    rows = pa.concat_tables(tables)
    assert sorted(rows["row"].to_pylist()) == list(range(n))
    assert rows["text"].to_pylist() == [f"t{i}" for i in rows["row"].to_pylist()]


def test_scratch_is_left_empty(tmp_path: Path) -> None:
    list(shuffle_batches(batches(1000, 64), n_rows=1000, bucket_rows=50, words=FreshWords(), scratch=tmp_path))

    assert not list(tmp_path.iterdir())


def test_no_table_is_much_larger_than_a_bucket(tmp_path: Path) -> None:
    tables = shuffle_batches(batches(40_000, 500), n_rows=40_000, bucket_rows=500, words=FreshWords(), scratch=tmp_path)

    assert max(table.num_rows for table in tables) <= 1000


def test_a_wrong_guess_of_the_size_does_no_harm(tmp_path: Path) -> None:
    tables = shuffle_batches(batches(5000, 100), n_rows=300, bucket_rows=100, words=FreshWords(), scratch=tmp_path)

    assert sorted(pa.concat_tables(tables)["row"].to_pylist()) == list(range(5000))


def test_all_orders_are_equally_likely_through_buckets(tmp_path: Path) -> None:
    words = FreshWords.from_insecure_seed(11)
    n_runs = 720

    orders = [
        tuple(
            pa.concat_tables(shuffle_batches(batches(4, 1), n_rows=4, bucket_rows=1, words=words, scratch=tmp_path))[
                "row"
            ].to_pylist()
        )
        for _ in range(n_runs)
    ]

    counts = [orders.count(order) for order in permutations(range(4))]
    # Chi-square with 23 degrees of freedom; a false alarm in one of 10,000 runs.
    assert stats.chisquare(counts).pvalue > 1e-4


def test_a_table_in_memory_keeps_its_rows_together() -> None:
    rows = AtRandom(FreshWords()).finish(pa.Table.from_batches(batches(1000, 64)))

    assert rows["text"].to_pylist() == [f"t{i}" for i in rows["row"].to_pylist()]


def test_the_buckets_on_disk_carry_no_order_of_large_batches(tmp_path: Path) -> None:
    n = 20_000
    words = FreshWords.from_insecure_seed(13)
    tables = shuffle_batches(batches(n, 5000), n_rows=n, bucket_rows=2000, words=words, scratch=tmp_path)

    rows = pa.concat_tables(tables)["row"].to_numpy()

    # Rank correlation of n places has standard error 1/sqrt(n - 1); 4.5 of them: a false alarm in 7e-6 of seeds.
    assert abs(stats.spearmanr(rows, np.arange(n)).statistic) < 4.5 / np.sqrt(n - 1)
    within = np.concatenate([np.argsort(np.argsort(rows[rows // 5000 == batch])) for batch in range(4)])
    assert abs(stats.spearmanr(within, np.tile(np.arange(5000), 4)).statistic) < 4.5 / np.sqrt(n - 1)
