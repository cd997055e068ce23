"""Re-checking claims on the rows themselves, as a stranger would read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import pyarrow as pa

from ldiversity.base.arrays import CodeArray, FloatArray, SetArray
from ldiversity.distances import Distance
from ldiversity.errors import ClaimError
from ldiversity.release._batches import RowBatch
from ldiversity.release._check_alike import verify_alike
from ldiversity.release._check_sets import verify_exploded, verify_sets
from ldiversity.release._claims import AlikeClaim, Claim
from ldiversity.release._description import ReleaseDescription
from ldiversity.schema import Role

__all__ = ["Rows", "SetChecks", "verify_rows", "verify_together"]


class Rows(Protocol):
    """The rows of a release, in memory or in a folder."""

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Columns that are not sensitive, in row order."""

    def sets(self, attribute: str) -> SetArray:
        """All sets of an attribute."""

    def iterate_sets(self, attribute: str) -> Iterator[SetArray]:
        """The sets of an attribute as they were written, a batch at a time."""

    def members(self, attribute: str) -> CodeArray:
        """The codes of an exploded attribute."""

    def batches(self, names: Sequence[str], attributes: Sequence[str]) -> Iterator[RowBatch]:
        """Columns that are not sensitive, and sets or members of attributes, some rows at a time."""


def verify_rows(rows: Rows, description: ReleaseDescription, *, n_records: int) -> None:
    """Raise `ClaimError` unless every sensitive attribute has a claim and every row satisfies it."""
    verify_together(rows, description)
    _verify_each_row(rows, description, n_records=n_records)


def verify_together(rows: Rows, description: ReleaseDescription) -> None:
    """Check what only all rows together can show: claims about records that look alike, and all about exploded rows."""
    sensitive = description.schema.names(Role.SENSITIVE)
    if {claim.attribute for claim in description.claims} != set(sensitive):
        raise ClaimError("release", "every sensitive attribute must have a claim")
    quasi = description.schema.names(Role.QUASI)
    alike = [claim for claim in description.claims if isinstance(claim, AlikeClaim)]
    per_record = _rows_per_record(description)
    verify_alike(alike, (_columns(batch) for batch in rows.batches(quasi, [])), rows_per_record=per_record)
    if description.layout == "exploded":
        for claim in (one for one in description.claims if isinstance(one, Claim)):
            others = description.schema.names(Role.QUASI, Role.PLAIN)
            shown = ((batch.columns, batch.codes[claim.attribute]) for batch in rows.batches(others, [claim.attribute]))
            n_values = len(description.schema.domain(claim.attribute))
            verify_exploded(claim, shown, n_values, _distances(claim, description))


def _verify_each_row(rows: Rows, description: ReleaseDescription, *, n_records: int) -> None:
    """Check what each row shows by itself: every set, where rows have sets; there must be so many."""
    checks = SetChecks(description)
    for attribute in checks.attributes:
        for sets in rows.iterate_sets(attribute):
            checks.see(attribute, sets)
    checks.finish(n_records)


class SetChecks:
    """Checks of what each row shows by itself, some rows at a time: every set, where rows have sets."""

    def __init__(self, description: ReleaseDescription) -> None:
        claims = [one for one in description.claims if isinstance(one, Claim)] if description.layout == "sets" else []
        self._claims = [
            (claim, len(description.schema.domain(claim.attribute)), _distances(claim, description)) for claim in claims
        ]
        self.attributes = tuple(dict.fromkeys(claim.attribute for claim in claims))
        self._seen = dict.fromkeys(self.attributes, 0)

    def see(self, attribute: str, sets: SetArray) -> None:
        """Raise `ClaimError` if a set of the attribute breaks a claim."""
        for claim, n_values, distances in self._claims:
            if claim.attribute == attribute:
                verify_sets(claim, sets, n_values, distances)
        self._seen[attribute] += len(sets)

    def finish(self, n_records: int) -> None:
        """Raise `ClaimError` unless so many records were seen."""
        for attribute, seen in self._seen.items():
            if seen != n_records:
                raise ClaimError(f"there must be {n_records} records", column=attribute, got=seen)


def _columns(batch: RowBatch) -> pa.Table:
    nothing = pa.table({"": pa.nulls(batch.n_rows, pa.int8())})
    return batch.columns if batch.columns.num_columns else nothing


def _rows_per_record(description: ReleaseDescription) -> int:
    if description.layout == "sets":
        return 1
    return next(claim.l for claim in description.claims if isinstance(claim, Claim))


def _distances(claim: Claim, description: ReleaseDescription) -> FloatArray | None:
    distance: Distance | None = getattr(description.mechanisms[claim.attribute], "distance", None)
    return None if distance is None else distance.matrix(description.schema.domain(claim.attribute))
