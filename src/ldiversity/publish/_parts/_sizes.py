"""How large the parts of a table may be, and whether it is cut into parts at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ldiversity.base.numbers import in_bytes
from ldiversity.errors import ParameterError
from ldiversity.publish._prepare import Preparation

__all__ = ["PartSizes", "part_sizes"]

_COMPILED: Final = 190_000_000
"""What compiled loops and the tables of the run take, besides what every run takes."""

_ROW_BYTES: Final = 700
_COLUMN_BYTES: Final = 30
"""What a row takes while its part is grouped, and each of its columns besides; with room for parts that are joined."""

_LEAST_ROWS: Final = 20_000
"""Smaller parts would lose much more than larger ones."""


@dataclass(frozen=True)
class PartSizes:
    """How many rows a part shall have at most.

    Examples
    --------
    >>> PartSizes(1000).number(2500)
    3
    """

    most: int

    @property
    def largest(self) -> int:
        """How many rows a part may have where several had to be put together."""
        return 2 * self.most

    def number(self, n_rows: int) -> int:
        """How many parts a table is cut into."""
        return max(1, -(-n_rows // self.most))


def part_sizes(preparation: Preparation) -> PartSizes | None:
    """How large parts may be within the memory of the engine; None when all records are grouped at once."""
    engine, memory = preparation.engine, preparation.engine.memory
    if memory is None:
        # An engine that may do work again has workers of its own, and no place for all rows.
        return PartSizes(max(engine.chunk_rows, _LEAST_ROWS)) if engine.orders_by_key else None
    per_row = _ROW_BYTES + _COLUMN_BYTES * len(preparation.schema.names())
    most = (memory.for_rows - _COMPILED) // per_row
    if preparation.n_rows <= most:
        return None
    if most < _LEAST_ROWS:
        least = memory.bytes + _LEAST_ROWS * per_row - (memory.for_rows - _COMPILED)
        raise ParameterError(
            f"must be at least {in_bytes(least)} for methods that group records",
            parameter="memory",
            got=in_bytes(memory.bytes),
        ).with_hint(f"Parts of fewer than {_LEAST_ROWS} records would lose too much.")
    return PartSizes(int(most))
