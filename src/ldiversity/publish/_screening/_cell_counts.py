"""What the cells of one column of a batch give: looks, spellings, extremes and rounded numbers, as keys with counts."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.encoded import encoded
from ldiversity.base.gather import gathered
from ldiversity.base.hashing import Coded, HashArray, cell_hashes, coded_cells, mixed
from ldiversity.publish._screening._content import LOOKS, NUMBERED, look_at
from ldiversity.publish._screening._spelling import plain_spelling

__all__ = [
    "NOTHING",
    "SPELLING_BITS",
    "Counted",
    "Remembered",
    "decoded",
    "extremes",
    "is_numeric",
    "looks",
    "rounded",
    "spelled_ids",
    "spellings",
]

SPELLING_BITS: Final = 20
_SEEN_TEXTS: Final = 400
_MOST_SPELLINGS: Final = 5_000
_FIRST: Final = 2_000
_FEW: Final = 200
_NINE_DIGITS: Final = 1e8
_ROUNDED_AWAY: Final = 46
"""Bits of a float that are left out, so that numbers which differ by less than about 1 % get the same key."""

Counted: TypeAlias = tuple[HashArray, NDArray[np.int64]]
NOTHING: Final[Counted] = (np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))


def is_numeric(kind: pa.DataType) -> bool:
    """Whether a column holds numbers, of whatever type."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


class Remembered:
    """What one worker found out about texts, which most batches show again."""

    def __init__(self) -> None:
        self.looks: dict[str, tuple[int, ...]] = {}
        self._texts = pa.array([], pa.string())
        self._plain: HashArray = np.zeros(0, dtype=np.uint64)

    def plain(self, texts: pa.Array) -> HashArray:
        """The hash of the plain spelling of each text."""
        if len(self._texts) > _MOST_SPELLINGS:
            self._texts, self._plain = self._texts[:0], self._plain[:0]
        new = texts.filter(pc.invert(pc.is_in(texts, value_set=self._texts))).unique()
        if len(new):
            spelled = cell_hashes(pa.array([plain_spelling(text) for text in new.to_pylist()], pa.string()))
            self._texts, self._plain = pa.concat_arrays([self._texts, new]), np.append(self._plain, spelled)
        return gathered(self._plain, pc.index_in(texts, value_set=self._texts))


def decoded(cells: pa.Array) -> pa.Array:
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def looks(cells: pa.Array, known: Remembered) -> Counted:
    """How many of some cells, one of each run of equal length, look like each of `LOOKS`; the last key counts them."""
    step = max(1, len(cells) // _SEEN_TEXTS)
    starts = np.arange(0, len(cells), step)
    # Not the first of each run: a table in which every fourth row is alike would show these alone, or none of them.
    inside = mixed(np.arange(len(starts), dtype=np.uint64), salt=3) % np.uint64(step)
    chosen = np.minimum(starts + inside.astype(np.int64), len(cells) - 1)
    some = decoded(cells.take(pa.array(chosen))).drop_null()
    counts = np.zeros(len(LOOKS) + 1, dtype=np.int64)
    if is_numeric(some.type):
        numbers = pc.cast(some, pa.float64(), safe=False).to_numpy()
        counts[NUMBERED] = np.count_nonzero((numbers >= _NINE_DIGITS) & (numbers == np.floor(numbers)))
        counts[-1] = np.count_nonzero(~np.isnan(numbers))
    else:
        seen = look_at(some.to_pylist(), known.looks)
        counts[:] = [*seen.hits, seen.n]
    return np.arange(len(counts), dtype=np.uint64), counts


def spellings(cells: pa.Array, known: Remembered) -> Counted:
    """Each spelling of a value, with the hash of its plain spelling; nothing where there are very many texts."""
    first = cells.slice(0, _FIRST)
    if len(first.unique()) * 2 > len(first) > _FEW:
        return NOTHING
    coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    if len(coded.dictionary) > _MOST_SPELLINGS:
        return NOTHING
    indices = coded.indices.drop_null().to_numpy()
    counts = np.bincount(indices, minlength=len(coded.dictionary))
    plain = known.plain(coded.dictionary.cast(pa.string()))
    bits, rest = np.uint64(SPELLING_BITS), np.uint64(64 - SPELLING_BITS)
    keys = (plain >> bits << bits) | (cell_hashes(coded.dictionary) >> rest)
    there = counts > 0  # a dictionary may list texts of other rows
    return keys[there], counts[there].astype(np.int64)


def spelled_ids(cells: pa.Array, sampled: int) -> Counted:
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


def extremes(cells: pa.Array) -> Counted:
    """The least and the greatest of whole numbers."""
    found = pc.min_max(cells).as_py()
    if found["min"] is None:
        return NOTHING
    inside = [min(max(found[end], -(1 << 62)), 1 << 62) for end in ("min", "max")]
    return np.arange(2, dtype=np.uint64), np.array(inside, dtype=np.int64)


def rounded(cells: pa.Array) -> Coded:
    """A key of each number, which near numbers share."""
    kind = cells.type
    if pa.types.is_temporal(kind):
        cells = cells.view(pa.int32() if kind.bit_width == 32 else pa.int64())  # noqa: PLR2004 - bits
    missing = pc.is_null(cells, nan_is_null=True).to_numpy(zero_copy_only=False)
    numbers = pc.fill_null(pc.cast(cells, pa.float64(), safe=False), 0.0).to_numpy() + 0.0
    coarse = (numbers.view(np.uint64) >> np.uint64(_ROUNDED_AWAY)).view(np.int64)
    return coded_cells(encoded(pa.array(coarse, mask=missing if missing.any() else None)))
