"""How many records nobody else looks like: on the exact quasi-identifiers, and on what would be published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.answers import fact
from ldiversity.base.arrays import different
from ldiversity.base.budget import Budget
from ldiversity.base.combinations import Combinations, Sizes
from ldiversity.errors import UnsupportedError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import number_combinations
from ldiversity.publish._ladders import ladder_of
from ldiversity.publish._levels import Level
from ldiversity.sentences import Parameter, say
from ldiversity.tables import Source

__all__ = ["ColumnUniqueness", "LevelUniqueness", "LookAlikes", "count_unique", "people_alike"]

_BYTES_PER_CELL: Final = 40
_BYTES_PER_ROW: Final = 100
"""What the search for levels takes for each combination."""

Codes: TypeAlias = tuple[NDArray[np.integer], int]


@dataclass(frozen=True)
class LevelUniqueness:
    """How many are unique with one column at a level, the others as declared.

    Attributes
    ----------
    level
        As ``--publish`` takes it; None for the exact values.
    labels
        How many different labels occur.
    unique
        Records that nobody else looks like; people, where a column says whose row it is.
    planned
        Whether this is the level that was declared.
    """

    level: str | None
    labels: int
    unique: int
    planned: bool


@dataclass(frozen=True)
class ColumnUniqueness:
    """How many are unique at each level of one quasi-identifier."""

    column: str
    levels: tuple[LevelUniqueness, ...]

    @fact
    def planned(self) -> int:
        """How many are unique with what is planned."""
        return next(one.unique for one in self.levels if one.planned)


def count_unique(source: Source, columns: Sequence[str], *, person: str | None = None) -> int:
    """Count the records whose cells in these columns nobody else has; people, if a column says whose row it is.

    The source may be a table as it is, or as it would be published.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> table = open_source(pa.table({"age": [30, 30, 41], "id": ["a", "a", "b"]}))
    >>> count_unique(table, ["age"]), count_unique(table, ["age"], person="id")
    (1, 2)
    """
    return LookAlikes.read(source, columns, person=person).unique()


def people_alike(source: Source, columns: Sequence[str], person: str, *, chunk_rows: int = 1 << 18) -> Sizes:
    """Count how many combinations of these columns are shown by how many people; memory does not grow with them.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> table = open_source(pa.table({"age": [30, 30, 41], "id": ["a", "a", "b"]}))
    >>> people_alike(table, ["age"], "id")
    Sizes(sizes=array([1]), numbers=array([2]))
    """
    wanted = [*(name for name in columns if name != person), person]
    rows, people = Combinations(), Combinations()
    for batch in source.batches(wanted, chunk_rows=chunk_rows):
        rows.add(pa.Table.from_batches([batch]))
    for part in rows.parts():  # each person once for each combination that they show
        shown = [f"k{place}" for place in range(len(wanted)) if wanted[place] in columns]
        people.add(part.select(shown))
    return people.sizes()


@dataclass(frozen=True, eq=False)
class LookAlikes:
    """Quasi-identifiers as codes, by which records are compared.

    Attributes
    ----------
    values, codes
        The distinct values of each column, and the position of each record's among them; their number where it is
        missing.
    person
        A number for whose row it is.
    counts
        How many records each row stands for; one when None.
    """

    values: Mapping[str, pa.Array]
    codes: Mapping[str, NDArray[np.int32]]
    n_rows: int
    person: NDArray[np.int32] | None = None
    counts: NDArray[np.int64] | None = None

    @classmethod
    def read(cls, source: Source, columns: Iterable[str], *, person: str | None = None) -> LookAlikes:
        """Read the columns of a table."""
        names = list(dict.fromkeys(columns))
        wanted = [*names, *([] if person is None or person in names else [person])]
        read = source.batches(wanted or list(source.columns)[:1])
        batches = (pa.Table.from_batches([batch]) for batch in read)
        return cls._of(source, names, person, ((batch, None) for batch in batches))

    @classmethod
    def counted(
        cls, source: Source, columns: Iterable[str], *, person: str | None, memory: Budget, chunk_rows: int
    ) -> LookAlikes:
        """The same, with each combination once, so that memory grows with the combinations alone.

        Raises
        ------
        UnsupportedError
            When there are more of them than the memory allows.
        """
        names = list(dict.fromkeys(columns))
        wanted = [*names, *([] if person is None or person in names else [person])]
        most = memory.rows(_BYTES_PER_CELL * len(wanted) + _BYTES_PER_ROW)
        rows = Combinations()
        for batch in source.batches(wanted, chunk_rows=chunk_rows):
            rows.add(pa.Table.from_batches([batch]))
        found: list[tuple[pa.Table, NDArray[np.int64] | None]] = []
        for part in rows.parts():
            *cells, counts = part.columns
            found.append((pa.table(cells, names=wanted), counts.to_numpy()))
            if sum(table.num_rows for table, _ in found) > most:
                whose = " of people" if person is not None else ""
                raise UnsupportedError(
                    f"allows a search among {most:,} different combinations of quasi-identifiers{whose}, but there "
                    "are more",
                    parameter="memory",
                ).with_hint(say("Give more memory, name fewer quasi-identifiers, or leave {} out.", Parameter("model")))
        return cls._of(source, names, person, found)

    @classmethod
    def _of(
        cls,
        source: Source,
        names: Sequence[str],
        person: str | None,
        batches: Iterable[tuple[pa.Table, NDArray[np.int64] | None]],
    ) -> LookAlikes:
        parts: dict[str, list[pa.Array]] = {name: [] for name in (*names, *([] if person is None else [person]))}
        n_rows = 0
        counts: list[NDArray[np.int64]] = []
        for batch, own in batches:
            n_rows += batch.num_rows
            counts += [] if own is None else [own]
            for name, part in parts.items():
                part += [_comparable(cells).dictionary_encode() for cells in batch.column(name).chunks]
        coded = {name: _unified(part, source.columns[name]) for name, part in parts.items()}
        return cls(
            {name: coded[name][0] for name in names},
            {name: coded[name][1] for name in names},
            n_rows,
            None if person is None else coded[person][1],
            np.concatenate(counts) if counts else None,
        )

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return self.n_rows if self.counts is None else int(self.counts.sum())

    def all_values(self) -> dict[str, pa.Array]:
        """The distinct values of each column, with a missing one at the end where a record has none."""
        return {
            name: pa.concat_arrays([values, pa.nulls(1, values.type)])
            if (self.codes[name] == len(values)).any()
            else values
            for name, values in self.values.items()
        }

    def unique(self, levels: Mapping[str, Codes] | None = None) -> int:
        """Count the records, or people, that nobody else looks like; some columns may be coded otherwise."""
        given = levels or {}
        columns = [given.get(name, (codes, len(self.values[name]) + 1)) for name, codes in self.codes.items()]
        return self._alone(number_combinations(columns, self.n_rows)[0])

    def alike(self) -> NDArray[np.int64]:
        """How many records, or people, show each combination that occurs.

        Examples
        --------
        >>> from ldiversity.tables import open_source
        >>> table = open_source(pa.table({"age": [30, 30, 41], "id": ["a", "a", "b"]}))
        >>> LookAlikes.read(table, ["age"]).alike(), LookAlikes.read(table, ["age"], person="id").alike()
        (array([2, 1]), array([1, 1]))
        """
        exact = [(codes, len(self.values[name]) + 1) for name, codes in self.codes.items()]
        return self._holders(number_combinations(exact, self.n_rows)[0])

    def at(self, name: str, level: Level) -> Codes:
        """A column at a level, as codes."""
        labels = level.labels(name, pa.concat_arrays([self.values[name], pa.nulls(1, self.values[name].type)]))
        coded = labels.dictionary_encode()
        return np.asarray(coded.indices)[self.codes[name]], len(coded.dictionary)

    def by_level(self, declared: Mapping[str, Level], trees: Mapping[str, Hierarchy]) -> tuple[ColumnUniqueness, ...]:
        """For each column: how many are unique at each of its levels, the other columns as declared."""
        planned = {name: self.at(name, level) for name, level in declared.items()}
        return tuple(self._ladder(name, declared.get(name), trees.get(name), planned) for name in self.codes)

    def _ladder(
        self, name: str, declared: Level | None, tree: Hierarchy | None, planned: Mapping[str, Codes]
    ) -> ColumnUniqueness:
        others = {**planned}
        exact: Codes = self.codes[name], len(self.values[name]) + 1
        rest = [others.get(one, (codes, len(self.values[one]) + 1)) for one, codes in self.codes.items() if one != name]
        alike, n_alike = number_combinations(rest, self.n_rows)
        rungs: list[tuple[Level | None, Codes]] = [(None, exact)]
        if declared is not None:
            rungs.append((declared, others[name]))
        rungs += [(level, self.at(name, level)) for level in ladder_of(self.values[name], declared, tree)]
        found = []
        for level, (codes, size) in rungs:
            numbers, _ = number_combinations([(alike, n_alike), (codes, size)], self.n_rows)
            shown = int(np.count_nonzero(np.bincount(codes, minlength=size)))
            text = None if level is None else str(level)
            found.append(LevelUniqueness(text, shown, self._alone(numbers), planned=level == declared))
        return ColumnUniqueness(name, tuple(found))

    def _alone(self, numbers: NDArray[np.int64]) -> int:
        holders = self._holders(numbers)
        if self.person is None:
            return int(np.count_nonzero(holders == 1))
        return len(different(self.person[holders[numbers] == 1]))

    def _holders(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many records, or people, have each of these numbers."""
        if self.person is None:
            return np.bincount(numbers)
        n_people = int(self.person.max(initial=0)) + 1
        return np.bincount(different(numbers * n_people + self.person) // n_people)


def _comparable(cells: pa.Array) -> pa.Array:
    plain = cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
    return (
        pc.if_else(pc.is_nan(plain), pa.scalar(None, plain.type), plain) if pa.types.is_floating(plain.type) else plain
    )


def _unified(parts: Sequence[pa.Array], kind: pa.DataType) -> tuple[pa.Array, NDArray[np.int32]]:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    whole = pa.chunked_array(parts, pa.dictionary(pa.int32(), plain)).unify_dictionaries()
    values = whole.chunk(0).dictionary if whole.num_chunks else pa.array([], plain)
    indices = pa.chunked_array([part.indices for part in whole.chunks], pa.int32())
    return values, np.asarray(pc.fill_null(indices, len(values)))
