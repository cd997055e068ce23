"""Thrift's compact protocol, in which Parquet files describe themselves: read strictly, and written again.

Only what a `Layout` names is kept; everything else is skipped without being built. Fields must come in ascending order,
each once, and have the declared types, so that no two readers can understand the same bytes differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

__all__ = [
    "BINARY",
    "BOOL",
    "BYTE",
    "I32",
    "I64",
    "CompactReader",
    "Layout",
    "ListOf",
    "LongList",
    "ThriftError",
    "compact",
]

BOOL: Final = 1
BYTE: Final = 3
I32: Final = 5
I64: Final = 6
BINARY: Final = 8
_FALSE, _I16, _DOUBLE, _LIST, _SET, _MAP, _STRUCT = 2, 4, 7, 9, 10, 11, 12
_BITS: Final = {_I16: 16, I32: 32, I64: 64}
_DEEPEST: Final = 16
_LONG_LIST: Final = 15


@dataclass(frozen=True)
class ListOf:
    """A list, and the type of its elements."""

    element: Kind


@dataclass(frozen=True)
class LongList:
    """A list of structures that are read one at a time: all at once they would fill the memory."""

    element: Layout


Kind: TypeAlias = "int | ListOf | LongList | Layout"
Layout: TypeAlias = "Mapping[int, tuple[str, Kind]]"
"""The fields of a structure by their number, in ascending order: the name that ours have, and their type."""


class ThriftError(ValueError):
    """The bytes are no structure of the expected kind."""


class CompactReader:
    """Reads structures and lists from bytes; `position` is where the next one begins.

    Examples
    --------
    >>> layout = {1: ("rows", I64), 4: ("name", BINARY)}
    >>> CompactReader(compact({"rows": -3, "name": b"x"}, layout)).structure(layout)
    {'rows': -3, 'name': b'x'}
    """

    def __init__(self, data: bytes, position: int = 0) -> None:
        self._data = data
        self.position = position

    def structure(self, layout: Layout) -> dict[str, Any]:
        """The fields of a structure that the layout names and that are there."""
        try:
            return self._structure(layout, 0)
        except IndexError:
            raise ThriftError("the bytes end too early") from None

    def each(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """The structures of a long list, one at a time; this reader stands where the list begins."""
        for _ in range(self._list_length(layout)):
            yield self.structure(layout)

    def _structure(self, layout: Layout, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        last = 0
        while head := self._byte():
            kind, step = head & 15, head >> 4
            number = last + step if step else self._signed(_I16)
            if number <= last:
                raise ThriftError("fields must come in ascending order")
            last = number
            wanted = layout.get(number)
            if wanted is None:
                self._skip(kind, depth + 1)
            elif kind == _wire(wanted[1]) or (wanted[1] == BOOL and kind == _FALSE):
                found[wanted[0]] = kind == BOOL if wanted[1] == BOOL else self._value(wanted[1], depth + 1)
            else:
                raise ThriftError("a field of another type")
        return found

    def _value(self, kind: Kind, depth: int) -> Any:  # noqa: ANN401 - any of the types above
        if depth > _DEEPEST:
            raise ThriftError("nested too deeply")
        if isinstance(kind, LongList):
            elements = CompactReader(self._data, self.position).each(kind.element)
            self._skip(_LIST, depth)
            return elements
        if isinstance(kind, ListOf):
            return [self._value(kind.element, depth + 1) for _ in range(self._list_length(kind.element))]
        if isinstance(kind, Mapping):
            return self._structure(kind, depth)
        if kind == BINARY:
            return self._take(self._varint())
        return self._byte() if kind == BYTE else self._signed(kind)

    def _skip(self, kind: int, depth: int, *, in_list: bool = False) -> None:
        if depth > _DEEPEST:
            raise ThriftError("nested too deeply")
        if kind in {BOOL, _FALSE}:
            self.position += in_list  # alone, a truth value stands in the head of its field
        elif kind == BYTE:
            self.position += 1
        elif kind in _BITS:
            self._varint()
        elif kind == _DOUBLE:
            self._take(8)
        elif kind == BINARY:
            self._take(self._varint())
        elif kind in {_LIST, _SET}:
            length, element = self._list_head()
            for _ in range(length):
                self._skip(element, depth + 1, in_list=True)
        elif kind == _STRUCT:
            self._structure({}, depth)
        else:
            raise ThriftError("a field of an unknown type")  # maps too: Parquet has none

    def _list_length(self, element: Kind) -> int:
        length, kind = self._list_head()
        if length and kind != _wire(element):
            raise ThriftError("elements of another type")
        return length

    def _list_head(self) -> tuple[int, int]:
        head = self._byte()
        length = head >> 4
        if length == _LONG_LIST:
            length = self._varint()
        if length > len(self._data) - self.position:
            raise ThriftError("a list that is longer than the bytes")  # an element has a byte or more
        return length, head & 15

    def _byte(self) -> int:
        byte = self._data[self.position]
        self.position += 1
        return byte

    def _take(self, length: int) -> bytes:
        end = self.position + length
        if end > len(self._data):
            raise ThriftError("the bytes end too early")
        taken = self._data[self.position : end]
        self.position = end
        return taken

    def _varint(self) -> int:
        result = shift = 0
        while True:
            byte = self._byte()
            result |= (byte & 127) << shift
            if byte < 128:  # noqa: PLR2004 - the highest bit says that more follow
                return result
            shift += 7
            if shift > 63:  # noqa: PLR2004 - no integer has more bits
                raise ThriftError("an integer that is too long")

    def _signed(self, kind: int) -> int:
        coded = self._varint()
        if coded >> _BITS[kind]:
            raise ThriftError("an integer that is too large")
        return (coded >> 1) ^ -(coded & 1)


def compact(values: Mapping[str, Any], layout: Layout) -> bytes:
    """A structure as bytes: the fields of the layout that have a value. Parts may be bytes already."""
    out = bytearray()
    last = 0
    for number, (name, kind) in layout.items():
        if name in values:
            out.append((number - last) << 4 | (_FALSE if values[name] is False else _wire(kind)))
            last = number
            if kind != BOOL:
                out += _element(values[name], kind)
    out.append(0)
    return bytes(out)


def _element(value: Any, kind: Kind) -> bytes:  # noqa: ANN401 - any of the types above
    if isinstance(kind, ListOf | LongList):
        short = len(value) < _LONG_LIST
        head = bytes([(len(value) if short else _LONG_LIST) << 4 | _wire(kind.element)])
        return b"".join([head, b"" if short else _varint(len(value)), *(_element(v, kind.element) for v in value)])
    if isinstance(kind, Mapping):
        return value if isinstance(value, bytes) else compact(value, kind)
    if kind == BINARY:
        return _varint(len(value)) + bytes(value)
    return bytes([value]) if kind == BYTE else _varint(value << 1 if value >= 0 else (-value << 1) - 1)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:  # noqa: PLR2004 - seven bits a byte
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _wire(kind: Kind) -> int:
    if isinstance(kind, int):
        return kind
    return _LIST if isinstance(kind, ListOf | LongList) else _STRUCT
