"""All that is decided before the first value is hidden."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray
from ldiversity.base.findings import Confirmed
from ldiversity.base.limits import MOST_VALUES
from ldiversity.base.randomness import FreshWords
from ldiversity.engines import Engine
from ldiversity.errors import InfeasibleError, LDiversityError, SchemaError
from ldiversity.hierarchies import Hierarchy
from ldiversity.mechanisms import SINGULAR_CONDITION, SetMechanism
from ldiversity.methods import GroupingMethod, Method, RandomizingMethod
from ldiversity.publish._coarse import CoarseColumns, check_levels
from ldiversity.publish._coding import Reading, read_table
from ldiversity.publish._columns_read import published_type
from ldiversity.publish._draw import HiddenAttribute
from ldiversity.publish._grids import Grids, check_steps, choose_steps
from ldiversity.publish._hierarchies import is_made, read_hierarchies
from ldiversity.publish._ladders import Ladder
from ldiversity.publish._levels import Level
from ldiversity.publish._notes import holder_notes, is_declared, plain_notes, raised_notes
from ldiversity.publish._promised import check_promises
from ldiversity.publish._raising import raise_levels
from ldiversity.publish._uniqueness import ColumnUniqueness, LookAlikes
from ldiversity.release import EXACT, PEOPLE, RECORDS, Form, Format, check_publishable, no_records_left, parse_type
from ldiversity.schema import Attribute, Domain, Role, Schema
from ldiversity.sentences import Parameter, say
from ldiversity.tables import (
    Coder,
    SelectedRows,
    Sensitive,
    Source,
    check_roles,
    fit_coder,
    with_values,
)

if TYPE_CHECKING:
    from ldiversity.publish._publication import Publication

__all__ = ["Preparation", "fit_mechanism", "prepare"]


@dataclass(frozen=True)
class Preparation:
    """All that is decided before the first value is hidden, or the first row grouped.

    Attributes
    ----------
    source
        The table, without the rows that are dropped because a sensitive value is missing.
    schema
        The columns that will be published.
    coders, counts
        How each sensitive column is coded, and how often each value occurs. The counts are never published.
    levels
        How coarsely records show quasi-identifiers, with the hierarchies of files.
    notes
        What the holder should know.
    confirmed
        Columns that name people or give a value away, which the holder chose to publish.
    decided
        The method with what it decided for all parts of the table, where it is grouped in parts.
    """

    question: Publication
    source: Source
    schema: Schema
    coders: Mapping[str, Coder]
    counts: Mapping[str, NDArray[np.int64]]
    hierarchies: Mapping[str, Hierarchy]
    levels: Mapping[str, Level]
    engine: Engine
    notes: tuple[str, ...] = ()
    confirmed: tuple[Confirmed, ...] = ()
    decided: GroupingMethod | None = None

    @property
    def method(self) -> GroupingMethod:
        """How records are grouped."""
        if self.decided is not None:
            return self.decided
        if self.question.grouping is None:
            raise TypeError(self.question)
        return self.question.grouping

    @property
    def data_format(self) -> Format:
        """How rows are stored: as was chosen, or else as the table is."""
        return self.question.data_format or self.source.published_as

    @property
    def grid(self) -> Grids | None:
        """The steps that the holder declared; None when intervals have no grid."""
        if self.method.layout == "bucketized" or self.question.grid == EXACT:
            return None
        return self.question.grid

    @property
    def n_rows(self) -> int:
        """About how many records there are."""
        if not self.counts:
            known = self.source.n_rows
            return sum(batch.num_rows for batch in self.source.batches(self.question.quasi)) if known is None else known
        return min(int(count.sum()) for count in self.counts.values())

    @property
    def domains(self) -> dict[str, Domain]:
        """The values of what promises are about: of sensitive columns, or that each is a record."""
        return {name: coder.domain for name, coder in self.coders.items()} or {PEOPLE: RECORDS}

    @property
    def undeclared(self) -> tuple[str, ...]:
        """Sensitive attributes whose domain was taken from the table."""
        return tuple(one.name for one in self.question.sensitive if not is_declared(one))

    @property
    def published_types(self) -> dict[str, pa.DataType]:
        """The columns that are published as they are, with their types."""
        names = self.schema.names(Role.QUASI, Role.PLAIN)
        return {name: published_type(name, self.shown.columns[name]) for name in names}

    @property
    def shown(self) -> Source:
        """The table as it is read from here on: columns with a level hold its labels."""
        return CoarseColumns(self.source, self.levels) if self.levels else self.source

    @cached_property
    def ladders(self) -> dict[str, Ladder]:
        """Columns that begin at a declared level, for a method that generalizes them further."""
        if not self.levels or self.question.grouping is None or self.method.layout == "bucketized":
            return {}
        found = {}
        for name, values in LookAlikes.read(self.source, self.levels).all_values().items():
            found[name] = Ladder.of(name, values, self.levels[name])
        return found

    def uniqueness(self) -> tuple[ColumnUniqueness, ...]:
        """How many are unique at each level of each quasi-identifier, the others as declared."""
        looks = LookAlikes.read(self.source, self.schema.names(Role.QUASI), person=self.question.person)
        return looks.by_level(self.levels, self.declared_trees)

    @property
    def declared_trees(self) -> dict[str, Hierarchy]:
        """Hierarchies that were not made from the values of the table."""
        return {name: tree for name, tree in self.hierarchies.items() if tree.origin is None}

    def tree_forms(self, forms: Mapping[str, Form]) -> dict[str, Form]:
        """Forms of columns that begin at a level of a declared hierarchy, which is described whole."""
        kinds = {name: parse_type(self.schema[name].type) for name in self.ladders}
        return {
            name: self.levels[name].form(name, forms[name].labels, kinds[name])
            for name, ladder in self.ladders.items()
            if not ladder.rungs
        }

    def forms(self, shown: Mapping[str, Iterable[str]]) -> dict[str, Form]:
        """How each quasi-identifier is published, given the labels that published records show."""
        return {
            name: self.levels[name].form(name, shown[name], parse_type(self.schema[name].type))
            if name in self.levels
            else Form("exact")
            for name in self.schema.names(Role.QUASI)
        }

    @cached_property
    def labels(self) -> dict[str, list[str]]:
        """The labels of each column with a level that records of the table show."""
        found = {}
        for name in self.levels:
            counted = self.engine.count(self.shown, [name], most=MOST_VALUES)
            if counted is None:
                raise SchemaError(
                    "table", f"must have at most {MOST_VALUES} different labels", column=name, got="more"
                ).with_hint("Choose a coarser level.")
            found[name] = counted.column(name).cast(pa.string()).to_pylist()
        return found

    @cached_property
    def hidden(self) -> tuple[HiddenAttribute, ...]:
        """The sensitive attributes with their mechanisms, for methods that hide each value on its own.

        Raises
        ------
        InfeasibleError
            When a method cannot keep its promise; names the column.
        """
        methods = self.question.methods
        return tuple(
            HiddenAttribute(name, coder, fit_mechanism(methods[name], coder.domain, named=name))
            for name, coder in self.coders.items()
        )

    def only(self, rows: BoolArray) -> Preparation:
        """The same decisions for some rows alone, so that nothing depends on the others."""
        return prepare(self.question, SelectedRows(self.source, rows), self.engine)

    def read(self, words: FreshWords) -> Reading:
        """Read the table as the method sees it."""
        reading = read_table(
            self.shown,
            engine=self.engine,
            quasi=self.schema.names(Role.QUASI),
            plain=self.schema.names(Role.PLAIN),
            coders=self.coders,
            words=words,
            hierarchies={**self.hierarchies, **{name: ladder.tree for name, ladder in self.ladders.items()}},
            person=self.question.person,
            automatic=self.method.needs_hierarchies,
            made=[
                *(name for name, given in self.question.hierarchies.items() if is_made(given)),
                *(name for name, ladder in self.ladders.items() if ladder.tree.origin is not None),
            ],
            exact=self.method.layout == "bucketized",
        )
        return reading if self.grid is None else replace(reading, steps=choose_steps(self.grid, reading))


def prepare(question: Publication, source: Source, engine: Engine) -> Preparation:
    """Check the roles, read the domains, and decide what would be published; nothing is hidden or grouped yet."""
    wanted = question.sensitive
    groups = question.grouping is not None
    ids = question.record_id if question.person is None else (question.person,)
    without_role = check_roles(
        source,
        quasi=question.quasi,
        sensitive=[one.name for one in wanted],
        drop=question.drop,
        plain=question.plain,
        record_id=ids,
        needed=not groups,
    )
    whole = source
    # Labels are public, so with levels rows that are dropped must not be seen.
    source, missing = _with_values(
        source, wanted, needed=groups or len(wanted) > 1 or bool(question.levels or question.model)
    )
    levels = check_levels(question.levels, source, question.quasi)
    trees = read_hierarchies(question.hierarchies, source, question.quasi)
    if question.model:
        ladders = {name: tree for name, tree in trees.items() if tree.origin is None}
        levels = raise_levels(_look_alikes(question, source, engine), levels, ladders, question.model)
    trees = {name: tree for name, tree in trees.items() if name not in levels}
    check_steps(question.grid, {name: published_type(name, source.columns[name]) for name in question.quasi}, trees)

    def count(rows: Source, column: str, most: int) -> pa.Table | None:
        return engine.count(rows, [column], most=most)

    fitted = {one.name: fit_coder(source, one, count=count) for one in wanted}
    coders = {name: coder for name, (coder, _) in fitted.items()}
    counts = {name: own for name, (_, own) in fitted.items()}
    schema = _schema(source, question.quasi, question.plain, coders, levels)
    if groups:
        _check_free(schema)
        # A method sees sensitive columns in the order of the table.
        coders = {name: coders[name] for name in schema.names(Role.SENSITIVE)}
    if question.grouping is not None:
        check_promises(question.grouping, {name: coder.domain for name, coder in coders.items()})
    notes = holder_notes(whole, wanted, counts, missing=missing, without_role=without_role)
    notes += plain_notes(question.plain, secrets=bool(wanted)) if groups else ()
    notes += raised_notes(question.levels, levels)
    return Preparation(question, source, schema, coders, counts, trees, levels, engine, notes)


def _look_alikes(question: Publication, source: Source, engine: Engine) -> LookAlikes:
    quasi, person, memory = question.quasi, question.person, engine.memory
    if memory is None:
        return LookAlikes.read(source, quasi, person=person)
    return LookAlikes.counted(source, quasi, person=person, memory=memory, chunk_rows=engine.chunk_rows)


def fit_mechanism(method: Method, domain: Domain, *, named: str | None) -> SetMechanism:
    """Fit a method that hides each value on its own; an error names the column, if one is given."""
    if not isinstance(method, RandomizingMethod):
        raise TypeError(method)
    try:
        return _recoverable(method, method.fit(domain))
    except LDiversityError as error:
        if named is not None:
            error.about(named)
        raise


def _recoverable(method: Method, mechanism: SetMechanism) -> SetMechanism:
    """The mechanism, unless nothing could be estimated from its sets; this package's own refuse that themselves."""
    if mechanism.condition < SINGULAR_CONDITION:
        return mechanism
    rule = "the inclusion matrix is singular, so no distribution could be estimated"
    other = "domain" if method.strength is None else say("{} or another domain", Parameter(method.strength))
    hint = say("Another {} may do.", other)
    raise InfeasibleError(type(method).__name__, rule, hint=hint)


def _with_values(
    source: Source, wanted: Sequence[Sensitive], *, needed: bool
) -> tuple[Source, Mapping[str, int] | None]:
    """The rows that can be published, so that nothing depends on rows that are dropped for a missing value.

    Also how many values of each column are missing; None where this was not counted.
    """
    names = [attribute.name for attribute in wanted if attribute.missing == "drop" and attribute.name in source.columns]
    if not names or not needed:
        return source, None
    rows, missing = with_values(source, names)
    if missing.n_rows and not missing.n_whole and missing.n_rows not in missing.of_column.values():
        raise no_records_left()
    return (rows if missing.n_whole else source), missing.of_column


def _schema(
    source: Source,
    quasi: Sequence[str],
    plain: Sequence[str],
    coders: Mapping[str, Coder],
    levels: Collection[str],
) -> Schema:
    attributes = []
    for name, kind in source.columns.items():
        if name in coders:
            coder = coders[name]
            attributes.append(Attribute(name, Role.SENSITIVE, str(coder.type), coder.domain))
        elif name in quasi or name in plain:
            role = Role.QUASI if name in quasi else Role.PLAIN
            described = _described(source, name, role, published_type(name, kind))
            # Categories were those of the exact values.
            plainly = name in levels and described.dtype in {"category", "ordered"}
            attributes.append(replace(described, dtype=None, categories=()) if plainly else described)
    schema = Schema(tuple(attributes))
    check_publishable(schema)
    return schema


def _described(source: Source, name: str, role: Role, kind: pa.DataType) -> Attribute:
    dtype, order = source.dtypes.get(name), source.category_order(name)
    if dtype != "ordered":
        return Attribute(name, role, str(kind), dtype=dtype)
    texts = [] if order is None else order.cast(kind).cast(pa.string()).to_pylist()
    # Without one order that holds for all rows, they are plain categories.
    return Attribute(name, role, str(kind), dtype="ordered" if texts else "category", categories=tuple(texts))


def _check_free(schema: Schema) -> None:
    """Refuse columns whose names a grouped release needs."""
    sensitive = schema.names(Role.SENSITIVE)
    needed = {"class_id", *(f"class_id_{name}" for name in sensitive)}
    clash = [name for name in schema.names() if name in needed or (name == "count" and name in sensitive)]
    if clash:
        raise SchemaError(
            "table", "has a name that a grouped release needs", column=clash[0], hint="Rename the column."
        )
