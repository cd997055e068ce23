"""Whether stated errors are true: coverage, width and error ratios of `mle` and `map` on Census-Income and Adult.

Usage: LDIVERSITY_DATA=<folder with adult.csv.gz and census_income_kdd.csv.gz> python benchmarks/run.py errors
LDIVERSITY_STUDIES=adult-education-5-uniform,joint,made takes these studies alone: those whose names begin so.

Cells with at least ten records per value are published many times. Classes of values follow from the true share in the
cell: zero, rare (below 2 %), common. Standard errors of coverages are over releases. Classes with few values need more
releases than others: cells that have such values are published until the standard error is at most .003, and at most a
third of the distance from the nearest limit. So a limit is not broken or kept by chance, unless the true coverage is
within .003 of it. In such cells `auto` is `mle`.

Where sets tell too little, limits are those of `linear`, and the estimate says so. They hold values with few records
too often, because no count is below zero. In a study with mostly such limits, a class may be held as often as by
`linear`, and little more; its line says what .97 has become.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import count, product
from math import ceil, prod
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from _hard_cells import hard_cases
from _measure import Result

import ldiversity as ld

TIMES: Final = {"Census-Income": 20, "Adult": 160, "Adult, 40 and older": 60, "Adult, everybody": 60}
RARE: Final = 0.02
WIDTHS: Final = {("Census-Income", 3): 0.75, ("Census-Income", 5): 0.82}
LEAST, MOST = 0.93, 0.97
MORE_THAN_LINEAR: Final = 0.01
LEAST_NOISE, MOST_NOISE = 0.001, 0.003
ROWS_AT_ONCE: Final = 500_000


@dataclass(frozen=True)
class Study:
    """A table, the columns that make its cells, its sensitive columns, and from which age on people are counted."""

    name: str
    table: pa.Table
    by: tuple[str, ...]
    sensitive: tuple[str, ...]
    age: int | None = None


def run() -> list[Result]:
    folder = os.environ.get("LDIVERSITY_DATA")
    if not folder:
        print("LDIVERSITY_DATA does not name the folder of the public data sets: no figures for errors.")
        return []
    studies = _studies(Path(folder))
    begins = tuple(os.environ.get("LDIVERSITY_STUDIES", ",".join(studies)).split(","))
    return [result for name, measure in studies.items() if name.startswith(begins) for result in measure()]


def _studies(folder: Path) -> dict[str, Callable[[], list[Result]]]:
    census = pa.csv.read_csv(folder / "census_income_kdd.csv.gz")
    adult = pa.csv.read_csv(folder / "adult.csv.gz")
    single = {
        "census-education": Study("Census-Income", census, ("sex", "marital_stat", "race"), ("education",)),
        "adult-education": Study("Adult", adult, ("sex", "race"), ("education",)),
        "adult-occupation": Study("Adult", adult, ("sex", "marital-status"), ("occupation",)),
    }
    joint = Study("Adult, 40 and older", adult, ("sex",), ("relationship", "race"), 40)
    married = Study("Adult, everybody", adult, ("sex",), ("relationship", "marital-status"))
    return {
        **{
            f"{name}-{l}-{kind}": partial(_figures, study, l, kind, d)
            for name, study in single.items()
            for l, d in ((3, 3), (5, 2))
            for kind in ("uniform", "balanced")
        },
        **{f"joint-{l}": partial(_figures, joint, l, "uniform", 0) for l in (2, 3)},
        "joint-balanced": partial(_figures, joint, 2, "balanced", 2),
        "joint-married": partial(_figures, married, 3, "uniform", 0),
        "made": hard_cases,
    }


def _figures(study: Study, l: int, kind: str, d: int) -> list[Result]:
    method = (
        ld.RandomizedAddition(l=l)
        if kind == "uniform"
        else ld.SemanticDiversity(l=l, d=d, distance=ld.OrderedDistance())
    )
    publisher = Publisher(study, method)
    cells = publisher.large_cells()
    drawn = publisher.draw(cells, TIMES[study.name], ("mle", "map", "linear"))
    truth = drawn["mle"].truth
    share = truth / truth.sum(axis=1, keepdims=True)
    classes = {"all": share >= 0, "zero": share == 0, "rare": (share > 0) & (share < RARE), "common": share >= RARE}
    classes = {each: chosen for each, chosen in classes.items() if chosen.any()}
    coverage = {each: _coverage(publisher, cells, drawn["mle"], chosen) for each, chosen in classes.items()}
    by_class = {each: one.held for each, one in coverage.items()}
    # The prior of map is that of the whole table, so cells cannot be published alone. But its intervals are nearly
    # those of mle: the difference between the two has little noise.
    difference = drawn["map"].held.astype(float) - drawn["mle"].held
    with_prior = {each: by_class[each] + float(difference[:, chosen].mean()) for each, chosen in classes.items()}
    most = _most(drawn["mle"], drawn["linear"], classes)
    name = f"{study.name}, {' with '.join(study.sensitive)}, l={l}, {kind}"
    width = WIDTHS.get((study.name, l), 1)
    return [
        *_results(f"{name}, mle", drawn["mle"], drawn["linear"], width, by_class, most, _listed(coverage)),
        *_results(f"{name}, map", drawn["map"], drawn["linear"], width, with_prior, most, _listed(with_prior)),
    ]


def _most(drawn: Draws, linear: Draws, classes: Mapping[str, np.ndarray]) -> dict[str, float]:
    """The most coverage of each class that is no fault."""
    if float((drawn.high == linear.high).mean()) < 0.5:  # lower limits may be 0 in both
        return dict.fromkeys(classes, MOST)
    held = {each: float(linear.held[:, chosen].mean()) for each, chosen in classes.items()}
    return {each: max(MOST, own + MORE_THAN_LINEAR) for each, own in held.items()}


def _results(
    name: str,
    drawn: Draws,
    linear: Draws,
    most_width: float,
    by_class: dict[str, float],
    most: dict[str, float],
    detail: str,
) -> list[Result]:
    width = float((drawn.high - drawn.low).sum() / (linear.high - linear.low).sum())
    error = float(np.sqrt((drawn.stated**2).mean() / ((drawn.counts - drawn.truth) ** 2).mean()))
    worst = max(by_class, key=lambda each: by_class[each] - most[each])
    beyond = most[worst] > MOST
    said = f"{worst}; limits are those of linear, so not {MOST} but what linear has" if beyond else worst
    return [
        Result(f"{name}: least coverage of a class", min(by_class.values()), LEAST, "", detail, at_least=True),
        Result(f"{name}: most coverage of a class", by_class[worst], most[worst], "", said),
        Result(f"{name}: width / linear", width, most_width, "x"),
        Result(f"{name}: stated / actual error", error, 0.85, "x", at_least=True),
        Result(f"{name}: stated / actual error", error, 1.2, "x"),
    ]


def _listed(coverage: Mapping[str, Coverage | float]) -> str:
    return "; ".join(
        f"{each} {one:.4f}" if isinstance(one, float) else f"{each} {one}" for each, one in coverage.items()
    )


def _coverage(publisher: Publisher, cells: pa.Table, drawn: Draws, chosen: np.ndarray) -> Coverage:
    # The mle of a cell depends on its own records alone, so cells without values of the class need no more releases.
    cells_of_class = chosen.any(axis=1)
    found = Coverage.of(drawn, chosen)
    while (missing := found.releases_for_a_verdict - len(found.by_release)) > 0:
        # A distance from the limits that is small by chance asks for far too many releases: so at most twice as many.
        more = publisher.draw(cells.filter(pa.array(cells_of_class)), min(missing, len(found.by_release)), ("mle",))
        found = found.joined(Coverage.of(more["mle"], chosen[cells_of_class]))
    return found


class Publisher:
    """Publishes cells of a table again and again with one method. Each release has randomness of its own."""

    def __init__(self, study: Study, method: ld.Method) -> None:
        self._by, self._sensitive, self._method = list(study.by), list(study.sensitive), method
        self._quasi = [*study.by, *(["age"] if study.age else [])]
        self._table = study.table.select([*self._quasi, *study.sensitive])
        self._values = [sorted(set(self._table[name].to_pylist())) for name in study.sensitive]
        self._age = study.age
        self._seeds = count()

    def large_cells(self) -> pa.Table:
        """The labels of the cells with at least ten records per value, in order."""
        counted = self._counted(self._table).group_by(self._by).aggregate([([], "count_all")])
        large = pc.greater_equal(counted["count_all"], 10 * prod(len(own) for own in self._values))
        return counted.filter(large).select(self._by).sort_by([(name, "ascending") for name in self._by])

    def draw(self, cells: pa.Table, times: int, estimators: Sequence[str]) -> dict[str, Draws]:
        """Publish the records of these cells so many times, and estimate their counts."""
        # The first releases have records that the filter leaves out; those for one class alone need none.
        table = self._table if "linear" in estimators else self._counted(self._table)
        rows = table.join(cells, keys=self._by, join_type="left semi", use_threads=False)
        at_once = max(1, ROWS_AT_ONCE // rows.num_rows)
        parts = [self._draw(rows, min(at_once, times - done), estimators) for done in range(0, times, at_once)]
        return {each: Draws.joined([part[each] for part in parts]) for each in estimators}

    def _draw(self, rows: pa.Table, times: int, estimators: Sequence[str]) -> dict[str, Draws]:
        # One table that has each record many times is faster than many tables; "draw" numbers the releases.
        draws = np.repeat(np.arange(times), rows.num_rows)
        table = pa.concat_tables([rows] * times).append_column("draw", pa.array(draws))
        release = ld.anonymize(
            table,
            quasi=[*self._quasi, "draw"],
            sensitive=[ld.Sensitive(name, domain=own) for name, own in zip(self._sensitive, self._values, strict=True)],
            method=self._method,
            insecure_seed=next(self._seeds),
        )
        where, by = None if self._age is None else f"age >= {self._age}", ["draw", *self._by]
        found = {}
        for each in estimators:
            estimate = ld.estimate(release, by=by, sensitive=self._sensitive, where=where, estimator=each)
            truth = true_counts(self._counted(table), estimate, self._sensitive, self._values)
            order = np.asarray(pc.sort_indices(estimate.labels, sort_keys=[(name, "ascending") for name in by]))
            arrays = (truth, estimate.low, estimate.high, estimate.count, estimate.std_error)
            truth, *others = (array[order].reshape(times, -1, array.shape[1]) for array in arrays)
            found[each] = Draws(truth[0], *others)
        return found

    def _counted(self, table: pa.Table) -> pa.Table:
        return table if self._age is None else table.filter(pc.greater_equal(table["age"], self._age))


@dataclass(frozen=True)
class Draws:
    """True counts by cell and value, and what was estimated, by release, cell and value."""

    truth: np.ndarray
    low: np.ndarray
    high: np.ndarray
    counts: np.ndarray
    stated: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[Draws]) -> Draws:
        """The releases of all parts, which are about the same cells."""
        arrays = (np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)[1:])
        return cls(parts[0].truth, *arrays)

    @property
    def held(self) -> np.ndarray:
        """Which intervals hold the true count."""
        return (self.low <= self.truth) & (self.truth <= self.high)


@dataclass(frozen=True)
class Coverage:
    """Which share of the intervals of a class holds in each release, and which share begins at 0."""

    by_release: np.ndarray
    at_zero: np.ndarray

    @classmethod
    def of(cls, drawn: Draws, chosen: np.ndarray) -> Coverage:
        """From the intervals of those cells and values that are chosen."""
        return cls(*(array[:, chosen].mean(axis=1) for array in (drawn.held, drawn.low <= 0)))

    def joined(self, other: Coverage) -> Coverage:
        """That of the releases of both."""
        arrays = ((self.by_release, other.by_release), (self.at_zero, other.at_zero))
        return Coverage(*(np.concatenate(both) for both in arrays))

    @property
    def held(self) -> float:
        """The share of intervals that hold."""
        return float(self.by_release.mean())

    @property
    def noise(self) -> float:
        """The standard error of this share, over releases."""
        return float(self.by_release.std(ddof=1) / np.sqrt(len(self.by_release)))

    @property
    def releases_for_a_verdict(self) -> int:
        """How many releases make the noise a third of the distance from the nearest limit."""
        distance = min(abs(self.held - LEAST), abs(self.held - MOST))
        wanted = min(max(distance / 3, LEAST_NOISE), MOST_NOISE)
        return ceil(len(self.by_release) * (self.noise / wanted) ** 2)

    def __str__(self) -> str:
        of = f"{len(self.by_release):,} releases, {self.at_zero.mean():.0%} begin at 0"
        return f"{self.held:.4f} +- {self.noise:.4f} ({of})"


def true_counts(
    table: pa.Table, estimate: ld.Estimate, sensitive: Sequence[str], values: Sequence[Sequence[str]]
) -> np.ndarray:
    """The true counts of the cells of an estimate; `values` has the domain of each sensitive column."""
    position = {tuple(row.values()): at for at, row in enumerate(estimate.labels.to_pylist())}
    code = {combined: at for at, combined in enumerate(product(*values))}
    truth = np.zeros(estimate.count.shape)
    for row in table.group_by([*estimate.by, *sensitive]).aggregate([([], "count_all")]).to_pylist():
        cell, value = (tuple(row[name] for name in names) for names in (estimate.by, sensitive))
        truth[position[cell], code[value]] = row["count_all"]
    return truth
