"""Releases of strangers: bits flipped in every stored sample, a file that unfolds without end, what the checks cost.

Every bit of every footer and 2,000 bits of pages are flipped, one at a time, the checksum is mended, and the release is
loaded, verified, shown and audited; the same files are also read as tables of a data holder. That takes ten minutes.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _bomb import make_bomb
from _measure import Result, cost_of, peak_memory_of

import ldiversity as ld
from ldiversity.release._parquet import parquet_batches

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "tests" / "data"
PAGE_FLIPS = 2_000
HANG_SECONDS = 10.0
ROWS = 1_000_000

_AUDIT = """
import sys
import ldiversity as ld
try:
    ld.audit(sys.argv[1])
except ld.ReleaseFormatError:
    pass
"""


@dataclass
class Sweep:
    """What became of flipped bits."""

    outcomes: Counter[str] = field(default_factory=Counter)
    deaths: int = 0
    slowest: float = 0.0
    peak: int = 0

    def flip(self, folder: Path, name: str, way: str, bits: list[int]) -> None:
        """Read a file with each bit flipped, in processes that begin again after one that was ended."""
        while bits:
            command = [sys.executable, str(HERE / "_flips.py"), str(folder), name, way]
            text = "\n".join(map(str, bits))
            done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
            lines = [line.split() for line in done.stdout.splitlines()]
            seen = [line for line in lines if line[0] != "peak"]
            self.outcomes.update(outcome for _, outcome, _ in seen)
            self.slowest = max([self.slowest, *(float(seconds) for *_, seconds in seen)])
            self.peak = max([self.peak, *(int(line[1]) for line in lines if line[0] == "peak")])
            self.deaths += len(seen) < len(bits)
            bits = bits[len(seen) + 1 :]

    def results(self, what: str) -> list[Result]:
        """The promises about them."""
        total = self.outcomes.total() + self.deaths
        listed = ", ".join(f"{count:,} {name}" for name, count in sorted(self.outcomes.items()))
        other = total - self.deaths - self.outcomes["read"] - self.outcomes["refused"]
        return [
            Result(f"{what}: processes ended", self.deaths, 0, "", f"{total:,} flips: {listed}"),
            Result(f"{what}: errors nobody foresaw", other, 0, ""),
            Result(f"{what}: slowest read", self.slowest, HANG_SECONDS, "s"),
            Result(f"{what}: peak memory", self.peak / 1e6, 1_000, "MB"),
        ]


def run() -> list[Result]:
    footers, pages, tables = Sweep(), Sweep(), Sweep()
    files = sorted(SAMPLES.glob("release-v1-*-parquet/*.parquet"))
    rng = random.Random(0)  # noqa: S311 - which bits are flipped is no secret
    places = [(file, bit) for file in files for bit in range(32, first_bit(file))]
    drawn = rng.sample(places, PAGE_FLIPS)
    for file in files:
        every_bit = list(range(first_bit(file), file.stat().st_size * 8))
        footers.flip(file.parent, file.name, "all", every_bit)
        pages.flip(file.parent, file.name, "all", [bit for where, bit in drawn if where == file])
        tables.flip(file.parent, file.name, "table", every_bit)
    return [
        *footers.results("bits of footers"),
        *pages.results("bits of pages"),
        *tables.results("bits of footers of input tables"),
        *_bombs(),
        *_costs(),
    ]


def first_bit(file: Path) -> int:
    """Where the footer begins."""
    content = file.read_bytes()
    return (len(content) - 8 - int.from_bytes(content[-8:-4], "little")) * 8


def _bombs() -> list[Result]:
    found = []
    with tempfile.TemporaryDirectory() as home:
        for lying in (False, True):
            folder = Path(home) / f"bomb-{lying}"
            size = make_bomb(folder, lying_pages=lying)
            peak = peak_memory_of(_AUDIT, str(folder)) / 1e6
            detail = f"a file of {size:,} bytes that holds 2.7 GB{', pages say 1,000 bytes' if lying else ''}"
            found.append(Result("audit of a file that unfolds without end: peak", peak, 500, "MB", detail))
    return found


def _costs() -> list[Result]:
    """What the checks cost: an audit with them, less the reading with them, plus the reading without them."""
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "zip": rng.integers(10_000, 10_400, ROWS),
            "job": np.array([f"job {i}" for i in range(60)])[rng.integers(0, 60, ROWS)],
            "disease": np.array([f"d{i}" for i in range(20)])[rng.integers(0, 20, ROWS)],
        }
    )
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "release"
        names = ["age", "zip", "job"]
        ld.anonymize(table, quasi=names, sensitive="disease", method=ld.RandomizedAddition(l=3), output=folder)
        file = folder / "data.parquet"
        every = [*names, "disease"]

        def checked() -> None:
            list(parquet_batches(file, every, n_rows=ROWS, longest=3))

        def unchecked() -> None:
            with pq.ParquetFile(file, read_dictionary=["job", "disease.list.element"]) as parquet:
                [parquet.read_row_group(group, columns=every) for group in range(parquet.num_row_groups)]

        ld.audit(ld.load_release(folder))  # imports and compiles
        ours, plain = cost_of(checked, repeat=7), cost_of(unchecked, repeat=7)
        audit = cost_of(lambda: ld.audit(ld.load_release(folder)), repeat=5)
    ratio = audit.cpu / max(audit.cpu - (ours.cpu - plain.cpu), 1e-9)
    detail = f"audit {audit.cpu:.3f} s; all columns read in {ours.cpu:.3f} s with checks, {plain.cpu:.3f} s without"
    wall = audit.wall / max(audit.wall - (ours.wall - plain.wall), 1e-9)
    return [
        Result("load and audit of 1M rows: with checks / without", ratio, 1.5, "x CPU", detail),
        Result("load and audit of 1M rows: with checks / without", wall, 1.5, "x wall", f"{audit.wall:.3f} s"),
    ]
