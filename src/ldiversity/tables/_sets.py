"""Published sets as a list column of values, and back."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import CodeArray, SetArray
from ldiversity.errors import SchemaError
from ldiversity.schema import Domain
from ldiversity.tables._values import domain_array, to_values, value_type

__all__ = ["decode_sets", "encode_sets"]

_MOST_OFFSETS: Final = 2**31 - 1
_OUTSIDE: Final = -2


def decode_sets(
    sets: SetArray,
    domain: Domain,
    type: pa.DataType | None = None,  # noqa: A002 - as in Attribute
) -> pa.ListArray:
    """Show sets of codes as lists of values, each list in code order.

    Parameters
    ----------
    sets
        Codes, shape (n, l).
    domain
        The public values.
    type
        The Arrow type of a value; found from the domain when None.

    Examples
    --------
    >>> decode_sets(np.array([[0, 1]], dtype=np.int32), Domain(("cold", "flu"))).to_pylist()
    [['cold', 'flu']]
    """
    n, l = sets.shape
    flat = np.ascontiguousarray(sets, dtype=np.int32).reshape(-1)
    missing = domain.code_of.get(None)
    known = domain_array(domain, type)
    if missing is None:
        codes = pa.array(flat)
    else:
        # A missing value is a missing index: Parquet refuses dictionaries that contain one.
        known = known.drop_null()
        codes = pa.array(flat - (flat > missing), mask=flat == missing)
    values = pa.DictionaryArray.from_arrays(codes, known, safe=False)
    if n * l > _MOST_OFFSETS:
        return pa.LargeListArray.from_arrays(np.arange(0, n * l + 1, l, dtype=np.int64), values)
    return pa.ListArray.from_arrays(np.arange(0, n * l + 1, l, dtype=np.int32), values)


def encode_sets(column: pa.Array | pa.ChunkedArray, domain: Domain, *, as_written: bool = False) -> SetArray:
    """Read a list column back into sets of codes, ascending in each row.

    Parameters
    ----------
    column
        Lists of values, of dictionary-encoded values, or of numbers; all of one length.
    domain
        The public values.
    as_written
        Leave members in the order in which they stand, and do not look whether one is repeated: for the check of
        what was written.

    Raises
    ------
    SchemaError
        When a list is missing, lists have different lengths, a member is not of the domain, or a list
        holds a value twice.

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
    return np.concatenate(filled) if filled else np.zeros((0, 0), dtype=np.int32)


def _encode(lists: pa.Array, domain: Domain, *, as_written: bool) -> SetArray:
    if not _is_list(lists.type):
        raise SchemaError("sets", "the column must hold lists", got=lists.type)
    if lists.null_count:
        raise SchemaError("sets", "every row must have a set", got=f"{lists.null_count} rows without")
    if len(lists) == 0:
        return np.zeros((0, 0), dtype=np.int32)
    lengths = pc.min_max(pc.list_value_length(lists)).as_py()
    if lengths["min"] != lengths["max"]:
        raise _uneven()
    codes = _codes(lists.flatten(), domain).reshape(len(lists), lengths["min"])
    return codes if as_written else _ascending(codes)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _codes(members: pa.Array, domain: Domain) -> CodeArray:
    missing = domain.code_of.get(None, _OUTSIDE)
    if value_type(members.type) is None:
        raise _other_type(domain_array(domain).type, members.type)
    if pa.types.is_null(members.type):
        codes = np.full(len(members), missing, dtype=np.int32)
    else:
        coded = members if pa.types.is_dictionary(members.type) else members.dictionary_encode()
        lookup = np.append(_lookup(coded.dictionary, domain), np.int32(missing))
        indices = coded.indices
        if indices.null_count:
            indices = pc.fill_null(indices.cast(pa.int64()), len(coded.dictionary))
        places = indices.to_numpy()
        if len(places) and (places.min() < 0 or places.max() > len(coded.dictionary)):
            raise SchemaError("sets", "the column must not be damaged", got="members without a value")
        codes = lookup[places]
    outside = int(np.count_nonzero(codes == _OUTSIDE))
    if outside:
        raise SchemaError(
            "sets", "every member must be a value of the domain", got=f"{outside} that are not"
        ).with_hint("The table and the domain do not belong together.")
    return codes


def _lookup(cells: pa.Array, domain: Domain) -> CodeArray:
    known = domain_array(domain)
    try:
        values = to_values(cells, known.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SchemaError("sets", f"members must have the type {known.type} of the domain", got=cells.type) from None
    found = pc.index_in(values, value_set=known, skip_nulls=True)
    lookup: CodeArray = pc.fill_null(found, _OUTSIDE).to_numpy().astype(np.int32)
    lookup[np.asarray(values.is_null())] = domain.code_of.get(None, _OUTSIDE)
    return lookup


def _ascending(codes: SetArray) -> SetArray:
    if not np.all(codes[:, 1:] > codes[:, :-1]):
        codes = np.sort(codes, axis=1)
        twice = int(np.count_nonzero(np.any(codes[:, 1:] == codes[:, :-1], axis=1)))
        if twice:
            raise SchemaError("sets", "the members of a set must be distinct", got=f"{twice} sets with a repeated one")
    return codes


def _other_type(known: pa.DataType, got: pa.DataType) -> SchemaError:
    return SchemaError("sets", f"members must have the type {known} of the domain", got=got).with_hint(
        "The table and the domain do not belong together."
    )


def _uneven() -> SchemaError:
    return SchemaError("sets", "all sets must have the same number of members", got="different ones").with_hint(
        "The table was damaged or does not come from one publication."
    )
