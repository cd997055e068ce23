"""Publishing classes of a table that does not fit into memory: it is cut into parts, which are grouped one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast

import numpy as np

from ldiversity.base.held import give_back
from ldiversity.base.progress import stage, tell, unwatched
from ldiversity.base.warned import warn
from ldiversity.engines import Rows, Secrets
from ldiversity.errors import InfeasibleError, ParameterError, UnsupportedError
from ldiversity.methods import Grouping, PartFacts, SensitiveColumn
from ldiversity.publish._class_outcome import ClassOutcome, class_columns_of
from ldiversity.publish._parts._cut import CutTable, cut_table
from ldiversity.publish._parts._decide import check_decides, decided
from ldiversity.publish._parts._forms import all_forms, public_forms
from ldiversity.publish._parts._group import KEY, GroupPart
from ldiversity.publish._parts._left_out import check_left_out
from ldiversity.publish._parts._measure import measure_table
from ldiversity.publish._parts._note import JoinedNotes, PartNote
from ldiversity.publish._parts._short import give_more_memory, short_of_memory
from ldiversity.publish._parts._show import PIECE, ClassNumbers, CountPiece, ShowRows, ShowValues
from ldiversity.publish._parts._sizes import PartSizes
from ldiversity.publish._parts._table import PART, TableShape, own_name
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._public import public_facts
from ldiversity.release import (
    ClassDescription,
    ClassRelease,
    ClassWriter,
    Form,
    ReadBack,
    ValuesWriter,
    Written,
    finish_classes,
    load_release,
)
from ldiversity.schema import Role
from ldiversity.sentences import Parameter, say

__all__ = ["publish_in_parts"]

_FINER: Final = 2
"""How often a table is cut into twice as many parts, where parts that were put together are too large."""


def publish_in_parts(
    preparation: Preparation, output: Path | None, *, overwrite: bool, secrets: Secrets, sizes: PartSizes
) -> ClassRelease:
    """Group the records of a table part by part, and publish the classes; no step needs all rows in memory."""
    check_in_parts(preparation, output)
    engine, data_format = preparation.engine, preparation.data_format
    with engine.staging(Path(str(output)), overwrite=overwrite) as staging:
        scratch = staging / "scratch"
        scratch.mkdir(mode=0o700)
        run = _Run(preparation, secrets, sizes, scratch)
        with stage("grouping", until=0.7):
            made = run.group()
        give_back()
        writer = ClassWriter(data_format, made.description)
        written = run.write(staging, writer, made)
        tables = {name: run.write_values(staging, writer, made, name) for name in made.bucketized}
        finish_classes(
            staging,
            writer,
            written,
            tables,
            n_classes={one.column: one.n_classes for one in made.numbers},
            n_records=made.n_records,
            back=ReadBack(engine.read_back, engine.memory, scratch),
        )
        scratch.rmdir()
        tell(1.0, "writing")
    with unwatched():  # the release is complete: nothing may stop it now
        release = cast("ClassRelease", load_release(Path(str(output)), frame=preparation.source.frame_kind))
    return replace(release, notes=made.notes)


def check_in_parts(preparation: Preparation, output: Path | None) -> None:
    """Say before any work what cannot be done in parts."""
    method, question = preparation.method, preparation.question
    if method.parts is None:
        raise short_of_memory(
            preparation.engine,
            method.name,
            "must hold the whole table, because the method needs all records at once",
            "use a method that groups a table in parts, such as bsgi or mondrian",
        )
    check_decides(preparation)
    if output is None:
        raise ParameterError("Publication", "output", "must be given, as the table does not fit into memory").with_hint(
            give_more_memory(preparation.engine, say("name a folder as {}", Parameter("output")))
        )
    if question.model and question.person is not None:
        raise UnsupportedError(
            "Publication", "model", "cannot be promised for people whose records do not fit into memory"
        ).with_hint(give_more_memory(preparation.engine, "leave it out"))


@dataclass(frozen=True, eq=False)
class _Made:
    """All of a release but its files."""

    description: ClassDescription
    grouped: Rows
    inside: Mapping[str, Form]
    numbers: tuple[ClassNumbers, ...]
    n_rows: int
    n_records: int
    notes: tuple[str, ...]
    shape: TableShape

    @property
    def bucketized(self) -> tuple[str, ...]:
        """The attributes whose values stand in tables of their own."""
        apart = self.description.layout == "bucketized"
        return self.description.schema.names(Role.SENSITIVE) if apart else ()


@dataclass(frozen=True, eq=False)
class _Run:
    preparation: Preparation
    secrets: Secrets
    sizes: PartSizes
    scratch: Path

    def group(self) -> _Made:
        """Measure the table, decide what is the same for all its parts, and group them."""
        preparation, method = self.preparation, self.preparation.method
        columns = [
            SensitiveColumn(name, np.zeros(0, dtype=np.int32), coder.domain, whole=preparation.counts[name])
            for name, coder in preparation.coders.items()
        ]
        if columns:
            method.check_counts(columns)
        with stage("measuring", until=0.2):
            shape = measure_table(preparation, self.secrets)
        method = decided(preparation, shape, self.secrets)
        return replace(self, preparation=replace(preparation, decided=method)).made(shape)

    def made(self, shape: TableShape) -> _Made:
        """Cut and group the table, and describe what came of it."""
        preparation, method = self.preparation, self.preparation.method
        inside = {} if method.layout == "bucketized" else all_forms(shape)
        cut, grouped = self._grouped(shape, inside)
        notes = JoinedNotes([PartNote.from_bytes(note) for note in grouped.notes()])
        for warning in notes.warnings:
            warn(warning)
        if notes.published < cut.n_rows:
            check_left_out(preparation, cut.shape, notes)
        forms = self._forms(cut.shape, notes, inside, grouped)
        outcome = self._outcome(cut, notes, forms)
        offsets = notes.offsets()
        class_columns = list(dict.fromkeys(class_columns_of(preparation.schema, len(notes.classes)).values()))
        numbers = tuple(
            ClassNumbers(column, np.ascontiguousarray(offsets[:, place]), notes.classes[place])
            for place, column in enumerate(class_columns)
        )
        several = len(notes.notes)
        parted = (f"The table was grouped in {several} parts, so that each fits into memory.",) if several > 1 else ()
        said = (*outcome.holder_notes(), *parted)
        return _Made(outcome.describe(), grouped, inside, numbers, notes.published, cut.n_rows, said, cut.shape)

    def _grouped(self, shape: TableShape, inside: Mapping[str, Form]) -> tuple[CutTable, Rows]:
        """The rows in classes. Where a part cannot be grouped by itself, there are fewer and larger parts.

        Where parts were put together that are too large then, smaller ones are put together.
        """
        preparation, engine = self.preparation, self.preparation.engine
        n_parts = self.sizes.number(preparation.n_rows)
        finer = 0
        while True:
            with stage("cutting", until=0.3):
                cut = cut_table(
                    preparation,
                    shape,
                    n_parts,
                    largest=self.sizes.largest,
                    secrets=self.secrets,
                    scratch=self.scratch,
                )
            if cut.largest > self.sizes.largest and cut.n_parts > 1:
                if finer == _FINER or preparation.method.parts != "near":
                    raise self._too_large(cut)
                finer, n_parts = finer + 1, 2 * n_parts
                continue
            several = preparation.method.n_partitions(max(len(shape.coders), 1))
            factory = GroupPart(cut.shape, preparation.method, several, inside, engine.name)
            parts = engine.partition(
                factory, cut.rows, by=PART, n_parts=cut.n_parts, secrets=self.secrets, scratch=self.scratch
            )
            give_back()
            try:
                return cut, engine.keep(parts, scratch=self.scratch)
            except InfeasibleError as error:
                if n_parts == 1:
                    raise
                n_parts //= 2
                if finer or preparation.n_rows > self.sizes.largest * n_parts:
                    raise self._not_alone(error) from None

    def _not_alone(self, error: InfeasibleError) -> UnsupportedError:
        rule = say("must hold larger parts of the table, because in one that fits {}", error.message)
        return short_of_memory(self.preparation.engine, self.preparation.method.name, rule, "promise less")

    def _too_large(self, cut: CutTable) -> UnsupportedError:
        rule = f"must hold {cut.largest} of {cut.n_rows} records at once: they cannot be grouped in smaller parts"
        return short_of_memory(self.preparation.engine, self.preparation.method.name, rule, "promise less")

    def _forms(
        self, shape: TableShape, notes: JoinedNotes, inside: Mapping[str, Form], grouped: Rows
    ) -> dict[str, Form]:
        preparation = self.preparation
        if preparation.method.layout == "generalized":
            return public_forms(preparation, shape, notes, dict(inside))
        shown = {}
        for name in preparation.levels:
            found = preparation.engine.count(grouped, [own_name(name)])
            shown[name] = [] if found is None else found.column(own_name(name)).to_pylist()
        return preparation.forms(shown)

    def _outcome(self, cut: CutTable, notes: JoinedNotes, forms: Mapping[str, Form]) -> ClassOutcome:
        preparation = self.preparation
        domains = preparation.domains
        said = Grouping((), of_values={f: {n: np.array(v) for n, v in c.items()} for f, c in notes.of_values.items()})
        before = {name: SensitiveColumn(name, np.zeros(0, dtype=np.int32), domain) for name, domain in domains.items()}
        facts: list[PartFacts] = notes.facts(cut.left_out)
        return ClassOutcome(
            preparation,
            domains,
            forms,
            len(notes.classes),
            {**preparation.method.join_facts(facts), **public_facts(said, before, domains)},
            n_records=cut.n_rows,
            n_published=notes.published,
            left_out_before=0,
            steps=cut.shape.steps,
            notes=(),
            warnings=notes.warnings,
        )

    def write(self, staging: Path, writer: ClassWriter, made: _Made) -> list[Written]:
        """Write the rows in a random order."""
        engine = self.preparation.engine
        generalized = made.description.layout == "generalized"
        factory = ShowRows(
            made.numbers,
            tuple(made.shape.coders) if generalized else (),
            made.inside,
            made.shape.types,
            made.shape.plain,
        )
        # Rows wait for their order in codes, which take less room than what is published.
        grouped, n_rows = made.grouped, made.n_rows
        ordered = engine.order(grouped, n_rows=n_rows, scratch=self.scratch, secrets=self.secrets, by=KEY)
        shown = engine.map(factory, ordered, ordered.schema.names, secrets=self.secrets)
        return engine.write(staging, writer, shown)

    def write_values(self, staging: Path, writer: ClassWriter, made: _Made, name: str) -> list[Written]:
        """Write the values of each class, in the order of the numbers of classes."""
        engine, description = self.preparation.engine, made.description
        place = next(p for p, one in enumerate(made.numbers) if one.column == description.class_columns[name])
        numbers = made.numbers[place]
        n_pieces = self.sizes.number(made.n_rows)
        piece = -(-numbers.n_classes // n_pieces)
        factory = ShowValues(numbers, place, name, piece)
        shown = engine.map(factory, made.grouped, made.grouped.schema.names, secrets=self.secrets)
        counting = CountPiece(numbers, len(description.schema.domain(name)))
        pieces = engine.partition(
            counting, shown, by=PIECE, n_parts=n_pieces, secrets=self.secrets, scratch=self.scratch
        )
        return engine.write(staging, ValuesWriter(writer.data_format, description, name), pieces)
