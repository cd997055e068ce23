"""Spark on two cores of this machine: what a release costs beside Spark itself and the local engine, and its growth.

LDIVERSITY_QUICK=1 takes a tenth of the rows. LDIVERSITY_FULL=1 takes 5 million, 2 and 10 million for the growth, and
20 million for the memory of the driver, which is that of a process that does nothing else. The growth of BSGI and of an
audit is left out otherwise, except with few rows.
Processor time is that of the driver, of Java and of all workers; Spark has started, and has done each piece of work
once with 300,000 rows. At the end it prints what becomes of pieces and functions where there are many parts.

Numba and Spark load other packages where they are installed, such as coverage and yaml. Memory is that of a user: what
`pip install ldiversity[spark]` does not bring is hidden.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from _measure import Result
from bench_memory import written
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

QUICK, FULL = (bool(os.environ.get(f"LDIVERSITY_{name}")) for name in ("QUICK", "FULL"))
ROWS = 100_000 if QUICK else 5_000_000 if FULL else 1_000_000
GROWTH = (2_000_000, 10_000_000) if FULL else (ROWS, 5 * ROWS)
_HERE = Path(__file__).parent
_WARM_UP = 300_000  # two pieces, so that both workers have started
_WORK = {"sets": ("plain", 2.0), "bsgi": ("local-bsgi", 5.0), "audit": ("local-audit", 3.0)}
PEAK_ROWS = 20_000_000 if FULL else ROWS
_DRIVER = {"audit": 300e6, "estimate": 300e6, "sets": 300e6, "keyed": 300e6, "bsgi": 600e6}
_GROWING = ("sets", "bsgi", "audit") if QUICK or FULL else ("sets",)


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        tables = {rows: written(Path(folder), rows) for rows in {_WARM_UP, ROWS, PEAK_ROWS, *GROWTH}}
        warm_up, table = tables[_WARM_UP], tables[ROWS]
        local = [f"{other}:{table}" for other, _ in _WORK.values() if other.startswith("local-")]
        first = {one["what"]: one for one in _process(folder, warm_up, local)}
        # Spark alone comes last: it ends workers that wait for a minute, and new ones load everything again.
        wanted = [f"{what}:{table}" for what in (*_WORK, "plain")]
        wanted += [f"{what}:{tables[rows]}" for what in _GROWING for rows in GROWTH]
        measured = _process(folder, warm_up, wanted)
        first |= {one["what"]: one for one in measured[: -2 * len(_GROWING)]}
        grown = measured[-2 * len(_GROWING) :]
        results = [
            *(_beside(first[what], first[other], limit) for what, (other, limit) in _WORK.items()),
            *map(_growth, grown[::2], grown[1::2]),
            *(_traffic(first[what]) for what in _WORK),
        ]
        alone = {"bsgi": ROWS, **dict.fromkeys(("sets", "keyed", "audit", "estimate"), PEAK_ROWS)}
        results += [_peak(_process(folder, warm_up, [f"{what}:{tables[rows]}"])[0]) for what, rows in alone.items()]
        subprocess.run([sys.executable, str(_HERE / "_spark_pieces.py"), str(tables[max(tables)])], check=True)
    return results


def _beside(one: dict[str, Any], other: dict[str, Any], limit: float) -> Result:
    name = f"Spark: CPU of {one['what']} / {other['what']}"
    return Result(name, one["cpu"] / other["cpu"], limit, "x CPU", f"{_said(one)}; {other['cpu']:.1f} s")


def _growth(few: dict[str, Any], many: dict[str, Any]) -> Result:
    said = f"{_said(few)}; {_said(many)}"
    return Result(f"Spark: CPU of {few['what']}, rows x 5", many["cpu"] / few["cpu"], 5.5, "x CPU", said)


def _peak(one: dict[str, Any]) -> Result:
    name = f"Spark: peak of the Python driver, {one['what']}"
    own = f"{one['driver_own'] / 1e6:.0f} MB its own, the rest are files of libraries"
    return Result(name, one["driver_peak"] / 1e6, _DRIVER[one["what"]] / 1e6, "MB", f"{one['rows']:,} rows; {own}")


def _said(one: dict[str, Any]) -> str:
    load = f"load {one['load']:.0f} before"
    return f"{one['cpu']:.1f} s at {one['rows']:,} rows in {one['wall']:.0f} s, {load}"


def _traffic(one: dict[str, Any]) -> Result:
    """Bytes that are shuffled for each row; the limit is about what a row has in memory."""
    passes = f"{one['input_rows'] / one['rows']:.1f} passes over the table, {one['stages']} stages"
    driver = f"{one['to_driver'] / one['rows']:.1f} bytes a row to the driver"
    most = f"functions of at most {one['closure']:,} bytes, notes of at most {one['note']:,}"
    return Result(
        f"Spark: bytes shuffled for each row, {one['what']}",
        one["shuffled"] / one["rows"],
        200,
        "bytes",
        f"{passes}, {driver}, {most}",
    )


def _process(folder: str, warm_up: Path, wanted: list[str]) -> list[dict[str, Any]]:
    """What a process measured, one after another."""
    program = str(_HERE / "_spark_work.py")
    command = [sys.executable, program, ",".join(_other_packages()), folder, str(warm_up), *wanted]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    tables = [one.split(":", 1)[1] for one in wanted]
    return [{**one, "rows": pq.ParquetFile(table).metadata.num_rows} for one, table in zip(found, tables, strict=True)]


def _other_packages() -> list[str]:
    """The modules here that `pip install ldiversity[spark]` does not bring, except the one that measures."""
    known, waiting = {("psutil", frozenset())}, [("ldiversity", frozenset({"spark"}))]
    while waiting:
        name, extras = waiting.pop()
        known.add((name, extras))
        try:
            named = [Requirement(text) for text in requires(name) or []]
        except PackageNotFoundError:  # it is for other systems
            continue
        contexts = [{"extra": extra} for extra in {"", *extras}]
        wanted = [one for one in named if one.marker is None or any(map(one.marker.evaluate, contexts))]
        waiting += {(canonicalize_name(one.name), frozenset(one.extras)) for one in wanted} - known
    names = {name for name, _ in known}
    owned = packages_distributions().items()
    return sorted(module for module, owners in owned if names.isdisjoint(map(canonicalize_name, owners)))
