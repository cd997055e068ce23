"""The pages of a Parquet file from a stranger: what they would unfold to, known before any is unfolded."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from ldiversity.release._parquet_footer import Chunk
from ldiversity.release._thrift import I32, CompactReader, Layout, ThriftError

__all__ = ["unfolded_bytes"]

_FIRST_BYTES: Final = 256
_MOST_HEADER_BYTES: Final = 1 << 20

_DATA_PAGE: Final[Layout] = {1: ("values", I32), 2: ("encoding", I32)}
_DATA_PAGE_2: Final[Layout] = {1: ("values", I32), 4: ("encoding", I32)}
_PAGE: Final[Layout] = {
    1: ("type", I32),
    2: ("unfolded", I32),
    3: ("bytes", I32),
    5: ("data", _DATA_PAGE),
    7: ("dictionary", _DATA_PAGE),
    8: ("data_2", _DATA_PAGE_2),
}
_HEADS: Final = {0: "data", 2: "dictionary", 3: "data_2"}
"""Where each type of page says what it holds."""

_ENCODINGS: Final = frozenset({0, 2, 3, 4, 8})
"""Plain, dictionary and run-length encodings. Of others, a few bytes can stand for texts of any length."""

_UNCOMPRESSED: Final = 0


def unfolded_bytes(file: pa.NativeFile, chunks: list[Chunk]) -> int:
    """How many bytes the pages of some chunks hold when they are unpacked, or raise `ThriftError`.

    Every page is visited, and what a chunk says must be what its pages say.
    """
    return sum(_chunk_bytes(file, chunk) for chunk in chunks)


def _chunk_bytes(stream: pa.NativeFile, chunk: Chunk) -> int:
    position, values, total = chunk.start, 0, 0
    while position < chunk.end:
        page, begins = _page(stream, position, chunk.end)
        name = _HEADS.get(page.get("type", -1), "")
        head = page.get(name, {})
        if not {"values", "encoding"} <= head.keys() or not {"unfolded", "bytes"} <= page.keys():
            raise ThriftError("a page of an unknown type")
        if name == "dictionary" and position != chunk.start:
            raise ThriftError("a dictionary that is not the first page")
        if head["encoding"] not in _ENCODINGS or min(page["unfolded"], page["bytes"], head["values"]) < 0:
            raise ThriftError("a page that is not allowed")
        if name == "dictionary" and head["values"] > page["unfolded"]:
            raise ThriftError("a dictionary of more entries than bytes")  # Arrow makes room for all at once
        if chunk.codec == _UNCOMPRESSED and page["unfolded"] != page["bytes"]:
            raise ThriftError("a page that is not compressed, yet has two sizes")
        position = begins + page["bytes"]
        total += page["unfolded"]
        values += 0 if name == "dictionary" else head["values"]
    if position != chunk.end or values != chunk.n_values:
        raise ThriftError("pages that are not what their chunk says")
    return total


def _page(stream: pa.NativeFile, position: int, end: int) -> tuple[dict[str, Any], int]:
    """The head of a page, and where its content begins."""
    length = _FIRST_BYTES
    while True:
        stream.seek(position)
        data = stream.read(min(length, end - position))
        reader = CompactReader(data)
        try:
            return reader.structure(_PAGE), position + reader.position
        except ThriftError:
            # Statistics of long texts can make a head longer.
            if length >= min(_MOST_HEADER_BYTES, end - position):
                raise
            length *= 16
