"""The distributions of a report: estimated from the release, and beside them the truth, for its holder alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity._types import BoolArray, CodeArray, FloatArray
from ldiversity.estimation import By, Estimate, estimate
from ldiversity.measures._original import code_sensitive
from ldiversity.release import Release
from ldiversity.report._report_cells import Division
from ldiversity.schema import MISSING_LABEL

__all__ = ["MOST_CELLS", "MOST_VALUES", "Truth", "contingency_facts", "distribution_facts"]

MOST_VALUES: Final = 30
"""The most sensitive values of a picture and its table; the most frequent ones are shown."""

MOST_CELLS: Final = 40
"""The most cells of a picture and its table; those with the most records are shown."""

_MATCHED: Final = 1e-9


@dataclass(frozen=True, eq=False)
class Truth:
    """The original table: columns by name, in its order."""

    table: pa.Table

    def codes(self, release: Release, name: str) -> tuple[pa.Table, CodeArray]:
        """The records that have a value of a sensitive attribute, and the code of each."""
        codes = code_sensitive(self.table[name], name, release.domain(name), release.schema[name].type)
        kept = np.flatnonzero(codes >= 0)
        return self.table.take(pa.array(kept)), codes[kept]


def distribution_facts(release: Release, name: str, truth: Truth | None) -> dict[str, Any]:
    """How often each value occurs in all records."""
    found = estimate(release, sensitive=name)
    true = None if truth is None else _true_counts(release, found, (), name, truth)[0]
    shown = _chosen_values(found.share[0])
    labels = _value_labels(found)
    values = []
    for code in shown:
        value = {"value": labels[code], "count": float(found.count[0, code]), **_share(found, 0, code)}
        if true is not None:
            value |= {"true_count": int(true[0, code]), "true_share": _divided(true[0, code], true[0].sum())}
        values.append(value)
    return {
        "attribute": name,
        "records": found.n_records,
        "estimator": found.estimator[0],
        "confidence": found.confidence,
        "values": values,
        "left_out": _left_out(found, shown),
        "accuracy": None if true is None else _accuracy(found, true),
        "caveats": list(found.caveats),
    }


def contingency_facts(release: Release, name: str, division: Division, truth: Truth | None) -> dict[str, Any]:
    """How often each value occurs in each cell."""
    found = estimate(release, by=division.by, sensitive=name)
    true, lost = (None, 0) if truth is None else _true_counts(release, found, division.by, name, truth)
    rows = np.sort(np.argsort(-found.records, kind="stable")[:MOST_CELLS])
    shown = _chosen_values(found.count.sum(axis=0))
    labels, names = found.labels.to_pylist(), _value_labels(found)
    cells = []
    for row in rows.tolist():
        cell: dict[str, Any] = {
            "cell": ", ".join(_text(labels[row][column]) for column in found.by),
            "records": found.records[row].item(),
            "note": found.note[row],
            "estimator": found.estimator[row],
        }
        parts = [_share(found, row, code) for code in shown]
        cell |= {key: [part[key] for part in parts] for key in ("share", "low", "high")}
        if true is not None:
            cell["true_records"] = int(true[row].sum())
            cell["true_share"] = [_divided(true[row, code], true[row].sum()) for code in shown]
        cells.append(cell)
    return {
        "attribute": name,
        "by": list(division.columns),
        "by_text": division.text,
        "confidence": found.confidence,
        "values": [names[code] for code in shown],
        "cells": cells,
        "cells_left_out": found.n_cells - len(rows),
        "values_left_out": found.count.shape[1] - len(shown),
        "accuracy": None if true is None else _accuracy(found, true),
        "true_records_in_no_cell": lost,
        "caveats": list(found.caveats),
    }


def _chosen_values(counts: FloatArray) -> list[int]:
    """All values in their order where they are few, else the most frequent ones first."""
    if len(counts) <= MOST_VALUES:
        return list(range(len(counts)))
    return [int(code) for code in np.argsort(-counts, kind="stable")[:MOST_VALUES]]


def _left_out(found: Estimate, shown: Sequence[int]) -> dict[str, Any]:
    rest = np.ones(found.count.shape[1], dtype=np.bool_)
    rest[list(shown)] = False
    return {"values": int(rest.sum()), "share": float(found.share[0, rest].sum())}


def _share(found: Estimate, row: int, code: int) -> dict[str, float | None]:
    records = float(found.records[row])
    numbers = {"share": found.count, "low": found.low, "high": found.high}
    return {name: _divided(array[row, code], records) for name, array in numbers.items()}


def _divided(part: float, whole: float) -> float | None:
    share = float(part) / float(whole) if whole else float("nan")
    return share if np.isfinite(share) else None


def _accuracy(found: Estimate, true: FloatArray) -> dict[str, Any]:
    """How far estimated shares are off in cells that occur, and how many intervals hold the truth."""
    occurring = true.sum(axis=1) > 0
    records = np.maximum(true.sum(axis=1, keepdims=True), 1)
    errors = (found.share - true / records)[occurring]
    held: BoolArray = (true >= found.low - _MATCHED) & (true <= found.high + _MATCHED)
    known = np.isfinite(found.low) & np.isfinite(found.high) & occurring[:, None]
    return {
        "shares": int(errors.size),
        "rms_error": float(np.sqrt(np.mean(errors**2))) if errors.size else None,
        "largest_error": float(np.abs(errors).max(initial=0.0)),
        "held": float(held[known].mean()) if known.any() else None,
    }


def _true_counts(
    release: Release, found: Estimate, by: tuple[By, ...], name: str, truth: Truth
) -> tuple[FloatArray, int]:
    """True counts in the cells of an estimate, and how many true records lie in none of them."""
    table, codes = truth.codes(release, name)
    rows, cells = np.zeros(len(codes), dtype=np.int64), np.zeros(found.n_cells, dtype=np.int64)
    for part in by:
        coded, labels = part.encode(table[part.column]), found.labels[part.column]
        known = coded.labels.cast(labels.type) if coded.labels.type != labels.type else coded.labels
        every = pc.unique(pa.chunked_array([known, *labels.chunks]))
        place = np.asarray(pc.index_in(known, value_set=every), dtype=np.int64)
        rows = rows * len(every) + place[coded.codes]
        cells = cells * len(every) + np.asarray(pc.index_in(labels, value_set=every), dtype=np.int64)
    order = np.argsort(cells)
    at = np.minimum(np.searchsorted(cells[order], rows), max(len(cells) - 1, 0))
    matched = cells[order][at] == rows
    n_values = found.count.shape[1]
    keys = order[at[matched]] * n_values + codes[matched]
    counts = np.bincount(keys, minlength=found.n_cells * n_values).reshape(found.n_cells, n_values)
    return counts.astype(np.float64), int(np.count_nonzero(~matched))


def _value_labels(found: Estimate) -> list[str]:
    return [_text(value) for value in found.domains[0].values]


def _text(value: object) -> str:
    return MISSING_LABEL if value is None else str(value)
