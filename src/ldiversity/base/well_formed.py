"""Whether cells are what their column says of itself. Whoever wrote a file or a frame may have been wrong."""

from __future__ import annotations

import pyarrow as pa

from ldiversity.base.gather import all_inside

__all__ = ["check_well_formed"]


def check_well_formed(cells: pa.Array) -> None:
    """Raise `pyarrow.ArrowInvalid` as Arrow's own full check does: texts are UTF-8, entries and lists point inside.

    Arrow looks at entries one by one. Where none is missing, numpy finds the largest several times faster.

    Examples
    --------
    >>> check_well_formed(pa.array(["flu", "flu"]).dictionary_encode())
    >>> nowhere = pa.array([5], pa.int32())
    >>> check_well_formed(pa.DictionaryArray.from_arrays(nowhere, pa.array(["flu"]), safe=False))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    pyarrow.lib.ArrowInvalid: Dictionary indices invalid: ...
    """
    cells.validate()
    kind = cells.type
    if pa.types.is_list(kind) and pa.types.is_dictionary(kind.value_type):
        pa.ListArray.from_arrays(cells.offsets, cells.values.indices).validate(full=True)
        check_well_formed(cells.values)
    elif pa.types.is_dictionary(kind) and not cells.null_count and all_inside(cells.indices, len(cells.dictionary)):
        check_well_formed(cells.dictionary)
    else:
        cells.validate(full=True)
