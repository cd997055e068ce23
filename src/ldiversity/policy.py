"""A publication as a reviewed file: which columns, how they are hidden, and where the release goes.

A policy is TOML::

    [table]
    file = "patients.csv"
    quasi = ["age", "sex", "zip"]
    drop = ["name"]
    types = { zip = "text" }

    [sensitive.disease]
    method = "semantic"
    l = 3
    d = 2
    distance = "tree:diseases.csv"

    [output]
    folder = "release"

Paths in it are relative to the file. A JSON Schema for it is in ``docs/schemas/policy.schema.json``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from ldiversity._random import Key
from ldiversity.anonymization import anonymize
from ldiversity.distances import parse_distance
from ldiversity.errors import ParameterError, StorageError
from ldiversity.methods import METHODS, Method
from ldiversity.release import Release
from ldiversity.tables import Bins, Sensitive, check_roles, open_source

if TYPE_CHECKING:
    from ldiversity.report import Plan

__all__ = ["BinsPolicy", "KeyPolicy", "OutputPolicy", "Policy", "SensitivePolicy", "TablePolicy"]

_MOST_BYTES: Final = 16 * 1024 * 1024
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_OPTIONS: Final = ("l", "d", "distance", "selection", "prior")

_Column = Annotated[str, Field(min_length=1, description="The name of a column.")]
_Value = str | int | float | bool


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class TablePolicy(_Part):
    """The table, and what its columns are to the publisher. Columns without a role are not published."""

    file: Annotated[str, Field(min_length=1, description="The table: CSV, TSV, JSON lines, Parquet, Arrow or Excel.")]
    quasi: list[_Column] = Field(
        default=[], description="Columns published as they are, by which people might be recognized."
    )
    drop: list[_Column] = Field(default=[], description="Columns that name people; never published.")
    plain: list[_Column] = Field(
        default=[], description="Columns published as they are on the holder's word that they tell nothing."
    )
    types: dict[str, Literal["text", "integer", "number", "boolean", "date"]] = Field(
        default={}, description="Types of columns where the inferred one is not wanted."
    )


class BinsPolicy(_Part):
    """How numbers are cut into bins: exactly one of width, edges and quantiles."""

    width: float | None = Field(default=None, gt=0, description="Bins of this width.")
    edges: list[float] | None = Field(default=None, min_length=2, description="Increasing edges.")
    quantiles: int | None = Field(default=None, ge=2, description="So many bins of about equally many rows.")
    low: float | None = Field(default=None, description="Public lower bound, with width.")
    high: float | None = Field(default=None, description="Public upper bound, with width.")


class SensitivePolicy(_Part):
    """How one sensitive column is hidden."""

    method: str | None = Field(
        default=None,
        description="The method's name; unless given, semantic when there is a d, else randomized-addition.",
        json_schema_extra={"enum": [*sorted(METHODS), None]},
        examples=["semantic"],
    )
    l: Annotated[int, Field(ge=2, description="How many values each record shows.")]
    d: float | None = Field(default=None, gt=0, description="Least distance between two values of a set.")
    distance: str | None = Field(
        default=None,
        description="How unlike two values are, as text.",
        examples=["ordered", "numeric:10", "tree:diseases.csv", "semilattice:jobs.csv", "matrix:distances.csv"],
    )
    selection: Literal["balanced", "simple", "ring"] | None = Field(default=None, description="How sets are drawn.")
    prior: dict[str, float] | list[float] | None = Field(
        default=None, description="A public belief about the values, under which no member shall exceed 1/l."
    )
    domain: list[_Value] | None = Field(
        default=None, min_length=1, description="The public values in order; may be wider than what occurs."
    )
    missing: Literal["refuse", "category", "drop"] = Field(
        default="refuse", description="What becomes of rows without a value."
    )
    bins: BinsPolicy | None = Field(default=None, description="Cut a column of numbers into bins.")


class OutputPolicy(_Part):
    """Where the release goes, and in which form."""

    folder: str | None = Field(default=None, min_length=1, description="The folder of the release.")
    format: Literal["parquet", "csv"] = Field(default="parquet", description="How rows are stored.")
    layout: Literal["sets", "exploded"] = Field(
        default="sets", description="sets: one row a record; exploded: one row a member of a record's set."
    )


class KeyPolicy(_Part):
    """The holder's key, which makes publishing again safe."""

    file: Annotated[str, Field(min_length=1, description="A key file, made by `ldiversity key new`.")]
    record_id: Annotated[list[_Column], Field(min_length=1, description="Columns that tell records apart.")]


class Policy(_Part):
    """A publication as a reviewed file.

    Examples
    --------
    >>> policy = Policy.from_dict({
    ...     "table": {"file": "patients.csv", "quasi": ["age"]},
    ...     "sensitive": {"disease": {"method": "randomized-addition", "l": 3}},
    ... })
    >>> policy.methods()
    {'disease': RandomizedAddition(l=3)}
    """

    table: TablePolicy = Field(description="The table and the roles of its columns.")
    sensitive: Annotated[dict[str, SensitivePolicy], Field(min_length=1, description="The sensitive columns by name.")]
    output: OutputPolicy = Field(default=OutputPolicy(), description="Where the release goes.")
    key: KeyPolicy | None = Field(default=None, description="Keyed draws.")

    _folder: Path = PrivateAttr(default=Path())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a policy file; paths in it are relative to its folder.

        Raises
        ------
        StorageError
            When the file cannot be read.
        ParameterError
            When it is no TOML, or a key breaks its rule; names the key.
        """
        file = Path(path)
        try:
            with file.open("rb") as stream:
                content = stream.read(_MOST_BYTES + 1)
        except OSError as error:
            raise StorageError(
                f"policy: file {str(file)!r} cannot be read: {error.strerror}.", hint="Name a policy file."
            ) from None
        if len(content) > _MOST_BYTES:
            raise ParameterError(f"policy: file {str(file)!r} must be at most {_MOST_BYTES} bytes long.")
        try:
            described = tomllib.loads(content.decode("utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            why = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is not in UTF-8"
            raise ParameterError(
                f"policy: file {str(file)!r} must be TOML: {why}.", hint="See docs/guides/command-line.md."
            ) from None
        return cls.from_dict(described, folder=file.parent)

    @classmethod
    def from_dict(cls, described: Mapping[str, Any], *, folder: str | os.PathLike[str] = "") -> Self:
        """Make a policy from the content of its file; paths are relative to `folder`."""
        try:
            policy = cls.model_validate(described)
        except ValidationError as error:
            raise _sentence(error) from None
        policy._folder = Path(folder)  # noqa: SLF001 - pydantic sets private attributes after validation
        policy.methods()  # say what is wrong now, not when the table is read
        policy.columns()
        return policy

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema of a policy file."""
        return {"$schema": _DIALECT, **Policy.model_json_schema()}

    @property
    def output_folder(self) -> Path | None:
        """The folder of the release, when the policy names one."""
        return None if self.output.folder is None else self._folder / self.output.folder

    def methods(self) -> dict[str, Method]:
        """The method of each sensitive column."""
        return {name: self._method(name, entry) for name, entry in self.sensitive.items()}

    def columns(self) -> list[Sensitive]:
        """What is said about each sensitive column besides its method."""
        return [self._column(name, entry) for name, entry in self.sensitive.items()]

    def publish(
        self,
        output: str | os.PathLike[str] | None = None,
        *,
        overwrite: bool = False,
        insecure_seed: int | None = None,
    ) -> Release:
        """Publish the table as the policy says.

        Parameters
        ----------
        output
            A folder instead of the policy's. The release stays in memory when neither is given.
        overwrite
            Replace a release that is already there.
        insecure_seed
            For tests: draw from a seed that can be repeated.
        """
        return anonymize(
            self._path("table.file", self.table.file),
            **self._decisions(),
            key=None if self.key is None else Key.load(self._path("key.file", self.key.file)),
            record_id=None if self.key is None else self.key.record_id,
            output=self.output_folder if output is None else output,
            data_format=self.output.format,
            layout=self.output.layout,
            overwrite=overwrite,
            insecure_seed=insecure_seed,
        )

    def plan(self) -> Plan:
        """Say what publishing would promise and cost; publishes nothing.

        Checks all that can be checked before: the keys of the policy, its files, the columns and the goal.
        """
        from ldiversity.report import plan

        if self.key is not None:
            Key.load(self._path("key.file", self.key.file))
        source = open_source(self._path("table.file", self.table.file), types=self.table.types)
        decisions = self._decisions()
        del decisions["types"]
        if self.key is not None:
            names = [item.name for item in decisions["sensitive"]]
            roles = {role: decisions[role] for role in ("quasi", "drop", "plain")}
            check_roles(source, sensitive=names, record_id=self.key.record_id, **roles)
        return plan(source, **decisions)

    def _decisions(self) -> dict[str, Any]:
        return {
            "quasi": self.table.quasi,
            "sensitive": self.columns(),
            "method": self.methods(),
            "drop": self.table.drop,
            "plain": self.table.plain,
            "types": self.table.types,
        }

    def _path(self, key: str, name: str) -> Path:
        path = self._folder / name
        if not path.exists():
            raise ParameterError(
                f"policy: {key} must name a file, but {str(path)!r} does not exist.",
                hint=f"Relative paths start at the folder of the policy file, {str(self._folder.resolve())!r}.",
            )
        return path

    def _method(self, name: str, entry: SensitivePolicy) -> Method:
        method = entry.method or ("randomized-addition" if entry.d is None else "semantic")
        if method not in METHODS:
            known = ", ".join(map(repr, METHODS))
            raise ParameterError(f"policy: sensitive.{name}.method must be one of {known}, got {method!r}.")
        options = {option: getattr(entry, option) for option in _OPTIONS}
        if entry.distance is not None:
            options["distance"] = parse_distance(entry.distance, self._folder)
        try:
            return METHODS[method].from_options(options)
        except ParameterError as error:
            raise ParameterError(f"policy: sensitive.{name}: {error.message}", hint=error.hint) from None

    def _column(self, name: str, entry: SensitivePolicy) -> Sensitive:
        bins = {} if entry.bins is None else entry.bins.model_dump()
        try:
            if entry.bins is not None:
                Bins(**bins)
            return Sensitive(name, domain=entry.domain, missing=entry.missing, **bins)
        except ParameterError as error:
            raise ParameterError(f"policy: sensitive.{name}: {error.message}", hint=error.hint) from None


def _sentence(error: ValidationError) -> ParameterError:
    """The first thing that is wrong, in one sentence that names the key."""
    first = error.errors(include_url=False, include_input=False)[0]
    path = [str(part) for part in first["loc"]]
    key = ".".join(path) or "the file"
    if first["type"] == "missing":
        return ParameterError(f"policy: {key} must be given.", hint="See docs/guides/command-line.md.")
    if first["type"] == "extra_forbidden":
        return ParameterError(f"policy: {key} is not a key of a policy.", hint=_known_keys(path[:-1]))
    return ParameterError(f"policy: {key} breaks its rule: {first['msg'][0].lower()}{first['msg'][1:]}.")


def _known_keys(path: list[str]) -> str | None:
    parts: dict[str, type[_Part]] = {"table": TablePolicy, "output": OutputPolicy, "key": KeyPolicy}
    if path and path[0] == "sensitive":
        part: type[_Part] = BinsPolicy if path[-1] == "bins" and len(path) > 2 else SensitivePolicy  # noqa: PLR2004
    else:
        part = parts.get(path[0], Policy) if path else Policy
    return f"Known there are {', '.join(part.model_fields)}."
