"""`Release`: what is published, and all that a data user may know."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ldiversity.base.notebook import ShownInNotebooks
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.mechanisms import ClassMechanism, SetMechanism
from ldiversity.release._batches import RowBatch
from ldiversity.release._claims import Claim
from ldiversity.release._class_claims import ClassClaim
from ldiversity.release._description import Format, Layout
from ldiversity.schema import Domain, Role, Schema

__all__ = ["Release", "check_release"]


@dataclass(frozen=True, eq=False)
class Release(ShownInNotebooks, ABC):
    """A published table, in one of two families.

    `SetRelease` hides every sensitive cell in a set of values; `ClassRelease` groups records into classes in which
    nothing says which value belongs to whom. Made by `anonymize` or `load_release`, not by hand.

    Attributes
    ----------
    schema
        The published columns.
    mechanisms
        How each sensitive attribute was hidden.
    claims
        What is promised of each.
    n_rows
        How many records there are.
    layout
        ``"sets"``, or ``"exploded"`` with one row a member; ``"generalized"``, where a class shares one region of the
        quasi-identifiers, or ``"bucketized"``, where the values of a class stand in a table of their own.
    frame_kind
        Which kind of data frame `table` and estimates hand out.
    notes
        What the holder should know about how it was made; never saved.
    """

    schema: Schema
    mechanisms: Mapping[str, SetMechanism] | Mapping[str, ClassMechanism]
    claims: tuple[Claim, ...] | tuple[ClassClaim, ...]
    n_rows: int
    layout: Layout
    frame_kind: str
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The names of the sensitive attributes."""
        return self.schema.names(Role.SENSITIVE)

    def domain(self, attribute: str) -> Domain:
        """The public values of a sensitive attribute, in code order."""
        return self.schema.domain(attribute)

    @abstractmethod
    def mechanism(self, attribute: str) -> SetMechanism | ClassMechanism:
        """How a sensitive attribute was hidden, with its exact facts."""

    @abstractmethod
    def claims_of(self, attribute: str) -> Sequence[Claim] | Sequence[ClassClaim]:
        """All that is promised of a sensitive attribute, in the order in which it was asked for."""

    @abstractmethod
    def claim(self, attribute: str) -> Claim | ClassClaim:
        """What is promised of a sensitive attribute; of several claims the first with the smallest `posterior`."""

    @abstractmethod
    def columns(self, names: Sequence[str]) -> pa.Table:
        """Columns that are published as they were, as Arrow, in row order."""

    @abstractmethod
    def batches(self, names: Sequence[str], attributes: Sequence[str] = ()) -> Iterator[RowBatch]:
        """Some rows at a time: columns as they were, and what rows show of sensitive attributes."""

    @property
    @abstractmethod
    def table(self) -> Any:  # noqa: ANN401 - the kind of frame the caller works with
        """The published table as a data frame."""

    @abstractmethod
    def save(self, folder: str | os.PathLike[str], *, data_format: Format = "parquet", overwrite: bool = False) -> None:
        """Write the release as a folder, after checking its claims on the bytes written; all or nothing."""

    @abstractmethod
    def verify(self) -> None:
        """Check every claim on every row, or raise `ClaimError`."""

    def _check_not_sensitive(self, names: Sequence[str], hint: str) -> None:
        for name in names:
            if self.schema[name].role is Role.SENSITIVE:
                raise SchemaError("table", "is sensitive", column=name, hint=hint)


def check_release(owner: str, given: object, parameter: str = "release") -> None:
    """Refuse what is no release, above all the table that one is made of."""
    if not isinstance(given, Release):
        raise ParameterError(owner, parameter, "must be a release", got=type(given).__name__).with_hint(
            "A release is made of a table by anonymize, and read from its folder by load_release."
        )
