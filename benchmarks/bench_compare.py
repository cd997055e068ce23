"""What a comparison costs beyond its runs, and what repeating it from its folder costs.

A run publishes, audits, attacks and asks queries; a comparison also reads, draws queries, audits the table as it is,
and chooses. Adult, 7 quasi-identifiers, all methods that need no further option, l = 2 and 4.
"""

from __future__ import annotations

import tempfile
import time

from _measure import Result, cost_of

import ldiversity as ld
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.compare import _compare
from ldiversity.evaluation.compare._measure import run_candidate

ROWS = 30_000
QUASI = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]
SENSITIVE = "occupation"
LEVELS = (2, 4)
SAMPLE = 3000


def run() -> list[Result]:
    try:
        table = ld.datasets.adult("all", "keep").select([*QUASI, SENSITIVE]).slice(0, ROWS)
    except UnsupportedError as missing:
        print(f"compare: not measured, because Adult is not here. {missing}")
        return []
    ld.compare(table.slice(0, 1000), quasi=QUASI, sensitive=SENSITIVE, l=2, seed=1)  # imports and compiles
    spent: list[float] = []

    def timed(*arguments: object) -> object:
        start = time.process_time()
        found = run_candidate(*arguments)  # type: ignore[arg-type]
        spent.append(time.process_time() - start)
        return found

    _compare.run_candidate = timed  # type: ignore[assignment]
    try:
        with tempfile.TemporaryDirectory() as folder:
            whole = cost_of(lambda: _compared(table, folder), repeat=1)
            again = cost_of(lambda: _compared(table, folder), repeat=1)
            runs = list(spent)
            some = cost_of(lambda: _compared(table, f"{folder}/sample", SAMPLE), repeat=1)
    finally:
        _compare.run_candidate = run_candidate
    detail = f"{whole.cpu:.1f} s for {len(runs)} runs, which took {sum(runs):.1f} s"
    repeated = f"{again.cpu:.2f} s against {whole.cpu:.1f} s"
    sampled = f"{some.cpu:.1f} s for {SAMPLE:,} of {ROWS:,} records"
    return [
        Result(f"compare, 30k rows of Adult, {len(runs)} runs", whole.cpu, 8, "s CPU"),
        Result("compare, 30k rows of Adult: CPU / that of its runs", whole.cpu / sum(runs), 1.25, "x", detail),
        Result("compare: CPU when repeated from its folder / at first", again.cpu / whole.cpu, 0.1, "x", repeated),
        Result("compare: CPU with sample=3000 / without", some.cpu / whole.cpu, 0.5, "x", sampled),
    ]


def _compared(table: object, folder: str, sample: int | None = None) -> ld.Comparison:
    given = {"quasi": QUASI, "sensitive": SENSITIVE, "l": LEVELS, "seed": 1, "sample": sample}
    return ld.compare(table, **given, folder=f"{folder}/runs")  # type: ignore[arg-type]
