"""Which public value of a generalized column a cell belongs to."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.errors import SchemaError
from ldiversity.release._cells import numbers_in
from ldiversity.release._forms import Form
from ldiversity.schema import MISSING_LABEL
from ldiversity.sentences import Setting, say, type_word
from ldiversity.tables import to_values, value_type

__all__ = ["places_of"]


def places_of(name: str, form: Form, cells: pa.ChunkedArray | pa.Array, kind: pa.DataType) -> NDArray[np.int64]:
    """The position of each cell among the labels of a form; their number for a cell that none of them holds.

    Values are matched by their text. Where labels stand for values that are not public, the narrowest label that holds
    the value is taken. `cells` and `kind` are the cells and their type before the column was generalized.

    Examples
    --------
    >>> from ldiversity.release import Reach
    >>> form = Form("node", labels=("130**", "14850"), reaches={"130**": Reach(starts=("130",))})
    >>> places_of("zip", form, pa.array(["13053", "14850", "9"]), pa.string()).tolist()
    [0, 1, 2]
    """
    coded = _distinct(cells)
    found = _place_distinct(name, form, coded.dictionary, kind)
    nowhere = _place(form, MISSING_LABEL)
    indices = np.asarray(pc.fill_null(coded.indices.cast(pa.int64()), len(found)))
    places: NDArray[np.int64] = np.append(found, nowhere)[indices]
    return places


def _distinct(cells: pa.ChunkedArray | pa.Array) -> pa.DictionaryArray:
    whole = pa.concat_arrays(cells.chunks) if isinstance(cells, pa.ChunkedArray) and cells.num_chunks else cells
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.array([], whole.type)
    plain = whole.cast(whole.type.value_type) if pa.types.is_dictionary(whole.type) else whole
    if pa.types.is_floating(plain.type):
        plain = pc.if_else(pc.is_nan(plain), pa.scalar(None, plain.type), plain)
    return plain.dictionary_encode()


def _place_distinct(name: str, form: Form, values: pa.Array, kind: pa.DataType) -> NDArray[np.int64]:
    if form.spans and not pa.types.is_null(values.type):
        return _place_numbers(name, form, values, kind)
    own = value_type(values.type)
    # Whole numbers stay as they are: those of 64 bits without a sign have no other type.
    plain = values if own is None or pa.types.is_integer(values.type) else to_values(values, own)
    texts = plain.to_pylist()
    known = {label: place for place, label in enumerate(form.labels)}
    return np.array([_place(form, str(text), known) for text in texts], dtype=np.int64)


def _place(form: Form, text: str, known: dict[str, int] | None = None) -> int:
    places = known or {label: place for place, label in enumerate(form.labels)}
    if text in places and text not in (form.reaches or {}):
        return places[text]
    best, found = -1, len(form.labels)
    for label, reach in (form.reaches or {}).items():
        for start in reach.starts:
            fits = text.startswith(start) and (text != MISSING_LABEL or not start)
            if label in places and fits and len(start) > best:
                best, found = len(start), places[label]
    return found


def _place_numbers(name: str, form: Form, values: pa.Array, kind: pa.DataType) -> NDArray[np.int64]:
    try:
        numbers: NDArray[Any] = numbers_in(values.cast(kind))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SchemaError(
            "original", f"must hold what the release was made from, {type_word(kind)}", column=name, got=values.type
        ).with_hint(say("Declare its type, for example {}.", Setting("types", ("age", "integer")))) from None
    if numbers.dtype.kind == "f":  # the ends of nodes may be beyond what shorter floats hold
        numbers = numbers.astype(np.float64)
    reaches = form.reaches or {}
    found = np.full(len(numbers), len(form.labels), dtype=np.int64)
    widest_first = sorted(
        (place for place, label in enumerate(form.labels) if label in reaches),
        key=lambda place: _width(form, place),
        reverse=True,
    )
    for place in widest_first:
        reach = reaches[form.labels[place]]
        inside = np.ones(len(numbers), dtype=np.bool_)
        if reach.low is not None and reach.high is not None:
            inside = (numbers >= reach.low) | (reach.unbounded == "low")
            inside &= (numbers <= reach.high) | (reach.unbounded == "high")
        found[inside] = place
    return found


def _width(form: Form, place: int) -> float:
    """How wide a label is: what says nothing is wider than an interval without an end, and that than all others."""
    reach = (form.reaches or {})[form.labels[place]]
    if reach.low is None or reach.high is None:
        return float("inf")
    return sys.float_info.max if reach.unbounded is not None else float(reach.high - reach.low)
