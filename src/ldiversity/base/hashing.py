"""A number of 64 bits for each cell: the same for the same value, and almost surely another for another value.

These numbers stand for values where only equality matters. They are not secret, and never leave the holder's process.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.encoded import encoded
from ldiversity.base.gather import gathered

__all__ = ["MISSING", "Coded", "HashArray", "cell_hashes", "coded_cells", "mixed", "repeats"]

HashArray: TypeAlias = NDArray[np.uint64]

MISSING: Final = np.uint64(0xA076_1D64_78BD_642F)
"""The hash of a missing cell."""

_FIRST: Final = np.uint64(0xBF58_476D_1CE4_E5B9)
_SECOND: Final = np.uint64(0x94D0_49BB_1331_11EB)
_STEP: Final = 0x9E37_79B9_7F4A_7C15
_TRIED: Final = 2_000
_OFTEN: Final = 2
_MOST_BYTES: Final = 1 << 20
_POWER: Final = 0xD6E8_FEB8_6659_FD93
_WORD: Final = 1 << 64
_BLOCK: Final = 1 << 14


def mixed(words: HashArray, salt: int = 0) -> HashArray:
    """Spread every bit of a word over all bits (the finalizer of SplitMix64, Steele, Lea and Flood 2014)."""
    found = words + np.uint64((salt + 1) * _STEP % _WORD)
    for start in range(0, len(found), _BLOCK):  # which stays in the processor's cache
        block = found[start : start + _BLOCK]
        block ^= block >> np.uint64(30)
        block *= _FIRST
        block ^= block >> np.uint64(27)
        block *= _SECOND
        block ^= block >> np.uint64(31)
    return found


class Coded(NamedTuple):
    """The cells of a column as hashes.

    Attributes
    ----------
    distinct
        The hash of each different cell, ascending; of each row, in its order, where `places` is None.
    places
        The position of each row among them; None where looking them up would not pay off.
    """

    distinct: HashArray
    places: NDArray[np.int64] | None

    @property
    def rows(self) -> HashArray:
        """The hash of each row."""
        return self.distinct if self.places is None else gathered(self.distinct, self.places, inside=True)


def cell_hashes(cells: pa.Array) -> HashArray:
    """The hash of each cell; NaN is missing.

    Examples
    --------
    >>> first, second, third = cell_hashes(pa.array(["flu", "cold", "flu"])).tolist()
    >>> first == third, first == second
    (True, False)
    """
    return coded_cells(cells).rows


def coded_cells(cells: pa.Array) -> Coded:
    """The hashes of cells, each different cell once if there are few."""
    if pa.types.is_dictionary(cells.type):
        return _of_dictionary(cells)
    if repeats(cells):
        return _of_dictionary(encoded(cells))
    return Coded(_of_cells(cells), None)


def _of_cells(cells: pa.Array) -> HashArray:
    hashes = _of_texts(cells) if pa.types.is_string(cells.type) else _of_numbers(cells)
    missing = pc.is_null(cells, nan_is_null=True)
    return hashes if not missing.true_count else np.where(missing.to_numpy(zero_copy_only=False), MISSING, hashes)


def _of_dictionary(cells: pa.DictionaryArray) -> Coded:
    known = np.append(_of_cells(_plain(cells.dictionary)), MISSING)
    indices = cells.indices
    if indices.null_count:
        indices = pc.fill_null(indices.cast(pa.int64()), len(known) - 1)
    order = np.argsort(known)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Coded(known[order], gathered(rank, indices))


def _plain(values: pa.Array) -> pa.Array:
    return values.cast(pa.string()) if pa.types.is_large_string(values.type) else values


def repeats(cells: pa.Array) -> bool:
    """Whether the first cells have so many equal ones that looking each up in a dictionary pays off."""
    first = cells.slice(0, _TRIED)
    return len(first.unique()) * _OFTEN < len(first)


def _of_numbers(cells: pa.Array) -> HashArray:
    kind = cells.type
    if pa.types.is_floating(kind):
        # The same number has the same hash, whatever its type; minus zero is zero.
        numbers = pc.fill_null(cells.cast(pa.float64()), 0.0).to_numpy() + 0.0
        return mixed(numbers.view(np.uint64))
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind) or pa.types.is_boolean(kind):
        return mixed(_integers(cells).view(np.uint64))
    try:
        return _of_texts(pc.fill_null(cells.cast(pa.string()), ""))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _of_texts(pa.array([repr(cell) for cell in cells.to_pylist()], pa.string()))


def _integers(cells: pa.Array) -> NDArray[np.int64]:
    kind = cells.type
    if pa.types.is_uint64(kind):
        found: NDArray[Any] = pc.fill_null(cells, 0).to_numpy().view(np.int64)
        return found
    if pa.types.is_temporal(kind):  # 32 or 64 bits wide, and not to be shown as Python's times
        cells = cells.view(pa.int32() if kind.bit_width == 32 else pa.int64())  # noqa: PLR2004 - bits
    integers: NDArray[np.int64] = pc.fill_null(cells.cast(pa.int64()), 0).to_numpy()
    return integers


def _of_texts(cells: pa.Array) -> HashArray:
    """A polynomial of the bytes of each text, block by block so that memory stays small."""
    _, offsets, content = cells.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[cells.offset : cells.offset + len(cells) + 1].astype(np.int64)
    if content is None or ends[-1] == ends[0]:
        return mixed(np.zeros(len(cells), dtype=np.uint64))
    whole = np.frombuffer(content, dtype=np.uint8)
    found = np.empty(len(cells), dtype=np.uint64)
    start = 0
    while start < len(cells):
        stop = max(int(np.searchsorted(ends, ends[start] + _MOST_BYTES, side="right")) - 1, start + 1)
        found[start:stop] = _of_block(whole[ends[start] : ends[stop]], ends[start : stop + 1] - ends[start])
        start = stop
    return mixed(found)


def _of_block(content: NDArray[np.uint8], ends: NDArray[np.int64]) -> HashArray:
    """The sum of table[byte] * power ** place, from the start of each text; all modulo 2 ** 64."""
    powers, inverse = _powers(len(content) + 1)
    sums = np.zeros(len(content) + 1, dtype=np.uint64)
    np.cumsum(_TABLE[content] * powers[: len(content)], out=sums[1:])
    found: HashArray = (sums[ends[1:]] - sums[ends[:-1]]) * inverse[ends[:-1]] + (ends[1:] - ends[:-1]).view(np.uint64)
    return found


_kept_powers: dict[str, HashArray] = {}


def _powers(length: int) -> tuple[HashArray, HashArray]:
    """Powers of an odd number, and of its inverse modulo 2 ** 64."""
    if len(_kept_powers.get("up", ())) < length:
        size = max(length, 1 << 16)
        for name, base in (("down", pow(_POWER, -1, _WORD)), ("up", _POWER)):
            steps = np.full(size, base, dtype=np.uint64)
            steps[0] = 1
            _kept_powers[name] = np.multiply.accumulate(steps)
    return _kept_powers["up"], _kept_powers["down"]


_TABLE: Final = mixed(np.arange(256, dtype=np.uint64), salt=1)
