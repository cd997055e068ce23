"""The JSON Schemas of ``docs/schemas``; ``python -m ldiversity.faces.cli.schemas docs/schemas`` writes them there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

__all__ = ["DOCUMENTS", "json_schema", "schema_text", "write_schemas"]

DOCUMENTS: Final = ("publication", "release", "fault")
"""The documents that have a schema."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def json_schema(document: str) -> dict[str, Any]:
    """The JSON Schema of a publication's file, of ``release.json``, or of what a command prints when it fails.

    Examples
    --------
    >>> json_schema("release")["title"]
    'Manifest'
    """
    if document == "publication":
        from ldiversity.publish import Publication

        written = Publication.json_schema()
    elif document == "fault":
        from ldiversity.faces.cli._fault_document import fault_schema

        written = {"$schema": _DIALECT, **fault_schema()}
    else:
        from ldiversity.release import Manifest

        written = {"$schema": _DIALECT, **Manifest.model_json_schema()}
    plain: dict[str, Any] = _plain(written)
    return plain


def _plain(part: Any) -> Any:  # noqa: ANN401 - any part of a JSON document
    """The same schema whichever version of pydantic wrote it: some say more than is needed, or 0.0 for 0.

    Examples
    --------
    >>> _plain({"const": 1, "enum": [1], "minimum": 0.0, "additionalProperties": True})
    {'const': 1, 'minimum': 0}
    """
    if isinstance(part, dict):
        needless = {"enum"} if "const" in part else set()
        needless |= {"additionalProperties"} if part.get("additionalProperties") is True else set()
        return {key: _plain(value) for key, value in part.items() if key not in needless}
    if isinstance(part, list):
        return [_plain(value) for value in part]
    return int(part) if isinstance(part, float) and part.is_integer() else part


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
