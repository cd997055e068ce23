"""What becomes of pieces and functions of the Spark engine when there are many parts, measured without Spark.

Usage: python _spark_pieces.py TABLE.parquet
A task deals 262,144 rows at once, so with more parts a piece has fewer rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ldiversity.engines import Secrets
from ldiversity.engines.spark._envelope import Envelope, Seal
from ldiversity.engines.spark._program import FromPieces, Program, as_closure
from ldiversity.engines.spark._steps import DealByNumber
from ldiversity.engines.spark._wire import Piece, received, targets, wired
from ldiversity.errors import UnsupportedError

_DEALT = 1 << 18
_COLUMNS = ["age", "education-num", "hours-per-week", "marital-status", "race", "sex", "occupation"]


def main() -> None:
    rows = pq.read_table(sys.argv[1], columns=_COLUMNS).slice(0, _DEALT).combine_chunks().to_batches()[0]
    secrets = Secrets()
    for n_parts in (2, 64, 1024, 8192, 47_684, 131_072):
        seal, goals = Seal(secrets.job), targets(n_parts)
        numbers = np.random.default_rng(5).integers(n_parts, size=rows.num_rows).astype(np.int32)
        dealt = rows.append_column("part", pa.array(numbers))
        started = time.process_time()
        sent = list(wired(seal, DealByNumber("part", n_parts)(_one(dealt), ""), goals))
        used = time.process_time() - started
        n_bytes = sum(batch.nbytes for batch in sent)
        started = time.process_time()
        n_pieces = sum(1 for _ in received(seal, sent))
        back = time.process_time() - started
        said = f"{n_bytes / rows.num_rows:.1f} bytes a row, {1e6 * used / rows.num_rows:.2f} us a row to deal and seal"
        print(f"{n_parts:>8} parts: {n_pieces} pieces, {said}, {1e6 * back / rows.num_rows:.2f} us to open")
    for n_parts in (1024, 47_684, 131_072, 262_144, 400_000, 1_525_879):
        goals = targets(n_parts)
        program = Program(Envelope.of(secrets), FromPieces(), (), "job", goals)
        try:
            closure = as_closure(program)
            size = max(len(cell.cell_contents) for cell in closure.__closure__ or ())
            print(f"{n_parts:>8} parts: a function of {size:,} bytes")
        except UnsupportedError as error:
            print(f"{n_parts:>8} parts: refused, {error}")


def _one(rows: pa.RecordBatch) -> Iterator[Piece]:
    yield Piece(rows)


if __name__ == "__main__":
    main()
