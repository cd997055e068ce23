"""One pass over the rows that would be published: everything that the screening counts, as numbers without cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.hashing import Coded, HashArray, cell_hashes, coded_cells, mixed
from ldiversity.engines import BatchFunction, NumberedBatch, Secrets
from ldiversity.errors import SchemaError
from ldiversity.publish._levels import Level
from ldiversity.publish._screening._content import LOOKS, NUMBERED, look_at
from ldiversity.publish._screening._spelling import plain_spelling
from ldiversity.publish._text_levels import TreeLevel
from ldiversity.release import PEOPLE
from ldiversity.tables import Coder

__all__ = ["NO_LABEL", "PERSON_BITS", "SPELLING_BITS", "Sketch", "SketchRows", "bits_of", "is_numeric"]

PERSON_BITS: Final = 32
SPELLING_BITS: Final = 20
_SEEN_TEXTS: Final = 400
_MOST_SPELLINGS: Final = 5_000
_FIRST: Final = 2_000
_FEW: Final = 200
_NINE_DIGITS: Final = 1e8
_MOST_CELLS: Final = 4
"""Counts of pairs are made at once if there are at most this many possible pairs a row."""

_ROUNDED_AWAY: Final = 46
"""Bits of a float that are left out, so that numbers which differ by less than about 1 % get the same key."""

Counted: TypeAlias = tuple[HashArray, NDArray[np.int64]]
_NOTHING: Final[Counted] = (np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))
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
        ``"ids"``, spellings of one of ``2 ** sampled`` ids; ``"extremes"`` of its whole numbers; ``"people"``, the
        combinations of all quasi-identifiers; ``"coarser"``, the same with one of them at a level.
    column
        The column; empty for people.
    attribute
        The sensitive column, for values and rounded numbers.
    """

    what: Literal["rows", "values", "rounded", "looks", "spellings", "ids", "extremes", "people", "coarser"]
    column: str = ""
    attribute: str = ""


def is_numeric(kind: pa.DataType) -> bool:
    """Whether a column holds numbers, of whatever type."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


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
        ``"coarser"`` counts one of ``2 ** sampled`` combinations of the other columns, with all their rows.
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

    @property
    def schema(self) -> pa.Schema:
        """The columns of the counts of a batch."""
        return pa.schema({"sketch": pa.int16(), "key": pa.uint64(), "count": pa.int64(), "halvings": pa.int8()})

    def halvings(self, sketch: Sketch) -> int:
        """How often the values that a sketch counts are halved before they are counted."""
        return self.sampled // 2 if sketch.what == "values" and sketch.column in self.varied else 0

    def __call__(self, secrets: Secrets) -> BatchFunction:  # noqa: ARG002 - nothing is drawn
        """The function; every worker counts alike."""
        return self._count

    def _count(self, rows: NumberedBatch) -> pa.RecordBatch:
        """All counts of a batch: which sketch, the key, and the count."""
        batch = rows.cells
        codes = {name: coder.codes(batch.column(name)) for name, coder in self.coders.items()}
        codes = codes or {PEOPLE: np.zeros(batch.num_rows, dtype=np.int32)}  # nothing is sensitive
        kept = np.logical_and.reduce([own >= 0 for own in codes.values()])
        if not kept.all():
            batch = batch.filter(pa.array(kept))
            codes = {name: own[kept] for name, own in codes.items()}
        return self.as_batch([*_Rows(self, batch, codes).counted()], [0] * len(self.sketches))

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
    _coded: dict[str, Coded] = field(default_factory=dict)
    _salts: dict[str, HashArray] = field(default_factory=dict)

    def counted(self) -> Iterator[Counted]:
        """What each sketch counts."""
        for sketch in self.choices.sketches:
            cells = self.batch.column(sketch.column) if sketch.column else None
            if sketch.what == "rows":
                yield np.zeros(1, dtype=np.uint64), np.array([self.batch.num_rows])
            elif sketch.what == "looks":
                yield _looks(cells)
            elif sketch.what == "spellings":
                yield _spellings(cells)
            elif sketch.what == "ids":
                yield _ids(cells, self.choices.sampled)
            elif sketch.what == "extremes":
                yield _extremes(cells)
            elif sketch.what == "values":
                halvings = self.choices.halvings(sketch)
                yield self._beside(self.coded(sketch.column), sketch.attribute, halvings)
            elif sketch.what == "rounded":
                # Where values repeat, they tell by themselves what rounded ones would.
                many = self.coded(sketch.column).places is None
                yield self._beside(_rounded(cells), sketch.attribute) if many else _NOTHING
            elif sketch.what == "people":
                yield _once(self._people())
            else:
                yield self._coarser(sketch.column)

    def coded(self, name: str) -> Coded:
        """The cells of a column as hashes."""
        if name not in self._coded:
            codes = self.codes.get(name)
            self._coded[name] = (
                coded_cells(self.batch.column(name))
                if codes is None
                else Coded(mixed(self.choices.merged[name]), codes.astype(np.int64))
            )
        return self._coded[name]

    def _beside(self, coded: Coded, attribute: str, halvings: int = 0) -> Counted:
        """How often each cell occurs with each sensitive value, whose code stands in the lowest bits of the key."""
        merged, n_rows = self.choices.merged[attribute], self.batch.num_rows
        bits, n_values = np.uint64(bits_of(len(merged))), len(merged)
        tops, codes = coded.distinct >> bits << bits, merged[self.codes[attribute]]
        if coded.places is None and halvings:
            some = np.flatnonzero(tops < np.uint64(1 << (64 - halvings)))
            return _once(tops[some] | codes[some])
        if coded.places is None:
            return _once(tops | codes)
        if len(tops) * n_values > _MOST_CELLS * max(n_rows, 1):
            return _once(tops[coded.places] | codes)
        cells = np.bincount(coded.places * n_values + codes.view(np.int64))
        filled = np.flatnonzero(cells)
        return tops[filled // n_values] | (filled % n_values).view(np.uint64), cells[filled]

    def _people(self) -> HashArray:
        return self._whose(self._together())

    def _coarser(self, name: str) -> Counted:
        """The combinations with a column at a level, of some rows: those that share the other columns stay together."""
        others = self._together() - self._salted(name)
        some = np.flatnonzero(others < np.uint64((1 << (64 - self.choices.sampled)) - 1))
        level, cells = self.choices.levels[name], _decoded(self.batch.column(name).take(pa.array(some)))
        try:
            labels = level.labels(name, cells)
        except SchemaError:
            if isinstance(level, TreeLevel):  # the holder's own hierarchy lacks a value
                raise
            return NO_LABEL
        return _once(self._whose(others[some] + mixed(cell_hashes(labels), salt=self._salt(name)), some))

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

    def _whose(self, hashes: HashArray, some: NDArray[np.int64] | None = None) -> HashArray:
        """The hashes of some rows, with bits of the person in the lowest places, where persons are known."""
        if self.choices.person is None:
            return hashes
        who = self.coded(self.choices.person).rows
        bits, rest = np.uint64(PERSON_BITS), np.uint64(64 - PERSON_BITS)
        return (hashes >> bits << bits) | ((who if some is None else who[some]) >> rest)


def _decoded(cells: pa.Array) -> pa.Array:
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def _once(keys: HashArray) -> Counted:
    """Keys that are counted where all batches come together."""
    return keys, np.ones(len(keys), dtype=np.int64)


def _looks(cells: pa.Array) -> Counted:
    """How many of some cells, evenly spaced, look like each of `LOOKS`; the last key counts the cells."""
    step = max(1, len(cells) // _SEEN_TEXTS)
    some = cells.take(pa.array(np.arange(0, len(cells), step))).drop_null()
    counts = np.zeros(len(LOOKS) + 1, dtype=np.int64)
    if is_numeric(cells.type):
        numbers = pc.cast(some, pa.float64(), safe=False).to_numpy()
        counts[NUMBERED] = np.count_nonzero((numbers >= _NINE_DIGITS) & (numbers == np.floor(numbers)))
        counts[-1] = np.count_nonzero(~np.isnan(numbers))
    else:
        seen = look_at(some.to_pylist())
        counts[:] = [*seen.hits, seen.n]
    return np.arange(len(counts), dtype=np.uint64), counts


def _spellings(cells: pa.Array) -> Counted:
    """Each spelling of a value, with the hash of its plain spelling; nothing where there are very many texts."""
    first = cells.slice(0, _FIRST)
    if len(first.unique()) * 2 > len(first) > _FEW:
        return _NOTHING
    coded = cells.dictionary_encode()
    if len(coded.dictionary) > _MOST_SPELLINGS:
        return _NOTHING
    indices = coded.indices.drop_null().to_numpy()
    counts = np.bincount(indices, minlength=len(coded.dictionary))
    plain = cell_hashes(pa.array([plain_spelling(text) for text in coded.dictionary.to_pylist()], pa.string()))
    bits, rest = np.uint64(SPELLING_BITS), np.uint64(64 - SPELLING_BITS)
    keys = (plain >> bits << bits) | (cell_hashes(coded.dictionary) >> rest)
    there = counts > 0  # a dictionary may list texts of other rows
    return keys[there], counts[there].astype(np.int64)


def _ids(cells: pa.Array, sampled: int) -> Counted:
    """Each spelling of an id, as above. Nearly every id differs, so all are compared at once, and some are enough."""
    coded = cells.dictionary_encode()
    texts = coded.dictionary.cast(pa.string())
    seen = pc.utf8_lower(pc.utf8_normalize(texts, "NFKC"))
    plain = cell_hashes(pc.replace_substring_regex(seen, r"[\s\p{C}]+", ""))
    counts = np.bincount(coded.indices.drop_null().to_numpy(), minlength=len(texts))
    kept = counts > 0
    if sampled:
        kept &= plain >> np.uint64(64 - sampled) == 0
    bits, rest = np.uint64(SPELLING_BITS), np.uint64(64 - SPELLING_BITS)
    keys = (plain >> bits << bits) | (cell_hashes(texts) >> rest)
    return keys[kept], counts[kept].astype(np.int64)


def _extremes(cells: pa.Array) -> Counted:
    """The least and the greatest of whole numbers."""
    found = pc.min_max(cells).as_py()
    if found["min"] is None:
        return _NOTHING
    inside = [min(max(found[end], -(1 << 62)), 1 << 62) for end in ("min", "max")]
    return np.arange(2, dtype=np.uint64), np.array(inside, dtype=np.int64)


def _rounded(cells: pa.Array) -> Coded:
    """A key of each number, which near numbers share."""
    kind = cells.type
    if pa.types.is_temporal(kind):
        cells = cells.view(pa.int32() if kind.bit_width == 32 else pa.int64())  # noqa: PLR2004 - bits
    missing = pc.is_null(cells, nan_is_null=True).to_numpy(zero_copy_only=False)
    numbers = pc.fill_null(pc.cast(cells, pa.float64(), safe=False), 0.0).to_numpy() + 0.0
    coarse = (numbers.view(np.uint64) >> np.uint64(_ROUNDED_AWAY)).view(np.int64)
    return coded_cells(pa.array(coarse, mask=missing).dictionary_encode())
