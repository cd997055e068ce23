"""The independent check of promises about quasi-identifiers: it counts the rows that look alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from ldiversity.base.combinations import Combinations, Sizes
from ldiversity.base.numbers import counted_of
from ldiversity.errors import ClaimError
from ldiversity.release._check_sets import REPORT_IT
from ldiversity.release._claims import AlikeClaim

__all__ = ["count_alike", "verify_alike"]


def count_alike(batches: Iterable[pa.Table], *, rows_per_record: int = 1) -> Sizes:
    """How many combinations of cells are shown by how many records; memory does not grow with them.

    Examples
    --------
    >>> count_alike([pa.table({"age": ["a", "b"]}), pa.table({"age": ["b", "b"]})])
    Sizes(sizes=array([1, 3]), numbers=array([1, 1]))
    """
    seen = Combinations()
    for batch in batches:
        seen.add(batch)
    found = seen.sizes()
    return found if rows_per_record == 1 else Sizes(found.sizes // rows_per_record, found.numbers)


def verify_alike(claims: Sequence[AlikeClaim], batches: Iterable[pa.Table], *, rows_per_record: int = 1) -> None:
    """Check promises about rows that show the same quasi-identifiers, or raise `ClaimError`."""
    if not claims:
        return
    sizes = count_alike(batches, rows_per_record=rows_per_record)
    for claim in claims:
        failing = claim.rule.failing_sizes(sizes)
        if failing:
            raise ClaimError(
                f"{_of_groups(failing, sizes.n_combinations)} the claim: {claim.statement[:-1]}",
                column=claim.attribute,
            ).with_hint(REPORT_IT)


def _of_groups(n: int, whole: int) -> str:
    groups = "group of records that look alike|groups of records that look alike"
    return counted_of(n, whole, groups, "breaks", "break")
