"""Counting a release where an engine works: workers read parts of it, and send counts."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import pyarrow as pa

from ldiversity.engines import Engine, LocalEngine, Part, Secrets, choose_engine, task_for_each
from ldiversity.errors import InternalError
from ldiversity.estimation._readers import ClassCoder, Counter, LocalReader, Look, Reader
from ldiversity.estimation._seen import gather
from ldiversity.estimation._words import in_order
from ldiversity.release import ReleaseParts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ldiversity.base.budget import Budget
    from ldiversity.engines import PartFactory, PartFunction, Rows
    from ldiversity.release import Release

__all__ = ["EngineLike", "EngineReader", "reader_for"]

EngineLike: TypeAlias = Engine | str | None
"""An engine, its name, or None for this machine."""

_TIMES: Final = "times"
_PART_ROWS: Final = 1_000_000


def reader_for(
    release: Release, attribute: str, memory: str | int | None, engine: EngineLike
) -> tuple[Reader | None, Budget | None]:
    """Who reads a release, and the memory of this machine; nobody where this machine has no limit."""
    chosen = choose_engine(release, engine, memory)
    if not isinstance(chosen, LocalEngine) or chosen.name != LocalEngine.name:
        return EngineReader.of(release, attribute, chosen), chosen.memory
    return None if chosen.memory is None else LocalReader(release, attribute), chosen.memory


@dataclass(frozen=True)
class EngineReader(Reader):
    """Reads on an engine, a part of the rows in each task.

    Of sets only counts come here. Rows of classes come as a few numbers each, because the values of a class are spread
    over its rows one class after the other.
    """

    parts: ReleaseParts
    attribute: str
    engine: Engine

    @classmethod
    def of(cls, release: Release, attribute: str, engine: Engine) -> EngineReader:
        """The reader of a release in a folder that all workers see."""
        return cls(release.parts(_PART_ROWS), attribute, engine)

    def look(self, look: Look) -> list[pa.Table]:
        """What each gatherer saw in all rows."""
        factory = _LookAtParts(self.parts, self.attribute, look)
        seen = (
            [_table_of(batch.column(name)[row].as_py()) for name in batch.schema.names]
            for batch in self._in_parts(factory)
            for row in range(batch.num_rows)
        )
        return gather(look.gatherers, seen)

    def count(self, counter: Counter, most: int) -> pa.Table | None:
        """How many rows have each combination of digits, by one grouping on the engine."""
        names = counter.digits.names
        rows = self._in_parts(_CountParts(self.parts, self.attribute, counter))
        found = self.engine.count(rows, names, times=_TIMES, most=most)
        return None if found is None else in_order(found, names)

    def code(self, coder: ClassCoder) -> Iterator[pa.RecordBatch]:
        """Rows that have a class as numbers, as they come from workers."""
        return iter(self._in_parts(_CodeParts(self.parts, self.attribute, coder)))

    def _in_parts(self, factory: PartFactory) -> Rows:
        return task_for_each(self.engine, factory, len(self.parts))


@dataclass(frozen=True, eq=False)
class _OfParts(ABC):
    """What workers do with a part: the same as `LocalReader` with a whole release."""

    parts: ReleaseParts
    attribute: str

    def __call__(self, secrets: Secrets, /) -> PartFunction:  # noqa: ARG002 - nothing is drawn
        return self._work

    def _work(self, part: Part) -> tuple[pa.Table, bytes]:
        return self.read(LocalReader(self.parts.part(part.number), self.attribute)), b""

    @abstractmethod
    def read(self, reader: LocalReader) -> pa.Table: ...


@dataclass(frozen=True, eq=False)
class _LookAtParts(_OfParts):
    asked: Look

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(f"seen {place}", pa.large_binary()) for place in range(len(self.asked.gatherers))])

    def read(self, reader: LocalReader) -> pa.Table:
        columns = [pa.array([_bytes_of(table)], pa.large_binary()) for table in reader.look(self.asked)]
        return pa.Table.from_arrays(columns, schema=self.schema)


@dataclass(frozen=True, eq=False)
class _CountParts(_OfParts):
    counter: Counter

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, pa.int64()) for name in [*self.counter.digits.names, _TIMES]])

    def read(self, reader: LocalReader) -> pa.Table:
        counted = reader.count(self.counter, sys.maxsize)  # no more than the rows of a part
        if counted is None:
            raise InternalError("estimate", "a part has more rows than a number can count")
        return counted.rename_columns(self.schema.names).cast(self.schema)


@dataclass(frozen=True, eq=False)
class _CodeParts(_OfParts):
    coder: ClassCoder

    @property
    def schema(self) -> pa.Schema:
        return self.coder.schema

    def read(self, reader: LocalReader) -> pa.Table:
        coded = (pa.Table.from_batches([batch]).cast(self.schema) for batch in reader.code(self.coder))
        return pa.concat_tables([self.schema.empty_table(), *coded])


def _bytes_of(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _table_of(content: bytes) -> pa.Table:
    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()
