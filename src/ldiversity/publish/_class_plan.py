"""`plan` for methods that group records: what is known before the table is grouped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.randomness import FreshWords
from ldiversity.engines import LocalEngine
from ldiversity.errors import InfeasibleError, SchemaError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import (
    CodedTable,
    GroupingMethod,
    GroupingRun,
    Rules,
    SensitiveColumn,
    check_people,
    most_classes,
)
from ldiversity.models import Population, PrivacyModel
from ldiversity.publish._alike import alike_statements
from ldiversity.publish._coding import read_table
from ldiversity.publish._columns_read import is_number
from ldiversity.publish._grids import planned_grid
from ldiversity.publish._plan_result import ClassAttributePlan, ClassOutlook, ClassPlan
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._screening import screen
from ldiversity.release import PEOPLE, RECORDS, class_not_protected
from ldiversity.schema import Domain, Role
from ldiversity.sentences import Setting, say
from ldiversity.tables import Source, column_values

__all__ = ["judge", "largest_l", "plan_classes"]

_SMALLER: Final = 3
_LARGER: Final = 2


@dataclass(frozen=True, eq=False)
class _Question:
    name: str
    domain: Domain
    counts: NDArray[np.int64]

    @property
    def column(self) -> SensitiveColumn:
        """The column without its rows."""
        return SensitiveColumn(self.name, np.empty(0, dtype=np.int32), self.domain, self.counts)


def plan_classes(preparation: Preparation, cautions: Mapping[str, Sequence[str]]) -> ClassPlan:
    """Say what is known before the table is grouped.

    A method that looks at sensitive values alone is tried on them, which decides everything. For other methods, the
    plan checks that neither the most frequent value nor the table as a whole rules out the promise.
    """
    source, method = preparation.source, preparation.method
    for column, hierarchy in preparation.hierarchies.items():
        _check_values(source, column, hierarchy)
    decide, questions = judge(preparation), _questions(preparation)
    outlook = decide(method)
    alone = () if preparation.coders else method.promises(RECORDS)
    return ClassPlan(
        table=source.name,
        n_rows=preparation.n_rows,
        method=method.name,
        layout=method.layout,
        parameters=method.parameters(),
        attributes=tuple(
            _attribute(method, question, tuple(cautions[question.name])) for question in questions if question.name
        ),
        outlook=outlook,
        choices=tuple(_choices(decide, method, questions, outlook)),
        exact=method.blind,
        notes=(
            *(rule.statement(PEOPLE) for rule in alone),
            *alike_statements(preparation.question.model, people=preparation.question.person is not None),
            *preparation.notes,
            *_grid_notes(preparation),
            *method.plan_notes(preparation.n_rows),
        ),
        not_protected=class_not_protected(
            method.layout, several_records=preparation.question.person is not None, records_alone=bool(alone)
        ),
        uniqueness=() if method.layout == "generalized" else preparation.uniqueness(),
        findings=screen(preparation).findings,
    )


def _grid_notes(preparation: Preparation) -> tuple[str, ...]:
    """Where intervals will end, as far as this is known before the numbers are read."""
    if preparation.grid is None or preparation.method.needs_hierarchies:
        return ()
    types = preparation.published_types
    quasi = preparation.schema.names(Role.QUASI)
    numbers = [name for name in quasi if is_number(types[name]) and name not in preparation.hierarchies]
    return planned_grid(numbers, preparation.grid)


def judge(preparation: Preparation) -> Callable[[GroupingMethod], ClassOutlook]:
    """A function that tells whether a method can keep its promise, as far as known before records are grouped."""
    questions = _questions(preparation)
    if not preparation.method.blind and preparation.question.person is None:
        return _Checked(questions)
    # A blind method looks at the sensitive columns alone, and at people.
    reading = read_table(
        preparation.source,
        quasi=(),
        plain=(),
        coders=preparation.coders,
        engine=LocalEngine(),
        words=FreshWords(),
        person=preparation.question.person,
    )
    return _Tried(reading.table) if preparation.method.blind else _Checked(questions, reading.table)


def _questions(preparation: Preparation) -> tuple[_Question, ...]:
    everyone = np.array([preparation.n_rows]) if not preparation.coders else None
    return tuple(
        _Question(name, domain, preparation.counts[name] if everyone is None else everyone)
        for name, domain in preparation.domains.items()
    )


def largest_l(counts: NDArray[np.int64]) -> int:
    """Records over those of the most frequent value, rounded down.

    Examples
    --------
    >>> largest_l(np.array([3, 2, 2]))
    2
    """
    most = int(counts.max(initial=0))
    return int(counts.sum()) // most if most else 0


@dataclass(frozen=True, eq=False)
class _Tried:
    """Group the sensitive columns alone: exact for methods that look at nothing else."""

    table: CodedTable

    def __call__(self, method: GroupingMethod) -> ClassOutlook:
        l = method.level
        try:
            grouping = method.group(self.table, GroupingRun())
        except InfeasibleError as error:
            return ClassOutlook(l, error.message, error.hint, tuple(error.nearest))
        partition = max(grouping.partitions, key=lambda one: one.suppressed)
        return ClassOutlook(l, most_classes=partition.n_classes, least_suppressed=partition.suppressed)


@dataclass(frozen=True, eq=False)
class _Checked:
    """Look at how often each value occurs, column by column, and how many rows a person has."""

    questions: tuple[_Question, ...]
    people: CodedTable | None = None

    def __call__(self, method: GroupingMethod) -> ClassOutlook:
        try:
            if self.people is not None:
                rules = [
                    rule for question in self.questions for rule in method.promises_of(question.name, question.domain)
                ]
                overflow = "suppress" if method.may_leave_out else "refuse"
                check_people(type(method).__name__, self.people, Rules(tuple(rules)).least_size, overflow=overflow)
            if method.by_column:
                method.check_counts([question.column for question in self.questions])
        except InfeasibleError as error:
            return ClassOutlook(method.level, error.message, error.hint, tuple(error.nearest))
        outlooks = [_of_counts(method, question) for question in self.questions]
        refused = [outlook for outlook in outlooks if not outlook.feasible]
        if refused:
            return refused[0]
        known = [outlook.most_classes for outlook in outlooks if outlook.most_classes is not None]
        return ClassOutlook(
            method.level,
            most_classes=min(known, default=None),
            least_suppressed=max(outlook.least_suppressed for outlook in outlooks),
        )


def _check_values(source: Source, column: str, hierarchy: Hierarchy) -> None:
    """Refuse a hierarchy that misses values, and say how many."""
    try:
        hierarchy.positions(column_values(source, column).values)
    except SchemaError as error:
        error.about(column, f"hierarchy of {column!r}")
        raise


def _of_counts(method: GroupingMethod, question: _Question) -> ClassOutlook:
    """All promises must be possible; the first that is not is reported."""
    rules = method.promises_of(question.name, question.domain)
    outlooks = [_of_promise(method, rule, question) for rule in rules]
    refused = [outlook for outlook in outlooks if not outlook.feasible]
    if refused:
        return refused[0]
    found = max(outlooks, key=lambda outlook: outlook.most_classes is not None)
    if found.most_classes is None:
        return found
    # Each class has as many records as the promise that asks for most.
    most = int(question.counts.sum()) // max(rule.least_records for rule in rules)
    return replace(found, most_classes=min(found.most_classes, most))


def _of_promise(method: GroupingMethod, rule: PrivacyModel, question: _Question) -> ClassOutlook:
    l = method.level
    if l is None or not rule.shares_decide or rule.required != l:
        return ClassOutlook(l) if method.may_leave_out else _of_whole(rule, question, l)
    counts, n = question.counts, int(question.counts.sum())
    classes = most_classes(counts, l)
    left_out = int(np.maximum(counts - classes, 0).sum())
    if method.may_leave_out == 1:
        limit = int(np.count_nonzero(counts))
        why = f"the number of values of {question.name!r} that occur"
    else:
        limit = largest_l(counts)
        why = f"because the most frequent value of {question.name!r} has {counts.max()} of {n} records"
    if limit >= l or (classes and left_out <= method.may_leave_out * n):
        return ClassOutlook(l, most_classes=classes, least_suppressed=left_out)
    name = str(method.strength)
    return ClassOutlook(
        l,
        InfeasibleError(
            type(method).__name__,
            name,
            f"must be at most {limit}, {why}" if limit > 1 else f"cannot be reached with all records, {why}",
            got=l,
        ).message,
        say("Use {}.", Setting(name, limit)) if limit > 1 else "No l is possible without leaving records out.",
        ({name: limit},) if limit > 1 else (),
    )


def _of_whole(rule: PrivacyModel, question: _Question, l: int | None) -> ClassOutlook:
    """If all records as one class break a monotone model, so does every other grouping."""
    population = Population(question.domain, question.counts)
    whole = question.counts[None, :]
    if not rule.monotone or bool(rule.holds(whole, population)[0]):
        return ClassOutlook(l)
    reached = float(rule.reached(whole, population)[0])
    who = f"{question.name!r} reaches" if question.name else "they reach"
    return ClassOutlook(
        l,
        f"model {rule.name!r} must hold for all records together, but {who} only {reached:.4g}.",
        "Choose a weaker model.",
    )


def _attribute(method: GroupingMethod, question: _Question, cautions: tuple[str, ...]) -> ClassAttributePlan:
    counts = question.counts
    rules = method.promises_of(question.name, question.domain)
    return ClassAttributePlan(
        attribute=question.name,
        n_values=len(question.domain),
        n_occurring=int(np.count_nonzero(counts)),
        largest_count=int(counts.max(initial=0)),
        largest_share=float(counts.max(initial=0) / max(1, counts.sum())),
        largest_l=largest_l(counts) if any(rule.shares_decide for rule in rules) else None,
        claims=tuple(rule.statement(question.name) for rule in rules),
        posterior=min(rule.posterior for rule in rules),
        cautions=cautions,
    )


def _choices(
    decide: Callable[[GroupingMethod], ClassOutlook],
    method: GroupingMethod,
    questions: tuple[_Question, ...],
    chosen: ClassOutlook,
) -> Iterator[ClassOutlook]:
    """The outlook for neighboring l, where it is known."""
    l = method.level
    by_counts = all(
        any(rule.shares_decide for rule in method.promises_of(question.name, question.domain)) for question in questions
    )
    if l is None or not (method.blind or by_counts):
        return
    reached = [int(near[key]) for near in chosen.nearest if (key := str(method.strength)) in near]
    middle = l if chosen.feasible else min(l, max([2, *reached]))
    for one in sorted({*range(max(2, middle - _SMALLER), middle + _LARGER + 1), l}):
        yield chosen if one == l else decide(method.at(one))
