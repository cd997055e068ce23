"""Convert sets of codes to a list column of values, and back."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import CodeArray, SetArray, all_ascend
from ldiversity.base.gather import gathered
from ldiversity.base.numbers import counted
from ldiversity.errors import SchemaError
from ldiversity.schema import Domain
from ldiversity.sentences import type_word
from ldiversity.tables._short_texts import ShortTexts
from ldiversity.tables._values import OUTSIDE, code_lookup, distinct_cells, domain_array, value_type

__all__ = ["decode_entries", "decode_sets", "encode_sets", "encode_values", "short_texts"]

_MOST_OFFSETS: Final = 2**31 - 1


def decode_sets(
    sets: SetArray,
    domain: Domain,
    type: pa.DataType | None = None,  # noqa: A002 - as in Attribute
) -> pa.ListArray:
    """Return sets of codes, shape (n, l), as lists of values in code order.

    `type` is the Arrow type of a value; None takes it from the domain.

    Examples
    --------
    >>> decode_sets(np.array([[0, 1]], dtype=np.int32), Domain(("cold", "flu"))).to_pylist()
    [['cold', 'flu']]
    """
    n, l = sets.shape
    values = decode_entries(sets.reshape(-1), domain, type)
    if n * l > _MOST_OFFSETS:
        return pa.LargeListArray.from_arrays(np.arange(0, n * l + 1, l, dtype=np.int64), values)
    return pa.ListArray.from_arrays(np.arange(0, n * l + 1, l, dtype=np.int32), values)


def decode_entries(
    codes: CodeArray,
    domain: Domain,
    type: pa.DataType | None = None,  # noqa: A002 - as in Attribute
) -> pa.DictionaryArray:
    """Return codes as entries of a dictionary of the domain's values.

    Examples
    --------
    >>> decode_entries(np.array([1, 0, 1], dtype=np.int32), Domain(("cold", "flu"))).to_pylist()
    ['flu', 'cold', 'flu']
    """
    flat = np.ascontiguousarray(codes, dtype=np.int32)
    missing = domain.code_of.get(None)
    published = domain_array(domain, type)
    if missing is None:
        entries = pa.array(flat)
    else:
        # A missing value becomes a missing index: Parquet refuses dictionaries that contain a missing value.
        published = published.drop_null()
        entries = pa.array(flat - (flat > missing), mask=flat == missing)
    return pa.DictionaryArray.from_arrays(entries, published, safe=False)


def encode_sets(column: pa.Array | pa.ChunkedArray, domain: Domain, *, as_written: bool = False) -> SetArray:
    """Read a list column back into sets of codes, ascending in each row.

    With `as_written`, members keep their order and may repeat: this is for checking what was written.

    Raises
    ------
    SchemaError
        When a list is missing, lists differ in length, a member is not in the domain, or a list holds a value twice.

    Examples
    --------
    >>> encode_sets(pa.array([["flu", "cold"]]), Domain(("cold", "flu")))
    array([[0, 1]], dtype=int32)
    """
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    parts = [_encode(chunk, domain, as_written=as_written) for chunk in chunks]
    filled = [part for part in parts if len(part)]
    if len({part.shape[1] for part in filled}) > 1:
        raise _uneven()
    if len(filled) == 1:
        return filled[0]
    return np.concatenate(filled) if filled else np.zeros((0, 0), dtype=np.int32)


def encode_values(column: pa.ChunkedArray, domain: Domain, known: ShortTexts | None = None) -> CodeArray:
    """Return the code of each cell of a column of single values.

    `known` has the values of the domain, if they are texts and many cells are looked up in it.

    Raises
    ------
    SchemaError
        When a cell is not in the domain.

    Examples
    --------
    >>> encode_values(pa.chunked_array([["flu", "cold"], ["flu"]]), Domain(("cold", "flu")))
    array([1, 0, 1], dtype=int32)
    """
    parts = [_codes(chunk, domain, known) for chunk in column.chunks]
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, dtype=np.int32), *parts])


def short_texts(domain: Domain) -> ShortTexts | None:
    """The values of a domain, to look many texts up in them; None where they are no texts."""
    values = domain_array(domain)
    return ShortTexts(values) if pa.types.is_string(values.type) else None


def _encode(lists: pa.Array, domain: Domain, *, as_written: bool) -> SetArray:
    if not _is_list(lists.type):
        raise SchemaError("sets", "the column must hold lists", got=lists.type)
    if lists.null_count:
        raise SchemaError("sets", "every row must have a set", got=f"{counted(lists.null_count, 'row')} without")
    if len(lists) == 0:
        return np.zeros((0, 0), dtype=np.int32)
    lengths = pc.min_max(pc.list_value_length(lists)).as_py()
    if lengths["min"] != lengths["max"]:
        raise _uneven()
    codes = _codes(lists.flatten(), domain).reshape(len(lists), lengths["min"])
    return codes if as_written else _ascending(codes)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _codes(members: pa.Array, domain: Domain, known: ShortTexts | None = None) -> CodeArray:
    codes: CodeArray
    if pa.types.is_string(members.type) and known is not None:
        codes = known.places(members)
        other = np.flatnonzero(codes < 0)
        if len(other):
            codes[other] = _codes(members.take(pa.array(other)), domain)
        return codes
    missing = domain.code_of.get(None, OUTSIDE)
    values = domain_array(domain)
    if value_type(members.type) is None:
        raise _other_type(values.type, members.type)
    if pa.types.is_null(members.type):
        codes = np.full(len(members), missing, dtype=np.int32)
    elif pa.types.is_string(members.type):
        # Looking each up among few values is faster than making a dictionary first.
        codes = _lookup(members, values, missing)[:-1]
    else:
        distinct, positions = distinct_cells(members)
        # The indices come from a file, and Arrow does not check them.
        if len(positions) and (positions.min() < 0 or positions.max() > len(distinct)):
            raise SchemaError("sets", "the column must not be damaged", got="members without a value")
        codes = gathered(_lookup(distinct, values, missing), positions)
    if codes.min(initial=0) == OUTSIDE:  # which is below all codes
        outside = int(np.count_nonzero(codes == OUTSIDE))
        raise SchemaError(
            "sets", "every member must be a value of the domain", got=f"{outside} that are not"
        ).with_hint("The table and the domain do not belong together.")
    return codes


def _lookup(cells: pa.Array, values: pa.Array, missing: int) -> CodeArray:
    try:
        return code_lookup(cells, values, missing)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _other_type(values.type, cells.type) from None


def _ascending(codes: SetArray) -> SetArray:
    if not all_ascend(codes):
        codes = np.sort(codes, axis=1)
        twice = int(np.count_nonzero(np.any(codes[:, 1:] == codes[:, :-1], axis=1)))
        if twice:
            raise SchemaError("sets", "the members of a set must be distinct", got=f"{twice} sets with a repeated one")
    return codes


def _other_type(expected: pa.DataType, got: pa.DataType) -> SchemaError:
    return SchemaError("sets", f"members must have the type {type_word(expected)} of the domain", got=got).with_hint(
        "The table and the domain do not belong together."
    )


def _uneven() -> SchemaError:
    return SchemaError("sets", "all sets must have the same number of members", got="different ones").with_hint(
        "The table was damaged or does not come from one publication."
    )
