"""How fast Mondrian partitions a table, against anonypy's Mondrian, and how the cost grows with rows.

Compared is the partition alone, from columns in memory to the class of each record, with the same rule on the same kind
of table: every class has at least four distinct sensitive values (and so four records). Both cut at medians; ours also
tries other cuts where the median is not allowed. anonypy gets the largest table that it finishes in two minutes; the
figure is the ratio of rows per second of processor time.

Two workers share the loops alone: 1.4 of 2.2 s. Ranking the columns, and choosing the cuts of each level from what the
loops found, stay with one of them. So two workers can be 1.45 times as fast at most.
"""

from __future__ import annotations

import numpy as np
from _measure import Result, cost_of

from ldiversity.methods import CategoryColumn, CodedTable, GroupingRun, Mondrian, NumberColumn, SensitiveColumn
from ldiversity.schema import Domain

ROWS = 1_000_000
L = 4
VALUES = 14
LABELS = {"marital": 7, "race": 5, "sex": 2}
SECONDS = 120.0


def run() -> list[Result]:
    method = Mondrian(model=f"distinct:{L}")
    grouped = {}
    for rows in (1000, ROWS // 10, ROWS):
        table = coded(columns(rows))
        grouped[rows] = cost_of(lambda table=table: method.group(table, GroupingRun()), repeat=1 if rows == ROWS else 2)
    alone, both = (
        cost_of(lambda n=workers: method.group(table, GroupingRun(workers=n)), repeat=1) for workers in (1, 2)
    )
    strict = grouped[ROWS]
    growth = strict.cpu / grouped[ROWS // 10].cpu
    peer_rows, peer_seconds = largest_of_anonypy()
    ratio = (ROWS / strict.cpu) / (peer_rows / peer_seconds)
    detail = f"{strict.cpu:.1f} s CPU for 1M rows; anonypy {peer_seconds:.0f} s CPU for {peer_rows:,} rows"
    two = f"{alone.wall:.1f} s against {both.wall:.1f} s; means something on two idle cores only"
    return [
        Result("Mondrian, 1M x 7, distinct:4", alone.cpu, 6, "s CPU"),
        Result("Mondrian, wall time with one worker / with two", alone.wall / both.wall, 1.7, "x", two, at_least=True),
        Result("Mondrian, 1M x 7, distinct:4, rows a CPU second / anonypy", ratio, 100, "x", detail, at_least=True),
        Result("Mondrian, CPU at 1M rows / at 100k rows", growth, 14, "x CPU", f"{strict.cpu:.1f} s CPU"),
    ]


def columns(rows: int) -> dict[str, np.ndarray]:
    """Four numbers, three categories and a sensitive column, all skewed, some related."""
    rng = np.random.default_rng(0)
    age = np.clip(rng.gamma(6, 6.5, rows).astype(np.int64) + 12, 17, 90)
    made: dict[str, np.ndarray] = {
        "age": age,
        "weight": rng.lognormal(12, 0.5, rows).astype(np.int64),
        "education": rng.binomial(16, 0.6, rows),
        "hours": np.clip(np.where(rng.random(rows) < 0.45, 40, rng.normal(41, 12, rows).astype(np.int64)), 1, 99),
    }
    for name, n_labels in LABELS.items():
        shares = 0.5 ** np.arange(n_labels)
        made[name] = rng.choice(n_labels, rows, p=shares / shares.sum())
    made["occupation"] = (rng.choice(VALUES, rows, p=_skewed(VALUES)) + made["education"] // 6) % VALUES
    return made


def _skewed(n: int) -> np.ndarray:
    shares = 1 / np.arange(3, n + 3)
    return shares / shares.sum()


def coded(made: dict[str, np.ndarray]) -> CodedTable:
    quasi = [
        CategoryColumn(name, values.astype(np.int32), tuple(f"{name} {i}" for i in range(LABELS[name])))
        if name in LABELS
        else NumberColumn(name, values, float(values.min()), float(values.max()))
        for name, values in made.items()
        if name != "occupation"
    ]
    occupation = SensitiveColumn("occupation", made["occupation"].astype(np.int32), Domain(tuple(range(VALUES))))
    return CodedTable(tuple(quasi), (occupation,))


def largest_of_anonypy() -> tuple[int, float]:
    """The largest doubling of 1,000 rows that anonypy partitions in two minutes, and its seconds of processor time."""
    import pandas as pd
    from anonypy.mondrian import Mondrian as Peer

    rows, finished = 1000, (0, 0.0)
    while True:
        made = columns(rows)
        frame = pd.DataFrame({name: pd.Categorical(v) if name in LABELS else v for name, v in made.items()})
        peer = Peer(frame, [name for name in made if name != "occupation"], "occupation")
        cost = cost_of(lambda peer=peer: peer.partition(k=L, l=L), repeat=1)
        if cost.wall <= SECONDS:
            finished = (rows, cost.cpu)
        if cost.wall * 1.8 > SECONDS:  # twice the rows take about twice as long
            return finished
        rows *= 2
