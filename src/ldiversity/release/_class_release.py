"""`ClassRelease`: records are grouped into classes in which nothing says which value belongs to whom."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.answers import fit_screen
from ldiversity.base.arrays import ClassArray, CodeArray
from ldiversity.base.budget import Budget
from ldiversity.base.checks import name_some
from ldiversity.base.numbers import counted
from ldiversity.base.spill import Spill
from ldiversity.errors import SchemaError, UnsupportedError
from ldiversity.mechanisms import ClassMechanism
from ldiversity.models import ClassCounts, PrivacyModel, count_classes
from ldiversity.release._base import Release
from ldiversity.release._batches import CodedBatch, RowBatch
from ldiversity.release._cells import low_ends_first
from ldiversity.release._claims import PEOPLE, RECORDS, AlikeClaim, ClassClaim, class_claim
from ldiversity.release._class_publish import publish_counts, publish_rows
from ldiversity.release._class_read import in_folder
from ldiversity.release._class_rows import ClassRows, MemoryClassRows
from ldiversity.release._class_verify import verify_class_rows
from ldiversity.release._class_write import write_classes
from ldiversity.release._description import ClassDescription, ClassLayout, Format
from ldiversity.release._dtypes import to_frame
from ldiversity.release._evidence import CountedTally, Evidence, EvidenceTally, evidence_of_classes
from ldiversity.release._forms import Form
from ldiversity.release._pieces import pieces_of
from ldiversity.release._regions import Region
from ldiversity.release._row_parts import ReleaseParts, RowPart
from ldiversity.release._staging import staging_folder
from ldiversity.schema import Domain, Role, Schema
from ldiversity.tables import Frame_co, to_native

__all__ = ["ClassRelease"]


@dataclass(frozen=True, eq=False)
class ClassRelease(Release[Frame_co]):
    """A published table whose records are grouped into classes.

    In the layout ``generalized`` the records of a class share one region of the quasi-identifiers, and their values
    are in the rows in a random order; each sensitive attribute is shuffled on its own. In the layout ``bucketized``
    every record keeps its quasi-identifiers, and the values of a class are in a table of their own.
    Made by `anonymize` or `load_release`, not by hand.
    """

    mechanisms: Mapping[str, ClassMechanism]
    claims: tuple[ClassClaim, ...]
    layout: ClassLayout
    _rows: ClassRows = field(repr=False)
    _read_regions: dict[str, Region] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        classes = ", ".join(
            f"{counted(self.n_classes(name), 'class', 'classes')}{f' of {name!r}' if name else ''}"
            for name in self.subjects
        )
        others = len(self.schema.attributes) - len(self.sensitive)
        shape = f"{self.layout}: {classes}; {counted(others, 'other column')}"
        return fit_screen([f"<ClassRelease of {counted(self.n_rows, 'record')}, {shape}>"])

    @classmethod
    def of(
        cls,
        description: ClassDescription,
        rows: ClassRows,
        *,
        n_rows: int,
        frame_kind: str,
        notes: tuple[str, ...] = (),
    ) -> ClassRelease:
        """A release of rows that are in memory or in a folder."""
        return cls(**vars(description), n_rows=n_rows, frame_kind=frame_kind, notes=notes, _rows=rows)

    @classmethod
    def in_memory(  # noqa: PLR0913 - all that a grouped release is made of
        cls,
        *,
        schema: Schema,
        layout: ClassLayout,
        rules: Mapping[str, PrivacyModel | Sequence[PrivacyModel]],
        class_of: CodeArray | Mapping[str, CodeArray],
        values: Mapping[str, CodeArray],
        regions: pa.Table | None = None,
        columns: pa.Table | None = None,
        forms: Mapping[str, Form] | None = None,
        mechanisms: Mapping[str, ClassMechanism] | None = None,
        suppressed: int = 0,
        warnings: tuple[str, ...] = (),
        frame_kind: str = "arrow",
    ) -> ClassRelease:
        """A grouped release held in memory; its rows are published in the order given.

        Parameters
        ----------
        schema
            The published columns.
        layout
            ``"generalized"`` or ``"bucketized"``.
        rules
            What the classes of each sensitive attribute satisfy: a model, or several.
        class_of
            Shape (n,): the class of each row, from 0 without gaps; by sensitive attribute when each has its own.
        values
            The code of each row; only counts of them are kept when the layout is ``bucketized``.
        regions
            One row per class with the generalized quasi-identifiers, when the layout is ``generalized``.
        columns
            The columns that are published as they were.
        forms
            How each quasi-identifier is published; all of them exactly when None.
        mechanisms
            How the classes were made.

        Examples
        --------
        >>> from ldiversity.models import FrequencyDiversity
        >>> from ldiversity.schema import Attribute, Domain
        >>> disease = Attribute("disease", Role.SENSITIVE, "string", Domain(("cold", "flu")))
        >>> release = ClassRelease.in_memory(
        ...     schema=Schema((Attribute("age", Role.QUASI, "int64"), disease)),
        ...     layout="bucketized",
        ...     rules={"disease": FrequencyDiversity(l=2)},
        ...     class_of=np.array([0, 0, 1, 1]),
        ...     values={"disease": np.array([0, 1, 1, 0])},
        ...     columns=pa.table({"age": [20, 31, 45, 62]}),
        ... )
        >>> release.sensitive_table.to_pylist()[:2]
        [{'class_id': 1, 'value': 'cold', 'count': 1}, {'class_id': 1, 'value': 'flu', 'count': 1}]
        """
        names = schema.names(Role.SENSITIVE)
        separate = isinstance(class_of, Mapping)
        class_columns = {name: f"class_id_{name}" if separate else "class_id" for name in names}
        given = {class_columns[name]: class_of[name] if isinstance(class_of, Mapping) else class_of for name in names}
        classes = {column: np.asarray(of, dtype=np.int32) for column, of in given.items()}
        sizes = {column: int(of.max(initial=-1)) + 1 for column, of in classes.items()}
        bucketized = layout == "bucketized"
        counts = {
            name: count_classes(classes[column], values[name], sizes[column], schema.domain(name))
            for name, column in class_columns.items()
            if bucketized
        }
        codes = {name: np.asarray(values[name], dtype=np.int32) for name in names if not bucketized}
        plain = pa.table({}) if columns is None else columns
        shared = pa.table({}) if regions is None else low_ends_first(regions)
        rows = MemoryClassRows(sizes, classes, plain, shared, codes, counts)
        exact = dict.fromkeys(schema.names(Role.QUASI), Form("exact"))
        description = ClassDescription(
            schema,
            mechanisms or dict.fromkeys(names, ClassMechanism("given")),
            tuple(
                class_claim(name, rule, layout=layout, people=False) for name in names for rule in _several(rules[name])
            ),
            layout,
            forms or exact,
            class_columns,
            suppressed,
            warnings,
        )
        return cls.of(description, rows, n_rows=len(next(iter(classes.values()))), frame_kind=frame_kind)

    # --- what the data user asks --------------------------------------------------------------------

    def domain(self, attribute: str) -> Domain:
        """The public values of a sensitive attribute; of `PEOPLE`, that each is a record."""
        return RECORDS if attribute == PEOPLE and not self.sensitive else super().domain(attribute)

    def mechanism(self, attribute: str) -> ClassMechanism:
        """How a sensitive attribute was grouped."""
        self.domain(attribute)
        return self.mechanisms[attribute]

    def claims_of(self, attribute: str) -> tuple[ClassClaim, ...]:
        """All that every class of a sensitive attribute satisfies."""
        self.domain(attribute)
        return tuple(claim for claim in self.claims if claim.attribute == attribute)

    def claim(self, attribute: str) -> ClassClaim:
        """What every class of a sensitive attribute satisfies; of several claims, the one with the tightest bound."""
        return min(self.claims_of(attribute), key=lambda claim: claim.posterior)

    def method(self, attribute: str) -> str:
        """The name of the method that grouped the records."""
        return self.mechanism(attribute).method

    def parameters(self, attribute: str) -> Mapping[str, object]:
        """The public parameters of the method."""
        return self.mechanism(attribute).parameters

    def promised(self, attribute: str) -> list[PrivacyModel]:
        """What every class of an attribute satisfies."""
        return [claim.rule for claim in self.claims_of(attribute)]

    def facts(self, attribute: str) -> Mapping[str, object]:
        """Public facts about how grouping went."""
        return self.mechanism(attribute).facts

    def blind(self, attribute: str) -> bool:
        """Whether classes were formed without looking at quasi-identifiers."""
        return self.mechanism(attribute).blind

    def contradictions(self, attribute: str) -> int:
        """How many classes break the rule that is claimed."""
        own = [claim.rule for claim in self.claims_of(attribute) if not isinstance(claim, AlikeClaim)]
        broken = [rule.failing(self.classes(attribute)) for rule in own]
        return len(np.unique(np.concatenate(broken))) if broken else 0

    def tally(self, attribute: str) -> EvidenceTally:
        """Gathers nothing, because classes are already counted."""
        self.domain(attribute)
        return CountedTally(lambda: self.classes(attribute))

    def _gather(self, attribute: str) -> Evidence:
        return evidence_of_classes(self.classes(attribute), self.class_of(attribute))

    def classes(self, attribute: str) -> ClassCounts:
        """How often each value occurs in each class."""
        domain = self.domain(attribute)
        if attribute in self._evidence:
            return self._evidence[attribute].candidates
        if self.layout == "bucketized":
            return self._rows.counts(attribute)
        return count_classes(self.class_of(attribute), self.values(attribute), self.n_classes(attribute), domain)

    def class_of(self, attribute: str) -> CodeArray:
        """Shape (n,): the class of each row, from 0; its published number is greater by 1.

        -1 where a record shows no value of this attribute, which happens when each attribute has classes of its own.
        """
        self.domain(attribute)
        return self._rows.class_of(self.class_columns[attribute])

    def values(self, attribute: str) -> CodeArray:
        """Shape (n,): the code of each row, shuffled within each class (layout ``generalized``)."""
        self.domain(attribute)
        if attribute == PEOPLE:
            return np.zeros(self.n_rows, dtype=np.int32)
        if self.layout != "generalized":
            raise UnsupportedError(
                "release", f"the values of {attribute!r} are in a table of their own", hint="Use classes()."
            )
        return self._rows.values(attribute)

    def regions(self) -> pa.Table:
        """The generalized quasi-identifiers, one row per class: ``{low, high}``, a node's label or a list of values."""
        return self._regions if self.generalized else super().regions()

    def region(self, name: str) -> Region:
        """What the release says about a quasi-identifier, with a cell for each class where it is generalized."""
        if not self.generalized or name not in self.forms or self.forms[name].kind == "exact":
            return super().region(name)
        # A region keeps what it reads. Rows in memory are kept already; those of files are not.
        known = self._read_regions if isinstance(self._rows, MemoryClassRows) else {}
        if name not in known:
            column, cells = self.schema[name], self.regions()[name]
            known[name] = Region.of_classes(column, self.forms[name], cells, lambda: self.class_of(self.subjects[0]))
        return known[name]

    @cached_property
    def _regions(self) -> pa.Table:
        return self._rows.regions()

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Columns that are published as they were, as Arrow, in row order."""
        self._check_exact(names)
        return self._rows.columns(names)

    def batches(self, names: Sequence[str], attributes: Sequence[str] = ()) -> Iterator[RowBatch]:
        """Some rows at a time: columns as they were, and the classes and, where rows show them, codes of attributes."""
        self._check_exact(names)
        for name in attributes:
            self.domain(name)
        class_columns = {name: self.class_columns[name] for name in attributes}
        shown = self.layout == "generalized" and PEOPLE not in class_columns
        for batch in self._rows.batches(names, class_columns, with_values=shown):
            alone = PEOPLE in class_columns
            yield replace(batch, codes={PEOPLE: np.zeros(batch.n_rows, dtype=np.int32)}) if alone else batch

    def pieces(
        self, budget: Budget, attribute: str | None = None, *, columns: Sequence[str] | None = None
    ) -> Iterator[ClassRelease]:
        """The release in pieces of whole classes, in the order of classes, each a release by itself.

        For work that shall stay within a limit of memory. Rows that are in memory already are one piece. A claim about
        shares in the whole table, such as t-closeness, cannot be judged on a piece alone.

        Parameters
        ----------
        budget
            The memory that the run may take.
        attribute
            Whose classes; may be left out where all attributes share their classes. Only attributes with the same
            classes are part of the pieces.
        columns
            The columns that are needed as they were; all when None.
        """
        column = None if attribute is None else self.class_columns[attribute]
        given = self._rows, self._description
        with Spill() as spill:
            for piece in pieces_of(
                *given, n_rows=self.n_rows, budget=budget, spill=spill, class_column=column, columns=columns
            ):
                yield ClassRelease.of(piece.description, piece.rows, n_rows=piece.n_rows, frame_kind=self.frame_kind)

    def parts(self, most_rows: int, *, values_of: str | None = None) -> ReleaseParts:
        """The rows, or the table of values of an attribute, in parts of at most about so many rows."""
        rows = in_folder(self._rows)
        return ReleaseParts(replace(self, _rows=rows.anywhere()), rows.parts(most_rows, values_of))

    def of_part(self, part: RowPart) -> ClassRelease:
        """A part of the rows, or of a table of values, for readers anywhere."""
        return replace(self, _rows=in_folder(self._rows).of_part(part))

    def class_batches(
        self, attribute: str, *, own: Sequence[str] = (), regions: Sequence[str] = (), values: Sequence[str] = ()
    ) -> Iterator[CodedBatch]:
        """Rows that show a class of an attribute, some at a time: columns as they were, generalized cells, codes."""
        self._check_exact(own)
        column = self.class_columns[attribute]
        if not isinstance(self._rows, MemoryClassRows):
            yield from self._rows.coded_batches(column, values, regions, own)
            return
        cells = {name: self.region(name).cells for name in regions}
        for batch in self._rows.coded_batches(column, values, own=own):
            yield replace(batch, cells={name: known.take(batch.classes) for name, known in cells.items()})

    def value_batches(self, attribute: str) -> Iterator[tuple[ClassArray, CodeArray, NDArray[np.int64]]]:
        """The table of values, where there is one: classes, codes and counts in the order of classes."""
        return self._rows.value_batches(attribute)

    def n_classes(self, attribute: str) -> int:
        """How many classes an attribute has."""
        return self._rows.n_classes(self.class_columns[attribute])

    @cached_property
    def table(self) -> Frame_co:
        """The published table as a data frame, with the class of each row."""
        return cast("Frame_co", to_frame(self._ordered(self._flat_rows()), self.schema, self.frame_kind))

    def _flat_rows(self) -> pa.Table:
        return pa.concat_tables(publish_rows(self._description, self._rows))

    @property
    def sensitive_table(self) -> Frame_co:
        """How often each value occurs in each class: ``class_id``, ``value``, ``count``."""
        if not self.sensitive:
            raise UnsupportedError("release", "nothing is sensitive, so there are no values of classes")
        if len(self.sensitive) > 1:
            raise UnsupportedError(
                "release", "several attributes are sensitive, and each has a table of its own"
            ).with_hint(f"Use sensitive_tables[...] with one of {name_some(self.sensitive)}.")
        return self.sensitive_tables[self.sensitive[0]]

    @cached_property
    def sensitive_tables(self) -> Mapping[str, Frame_co]:
        """The table of the values of each sensitive attribute."""
        counted = {name: publish_counts(self._description, name, self.classes(name)) for name in self.sensitive}
        return {name: to_native(table, self.frame_kind) for name, table in counted.items()}

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What is not protected, in plain words."""
        return self._description.not_protected

    # --- files --------------------------------------------------------------------------------------

    def save(self, folder: str | os.PathLike[str], *, data_format: Format = "parquet", overwrite: bool = False) -> None:
        """Write the release as a folder, after checking its claims on the bytes written; all or nothing."""
        with staging_folder(Path(folder), overwrite=overwrite) as staging:
            write_classes(staging, self._description, self._rows, data_format=data_format)

    def verify(self, *, memory: str | int | None = None) -> None:
        """Check every claim on every class, or raise `ClaimError`; within a limit of memory, some classes at a time."""
        budget = None if memory is None else Budget(memory)
        verify_class_rows(self._rows, self._description, n_rows=self.n_rows, budget=budget)

    @property
    def _description(self) -> ClassDescription:
        return ClassDescription(**{part.name: getattr(self, part.name) for part in fields(ClassDescription)})

    def _check_exact(self, names: Sequence[str]) -> None:
        self._check_not_sensitive(names, "Ask for its classes instead.")
        generalized = [name for name in names if name in self.forms and self.forms[name].kind != "exact"]
        if generalized and self.generalized:
            raise SchemaError("table", "is generalized", column=generalized[0], hint="Use regions() and class_of().")


def _several(given: PrivacyModel | Sequence[PrivacyModel]) -> Sequence[PrivacyModel]:
    return [given] if isinstance(given, PrivacyModel) else given
