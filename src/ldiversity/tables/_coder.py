"""The public code of each cell of a sensitive column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import CodeArray
from ldiversity.errors import SchemaError
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say
from ldiversity.tables._bins import Bins
from ldiversity.tables._values import domain_array, to_values, value_type

__all__ = ["Coder", "missing_refused"]

_OUTSIDE: Final = -2


@dataclass(frozen=True)
class Coder:
    """How cells of a sensitive column become codes, fitted once to the whole table.

    Parameters
    ----------
    name
        The column.
    domain
        The public values in code order; with edges when the column is binned.
    type
        The Arrow type of a value of the domain.
    missing
        What becomes of missing cells: ``"refuse"``, ``"category"`` or ``"drop"``.

    Examples
    --------
    >>> coder = Coder("disease", Domain(("cold", "flu")), pa.string(), missing="drop")
    >>> coder.codes(pa.array(["flu", "cold", None]))
    array([ 1,  0, -1], dtype=int32)
    """

    name: str
    domain: Domain
    type: pa.DataType
    missing: str = "refuse"

    def codes(self, column: pa.Array | pa.ChunkedArray) -> CodeArray:
        """Return the code of each row, -1 where the row is to be dropped.

        Raises
        ------
        SchemaError
            When cells are missing and that is refused, or lie outside the domain; says how many.
        """
        if isinstance(column, pa.ChunkedArray):
            parts = [self.codes(chunk) for chunk in column.chunks]
            return np.concatenate([np.zeros(0, dtype=np.int32), *parts])
        codes = self._bin_codes(column) if self.domain.edges is not None else self._value_codes(column)
        if self.missing == "refuse":
            n_missing = int(np.count_nonzero(codes == -1))
            if n_missing:
                raise missing_refused("table", self.name, n_missing)
        return codes

    def _bin_codes(self, column: pa.Array) -> CodeArray:
        codes = Bins.assign(column, self.domain.edges or ())
        if self._missing_code != -1:
            codes[codes == -1] = self._missing_code
        return codes

    def _value_codes(self, column: pa.Array) -> CodeArray:
        if pa.types.is_null(column.type):
            return np.full(len(column), self._missing_code, dtype=np.int32)
        if value_type(column.type) is None:
            raise self._other_type(column.type)
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        lookup = self._lookup(coded.dictionary)
        indices = coded.indices
        if indices.null_count:
            indices = pc.fill_null(indices.cast(pa.int64()), len(coded.dictionary))
        codes: CodeArray = lookup[indices.to_numpy()]
        if (lookup == _OUTSIDE).any():
            self._refuse_outside(codes, coded.dictionary)
        return codes

    def _lookup(self, cells: pa.Array) -> CodeArray:
        """The code of each distinct cell, and of a missing one at the end."""
        try:
            values = to_values(cells, self.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            # The cause is left out on purpose: Arrow quotes the cell.
            raise self._other_type(cells.type) from None
        found = pc.fill_null(pc.index_in(values, value_set=self._values, skip_nulls=True), _OUTSIDE)
        lookup = np.empty(len(cells) + 1, dtype=np.int32)
        lookup[:-1] = found.to_numpy()
        lookup[:-1][np.asarray(values.is_null())] = self._missing_code
        lookup[-1] = self._missing_code
        return lookup

    def _refuse_outside(self, codes: CodeArray, cells: pa.Array) -> None:
        n_rows = int(np.count_nonzero(codes == _OUTSIDE))
        if n_rows:
            n_values = int(np.count_nonzero(self._lookup(cells) == _OUTSIDE))
            raise SchemaError(
                "table",
                "must hold values of its domain only",
                column=self.name,
                got=f"{n_rows} rows with {n_values} others",
            ).with_hint("Add the values to the declared domain, or correct the rows.")

    def _other_type(self, kind: pa.DataType) -> SchemaError:
        return SchemaError("table", f"must hold values of the type {self.type}", column=self.name, got=kind).with_hint(
            "Code the same column that the coder was fitted to."
        )

    @cached_property
    def _values(self) -> pa.Array:
        return domain_array(self.domain, self.type)

    @cached_property
    def _missing_code(self) -> int:
        return self.domain.code_of.get(None, -1)


def missing_refused(owner: str, name: str, n_missing: int) -> SchemaError:
    """Build the error for missing cells under the policy ``"refuse"``.

    Examples
    --------
    >>> print(missing_refused("patients.csv", "disease", 3))
    patients.csv: column 'disease' must have a value in every row, got 3 rows without.
    Hint: Use missing='category' to publish them as a value of their own, or missing='drop' to leave them out.
    """
    return SchemaError(owner, "must have a value in every row", column=name, got=f"{n_missing} rows without").with_hint(
        say(
            "Use {} to publish them as a value of their own, or {} to leave them out.",
            Setting("missing", "category"),
            Setting("missing", "drop"),
        )
    )
