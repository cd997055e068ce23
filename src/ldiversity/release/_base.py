"""`Release`: what is published, and all that a data user may know."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Generic, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import ClassArray, CodeArray, SetArray
from ldiversity.base.budget import Budget
from ldiversity.base.findings import Confirmed, Finding
from ldiversity.base.notebook import ShownInNotebooks
from ldiversity.errors import ParameterError, SchemaError, UnsupportedError
from ldiversity.mechanisms import ClassMechanism, SetMechanism
from ldiversity.models import ClassCounts, PrivacyModel
from ldiversity.release._batches import CodedBatch, RowBatch
from ldiversity.release._claims import AlikeClaim, Claim, ClassClaim, subjects_of
from ldiversity.release._coded import parse_type
from ldiversity.release._completed import Completable
from ldiversity.release._description import Format, Layout
from ldiversity.release._dtypes import to_frame
from ldiversity.release._evidence import Evidence, EvidenceTally
from ldiversity.release._flat import flatten
from ldiversity.release._forms import Form
from ldiversity.release._own_cells import label_column, to_shown
from ldiversity.release._regions import Region, whole_array
from ldiversity.release._row_parts import in_memory
from ldiversity.schema import Domain, Role, Schema
from ldiversity.tables import Frame_co

if TYPE_CHECKING:
    from ldiversity.release._row_parts import ReleaseParts, RowPart

__all__ = ["Release", "check_release"]


@dataclass(frozen=True, eq=False)
class Release(Completable[Frame_co], ShownInNotebooks, ABC, Generic[Frame_co]):
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
        What is promised about each.
    n_rows
        How many records there are.
    layout
        ``"sets"``, or ``"exploded"`` with one row per member; ``"generalized"``, where a class shares one region of the
        quasi-identifiers, or ``"bucketized"``, where the values of a class are in a table of their own.
    frame_kind
        The kind of data frame that `table` and estimates return.
    forms
        How each quasi-identifier is published.
    class_columns
        The class column of each sensitive attribute, where records are grouped.
    person
        Whether the holder said whose row each is: then no class holds two rows of one person, and the sets of one
        person belong together, except with an epsilon. Who has which rows is not published.
    suppressed
        How many records were left out.
    warnings
        What every reader must know.
    confirmed
        Columns that name people or give a value away, and that the holder chose to publish.
    notes, findings
        What the holder should know about how it was made, and what was found before; never saved.
    """

    schema: Schema
    mechanisms: Mapping[str, SetMechanism] | Mapping[str, ClassMechanism]
    claims: tuple[Claim | AlikeClaim, ...] | tuple[ClassClaim, ...]
    n_rows: int
    layout: Layout
    frame_kind: str
    forms: Mapping[str, Form] = field(default_factory=dict, kw_only=True)
    class_columns: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    person: bool = field(default=False, kw_only=True)
    suppressed: int = field(default=0, kw_only=True)
    warnings: tuple[str, ...] = field(default=(), kw_only=True)
    confirmed: tuple[Confirmed, ...] = field(default=(), kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    findings: tuple[Finding, ...] = field(default=(), kw_only=True)
    _evidence: dict[str, Evidence] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.forms:
            object.__setattr__(self, "forms", dict.fromkeys(self.schema.names(Role.QUASI), Form("exact")))

    @property
    def subjects(self) -> tuple[str, ...]:
        """What promises are about: the sensitive attributes, or `PEOPLE` where there is none."""
        return subjects_of(self.schema)

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
    def claims_of(self, attribute: str) -> Sequence[Claim | AlikeClaim] | Sequence[ClassClaim]:
        """All promises about a sensitive attribute, in the order in which they were asked for."""

    @abstractmethod
    def claim(self, attribute: str) -> Claim | ClassClaim:
        """The promise about a sensitive attribute; of several, the first with the smallest `posterior`."""

    @property
    def epsilon(self) -> float | None:
        """What one record spends, the epsilons of all sensitive attributes added up; None without a bound."""
        return None

    def drawn_together(self, attribute: str) -> bool:  # noqa: ARG002 - sets differ by attribute
        """Whether what the rows of one person show belongs together."""
        return self.person

    @property
    def grouped(self) -> bool:
        """Whether records share classes, whose values are counted."""
        return bool(self.class_columns)

    @property
    def generalized(self) -> bool:
        """Whether the records of a class share one region of the quasi-identifiers."""
        return self.layout == "generalized"

    @property
    def coarse(self) -> tuple[str, ...]:
        """Quasi-identifiers that every record shows at a level which the holder declared, as a label of its own."""
        coarse = (name for name, form in self.forms.items() if form.kind != "exact")
        return () if self.generalized else tuple(coarse)

    @property
    def rows_per_record(self) -> int:
        """How many rows of the table each record has; several when sets were exploded."""
        return 1

    @property
    @abstractmethod
    def not_protected(self) -> tuple[str, ...]:
        """What is not protected, in plain words."""

    @abstractmethod
    def method(self, attribute: str) -> str:
        """The name of the method or mechanism that hid a sensitive attribute."""

    @abstractmethod
    def parameters(self, attribute: str) -> Mapping[str, object]:
        """The public parameters of the method or mechanism that hid a sensitive attribute."""

    def facts(self, attribute: str) -> Mapping[str, object]:
        """Public facts about how a sensitive attribute was hidden, if there are any."""
        self.schema.domain(attribute)
        return {}

    def blind(self, attribute: str) -> bool:
        """Whether classes were formed without looking at quasi-identifiers, so that only chance mixed the values."""
        self.schema.domain(attribute)
        return False

    def contradictions(self, attribute: str) -> int:
        """How many published classes break a claim about them."""
        self.schema.domain(attribute)
        return 0

    def evidence(self, attribute: str) -> Evidence:
        """What the release says about the value of each record: candidates, how likely each is, and who shows them.

        Examples
        --------
        >>> import ldiversity as ld
        >>> release = ld.anonymize(
        ...     ld.datasets.hospital(), quasi=["sex", "age"], sensitive="disease", method=ld.Anatomy(l=2)
        ... )
        >>> evidence = release.evidence("disease")
        >>> evidence.n_pieces, evidence.records.tolist(), len(evidence.of_row)
        (4, [2, 2, 2, 2], 8)
        """
        self.domain(attribute)  # says what is wrong when the attribute is not sensitive
        if attribute not in self._evidence:
            self._evidence[attribute] = self._gather(attribute)
        return self._evidence[attribute]

    @abstractmethod
    def _gather(self, attribute: str) -> Evidence: ...

    @abstractmethod
    def tally(self, attribute: str) -> EvidenceTally:
        """An object that gathers the evidence from batches of rows, without the link from rows to pieces."""

    def drawn_by(self, attribute: str) -> SetMechanism:
        """The mechanism that drew the sets of an attribute."""
        raise self._has_no(attribute, "sets", "Use classes().")

    @abstractmethod
    def promised(self, attribute: str) -> list[PrivacyModel]:
        """The claims about an attribute as privacy models, which can be checked on its rows."""

    def parts(self, most_rows: int, *, values_of: str | None = None) -> ReleaseParts:  # noqa: ARG002 - of a folder
        """The rows, or the table of values of an attribute, in parts of at most about so many rows.

        Workers can read them; they must see the folder.
        """
        raise in_memory()

    def of_part(self, part: RowPart) -> Release:  # noqa: ARG002
        """A part of the rows, as one of `parts` says, for readers anywhere."""
        raise in_memory()

    def sets(self, attribute: str) -> SetArray:
        """The published sets of an attribute as codes, shape (n, l)."""
        raise self._has_no(attribute, "sets", "Use classes().")

    def members(self, attribute: str) -> CodeArray:
        """The published codes of an exploded attribute, one for each row."""
        raise self._has_no(attribute, "exploded members", "Use classes().")

    def classes(self, attribute: str) -> ClassCounts:
        """How often each value occurs in each class."""
        raise self._has_no(attribute, "classes", "Use evidence(). Measure loss by distribution_mse or a QueryWorkload.")

    def class_of(self, attribute: str) -> CodeArray:
        """Shape (n,): the class of each row, from 0; -1 where a record shows no value of this attribute."""
        raise self._has_no(attribute, "classes", "Use evidence(). Measure loss by distribution_mse or a QueryWorkload.")

    def values(self, attribute: str) -> CodeArray:
        """Shape (n,): the code of each row, shuffled within each class."""
        raise self._has_no(attribute, "single values", "Use evidence().")

    def regions(self) -> pa.Table:
        """The generalized quasi-identifiers, one row for each class."""
        raise UnsupportedError("release", "quasi-identifiers were published as they are", hint="Use columns().")

    def region(self, name: str) -> Region:
        """What the release says about a quasi-identifier: exact values, intervals, nodes or lists of values."""
        column, kind = whole_array(self.columns([name])[name]), parse_type(self.schema[name].type)
        if name in self.coarse:
            cells = column.dictionary_encode()
            return Region(name, self.forms[name], kind, cells.dictionary, lambda: np.asarray(cells.indices))
        return Region(name, Form("exact"), kind, column, lambda: np.arange(len(column), dtype=np.int32))

    def as_published(self, people: pa.Table) -> pa.Table:
        """Quasi-identifiers of people as this release shows them, so that they can be compared with its `columns`.

        Columns at a declared level become its labels, missing where no record shows the label; others stay.
        """
        for name in self.coarse:
            if name in people.column_names:
                region = self.region(name)
                shown = to_shown(name, people.column(name), region.form, region.kind, region.column)
                people = people.set_column(people.column_names.index(name), name, shown)
        return people

    def _ordered(self, table: pa.Table) -> pa.Table:
        """The published table with ordered categories in the columns that have a declared level."""
        for name in self.coarse:
            cells = label_column(table.column(name), self.region(name).ordered_texts)
            table = table.set_column(table.column_names.index(name), name, cells)
        return table

    def _has_no(self, attribute: str, what: str, hint: str) -> UnsupportedError:
        self.schema.domain(attribute)
        kind = "grouped release" if self.grouped else "release of sets"
        return UnsupportedError("release", f"{attribute!r} is in a {kind}, which has no {what}", hint=hint)

    @abstractmethod
    def columns(self, names: Sequence[str]) -> pa.Table:
        """Columns that are published as they were, as Arrow, in row order."""

    @abstractmethod
    def batches(self, names: Sequence[str], attributes: Sequence[str] = ()) -> Iterator[RowBatch]:
        """Some rows at a time: columns as they were, and what rows show of sensitive attributes."""

    def class_batches(
        self,
        attribute: str,
        *,
        own: Sequence[str] = (),  # noqa: ARG002 - of releases that have classes
        regions: Sequence[str] = (),  # noqa: ARG002
        values: Sequence[str] = (),  # noqa: ARG002
    ) -> Iterator[CodedBatch]:
        """Rows that show a class of an attribute, some at a time: columns as they were, generalized cells, codes."""
        raise self._has_no(attribute, "classes", "Use batches().")

    def value_batches(self, attribute: str) -> Iterator[tuple[ClassArray, CodeArray, NDArray[np.int64]]]:
        """The table of values, where there is one: classes, codes and counts in the order of classes."""
        raise self._has_no(attribute, "classes", "Use batches().")

    def n_classes(self, attribute: str) -> int:
        """How many classes an attribute has."""
        raise self._has_no(attribute, "classes", "Use evidence().")

    def pieces(
        self,
        budget: Budget,  # noqa: ARG002 - of releases that have classes
        attribute: str | None = None,  # noqa: ARG002
        *,
        columns: Sequence[str] | None = None,  # noqa: ARG002
    ) -> Iterator[Release]:
        """The release in pieces of whole classes, within a limit of memory; one without classes is one piece."""
        yield self

    @property
    @abstractmethod
    def table(self) -> Frame_co:
        """The published table as a data frame."""

    @cached_property
    def flat(self) -> Frame_co:
        """The published table as a data frame of single values, for groupby, crosstab or scikit-learn.

        A generalized column ``age`` becomes ``age_low`` and ``age_high``, in its own type, and ``age_label``, an
        ordered category; a column of texts has only the label. Ends are missing where nothing is known. Sets of
        ``disease`` become ``disease_1``, ``disease_2``, ... as in CSV. All other columns are as in `table`. A new
        column whose name is already taken gets ``_`` at its end.

        Examples
        --------
        >>> import ldiversity as ld
        >>> people = ld.datasets.hospital()
        >>> release = ld.anonymize(people, quasi=["sex", "age"], sensitive="disease", method=ld.Mondrian(l=2))
        >>> release.flat.column_names
        ['class_id', 'sex_label', 'age_low', 'age_high', 'age_label', 'disease']
        """
        generalized = [name for name, form in self.forms.items() if form.kind != "exact"]
        rows, ends = flatten(
            self._flat_rows(),
            {name: self.region(name) for name in generalized},
            {*self.schema.names(), *self.class_columns.values()},
        )
        return cast("Frame_co", to_frame(rows, self.schema, self.frame_kind, ends))

    @abstractmethod
    def _flat_rows(self) -> pa.Table: ...

    @abstractmethod
    def save(self, folder: str | os.PathLike[str], *, data_format: Format = "parquet", overwrite: bool = False) -> None:
        """Write the release as a folder, after checking its claims on the bytes written; all or nothing."""

    @abstractmethod
    def verify(self, *, memory: str | int | None = None) -> None:
        """Check every claim on every row, or raise `ClaimError`.

        `memory` limits what this may take, such as ``"500MB"``, where the rows are in a folder.
        """

    def _check_not_sensitive(self, names: Sequence[str], hint: str) -> None:
        for name in names:
            if self.schema[name].role is Role.SENSITIVE:
                raise SchemaError("table", "is sensitive", column=name, hint=hint)


def check_values(owner: str, release: Release, what: str) -> None:
    """Refuse a release without a sensitive attribute where its values are asked for; `what` ends the sentence.

    Examples
    --------
    >>> import ldiversity as ld
    >>> alone = ld.anonymize(ld.datasets.hospital(), quasi="age", method="mondrian:model=k-anonymity:2")
    >>> check_values("attack", alone, "to learn")
    Traceback (most recent call last):
    ldiversity.errors.UnsupportedError: attack: the release has no sensitive attribute, so there is no value to learn.
    Hint: An audit says how well people can be recognized in it.
    """
    if not release.sensitive:
        raise UnsupportedError(owner, f"the release has no sensitive attribute, so there is no value {what}").with_hint(
            "An audit says how well people can be recognized in it."
        )


def check_release(owner: str, given: object, parameter: str = "release") -> None:
    """Refuse anything but a release, above all the table from which one is made."""
    if not isinstance(given, Release):
        raise ParameterError(owner, parameter, "must be a release", got=type(given).__name__).with_hint(
            "Use anonymize to make a release from a table, and load_release to read one from its folder."
        )
