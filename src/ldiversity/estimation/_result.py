"""What an estimation gives: counts with their errors, cell by cell."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.checks import check_integer
from ldiversity.base.notebook import ShownInNotebooks, save_picture
from ldiversity.errors import UnsupportedError
from ldiversity.tables import domain_array, python_rows, to_native

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path

    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._cells import CellData
    from ldiversity.estimation._class_cells import ClassCells
    from ldiversity.schema import Domain

__all__ = ["Estimate"]

_NUMBERS: Final = ("count", "share", "std_error", "low", "high")


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(ShownInNotebooks):
    """Estimated counts of the sensitive values in every cell, with standard errors and intervals.

    Arrays have one row a cell and one column a value (or combination of values, the last attribute running
    fastest). `count`, `std_error`, `low` and `high` are numbers of records; divide by `records` for shares.

    Attributes
    ----------
    sensitive
        The attributes whose (joint) distribution this is.
    by
        The columns that make the cells.
    labels
        An Arrow table with the by-values of each cell.
    domains
        The public domain of each attribute in `sensitive`.
    records
        How many records each cell has: whole numbers that are exact, or, where classes were generalized across
        cells, expected numbers.
    count, std_error, low, high
        Shape (cells, F). Standard errors and intervals are about the noise of the dummies, or about what classes hide:
        the records are taken as given, and are no sample of anything. For estimators that are not linear in the
        published counts (``mle``, ``map``, ``simplex``), `std_error` is that of ``linear``. Where no formula gives
        one, as for ``classes``, it is not a number here, and empty in tables; counts that are known have zero.
    estimator
        Which estimator gave each cell's counts.
    note
        For each cell "" or why it is marked.
    caveats
        What the user should know, one sentence each.
    confidence
        How often an interval is to hold the true count.
    where
        The filters that selected the records, as texts.
    """

    sensitive: tuple[str, ...]
    by: tuple[str, ...]
    labels: pa.Table
    domains: tuple[Domain, ...]
    records: NDArray[np.int64] | FloatArray
    count: FloatArray
    std_error: FloatArray
    low: FloatArray
    high: FloatArray
    estimator: tuple[str, ...]
    note: tuple[str, ...]
    caveats: tuple[str, ...]
    confidence: float
    where: tuple[str, ...]
    frame_kind: str
    _cells: CellData | ClassCells = field(repr=False)
    _covariance: Callable[[int], FloatArray] | None = field(repr=False)

    def __repr__(self) -> str:
        cells, values = self.count.shape
        return f"Estimate({' x '.join(self.sensitive)}: {cells} cells, {values} values, {self.n_records} records)"

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.records)

    @property
    def n_records(self) -> int:
        """The number of selected records."""
        return round(float(self.records.sum()))

    @property
    def share(self) -> FloatArray:
        """Counts divided by the records of their cell, shape (cells, F)."""
        return self.count / self.records[:, None]

    def covariance(self, cell: int = 0) -> FloatArray:
        """Give the covariance matrix of one cell's counts, shape (F, F), estimated from what was published.

        For ``mle``, ``map`` and ``simplex`` it is that of ``linear``; for ``classes`` there is none.
        """
        position = check_integer("Estimate.covariance", "cell", cell, minimum=0, maximum=self.n_cells - 1)
        if self._covariance is None:
            raise UnsupportedError(
                "Estimate", f"covariance is not offered for the estimator {self.estimator[position]!r}"
            ).with_hint("What is known of single counts is in std_error, low and high.")
        return self._covariance(position)

    def to_arrow(self) -> pa.Table:
        """Give an Arrow table with one row a cell and value."""
        n_values = self.count.shape[1]
        rows = np.repeat(np.arange(self.n_cells), n_values)
        columns = {name: self.labels.column(name).take(pa.array(rows)) for name in self.by}
        taken = {*self.by, *(self.sensitive if len(self.sensitive) > 1 else ())}
        for name, values in self._value_columns().items():
            key = name if len(self.sensitive) > 1 else _free("value", taken)
            columns[key] = values.take(pa.array(np.tile(np.arange(n_values), self.n_cells)))
        for name in _NUMBERS:
            numbers = getattr(self, name).ravel()
            columns[_free(name, taken)] = pa.array(numbers, mask=np.isnan(numbers))
        columns[_free("records", taken)] = pa.array(np.repeat(self.records, n_values))
        for name in ("note", "estimator"):
            columns[_free(name, taken)] = pa.array(getattr(self, name), pa.string()).take(pa.array(rows))
        return pa.table(columns)

    def to_frame(self) -> Any:  # noqa: ANN401 - the kind of frame is the release's
        """Give one row a cell and value, in the kind of frame that the release came from.

        The columns are those of `by`, ``value`` (or one column an attribute for a joint distribution), ``count``,
        ``share``, ``std_error``, ``low``, ``high``, ``records``, ``note`` and ``estimator``. One of these that is also
        the name of a by-column gets a trailing underscore.
        """
        return to_native(self.to_arrow(), self.frame_kind)

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw the estimate as PNG, SVG or PDF, by the extension of `path`; notebooks show the same picture."""
        return save_picture(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Describe the estimate in JSON's types.

        Keys: ``sensitive``, ``by``, ``where``, ``confidence``, ``n_records``, ``caveats`` and ``cells``. A cell has
        ``by`` (its labels), ``records``, ``estimator``, ``note`` and ``values``; a value has ``value`` (a list, one
        entry an attribute, for a joint distribution), ``count``, ``share``, ``std_error``, ``low`` and ``high``; what
        is not known is None.
        """
        parts = [column.to_pylist() for column in self._value_columns().values()]
        values = parts[0] if len(parts) == 1 else [list(row) for row in zip(*parts, strict=True)]
        labels = python_rows(self.labels) if self.by else [{}]
        numbers = {name: _known(getattr(self, name)) for name in _NUMBERS}
        cells = [
            {
                "by": {name: _plain(label) for name, label in labels[cell].items()},
                "records": self.records[cell].item(),
                "estimator": self.estimator[cell],
                "note": self.note[cell],
                "values": [
                    {"value": value, **{name: numbers[name][cell][code] for name in _NUMBERS}}
                    for code, value in enumerate(values)
                ],
            }
            for cell in range(self.n_cells)
        ]
        return {
            "sensitive": list(self.sensitive),
            "by": list(self.by),
            "where": list(self.where),
            "confidence": self.confidence,
            "n_records": self.n_records,
            "caveats": list(self.caveats),
            "cells": cells,
        }

    def _value_columns(self) -> dict[str, pa.Array]:
        # Each attribute's values for the F columns of the arrays.
        sizes = [len(domain) for domain in self.domains]
        codes = np.unravel_index(np.arange(self.count.shape[1]), sizes)
        parts = zip(self.sensitive, self.domains, codes, strict=True)
        return {name: domain_array(domain).take(pa.array(code)) for name, domain, code in parts}


def _known(numbers: FloatArray) -> list[list[float | None]]:
    return [[None if math.isnan(number) else number for number in row] for row in numbers.tolist()]


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _plain(value: object) -> object:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
