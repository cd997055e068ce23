"""The records of a regression: predictors and sets, equal ones put together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.checks import name_all
from ldiversity.base.numbers import counted
from ldiversity.errors import ParameterError
from ldiversity.estimation._admissible import admissible_sets, check_likelihood
from ldiversity.estimation._coarse import ask_labels
from ldiversity.estimation._likelihood import counted_marginal
from ldiversity.estimation._regression._design import Design, prepare_columns
from ldiversity.estimation._where import Filter, WhereLike, as_filters, nothing_selected
from ldiversity.schema import MISSING_LABEL, Role
from ldiversity.sentences import Setting, say

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, FloatArray, SetArray
    from ldiversity.estimation._regression._formula import Formula
    from ldiversity.mechanisms import SetMechanism
    from ldiversity.release import Release

__all__ = ["Rows", "select_rows", "too_few"]

_COUNT: Final = "count_all"


@dataclass(frozen=True, eq=False)
class Rows:
    """The selected records; a row stands for all that are equal.

    Parameters
    ----------
    mechanism
        How sets were drawn.
    design
        The predictors of each row.
    different
        Shape (different sets, l).
    pieces
        The set of each row.
    weights
        How many records each row stands for.
    used
        Shape (records of the release,): whether a record is among them.
    left_out
        How many records lack a predictor.
    where
        The filters, as texts.
    """

    mechanism: SetMechanism
    design: Design
    different: SetArray
    pieces: NDArray[np.int64]
    weights: FloatArray
    used: BoolArray
    left_out: int
    where: tuple[str, ...]

    @property
    def n_records(self) -> int:
        """How many records these are."""
        return int(np.count_nonzero(self.used))

    def explanations(self) -> tuple[SetArray, FloatArray]:
        """The values that may be true for each row, and P(set | value), up to a factor.

        They are the members of its set, or all values where the true one may be missing. The second is empty where all
        members are equally likely.
        """
        if self.mechanism.flat_likelihood:
            return self.different[self.pieces], np.empty((0, self.different.shape[1]))
        candidates, likelihood = self.mechanism.explanations(self.different)
        check_likelihood(likelihood)
        given = np.asarray(likelihood / likelihood.max(axis=1, keepdims=True), dtype=np.float64)
        return candidates[self.pieces], given[self.pieces]

    def shares(self) -> FloatArray:
        """How frequent the values are among these records, by maximum likelihood; each is positive."""
        counts = np.bincount(self.pieces, self.weights, minlength=len(self.different))
        shown = counts > 0
        return counted_marginal([self.mechanism], [self.different[shown]], counts[shown])


def select_rows(release: Release, read: Formula, where: WhereLike, missing: str, *, together: bool = True) -> Rows:
    """The records that filters select and whose predictors are known; equal ones together, unless told otherwise."""
    _, filters = ask_labels(release, (), as_filters(where))
    for condition in filters:
        if release.schema[condition.column].role is Role.SENSITIVE:
            raise ParameterError(
                "regress",
                "where",
                f"must name published columns, but {condition.column!r} is sensitive: the release does not say which "
                "records have which of its values",
            )
    columns = release.columns(tuple(dict.fromkeys([*read.columns, *(part.column for part in filters)])))
    selected = _selected(filters, columns, release.n_rows)
    used = _known(release, read, columns, selected, missing)
    evidence = release.evidence(read.outcome)
    pieces = evidence.of_row[used].astype(np.int64)
    known = prepare_columns(release, columns.select(list(read.columns)).filter(pa.array(used)))
    design, weights = Design.make(read.right, known, len(pieces)), np.ones(len(pieces))
    merged = _put_together(design.matrix, pieces) if together else None
    if merged is not None:
        matrix, pieces, weights = merged
        design = replace(design, matrix=matrix)
    mechanism = release.drawn_by(read.outcome)
    return Rows(
        mechanism,
        design,
        admissible_sets(mechanism, evidence.sets),
        pieces,
        weights,
        used,
        int(np.count_nonzero(selected & ~used)),
        tuple(map(str, filters)),
    )


def too_few(n_records: int, n_coefficients: int) -> ParameterError:
    """The error of a formula that asks for more than the records can tell."""
    return ParameterError(
        "regress",
        "formula",
        f"must have fewer coefficients than records, but has {n_coefficients} for {counted(n_records, 'record')}",
    ).with_hint("Leave terms out, or use more records.")


def _selected(filters: tuple[Filter, ...], columns: pa.Table, n_rows: int) -> BoolArray:
    selected = np.ones(n_rows, dtype=bool)
    masks = []
    for part in filters:
        part.check(columns[part.column])
        masks.append(part.mask(columns[part.column]))
        selected &= masks[-1]
    if not selected.any():
        raise nothing_selected(filters, [part for part, own in zip(filters, masks, strict=True) if not own.any()])
    return selected


def _known(release: Release, read: Formula, columns: pa.Table, selected: BoolArray, missing: str) -> BoolArray:
    used = selected.copy()
    lacking = []
    for name in read.columns:
        cells = columns[name]
        # Of a column that was made coarser, the label says that a cell was missing.
        valid = np.asarray(pc.is_valid(cells))
        if name in release.coarse:
            valid &= np.asarray(pc.fill_null(pc.not_equal(cells, MISSING_LABEL), fill_value=False))
        lacking += [] if valid[selected].all() else [name]
        used &= valid
    if lacking and missing == "refuse":
        left_out = counted(int(np.count_nonzero(selected & ~used)), "record")
        raise ParameterError(
            "regress",
            "formula",
            f"must have predictors that are known, but {name_all(lacking, 'is', 'are')} missing in {left_out}",
        ).with_hint(say("Leave these records out by {}.", Setting("missing", "drop")))
    if not used.any():
        raise too_few(0, 1)
    return used


def _put_together(
    matrix: FloatArray, pieces: NDArray[np.int64]
) -> tuple[FloatArray, NDArray[np.int64], FloatArray] | None:
    """Records with equal predictors and sets as one row with a weight; None unless at least every second row goes."""
    columns = [*matrix.T, pieces]
    table = pa.table(columns, names=[str(position) for position in range(len(columns))])
    counts = table.group_by(table.column_names).aggregate([([], _COUNT)])
    if counts.num_rows * 2 > len(pieces):
        return None
    *predictors, shown, weights = (np.asarray(column) for column in counts.columns)
    merged = np.column_stack(predictors) if predictors else np.empty((len(shown), 0))
    return merged, shown, weights.astype(np.float64)
