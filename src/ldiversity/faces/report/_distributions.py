"""The distributions of a report: estimated from the release, and for its holder also the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray
from ldiversity.base.numbers import points
from ldiversity.estimation import By, Estimate, true_cells
from ldiversity.evaluation.measures import as_type, code_sensitive
from ldiversity.faces.report._cells import Division
from ldiversity.faces.report._parts import Accuracy, Cell, Contingency, Distribution, Exactness, LeftOut, ShownValue
from ldiversity.faces.report._values import CONFIDENCE, Shown, show_values
from ldiversity.release import Release
from ldiversity.schema import label_text
from ldiversity.tables import python_rows

__all__ = ["MOST_CELLS", "Truth", "contingency", "distribution"]

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


def distribution(release: Release, name: str, truth: Truth | None) -> Distribution:
    """How often each value occurs in all records."""
    shown = show_values(release, name, (), 1)
    found, count = shown.found, shown.added(shown.found.count)
    true = None if truth is None else _true_counts(release, found, (), name, truth)[0]
    values = []
    for place, label in enumerate(shown.names):
        value = ShownValue(label, float(count[0, place]), *_share(shown, count, 0, place))
        if true is not None:
            part = shown.added(true)[0, place]
            value = replace(value, true_count=int(part), true_share=_divided(part, true[0].sum()))
        values.append(value)
    return Distribution(
        attribute=name,
        records=found.n_records,
        estimator=found.estimator[0],
        confidence=CONFIDENCE,
        intervals=shown.intervals,
        domain=found.count.shape[1],
        grouped=shown.grouped,
        values=tuple(values),
        left_out=_left_out(shown),
        largest_share=_divided(found.count[0].max(), found.n_records),
        true_largest_share=None if true is None else _divided(true[0].max(), true[0].sum()),
        accuracy=None if true is None else _accuracy(shown, true),
        caveats=_caveats(release, shown),
    )


def contingency(release: Release, name: str, division: Division, truth: Truth | None) -> Contingency:
    """How often each value occurs in each cell."""
    shown = show_values(release, name, division.by, MOST_CELLS)
    found, count = shown.found, shown.added(shown.found.count)
    true, lost = (None, 0) if truth is None else _true_counts(release, found, division.by, name, truth)
    labels = python_rows(found.labels)
    cells = []
    for at, row in enumerate(shown.rows):
        shares = [_share(shown, count, at, place) for place in range(len(shown.names))]
        share, low, high = zip(*shares, strict=True)
        cell = Cell(
            ", ".join(label_text(labels[row][column]) for column in found.by),
            found.records[row].item(),
            found.note[row],
            found.estimator[row],
            share,
            low,
            high,
        )
        if true is not None:
            whole, parts = true[row].sum(), shown.added(true[[row]])[0]
            true_share = tuple(_divided(part, whole) for part in parts)
            cell = replace(cell, true_records=int(whole), true_share=true_share)
        cells.append(cell)
    return Contingency(
        attribute=name,
        by=division.columns,
        by_text=division.text,
        confidence=CONFIDENCE,
        intervals=shown.intervals,
        domain=found.count.shape[1],
        grouped=shown.grouped,
        values=tuple(shown.names),
        cells=tuple(cells),
        cells_left_out=found.n_cells - len(shown.rows),
        values_left_out=found.count.shape[1] - sum(map(len, shown.members)),
        accuracy=None if true is None else _accuracy(shown, true),
        true_records_in_no_cell=lost,
        caveats=_caveats(release, shown),
    )


def _caveats(release: Release, shown: Shown) -> tuple[str, ...]:
    """What the reader should know: of counts that are exact, only which records they are about."""
    caveats = [text for text in shown.found.caveats if shown.intervals != "exact" or text[:1].isdigit()]
    every = release.n_rows + release.suppressed
    left = every - shown.found.n_records
    if left:
        most = "" if shown.found.by else f" by up to {points(left / every)} percentage points"
        limits = "" if shown.intervals == "exact" else ", and lie outside its limits"
        caveats.append(
            "Shares are those among published records. Records are left out because of their values, so that a share "
            f"in the original may differ{most}{limits}."
        )
    return tuple(caveats)


def _left_out(shown: Shown) -> LeftOut:
    rest = np.ones(shown.found.count.shape[1], dtype=np.bool_)
    rest[[code for codes in shown.members for code in codes]] = False
    return LeftOut(int(rest.sum()), float(shown.found.share[0, rest].sum()))


def _share(shown: Shown, count: FloatArray, at: int, place: int) -> tuple[float | None, float | None, float | None]:
    """A share, and its limits."""
    row = shown.rows[at]
    return (
        _divided(count[row, place], float(shown.found.records[row])),
        _divided(shown.shown_low[at, place], 1.0),
        _divided(shown.shown_high[at, place], 1.0),
    )


def _divided(part: float, whole: float) -> float | None:
    share = float(part) / float(whole) if whole else float("nan")
    return share if np.isfinite(share) else None


def _accuracy(shown: Shown, true: FloatArray) -> Accuracy:
    """How far estimated shares are off in cells that occur, and how many limits hold the truth.

    Shares are compared with shares: where records were left out, counts of the release and of the original differ.
    """
    whole = true.sum(axis=1, keepdims=True)
    share = np.divide(true, whole, out=np.full_like(true, np.nan), where=whole > 0)
    records = shown.found.records[:, None]
    rows = shown.rows
    estimated = (shown.added(shown.found.count) / records)[rows]
    own = _compared(estimated, shown.added(share)[rows], shown.shown_low, shown.shown_high)
    return Accuracy(**vars(own), of_all=_compared(shown.found.count / records, share, shown.low, shown.high))


def _compared(share: FloatArray, true: FloatArray, low: FloatArray, high: FloatArray) -> Exactness:
    errors = (share - true)[np.isfinite(true)]
    known = np.isfinite(low) & np.isfinite(high) & np.isfinite(true)
    held: BoolArray = (true >= low - _MATCHED) & (true <= high + _MATCHED)
    return Exactness(
        shares=int(errors.size),
        rms_error=float(np.sqrt(np.mean(errors**2))) if errors.size else None,
        largest_error=float(np.abs(errors).max(initial=0.0)),
        held=float(held[known].mean()) if known.any() else None,
    )


def _true_counts(
    release: Release, found: Estimate, by: tuple[By, ...], name: str, truth: Truth
) -> tuple[FloatArray, int]:
    """True counts in the cells of an estimate, and how many true records lie in none of them."""
    table, codes = truth.codes(release, name)
    rows, cells = np.zeros(len(codes), dtype=np.int64), np.zeros(found.n_cells, dtype=np.int64)
    # True rows and estimated cells get numbers on one scale, so that a sorted search matches them.
    for part in by:
        coded, labels = true_cells(release, part, table), found.labels[part.column]
        known = as_type(part.column, coded.labels, labels.type)
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
