"""Paper 003: Adult as its evaluation uses it, and what a partition of it loses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.base.arrays import CodeArray, FloatArray
from ldiversity.base.numbers import percent
from ldiversity.methods import (
    CategoryColumn,
    CodedTable,
    Grouping,
    NumberColumn,
    Partition,
    QuasiColumn,
    SensitiveColumn,
)
from papers.exhibits import Setting
from papers.tables import ADULT_FILE, read_table

__all__ = ["WIDTHS", "Measured", "Tables", "describe_table", "measure", "read_tables"]

WIDTHS: Final = {
    "age": (5, 10, 20, 40),
    "fnlwgt": (50_000, 100_000, 200_000, 400_000, 800_000),
    "education-num": (2, 4, 8),
    "hours-per-week": (5, 10, 20, 40),
}
"""The numbers among the quasi-identifiers, and the widths of the intervals that Incognito may publish of them."""

_CATEGORIES: Final = ("marital-status", "race", "sex")
_SENSITIVE: Final = "occupation"
_NAMED: Final = "workclass"
_NAMED_VALUE: Final = "Prof-specialty"
_WITH_SPOUSE: Final = frozenset({"Married-civ-spouse", "Married-AF-spouse"})


@dataclass(frozen=True, eq=False)
class Tables:
    """The same rows twice: numbers as numbers, and (for Incognito) every quasi-identifier with a hierarchy."""

    plain: CodedTable
    hierarchical: CodedTable


@dataclass(frozen=True)
class Measured:
    """What a partition costs, and what it leaves to guess.

    Parameters
    ----------
    classes
        Their number.
    average
        Records in a class, on average.
    discernibility
        The sum of the squared sizes.
    loss
        Mean loss of a cell: the interval over the range, or the leaves under the published node over all leaves, 0
        for one value.
    greatest_share
        The largest share that one sensitive value has of a class.
    mean_share
        The largest share in a record's class, averaged over the records.
    """

    classes: int
    average: float
    discernibility: float
    loss: float
    greatest_share: float
    mean_share: float


def read_tables(setting: Setting, most: int | None = None) -> Tables:
    """The complete records of Adult's training part, in a random order; at most so many of them.

    The paper says that workclass is sensitive, but names values and shares of occupation, so it is occupation here.
    """
    complete = _complete_rows(setting)
    order = np.random.default_rng(setting.seed).permutation(complete.num_rows)[:most]
    rows = complete.take(pa.array(order))
    categories = [_category(name, rows[name].to_pylist()) for name in _CATEGORIES]
    values, codes = _codes(rows[_SENSITIVE].to_pylist())
    sensitive = (SensitiveColumn(_SENSITIVE, codes, ld.Domain(values)),)
    numbers = [_number(name, rows[name].to_numpy()) for name in WIDTHS]
    intervals = [_intervals(name, rows[name].to_numpy(), widths) for name, widths in WIDTHS.items()]
    return Tables(CodedTable((*numbers, *categories), sensitive), CodedTable((*intervals, *categories), sensitive))


def describe_table(setting: Setting) -> str:
    """Which columns are used, and why the sensitive one is not that which the paper names."""
    rows = _complete_rows(setting)
    numbers = ", ".join(name for name in WIDTHS if name != "education-num")
    shares = {}
    for name in (_SENSITIVE, _NAMED):
        values, counts = np.unique(rows[name].to_pylist(), return_counts=True)
        shares[name] = (str(values[counts.argmax()]), float(counts.max() / counts.sum()))
    value, share = shares[_SENSITIVE]
    named, other = shares[_NAMED]
    fits = value == _NAMED_VALUE and share < 1 / 7
    return (
        f"The table: the {rows.num_rows:,} complete training records of Adult; quasi-identifiers {numbers}, education "
        f"as the number education-num, {', '.join(_CATEGORIES)}. Sensitive is {_SENSITIVE}: the paper says WorkClass, "
        f"but the most frequent value that it names, {_NAMED_VALUE} with between 1/8 and 1/7 of the records, is "
        f"{'' if fits else 'NOT '}that of {_SENSITIVE} ({value}, {percent(share)}); that of {_NAMED} is {named} with "
        f"{percent(other, 2)}, which allows no l above {int(1 / other)}."
    )


def _complete_rows(setting: Setting) -> pa.Table:
    rows = read_table(setting, ADULT_FILE)
    kept = np.asarray(pc.equal(rows["split"], "train"))
    for name in rows.column_names:
        if pa.types.is_string(rows[name].type):
            kept &= np.asarray(pc.not_equal(rows[name], "?"))
    return rows.filter(pa.array(kept))


def _codes(texts: list[str]) -> tuple[tuple[str, ...], CodeArray]:
    values, codes = np.unique(texts, return_inverse=True)
    return tuple(values.tolist()), codes.astype(np.int32)


def _number(name: str, values: NDArray[np.int64]) -> NumberColumn:
    return NumberColumn(name, values, float(values.min()), float(values.max()))


def _intervals(name: str, values: NDArray[np.int64], widths: tuple[int, ...]) -> CategoryColumn:
    known, codes = np.unique(values, return_inverse=True)
    tree = ld.Hierarchy.by_width(known.tolist(), list(widths))
    place = {leaf: number for number, leaf in enumerate(tree.leaves)}
    places = np.array([place[str(value)] for value in known.tolist()], dtype=np.int32)
    return CategoryColumn(name, places[codes], tree.leaves, tree)


def _category(name: str, texts: list[str]) -> CategoryColumn:
    labels, codes = _codes(texts)
    rows: list[tuple[str, ...]]
    if name == "marital-status":
        rows = [(label, "with spouse" if label in _WITH_SPOUSE else "without", "*") for label in labels]
    else:
        rows = [(label, "*") for label in labels]
    return CategoryColumn(name, codes, labels, ld.Hierarchy.from_rows(rows))


def measure(tables: Tables, grouping: Grouping) -> Measured:
    """Measure a partition of the rows."""
    partition = grouping.partitions[0]
    sizes = partition.sizes
    sensitive = tables.plain.sensitive[0]
    counts = np.zeros((partition.n_classes, len(sensitive.domain)), dtype=np.int64)
    np.add.at(counts, (partition.class_of, sensitive.codes), 1)
    shares = counts.max(axis=1) / sizes
    columns = list(_column_losses(tables, grouping, partition))
    return Measured(
        classes=partition.n_classes,
        average=float(sizes.mean()),
        discernibility=float((sizes**2).sum()),
        loss=float(np.mean(columns)),
        greatest_share=float(shares.max()),
        mean_share=float((shares * sizes).sum() / sizes.sum()),
    )


def _column_losses(tables: Tables, grouping: Grouping, partition: Partition) -> Iterator[float]:
    for column in tables.plain.quasi:
        if column.name not in grouping.levels:
            yield _tight_loss(column, partition)
        elif isinstance(column, NumberColumn):
            yield float(_interval_losses(column, grouping.levels[column.name]).mean())
        else:
            yield float(column.costs[column.codes, grouping.levels[column.name]].mean())


def _tight_loss(column: QuasiColumn, partition: Partition) -> float:
    """The mean loss when each class publishes the least region that holds its records."""
    if isinstance(column, NumberColumn):
        low, high = _ends(column.values, partition)
        return float((high - low)[partition.class_of].mean() / (column.high - column.low))
    differs = np.zeros(partition.n_classes, dtype=np.int64)
    for level in range(column.nodes.shape[1]):
        low, high = _ends(column.nodes[column.codes, level], partition)
        differs += low != high
    return float(column.costs[column.codes, differs[partition.class_of]].mean())


def _ends(values: NDArray[np.int64] | CodeArray, partition: Partition) -> tuple[FloatArray, FloatArray]:
    low, high = np.full(partition.n_classes, np.inf), np.full(partition.n_classes, -np.inf)
    np.minimum.at(low, partition.class_of, values)
    np.maximum.at(high, partition.class_of, values)
    return low, high


def _interval_losses(column: NumberColumn, level: int) -> FloatArray:
    """The length of the interval that each record's number is published as, within the range, over the range."""
    widths = (1, *WIDTHS[column.name])
    if level == len(widths):
        return np.ones(len(column.values))
    start = column.values // widths[level] * widths[level]
    length = np.minimum(start + widths[level] - 1, column.high) - np.maximum(start, column.low)
    return np.asarray(length / (column.high - column.low), dtype=np.float64)
