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
from ldiversity.evaluation.measures import (
    Axis,
    code_sensitive,
    count_estimated,
    count_true,
    make_axis,
    squared_errors,
    unmix,
)
from ldiversity.mechanisms import SetMechanism
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
_BLOCK: Final = 64


def publish(table: pa.Table, quasi: list[str], sensitive: str, name: str, l: int, seed: int) -> ld.Release | str:
    """Publish by a method of the paper, or return the reason why it cannot."""
    try:
        return ld.anonymize(
            table,
            quasi=quasi,
            sensitive=sensitive,
            method=PAPER_METHODS[name](l=l),
            grid="exact" if name == "TP" else None,  # as the paper publishes
            confirm=quasi,  # the paper publishes columns that give others away, such as education-num and education
            insecure_seed=seed,
        )
    except ld.InfeasibleError as error:
        return error.message


@dataclass(frozen=True)
class Answer:
    """How well queries were answered.

    Parameters
    ----------
    queries
        How many were asked.
    mse, noise
        The mean error of Eq. 2 over the queries that select a record, and its standard error.
    relative
        The median relative error.
    paper_mse, paper_relative
        The same of the paper's estimate, from the same release and for the same queries.
    """

    queries: int
    mse: float
    noise: float
    relative: float
    paper_mse: float
    paper_relative: float


class Asked:
    """Random queries on a table whose true answers are known.

    Parameters
    ----------
    table, quasi, sensitive
        What is published.
    qd, selectivity, n_queries, seed
        As in `QueryWorkload.random`.
    n_likelihood
        How many of them, the first, are also answered by likelihood. That takes seconds for a hundred, because the
        sets of all records that a query selects are looked at many times.
    """

    def __init__(  # noqa: PLR0913 - the parameters of the paper, and one of ours
        self,
        table: pa.Table,
        quasi: list[str],
        sensitive: str,
        *,
        qd: int,
        selectivity: float,
        n_queries: int,
        seed: int,
        n_likelihood: int = 100,
    ) -> None:
        self.workload = ld.QueryWorkload.random(
            table, quasi, sensitive, qd=qd, selectivity=selectivity, n_queries=n_queries, seed=seed
        )
        self.table, self.sensitive, self.n_likelihood = table, sensitive, n_likelihood
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
        chosen = [query.chosen for query in self.workload.queries]
        code_of = release.domain(self.sensitive).code_of
        order = [code_of[value] for value in self.workload.domain.values]
        if release.grouped:
            counts = count_estimated(chosen, self._axes, release, self.sensitive)
            found = {name: counts}
            if improved and name == "Anatomy":
                with suppress(ld.UnsupportedError):  # where the mixing has no inverse
                    found[f"{name}, unmixed (ours)"] = unmix(counts, release, self.sensitive)
        else:
            positions = {own: axis.codes(release.columns([own])[own]) for own, axis in self._axes.items()}
            counts = count_true(chosen, positions, release.sets(self.sensitive), len(order))
            found = {name: _linear(release.drawn_by(self.sensitive), counts)}
            if improved:
                found[f"{name}, MAP (ours)"] = self._likeliest(release, positions, counts[: self.n_likelihood])
        errors = {label: self._errors(counts[:, order]) for label, counts in found.items()}
        return {label: own.answer(errors[name]) for label, own in errors.items()}

    def _errors(self, estimated: FloatArray) -> _Errors:
        """The errors of the first queries, as many as were estimated."""
        squared, relative = [], []
        for first in range(0, len(estimated), _BLOCK):  # of tables with very many values not all at once
            part = slice(first, min(first + _BLOCK, len(estimated)))
            truth, found = self.truth[part], estimated[part]
            asked = np.stack([query.sensitive for query in self.workload.queries[part]])
            true, guess = (np.where(asked, counts, 0.0).sum(axis=1) for counts in (truth, found))
            relative.append(np.abs(guess - true) / np.maximum(true, _SANITY * self.table.num_rows))
            each = np.full(len(truth), np.nan)
            each[truth.sum(axis=1) > 0] = squared_errors(truth, found)
            squared.append(each)
        return _Errors(np.concatenate(squared), np.concatenate(relative))

    def _likeliest(
        self, release: ld.Release, positions: Mapping[str, NDArray[np.intp]], counts: FloatArray
    ) -> FloatArray:
        """Estimate by the published sets that each query selects: every query is a cell, and cells may overlap."""
        mechanism, members = release.drawn_by(self.sensitive), release.sets(self.sensitive)
        rows = [self._selected(query.chosen, positions) for query in self.workload.queries[: len(counts)]]
        sizes = np.array([len(row) for row in rows], dtype=np.int64)
        of_row = np.repeat(np.arange(len(rows)), sizes)
        chosen = np.ascontiguousarray(members[np.concatenate(rows)])
        cells = CellData(
            (mechanism,),
            sizes,
            counts.astype(np.int64),
            of_row,
            (chosen,),
            lambda: global_marginal([mechanism], [members]),
        )
        return ESTIMATORS["map"]().solve(cells).counts

    def _selected(
        self, chosen: Mapping[str, NDArray[np.bool_]], positions: Mapping[str, NDArray[np.intp]]
    ) -> NDArray[np.int64]:
        kept = np.ones(self.table.num_rows, dtype=bool)
        for name, values in chosen.items():
            kept &= np.append(values, False).take(positions[name])
        return np.flatnonzero(kept)


@dataclass(frozen=True, eq=False)
class _Errors:
    """The errors of each query: of Eq. 2, or NaN where it selects no record; and relative."""

    squared: FloatArray
    relative: FloatArray

    def answer(self, paper: _Errors) -> Answer:
        """Sum up, beside the paper's estimate of the same release and the same queries."""
        n_queries = len(self.squared)
        squared = self.squared[~np.isnan(self.squared)]
        same = paper.squared[:n_queries][~np.isnan(self.squared)]
        several = len(squared) > 1
        return Answer(
            queries=n_queries,
            mse=float(np.mean(squared)) if len(squared) else 0.0,
            noise=float(np.std(squared, ddof=1) / np.sqrt(len(squared))) if several else 0.0,
            relative=float(np.median(self.relative)),
            paper_mse=float(np.mean(same)) if len(same) else 0.0,
            paper_relative=float(np.median(paper.relative[:n_queries])),
        )


def _linear(mechanism: SetMechanism, counts: FloatArray) -> FloatArray:
    """The paper's reconstruction, (W - N p) / (1 - p), without a matrix of F x F."""
    added = (mechanism.l - 1) / (mechanism.n_values - 1)
    records = counts.sum(axis=1, keepdims=True) / mechanism.l
    found: FloatArray = (counts - records * added) / (1 - added)
    return found
