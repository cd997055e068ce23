"""`SetRelease`: every sensitive cell is hidden in a set of values."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final, cast

import numpy as np
import pyarrow as pa

from ldiversity.base.answers import fit_screen
from ldiversity.base.arrays import CodeArray, SetArray
from ldiversity.base.budget import Budget
from ldiversity.base.numbers import counted
from ldiversity.errors import ClaimError, UnsupportedError
from ldiversity.mechanisms import SetMechanism
from ldiversity.models import DistinctDiversity, PrivacyModel, SemanticClassDiversity
from ldiversity.release._base import Release
from ldiversity.release._batches import BLOCK_ROWS, RowBatch
from ldiversity.release._claims import AlikeClaim, Claim, claim_of
from ldiversity.release._coded import codes_of, member_names, publish_batch, sets_of, wrap_sets
from ldiversity.release._description import Format, ReleaseDescription, SetLayout
from ldiversity.release._dtypes import keep_shown, to_frame
from ldiversity.release._epsilon_bound import EpsilonBound
from ldiversity.release._evidence import Evidence, EvidenceTally, SetTally, evidence_of_members
from ldiversity.release._flat import free_name
from ldiversity.release._forms import Form
from ldiversity.release._posterior_bound import PosteriorBound
from ldiversity.release._read import FolderData
from ldiversity.release._row_parts import ReleaseParts, RowPart, in_memory, row_parts
from ldiversity.release._sinks import no_records_left
from ldiversity.release._staging import staging_folder
from ldiversity.release._verify import Rows, verify_rows
from ldiversity.release._write import write_release
from ldiversity.schema import Role, Schema
from ldiversity.tables import Frame_co

__all__ = ["SetRelease", "explode_rows"]

_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class _MemoryRows:
    plain: pa.Table
    coded: Mapping[str, SetArray | CodeArray]

    def columns(self, names: Sequence[str]) -> pa.Table:
        return self.plain.select(list(names))

    def sets(self, attribute: str) -> SetArray:
        return self.coded[attribute]

    def iterate_sets(self, attribute: str) -> Iterator[SetArray]:
        yield self.coded[attribute]

    def members(self, attribute: str) -> CodeArray:
        return self.coded[attribute]

    def batches(self, names: Sequence[str], attributes: Sequence[str]) -> Iterator[RowBatch]:
        n_rows = len(next(iter(self.coded.values())))
        for start in range(0, n_rows, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, n_rows)
            columns = self.plain.select(list(names)).slice(start, stop - start)
            yield RowBatch(stop - start, columns, {name: self.coded[name][start:stop] for name in attributes})


@dataclass(frozen=True, eq=False)
class SetRelease(Release[Frame_co]):
    """A published table: quasi-identifiers as they were or at a declared level, and a set for every sensitive cell.

    Made by `anonymize` or `load_release`, not by hand.

    Attributes
    ----------
    collected
        Whether people's own devices drew the sets, so that nobody else ever had their answers.
    """

    mechanisms: Mapping[str, SetMechanism]
    claims: tuple[Claim | AlikeClaim, ...]
    layout: SetLayout
    _rows: Rows = field(repr=False)
    collected: bool = field(default=False, kw_only=True)

    def __repr__(self) -> str:
        hidden = ", ".join(f"{name!r} by {self.mechanisms[name].kind}" for name in self.sensitive)
        others = len(self.schema.attributes) - len(self.sensitive)
        return fit_screen(
            [f"<Release of {counted(self.n_rows, 'record')}: {hidden}; {counted(others, 'other column')}>"]
        )

    @classmethod
    def in_memory(
        cls,
        *,
        schema: Schema,
        columns: pa.Table,
        sets: Mapping[str, SetArray],
        mechanisms: Mapping[str, SetMechanism],
        frame_kind: str = "arrow",
        forms: Mapping[str, Form] | None = None,
        collected: bool = False,
    ) -> SetRelease:
        """A release of sets held in memory; its rows are published in the order given.

        Columns that `forms` describes as nodes hold labels. `collected` says that devices drew the sets.
        """
        claims = tuple(claim_of(name, mechanisms[name]) for name in schema.names(Role.SENSITIVE))
        n_rows = len(next(iter(sets.values())))
        return cls(
            schema,
            mechanisms,
            claims,
            n_rows,
            "sets",
            frame_kind,
            _MemoryRows(columns, dict(sets)),
            forms=forms or {},
            collected=collected,
        )

    @classmethod
    def from_coded(
        cls, description: ReleaseDescription, coded: pa.Table, *, frame_kind: str, notes: tuple[str, ...] = ()
    ) -> SetRelease:
        """A release in memory, from rows with codes in the sensitive columns."""
        schema = keep_shown(description.schema, coded)
        rows: dict[str, SetArray | CodeArray] = {}
        n_records = coded.num_rows
        if n_records == 0:
            raise no_records_left()
        for name in schema.names(Role.SENSITIVE):
            l = description.mechanisms[name].l
            if description.layout == "sets":
                rows[name] = sets_of(coded.column(name), l)
            else:
                rows[name], n_records = codes_of(coded.column(name)), coded.num_rows // l
        described = {**vars(description), "schema": schema}
        plain = coded.select(schema.names(Role.QUASI, Role.PLAIN))
        return cls(**described, n_rows=n_records, frame_kind=frame_kind, _rows=_MemoryRows(plain, rows), notes=notes)

    # --- what the data user asks --------------------------------------------------------------------

    @property
    def epsilon(self) -> float | None:
        """What one record spends, all sensitive attributes added up; None where one of them rules values out.

        A person spends it once for each of their rows.
        """
        each = [self.mechanisms[name].epsilon for name in self.sensitive]
        known = [one for one in each if one is not None]
        return sum(known) if len(known) == len(each) else None

    def drawn_together(self, attribute: str) -> bool:
        """Whether the sets of one person belong together; with an epsilon, every row is a draw of its own."""
        return self.person and self.mechanisms[attribute].epsilon is None

    @property
    def rows_per_record(self) -> int:
        """How many rows of the table each record has."""
        return self.mechanisms[self.sensitive[0]].l if self.layout == "exploded" else 1

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What is not protected, in plain words."""
        return self._description.not_protected

    def method(self, attribute: str) -> str:
        """The kind of mechanism that draws the sets."""
        return self.mechanism(attribute).kind

    def parameters(self, attribute: str) -> Mapping[str, object]:
        """The public parameters of the mechanism."""
        described = self.mechanism(attribute).parameters()
        return {name: value for name, value in described.items() if name not in {"kind", "version"}}

    def tally(self, attribute: str) -> EvidenceTally:
        """Gathers the different sets of records."""
        return SetTally(attribute, self.domain(attribute), self.mechanism(attribute))

    def _gather(self, attribute: str) -> Evidence:
        domain, mechanism = self.domain(attribute), self.mechanism(attribute)
        if self.layout == "exploded":
            return evidence_of_members(self._rows.members(attribute), domain, mechanism)
        tally = SetTally(attribute, domain, mechanism, linked=True)
        for batch in self._rows.batches([], [attribute]):
            tally.add(batch)
        return tally.result()

    def mechanism(self, attribute: str) -> SetMechanism:
        """How a sensitive attribute was hidden, with its exact facts."""
        self.schema.domain(attribute)  # says what is wrong when the attribute is not sensitive
        return self.mechanisms[attribute]

    def claims_of(self, attribute: str) -> tuple[Claim | AlikeClaim, ...]:
        """The claim about a sensitive attribute, and promises about records that look alike."""
        self.schema.domain(attribute)
        return tuple(claim for claim in self.claims if claim.attribute == attribute)

    def drawn_by(self, attribute: str) -> SetMechanism:
        """The mechanism that drew the sets of an attribute."""
        return self.mechanism(attribute)

    def promised(self, attribute: str) -> list[PrivacyModel]:
        """The claim as models: l values, at least d apart, none more likely than the posterior; and the epsilon.

        Exploded rows do not show sets, so bounds on probabilities cannot be checked on them. With an epsilon, values
        that a set does not show are possible too, so there is no promise about how many are.
        """
        claim = self.claim(attribute)
        promised: list[PrivacyModel] = [DistinctDiversity(claim.l)] if claim.epsilon is None else []
        distance = getattr(self.mechanism(attribute), "distance", None)
        if claim.d is not None and claim.d > 0 and distance is not None and claim.epsilon is None:
            promised.append(SemanticClassDiversity(claim.l, claim.d, distance))
        if claim.epsilon is not None and self.layout == "sets":
            promised.append(EpsilonBound(claim.epsilon))
        if claim.posterior < 1 and self.layout == "sets":
            promised.append(PosteriorBound(claim.posterior))
        return [*promised, *(one.rule for one in self.claims_of(attribute) if isinstance(one, AlikeClaim))]

    def claim(self, attribute: str) -> Claim:
        """What is promised of a sensitive attribute."""
        self.schema.domain(attribute)
        return next(one for one in self.claims if isinstance(one, Claim) and one.attribute == attribute)

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Published columns that are not sensitive, as Arrow, in row order."""
        self._check_not_sensitive(names, "Ask for its sets instead.")
        return self._rows.columns(names)

    def sets(self, attribute: str) -> SetArray:
        """The published sets of an attribute as codes, shape (n, l)."""
        self.schema.domain(attribute)
        if self.layout != "sets":
            raise UnsupportedError(
                "release", f"{attribute!r} was published as exploded rows, which have no sets"
            ).with_hint("Analyse it from counts, with estimator 'linear' or 'simplex'.")
        return self._rows.sets(attribute)

    def members(self, attribute: str) -> CodeArray:
        """The published codes of an exploded attribute, one per row."""
        self.schema.domain(attribute)
        if self.layout != "exploded":
            raise UnsupportedError("release", f"{attribute!r} was published as sets", hint="Use sets().")
        return self._rows.members(attribute)

    def batches(self, names: Sequence[str], attributes: Sequence[str] = ()) -> Iterator[RowBatch]:
        """Some rows at a time: columns that are not sensitive, and the sets or exploded members of attributes."""
        self._check_not_sensitive(names, "Name it among the attributes.")
        for name in attributes:
            self.schema.domain(name)
        return self._rows.batches(names, attributes)

    def parts(self, most_rows: int, *, values_of: str | None = None) -> ReleaseParts:
        """The rows in parts of at most about so many rows, which workers can read; they must see the folder."""
        if values_of is not None:
            raise self._has_no(values_of, "classes", "Leave it out.")
        rows = self._folder()
        parts = row_parts(rows.folder, rows.files, rows.data_format, most_rows)
        return ReleaseParts(replace(self, _rows=rows.anywhere()), parts)

    def of_part(self, part: RowPart) -> SetRelease:
        """A part of the rows, for readers anywhere."""
        return replace(self, _rows=replace(self._folder(), files=[part], reader=part).anywhere())

    def _folder(self) -> FolderData:
        if not isinstance(self._rows, FolderData):
            raise in_memory()
        return self._rows

    @cached_property
    def table(self) -> Frame_co:
        """The published table as a data frame, with one list column per sensitive attribute."""
        published = publish_batch(self._coded(), self.schema, layout=self.layout, as_columns=False)
        return cast("Frame_co", to_frame(self._ordered(_plain_lists(published)), self.schema, self.frame_kind))

    def explode(self) -> Frame_co:
        """The rows as paper 004 shows them (Table 7): one row per member of a record's set.

        For people to look at, and for tools without lists. Estimates use the sets themselves.
        """
        (attribute,) = self.sensitive if len(self.sensitive) == 1 else ("",)
        if not attribute:
            raise UnsupportedError("release", "only one sensitive attribute can be exploded")
        if self.layout == "exploded":
            return self.table
        coded = self.columns(self._other_columns())
        exploded = explode_rows(coded, attribute, self.sets(attribute))
        rows = publish_batch(exploded, self.schema, layout="exploded", as_columns=False)
        return cast("Frame_co", to_frame(self._ordered(rows), self.schema, self.frame_kind))

    # --- files --------------------------------------------------------------------------------------

    def save(self, folder: str | os.PathLike[str], *, data_format: Format = "parquet", overwrite: bool = False) -> None:
        """Write the release as a folder, after checking its claims on the bytes written; all or nothing."""
        with staging_folder(Path(folder), overwrite=overwrite) as staging:
            write_release(staging, self._description, [self._coded()], data_format=data_format)

    def verify(self, *, memory: str | int | None = None) -> None:
        """Check every claim against its mechanism and on every row, or raise `ClaimError`.

        Rows of a folder are read some at a time, so this takes little memory, whatever `memory` allows.
        """
        if memory is not None:
            Budget(memory)
        for claim in (one for one in self.claims if isinstance(one, Claim)):
            promised = claim_of(claim.attribute, self.mechanisms[claim.attribute])
            if claim.posterior < promised.posterior * (1 - _ROUNDING) or _stricter(claim.epsilon, promised.epsilon):
                raise ClaimError("the claim promises more than its mechanism can keep", column=claim.attribute)
        verify_rows(self._rows, self._description, n_records=self.n_rows)

    @property
    def _description(self) -> ReleaseDescription:
        return ReleaseDescription(
            self.schema,
            self.mechanisms,
            self.claims,
            self.layout,
            forms=self.forms,
            confirmed=self.confirmed,
            person=self.person,
            collected=self.collected,
        )

    def _flat_rows(self) -> pa.Table:
        rows = publish_batch(self._coded(), self.schema, layout=self.layout, as_columns=True)
        taken, names = set(self.schema.names()), list[str]()
        for name in self.schema.names():
            hidden = name in self.sensitive and self.layout == "sets"
            several = member_names(name, self.mechanisms[name].l) if hidden else []
            names += [free_name(member, taken) for member in several] if hidden else [name]
            taken.update(names)
        return rows.rename_columns(names)

    def _coded(self) -> pa.Table:
        coded = self.columns(self._other_columns())
        for name in self.sensitive:
            column = wrap_sets(self.sets(name)) if self.layout == "sets" else pa.array(self.members(name))
            coded = coded.append_column(name, column) if coded.num_columns else pa.table({name: column})
        return coded

    def _other_columns(self) -> list[str]:
        return [name for name in self.schema.names() if name not in self.sensitive]


def _stricter(said: float | None, kept: float | None) -> bool:
    """Whether an epsilon promises more than another; none promises nothing."""
    return said is not None and (kept is None or said < kept)


def explode_rows(columns: pa.Table, attribute: str, sets: SetArray) -> pa.Table:
    """One row per member: the other columns are repeated, and the attribute's column has one code."""
    n, l = sets.shape
    repeated = columns.take(pa.array(np.repeat(np.arange(n), l))) if columns.num_columns else columns
    members = pa.array(np.ascontiguousarray(sets).reshape(-1))
    return repeated.append_column(attribute, members) if columns.num_columns else pa.table({attribute: members})


def _plain_lists(table: pa.Table) -> pa.Table:
    """Turn lists of dictionary entries into lists of plain values, which every data frame supports."""
    for position, column in enumerate(table.schema):
        if pa.types.is_list(column.type) and pa.types.is_dictionary(column.type.value_type):
            plain = table.column(position).cast(pa.list_(column.type.value_type.value_type))
            table = table.set_column(position, column.name, plain)
    return table
