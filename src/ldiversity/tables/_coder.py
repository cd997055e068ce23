"""Turn the cells of a sensitive column into public codes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import CodeArray
from ldiversity.base.gather import gathered
from ldiversity.base.numbers import counted
from ldiversity.errors import SchemaError
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say, type_word
from ldiversity.tables._bins import Bins
from ldiversity.tables._values import OUTSIDE, code_lookup, distinct_cells, domain_array, value_type

__all__ = ["Coder", "missing_refused"]


@dataclass(frozen=True)
class Coder:
    """How cells of a sensitive column become codes; fitted once to the whole table.

    The column is binned if the domain has edges. `type` is the Arrow type of a value of the domain. `missing` says
    what to do with missing cells: ``"refuse"``, ``"category"`` or ``"drop"``.

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
        distinct, positions = distinct_cells(column)
        try:
            lookup = code_lookup(distinct, self._values, self._missing_code)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            # The cause is left out on purpose: Arrow quotes the cell.
            raise self._other_type(distinct.type) from None
        codes = gathered(lookup, positions)
        n_rows = int(np.count_nonzero(codes == OUTSIDE)) if OUTSIDE in lookup else 0
        if n_rows:
            n_values = int(np.count_nonzero(lookup == OUTSIDE))
            raise SchemaError(
                "table",
                "must hold values of its domain only",
                column=self.name,
                got=f"{counted(n_rows, 'row')} with {counted(n_values, 'other')}",
            ).with_hint("Add the values to the declared domain, or correct the rows.")
        return codes

    def _other_type(self, kind: pa.DataType) -> SchemaError:
        return SchemaError(
            "table", f"must hold values of the type {type_word(self.type)}", column=self.name, got=kind
        ).with_hint("Code the same column that the coder was fitted to.")

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
    return SchemaError(
        owner, "must have a value in every row", column=name, got=f"{counted(n_missing, 'row')} without"
    ).with_hint(
        say(
            "Use {} to publish them as a value of their own, or {} to leave them out.",
            Setting("missing", "category"),
            Setting("missing", "drop"),
        )
    )
