"""``release.json``: the public description of a release, as typed data.

The models below are the format. A JSON Schema made from them is published in ``docs/schemas``. Version 1 will always
be read; a later version may add fields, never change the meaning of one. Version 2 has rows in several files; a
release of one file is of version 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from ldiversity.base.limits import (
    MOST_CLAIMS,
    MOST_COLUMNS,
    MOST_LEVELS,
    MOST_MANIFEST_BYTES,
    MOST_MANIFEST_PARTS,
    MOST_VALUES,
)
from ldiversity.errors import ReleaseFormatError, SchemaError
from ldiversity.release._entry import Entry, SparseEntry, Text
from ldiversity.release._file_entries import DataEntry, FileEntry, TableEntry
from ldiversity.release._json import has_few_parts, parse_json
from ldiversity.schema import Dtype

__all__ = [
    "MANIFEST_NAME",
    "ClaimEntry",
    "ClassesEntry",
    "ColumnEntry",
    "ConfirmedEntry",
    "DataEntry",
    "FileEntry",
    "FormEntry",
    "Manifest",
    "MarginalEntry",
    "NodeEntry",
    "PeopleEntry",
    "SensitiveEntry",
    "TableEntry",
    "manifest_text",
    "no_cell_in_faults",
    "read_manifest",
]

MANIFEST_NAME: Final = "release.json"

# One fault of a list is enough (`fail_fast`): a stranger can write millions, each of which would be described.
_Texts = Annotated[list[Text], Field(fail_fast=True)]
_Path = Annotated[list[Text], Field(max_length=MOST_LEVELS, fail_fast=True)]
_Value = str | int | float | bool | None


def _few_keys(said: object) -> object:
    """Refuse an object with too many keys before each of them is checked."""
    if isinstance(said, dict) and len(said) > MOST_COLUMNS:
        raise ValueError(f"must have at most {MOST_COLUMNS} keys")
    return said


class ColumnEntry(SparseEntry):
    """A published column."""

    later = frozenset({"dtype", "categories"})
    name: Text
    role: Literal["quasi", "sensitive", "plain"]
    type: Text = Field(description="Arrow type of a cell; of one member for a sensitive attribute.")
    dtype: Dtype | None = Field(
        default=None,
        description="What the type does not say about the column of the source, such as that it was a category.",
    )
    categories: Annotated[list[Text], Field(max_length=MOST_VALUES, fail_fast=True)] | None = Field(
        default=None, description="Of the dtype ordered: the values that occur, as texts, in their order."
    )


class DomainEntry(Entry):
    """The public values of a sensitive attribute, in code order."""

    values: Annotated[list[_Value], Field(min_length=1, max_length=MOST_VALUES, fail_fast=True)]
    ordered: bool = False
    positions: Annotated[list[float | None], Field(fail_fast=True)] | None = None
    edges: Annotated[list[float], Field(fail_fast=True)] | None = None


class ClaimEntry(SparseEntry):
    """What is promised about a sensitive attribute."""

    later = frozenset({"epsilon"})
    model: Text = Field(
        description="l-diversity, semantic-diversity or local-differential-privacy of sets; the rule's name for "
        "classes."
    )
    l: Annotated[int, Field(ge=1)] | None = None
    d: float | None = None
    posterior: Annotated[float, Field(gt=0, le=1)]
    statement: Text
    rule: dict[str, Any] | None = Field(default=None, description="Classes only: the rule in full; `name` names it.")
    epsilon: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description="Sets that may lack the true value: no true value makes a set more than e**epsilon times as likely "
        "as another does.",
    )


class SensitiveEntry(Entry):
    """A sensitive attribute: its domain, how its true values were hidden, and what that promises."""

    attribute: Text
    domain: DomainEntry
    mechanism: dict[str, Any] = Field(description="The mechanism's own description; `kind` and `version` name it.")
    claim: ClaimEntry
    further_claims: Annotated[list[ClaimEntry], Field(max_length=MOST_CLAIMS, fail_fast=True)] = Field(
        default=[], description="Classes only: the other promises. Every claim holds by itself."
    )


class MarginalEntry(Entry):
    """Counts of the exact values of a quasi-identifier."""

    values: Annotated[list[int | float], Field(max_length=MOST_VALUES, fail_fast=True)] = Field(
        description="Numbers, days and instants as integers of their unit, or positions among the public values."
    )
    counts: Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=MOST_VALUES, fail_fast=True)]
    missing: Annotated[int, Field(ge=0)] = 0


class NodeEntry(SparseEntry):
    """What a node stands for, where the values under it are not public."""

    later = frozenset({"unbounded"})
    label: Text
    low: int | float | None = Field(default=None, description="The least number under it.")
    high: int | float | None = Field(default=None, description="The greatest number under it.")
    starts: Annotated[list[Text], Field(max_length=MOST_LEVELS, fail_fast=True)] = Field(
        default=[], description="Beginnings of the texts under it; an empty one is anything."
    )
    unbounded: Literal["low", "high"] | None = Field(
        default=None, description="The end beyond which numbers are under it too: top- and bottom-coding."
    )


class FormEntry(SparseEntry):
    """How a quasi-identifier is published."""

    later = frozenset({"grid"})
    column: Text
    kind: Literal["exact", "interval", "node", "values"]
    hierarchy: Annotated[list[_Path], Field(max_length=MOST_VALUES, fail_fast=True)] | None = Field(
        default=None, description="Of a node: one row per leaf, with its labels up to the root."
    )
    nodes: Annotated[list[NodeEntry], Field(max_length=MOST_VALUES, fail_fast=True)] | None = Field(
        default=None, description="Of a node whose leaves are not public: what labels stand for."
    )
    low: int | float | None = Field(default=None, description="Of intervals: least public number.")
    high: int | float | None = Field(default=None, description="Of intervals: greatest public number.")
    labels: Annotated[list[Text], Field(max_length=MOST_VALUES, fail_fast=True)] | None = Field(
        default=None, description="Of values: the public values."
    )
    marginal: MarginalEntry | None = None
    grid: int | float | Text | None = Field(
        default=None,
        description="Of intervals: the step to which all ends are rounded outward, a number or a unit of the calendar. "
        "Intervals of integers and times end with the last number of a step; those of fractions do not hold their end.",
    )


class PeopleEntry(Entry):
    """Where no attribute is sensitive: how records were grouped, and what that promises about them."""

    column: Text = Field(description="The class column.")
    mechanism: dict[str, Any] = Field(description="As of a sensitive attribute.")
    claim: ClaimEntry
    further_claims: Annotated[list[ClaimEntry], Field(max_length=MOST_CLAIMS, fail_fast=True)] = Field(default=[])


class ClassesEntry(Entry):
    """What only a grouped release has."""

    columns: Annotated[dict[str, Text], BeforeValidator(_few_keys)] = Field(
        description="The class column of each sensitive attribute."
    )
    numbers: Annotated[dict[str, Annotated[int, Field(ge=1)]], BeforeValidator(_few_keys)] = Field(
        description="How many classes each class column has."
    )
    suppressed: Annotated[int, Field(ge=0)] = Field(default=0, description="Records that were left out.")
    forms: Annotated[list[FormEntry], Field(max_length=MOST_COLUMNS, fail_fast=True)]
    tables: Annotated[list[TableEntry], Field(max_length=MOST_COLUMNS, fail_fast=True)] = Field(
        default=[], description="The values of each sensitive attribute, when they do not stand in the rows."
    )
    warnings: _Texts = Field(default=[])
    people: PeopleEntry | None = Field(default=None, description="Only where no attribute is sensitive.")

    @model_serializer(mode="wrap")
    def _without_people(self, serialize: SerializerFunctionWrapHandler) -> dict[str, object]:
        # Readers of the first version know no such field.
        said: dict[str, object] = serialize(self)
        return said if self.people is not None else {key: value for key, value in said.items() if key != "people"}


class ConfirmedEntry(SparseEntry):
    """A column that names people or gives a sensitive value away, and that the holder chose to publish."""

    later = frozenset({"attribute"})
    column: Text
    kind: Annotated[str, Field(pattern="^[a-z][a-z-]{0,39}$")] = Field(
        description="What the holder was warned of: identifier, free-text, tells, ..."
    )
    attribute: Text | None = Field(default=None, description="The sensitive attribute that the column tells.")


class Manifest(SparseEntry):
    """Everything a data user needs besides the rows."""

    later = frozenset({"collected", "confirmed", "forms", "person"})
    format: Literal["ldiversity-release"] = "ldiversity-release"
    version: Literal[1, 2] = Field(default=1, description="2 where rows or tables of values are in several files.")
    software: Text
    records: Annotated[int, Field(ge=1)]
    columns: Annotated[list[ColumnEntry], Field(min_length=1, max_length=MOST_COLUMNS, fail_fast=True)]
    sensitive: Annotated[list[SensitiveEntry], Field(max_length=MOST_COLUMNS, fail_fast=True)] = Field(
        description="Empty only where records are grouped and `classes.people` says what that promises."
    )
    data: DataEntry
    person: bool = Field(
        default=False,
        description="Whether the holder said whose row each is: then no class holds two rows of one person, and the "
        "sets of one person belong together, except with an epsilon: then every row is a draw of its own. Who has "
        "which rows is not published.",
    )
    collected: bool = Field(
        default=False,
        description="Whether people's own devices drew the sets, so that nobody else ever had their answers.",
    )
    classes: ClassesEntry | None = None
    forms: Annotated[list[FormEntry], Field(max_length=MOST_COLUMNS, fail_fast=True)] | None = Field(
        default=None, description="Of sets: how quasi-identifiers are published, where not all are as they were."
    )
    order: Text = (
        "Rows are in a random order, which was drawn for this release or which the holder's key decides; members of a "
        "set are in domain order."
    )
    not_protected: _Texts
    confirmed: Annotated[list[ConfirmedEntry], Field(max_length=MOST_COLUMNS, fail_fast=True)] = Field(
        default=[], description="Columns that name people or give a value away, and were published knowingly."
    )

    @model_validator(mode="after")
    def _check_version(self) -> Manifest:
        if self.version != (1 if all(one.is_one for one in self._listed) else 2):
            raise ValueError("must be of version 2 where there are several files, and of version 1 elsewhere")
        return self

    @property
    def _listed(self) -> list[DataEntry | TableEntry]:
        return [self.data, *([] if self.classes is None else self.classes.tables)]

    @property
    def parts(self) -> list[FileEntry]:
        """All files of the folder but this one."""
        return [part for one in self._listed for part in one.parts]

    @property
    def files(self) -> set[str]:
        """The names of the files of the folder, this one included."""
        return {MANIFEST_NAME, *(part.file for part in self.parts)}


@contextmanager
def no_cell_in_faults() -> Iterator[None]:
    """While a manifest is built, report what does not fit into it without quoting the value.

    Honest tables are refused earlier, by column and rule. This is the last resort.
    """
    try:
        yield
    except ValidationError as error:
        place, why = _first_fault(error, "the description")
        raise SchemaError("release", f"{place} does not fit into {MANIFEST_NAME}: {why}").with_hint(
            "Nothing was published. Shorten or leave out the column."
        ) from None


def _first_fault(error: ValidationError, whole: str) -> tuple[str, str]:
    """Where the first fault is, and what it is, without the value."""
    first = error.errors(include_url=False, include_input=False)[0]
    return ".".join(str(part) for part in first["loc"]) or whole, first["msg"]


def manifest_text(manifest: Manifest, **how: Any) -> str:  # noqa: ANN401 - as pydantic takes it
    """The content of ``release.json``; `SchemaError` when it is longer than readers accept."""
    content = manifest.model_dump_json(indent=2, **how) + "\n"
    written = content.encode()
    if len(written) > MOST_MANIFEST_BYTES or not has_few_parts(written):
        raise SchemaError(
            "release",
            f"domains, public values and hierarchies must fit into {MOST_MANIFEST_BYTES} bytes and "
            f"{MOST_MANIFEST_PARTS} parts together",
        ).with_hint("Nothing was published. Give coarser values, or drop a column with long ones.")
    return content


def read_manifest(folder: Path) -> Manifest:
    """Read and check ``release.json`` of a folder that may come from a stranger."""
    file = folder / MANIFEST_NAME
    try:
        is_folder = folder.is_dir()
    except (OSError, ValueError):
        is_folder = False
    if not is_folder:
        raise ReleaseFormatError(
            "release", f"{str(folder)!r} must be a folder with {MANIFEST_NAME}", hint="Name the folder of a release."
        )
    if file.is_symlink() or not file.is_file():
        raise ReleaseFormatError(
            "release", f"folder {str(folder)!r} must contain {MANIFEST_NAME} as a regular file"
        ).with_hint("The folder is not a release, or publishing did not finish.")
    if file.stat().st_size > MOST_MANIFEST_BYTES:
        raise ReleaseFormatError("release", f"{MANIFEST_NAME} must be at most {MOST_MANIFEST_BYTES} bytes long")
    said = parse_json(file.read_bytes())
    _check_version(said)
    try:
        return Manifest.model_validate(said)
    except ValidationError as error:
        place, why = _first_fault(error, "the file")
        raise ReleaseFormatError("release", f"{MANIFEST_NAME} is damaged at {place}: {why}").with_hint(
            "Ask the publisher for a good copy."
        ) from None


def _check_version(said: object) -> None:
    class Header(BaseModel):
        format: str
        version: int

    try:
        header = Header.model_validate(said)
    except ValidationError:
        raise ReleaseFormatError(
            "release", f"{MANIFEST_NAME} is damaged: it must be JSON with a format and a version"
        ).with_hint("Ask the publisher for a good copy.") from None
    if header.format != "ldiversity-release" or header.version not in {1, 2}:
        raise ReleaseFormatError(
            "release",
            f"{MANIFEST_NAME} must be an ldiversity-release of version 1 or 2",
            got=f"version {header.version}",
        ).with_hint("A newer version of ldiversity may read it.")
