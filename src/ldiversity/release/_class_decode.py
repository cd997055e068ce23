"""Published rows of classes, as codes and numbers; they may come from a stranger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import ClassArray, CodeArray, class_dtype
from ldiversity.release._batches import CodedBatch
from ldiversity.release._cells import Cells, cells_of, from_texts, join_cells
from ldiversity.release._coded import code_column, parse_type
from ldiversity.release._damage import damage, damaged
from ldiversity.release._description import ClassDescription, Format
from ldiversity.release._own_cells import own_cells, own_type

__all__ = ["ClassDecoder"]


@dataclass(frozen=True)
class ClassDecoder:
    """Reads columns of published rows; `n_classes` has the number of classes of each class column."""

    description: ClassDescription
    data_format: Format
    n_classes: Mapping[str, int]

    def decoded(
        self,
        batch: pa.Table,
        class_column: str,
        attributes: Sequence[str] = (),
        regions: Sequence[str] = (),
        own: Sequence[str] = (),
    ) -> CodedBatch:
        """Rows that have a class: codes of attributes, generalized cells, and cells as they were."""
        schema, forms = self.description.schema, self.description.forms
        classes = self.classes(batch, class_column)
        shown = CodedBatch(
            classes,
            {name: self.codes(batch, name) for name in attributes},
            {name: self.cells(batch, name) for name in regions},
            own_cells(batch, {name: own_type(name, schema, forms) for name in own}, schema, forms),
        )
        return shown if len(classes) == 0 or classes.min() >= 0 else shown.take(np.flatnonzero(classes >= 0))

    def codes(self, batch: pa.Table, attribute: str) -> CodeArray:
        """The codes of a sensitive attribute, which must be values of its domain."""
        schema = self.description.schema
        with damage(attribute):
            return code_column(batch.column(attribute), schema.domain(attribute), parse_type(schema[attribute].type))

    def classes(self, batch: pa.Table, class_column: str) -> ClassArray:
        """The class of each row, from 0; -1 where there is none, which only separate classes allow."""
        ids = self.class_ids(batch.column(class_column), class_column)
        if (ids < 0).any() and len(set(self.description.class_columns.values())) <= 1:
            raise damaged(f"column {class_column!r} must have a number in every row")
        return ids

    def class_ids(self, column: pa.ChunkedArray, class_column: str) -> ClassArray:
        """Published numbers as classes from 0; -1 where there is none."""
        with damage(class_column):
            numbers = column.cast(pa.int64())
            ids: NDArray[Any] = numbers.fill_null(0).to_numpy()
        if numbers.null_count and bool(np.any((ids == 0) & ~np.asarray(numbers.is_null()))):
            raise damaged(f"column {class_column!r} must hold numbers of classes")
        least, most = 0 if numbers.null_count else 1, self.n_classes[class_column]
        if len(ids) and not least <= ids.min() <= ids.max() <= most:
            raise damaged(f"column {class_column!r} must hold numbers of classes")
        return (ids - 1).astype(class_dtype(most))

    def cells(self, batch: pa.Table, name: str) -> Cells:
        """The cells of a generalized column."""
        kind, form = parse_type(self.description.schema[name].type), self.description.forms[name]
        with damage(name):
            chunks = batch.column(name).chunks
            if self.data_format == "csv":
                chunks = [from_texts(name, chunk, form, kind) for chunk in chunks]
            return join_cells([cells_of(name, chunk, form, kind) for chunk in chunks])
