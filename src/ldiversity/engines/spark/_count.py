"""Counting combinations of values on the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from ldiversity.engines.spark._envelope import Seal
from ldiversity.engines.spark._quiet import quiet
from ldiversity.engines.spark._session import Frame
from ldiversity.engines.spark._wire import Piece, Traveled, read_fault, sealed_fault
from ldiversity.errors import LDiversityError
from ldiversity.tables import COUNT

__all__ = ["CountOut", "add_up", "count_columns"]

_COMPACT_ROWS: Final = 1 << 20
_INTEGERS: Final = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}


def spark_type(kind: pa.DataType) -> pa.DataType:
    """The type in which Spark can hold the values of an Arrow type; some are counted as the numbers behind them."""
    if pa.types.is_dictionary(kind):
        return spark_type(kind.value_type)
    if kind == pa.uint64():
        return pa.decimal128(20, 0)
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_large_string(kind) or pa.types.is_decimal256(kind):
        return pa.string()
    return _spark_time(kind) if pa.types.is_temporal(kind) else _INTEGERS.get(kind, kind)


def _spark_time(kind: pa.DataType) -> pa.DataType:
    """Spark has days and microseconds; other times are counted as whole numbers, so that none is rounded."""
    if pa.types.is_date32(kind):
        return kind
    if pa.types.is_timestamp(kind) and kind.unit != "ns":
        return pa.timestamp("us", kind.tz)
    return pa.int32() if pa.types.is_time32(kind) else pa.int64()


@dataclass(frozen=True)
class CountOut:
    """Counts the combinations of the rows of a task, for Spark to add up."""

    by: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    times: str | None = None

    @property
    def schema(self) -> pa.Schema:
        """A column for each, the count, and a fault."""
        keys = [(f"c{place}", spark_type(kind)) for place, kind in enumerate(self.types)]
        return pa.schema([*keys, ("n", pa.int64()), ("fault", pa.binary())])

    def __call__(self, pieces: Iterator[Traveled], /) -> Iterator[pa.RecordBatch]:
        """Batches of counts; a combination may come more than once."""
        names, held, n_held = list(self.by), list[pa.Table](), 0
        for piece in pieces:
            if isinstance(piece, Piece):
                cells = pa.table(piece.cells.select(names if self.times is None else [*names, self.times]))
                how = ([], "count_all") if self.times is None else (self.times, "sum")
                counted = cells.group_by(names, use_threads=False).aggregate([how])
                held.append(counted.rename_columns([*names, COUNT]))
                n_held += counted.num_rows
            if n_held > _COMPACT_ROWS:
                summed = _sum(held, names)
                if summed.num_rows > n_held // 2:  # hardly any repeat: hold fewer
                    yield from self._out(summed)
                    held, n_held = [], 0
                else:
                    held, n_held = [summed], summed.num_rows
        if held:
            yield from self._out(_sum(held, names))

    def fault(self, seal: Seal, error: LDiversityError, /) -> pa.RecordBatch:
        """An error as a row."""
        columns = [pa.nulls(1, kind) for kind in self.schema.types[:-2]]
        fault = pa.array([sealed_fault(seal, error)], pa.binary())
        return pa.RecordBatch.from_arrays([*columns, pa.array([0], pa.int64()), fault], schema=self.schema)

    def _out(self, counts: pa.Table) -> Iterator[pa.RecordBatch]:
        columns = [counts.column(place).cast(kind) for place, kind in enumerate(self.schema.types[:-1])]
        columns.append(pa.chunked_array([pa.nulls(counts.num_rows, pa.binary())]))
        table = pa.table(columns, schema=self.schema)
        yield from table.combine_chunks().to_batches(max_chunksize=1 << 16)


def _sum(counts: list[pa.Table], names: list[str]) -> pa.Table:
    joined = pa.concat_tables(counts)
    return joined.group_by(names, use_threads=False).aggregate([(COUNT, "sum")]).rename_columns([*names, COUNT])


def add_up(frame: Frame, out: CountOut, seal: Seal, most: int | None) -> pa.Table | None:
    """Bring the sums of what tasks counted here; None when there are more than `most` combinations."""
    with quiet():
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        summed = frame.groupBy(*_keys(out.types)).agg(F.sum("n").alias("n"), F.max("fault").alias("fault"))
        found = _limited(summed, most).toArrow()
    faults = found.column("fault").drop_null()
    if len(faults):
        raise read_fault(seal, faults[0].as_py())
    return _named(found.drop_columns(["fault"]), out.by, out.types, most)


def count_columns(
    frame: Frame, by: tuple[str, ...], types: tuple[pa.DataType, ...], most: int | None
) -> pa.Table | None:
    """Count the combinations of numbered columns that Spark reads itself; None when there are more than `most`."""
    with quiet():
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        counted = frame.groupBy(*_keys(types)).agg(F.count(F.lit(1)).alias("n"))
        found = _limited(counted, most).toArrow()
    return _named(found, by, types, most)


def _keys(types: tuple[pa.DataType, ...]) -> list[Any]:
    """The numbered columns to count by. What is no number is missing, as on one machine."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    cells = [F.col(f"c{place}") for place in range(len(types))]
    return [
        F.when(~F.isnan(one), one).alias(f"c{place}") if pa.types.is_floating(kind) else one
        for place, (one, kind) in enumerate(zip(cells, types, strict=True))
    ]


def _limited(frame: Frame, most: int | None) -> Any:  # noqa: ANN401 - a frame of Spark
    return frame if most is None else frame.limit(most + 1)


def _named(found: pa.Table, by: tuple[str, ...], types: tuple[pa.DataType, ...], most: int | None) -> pa.Table | None:
    if most is not None and found.num_rows > most:
        return None
    columns = [found.column(place).cast(kind) for place, kind in enumerate(types)]
    return pa.table([*columns, found.column("n").cast(pa.int64())], names=[*by, COUNT])
