"""The independent check of promises about quasi-identifiers: it counts the rows that look alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.errors import ClaimError
from ldiversity.models import sizes_as_classes
from ldiversity.release._check_sets import REPORT_IT
from ldiversity.release._claims import AlikeClaim

__all__ = ["count_alike", "verify_alike"]


def count_alike(batches: Iterable[pa.Table]) -> NDArray[np.int64]:
    """How many rows show each combination of cells; memory grows with the different combinations alone.

    Examples
    --------
    >>> sorted(count_alike([pa.table({"age": ["a", "b"]}), pa.table({"age": ["b", "b"]})]).tolist())
    [1, 3]
    """
    found: pa.Table | None = None
    for batch in batches:
        keys = [f"k{number}" for number in range(batch.num_columns)]
        shown = pa.table([_comparable(column) for column in batch.columns], names=keys)
        counted = shown.group_by(keys).aggregate([([], "count_all")])
        together = counted if found is None else pa.concat_tables([found, counted])
        found = together.group_by(keys).aggregate([("count_all", "sum")]).rename_columns([*keys, "count_all"])
    counts = np.zeros(0, dtype=np.int64) if found is None else found["count_all"].to_numpy()
    return np.asarray(counts, dtype=np.int64)


def _comparable(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells that look alike, alike: one zero, and no number is a missing one."""
    if not pa.types.is_floating(cells.type):
        return cells
    numbers = pc.add(cells, pa.scalar(0.0, cells.type))
    return pc.if_else(pc.is_nan(numbers), pa.scalar(None, cells.type), numbers)


def verify_alike(claims: Sequence[AlikeClaim], batches: Iterable[pa.Table], *, rows_per_record: int = 1) -> None:
    """Check promises about rows that show the same quasi-identifiers, or raise `ClaimError`."""
    if not claims:
        return
    sizes = count_alike(batches)
    for claim in claims:
        failing = claim.rule.failing(sizes_as_classes(sizes // rows_per_record))
        if len(failing):
            raise ClaimError(
                f"{len(failing)} of {len(sizes)} groups of records that look alike break the claim: "
                f"{claim.statement[:-1]}",
                column=claim.attribute,
            ).with_hint(REPORT_IT)
