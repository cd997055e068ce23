"""Quasi-identifiers of which every record shows its own cell: as it was, or as a node at a declared level."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.release._cells import cells_of
from ldiversity.release._coded import parse_type
from ldiversity.release._damage import damage
from ldiversity.release._files import typed
from ldiversity.release._forms import Form
from ldiversity.release._reached import places_of
from ldiversity.schema import MISSING_LABEL, Schema

__all__ = ["label_column", "own_cells", "own_type", "to_shown"]


def own_type(name: str, schema: Schema, forms: Mapping[str, Form]) -> pa.DataType:
    """The type of a column whose cells are the records' own: texts where it is published at a declared level."""
    exact = name not in forms or forms[name].kind == "exact"
    return parse_type(schema[name].type) if exact else pa.string()


def own_cells(batch: pa.Table, types: Mapping[str, pa.DataType], schema: Schema, forms: Mapping[str, Form]) -> pa.Table:
    """Some columns of a file that may come from a stranger; labels must be those of their form."""
    shown = typed(batch, types)
    for name in types:
        if name in forms and forms[name].kind != "exact":
            with damage(name):
                for chunk in shown.column(name).chunks:
                    cells_of(name, chunk, forms[name], parse_type(schema[name].type))
    return shown


def to_shown(name: str, cells: pa.ChunkedArray, form: Form, kind: pa.DataType, shown: pa.Array) -> pa.ChunkedArray:
    """Cells of the original as the labels that a release shows for them; missing where it shows none.

    `shown` has the distinct labels of the release. Cells that are such labels already stay as they are.

    Examples
    --------
    >>> from ldiversity.hierarchies import Hierarchy
    >>> from ldiversity.release import Reach
    >>> tree = Hierarchy((("130*", "*"), ("148*", "*")))
    >>> reaches = {"130*": Reach(starts=("130",)), "148*": Reach(starts=("148",))}
    >>> form = Form("node", tree, labels=tree.leaves, reaches=reaches)
    >>> cells = pa.chunked_array([["13053", "99999"]])
    >>> to_shown("zip", cells, form, pa.string(), pa.array(["130*", "148*"])).to_pylist()
    ['130*', None]
    """
    known = set(shown.to_pylist())
    if pa.types.is_string(cells.type) and set(pc.unique(cells).to_pylist()) <= known:
        return cells
    rows = () if form.hierarchy is None else form.hierarchy.rows
    label_of = {row[0]: next((label for label in row if label in known), None) for row in rows}
    labels = pa.array([*(label_of.get(leaf) for leaf in form.labels), None], pa.string())
    return pa.chunked_array([labels.take(pa.array(places_of(name, form, cells, kind)))])


def label_column(cells: pa.ChunkedArray, ordered: pa.Array) -> pa.ChunkedArray:
    """Labels as an ordered category; a missing value has none."""
    categories = pc.filter(ordered, pc.not_equal(ordered, MISSING_LABEL))
    kind = pa.dictionary(pa.int32(), pa.string(), ordered=True)
    parts = [
        pa.DictionaryArray.from_arrays(pc.index_in(chunk, value_set=categories), categories, ordered=True)
        for chunk in cells.chunks
    ]
    return pa.chunked_array(parts, kind)
