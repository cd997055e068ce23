"""The JSON Schemas of ``docs/schemas``; ``python -m ldiversity.faces.cli.schemas docs/schemas`` writes them there.

Publications, releases and surveys are files that this package reads. Every answer has a schema too: answers are found,
not listed, and their schemas are made from the types of their fields.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from functools import cache, partial
from importlib import import_module
from inspect import cleandoc, getattr_static
from pathlib import Path
from pkgutil import walk_packages
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from ldiversity.base.answers import Answer, Document, parts_of

__all__ = ["answers", "documents", "json_schema", "schema_text", "write_schemas"]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Final[Mapping[Any, str]] = MappingProxyType(
    {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null", dict: "object"}
)
_TOLD: Final = re.compile(r"^(?:Attributes|Parameters)\n-+\n(.*?)(?=^\w+\n-+$|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY: Final = re.compile(r"^(\S.*)\n((?:[ ]+.*\n?|\n)+)", re.MULTILINE)


@cache
def answers() -> Mapping[str, type[Answer]]:
    """Every answer of this package, by the name of its schema.

    Examples
    --------
    >>> {"audit", "plan", "estimate"} <= set(answers())
    True
    """
    package = import_module("ldiversity")
    for module in walk_packages(package.__path__, "ldiversity."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    kinds = [Answer]
    for kind in kinds:
        kinds += kind.__subclasses__()
    own = (kind for kind in kinds if "schema" in vars(kind) and kind.__module__.startswith("ldiversity."))
    return MappingProxyType({kind.schema: kind for kind in own})


def documents() -> list[str]:
    """The names of all documents that have a schema."""
    return sorted([*_files(), *answers()])


def json_schema(document: str) -> Document:
    """The JSON Schema of a file that this package reads, or of an answer; a fault is one, too.

    Examples
    --------
    >>> json_schema("release")["title"], json_schema("audit")["properties"]["schema"]
    ('Manifest', {'const': 'audit'})
    """
    files = _files()
    written = files[document]() if document in files else _answer_schema(answers()[document])
    plain: Document = _plain(written)
    return plain


def _files() -> Mapping[str, Callable[[], Document]]:
    """The files and messages that are read, by the names of their schemas."""
    from ldiversity.collection.survey import DraftForm, Report, SignedForm, Survey
    from ldiversity.faces.report import Committee
    from ldiversity.publish import Publication
    from ldiversity.release import Manifest

    models: dict[str, type[BaseModel]] = {
        "release": Manifest,
        "survey": Survey,
        "survey-draft": DraftForm,
        "survey-report": Report,
        "survey-signed": SignedForm,
    }
    return {
        "committee": lambda: _answer_schema(Committee),
        "publication": Publication.json_schema,
        **{name: partial(_model_schema, model) for name, model in models.items()},
    }


def _model_schema(model: type[BaseModel]) -> Document:
    return {"$schema": _DIALECT, **model.model_json_schema()}


def _answer_schema(kind: type) -> Document:
    parts: dict[str, Document] = {}
    top = _object(kind, parts)
    return {"$schema": _DIALECT, **top, **({"$defs": parts} if parts else {})}


def _object(kind: type, parts: dict[str, Document]) -> Document:
    """The schema of a dataclass; those that it holds are added to `parts`."""
    properties, required = _properties(kind, parts)
    if issubclass(kind, Answer):
        properties = {"schema": {"const": kind.schema}, "version": {"const": kind.version}, **properties}
        required = ["schema", "version", *required]
    about = " ".join(cleandoc(kind.__doc__ or "").partition("\n\n")[0].split())
    return {
        "title": kind.__name__,
        "description": about,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _properties(kind: type, parts: dict[str, Document]) -> tuple[dict[str, Document], list[str]]:
    properties: dict[str, Document] = {}
    required: list[str] = []
    told = _descriptions(kind)
    for part in parts_of(kind):
        if part.key is None:
            more, needed = _properties(part.type, parts)
            properties |= more
            required += needed
            continue
        about = {"description": told[part.name]} if part.name in told else {}
        properties[part.key] = {**about, **_schema(part.type, parts)}
        required += [] if part.optional else [part.key]
    return properties, required


def _descriptions(kind: type) -> dict[str, str]:
    """What the docstrings of a class, and of its facts, say about each attribute."""
    told: dict[str, str] = {}
    for cls in reversed(kind.__mro__):
        section = _TOLD.search(cleandoc(cls.__doc__ or ""))
        for names, text in _ENTRY.findall(f"{section[1]}\n") if section else ():
            told |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    for part in parts_of(kind):
        made = getattr_static(kind, part.name, None)
        if isinstance(made, property):
            told[part.name] = " ".join((made.__doc__ or "").partition("\n\n")[0].split())
    return told


def _schema(hint: Any, parts: dict[str, Document]) -> Document:  # noqa: ANN401, PLR0911 - a type; one case for each kind
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:  # a number that may be infinite
        return {"type": ["number", "null"]}
    if origin is Literal:
        return {"enum": list(inside)}
    if origin in {Union, UnionType}:
        return _either([_schema(one, parts) for one in inside])
    if origin is tuple and (len(inside) != 2 or inside[1] is not Ellipsis):  # noqa: PLR2004 - of any length
        items = [_schema(one, parts) for one in inside]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(inside[1], parts)}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _schema(inside[0], parts)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [one.value for one in hint]}
    if is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in parts:
            parts[hint.__name__] = {}  # before its own parts, which may hold it again
            parts[hint.__name__] = _object(hint, parts)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return {"type": _PLAIN[hint]} if hint in _PLAIN else {}


def _either(choices: Sequence[Document]) -> Document:
    """One of several, as a list of types where that says it all.

    Examples
    --------
    >>> _either([{"type": "integer"}, {"type": "null"}])
    {'type': ['integer', 'null']}
    """
    if all(set(one) == {"type"} for one in choices):
        return {"type": [one["type"] for one in choices]}
    return {"anyOf": list(choices)}


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
    for document in documents():
        (folder / f"{document}.schema.json").write_text(schema_text(document), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))
