"""What all runs of a comparison share: the table, its roles, and how releases of it are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.base.checks import check_integer, name_some
from ldiversity.errors import LDiversityError, ParameterError
from ldiversity.evaluation.attacks import ATTACKS, Attack, SeveralRows
from ldiversity.evaluation.audit import Recognition, audit
from ldiversity.evaluation.measures import Original, QueryWorkload
from ldiversity.hierarchies import Hierarchy
from ldiversity.publish import Columns, GivenGrid, Level, check_levels, read_hierarchies
from ldiversity.tables import Reading, Sensitive, Source, check_roles, fit_coder, open_source

__all__ = ["Measures", "Setting", "make_setting", "median_interval", "relative_errors"]

_MOST_DIMENSIONS: Final = 3
_SANITY: Final = 0.001

_SAYS_LITTLE: Final = 0.1
"""Where someone who knows only how frequent values are answers half of the queries better than this, queries say little
about how values depend on quasi-identifiers."""

_LEARNED: Final = 1000
_CLASSIFIED: Final = 2000
_LEAST_SAMPLE: Final = 300


@dataclass(frozen=True, eq=False)
class Setting:
    """The table and the measures of a comparison.

    `table` has the columns with a role, `workloads` the queries about each sensitive attribute, `answers` their true
    answers. `unprotected`, `guessing` and `uninformed` are those of `Comparison`. `drawn_from` says how many records
    there are if `table` has only some of them.
    """

    name: str
    frame_kind: str
    table: pa.Table = field(repr=False)
    quasi: tuple[str, ...]
    sensitive: tuple[Sensitive, ...]
    hierarchies: Mapping[str, Hierarchy]
    levels: Mapping[str, Level]
    grid: GivenGrid
    person: str | None
    workloads: tuple[QueryWorkload, ...] = field(repr=False)
    answers: tuple[FloatArray, ...] = field(repr=False)
    attacks: tuple[str | Attack, ...]
    targets: int
    seed: int | None
    recognition: Recognition
    reading: Reading
    unprotected: Mapping[str, float] = field(default_factory=dict)
    guessing: Mapping[str, float] = field(default_factory=dict)
    uninformed: float = 1.0
    sample: tuple[pa.Table, pa.Table] | None = field(default=None, repr=False)
    drawn_from: int | None = None

    @cached_property
    def original(self) -> Original:
        """The table, for measures: what follows from it alone is found once for all runs."""
        return Original(self.table)

    @cached_property
    def held_out(self) -> tuple[Original, Original] | None:
        """The same of the two tables of `sample`."""
        return None if self.sample is None else (Original(self.sample[0]), Original(self.sample[1]))

    @property
    def judged_by(self) -> Literal["queries", "association"]:
        """Which error decides: that of queries, unless frequencies alone answer them nearly as well."""
        return "association" if self.uninformed < _SAYS_LITTLE else "queries"

    @property
    def declared(self) -> tuple[Sensitive, ...]:
        """The sensitive columns with their values declared, so that a sample has the same."""
        domains = {workload.sensitive: workload.domain for workload in self.workloads}
        return tuple(
            one
            if one.bins is not None or one.domain is not None or one.name not in domains
            else replace(one, domain=tuple(value for value in domains[one.name].values if value is not None))
            for one in self.sensitive
        )

    @property
    def sanity(self) -> float:
        """The least divisor of the error of a query."""
        return _sanity(self.table)

    @property
    def decides(self) -> dict[str, object]:
        """Everything besides its method that determines the figures of a run."""
        return {
            "table": self.table,
            "quasi": self.quasi,
            "sensitive": self.sensitive,
            "hierarchies": self.hierarchies,
            "levels": self.levels,
            "grid": self.grid,
            "person": self.person,
            "workloads": self.workloads,
            "attacks": tuple(name if isinstance(name, str) else [name.name, name] for name in self.attacks),
            "targets": self.targets,
            "seed": self.seed,
            "recognition": (self.recognition, _content(self.recognition.population)),
            "learner": _learner(),
        }


@dataclass(frozen=True)
class Measures:
    """How to measure releases: the arguments of `compare`."""

    queries: int | QueryWorkload | None
    attacks: str | Attack | Sequence[str | Attack] | None
    targets: int
    seed: int | None
    recognition: Recognition
    sample: int | None = None


def make_setting(source: Source, columns: Columns, measures: Measures) -> Setting:
    """Read the table, and check everything that all runs share."""
    names, attributes, person = columns.quasi, columns.sensitive, columns.person
    if not names:
        raise ParameterError("compare", "quasi", "must name at least one column by which people are recognized")
    check_roles(
        source,
        quasi=names,
        sensitive=[one.name for one in attributes],
        drop=[*columns.drop, *([] if person is None or person in columns.drop else [person])],
        plain=columns.plain,
    )
    known = read_hierarchies(columns.hierarchies, source, names)
    needed = [*names, *(one.name for one in attributes), *([] if person is None else [person])]
    batches = list(source.batches(needed))
    fields = pa.schema([(name, source.columns[name]) for name in needed])
    table = pa.Table.from_batches(batches) if batches else fields.empty_table()
    if not table.num_rows:
        raise ParameterError("compare", "data", "must have at least one record", got="none")
    whole, recognition = table.num_rows, measures.recognition
    if measures.sample is not None:
        attributes = tuple(_with_domain(_in_order(one, source, table), table) for one in attributes)
        table, share = draw_rows(table, person, measures.sample, measures.seed)
        if recognition.sample_fraction is not None:
            recognition = replace(recognition, sample_fraction=recognition.sample_fraction * share)
    chosen = _attacks(measures.attacks)
    if measures.attacks is None and person is not None:
        chosen = (*chosen, SeveralRows.name)
    attributes = tuple(_in_order(one, source, table) for one in attributes)
    workloads = _workloads(measures.queries, table, names, attributes, measures.seed)
    unprotected, guessing = _as_it_is(table, names, attributes)
    answers = tuple(workload.answers(table) for workload in workloads)
    return Setting(
        name=source.name,
        frame_kind=source.frame_kind,
        table=table,
        quasi=names,
        sensitive=attributes,
        hierarchies=known,
        levels=check_levels(columns.levels, source, names),
        grid=columns.grid,
        person=person,
        workloads=workloads,
        answers=answers,
        attacks=chosen,
        targets=min(table.num_rows, check_integer("compare", "targets", measures.targets, minimum=1)),
        seed=measures.seed,
        recognition=recognition,
        drawn_from=whole if table.num_rows < whole else None,
        reading={
            "types": {name: kind for name, kind in (columns.types or {}).items() if name in names},
            "read": columns.read,
        },
        unprotected=unprotected,
        guessing=guessing,
        sample=_sample(table, person),
        uninformed=max(
            float(np.median(relative_errors(workload.uninformed(table), true, _sanity(table))))
            for workload, true in zip(workloads, answers, strict=True)
        ),
    )


def draw_rows(table: pa.Table, person: str | None, wanted: int, seed: int | None) -> tuple[pa.Table, float]:
    """Draw so many records at random, or all records of so many people, and say which share of them that is.

    Examples
    --------
    >>> table = pa.table({"who": [1, 1, 2, 3], "age": [30, 31, 40, 50]})
    >>> some, share = draw_rows(table, None, 2, seed=1)
    >>> some.num_rows, share
    (2, 0.5)
    >>> draw_rows(table, "who", 5, seed=1)[1]
    1.0
    """
    whose = _numbered(table, person)
    people = np.unique(whose)
    if wanted >= len(people):
        return table, 1.0
    drawn = np.random.default_rng(seed).choice(people, wanted, replace=False)
    return table.take(pa.array(np.flatnonzero(np.isin(whose, drawn)))), wanted / len(people)


def _with_domain(attribute: Sensitive, table: pa.Table) -> Sensitive:
    """Declare the values of the whole table, which a sample may lack."""
    if attribute.bins is not None or attribute.domain is not None:
        return attribute
    domain = fit_coder(open_source(table), attribute)[0].domain
    return replace(attribute, domain=tuple(value for value in domain.values if value is not None))


def _numbered(table: pa.Table, person: str | None) -> NDArray[np.int64]:
    """A number for the person of each record; its own for each when nothing says whose it is."""
    if person is None:
        return np.arange(table.num_rows)
    return np.asarray(table[person].combine_chunks().dictionary_encode().indices.fill_null(-1)).astype(np.int64)


def _sample(table: pa.Table, person: str | None) -> tuple[pa.Table, pa.Table] | None:
    """Records to learn from, and others to classify, none of the same person; None when there are too few."""
    draw = np.random.default_rng(0)  # which records are drawn says nothing that is published
    whose = _numbered(table, person)
    people = draw.permutation(np.unique(whose))
    half = min(_LEARNED, len(people) // 2)
    if half < _LEAST_SAMPLE:
        return None
    first, second = people[:half], people[half : half + _CLASSIFIED]
    return tuple(table.take(pa.array(np.flatnonzero(np.isin(whose, some)))) for some in (first, second))


def relative_errors(estimates: FloatArray, answers: FloatArray, sanity: float) -> FloatArray:
    """The errors of answers, relative to the true ones, or to `sanity` where that is more."""
    errors: FloatArray = np.abs(estimates - answers) / np.maximum(answers, sanity)
    return errors


def median_interval(errors: FloatArray) -> tuple[float, float, float]:
    """The median of errors, and the 95 % interval of the median that they were drawn from.

    The number of errors below that median is binomial with one half, whatever their distribution, so two of the sorted
    errors are the ends; with fewer than six, the least and the greatest.

    Examples
    --------
    >>> median_interval(np.arange(101.0))
    (50.0, 40.0, 60.0)
    """
    ordered, n = np.sort(errors), len(errors)
    low = max(0, int(np.floor((n - 1.96 * np.sqrt(n)) / 2)))
    return float(np.median(ordered)), float(ordered[low]), float(ordered[n - 1 - low])


def _content(population: Any) -> object:  # noqa: ANN401 - any frame or path
    """What decides figures about a population; a path stands for the content of its file."""
    return Path(population) if isinstance(population, str) else population


def _sanity(table: pa.Table) -> float:
    """0.1 % of the records, and at least one."""
    return max(1.0, _SANITY * float(table.num_rows))


def _in_order(attribute: Sensitive, source: Source, table: pa.Table) -> Sensitive:
    """Declare the values that occur, in the order of the column's categories, which `table` no longer has."""
    order = source.category_order(attribute.name)
    if order is None or attribute.domain is not None or attribute.bins is not None:
        return attribute
    occurring = order.filter(pc.is_in(order, value_set=pc.unique(table[attribute.name].drop_null())))
    return replace(attribute, domain=tuple(occurring.to_pylist())) if len(occurring) else attribute


def _as_it_is(
    table: pa.Table, quasi: Sequence[str], sensitive: Sequence[Sensitive]
) -> tuple[dict[str, float], dict[str, float]]:
    """The share of values that attackers would name correctly from the raw table, and by guessing."""
    try:
        found = audit(table, quasi=quasi, sensitive=sensitive).attribute_risk
    except LDiversityError:
        return {}, {}
    return (
        {name: risk.mean_largest_share for name, risk in found.items()},
        {name: risk.largest_share_overall for name, risk in found.items()},
    )


def _learner() -> str | None:
    """The version of the package with which attackers learn; None when it is not installed."""
    if find_spec("sklearn") is None:
        return None
    try:
        return version("scikit-learn")
    except PackageNotFoundError:
        return "unknown"


def _attacks(given: str | Attack | Sequence[str | Attack] | None) -> tuple[str | Attack, ...]:
    # A comparison sets attacks against promises; risks have none.
    named = {name: kind for name in ATTACKS if issubclass(kind := ATTACKS[name], Attack)}
    known = list(named)
    usual = [name for name, kind in named.items() if kind.compared]
    several = usual if given is None else (given,) if isinstance(given, str | Attack) else tuple(given)
    for one in several:
        if not isinstance(one, Attack) and one not in known:
            raise ParameterError("compare", "attacks", "must name known attacks", got=repr(one)).with_hint(
                f"Known are {name_some(known, most=len(known))}."
            )
    if not several:
        raise ParameterError("compare", "attacks", "must name at least one attack")
    return tuple((named[one].quick() or one) if isinstance(one, str) else one for one in several)


def _workloads(
    queries: int | QueryWorkload | None,
    table: pa.Table,
    quasi: Sequence[str],
    sensitive: Sequence[Sensitive],
    seed: int | None,
) -> tuple[QueryWorkload, ...]:
    source = open_source(table)
    domains = {one.name: fit_coder(source, one)[0].domain for one in sensitive}  # raises a clear error for a bad column
    if isinstance(queries, QueryWorkload):
        if queries.sensitive not in domains:
            raise ParameterError("compare", "queries", "must be about a sensitive column", got=repr(queries.sensitive))
        return (queries,)
    number = 300 if queries is None else check_integer("compare", "queries", queries, minimum=1)
    return tuple(
        QueryWorkload.random(
            table,
            quasi,
            name,
            qd=min(_MOST_DIMENSIONS, len(quasi)),
            n_queries=number,
            seed=seed or 0,
            domain=domain,
        )
        for name, domain in domains.items()
    )
