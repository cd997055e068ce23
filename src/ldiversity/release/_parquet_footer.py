"""The footer of a Parquet file from a stranger: checked, and written anew with nothing but what was checked.

Arrow's reader ends the process on some footers, and believes all sizes that they name. It is therefore never shown a
stranger's footer, only one made from what is read here: no statistics, no metadata, no indexes, no encryption.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

import pyarrow as pa

from ldiversity.release._thrift import (
    BINARY,
    BOOL,
    BYTE,
    I32,
    I64,
    CompactReader,
    Layout,
    ListOf,
    LongList,
    ThriftError,
    compact,
)

__all__ = ["Chunk", "Footer", "Leaf", "RowGroup", "read_footer"]

_MAGIC: Final = b"PAR1"
_TAIL_BYTES: Final = 8
_MOST_FOOTER_BYTES: Final = 1 << 25
_MOST_ELEMENTS: Final = 1 << 16
_DEEPEST: Final = 8
_MOST_DOTS: Final = 64

_EMPTY: Final[Layout] = {}
_UNIT: Final[Layout] = {1: ("milli", _EMPTY), 2: ("micro", _EMPTY), 3: ("nano", _EMPTY)}
_TIME: Final[Layout] = {1: ("utc", BOOL), 2: ("unit", _UNIT)}
_INTEGER: Final[Layout] = {1: ("bits", BYTE), 2: ("signed", BOOL)}
_LOGICAL: Final[Layout] = {
    1: ("text", _EMPTY),
    3: ("list", _EMPTY),
    4: ("enum", _EMPTY),
    6: ("date", _EMPTY),
    7: ("time", _TIME),
    8: ("timestamp", _TIME),
    10: ("integer", _INTEGER),
    11: ("null", _EMPTY),
}
_ELEMENT: Final[Layout] = {
    1: ("type", I32),
    2: ("length", I32),
    3: ("repetition", I32),
    4: ("name", BINARY),
    5: ("children", I32),
    6: ("converted", I32),
    7: ("scale", I32),
    8: ("precision", I32),
    10: ("logical", _LOGICAL),
}
_COLUMN: Final[Layout] = {
    1: ("type", I32),
    2: ("encodings", ListOf(I32)),
    3: ("path", ListOf(BINARY)),
    4: ("codec", I32),
    5: ("values", I64),
    6: ("unfolded", I64),
    7: ("bytes", I64),
    9: ("data", I64),
    11: ("dictionary", I64),
}
_CHUNK: Final[Layout] = {2: ("offset", I64), 3: ("column", _COLUMN)}
_CHUNK_READ: Final[Layout] = {1: ("other_file", BINARY), **_CHUNK, 8: ("cipher", _EMPTY), 9: ("ciphered", BINARY)}
_GROUP: Final[Layout] = {1: ("chunks", LongList(_CHUNK)), 2: ("unfolded", I64), 3: ("rows", I64)}
_GROUP_READ: Final[Layout] = {**_GROUP, 1: ("chunks", LongList(_CHUNK_READ))}
_FILE: Final[Layout] = {
    1: ("version", I32),
    2: ("elements", LongList(_ELEMENT)),
    3: ("rows", I64),
    4: ("groups", LongList(_GROUP)),
}
_FILE_READ: Final[Layout] = {**_FILE, 4: ("groups", LongList(_GROUP_READ)), 8: ("cipher", _EMPTY)}


@dataclass(frozen=True)
class Leaf:
    """A column without columns below it: its path with dots, and the number of its physical type."""

    path: str
    type: int

    @property
    def prefixes(self) -> Iterator[str]:
        """The names with which Arrow reads it: it takes the dot in a name for a step down in a tree."""
        return accumulate(self.path.split("."), "{}.{}".format)


@dataclass(frozen=True)
class Chunk:
    """The pages of a leaf in a row group: where they begin and end, how many values they hold, and the codec."""

    start: int
    end: int
    n_values: int
    codec: int


@dataclass(frozen=True)
class RowGroup:
    """Some rows: how many, and their pages, one chunk for each leaf."""

    n_rows: int
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Footer:
    """What a file says of itself.

    Parameters
    ----------
    n_rows, columns, leaves, groups
        Rows, names of columns, leaves of their trees, and row groups.
    content
        The same as a Parquet file without pages, which Arrow can read.
    """

    n_rows: int
    columns: tuple[str, ...]
    leaves: tuple[Leaf, ...]
    groups: tuple[RowGroup, ...]
    content: bytes


def read_footer(file: pa.NativeFile) -> Footer:
    """Read and check the footer of an open file, or raise `ThriftError`."""
    size = file.size()
    file.seek(0)
    begins = file.read(len(_MAGIC)) == _MAGIC
    file.seek(max(size - _TAIL_BYTES, 0))
    tail = file.read(_TAIL_BYTES)
    length = int.from_bytes(tail[:4], "little")
    first = size - _TAIL_BYTES - length
    if not begins or tail[4:] != _MAGIC or first < len(_MAGIC) or length > _MOST_FOOTER_BYTES:
        raise ThriftError("no Parquet file, or one with an enormous footer")
    file.seek(first)
    return _parsed(file.read(length), first)


@lru_cache(maxsize=4)  # a file is read many times, a few columns each; its footer may describe many thousand chunks
def _parsed(data: bytes, pages_end: int) -> Footer:
    said = CompactReader(data).structure(_FILE_READ)
    if "cipher" in said or not {"version", "elements", "rows", "groups"} <= said.keys():
        raise ThriftError("an incomplete footer")
    elements = _elements(said["elements"])
    columns, leaves = _tree(elements)
    return _footer(said, elements, columns, leaves, pages_end=pages_end)


def _elements(said: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    elements: list[dict[str, Any]] = []
    for element in said:
        if len(elements) == _MOST_ELEMENTS or "name" not in element:
            raise ThriftError("too many columns, or one without a name")
        if not element.get("logical", True):
            del element["logical"]  # of a kind that no release has
        elements.append(element)
    if not elements:
        raise ThriftError("no columns")
    return elements


def _tree(elements: list[dict[str, Any]]) -> tuple[list[str], list[Leaf]]:
    """The names of columns, and the leaves, of elements that stand in depth-first order."""
    columns: list[str] = []
    leaves: list[Leaf] = []
    letters = 0
    open_groups = [[elements[0].get("children", 0), ""]]  # children still to come, and the path so far
    for element in elements[1:]:
        while open_groups and open_groups[-1][0] == 0:
            open_groups.pop()
        if not open_groups or len(open_groups) > _DEEPEST:
            raise ThriftError("columns that are no tree")
        open_groups[-1][0] -= 1
        name = element["name"].decode("utf-8")
        if len(open_groups) == 1:
            columns.append(name)
        path = f"{open_groups[-1][1]}{name}"
        letters += len(path)
        if path.count(".") > _MOST_DOTS or letters > _MOST_FOOTER_BYTES:
            raise ThriftError("a name with too many dots, or enormous names")
        if ("type" in element) == (element.get("children", 0) > 0):
            raise ThriftError("an element that is neither a leaf nor a group")
        if "type" in element:
            leaves.append(Leaf(path, element["type"]))
        else:
            open_groups.append([element["children"], f"{path}."])
    if not leaves or any(left for left, _ in open_groups) or len(set(columns)) < len(columns):
        raise ThriftError("columns that are no tree, or one twice")
    return columns, leaves


def _footer(
    said: dict[str, Any], elements: list[dict[str, Any]], columns: list[str], leaves: list[Leaf], *, pages_end: int
) -> Footer:
    groups: list[RowGroup] = []
    written: list[bytes] = []
    total_bytes = 0
    for group in said["groups"]:
        if not {"chunks", "unfolded", "rows"} <= group.keys() or group["rows"] < 0:
            raise ThriftError("an incomplete row group")
        if group["rows"] == 0:
            continue  # nothing to read, yet a million of them in a small file would take minutes
        kept, chunks = _chunks(group["chunks"], leaves, pages_end)
        total_bytes += sum(chunk.end - chunk.start for chunk in chunks)
        if total_bytes > pages_end:
            raise ThriftError("chunks that overlap")
        groups.append(RowGroup(group["rows"], tuple(chunks)))
        written.append(compact(group | {"chunks": kept}, _GROUP))
    if sum(group.n_rows for group in groups) != said["rows"]:
        raise ThriftError("row groups that do not have the rows of the file")
    content = compact(said | {"elements": elements, "groups": written}, _FILE)
    framed = b"".join([_MAGIC, content, len(content).to_bytes(4, "little"), _MAGIC])
    return Footer(said["rows"], tuple(columns), tuple(leaves), tuple(groups), framed)


def _chunks(said: Iterator[dict[str, Any]], leaves: list[Leaf], pages_end: int) -> tuple[list[bytes], list[Chunk]]:
    written: list[bytes] = []
    chunks: list[Chunk] = []
    for found in said:
        if len(chunks) == len(leaves) or found.keys() & {"other_file", "cipher", "ciphered"} or "column" not in found:
            raise ThriftError("a chunk that is not in this file")
        column, leaf = found["column"], leaves[len(chunks)]
        if not {"type", "encodings", "path", "codec", "values", "unfolded", "bytes", "data"} <= column.keys():
            raise ThriftError("an incomplete chunk")
        if column["type"] != leaf.type or b".".join(column["path"]) != leaf.path.encode():
            raise ThriftError("a chunk of another column")
        if column.get("dictionary", 1) == 0:
            del column["dictionary"]  # some writers say so when there is none
        start = column.get("dictionary", column["data"])
        end = start + column["bytes"]
        if not len(_MAGIC) <= start <= column["data"] <= end <= pages_end or column["values"] < 0:
            raise ThriftError("a chunk outside the file")
        written.append(compact(found, _CHUNK))
        chunks.append(Chunk(start, end, column["values"], column["codec"]))
    if len(chunks) != len(leaves):
        raise ThriftError("a row group without all columns")
    return written, chunks
