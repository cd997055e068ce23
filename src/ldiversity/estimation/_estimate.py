"""From a release to the distribution of its sensitive values: the one function of the data user."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.checks import check_choice, check_integer, check_number, column_names, did_you_mean, name_some
from ldiversity.base.numbers import counted_of, number
from ldiversity.base.registry import Registry
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation._admissible import admissible_sets
from ldiversity.estimation._association import NOT_FOR_TESTS
from ldiversity.estimation._base import Estimator, Solution
from ldiversity.estimation._by import By, ByLike
from ldiversity.estimation._by_text import read_by
from ldiversity.estimation._cells import CellData, CellIndex, count_cells, index_cells
from ldiversity.estimation._class_estimate import SPREADS, ClassQuestion, estimate_classes
from ldiversity.estimation._class_estimators import ClassEstimator
from ldiversity.estimation._coarse import ask_labels
from ldiversity.estimation._conditional import condition, hidden_columns
from ldiversity.estimation._counted import Bounded
from ldiversity.estimation._design import read_design
from ldiversity.estimation._errors import Asked, Errors
from ldiversity.estimation._likelihood import global_marginal
from ldiversity.estimation._limits import CELL_LIMIT
from ldiversity.estimation._linear_moments import linear_moments
from ldiversity.estimation._moments import Moments, likeliest_moments
from ldiversity.estimation._people import DRAWN_TOGETHER
from ldiversity.estimation._registry import CLASS_ESTIMATORS, ESTIMATORS
from ldiversity.estimation._result import Estimate
from ldiversity.estimation._runs import too_many_cells
from ldiversity.estimation._threads import map_threads
from ldiversity.estimation._weighted import WeightedQuestion, check_weighted, weigh
from ldiversity.estimation._where import Filter, WhereLike, as_filters, nothing_selected
from ldiversity.release import check_release, check_values, load_release
from ldiversity.tables import Frame_co

if TYPE_CHECKING:
    from ldiversity.base.arrays import SetArray
    from ldiversity.estimation._engine_reader import EngineLike
    from ldiversity.release import Release

Kind = TypeVar("Kind")

__all__ = ["CELL_LIMIT", "JOINT_LIMIT", "MIN_RECORDS", "estimate"]

MIN_RECORDS: Final = 50
"""Cells with fewer records are marked, and get intervals that hold for any number of records."""

JOINT_LIMIT: Final = 10_000
"""The most combinations of values that a joint distribution may have."""


def estimate(  # noqa: PLR0913 - a question has these parts, each with a name
    release: Release[Frame_co] | str | os.PathLike[str],
    by: ByLike = None,
    *,
    sensitive: str | Sequence[str] | None = None,
    where: WhereLike = None,
    estimator: str | Estimator | ClassEstimator = "auto",
    confidence: float = 0.95,
    min_records: int = MIN_RECORDS,
    spread: str = "auto",
    memory: str | int | None = None,
    engine: EngineLike = None,
    weights: str | None = None,
    strata: str | None = None,
) -> Estimate[Frame_co]:
    """Estimate how often each sensitive value occurs, for any division of the records into cells.

    Parameters
    ----------
    release
        What was published, or its folder; nothing else is needed or used.
    by
        Columns that make the cells: names, `bins` and `groups`, or texts such as ``"age:10"`` and ``"birth:year"``. One
        cell with all records when None. Of a sensitive attribute, the numbers of records in cells are estimates, too.
    sensitive
        The sensitive attribute, or several for their joint distribution. May be left out when there is one.
    where
        Filters on columns as texts, all of which must hold: ``"zip in 01301,13001"``,
        ``"zip starts with 130"``, ``"age >= 50"``, ``"sex != male"``, ``"age between 20 and 29"``,
        ``"job is missing"``.
    estimator
        A name in `ESTIMATORS`, or in `CLASS_ESTIMATORS` for a grouped release; or an estimator itself. ``"auto"`` takes
        ``mle`` for cells with at least 10 records per value; below that, ``hierarchical`` where 20 cells or more are as
        small, and else ``map``. For grouped releases it takes ``linear`` where possible and ``classes`` elsewhere.
    confidence
        How often an interval should hold the true count.
    min_records
        Cells with fewer records are marked in ``note``; they are never left out.
    spread
        How the records of a class lie in its region, where quasi-identifiers were generalized: evenly over the public
        values (``"uniform"``), by their published frequencies (``"marginal"``), or by these where there are any
        (``"auto"``).
    memory
        How much memory the estimate may take, such as ``"500MB"``. Then rows are read some at a time, and only counts
        of them are kept. None takes what is needed.
    engine
        Where rows are read and counted: an engine or its name, such as ``"spark"``. Workers must see the folder of the
        release. This machine when None.
    weights
        Where records are a sample: a published column that says how many people each record stands for. Counts are then
        those of the population, and errors hold that of sampling, too.
    strata
        A published column with the strata of the sample.

    Returns
    -------
    Estimate
        Cells sorted by their labels; combinations of labels without a record have no cell.

    Raises
    ------
    ParameterError
        When a filter cannot be read, or no record is selected.
    SchemaError
        When a column does not exist or does not suit.
    ReleaseFormatError
        When the release is damaged: its sets cannot have come from its mechanism, or its regions mean nothing.
    UnsupportedError
        When the estimator does not suit the release, or the result would be too large.

    Examples
    --------
    Four records with two of three values each. Every set has a dummy that is each of the two other values with
    probability 1/2, so 3 published coughs are expected from 2 true ones:

    >>> import pyarrow as pa
    >>> from ldiversity.mechanisms import UniformSelection
    >>> from ldiversity.release import SetRelease
    >>> from ldiversity.schema import Attribute, Domain, Role, Schema
    >>> values = Domain(("cough", "fever", "gout"))
    >>> schema = Schema((Attribute("sex", Role.QUASI, "string"), Attribute("why", Role.SENSITIVE, "string", values)))
    >>> release = SetRelease.in_memory(
    ...     schema=schema,
    ...     columns=pa.table({"sex": ["F", "F", "M", "M"]}),
    ...     sets={"why": np.array([[0, 1], [0, 2], [0, 1], [1, 2]], dtype=np.int32)},
    ...     mechanisms={"why": UniformSelection(n_values=3, l=2)},
    ... )
    >>> print(estimate(release, estimator="linear").count)
    [[2. 2. 0.]]
    >>> print(estimate(release, by="sex", estimator="linear").records)
    [2 2]
    """
    if isinstance(release, str | os.PathLike):
        release = load_release(release)
    check_release("estimate", release)
    check_values("estimate", release, "to estimate")
    names = _sensitive_names(release, sensitive)
    divided, filters = read_by(by, release.schema.names()), as_filters(where)
    if not isinstance(estimator, Estimator | ClassEstimator):
        check_choice("estimate", "estimator", estimator, list(dict.fromkeys([*ESTIMATORS, *CLASS_ESTIMATORS])))
    check_choice("estimate", "spread", spread, SPREADS)
    if not 0 < check_number("estimate", "confidence", confidence) < 1:
        raise ParameterError("estimate", "confidence", "must be between 0 and 1", got=repr(confidence))
    check_integer("estimate", "min_records", min_records, minimum=0)
    if hidden_columns(release, divided, filters):
        told = {"estimator": estimator, "confidence": confidence, "min_records": min_records, "memory": memory}
        given = {**told, "engine": engine, "spread": spread, "weights": weights, "strata": strata}

        def ask(by: tuple[By, ...], joint: tuple[str, ...], where: tuple[Filter, ...]) -> Estimate:
            return estimate(release, by, sensitive=joint, where=where, **given)  # type: ignore[arg-type]

        return condition(release, names, divided, filters, ask, min_records)
    design = read_design("estimate", release, weights, strata)
    if design is not None:
        check_weighted(estimator, bounded=memory is not None or engine is not None)
    bounded = Bounded.within(release, names[0], memory, engine)
    with nullcontext() if bounded is None else bounded.held():
        divided, filters = (
            ask_labels(release, divided, filters) if bounded is None else bounded.ask_labels(divided, filters)
        )
        _check_joint(release, names)
        if release.grouped:
            grouped = (
                estimator
                if isinstance(estimator, ClassEstimator)
                else _made(estimator, CLASS_ESTIMATORS, "grouped records into classes")
            )
            question = ClassQuestion(
                release,
                names,
                divided,
                filters,
                grouped,
                float(confidence),
                min_records,
                _checked_spread(release, spread),
            )
            return estimate_classes(question, bounded)
        _checked_spread(release, spread)
        solver = (
            estimator if isinstance(estimator, Estimator) else _made(estimator, ESTIMATORS, "hid every value in a set")
        )
        if design is not None:
            counted, index, rows = _count(release, names, divided, filters)
            chosen = np.arange(release.n_rows) if rows is None else rows
            return weigh(
                WeightedQuestion(release, names, divided, filters, float(confidence), min_records, design, chosen),
                counted,
                index,
            )
        cells, index = (
            _count(release, names, divided, filters)[:2]
            if bounded is None
            else bounded.count_sets(names, divided, filters)
        )
        return _assemble(
            _Question(release, names, divided, filters, solver, float(confidence), min_records), cells, index
        )


@dataclass(frozen=True, eq=False)
class _Question:
    release: Release
    names: tuple[str, ...]
    by: tuple[By, ...]
    filters: tuple[Filter, ...]
    solver: Estimator
    confidence: float
    min_records: int


@dataclass(frozen=True, eq=False)
class _Selected:
    columns: pa.Table
    members: tuple[SetArray, ...]
    rows: NDArray[np.int64] | None

    @property
    def n_rows(self) -> int:
        return len(self.members[0])


def _sensitive_names(release: Release, sensitive: str | Sequence[str] | None) -> tuple[str, ...]:
    known = release.sensitive
    if sensitive is None:
        if len(known) != 1:
            raise ParameterError("estimate", "sensitive", f"must name one or several of {name_some(known)}").with_hint(
                "With several names, their joint distribution is estimated."
            )
        return known
    names = tuple(column_names("estimate", "sensitive", sensitive))
    wrong = [name for name in names if name not in known]
    if wrong or not names or len(set(names)) < len(names):
        raise ParameterError(
            "estimate", "sensitive", f"must name distinct attributes of {name_some(known)}", got=name_some(names)
        ).with_hint(next((near for name in names if name not in known and (near := did_you_mean(name, known))), None))
    return names


def _check_joint(release: Release, names: tuple[str, ...]) -> None:
    if len(names) == 1:
        return
    if release.rows_per_record > 1:
        raise UnsupportedError(
            "estimate", "a joint distribution needs published sets, but this release has single members"
        ).with_hint("Ask for one attribute at a time.")
    size = prod(len(release.domain(name)) for name in names)
    if size > JOINT_LIMIT:
        raise UnsupportedError(
            "estimate",
            f"a joint distribution may have at most {JOINT_LIMIT} combinations, but {name_some(names)} have {size}",
        ).with_hint("Ask for fewer attributes at a time.")


def _select(release: Release, names: tuple[str, ...], by: tuple[By, ...], filters: tuple[Filter, ...]) -> _Selected:
    columns = release.columns(tuple(dict.fromkeys([part.column for part in by] + [part.column for part in filters])))
    asked: list[By | Filter] = [*by, *filters]
    for part in asked:
        part.check(columns[part.column])
    if release.rows_per_record == 1:
        members = tuple(release.sets(name) for name in names)
    else:
        members = tuple(release.members(name).reshape(-1, 1) for name in names)
    rows = None
    if filters:
        masks = [part.mask(columns[part.column]) for part in filters]
        mask = np.logical_and.reduce(masks)
        if not mask.any():
            raise nothing_selected(filters, [part for part, own in zip(filters, masks, strict=True) if not own.any()])
        columns, members, rows = columns.filter(mask), tuple(array[mask] for array in members), np.flatnonzero(mask)
    if not len(members[0]):
        raise nothing_selected((), ())
    return _Selected(columns, members, rows)


def _made(given: object, known: Registry[type[Kind]], what: str) -> Kind:
    """Make the named estimator, or refuse one that is for releases of the other kind."""
    if not isinstance(given, str) or given not in known:
        name = given if isinstance(given, str) else type(given).__name__
        raise UnsupportedError("estimate", f"estimator {name!r} is not offered for a release that {what}").with_hint(
            f"Use one of {name_some(known)}."
        )
    return known[given]()


def _checked_spread(release: Release, spread: str) -> str:
    if spread != "auto" and not release.generalized:
        raise UnsupportedError(
            "estimate", "spread", "must be 'auto' unless quasi-identifiers were generalized", got=repr(spread)
        )
    return spread


def _count(
    release: Release, names: tuple[str, ...], by: tuple[By, ...], filters: tuple[Filter, ...]
) -> tuple[CellData, CellIndex, NDArray[np.int64] | None]:
    selected = _select(release, names, by, filters)
    index = index_cells(map_threads(lambda part: part.encode(selected.columns[part.column]), by), selected.n_rows)
    mechanisms = tuple(release.drawn_by(name) for name in names)
    size = index.n_cells * prod(mechanism.n_values for mechanism in mechanisms)
    if size > CELL_LIMIT:
        raise too_many_cells(CELL_LIMIT, size)
    cells = count_cells(
        mechanisms,
        selected.members,
        index,
        exploded=release.rows_per_record > 1,
        marginal=lambda: global_marginal(
            mechanisms, [admissible_sets(release.drawn_by(name), release.sets(name)) for name in names]
        ),
    )
    return cells, index, selected.rows


def _assemble(question: _Question, cells: CellData, index: CellIndex) -> Estimate:
    solution = question.solver.solve(cells)
    asked = Asked(question.confidence, question.min_records)
    errors = question.solver.errors(cells, solution.counts, asked)
    empty = np.full(solution.counts.shape, np.nan)
    few = cells.records < question.min_records
    note = f"fewer than {question.min_records} records"
    return Estimate(
        sensitive=question.names,
        by=tuple(part.column for part in question.by),
        labels=index.labels,
        domains=tuple(question.release.domain(name) for name in question.names),
        records=cells.records,
        count=solution.counts,
        std_error=empty if errors is None else errors.std_error,
        low=empty if errors is None else errors.low,
        high=empty if errors is None else errors.high,
        estimator=solution.estimators,
        note=tuple(note if marked else "" for marked in few),
        caveats=_caveats(question, cells, solution, errors),
        confidence=question.confidence,
        where=tuple(map(str, question.filters)),
        frame_kind=question.release.frame_kind,
        _cells=cells,
        _covariance=None if errors is None else errors.covariance,
        _moments=None if errors is None else _moments(solution, cells, errors, asked),
    )


def _moments(solution: Solution, cells: CellData, errors: Errors, asked: Asked) -> Moments:
    """From which figures are derived: likeliest counts, if their own errors are known, and else those of linear."""
    if set(solution.estimators) == {"mle"} and (errors.lent is None or not errors.lent.any()):
        return likeliest_moments(solution.counts, errors, asked)
    return linear_moments(cells, asked)


def _caveats(question: _Question, cells: CellData, solution: Solution, errors: Errors | None) -> tuple[str, ...]:
    caveats = list(solution.caveats)
    if "map" in solution.estimators:
        caveats.append("map moves the counts of small cells towards the distribution of the whole release.")
    if errors is None:
        caveats.append(
            f"{question.solver.name} has no formula for its errors: standard errors and intervals are empty."
        )
    else:
        caveats.extend(errors.caveats)
        caveats += [DRAWN_TOGETHER] if any(map(question.release.drawn_together, question.names)) else []
    if not cells.has_sets:
        caveats.append("The release has single members, not sets: the estimate uses only their counts.")
    few = int(np.count_nonzero(cells.records < question.min_records))
    if few:
        caveats.append(
            f"{counted_of(few, cells.n_cells, 'cell', 'has', 'have')} fewer than {question.min_records} records."
        )
    error = max(mechanism.inclusion_error for mechanism in cells.mechanisms)
    if error > 0:
        caveats.append(
            f"Inclusion probabilities were simulated, with standard errors up to {number(error, 2)}; intervals do not "
            "include them."
        )
    return (*caveats, NOT_FOR_TESTS)
