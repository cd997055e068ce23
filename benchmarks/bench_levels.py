"""What it costs to raise levels until records look alike, against publishing without, and at the levels found."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

from _measure import Result, cost_of
from bench_screening import QUASI, ROWS, write_people

import ldiversity as ld
from ldiversity.engines import LocalEngine, Secrets
from ldiversity.publish._prepare import prepare
from ldiversity.publish._publish import rehearse
from ldiversity.tables import open_source

PROMISE = "k-anonymity:5"


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ld.LDiversityWarning)  # the same folder is written again and again
        file = write_people(Path(folder) / "people.parquet", ROWS)

        def publish(**decisions: Any) -> dict[str, str]:  # noqa: ANN401 - of a publication
            question = ld.Publication(quasi=QUASI, sensitive="disease", method="randomized-addition:l=3", **decisions)
            ready = prepare(question, open_source(file), LocalEngine())
            rehearse(ready, Path(folder) / "release", overwrite=True, secrets=Secrets())
            return {name: str(level) for name, level in ready.levels.items()}

        found = publish(model=PROMISE)
        raised = cost_of(lambda: publish(model=PROMISE)).cpu
        return [
            Result(
                f"raising levels to {PROMISE}, 1M rows x 6 columns / {what}",
                raised / cost.cpu,
                limit,
                "x CPU",
                f"{raised:.2f} s against {cost.cpu:.2f} s",
            )
            for what, cost, limit in (
                ("without it", cost_of(publish), 3.0),
                ("the same levels, declared", cost_of(lambda: publish(levels=found)), 2.0),
            )
        ]
