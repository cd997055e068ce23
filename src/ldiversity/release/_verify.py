"""Re-checking claims on the rows that were written, as a stranger would read them."""

from __future__ import annotations

from ldiversity.errors import ClaimError
from ldiversity.privacy import Claim, verify_exploded, verify_sets
from ldiversity.release._read import FolderData
from ldiversity.schema import Role

__all__ = ["verify_data"]


def verify_data(data: FolderData, claims: tuple[Claim, ...]) -> None:
    """Raise `ClaimError` unless every sensitive attribute has a claim and every written row satisfies it."""
    sensitive = data.schema.names(Role.SENSITIVE)
    if {claim.attribute for claim in claims} != set(sensitive):
        raise ClaimError("release: every sensitive attribute must have a claim.")
    for claim in claims:
        mechanism = data.mechanisms[claim.attribute]
        domain = data.schema.domain(claim.attribute)
        if data.manifest.data.layout == "exploded":
            others = [name for name in data.schema.names() if name not in sensitive]
            verify_exploded(claim, data.columns(others), data.members(claim.attribute))
            continue
        distance = getattr(mechanism, "distance", None)
        distances = None if distance is None else distance.matrix(domain)
        rows = 0
        for sets in data.iterate_sets(claim.attribute):
            verify_sets(claim, sets, len(domain), distances)
            rows += len(sets)
        if rows != data.manifest.records:
            raise ClaimError(f"{claim.attribute}: the file must hold {data.manifest.records} records, got {rows}.")
