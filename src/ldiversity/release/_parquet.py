"""Reading columns of a Parquet file that may come from a stranger, without being ended or exhausted by it.

Three steps, each before the next: the footer is checked and written anew (`_parquet_footer`), the pages say what they
would unfold to (`_parquet_pages`), and only then does Arrow unfold them. What it makes of them is validated in full.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.ahead import made_ahead
from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.base.well_formed import check_well_formed
from ldiversity.errors import LDiversityError, ReleaseFormatError
from ldiversity.release._damage import damaged
from ldiversity.release._parquet_footer import Footer, read_footer
from ldiversity.release._parquet_pages import unfolded_bytes

if TYPE_CHECKING:
    import pyarrow.parquet as pq

__all__ = ["group_rows", "parquet_batches", "without_columns"]

_MOST_EXPANSION: Final = 1_000
"""Bytes in memory that a byte of a Parquet file may stand for; repetitive honest tables stay far below."""

_SMALL_FILE: Final = 1 << 18
"""Smaller files may unfold as far as one of this size, because a small table may be very repetitive."""

_TEXT: Final = 6
_WIDTHS: Final = {0: 1, 1: 4, 2: 8, 4: 4, 5: 8, _TEXT: 4}
"""Bytes in memory of a value of each physical type of a release; of a text, those of its dictionary entry."""

_GUESSED: Final = 20
"""Guesses that are too high may take up one part in so many of what a file may unfold to."""

_LEVELS: Final = 4
"""Bytes in memory that say where the lists and the missing values are."""


def parquet_batches(
    file: Path,
    names: list[str],
    *,
    n_rows: int,
    longest: int,
    together: int = 0,
    groups: range | None = None,
    workers: int = 1,
) -> Iterator[pa.Table]:
    """Some columns of a file, one row group after the other, all of them or some; texts are dictionary entries.

    With several `workers`, groups are read by threads of their own, so that memory holds some more of them.

    `ReleaseFormatError` when the file is damaged, has lists of more than `longest` entries, or would fill the memory:
    the size of the file limits what it may unfold to. Where it is one of several, they have `together` bytes.
    """
    try:
        with pa.OSFile(str(file)) as handle:
            footer = read_footer(handle)
            left = allowed = _allowed(file, together)
            few = allowed // (_GUESSED * max(len(footer.groups) * len(footer.leaves), 1))
            left -= _check(footer, file.name, handle, names, n_rows, longest)
            if left < 0:
                raise _expands(file)
            if not names and groups is None:
                yield without_columns(n_rows)
                return
            numbers = range(len(footer.groups)) if groups is None else groups
            with closing(_groups(file, handle, footer, names, numbers, min(workers, len(numbers)))) as tables:
                for table in tables:
                    left -= sum(_decoded_bytes(column, few) for column in table.columns)
                    if left < 0:
                        raise _expands(file)
                    yield table
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, LDiversityError):
            raise
        if lacks_memory(error):
            raise not_enough_memory("release") from None
        raise damaged(f"{file.name} cannot be read as Parquet") from None


def group_rows(file: Path) -> list[int]:
    """How many rows each row group of a file has."""
    with pa.OSFile(str(file)) as handle:
        return [group.n_rows for group in read_footer(handle).groups]


def _groups(
    file: Path, handle: pa.NativeFile, footer: Footer, names: list[str], groups: range, workers: int
) -> Generator[pa.Table]:
    """Each group of rows as a table; `handle` reads the file already."""
    import pyarrow.parquet as pq

    # One long text is held only once as a dictionary entry, and entries are faster.
    texts = [leaf.path for leaf in footer.leaves if leaf.type == _TEXT]
    metadata = pq.read_metadata(pa.BufferReader(footer.content))
    readers: SimpleQueue[pq.ParquetFile] = SimpleQueue()

    def read(group: int) -> pa.Table:
        reader = readers.get()
        try:
            # Row group by row group: batches across them are not implemented for lists of dictionary entries.
            table = reader.read_row_group(group, columns=names, use_threads=workers == 1).select(names)
        finally:
            readers.put(reader)
        for column in table.columns:
            for chunk in column.chunks:
                check_well_formed(chunk)
        return table

    with ExitStack() as opened:
        # None may be used by two threads.
        others = [opened.enter_context(pa.OSFile(str(file))) for _ in range(1, workers)]
        for each in (handle, *others):
            parquet = pq.ParquetFile(each, metadata=metadata, read_dictionary=texts)
            readers.put(opened.enter_context(parquet))
        yield from map(read, groups) if workers <= 1 else made_ahead(read, groups, workers)


def without_columns(rows: int) -> pa.Table:
    """A table of some rows and no columns."""
    return pa.table({"": pa.nulls(rows)}).select([])


def _check(footer: Footer, name: str, handle: pa.NativeFile, names: list[str], rows: int, longest: int) -> int:
    """How many bytes the columns take when they are read, according to the pages and not to the footer alone."""
    if footer.n_rows != rows:
        raise damaged(f"{name} must hold {rows} rows")
    wanted, known = set(names), set(footer.columns)
    missing = [column for column in names if column not in known]
    if missing:
        raise damaged(f"{name} must have the column {missing[0]!r}")
    total = 0
    for number, leaf in enumerate(footer.leaves):
        if not wanted.isdisjoint(leaf.prefixes):
            if leaf.type not in _WIDTHS:
                raise damaged(f"{name} must have columns of the types that release.json names")
            chunks = [group.chunks[number] for group in footer.groups]
            if any(chunk.n_values > group.n_rows * longest for chunk, group in zip(chunks, footer.groups, strict=True)):
                raise damaged(f"{name} must not have lists of more than {longest} entries")
            values = sum(chunk.n_values for chunk in chunks)
            total += unfolded_bytes(handle, chunks) + values * (_WIDTHS[leaf.type] + _LEVELS)
    return total


def _decoded_bytes(column: pa.ChunkedArray, few: int) -> int:
    """How many bytes the texts of a column of dictionary entries stand for; at most, where that is as `few`."""
    return sum(_text_bytes(chunk, few) for chunk in column.chunks)


def _text_bytes(cells: pa.Array, few: int) -> int:
    if pa.types.is_list(cells.type):
        return _text_bytes(cells.flatten(), few)
    if pa.types.is_struct(cells.type):
        return sum(_text_bytes(part, few) for part in cells.flatten())
    if not pa.types.is_dictionary(cells.type):
        return 0
    lengths = np.asarray(pc.fill_null(pc.binary_length(cells.dictionary), 0)).astype(np.int64)
    most = int(lengths.max(initial=0)) * len(cells)
    if most <= few:
        return most
    return int(np.bincount(cells.indices.drop_null().to_numpy(), minlength=len(lengths)) @ lengths)


def _allowed(file: Path, together: int) -> int:
    """How many bytes a file may unfold to; many small files together no more than one of their size."""
    own = file.stat().st_size
    return _MOST_EXPANSION * max(own, _SMALL_FILE * own // max(own, together, 1))


def _expands(file: Path) -> ReleaseFormatError:
    return damaged(f"{file.name} must not expand to more than {_MOST_EXPANSION} times its size")
