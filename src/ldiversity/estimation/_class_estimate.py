"""Estimates from grouped releases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ldiversity.base.checks import name_some
from ldiversity.base.numbers import counted, counted_of
from ldiversity.errors import UnsupportedError
from ldiversity.estimation._association import not_for_tests
from ldiversity.estimation._class_cells import ClassCells, ClassSums, Units, count_class_cells, make_units
from ldiversity.estimation._class_estimators import ClassShares
from ldiversity.estimation._count_classes import CodeClasses, ExactCells, ProfileTally, ValuesInOrder, add_range
from ldiversity.estimation._exchange import MOST_VALUES, Exchange, why_not_by_chance
from ldiversity.estimation._profiles import profile_classes
from ldiversity.estimation._result import Estimate
from ldiversity.estimation._returned import checked_numbers
from ldiversity.estimation._runs import Spread
from ldiversity.estimation._seen import as_bytes, cells_in, rows_in
from ldiversity.estimation._spread import Wanted, spread_column
from ldiversity.estimation._threads import map_threads
from ldiversity.estimation._where import nothing_selected
from ldiversity.release import Region, column_of, parse_type
from ldiversity.sentences import Setting, say
from ldiversity.tables import COUNT

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray, IntArray
    from ldiversity.estimation._by import By, Coded
    from ldiversity.estimation._cells import CellIndex
    from ldiversity.estimation._class_estimators import ClassEstimator, ClassSolution
    from ldiversity.estimation._counted import Bounded
    from ldiversity.estimation._where import Filter
    from ldiversity.models import ClassCounts
    from ldiversity.release import Release

__all__ = ["SPREADS", "ClassQuestion", "estimate_classes"]

SPREADS: Final = ("auto", "uniform", "marginal")
"""How the records of a class may be spread over its region."""

_HALF_A_RECORD: Final = 0.5

_CERTAIN: Final = (
    "Standard errors are empty, except for counts that are certain. Intervals hold for certain, whatever the "
    "confidence: they are the least and the greatest counts that the classes allow."
)


@dataclass(frozen=True, eq=False)
class ClassQuestion:
    """A question to a grouped release, checked."""

    release: Release
    names: tuple[str, ...]
    by: tuple[By, ...]
    filters: tuple[Filter, ...]
    solver: ClassEstimator
    confidence: float
    min_records: int
    spread: str
    regions: Mapping[str, Region] = field(default_factory=dict)

    def region(self, name: str) -> Region:
        """What the release says about a column; of the different regions alone where these were gathered."""
        return self.regions[name] if name in self.regions else self.release.region(name)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the question names."""
        return tuple(dict.fromkeys([*(part.column for part in self.by), *(part.column for part in self.filters)]))

    @property
    def generalized(self) -> tuple[str, ...]:
        """The columns of the question that are published as regions."""
        forms = self.release.forms if self.release.generalized else {}
        return tuple(name for name in self.columns if name in forms and forms[name].kind != "exact")


@dataclass(frozen=True, eq=False)
class _Rows:
    # The selected rows: their classes and the labels of their exact columns.
    units: Units
    labels: dict[str, pa.Array]
    hidden: int


@dataclass(frozen=True, eq=False)
class _Counted:
    # Classes spread over cells, what undoes their mixing, and how many records have no class.
    cells: ClassCells
    index: CellIndex
    exchange: Exchange | None
    hidden: int


def estimate_classes(question: ClassQuestion, bounded: Bounded | None = None) -> Estimate:
    """Answer a question to a grouped release; where it is `bounded`, from rows that are read some at a time."""
    release, names = question.release, question.names
    _check_shared(release, names)
    reason = _no_exchange(question)
    if bounded is not None:
        # Shares of classes need no more than the sums.
        mixed = not reason and not isinstance(question.solver, ClassShares)
        question, counted = _count_bounded(question, bounded, mixed=mixed)
    else:
        counted = _count(question, mixed=not reason)
    index = counted.index
    if not index.n_cells:
        raise nothing_selected(question.filters, [])
    cells = replace(counted.cells, exchange=counted.exchange, reason=reason)
    solution = question.solver.solve(cells)
    numbers = {"counts": solution.counts, "centers": solution.centers}
    checked_numbers(question.solver.name, numbers, cells.counts.shape)
    if solution.errors is not None and np.shape(solution.errors) != cells.counts.shape:
        checked_numbers(question.solver.name, {"errors": solution.errors}, cells.counts.shape)
    low, high = _intervals(cells, solution, confidence=question.confidence, min_records=question.min_records)
    few = cells.records < question.min_records
    note = f"fewer than {question.min_records} records"
    without_formula = (_CERTAIN,) if solution.errors is None else ()
    return Estimate(
        sensitive=names,
        by=tuple(part.column for part in question.by),
        labels=index.labels,
        domains=tuple(release.domain(name) for name in names),
        records=cells.records if question.generalized else np.rint(cells.records).astype(np.int64),
        count=solution.counts,
        std_error=_standard_errors(cells, solution),
        low=low,
        high=high,
        estimator=(solution.estimator,) * index.n_cells,
        note=tuple(note if marked else "" for marked in few),
        caveats=(*solution.caveats, *without_formula, *_caveats(question, cells, counted.hidden, index)),
        confidence=question.confidence,
        where=tuple(map(str, question.filters)),
        frame_kind=release.frame_kind,
        _cells=cells,
        _covariance=solution.covariance,
    )


def _count(question: ClassQuestion, *, mixed: bool) -> _Counted:
    classes = [question.release.classes(name) for name in question.names]
    rows = _select(question, classes[0].n_classes)
    spreads = _spread(question, rows.units, classes[0])
    n_values = prod(len(counts.domain) for counts in classes)
    by = tuple(part.column for part in question.by)
    cells, index = count_class_cells(rows.units, profile_classes(classes), spreads, rows.labels, by, n_values)
    return _Counted(cells, index, Exchange.of(classes[0]) if mixed else None, rows.hidden)


def _count_bounded(question: ClassQuestion, bounded: Bounded, *, mixed: bool) -> tuple[ClassQuestion, _Counted]:
    release, (first, *_) = question.release, question.names
    exact = [name for name in question.columns if name not in question.generalized]
    parts = [part for part in question.by if part.column in exact]
    known = bounded.know(parts, [part for part in question.filters if part.column in exact], question.generalized)
    question = replace(question, regions={name: _region(release, name, seen) for name, seen in known.regions.items()})
    in_rows = release.layout == "generalized"
    coder = CodeClasses(
        known.coders,
        known.filters,
        {name: as_bytes(cells_in(seen)) for name, seen in known.regions.items()},
        question.names if in_rows else (),
    )
    spreads = _spread_seen(question, known.regions, partial(bounded.count_regions, coder))
    domains = {name: release.domain(name) for name in question.names}
    sums = ClassSums(spreads, prod(map(len, domains.values())), bounded.limits.numbers)
    cells = ExactCells(coder.digits, [part.column for part in parts])
    profiles = ProfileTally(domains[first], bounded.limits.sets) if mixed else None
    values = [] if in_rows else [ValuesInOrder(release.value_batches(name), one) for name, one in domains.items()]
    shown = 0
    for some in bounded.class_ranges(coder):
        classes = domains if in_rows else [one.of(some) for one in values]
        shown += add_range(some, sums, cells, spreads, classes, profiles)
    if not len(cells):
        raise nothing_selected((), ())
    labels = {one.column: one.labels for one in known.coders}
    found, index = sums.result(cells.codes(), labels, tuple(part.column for part in question.by))
    exchange = None if profiles is None else profiles.exchange()
    return question, _Counted(found, index, exchange, release.n_rows - shown)


def _region(release: Release, name: str, seen: pa.Table) -> Region:
    """What a generalized column says, with a cell for each different region."""
    form, kind, cells = release.forms[name], parse_type(release.schema[name].type), cells_in(seen)
    return Region(name, form, kind, column_of(cells, form, kind), lambda: np.arange(len(cells), dtype=np.int32))


def _check_shared(release: Release, names: tuple[str, ...]) -> None:
    if len({release.class_columns[name] for name in names}) > 1:
        raise UnsupportedError(
            "estimate", f"each of {name_some(names)} has its own classes, which say nothing about them together"
        ).with_hint("Ask for one attribute at a time.")


def _select(question: ClassQuestion, n_classes: int) -> _Rows:
    release = question.release
    exact = [name for name in question.columns if name not in question.generalized]
    class_of = release.class_of(question.names[0])
    columns = release.columns(exact)
    shown: BoolArray = class_of >= 0
    filters = [part for part in question.filters if part.column in exact]
    asked: list[By | Filter] = [*question.by, *filters]
    for one in asked:
        if one.column in exact:
            one.check(columns[one.column])
    masks = [part.mask(columns[part.column]) for part in filters]
    selected = np.logical_and.reduce([shown, *masks])
    if not selected.any():
        raise nothing_selected(filters, [part for part, own in zip(filters, masks, strict=True) if not own.any()])
    if not selected.all():
        class_of, columns = class_of[selected], columns.filter(selected)
    parts = [part for part in question.by if part.column in exact]
    coded: list[Coded] = map_threads(lambda part: part.encode(columns[part.column]), parts)
    units = make_units(class_of, coded, n_classes)
    return _Rows(units, {part.name: part.labels for part in coded}, int(np.count_nonzero(~shown)))


def _spread(question: ClassQuestion, units: Units, classes: ClassCounts) -> dict[str, Spread]:
    wanted = _wanted(question)
    if not wanted:
        return {}
    records = np.zeros(classes.n_classes)
    np.add.at(records, units.class_of, units.sizes)
    spreads: dict[str, Spread] = {}
    # Quantiles come last: they divide the records that the other columns select.
    for part in sorted(wanted, key=lambda part: part.needs_records):
        spreads[part.name] = _spread_one(question, part, classes.sizes, records)
        records = records * spreads[part.name].matching
    _check_matching(question, wanted, spreads, nothing=not (records > 0).any())
    return {part.name: spreads[part.name] for part in wanted}


def _spread_seen(
    question: ClassQuestion, seen: Mapping[str, pa.Table], count: Callable[[], Mapping[str, IntArray]]
) -> dict[str, Spread]:
    """The same for the different regions of each column; `count` gives how often they occur together, with `COUNT`."""
    wanted = _wanted(question)
    together = count() if len(wanted) > 1 and any(part.needs_records for part in wanted) else None
    spreads: dict[str, Spread] = {}
    for part in sorted(wanted, key=lambda part: part.needs_records):
        sizes, selected = rows_in(seen[part.name])
        records = selected.astype(np.float64)
        if part.needs_records and together is not None:
            each = together[COUNT].astype(np.float64)
            for name, spread in spreads.items():
                each = each * spread.matching[together[name]]
            records = np.bincount(together[part.name], weights=each, minlength=len(sizes)).astype(np.float64)
        spreads[part.name] = _spread_one(question, part, sizes, records)
    _check_matching(question, wanted, spreads, nothing=any(not (one.matching > 0).any() for one in spreads.values()))
    return {part.name: spreads[part.name] for part in wanted}


def _wanted(question: ClassQuestion) -> list[Wanted]:
    by = {part.column: part for part in question.by}
    return [
        Wanted(name, by.get(name), tuple(f for f in question.filters if f.column == name))
        for name in question.generalized
    ]


def _spread_one(question: ClassQuestion, part: Wanted, sizes: IntArray, records: FloatArray) -> Spread:
    form = question.release.forms[part.name]
    if question.spread == "marginal" and form.marginal is None:
        raise UnsupportedError(
            "estimate",
            f"spread 'marginal' needs the frequencies of {part.name!r}, which this release does not publish",
        ).with_hint(say("Use {}.", Setting("spread", "uniform")))
    marginal = question.spread != "uniform" and form.marginal is not None
    if not marginal and form.low is not None and _says_nothing(question, part.name):
        _check_missing(part, published=form.marginal is not None)
    return spread_column(part, question.region(part.name), marginal=marginal, sizes=sizes, records=records)


def _check_matching(
    question: ClassQuestion, wanted: list[Wanted], spreads: Mapping[str, Spread], *, nothing: bool
) -> None:
    if nothing:
        idle = [part for part in wanted if not (spreads[part.name].matching > 0).any()]
        raise nothing_selected(question.filters, [condition for part in idle for condition in part.filters])


def _check_missing(wanted: Wanted, *, published: bool) -> None:
    if not any(condition.operator == "is missing" for condition in wanted.filters):
        return
    raise UnsupportedError(
        "estimate", f"{wanted.name!r} is generalized, and its classes do not say how many values are missing"
    ).with_hint(
        say("Leave out {}; the release publishes the number.", Setting("spread", "uniform"))
        if published
        else say(
            "Ask the publisher for a release with frequencies, made with {}.",
            Setting("marginals", True),
        )
    )


def _no_exchange(question: ClassQuestion) -> str:
    # Why the mixing within classes cannot be undone; "" when it can.
    reason = why_not_by_chance(question.release, question.names)
    if not reason and len(question.release.domain(question.names[0])) > MOST_VALUES:
        return f"it is offered for at most {MOST_VALUES} values"
    return reason


def _standard_errors(cells: ClassCells, solution: ClassSolution) -> FloatArray:
    # A count that the classes determine has no error.
    if solution.errors is None:
        return np.where(cells.least == cells.greatest, 0.0, np.nan)
    return solution.errors


def _intervals(
    cells: ClassCells, solution: ClassSolution, *, confidence: float, min_records: int
) -> tuple[FloatArray, FloatArray]:
    if solution.errors is None:
        return cells.least, cells.greatest
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * solution.errors + _HALF_A_RECORD
    few = (cells.records < min_records)[:, None]
    centers = np.clip(solution.centers, cells.least, cells.greatest)
    low = np.where(few, cells.least, np.maximum(centers - reach, cells.least))
    high = np.where(few, cells.greatest, np.minimum(centers + reach, cells.greatest))
    reported = np.clip(solution.counts, cells.least, cells.greatest)
    return np.minimum(low, reported), np.maximum(high, reported)


def _caveats(question: ClassQuestion, cells: ClassCells, hidden: int, index: CellIndex) -> tuple[str, ...]:
    caveats = []
    if len(question.names) > 1:
        caveats.append(
            "Attributes are assumed to be independent within every class, because classes count each one alone."
        )
    unknown = [name for name in question.generalized if _says_nothing(question, name)]
    if unknown:
        caveats.append(
            f"Some classes say nothing about {name_some(unknown)}: they are spread over all public values. Missing "
            "values are considered only where frequencies are published."
        )
    regions = [question.region(name) for name in question.generalized]
    endless = [one.name for one in regions if (one.unbounded("low") | one.unbounded("high")).any()]
    if endless:
        caveats.append(f"Values of {name_some(endless)} beyond a published end are counted at this end.")
    if cells.generalized:
        caveats.append("Numbers of records are expected numbers, because classes extend over several cells.")
    if hidden:
        caveats.append(
            f"{counted(hidden, 'record has', 'records have')} no published value of {name_some(question.names)}: "
            "not counted."
        )
    if question.release.suppressed:
        caveats.append(f"{counted(question.release.suppressed, 'record was', 'records were')} left out of the release.")
    few = int(np.count_nonzero(cells.records < question.min_records))
    if few:
        caveats.append(
            f"{counted_of(few, index.n_cells, 'cell', 'has', 'have')} fewer than {question.min_records} records; "
            "their intervals are the least and the greatest counts that the classes allow."
        )
    return (*caveats, not_for_tests(question.release, question.names))


def _says_nothing(question: ClassQuestion, name: str) -> bool:
    return bool(question.region(name).says_nothing.any())
