"""BSGI in parts: loss against one piece, also as published within 500 MB, rows that move, and the cost of routing.

Usage: LDIVERSITY_DATA=<folder with adult.csv.gz> python benchmarks/run.py parts
LDIVERSITY_QUICK=1 publishes two orders of the rows instead of five.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from _measure import Result
from bench_bsgi import read_adult, table_of
from bench_grouped_memory import MEMORY, QUASI, QUICK, table_file
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.methods import (
    BSGI,
    Candidates,
    CodedTable,
    Cuts,
    ExactMoves,
    GroupingRun,
    NumberColumn,
    eligible_moves,
)
from ldiversity.methods._bsgi_space import make_space

ROWS = 300_000
SAMPLE = 131_072
ORDERS = 5
LOSS_LIMITS = {4: 1.05, 16: 1.05, 64: 1.1}
"""The last parts have 4,700 rows, fewer than any setting makes."""

PUBLISHED, PUBLISHED_LIMIT = 1_000_000, 1.05
"""Within 500 MB, parts have some 64,000 rows: these are about 18."""

ROUTE_LIMIT = 0.5
"""Microseconds a row."""


def run() -> list[Result]:
    folder = os.environ.get("LDIVERSITY_DATA")
    if not folder:
        print("LDIVERSITY_DATA does not name the folder of the public data sets (Adult): no figures for parts.")
        return []
    table = table_of(read_adult(Path(folder)), ROWS)
    return [*(result for l in (4, 7) for result in _measure(table, l)), *_published()]


def _published() -> list[Result]:
    """The loss of a release that was made within the setting against one made in memory, grids included."""
    orders = range(2 if QUICK else ORDERS)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        file = table_file(Path(folder), PUBLISHED)
        for effort in (0, BSGI(4).moves):
            losses = {
                memory: [_loss_of(file, Path(folder), BSGI(4, effort=effort), memory, order) for order in orders]
                for memory in (f"{MEMORY}MB", None)
            }
            within, whole = (float(np.mean(found)) for found in losses.values())
            name = f"BSGI l=4, effort {effort}, 1M rows, memory={MEMORY}MB: loss, in memory = 1"
            detail = f"mean of {len(orders)} orders: {within:.4f} against {whole:.4f}"
            results.append(Result(name, within / whole, PUBLISHED_LIMIT, "ratio", detail))
    return results


def _loss_of(file: Path, folder: Path, method: BSGI, memory: str | None, order: int) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        release = ld.anonymize(
            file,
            quasi=QUASI,
            sensitive="occupation",
            drop=("who",),
            method=method,
            insecure_seed=order,
            output=Path(place) / "release",
            memory=memory,
        )
        return float(ld.ncp(file, release))


def _measure(table: CodedTable, l: int) -> list[Result]:
    """Of the same rows in several orders, the loss in one piece and in parts; and what routing costs."""
    whole: list[float] = []
    in_parts: dict[int, list[float]] = {4: [], 16: [], 64: []}
    micros, moved = 0.0, 0.0
    for order in range(ORDERS):
        rng = np.random.default_rng(order)
        given = _taken(table, rng.permutation(ROWS))
        whole.append(_loss(given, given, l))
        for n_parts, losses in in_parts.items():
            cuts = Cuts.of_sample("BSGI", _taken(given, rng.permutation(ROWS)[:SAMPLE]), n_parts, l=l)
            words = rng.integers(0, 2**64, (ROWS, 2), dtype=np.uint64)
            cuts.route(_taken(given, np.arange(9)), words[:9, 0])  # compiled before it is measured
            start = time.process_time()
            parts = cuts.route(given, words[:, 0])
            micros = max(micros, (time.process_time() - start) / ROWS * 1e6)
            after, n_moved = _made_eligible(given, cuts, parts, words[:, 1], l)
            moved = max(moved, n_moved / ROWS)
            losses.append(
                sum(_loss(_taken(given, np.flatnonzero(after == part)), given, l) for part in np.unique(after))
            )
    results = [
        Result(
            f"BSGI l={l} in {n_parts} parts: loss, one piece = 1",
            float(np.mean(losses) / np.mean(whole)),
            LOSS_LIMITS[n_parts],
            "ratio",
        )
        for n_parts, losses in in_parts.items()
    ]
    return [
        *results,
        Result(f"BSGI l={l} in parts: share of rows that move", moved, 0.02, "share"),
        Result(f"BSGI l={l} in 64 parts: routing a row", micros, ROUTE_LIMIT, "microseconds"),
    ]


def _made_eligible(
    given: CodedTable, cuts: Cuts, parts: NDArray[np.int32], words: NDArray[np.uint64], l: int
) -> tuple[NDArray[np.int32], int]:
    column = given.sensitive[0]
    counts = np.zeros((cuts.n_parts, len(column.domain)), dtype=np.int64)
    np.add.at(counts, (parts, column.codes), 1)
    moves = eligible_moves(counts, l, cuts.tree)
    chosen = Candidates.of(moves, counts).choose(parts, column.codes, words)
    exact = ExactMoves.settle(moves, counts, parts[chosen], column.codes[chosen], words[chosen])
    if exact is None:
        raise RuntimeError("too few candidates")
    return exact.apply(parts, column.codes, words), moves.n_rows


def _loss(part: CodedTable, whole: CodedTable, l: int) -> float:
    """The loss of the rows of a part, as a share of all cells; charged alike in every part."""
    from ldiversity._kernels.bsgi_loss import total_loss

    partition = BSGI(l=l, effort=0).group(part, GroupingRun(workers=2)).partitions[0]
    space = make_space("BSGI", part, None)
    total = float(total_loss(space.loss, space.points, partition.class_of, partition.n_classes))
    return total / whole.n_rows / len(whole.quasi)


def _taken(table: CodedTable, rows: NDArray[np.int64]) -> CodedTable:
    quasi = tuple(
        replace(column, values=column.values[rows])
        if isinstance(column, NumberColumn)
        else replace(column, codes=column.codes[rows])
        for column in table.quasi
    )
    return CodedTable(quasi, tuple(replace(column, codes=column.codes[rows]) for column in table.sensitive))
