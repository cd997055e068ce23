"""A table whose quasi-identifiers are at declared levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.checks import name_some
from ldiversity.errors import LDiversityError, ParameterError
from ldiversity.publish._levels import Level
from ldiversity.tables import Source

__all__ = ["CoarseColumns", "check_levels"]


def check_levels(levels: Mapping[str, Level], source: Source, quasi: Iterable[str]) -> dict[str, Level]:
    """The levels with the hierarchies of their files, after checking that they suit the columns of a table."""
    ready = {}
    known = list(quasi)
    for name, level in levels.items():
        if name not in known:
            raise ParameterError("Publication", "levels", "must name quasi-identifiers", got=repr(name)).with_hint(
                f"Quasi-identifiers are {name_some(known)}." if known else "There are no quasi-identifiers."
            )
        try:
            ready[name] = level.ready()
        except LDiversityError as error:
            error.about(name, f"level of {name!r}")
            raise
        ready[name].check(name, source.columns[name])
    return ready


class CoarseColumns(Source):
    """A table whose columns with a level hold labels. Nothing else of them is visible.

    Examples
    --------
    >>> from ldiversity.publish._levels import NumberLevel
    >>> from ldiversity.tables import open_source
    >>> table = open_source(pa.table({"age": [23, 28]}))
    >>> [batch["age"].to_pylist() for batch in CoarseColumns(table, {"age": NumberLevel(5)}).batches()]
    [['[20, 25)', '[25, 30)']]
    """

    def __init__(self, source: Source, levels: Mapping[str, Level]) -> None:
        super().__init__(
            source.name,
            {**source.columns, **dict.fromkeys(levels, pa.string())},
            frame_kind=source.frame_kind,
            n_rows=source.n_rows,
            from_file=source.from_file,
            dtypes={name: dtype for name, dtype in source.dtypes.items() if name not in levels},
        )
        self._source, self._levels = source, dict(levels)
        self.shows = source

    def category_order(self, column: str) -> pa.Array | None:
        """Return the categories of a column in order; a column with a level declares none."""
        return None if column in self._levels else self._source.category_order(column)

    def _read(self, columns: list[str], chunk_rows: int, encoded: frozenset[str]) -> Iterator[pa.RecordBatch]:
        for batch in self._source.batches(columns, chunk_rows=chunk_rows, encoded=encoded - self._levels.keys()):
            cells = {name: batch.column(name) for name in columns}
            cells |= {name: _labels(level, name, cells[name]) for name, level in self._levels.items() if name in cells}
            yield pa.RecordBatch.from_arrays(list(cells.values()), names=list(cells))


def _labels(level: Level, name: str, cells: pa.Array) -> pa.Array:
    """The label of each cell, made once for each different cell."""
    coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    labels = level.labels(name, pa.concat_arrays([coded.dictionary, pa.nulls(1, coded.dictionary.type)]))
    return labels.take(pc.fill_null(coded.indices, len(coded.dictionary)))
