"""How many cells cannot be read as values of a type: messages count what they must not quote."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.tables._text_forms import TextForms

__all__ = ["count_misfits"]


def count_misfits(cells: pa.Array, target: pa.DataType, forms: TextForms | None = None) -> int:
    """Count the cells that are no values of a type, in the forms that the holder named; missing ones fit.

    Examples
    --------
    >>> count_misfits(pa.array(["<5", "4.5", None, "n.a.", "<5"]), pa.float64())
    3
    """
    counted = pc.value_counts(cells)
    return _misfits(counted.field("values"), counted.field("counts"), target, forms)


def _misfits(values: pa.Array, counts: pa.Array, target: pa.DataType, forms: TextForms | None) -> int:
    """Halve the values until all fit, or one is left that does not."""
    if _fit(values, target, forms):
        return 0
    if len(values) == 1:
        return int(counts[0].as_py())
    half = len(values) // 2
    return _misfits(values[:half], counts[:half], target, forms) + _misfits(values[half:], counts[half:], target, forms)


def _fit(values: pa.Array, target: pa.DataType, forms: TextForms | None) -> bool:
    plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    if forms is not None and forms.cover(target) and pa.types.is_string(plain.type):
        return forms.convert(plain, target) is not None
    try:
        pc.cast(plain, target)
    except pa.ArrowException:
        return False
    return True
