"""What it costs to screen a table before it is published, against publishing it without, and how that grows."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import Cost, Result, cost_of

import ldiversity as ld
from ldiversity.engines import LocalEngine, Secrets
from ldiversity.publish._prepare import Preparation, prepare
from ldiversity.publish._publish import rehearse
from ldiversity.publish._screening import screen
from ldiversity.tables import open_source

ROWS = 1_000_000
FEWER_ROWS = 250_000
QUASI = ("age", "weight", "birth", "zip", "job")
METHODS = ("randomized-addition:l=3", "anatomy:l=3")


def run() -> list[Result]:
    results = []
    with tempfile.TemporaryDirectory() as folder:
        files = {n_rows: write_people(Path(folder) / f"{n_rows}.parquet", n_rows) for n_rows in (FEWER_ROWS, ROWS)}
        for method in METHODS:
            costs = {n_rows: _cost(file, method, Path(folder)) for n_rows, file in files.items()}
            screened, published = costs[ROWS]
            name = method.partition(":")[0]
            results.append(
                Result(
                    f"screening 1M rows x 6 columns / {name} without it",
                    screened.cpu / published.cpu,
                    0.5,
                    "x CPU",
                    f"{screened.cpu:.2f} s against {published.cpu:.2f} s",
                )
            )
            growth = screened.cpu / costs[FEWER_ROWS][0].cpu
            results.append(Result(f"screening 1M rows / 250k rows, {name}", growth, 5, "x CPU"))
    return results


def write_people(file: Path, n_rows: int) -> Path:
    """Two numbers, two texts of few and of many values, a date, and what is hidden."""
    rng = np.random.default_rng(0)
    names = {"zip": 5_000, "job": 30, "disease": 50}
    texts = {
        name: np.array([f"{name} {i:04d}" for i in range(n)])[rng.integers(0, n, n_rows)] for name, n in names.items()
    }
    days = pa.array(rng.integers(-14_000, 14_000, n_rows).astype(np.int32), pa.date32())
    numbers = {"age": rng.integers(0, 100, n_rows), "weight": rng.normal(70, 15, n_rows).round(1)}
    pq.write_table(pa.table({**numbers, "birth": days, **texts}), file)
    return file


def _cost(file: Path, method: str, folder: Path) -> tuple[Cost, Cost]:
    """Of screening alone, and of publishing from a file to a folder without it."""
    publication = ld.Publication(quasi=QUASI, sensitive="disease", method=method)

    def prepared() -> Preparation:
        return prepare(publication, open_source(file), LocalEngine())

    def publish() -> None:
        rehearse(prepared(), folder / "release", overwrite=True, secrets=Secrets())

    ready = prepared()
    return cost_of(lambda: screen(ready)), cost_of(publish)
