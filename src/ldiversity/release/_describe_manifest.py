"""The manifest of a release that is about to be written."""

from __future__ import annotations

from typing import Any

from ldiversity._version import __version__
from ldiversity.release._claims import Claim, ClassClaim
from ldiversity.release._description import ClassDescription, ReleaseDescription
from ldiversity.release._manifest import ColumnEntry, ConfirmedEntry, DataEntry, Manifest, SensitiveEntry
from ldiversity.schema import Role

__all__ = ["manifest_of", "promised"]


def manifest_of(
    description: ReleaseDescription | ClassDescription,
    data: DataEntry,
    *,
    records: int,
    **more: Any,  # noqa: ANN401 - as `Manifest` takes it
) -> Manifest:
    """The manifest of a release; `more` is what only releases of classes say."""
    schema = description.schema
    columns = [
        {
            "name": one.name,
            "role": one.role.value,
            "type": one.type,
            "dtype": one.dtype,
            "categories": list(one.categories) if one.dtype == "ordered" else None,
        }
        for one in schema.attributes
    ]
    sensitive = [
        {"attribute": name, "domain": schema.domain(name).to_dict(), **promised(description, name)}
        for name in schema.names(Role.SENSITIVE)
    ]
    several = not all(one.is_one for one in (data, *(more["classes"].tables if "classes" in more else ())))
    return Manifest(
        version=2 if several else 1,
        software=f"ldiversity {__version__}",
        records=records,
        columns=[ColumnEntry.model_validate(column) for column in columns],
        sensitive=[SensitiveEntry.model_validate(entry) for entry in sensitive],
        data=data,
        person=description.person,
        collected=getattr(description, "collected", False),
        not_protected=list(description.not_protected),
        confirmed=[ConfirmedEntry(**vars(one)) for one in description.confirmed],
        **more,
    )


def promised(description: ReleaseDescription | ClassDescription, name: str) -> dict[str, Any]:
    """How an attribute was hidden, or records were grouped, and what is claimed about it."""
    first, *further = [_claim_dict(claim) for claim in description.claims if claim.attribute == name]
    return {"mechanism": description.mechanisms[name].to_dict(), "claim": first, "further_claims": further}


def _claim_dict(claim: Claim | ClassClaim) -> dict[str, Any]:
    said = {name: getattr(claim, name) for name in ("model", "l", "d", "posterior", "statement")}
    if isinstance(claim, ClassClaim):
        return {**said, "rule": claim.rule.to_dict()}
    return {**said, "epsilon": claim.epsilon}
