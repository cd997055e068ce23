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

A method that groups records hides all sensitive columns together, so it has a section of its own::

    [sensitive.disease]

    [method]
    name = "bsgi"
    l = 4

Paths in it are relative to the file. A JSON Schema for it is in ``docs/schemas/policy.schema.json``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from pydantic import Field, PrivateAttr, ValidationError

from ldiversity.base.randomness import Key
from ldiversity.catalog import OPTIONS
from ldiversity.errors import ParameterError, StorageError
from ldiversity.methods import Method
from ldiversity.publish._hierarchies import is_made
from ldiversity.publish._pipeline import anonymize
from ldiversity.publish._plan import plan
from ldiversity.publish._policy_faults import first_fault
from ldiversity.publish._policy_options import Part, check_method, make_method
from ldiversity.publish._policy_parts import KeyPolicy, MethodPolicy, OutputPolicy, SensitivePolicy, TablePolicy
from ldiversity.release import Release
from ldiversity.sentences import say
from ldiversity.tables import Bins, Sensitive, check_roles, open_source

if TYPE_CHECKING:
    from ldiversity.publish._class_plan_result import ClassPlan
    from ldiversity.publish._plan_result import Plan

__all__ = ["Policy"]

_MOST_BYTES: Final = 16 * 1024 * 1024
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


class Policy(Part):
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
    method: MethodPolicy | None = Field(
        default=None, description="A method that groups records, for all sensitive columns together."
    )
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
                "policy", f"file {str(file)!r} cannot be read: {error.strerror}", hint="Name a policy file."
            ) from None
        if len(content) > _MOST_BYTES:
            raise ParameterError("policy", f"file {str(file)!r} must be at most {_MOST_BYTES} bytes long")
        try:
            described = tomllib.loads(content.decode("utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            why = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is not in UTF-8"
            raise ParameterError(
                "policy", f"file {str(file)!r} must be TOML: {why}", hint="See docs/guides/command-line.md."
            ) from None
        return cls.from_dict(described, folder=file.parent)

    @classmethod
    def from_dict(cls, described: Mapping[str, Any], *, folder: str | os.PathLike[str] = "") -> Self:
        """Make a policy from the content of its file; paths are relative to `folder`."""
        try:
            policy = cls.model_validate(described)
        except ValidationError as error:
            raise first_fault(error, cls) from None
        policy._folder = Path(folder)  # noqa: SLF001 - pydantic sets private attributes after validation
        policy._check_family()  # noqa: SLF001 - same
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
        """The method of each sensitive column; one and the same when records are grouped."""
        if self.method is not None:
            grouping = self._make("method", self.method.name, self.method)
            return dict.fromkeys(self.sensitive, grouping)
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
        progress: Callable[[float, str], None] | None = None,
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
        progress
            Called now and then with the share of the work that is done and a word for it, while records are grouped.
        """
        table = self._path("table.file", self.table.file)
        options: dict[str, Any] = {}
        if self.method is not None:
            options = {**self._grouped(), "marginals": self.output.marginals, "progress": progress}
        elif self.output.layout is not None:
            options = {"layout": self.output.layout}
        return anonymize(
            table,
            **self._decisions(),
            **options,
            key=None if self.key is None else Key.load(self._path("key.file", self.key.file)),
            record_id=None if self.key is None else self.key.record_id,
            output=self.output_folder if output is None else output,
            data_format=self.output.format,
            overwrite=overwrite,
            insecure_seed=insecure_seed,
        )

    def plan(self) -> Plan | ClassPlan:
        """Say what publishing would promise and cost; publishes nothing.

        Checks all that can be checked before: the keys of the policy, its files, the columns and the goal.
        """
        if self.key is not None:
            Key.load(self._path("key.file", self.key.file))
        source = open_source(self._path("table.file", self.table.file), types=self.table.types)
        decisions = self._decisions()
        del decisions["types"]
        if self.key is not None:
            names = [item.name for item in decisions["sensitive"]]
            roles = {role: decisions[role] for role in ("quasi", "drop", "plain")}
            check_roles(source, sensitive=names, record_id=self.key.record_id, **roles)
        return plan(source, **decisions, **self._grouped())

    def _decisions(self) -> dict[str, Any]:
        return {
            "quasi": self.table.quasi,
            "sensitive": self.columns(),
            "method": self.methods() if self.method is None else next(iter(self.methods().values())),
            "drop": self.table.drop,
            "plain": self.table.plain,
            "types": self.table.types,
        }

    def _grouped(self) -> dict[str, Any]:
        """What is decided for methods that group records only."""
        if self.method is None:
            return {}
        texts = self.table.hierarchies
        hierarchies = {column: text if is_made(text) else self._folder / text for column, text in texts.items()}
        return {"hierarchies": hierarchies, "person": self.table.person}

    def _path(self, key: str, name: str) -> Path:
        path = self._folder / name
        if not path.exists():
            raise ParameterError("policy", key, f"must name a file, but {str(path)!r} does not exist").with_hint(
                f"Relative paths start at the folder of the policy file, {str(self._folder.resolve())!r}."
            )
        return path

    def _check_family(self) -> None:
        """Refuse what belongs to methods that group records without one, and what does not belong to them with one."""
        if self.method is None:
            alone = {
                "table.hierarchies": self.table.hierarchies,
                "table.person": self.table.person,
                "output.marginals": self.output.marginals,
            }
            found = [key for key, value in alone.items() if value]
            why = "without [method]: it is for methods that group records."
        else:
            check_method("method.name", self.method.name, "classes", "Name it in the section of each sensitive column.")
            options = {
                f"sensitive.{name}.{option}": getattr(entry, option, None)
                for name, entry in self.sensitive.items()
                for option in ("method", *OPTIONS)
            }
            others = {"output.layout": self.output.layout, "key": self.key}
            found = [key for key, value in {**options, **others}.items() if value is not None]
            why = "with [method], which groups records for all sensitive columns together."
        if found:
            raise ParameterError("policy", found[0], f"must be left out {why}", hint="See docs/guides/command-line.md.")

    def _method(self, name: str, entry: SensitivePolicy) -> Method:
        d = getattr(entry, "d", None)
        method = entry.method or ("randomized-addition" if d is None else "semantic")
        hint = f'It groups records: write [method] with name = "{method}".'
        check_method(f"sensitive.{name}.method", method, "sets", hint)
        return self._make(f"sensitive.{name}", method, entry)

    def _make(self, key: str, method: str, section: Part) -> Method:
        try:
            return make_method(method, section, self._folder)
        except ParameterError as error:
            raise ParameterError("policy", say("{}: {}", key, error.message), hint=error.hint) from None

    def _column(self, name: str, entry: SensitivePolicy) -> Sensitive:
        bins = {} if entry.bins is None else entry.bins.model_dump()
        try:
            if entry.bins is not None:
                Bins(**bins)
            return Sensitive(name, domain=entry.domain, missing=entry.missing, **bins)
        except ParameterError as error:
            raise ParameterError("policy", say("sensitive.{}: {}", name, error.message), hint=error.hint) from None
