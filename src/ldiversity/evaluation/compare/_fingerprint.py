"""Keyed fingerprints of tables, methods and whatever else determines a run. They reveal nothing."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["fingerprint"]

_DIGEST_BYTES: Final = 16
_SINGLE: Final = (bool, int, float, str, bytes, Decimal, date, time, np.generic, type(None))


def fingerprint(secret: bytes, thing: Any) -> str | None:  # noqa: ANN401 - whatever decides a run
    """Give the keyed fingerprint of a thing; None when it holds something whose content cannot be read.

    Equal things have equal fingerprints under one secret of at most 64 bytes; without it nobody can even test a guess.
    A thing is made of texts, numbers, dates, arrays, Arrow tables, paths (which stand for the content of their files),
    dataclasses, mappings and sequences.

    Examples
    --------
    >>> fingerprint(b"secret", {"l": 2}) == fingerprint(b"secret", {"l": 2})
    True
    >>> fingerprint(b"secret", {"l": 2}) == fingerprint(b"other", {"l": 2})
    False
    >>> fingerprint(b"secret", object()) is None
    True
    """
    digest = hashlib.blake2b(key=secret, digest_size=_DIGEST_BYTES)
    try:
        for part in _parts(thing):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    except (_UnseenError, OSError):
        return None
    return digest.hexdigest()


class _UnseenError(Exception):
    """Something whose content cannot be read."""


def _parts(thing: Any) -> Iterator[bytes | memoryview]:  # noqa: ANN401 - whatever decides a run
    yield type(thing).__name__.encode()
    if isinstance(thing, _SINGLE):
        yield repr(thing).encode("utf-8", "surrogatepass")
    elif isinstance(thing, os.PathLike):
        yield Path(thing).read_bytes()
    elif isinstance(thing, np.ndarray | pa.Table | pa.Array | pa.ChunkedArray):
        yield from _array_parts(thing)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for one in (one for one in fields(thing) if one.compare):  # the others may differ between equal things
            yield one.name.encode()
            yield from _parts(getattr(thing, one.name))
    elif isinstance(thing, Mapping):
        for key, value in thing.items():
            yield from _parts(key)
            yield from _parts(value)
    elif isinstance(thing, list | tuple | range):
        yield str(len(thing)).encode()
        for item in thing:
            yield from _parts(item)
    else:
        raise _UnseenError


def _array_parts(thing: Any) -> Iterator[bytes | memoryview]:  # noqa: ANN401 - an array or a table
    if isinstance(thing, pa.Table):
        yield from _table_parts(thing)
    elif not isinstance(thing, np.ndarray):
        yield from _column_parts(thing)
    elif thing.dtype == object:
        raise _UnseenError
    else:
        yield f"{thing.dtype.str}{thing.shape}".encode()
        yield np.ascontiguousarray(thing).reshape(-1).view(np.uint8).data


def _table_parts(table: pa.Table) -> Iterator[bytes | memoryview]:
    yield str(table.num_rows).encode()
    for name in table.column_names:
        yield name.encode("utf-8", "surrogatepass")
        yield from _column_parts(table[name])


def _column_parts(column: pa.Array | pa.ChunkedArray) -> Iterator[bytes | memoryview]:
    """Lengths (missing: -1) and letters of the cells as texts, whatever the chunks and the bytes of missing cells."""
    yield str(column.type).encode()
    try:
        texts = column.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _UnseenError from None
    whole = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], pa.large_string())
    lengths = pc.fill_null(pc.binary_length(whole).cast(pa.int64()), -1)
    yield np.ascontiguousarray(lengths.to_numpy(zero_copy_only=False)).view(np.uint8).data
    # `take` packs the letters anew, without the bytes of missing cells and before an offset.
    packed = pc.drop_null(whole).take(pa.array(np.arange(len(whole) - whole.null_count)))
    letters = packed.buffers()[2]
    yield b"" if letters is None else memoryview(letters)
