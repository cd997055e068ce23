"""One pass over the rows that would be published: everything that the screening counts, as numbers without cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.encoded import encoded
from ldiversity.base.gather import gathered
from ldiversity.base.hashing import Coded, HashArray, cell_hashes, coded_cells, mixed, repeats
from ldiversity.engines import BatchFunction, NumberedBatch, Secrets
from ldiversity.errors import SchemaError
from ldiversity.publish._levels import Level
from ldiversity.publish._screening._cell_counts import (
    NOTHING,
    Counted,
    Remembered,
    decoded,
    extremes,
    looks,
    rounded,
    spelled_ids,
    spellings,
)
from ldiversity.publish._text_levels import TreeLevel
from ldiversity.release import PEOPLE
from ldiversity.tables import Coder

__all__ = ["NO_LABEL", "Sketch", "SketchRows", "bits_of"]

_MOST_CELLS: Final = 4
"""Counts of pairs are made at once if there are at most this many possible pairs a row."""

NO_LABEL: Final[Counted] = (np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64))
"""What ``"coarser"`` yields for rows with a value that has no label at the level: a key that occurs 0 times."""


@dataclass(frozen=True)
class Sketch:
    """One thing to count.

    Attributes
    ----------
    what
        ``"rows"``, how many there are; ``"values"`` of a column, each with the sensitive value beside it; ``"rounded"``
        numbers of a column, the same way; ``"looks"`` of its texts or numbers; ``"spellings"`` of its texts;
        ``"ids"``, spellings of one of ``2 ** sampled`` ids; ``"extremes"`` of its whole numbers; ``"persons"``, who has
        a row; ``"people"``, the combinations of all quasi-identifiers, with whose they are in place of a count where
        persons are known; ``"coarser"``, the same with one of them at a level; ``"taken"``, of how many rows that is.
    column
        The column; empty for people.
    attribute
        The sensitive column, for values and rounded numbers.
    """

    what: Literal[
        "rows", "values", "rounded", "looks", "spellings", "ids", "extremes", "persons", "people", "coarser", "taken"
    ]
    column: str = ""
    attribute: str = ""


def bits_of(n_values: int) -> int:
    """How many bits hold the code of a value.

    Examples
    --------
    >>> bits_of(2), bits_of(16), bits_of(17)
    (1, 4, 5)
    """
    return max(n_values - 1, 1).bit_length()


@dataclass(frozen=True)
class SketchRows:
    """Makes the function that counts a batch, on the worker that reads it. It holds no secret, and can be pickled.

    Attributes
    ----------
    sketches
        What to count; each count says by a position to which of them it belongs.
    coders, merged
        How sensitive values are coded, and the code that stands for all spellings of each value.
    quasi
        The columns by which people might be recognized.
    person
        The column that says whose row it is; None when every row is another person's.
    levels
        The level of each column for ``"coarser"``.
    sampled
        ``"ids"`` counts one of ``2 ** sampled`` ids; ``"coarser"`` one of so many combinations of the other columns,
        with all their rows, unless `sampling` says otherwise for its column.
    sampling
        The same for columns of which the others have few combinations, of which a small sample would be uneven.
    varied
        Columns in which nearly every row differs: one of ``2 ** (sampled // 2)`` of their values is counted.
    """

    sketches: tuple[Sketch, ...]
    coders: Mapping[str, Coder]
    merged: Mapping[str, HashArray]
    quasi: tuple[str, ...]
    person: str | None = None
    levels: Mapping[str, Level] = field(default_factory=dict)
    sampled: int = 0
    varied: frozenset[str] = frozenset()
    sampling: Mapping[str, int] = field(default_factory=dict)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the counts of a batch."""
        return pa.schema({"sketch": pa.int16(), "key": pa.uint64(), "count": pa.int64(), "halvings": pa.int8()})

    def halvings(self, sketch: Sketch) -> int:
        """How often the values that a sketch counts are halved before they are counted."""
        return self.sampled // 2 if sketch.what == "values" and sketch.column in self.varied else 0

    def sampled_for(self, column: str) -> int:
        """As `sampled`, for ``"coarser"`` of a column."""
        return self.sampling.get(column, self.sampled)

    def __call__(self, secrets: Secrets) -> BatchFunction:  # noqa: ARG002 - nothing is drawn
        """The function; every worker counts alike."""
        return partial(self._count, Remembered())

    def _count(self, known: Remembered, rows: NumberedBatch) -> pa.RecordBatch:
        """All counts of a batch: which sketch, the key, and the count."""
        batch = rows.cells
        codes = {name: coder.codes(batch.column(name)) for name, coder in self.coders.items()}
        codes = codes or {PEOPLE: np.zeros(batch.num_rows, dtype=np.int32)}  # nothing is sensitive
        kept = np.logical_and.reduce([own >= 0 for own in codes.values()])
        if not kept.all():
            batch = batch.filter(pa.array(kept))
            codes = {name: own[kept] for name, own in codes.items()}
        return self.as_batch([*_Rows(self, batch, codes, known).counted()], [0] * len(self.sketches))

    def as_batch(self, counted: Sequence[Counted], halvings: Sequence[int]) -> pa.RecordBatch:
        """What each sketch counted, and how often its keys were halved, as the rows of a batch."""
        sizes = [len(keys) for keys, _ in counted]
        places = np.repeat(np.arange(len(counted), dtype=np.int16), sizes)
        return pa.record_batch(
            {
                "sketch": pa.array(places),
                "key": pa.array(np.concatenate([np.zeros(0, dtype=np.uint64), *(keys for keys, _ in counted)])),
                "count": pa.array(np.concatenate([np.zeros(0, dtype=np.int64), *(counts for _, counts in counted)])),
                "halvings": pa.array(np.repeat(np.array(halvings, dtype=np.int8), sizes)),
            }
        )


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of one batch, with the hashes of their cells."""

    choices: SketchRows
    batch: pa.RecordBatch
    codes: Mapping[str, CodeArray]
    known: Remembered
    _cells: dict[str, pa.Array] = field(default_factory=dict)
    _codes: dict[str, HashArray] = field(default_factory=dict)
    _coded: dict[str, Coded] = field(default_factory=dict)
    _salts: dict[str, HashArray] = field(default_factory=dict)
    _sampled: dict[str, tuple[HashArray, NDArray[np.int64] | None]] = field(default_factory=dict)

    def counted(self) -> Iterator[Counted]:
        """What each sketch counts."""
        for sketch in self.choices.sketches:
            cells = self.cells(sketch.column) if sketch.column else None
            if sketch.what == "rows":
                yield np.zeros(1, dtype=np.uint64), np.array([self.batch.num_rows])
            elif sketch.what == "looks":
                yield looks(cells, self.known)
            elif sketch.what == "spellings":
                yield spellings(cells, self.known)
            elif sketch.what == "ids":
                yield spelled_ids(cells, self.choices.sampled)
            elif sketch.what == "extremes":
                yield extremes(self.batch.column(sketch.column))
            elif sketch.what == "values":
                halvings = self.choices.halvings(sketch)
                yield self._beside(self.coded(sketch.column), sketch.attribute, halvings)
            elif sketch.what == "rounded":
                # Where values repeat, they tell by themselves what rounded ones would.
                many = self.coded(sketch.column).places is None
                yield self._beside(rounded(decoded(cells)), sketch.attribute) if many else NOTHING
            else:
                yield self._of_people(sketch)

    def _of_people(self, sketch: Sketch) -> Counted:
        if sketch.what == "persons":
            return NOTHING if self.choices.person is None else _once(self.coded(self.choices.person).rows)
        if sketch.what == "people":
            return self._whose(self._together())
        if sketch.what == "taken":
            return np.zeros(1, dtype=np.uint64), np.array([len(self._others(sketch.column)[0])])
        return self._coarser(sketch.column)

    def cells(self, name: str) -> pa.Array:
        """The cells of a column, as a dictionary where that pays off."""
        if name not in self._cells:
            cells = self.batch.column(name)
            plain = not pa.types.is_dictionary(cells.type)
            self._cells[name] = encoded(cells) if plain and repeats(cells) else cells
        return self._cells[name]

    def coded(self, name: str) -> Coded:
        """The cells of a column as hashes."""
        if name not in self._coded:
            codes = self.codes.get(name)
            self._coded[name] = (
                coded_cells(self.cells(name))
                if codes is None
                else Coded(mixed(self.choices.merged[name]), codes.astype(np.int64))
            )
        return self._coded[name]

    def _beside(self, coded: Coded, attribute: str, halvings: int = 0) -> Counted:
        """How often each cell occurs with each sensitive value, whose code stands in the lowest bits of the key."""
        merged, n_rows = self.choices.merged[attribute], self.batch.num_rows
        bits, n_values = np.uint64(bits_of(len(merged))), len(merged)
        tops, codes = coded.distinct >> bits << bits, self._merged(attribute)
        if coded.places is None and halvings:
            some = np.flatnonzero(tops < np.uint64(1 << (64 - halvings)))
            return _once(tops[some] | codes[some])
        if coded.places is None:
            return _once(tops | codes)
        if len(tops) * n_values > _MOST_CELLS * max(n_rows, 1):
            return _once(gathered(tops, coded.places, inside=True) | codes)
        cells = np.bincount(coded.places * n_values + codes.view(np.int64))
        filled = np.flatnonzero(cells)
        return tops[filled // n_values] | (filled % n_values).view(np.uint64), cells[filled]

    def _merged(self, attribute: str) -> HashArray:
        """The code that stands for all spellings of each row's sensitive value."""
        if attribute not in self._codes:
            self._codes[attribute] = gathered(self.choices.merged[attribute], self.codes[attribute])
        return self._codes[attribute]

    def _coarser(self, name: str) -> Counted:
        """The combinations with a column at a level, of some rows: those that share the other columns stay together."""
        (others, some), cells = self._others(name), self.cells(name)
        if some is not None:
            cells = cells.take(pa.array(some))
        try:
            labels = self._label_hashes(name, cells)
        except SchemaError:
            if isinstance(self.choices.levels[name], TreeLevel):  # the holder's own hierarchy lacks a value
                raise
            return NO_LABEL
        return self._whose(others + labels, some)

    def _others(self, name: str) -> tuple[HashArray, NDArray[np.int64] | None]:
        """The hashes of all quasi-identifiers but one of the rows that are sampled, and which these are."""
        if name not in self._sampled:
            others, sampled = self._together() - self._salted(name), self.choices.sampled_for(name)
            some = np.flatnonzero(others < np.uint64(1 << (64 - sampled))) if sampled else None
            self._sampled[name] = (others if some is None else others[some], some)
        return self._sampled[name]

    def _label_hashes(self, name: str, cells: pa.Array) -> HashArray:
        """The hash of the label of each cell; of a dictionary, each entry that a row shows has its label once."""
        level, salt = self.choices.levels[name], self._salt(name)
        if not pa.types.is_dictionary(cells.type):
            return mixed(cell_hashes(level.labels(name, cells)), salt=salt)
        n_known = len(cells.dictionary)
        places = np.asarray(pc.fill_null(cells.indices.cast(pa.int64()), n_known))
        shown = np.flatnonzero(np.bincount(places, minlength=n_known + 1))
        entries = cells.dictionary.take(pa.array(shown, mask=shown == n_known))
        known = np.zeros(n_known + 1, dtype=np.uint64)
        known[shown] = mixed(cell_hashes(level.labels(name, entries)), salt=salt)
        return gathered(known, places, inside=True)  # they were counted

    def _together(self) -> HashArray:
        """The hash of all quasi-identifiers of each row; a sum, from which one of them can be taken off."""
        if "" not in self._salts:
            together = np.zeros(self.batch.num_rows, dtype=np.uint64)
            for name in self.choices.quasi:
                together += self._salted(name)
            self._salts[""] = together
        return self._salts[""]

    def _salted(self, name: str) -> HashArray:
        if name not in self._salts:
            coded = self.coded(name)
            self._salts[name] = Coded(mixed(coded.distinct, salt=self._salt(name)), coded.places).rows
        return self._salts[name]

    def _salt(self, name: str) -> int:
        return 2 + self.choices.quasi.index(name)

    def _whose(self, hashes: HashArray, some: NDArray[np.int64] | None = None) -> Counted:
        """The hashes of some rows, each with a number of the person where persons are known."""
        if self.choices.person is None:
            return _once(hashes)
        who = self.coded(self.choices.person).rows
        return hashes, ((who if some is None else who[some]) >> np.uint64(1)).view(np.int64) | np.int64(1)


def _once(keys: HashArray) -> Counted:
    """Keys that are counted where all batches come together."""
    return keys, np.ones(len(keys), dtype=np.int64)
