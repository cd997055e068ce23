"""Probabilities of outcomes, and means, for records with known predictors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.numbers import counted
from ldiversity.errors import ParameterError
from ldiversity.estimation._regression._design import Design, prepare_columns

if TYPE_CHECKING:
    from ldiversity.estimation._regression._answer import Regression
    from ldiversity.release import Release
    from ldiversity.tables import Source

__all__ = ["Predictor"]


@dataclass(frozen=True, eq=False)
class Predictor:
    """What predictions need besides the coefficients."""

    release: Release
    columns: tuple[str, ...]
    design: Design

    def predict(self, fit: Regression, given: Source | None) -> pa.Table:
        """One row per record, one column per outcome."""
        rows = self.release.columns(self.columns) if given is None else self._read(given)
        n = self.release.n_rows if given is None else _n_rows(given)
        complete = np.ones(n, dtype=bool)
        for name in self.columns:
            complete &= np.asarray(pc.is_valid(rows.column(name)))
        known = prepare_columns(self.release, rows.select(list(self.columns)).filter(pa.array(complete)))
        design = self.design.of(known, int(np.count_nonzero(complete)))
        found = np.full((n, len(fit.outcomes) + (fit.reference is not None)), np.nan)
        logits = design @ fit.coefficients.T
        if fit.reference is None:
            found[complete] = logits
            return pa.table({fit.sensitive: pa.array(found[:, 0], mask=~complete)})
        logits = np.column_stack([logits, np.zeros(len(logits))])
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        found[complete] = raised / raised.sum(axis=1, keepdims=True)
        names = (*fit.outcomes, fit.reference)
        return pa.table({name: pa.array(found[:, at], mask=~complete) for at, name in enumerate(names)})

    def _read(self, given: Source) -> pa.Table:
        lacking = [name for name in self.columns if name not in given.columns]
        if lacking:
            raise ParameterError(
                "Regression.predict", "table", f"must have the columns of the formula, but has no {lacking[0]!r}"
            )
        wanted = list(self.columns) or list(given.columns)[:1]
        rows = self.release.as_published(pa.Table.from_batches(list(given.batches(wanted))))
        for name in self.columns:
            _check_categories(name, rows.column(name), self.release.columns([name]).column(name))
        return rows


def _check_categories(name: str, column: pa.ChunkedArray, seen: pa.ChunkedArray) -> None:
    """Refuse texts that the release does not have: no coefficient is theirs."""
    texts, known = (
        one.cast(one.type.value_type) if pa.types.is_dictionary(one.type) else one for one in (column, seen)
    )
    if pa.types.is_string(texts.type) and pa.types.is_string(known.type):
        others = int(np.count_nonzero(~np.asarray(pc.is_in(texts.drop_null(), value_set=pc.unique(known)))))
        if others:
            raise ParameterError(
                "Regression.predict",
                "table",
                f"must hold categories that the regression has seen, but {name!r} has others",
                got=counted(others, "record"),
            ).with_hint("Leave out these records, or leave their cells empty: they then have no prediction.")


def _n_rows(given: Source) -> int:
    return given.n_rows if given.n_rows is not None else sum(batch.num_rows for batch in given.batches())
