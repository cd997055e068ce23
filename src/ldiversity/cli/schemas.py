"""The JSON Schemas of ``docs/schemas``; ``python -m ldiversity.cli.schemas docs/schemas`` writes them there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

__all__ = ["DOCUMENTS", "json_schema", "schema_text", "write_schemas"]

DOCUMENTS: Final = ("policy", "release")
"""The documents that have a schema."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def json_schema(document: str) -> dict[str, Any]:
    """The JSON Schema of a policy file or of ``release.json``.

    Examples
    --------
    >>> json_schema("release")["title"]
    'Manifest'
    """
    if document == "policy":
        from ldiversity.policy import Policy

        return Policy.json_schema()
    from ldiversity.release import Manifest

    return {"$schema": _DIALECT, **Manifest.model_json_schema()}


def schema_text(document: str) -> str:
    """The schema as it is written to its file."""
    return json.dumps(json_schema(document), indent=2, sort_keys=True) + "\n"


def write_schemas(folder: Path) -> None:
    """Write ``<document>.schema.json`` for each document."""
    folder.mkdir(parents=True, exist_ok=True)
    for document in DOCUMENTS:
        (folder / f"{document}.schema.json").write_text(schema_text(document), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))
