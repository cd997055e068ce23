"""Paper 000: how well queries are answered by what each method publishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.estimation import ESTIMATORS, CellData, global_marginal
from ldiversity.evaluation.measures import Axis, code_sensitive, count_estimated, count_true, make_axis, squared_errors
from ldiversity.tables import value_type

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray

__all__ = ["PAPER_METHODS", "Answer", "Asked", "publish"]

PAPER_METHODS: Final[Mapping[str, Callable[..., ld.Method]]] = {
    "Proposal": ld.RandomizedAddition,
    "Anatomy": ld.Anatomy,
    "TP": ld.TP,
}
"""The methods that the paper compares."""

_SANITY: Final = 0.001


def publish(table: pa.Table, quasi: list[str], sensitive: str, name: str, l: int, seed: int) -> ld.Release | str:
    """Publish by a method of the paper, or return the reason why it cannot."""
    try:
        return ld.anonymize(
            table,
            quasi=quasi,
            sensitive=sensitive,
            method=PAPER_METHODS[name](l=l),
            grid="exact" if name == "TP" else None,  # as the paper publishes
            insecure_seed=seed,
        )
    except ld.InfeasibleError as error:
        return error.message


@dataclass(frozen=True)
class Answer:
    """How well queries were answered: the mean error of Eq. 2, its standard error, and the median relative error."""

    mse: float
    noise: float
    relative: float


class Asked:
    """Random queries on a table whose true answers are known.

    Parameters
    ----------
    table, quasi, sensitive
        What is published.
    qd, selectivity, n_queries, seed
        As in `QueryWorkload.random`.
    """

    def __init__(
        self,
        table: pa.Table,
        quasi: list[str],
        sensitive: str,
        *,
        qd: int,
        selectivity: float,
        n_queries: int,
        seed: int,
    ) -> None:
        self.workload = ld.QueryWorkload.random(
            table, quasi, sensitive, qd=qd, selectivity=selectivity, n_queries=n_queries, seed=seed
        )
        self.table, self.sensitive = table, sensitive
        self._axes: dict[str, Axis] = {name: make_axis(name, table[name]) for name in quasi}

    @cached_property
    def truth(self) -> FloatArray:
        """The true counts of the values in what each query selects, shape (queries, F)."""
        column = self.table[self.sensitive]
        codes = code_sensitive(column, self.sensitive, self.workload.domain, str(value_type(column.type)))
        positions = {name: axis.codes(self.table[name]) for name, axis in self._axes.items()}
        return count_true(
            [query.chosen for query in self.workload.queries], positions, codes, len(self.workload.domain)
        )

    @property
    def expected(self) -> Callable[[int], float]:
        """The exact formula of the proposal's mean error in these queries, by l."""
        records = self.truth.sum(axis=1)
        sizes, n_values = records[records > 0], len(self.workload.domain)
        per_record = float(np.mean(1 / sizes)) if len(sizes) else 0.0
        return lambda l: (n_values - 1) * (l - 1) / (n_values * (n_values - l)) * per_record

    def answers(self, name: str, release: ld.Release, *, improved: bool = True) -> dict[str, Answer]:
        """The errors by what is shown: the method as the paper has it, and the better estimators of this package."""
        if not release.grouped:
            cells = self._cells(release)
            found = {name: _linear(cells)}
            if improved:
                found[f"{name}, MAP (ours)"] = ESTIMATORS["map"]().solve(cells).counts
        else:
            chosen = [query.chosen for query in self.workload.queries]
            found = {name: count_estimated(chosen, self._axes, release, self.sensitive)}
            if improved and name == "Anatomy":
                with suppress(ld.UnsupportedError):  # where the mixing has no inverse
                    unmixed = count_estimated(chosen, self._axes, release, self.sensitive, unmix=True)
                    found[f"{name}, unmixed (ours)"] = unmixed
        code_of = release.domain(self.sensitive).code_of
        order = [code_of[value] for value in self.workload.domain.values]
        return {label: self._compare(counts[:, order]) for label, counts in found.items()}

    def _compare(self, estimated: FloatArray) -> Answer:
        asked = np.stack([query.sensitive for query in self.workload.queries])
        true, guess = (np.where(asked, counts, 0.0).sum(axis=1) for counts in (self.truth, estimated))
        relative = np.abs(guess - true) / np.maximum(true, _SANITY * self.table.num_rows)
        errors = squared_errors(self.truth, estimated)
        if not len(errors):
            return Answer(0.0, 0.0, float(np.median(relative)))
        noise = float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0
        return Answer(float(np.mean(errors)), noise, float(np.median(relative)))

    def _cells(self, release: ld.Release) -> CellData:
        """The published sets that each query selects: every query is a cell, and cells may overlap."""
        mechanism, members = release.drawn_by(self.sensitive), release.sets(self.sensitive)
        rows = self._selected(release)
        sizes = np.array([len(row) for row in rows], dtype=np.int64)
        counts = np.stack([np.bincount(members[row].ravel(), minlength=mechanism.n_values) for row in rows])
        of_row = np.repeat(np.arange(len(rows)), sizes)
        chosen = np.ascontiguousarray(members[np.concatenate(rows)])
        return CellData((mechanism,), sizes, counts, of_row, (chosen,), lambda: global_marginal([mechanism], [members]))

    def _selected(self, release: ld.Release) -> list[NDArray[np.int64]]:
        positions = {name: axis.codes(release.columns([name])[name]) for name, axis in self._axes.items()}
        selected = []
        for query in self.workload.queries:
            kept = np.ones(release.n_rows, dtype=bool)
            for name, chosen in query.chosen.items():
                kept &= np.append(chosen, False).take(positions[name])
            selected.append(np.flatnonzero(kept))
        return selected


def _linear(cells: CellData) -> FloatArray:
    """The paper's reconstruction, (W - N p) / (1 - p), without a matrix of F x F."""
    (mechanism,) = cells.mechanisms
    added = (mechanism.l - 1) / (mechanism.n_values - 1)
    counts: FloatArray = (cells.counts - cells.records[:, None] * added) / (1 - added)
    return counts
