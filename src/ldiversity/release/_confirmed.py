"""The columns that a holder confirmed, from a manifest that may come from a stranger."""

from __future__ import annotations

from ldiversity.base.findings import Confirmed
from ldiversity.release._damage import damaged
from ldiversity.release._manifest import Manifest
from ldiversity.schema import Role, Schema

__all__ = ["confirmed_of"]


def confirmed_of(manifest: Manifest, schema: Schema) -> tuple[Confirmed, ...]:
    """What `release.json` says was confirmed; each must be a published column."""
    found = tuple(Confirmed(entry.column, entry.kind, entry.attribute) for entry in manifest.confirmed)
    sensitive = schema.names(Role.SENSITIVE)
    if any(one.column not in schema.names() or one.attribute not in {None, *sensitive} for one in found):
        raise damaged("confirmed columns must be published, and may tell sensitive ones only")
    return found
