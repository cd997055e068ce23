"""A question answered from counts of rows that are read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.budget import Budget
from ldiversity.base.held import held_to
from ldiversity.base.spill import Spill
from ldiversity.estimation._coarse import CoarseFilter, ask_labels
from ldiversity.estimation._coders import Coder, coder_of
from ldiversity.estimation._count_sets import CountSets, count_sets
from ldiversity.estimation._limits import Limits
from ldiversity.estimation._readers import Look, Reader, in_threads
from ldiversity.estimation._seen import Different, Gatherer, Matching, Occurring, Regions, gatherer_of, too_many_values
from ldiversity.estimation._where import Filter, nothing_selected
from ldiversity.estimation._words import Tally
from ldiversity.release import Region, deal_classes, parse_type
from ldiversity.tables import COUNT

if TYPE_CHECKING:
    from ldiversity.base.arrays import IntArray
    from ldiversity.estimation._by import By
    from ldiversity.estimation._cells import CellData, CellIndex
    from ldiversity.estimation._count_classes import CodeClasses
    from ldiversity.estimation._engine_reader import EngineLike
    from ldiversity.release import ClassRange, Release

__all__ = ["Bounded", "Known"]

_DRIVER_BYTES: Final = 300_000_000
"""What this process takes where an engine counts: mostly Python, its packages and the compiled loops."""

_WAITING_BYTES: Final = 1 << 22
"""Rows of a few bytes each: what waits in memory before it is written."""


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the columns of a question: how cells are coded, and filters that can be pickled."""

    coders: tuple[Coder, ...]
    filters: tuple[Filter, ...]
    regions: Mapping[str, pa.Table]


@dataclass(frozen=True, eq=False)
class Bounded:
    """Reads a release some rows at a time, within limits; memory grows with the cells of the question."""

    release: Release
    attribute: str
    reader: Reader
    limits: Limits
    memory: Budget | None

    @classmethod
    def within(
        cls, release: Release, attribute: str, memory: str | int | None, engine: EngineLike = None
    ) -> Bounded | None:
        """A reader on this machine, or where an engine works; None where neither memory nor an engine is given."""
        if memory is None and engine is None:
            return None
        from ldiversity.estimation._engine_reader import reader_for

        reader, budget = reader_for(release, attribute, memory, engine)
        return None if reader is None else cls(release, attribute, reader, Limits.within(budget), budget)

    def held(self) -> AbstractContextManager[None]:
        """Give free memory back within the block; where an engine counts, hardly anything is needed here."""
        return held_to(self.memory or Budget(_DRIVER_BYTES))

    def ask_labels(self, by: tuple[By, ...], filters: tuple[Filter, ...]) -> tuple[tuple[By, ...], tuple[Filter, ...]]:
        """The same questions, put to labels where a column is published at a declared level."""
        coarse = tuple(name for name in _columns([*by, *filters]) if name in self.release.coarse)
        if not coarse:
            return by, filters
        gatherers = tuple(Different(name, self.limits.values) for name in coarse)
        seen = dict(zip(coarse, self.reader.look(Look(gatherers, (), coarse)), strict=True))

        def region_of(name: str) -> Region:
            labels = seen[name].column(0).combine_chunks().drop_null()
            kind = parse_type(self.release.schema[name].type)
            return Region(name, self.release.forms[name], kind, labels, lambda: np.arange(len(labels), dtype=np.int32))

        return ask_labels(self.release, by, filters, region_of)

    def count_sets(
        self, names: tuple[str, ...], by: tuple[By, ...], filters: tuple[Filter, ...]
    ) -> tuple[CellData, CellIndex]:
        """The sets of the selected records, counted by cell."""
        known = self.know(by, filters)
        mechanisms = tuple(self.release.drawn_by(name) for name in names)
        exploded = self.release.rows_per_record > 1
        return count_sets(CountSets(known.coders, known.filters, names, mechanisms, exploded), self.reader, self.limits)

    def know(self, by: Sequence[By], filters: Sequence[Filter], regions: tuple[str, ...] = ()) -> Known:
        """Read the columns of a question once, and check the question on them as on a whole table.

        Of generalized columns, the different `regions` are gathered.
        """
        named = [part for part in filters if part.operator in {"in", "not in"} and not isinstance(part, CoarseFilter)]
        plain = tuple(part.as_labels() if isinstance(part, CoarseFilter) else part for part in filters)
        gatherers: list[Gatherer] = [gatherer_of(part, self.limits.values) for part in by]
        gatherers += [Occurring(part) for part in named]
        gatherers += [Matching(plain)] if plain else []
        gatherers += [Regions(name, self.limits.values) for name in regions]
        if not gatherers:
            return Known((), (), {})
        seen = self.reader.look(Look(tuple(gatherers), plain, _columns([*by, *plain]), regions))
        found = dict(zip(regions, seen[len(seen) - len(regions) :], strict=True))
        seen = seen[: len(seen) - len(regions)]
        asked: list[By | Filter] = [*by, *named]
        for part, known in zip(asked, seen, strict=False):
            part.check(known.column(0))
        if plain:
            *matching, together = (column[0].as_py() for column in seen[-1].columns)
            if not together:
                raise nothing_selected(filters, [part for part, n in zip(filters, matching, strict=True) if not n])
        return Known(tuple(coder_of(part, known) for part, known in zip(by, seen, strict=False)), plain, found)

    def class_ranges(self, coder: CodeClasses) -> Iterator[ClassRange]:
        """Rows that have a class as numbers, all rows of some classes at a time, ascending."""
        with Spill(waiting_bytes=_WAITING_BYTES) as spill:
            yield from deal_classes(
                self.reader.code(coder),
                n_classes=self.release.n_classes(self.attribute),
                n_rows=self.release.n_rows,
                most=self.limits.class_rows,
                spill=spill,
            )

    def count_regions(self, coder: CodeClasses) -> dict[str, IntArray]:
        """How many selected rows have each combination of regions, with `COUNT`; regions as positions."""
        names = [f"region {name}" for name in coder.regions]
        tally = Tally(names, self.limits.sets)

        def counted(batch: pa.RecordBatch) -> pa.Table:
            rows = pa.Table.from_batches([batch])
            chosen = rows.filter(pc.greater_equal(rows[coder.digits.names[0]], 0)).select(names)
            return chosen.group_by(names).aggregate([([], "count_all")]).rename_columns([*names, COUNT])

        for some in in_threads(counted, self.reader.code(coder)):
            if tally.add(some):
                break
        table = tally.result()
        if table is None:
            raise too_many_values(" and ".join(coder.regions), self.limits.sets, "regions")
        return {
            **{name: np.asarray(table[f"region {name}"]) for name in coder.regions},
            COUNT: np.asarray(table[COUNT]),
        }


def _columns(parts: Sequence[By | Filter]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.column for part in parts))
