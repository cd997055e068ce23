"""A publication as a reviewed file, with the table and the folder that the file may name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ldiversity.errors import ParameterError
from ldiversity.publish._document import is_publication, json_schema, publication_of, read_document
from ldiversity.publish._publication import Publication, RunOptions

if TYPE_CHECKING:
    from ldiversity.methods import Method
    from ldiversity.publish._plan_result import ClassPlan, Plan
    from ldiversity.release import Release
    from ldiversity.tables import Sensitive

__all__ = ["Policy"]


@dataclass(frozen=True)
class Policy:
    """A publication, and the table and the folder of the release where its file names them.

    Attributes
    ----------
    publication
        What is to be published, whatever the table.
    table, output_folder
        The table and the folder that are meant when no other is given; None when the file names none.

    Examples
    --------
    >>> policy = Policy.from_dict({
    ...     "table": {"file": "patients.csv", "quasi": ["age"]},
    ...     "sensitive": {"disease": {"method": "randomized-addition", "l": 3}},
    ... })
    >>> policy.methods(), str(policy.table)
    ({'disease': RandomizedAddition(l=3, epsilon=None)}, 'patients.csv')
    """

    publication: Publication
    table: Path | None = None
    output_folder: Path | None = None
    _folder: Path | None = None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy file; paths in it are relative to its folder.

        Raises
        ------
        StorageError
            When the file cannot be read.
        ParameterError
            When it is not TOML, or a key breaks its rule; names the key.
        """
        return cls.from_dict(read_document(path), folder=Path(path).parent)

    @staticmethod
    def is_in(path: str | os.PathLike[str]) -> bool:
        """Whether a file looks like a policy, or is empty; nothing else may be replaced by one."""
        return is_publication(Path(path))

    @classmethod
    def from_dict(cls, described: Mapping[str, Any], *, folder: str | os.PathLike[str] = "") -> Policy:
        """Make a policy from the content of its file; paths are relative to `folder`."""
        base = Path(folder)
        document, publication = publication_of(described, base)
        file, output = document.table.file, document.output.folder
        return cls(
            publication,
            table=None if file is None else base / file,
            output_folder=None if output is None else base / output,
            _folder=base,
        )

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema of a policy file."""
        return json_schema()

    def methods(self) -> dict[str, Method]:
        """The method of each sensitive column; one and the same when records are grouped."""
        return self.publication.methods

    def columns(self) -> list[Sensitive]:
        """What is said about each sensitive column besides its method."""
        return list(self.publication.sensitive)

    def publish(
        self,
        output: str | os.PathLike[str] | None = None,
        *,
        table: Any = None,  # noqa: ANN401 - any frame or path
        **run: Unpack[RunOptions],
    ) -> Release:
        """Publish a table as the policy says.

        Parameters
        ----------
        output
            A folder instead of the policy's. The release stays in memory when neither is given.
        table
            A table instead of the policy's.
        run
            As for `Publication.publish`: `overwrite`, `key`, `engine`, `memory`, `progress`, `insecure_seed`.
        """
        return self.publication.publish(self._table(table), self.output_folder if output is None else output, **run)

    def plan(self, table: Any = None) -> Plan | ClassPlan:  # noqa: ANN401 - any frame or path
        """Say what publishing would promise and cost; publishes nothing.

        Checks all that can be checked before: the keys of the policy, its files, the columns and the goal.
        """
        return self.publication.plan(self._table(table))

    def _table(self, given: Any) -> Any:  # noqa: ANN401 - any frame or path
        if self._folder is not None:
            self._check_file("table.file", None if given is not None else self.table, self._folder)
            self._check_file("key.file", self.publication.key, self._folder)
        if given is not None:
            return given
        if self.table is None:
            raise ParameterError("policy", "a table must be given, because the policy names none").with_hint(
                "Name it on the command line, or in the policy as file in [table]."
            )
        return self.table

    @staticmethod
    def _check_file(key: str, path: Path | None, folder: Path) -> None:
        if path is not None and not path.exists():
            raise ParameterError("policy", key, f"must name a file, but {str(path)!r} does not exist").with_hint(
                f"Relative paths start at the folder of the policy file, {str(folder.resolve())!r}."
            )
