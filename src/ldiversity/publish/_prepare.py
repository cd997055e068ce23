"""All that is decided before the first value is hidden."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray
from ldiversity.base.checks import column_names, name_some
from ldiversity.base.randomness import FreshWords
from ldiversity.errors import LDiversityError, ParameterError, SchemaError
from ldiversity.hierarchies import Hierarchy
from ldiversity.mechanisms import SetMechanism
from ldiversity.methods import GroupingMethod, Method, RandomizingMethod
from ldiversity.publish._coding import Reading, read_table
from ldiversity.publish._columns import published_type
from ldiversity.publish._draw import HiddenAttribute
from ldiversity.publish._hierarchies import is_made, read_hierarchies
from ldiversity.publish._notes import holder_notes, is_declared, plain_notes
from ldiversity.release import check_publishable, no_records_left
from ldiversity.schema import Attribute, Domain, Role, Schema
from ldiversity.tables import (
    Coder,
    SelectedRows,
    Sensitive,
    Source,
    as_sensitive,
    check_roles,
    fit_coder,
    have_value,
    open_source,
)

__all__ = ["GroupPreparation", "Preparation", "prepare", "prepare_groups"]


@dataclass(frozen=True)
class Preparation:
    """All that is decided before the first value is hidden.

    Attributes
    ----------
    source
        The table.
    schema
        The columns that will be published.
    hidden
        The sensitive attributes with their mechanisms.
    counts
        How often each value occurs: the holder's knowledge, never published.
    notes
        What the holder should know.
    undeclared
        Sensitive attributes whose domain was read off the table.
    """

    source: Source
    schema: Schema
    hidden: tuple[HiddenAttribute, ...]
    counts: Mapping[str, Any]
    n_rows: int
    record_id: tuple[str, ...]
    notes: tuple[str, ...]
    undeclared: tuple[str, ...] = ()

    @property
    def published_types(self) -> dict[str, pa.DataType]:
        """The columns that are published as they are, with their types."""
        names = self.schema.names(Role.QUASI, Role.PLAIN)
        return {name: published_type(name, self.source.columns[name]) for name in names}


@dataclass(frozen=True)
class GroupPreparation:
    """All that is decided before the first row is grouped.

    Attributes
    ----------
    source
        The table.
    schema
        The columns that will be published.
    method
        How records are grouped.
    coders
        How each sensitive column is coded.
    counts
        How often each value occurs: the holder's knowledge, never published.
    n_rows
        About how many records there are.
    hierarchies
        Of some quasi-identifiers.
    person
        The column that tells whose row it is.
    made
        Quasi-identifiers whose hierarchy was made from the values of the table.
    notes
        What the holder should know.
    undeclared
        Sensitive attributes whose domain was read off the table.
    renew
        Decides the same for some rows alone, so that nothing is read off the others.
    """

    source: Source
    schema: Schema
    method: GroupingMethod
    coders: Mapping[str, Coder]
    counts: Mapping[str, NDArray[np.int64]]
    n_rows: int
    renew: Callable[[Source], GroupPreparation]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    made: frozenset[str] = frozenset()
    person: str | None = None
    notes: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()

    def only(self, rows: BoolArray) -> GroupPreparation:
        """The same decisions for some rows of the source alone."""
        return self.renew(SelectedRows(self.source, rows))

    def read(self, words: FreshWords) -> Reading:
        """Read the table as the method sees it."""
        return read_table(
            self.source,
            quasi=self.schema.names(Role.QUASI),
            plain=self.schema.names(Role.PLAIN),
            coders=self.coders,
            words=words,
            hierarchies=self.hierarchies,
            person=self.person,
            automatic=self.method.needs_hierarchies,
            made=self.made,
            exact=self.method.layout == "bucketized",
        )


def prepare(  # noqa: PLR0913 - the holder's decisions, as for `anonymize`
    data: Any,  # noqa: ANN401 - any frame or path
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sensitive | Sequence[str | Sensitive],
    method: Method | Mapping[str, Method],
    drop: str | Sequence[str] = (),
    plain: str | Sequence[str] = (),
    record_id: str | Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
) -> Preparation:
    """Read the domains, fit the mechanisms, and say what would be published; hides nothing yet."""
    source = data if isinstance(data, Source) else open_source(data, types=types)
    quasi, drop, plain = (
        column_names("anonymize", role, names) for role, names in (("quasi", quasi), ("drop", drop), ("plain", plain))
    )
    ids = column_names("anonymize", "record_id", () if record_id is None else record_id)
    wanted = as_sensitive("anonymize", sensitive)
    names = [attribute.name for attribute in wanted]
    without_role = check_roles(source, quasi=quasi, sensitive=names, drop=drop, plain=plain, record_id=ids)
    methods = _methods(method, names)
    published = {*quasi, *plain}
    whole = source
    source, missing = _with_values(source, wanted, needed=len(wanted) > 1)
    hidden: list[HiddenAttribute] = []
    counts: dict[str, Any] = {}
    for attribute in wanted:
        coder, counts[attribute.name] = fit_coder(source, attribute)
        mechanism = _fit(attribute.name, methods[attribute.name], coder.domain)
        hidden.append(HiddenAttribute(attribute.name, coder, mechanism))
    return Preparation(
        source=source,
        schema=_schema(source, quasi, plain, {attribute.name: attribute.coder for attribute in hidden}),
        hidden=tuple(hidden),
        counts=counts,
        n_rows=min(int(count.sum()) for count in counts.values()),
        record_id=tuple(ids),
        undeclared=tuple(attribute.name for attribute in wanted if not is_declared(attribute)),
        notes=holder_notes(
            whole, wanted, counts, missing=missing, without_role=without_role, ids=[i for i in ids if i in published]
        ),
    )


def prepare_groups(  # noqa: PLR0913 - the holder's decisions, as for `anonymize`
    data: Any,  # noqa: ANN401 - any frame or path
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sensitive | Sequence[str | Sensitive],
    method: GroupingMethod,
    drop: str | Sequence[str] = (),
    plain: str | Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, Hierarchy | str | os.PathLike[str]] | None = None,
    person: str | None = None,
) -> GroupPreparation:
    """Read the domains, and say what would be published; groups nothing yet."""
    source = data if isinstance(data, Source) else open_source(data, types=types)
    quasi, drop, plain = (
        column_names("anonymize", role, names) for role, names in (("quasi", quasi), ("drop", drop), ("plain", plain))
    )
    wanted = as_sensitive("anonymize", sensitive)
    names = [attribute.name for attribute in wanted]
    people = column_names("anonymize", "person", () if person is None else person)
    without_role = check_roles(source, quasi=quasi, sensitive=names, drop=drop, plain=plain, record_id=people)
    whole = source
    source, missing = _with_values(source, wanted, needed=True)
    trees = read_hierarchies(hierarchies or {}, source, quasi)
    coders: dict[str, Coder] = {}
    counts: dict[str, NDArray[np.int64]] = {}
    for attribute in wanted:
        coders[attribute.name], counts[attribute.name] = fit_coder(source, attribute)
    schema = _schema(source, quasi, plain, coders)
    _check_free(schema)
    published = {*quasi, *plain}
    notes = holder_notes(
        whole,
        wanted,
        counts,
        missing=missing,
        without_role=without_role,
        ids=[name for name in people if name in published],
    )
    return GroupPreparation(
        source=source,
        schema=schema,
        method=method,
        coders={name: coders[name] for name in schema.names(Role.SENSITIVE)},
        counts=counts,
        n_rows=min(int(count.sum()) for count in counts.values()),
        renew=partial(
            prepare_groups,
            quasi=quasi,
            sensitive=sensitive,
            method=method,
            drop=drop,
            plain=plain,
            hierarchies=hierarchies,
            person=person,
        ),
        hierarchies=trees,
        made=frozenset(name for name, given in (hierarchies or {}).items() if is_made(given)),
        person=person,
        notes=(*notes, *plain_notes(plain)),
        undeclared=tuple(attribute.name for attribute in wanted if not is_declared(attribute)),
    )


def _with_values(
    source: Source, wanted: Sequence[Sensitive], *, needed: bool
) -> tuple[Source, Mapping[str, int] | None]:
    """The rows that can be published: nothing is read off rows that are dropped for want of a sensitive value.

    Gives also how many values of each column are missing; None where nobody had to look.
    """
    names = [attribute.name for attribute in wanted if attribute.missing == "drop" and attribute.name in source.columns]
    if not names or not needed:
        return source, None
    known = have_value(source, names)
    rows = np.logical_and.reduce(list(known.values()))
    if len(rows) and not rows.any() and all(own.any() for own in known.values()):
        raise no_records_left()
    missing = {name: int(np.count_nonzero(~own)) for name, own in known.items()}
    return (source if rows.all() or not rows.any() else SelectedRows(source, rows)), missing


def _fit(column: str, method: RandomizingMethod, domain: Domain) -> SetMechanism:
    """Fit a method, and name the column in whatever it has to say against it."""
    try:
        return method.fit(domain)
    except LDiversityError as error:
        error.about(column)
        raise


def _methods(method: Method | Mapping[str, Method], names: list[str]) -> dict[str, RandomizingMethod]:
    chosen = dict(method) if isinstance(method, Mapping) else dict.fromkeys(names, method)
    if set(chosen) != set(names):
        raise ParameterError("anonymize", "method", "must name every sensitive column and no other").with_hint(
            f"Sensitive are {name_some(names)}."
        )
    if any(isinstance(one, GroupingMethod) for one in chosen.values()):
        raise ParameterError(
            "anonymize", "a method that groups records must serve all sensitive columns together"
        ).with_hint("Give it alone, not by column, as in method=ld.Anatomy(l=3).")
    methods = {name: one for name, one in chosen.items() if isinstance(one, RandomizingMethod)}
    if len(methods) < len(chosen):
        raise ParameterError(
            "anonymize", "method", "must be a method object", hint="For example method=ld.RandomizedAddition(l=3)."
        )
    return methods


def _schema(source: Source, quasi: list[str], plain: list[str], coders: Mapping[str, Coder]) -> Schema:
    attributes = []
    for name, kind in source.columns.items():
        if name in coders:
            coder = coders[name]
            attributes.append(Attribute(name, Role.SENSITIVE, str(coder.type), coder.domain))
        elif name in quasi or name in plain:
            role = Role.QUASI if name in quasi else Role.PLAIN
            attributes.append(Attribute(name, role, str(published_type(name, kind))))
    schema = Schema(tuple(attributes))
    check_publishable(schema)
    return schema


def _check_free(schema: Schema) -> None:
    """Refuse columns that have the names which a grouped release needs."""
    sensitive = schema.names(Role.SENSITIVE)
    needed = {"class_id", *(f"class_id_{name}" for name in sensitive)}
    clash = [name for name in schema.names() if name in needed or (name == "count" and name in sensitive)]
    if clash:
        raise SchemaError(
            "table", "has a name that a grouped release needs", column=clash[0], hint="Rename the column."
        )
