"""The notation in which Parquet files describe themselves."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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

INNER: Layout = {1: ("flag", BOOL), 2: ("byte", BYTE)}
OUTER: Layout = {
    1: ("small", I32),
    2: ("large", I64),
    4: ("name", BINARY),
    5: ("numbers", ListOf(I32)),
    6: ("inner", INNER),
    9: ("inners", ListOf(INNER)),
    12: ("many", LongList(INNER)),
}
INNERS = st.fixed_dictionaries({}, optional={"flag": st.booleans(), "byte": st.integers(0, 255)})
OUTERS = st.fixed_dictionaries(
    {"many": st.lists(INNERS)},
    optional={
        "small": st.integers(-(2**31), 2**31 - 1),
        "large": st.integers(-(2**63), 2**63 - 1),
        "name": st.binary(max_size=300),
        "numbers": st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20),
        "inner": INNERS,
        "inners": st.lists(INNERS, max_size=20),
    },
)


@given(OUTERS)
def test_what_is_written_is_read_again(values: dict[str, Any]) -> None:
    read = CompactReader(compact(values, OUTER)).structure(OUTER)

    assert {**read, "many": list(read["many"])} == values


@given(OUTERS, st.integers(0, 200))
def test_bytes_that_end_early_are_refused(values: dict[str, Any], length: int) -> None:
    whole = compact(values, OUTER)

    with pytest.raises(ThriftError):
        CompactReader(whole[: min(length, len(whole) - 1)]).structure(OUTER)


@given(OUTERS)
def test_fields_that_nobody_asks_for_are_passed_over(values: dict[str, Any]) -> None:
    whole = compact(values, OUTER)
    reader = CompactReader(whole + b"next")

    assert reader.structure({1: ("small", I32)}) == {name: values[name] for name in ("small",) if name in values}
    assert reader.position == len(whole)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(ThriftError):
        list(CompactReader(data).structure(OUTER).get("many", []))


@pytest.mark.parametrize(
    "data",
    [
        b"\x15\x02\x05\x02\x02\x00",  # the first field twice
        b"\x25\x02\x05\x02\x02\x00",  # the first field after the second
        b"\x16\x02\x00",  # a long integer where a short one is due
        b"\x15\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00",  # an integer without end
        b"\x15\xff\xff\xff\xff\x7f\x00",  # an integer that is too large
        b"\x5c" + b"\x1c" * 40 + b"\x00" * 42,  # nested too deeply
        b"\x59\xf5\xff\xff\xff\x7f\x00",  # a list longer than the bytes
        b"\x59\x16\x02\x00",  # elements of another type
        b"\x1d\x00\x00",  # a type that nobody knows
        b"\x3b\x00\x00",  # a map, which Parquet has not
    ],
)
def test_bytes_that_could_be_understood_differently_are_refused(data: bytes) -> None:
    with pytest.raises(ThriftError):
        CompactReader(data).structure(OUTER)


def test_a_field_far_from_the_one_before_is_found() -> None:
    assert CompactReader(b"\x05\x50\x02\x00").structure({40: ("far", I32)}) == {"far": 1}
