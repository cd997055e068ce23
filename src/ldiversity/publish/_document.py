"""A publication as a TOML file: read, checked key by key, and written.

::

    [table]
    quasi = ["age", "sex", "zip"]
    drop = ["name"]
    types = { zip = "text" }

    [sensitive.disease]
    method = "semantic"
    l = 3
    d = 2
    distance = "tree:diseases.csv"

A method that groups records hides all sensitive columns together, so it has a section of its own::

    [sensitive.disease]

    [method]
    name = "bsgi"
    l = 4

Paths in it are relative to the file. A JSON Schema for it is in ``docs/schemas/publication.schema.json``.
"""

from __future__ import annotations

import os
import tomllib
import types
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ConfigDict, Field, ValidationError, create_model

from ldiversity.base.outputs import check_outside_releases
from ldiversity.base.randomness import Key
from ldiversity.catalog import OPTIONS
from ldiversity.errors import ParameterError, StorageError
from ldiversity.hierarchies import Hierarchy
from ldiversity.publish._hierarchies import is_made
from ldiversity.publish._level_texts import as_level
from ldiversity.publish._levels import Level
from ldiversity.publish._method import ChosenMethod, relative, usual_method
from ldiversity.publish._policy_parts import (
    BinsPolicy,
    KeyPolicy,
    MethodPolicy,
    OutputPolicy,
    Part,
    SensitivePolicy,
    TablePolicy,
    check_method,
    completed,
)
from ldiversity.publish._text_levels import TreeLevel
from ldiversity.publish._toml import write_toml
from ldiversity.sentences import Setting, say
from ldiversity.tables import ReadOptions, Sensitive

if TYPE_CHECKING:
    from ldiversity.publish._publication import Publication

__all__ = ["Document", "json_schema", "publication_of", "read_document", "save_publication"]

_MOST_BYTES: Final = 16 * 1024 * 1024
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_GUIDE: Final = "See docs/guides/command-line.md."
_SENSITIVE_DEPTH: Final = 2
_BINS: Final = tuple(BinsPolicy.model_fields)
_READING: Final = {one.name for one in fields(ReadOptions)}
"""The keys of [table] that say how a table is read."""

_KEYS: Final = {
    **{name: f"table.{name}" for name in TablePolicy.model_fields},
    **{name: f"output.{name}" for name in OutputPolicy.model_fields},
    **dict.fromkeys(("key", "record_id"), "key"),
    "levels": "table.publish",
    "sensitive": "sensitive",
    "model": "table.model",
    "stable_order": "key.stable_order",
}
"""The key of the file for each argument in Python."""


class Document(Part):
    """A publication as a reviewed file; it may also name a table and a folder for the release."""

    model_config = ConfigDict(title="Publication")

    table: TablePolicy = Field(default=TablePolicy(), description="The roles of the columns, and a table.")
    sensitive: dict[str, SensitivePolicy] = Field(
        default={}, description="The sensitive columns by name; only methods that generalize can do without any."
    )
    method: MethodPolicy | None = Field(
        default=None, description="A method that groups records, for all sensitive columns together."
    )
    output: OutputPolicy = Field(default=OutputPolicy(), description="The form of the release, and a folder for it.")
    key: KeyPolicy | None = Field(default=None, description="Keyed draws.")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a publication's file."""
    return {"$schema": _DIALECT, **Document.model_json_schema()}


def read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file: `StorageError` when it cannot be read, `ParameterError` when it is not TOML."""
    file = Path(path)
    try:
        with file.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise StorageError(
            "policy", f"file {str(file)!r} cannot be read: {error.strerror}", hint="Name a policy file."
        ) from None
    if len(content) > _MOST_BYTES:
        raise ParameterError("policy", f"file {str(file)!r} must be at most {_MOST_BYTES} bytes long")
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        why = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is not in UTF-8"
        raise ParameterError("policy", f"file {str(file)!r} must be TOML: {why}", hint=_GUIDE) from None


def publication_of(described: Mapping[str, Any], folder: Path) -> tuple[Document, Publication]:
    """Check the content of a file, and make the publication that it describes; relative paths start at `folder`."""
    from ldiversity.publish._publication import Publication

    try:
        document = _document().model_validate(described)
    except ValidationError as error:
        raise _first_fault(error) from None
    _check_sections(document)
    table, output, key = document.table, document.output, document.key
    decisions = {
        **table.model_dump(exclude={"file", "publish", *_READING}),
        "read": table.model_dump(include=_READING),
        **output.model_dump(include={"marginals", "layout"}),
        "hierarchies": {name: text if is_made(text) else folder / text for name, text in table.hierarchies.items()},
        "levels": _levels(table.publish, folder),
        "sensitive": [_column(name, entry) for name, entry in document.sensitive.items()],
        "method": _methods(document, folder),
        "data_format": output.format,
        "key": None if key is None or key.file is None else folder / key.file,
        "record_id": None if key is None else key.record_id,
        "stable_order": key is not None and key.stable_order,
    }
    try:
        return document, Publication(**decisions)
    except ParameterError as error:
        place = _KEYS.get(str(error.parameter))
        raise error if place is None else ParameterError("policy", place, error.rule, hint=_GUIDE) from None


def save_publication(publication: Publication, path: Path) -> None:
    """Write a publication to a file; paths below its folder become relative."""
    check_outside_releases("publication", path, "file")
    if Key.is_in(path):
        raise ParameterError("publication", f"file {str(path)!r} must not be that of a key").with_hint(
            "Choose another name; overwriting a key makes keyed releases impossible to repeat."
        )
    text = write_toml(_described(publication, Path(os.path.abspath(path.parent))))  # noqa: PTH100 - links stay links
    if path.is_file() and not is_publication(path):
        raise ParameterError("publication", f"file {str(path)!r} must be new or a publication's").with_hint(
            "It holds something else, maybe a table: choose another name, or remove it first."
        )
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StorageError("publication", f"file {str(path)!r} cannot be written: {error.strerror}") from None


def is_publication(path: Path) -> bool:
    """Whether a file is TOML that names sensitive columns, as every publication does; then it may be replaced."""
    try:
        with path.open("rb") as file:
            said = {} if not file.read(1) else tomllib.loads(path.read_text(encoding="utf-8"))
            return not said or "sensitive" in said or {"table", "method"} <= said.keys()
    except (OSError, ValueError):
        return False


def _described(publication: Publication, folder: Path) -> dict[str, Any]:
    """The content of the file, without what is left at its default."""
    named = {"file", "publish", "model", *_READING}
    table = {name: getattr(publication, name) for name in TablePolicy.model_fields if name not in named}
    table |= publication.read.given
    models = [model.text for model in publication.model]
    levels = {name: _level_text(name, level, folder) for name, level in publication.levels.items()}
    hierarchies = {name: _hierarchy_text(name, one, folder) for name, one in publication.hierarchies.items()}
    sensitive = {one.name: _column_dict(one) for one in publication.sensitive}
    method: dict[str, Any] = {}
    if isinstance(publication.method, ChosenMethod):
        method = {"name": publication.method.name, **publication.method.to_dict(folder)}
    else:
        for name, chosen in publication.method.items():
            sensitive[name] = {"method": chosen.name, **chosen.to_dict(folder), **sensitive[name]}
    key = None if publication.key is None else relative(publication.key, folder)
    output = {
        "format": publication.data_format,
        "layout": publication.layout,
        "marginals": publication.marginals,
    }
    sections: dict[str, dict[str, Any]] = {
        "table": _said({**table, "hierarchies": hierarchies, "publish": levels, "model": models}),
        "sensitive": sensitive,
        "method": method,
        "output": _said(output),
        "key": _said({"file": key, "record_id": publication.record_id, "stable_order": publication.stable_order}),
    }
    return {name: section for name, section in sections.items() if section}


def _said(section: dict[str, Any]) -> dict[str, Any]:
    """A section without its empty entries: no names, no file, a switch that is off."""
    return {name: value for name, value in section.items() if value}


def _hierarchy_text(name: str, given: Hierarchy | str | Path, folder: Path) -> str:
    if isinstance(given, Hierarchy):
        raise ParameterError(
            "Publication",
            f"the hierarchy of {name!r} must be in a file to be saved",
            hint="Write it with Hierarchy.save, and name that file instead.",
        )
    return given if isinstance(given, str) else relative(given, folder)


def _level_text(name: str, level: Level, folder: Path) -> str:
    if not isinstance(level, TreeLevel):
        return str(level)
    return f"{_hierarchy_text(name, level.tree, folder)}:{level.level}"


def _levels(given: Mapping[str, str], folder: Path) -> dict[str, Level]:
    try:
        return {name: as_level(name, text, folder) for name, text in given.items()}
    except ParameterError as error:
        raise ParameterError("policy", "table.publish", error.rule, got=error.got, hint=error.hint) from None


def _column_dict(one: Sensitive) -> dict[str, Any]:
    odd = [value for value in one.domain or () if not isinstance(value, str | int | float)]
    if odd:
        raise ParameterError(
            "Publication",
            f"the domain of {one.name!r} must hold texts, numbers and truth values to be saved",
            got=type(odd[0]).__name__,
        ).with_hint(say("Give the values as texts; {} makes a value of missing ones.", Setting("missing", "category")))
    bins = {name: getattr(one, name) for name in _BINS if getattr(one, name) is not None}
    return {
        **({} if one.domain is None else {"domain": list(one.domain)}),
        **({} if one.missing == "refuse" else {"missing": one.missing}),
        **({"bins": bins} if bins else {}),
    }


def _document() -> type[Document]:
    """The sections, with the options of every method that is registered now."""
    sensitive, method = completed(SensitivePolicy, "sets"), completed(MethodPolicy, "classes")
    if (sensitive, method) == (SensitivePolicy, MethodPolicy):
        return Document
    known: dict[str, Any] = {
        "sensitive": (types.GenericAlias(dict, (str, sensitive)), Document.model_fields["sensitive"]),
        "method": (method | None, Document.model_fields["method"]),
    }
    document: type[Document] = create_model("Document", __base__=Document, **known)
    return document


def _methods(document: Document, folder: Path) -> ChosenMethod | dict[str, ChosenMethod]:
    if document.method is not None:
        return _make("method", document.method.name, document.method, folder)
    return {name: _method(name, entry, folder) for name, entry in document.sensitive.items()}


def _method(name: str, entry: SensitivePolicy, folder: Path) -> ChosenMethod:
    method = entry.method or usual_method(getattr(entry, "d", None))
    hint = f'It groups records: write [method] with name = "{method}".'
    check_method(f"sensitive.{name}.method", method, "sets", hint)
    return _make(f"sensitive.{name}", method, entry, folder)


def _make(key: str, method: str, section: Part, folder: Path) -> ChosenMethod:
    options = {name: getattr(section, name) for name in OPTIONS if name in type(section).model_fields}
    try:
        return ChosenMethod.named(method, options, folder)
    except ParameterError as error:
        raise ParameterError("policy", say("{}: {}", key, error.message), hint=error.hint) from None


def _column(name: str, entry: SensitivePolicy) -> Sensitive:
    bins = {} if entry.bins is None else entry.bins.model_dump()
    try:
        return Sensitive(name, domain=entry.domain, missing=entry.missing, **bins)
    except ParameterError as error:
        raise ParameterError("policy", say("sensitive.{}: {}", name, error.message), hint=error.hint) from None


def _check_sections(document: Document) -> None:
    """Refuse a method in [method] that does not group records, and other methods in the sections of columns."""
    if document.method is None:
        return
    check_method("method.name", document.method.name, "classes", "Name it in the section of each sensitive column.")
    for name, entry in document.sensitive.items():
        for option in ("method", *OPTIONS):
            if getattr(entry, option, None) is not None:
                why = "must be left out with [method], which groups records for all sensitive columns together"
                raise ParameterError("policy", f"sensitive.{name}.{option}", why, hint=_GUIDE)


def _first_fault(error: ValidationError) -> ParameterError:
    """The first fault, in one sentence that names the key."""
    first = error.errors(include_url=False, include_input=False)[0]
    path = [str(part) for part in first["loc"]]
    # Below an option, pydantic names which of its kinds of values it tried.
    place = {"sensitive": 2, "method": 1}.get(path[0], len(path)) if path else 0
    path = path[: place + 1] if path[place : place + 1] and path[place] in OPTIONS else path
    key = ".".join(path) or "the file"
    if first["type"] == "missing":
        return ParameterError("policy", key, "must be given", hint=_GUIDE)
    if first["type"] == "extra_forbidden":
        known = ", ".join(_section(path[:-1]).model_fields)
        return ParameterError("policy", f"{key} is not a key of a policy", hint=f"Known keys there are {known}.")
    return ParameterError("policy", f"{key} breaks its rule: {first['msg'][0].lower()}{first['msg'][1:]}")


def _section(path: list[str]) -> type[Part]:
    if path[:1] == ["sensitive"]:
        return BinsPolicy if path[-1] == "bins" and len(path) > _SENSITIVE_DEPTH else SensitivePolicy
    sections: dict[str, type[Part]] = {
        "table": TablePolicy,
        "method": MethodPolicy,
        "output": OutputPolicy,
        "key": KeyPolicy,
    }
    return sections[path[0]] if path else Document
