"""Whether a file gives back what was written into it: every column, as a data user reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.ahead import prefetch
from ldiversity.base.gather import gathered
from ldiversity.base.hashing import MISSING, HashArray, cell_hashes, mixed
from ldiversity.errors import LDiversityError, ReleaseFormatError
from ldiversity.release._files import DataFiles
from ldiversity.release._sinks import not_given_back

__all__ = ["Content", "check_survival"]

_MOST_BYTES: Final = 1 << 30
_BLOCK: Final = 1 << 16
_ENTRIES: Final = 1 << 16
_WORD: Final = 1 << 64
_LONG: Final = 255
"""What the length of a text counts as, where a byte does not hold it."""


class Content:
    """What the columns of some tables hold, whichever batches they come in; a few bytes for any number of rows.

    Parameters
    ----------
    by_bytes
        Compare columns of plain texts by their bytes, and not text by text. That is faster where no text is an entry of
        a dictionary, since then a text that many rows have is not looked at once for all of them.

    Examples
    --------
    >>> once, again = Content(), Content()
    >>> once.add(pa.table({"age": [41, None, 50]}))
    >>> for part in ([41], [None, 50]):
    ...     again.add(pa.table({"age": pa.array(part, pa.int64())}))
    >>> once.differences(again)
    []
    """

    def __init__(self, *, by_bytes: bool = False) -> None:
        self.types: dict[str, pa.DataType] = {}
        self.by_bytes = by_bytes
        self._columns: dict[str, _Stream] = {}

    def watch(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """Hand the tables on, and take note of them."""
        for table in tables:
            self.add(table)
            yield table

    def add(self, table: pa.Table, types: Mapping[str, pa.DataType] | None = None) -> None:
        """Take note of the next rows, in types of their own or in these."""
        for name, column in zip(table.column_names, table.columns, strict=True):
            kind = self.types.setdefault(name, column.type if types is None else types[name])
            stream = self._columns.setdefault(name, _Stream(by_bytes=self.by_bytes))
            for chunk in column.chunks:
                stream.add(chunk, kind)

    def differences(self, other: Content) -> list[str]:
        """The columns that do not hold the same."""
        mine, theirs = (
            {name: stream.summary() for name, stream in content._columns.items()}  # noqa: SLF001 - of its own kind
            for content in (self, other)
        )
        return [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]


def check_survival(
    file: DataFiles, meant: Content, attributes: Mapping[str, str], look: Callable[[pa.Table], None] | None = None
) -> None:
    """Raise `SchemaError` unless a file gives back what it was meant to hold.

    `attributes` has the name in the table of each column that has another name in the file. `look` sees the rows on
    their way; what it raises is raised if the file gives back what it should.
    """
    seen = _Seen(look)
    for name in _lost(file, meant, seen):
        raise not_given_back(attributes.get(name, name), file.data_format)
    if seen.failed is not None:
        raise seen.failed


def _lost(file: DataFiles, meant: Content, seen: _Seen) -> list[str]:
    """The columns that cannot be read, or that hold something else."""
    try:
        return meant.differences(_read(file, list(meant.types), meant, seen))
    except (ReleaseFormatError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        for name in meant.types:  # which of them is it?
            try:
                _read(file, [name], meant)
            except (ReleaseFormatError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
                return [name]
        raise


def _read(file: DataFiles, names: list[str], meant: Content, seen: _Seen | None = None) -> Content:
    content = Content(by_bytes=meant.by_bytes)
    with closing(prefetch(replace(file, compared=meant.by_bytes).batches(names))) as batches:
        for batch in batches:
            content.add(batch, meant.types)
            if seen is not None:
                seen.see(batch)
    return content


@dataclass
class _Seen:
    """Somebody who looks at rows, until they find a fault."""

    look: Callable[[pa.Table], None] | None
    failed: LDiversityError | None = None

    def see(self, batch: pa.Table) -> None:
        if self.look is None or self.failed is not None:
            return
        try:
            self.look(batch)
        except LDiversityError as found:
            self.failed = found


class _Stream:
    """Sums over the cells of a column, one after the other: which are missing, how long they are, what they hold."""

    def __init__(self, *, by_bytes: bool) -> None:
        self._rows = 0
        self._missing, self._lengths, self._values = _Sum(), _Sum(), _Sum()
        self._texts = _Texts() if by_bytes else None
        self._inside: dict[int, _Stream] = {}

    def add(self, cells: pa.Array, kind: pa.DataType) -> None:
        """Take note of more cells, as if they were of this type."""
        entries = pa.types.is_dictionary(kind)
        if entries:
            kind = kind.value_type
        texts = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        plain = self._texts if texts and not entries else None
        if pa.types.is_dictionary(cells.type) and (plain is not None or not texts):
            cells = cells.dictionary_decode()
        if cells.null_count:
            where = np.flatnonzero(np.asarray(cells.is_null())) + self._rows
            self._missing.add(where.astype(np.uint64))
        self._rows += len(cells)
        if pa.types.is_nested(kind):
            self._add_nested(cells, kind)
        elif plain is not None:
            plain.add(pc.fill_null(cells, "") if cells.null_count else cells)
        elif texts:
            self._add_texts(cells)
        else:
            self._values.add(_words(_bits(cells, kind)), wide=True)

    def _add_texts(self, cells: pa.Array) -> None:
        if not pa.types.is_dictionary(cells.type):
            self._values.add(_text_hashes(cells))
            return
        known, entries = np.append(_text_hashes(cells.dictionary), MISSING), cells.indices
        places = pc.fill_null(entries.cast(pa.int64()), len(known) - 1) if entries.null_count else entries
        for start in range(0, len(places), _ENTRIES):  # which stay in the processor's cache
            self._values.add(gathered(known, places.slice(start, _ENTRIES)))

    def _add_nested(self, cells: pa.Array, kind: pa.DataType) -> None:
        if pa.types.is_struct(kind):
            parts, kinds = cells.flatten(), [field.type for field in kind]
        else:
            self._lengths.add(np.asarray(pc.list_value_length(cells).fill_null(0)).astype(np.uint64))
            parts, kinds = [cells.flatten()], [kind.value_type]
        for place, (part, inner) in enumerate(zip(parts, kinds, strict=True)):
            # Entries of lists are dictionaries wherever there are many.
            self._inside.setdefault(place, _Stream(by_bytes=False)).add(part, inner)

    def summary(self) -> tuple[Any, ...]:
        """A few bytes that are the same for the same cells."""
        inside = tuple((place, stream.summary()) for place, stream in sorted(self._inside.items()))
        texts = None if self._texts is None else self._texts.summary()
        return self._rows, *(one.summary() for one in (self._missing, self._lengths, self._values)), texts, inside


class _Texts:
    """Sums over texts, one after the other: all their bytes, and how long each is.

    Nearly all texts are short. A length is one byte, and only where that does not hold it a number beside it.
    """

    def __init__(self) -> None:
        self._content, self._lengths, self._long, self._rows = _Bytes(), _Bytes(), _Sum(), 0

    def add(self, texts: pa.Array) -> None:
        """Add the next texts, of which none is missing."""
        _, offsets, content = texts.buffers()
        wide = np.int64 if pa.types.is_large_string(texts.type) else np.int32
        ends = np.frombuffer(offsets or b"", dtype=wide)[texts.offset : texts.offset + len(texts) + 1]
        if len(texts) and content is not None:
            self._content.add(np.frombuffer(content, dtype=np.uint8)[ends[0] : ends[-1]])
        lengths = np.diff(ends)
        if lengths.max(initial=0) >= _LONG:
            long = np.flatnonzero(lengths >= _LONG)
            self._long.add(np.column_stack([long + self._rows, lengths[long]]).reshape(-1).astype(np.uint64))
            lengths = np.minimum(lengths, _LONG)
        self._lengths.add(lengths.astype(np.uint8))
        self._rows += len(texts)

    def summary(self) -> tuple[Any, ...]:
        """A few bytes that are the same for the same texts."""
        return self._content.summary(), self._lengths.summary(), self._long.summary()


class _Bytes:
    """A sum over bytes, one after the other, however they are cut; eight of them are a word."""

    def __init__(self) -> None:
        self._sum = _Sum()
        self._rest: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)

    def add(self, content: NDArray[np.uint8]) -> None:
        """Add the next bytes; a word that was begun is finished first, so that few bytes are copied."""
        if len(self._rest):
            missing = 8 - len(self._rest)
            begun, content = np.concatenate([self._rest, content[:missing]]), content[missing:]
            if len(begun) < 8:  # noqa: PLR2004 - bytes of a word
                self._rest = begun
                return
            self._sum.add(begun.view(np.uint64), wide=True)
        whole = len(content) - len(content) % 8
        self._sum.add(content[:whole].view(np.uint64), wide=True)
        self._rest = content[whole:].copy()

    def summary(self) -> tuple[tuple[int, int], bytes]:
        """The sum of the words, and the bytes that are left."""
        return self._sum.summary(), self._rest.tobytes()


class _Sum:
    """A sum of words, each times a weight of its place, modulo 2 ** 64: almost surely another for other words.

    A file is compared with what its own writer meant, so nobody chooses words; several times faster than a digest.
    """

    def __init__(self) -> None:
        self._total = 0
        self._place = 0

    def blocks(self, n: int) -> Iterator[slice]:
        """The next `n` places, cut where blocks of weights end."""
        start, end = 0, _BLOCK - self._place % _BLOCK
        while start < n:
            yield slice(start, min(end, n))
            start, end = end, end + _BLOCK

    def add(self, words: HashArray, *, wide: bool = False) -> None:
        """Add the words of the next places; of `wide` ones, any bit may be the only one that differs."""
        for some in self.blocks(len(words)):
            block, first = divmod(self._place, _BLOCK)
            own = words[some]
            # Changes of highest bits alone could add up to 0; folded, each also changes a bit far below.
            folded = own ^ (own >> np.uint64(32)) if wide else own
            weighed = np.einsum("i,i->", folded, _weights()[first : first + len(own)])  # no array for the products
            self._total = (self._total + _factor(block) * int(weighed)) % _WORD
            self._place += len(own)

    def summary(self) -> tuple[int, int]:
        """How many words there were, and their sum."""
        return self._place, self._total


@lru_cache(maxsize=1 << 12)
def _factor(block: int) -> int:
    """What the weights of a block are multiplied with.

    Of another salt than weights: else place 1 of block 2 would weigh as much as place 2 of block 1.
    """
    return int(mixed(np.array([block], dtype=np.uint64), salt=11)[0]) | 1


@cache
def _weights() -> HashArray:
    """Odd numbers without a pattern."""
    found: HashArray = mixed(np.arange(_BLOCK, dtype=np.uint64), salt=7) | np.uint64(1)
    return found


def _text_hashes(cells: pa.Array) -> HashArray:
    """A number for each text."""
    if cells.nbytes > _MOST_BYTES and len(cells) > 1:  # more than offsets of 32 bits may count
        half = len(cells) // 2
        return np.concatenate([_text_hashes(cells.slice(0, half)), _text_hashes(cells.slice(half))])
    return cell_hashes(cells.cast(pa.string()))


def _bits(cells: pa.Array, kind: pa.DataType) -> NDArray[Any]:
    """Cells as numbers of a fixed width; all NaN look the same."""
    cells = cells.cast(kind)
    if pa.types.is_temporal(kind):
        cells = cells.cast(pa.int32() if kind.bit_width == 32 else pa.int64())  # noqa: PLR2004 - bits
    elif pa.types.is_boolean(kind):
        cells = cells.cast(pa.uint8())
    numbers = np.asarray(pc.fill_null(cells, 0) if cells.null_count else cells)
    if numbers.dtype.kind == "f" and np.isnan(numbers.min(initial=0)):  # the least of some is NaN if one of them is
        return np.where(np.isnan(numbers), np.nan, numbers).astype(numbers.dtype)
    return numbers


def _words(numbers: NDArray[Any]) -> HashArray:
    """The bits of numbers of any width."""
    bits: HashArray = np.ascontiguousarray(numbers).view(f"u{numbers.dtype.itemsize}").astype(np.uint64, copy=False)
    return bits
