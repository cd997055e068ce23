"""Mondrian on Adult: the loss of detail that the method's page states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ldiversity import datasets
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import (
    CategoryColumn,
    CodedTable,
    GroupingRun,
    Mondrian,
    NumberColumn,
    Partition,
    SensitiveColumn,
)
from ldiversity.schema import Domain

NUMBERS = ("age", "fnlwgt", "education-num", "hours-per-week")
SPOUSE = {"Married-civ-spouse", "Married-AF-spouse"}


def coded(name: str, values: list[str]) -> CategoryColumn:
    known = sorted(set(values))
    rows = [(value, "with spouse" if value in SPOUSE else "without", "*") for value in known]
    tree = Hierarchy.from_rows(rows if name == "marital-status" else [(value, "*") for value in known])
    codes = np.array([known.index(value) for value in values], dtype=np.int32)
    return CategoryColumn(name, codes, tree.leaves, tree)


@pytest.fixture(scope="module")
def table(public_data: Path) -> CodedTable:
    rows = datasets.adult()
    numbers = [rows[name].to_numpy() for name in NUMBERS]
    occupation = rows["occupation"].to_pylist()
    known = sorted(set(occupation))
    return CodedTable(
        (
            *(NumberColumn(name, x, x.min(), x.max()) for name, x in zip(NUMBERS, numbers, strict=True)),
            *(coded(name, rows[name].to_pylist()) for name in ("marital-status", "race", "sex")),
        ),
        (
            SensitiveColumn(
                "occupation", np.array([known.index(v) for v in occupation], np.int32), Domain(tuple(known))
            ),
        ),
    )


def ends(values: NDArray[Any], class_of: NDArray[Any], n_classes: int) -> NDArray[Any]:
    low, high = np.full(n_classes, np.inf), np.full(n_classes, -np.inf)
    np.minimum.at(low, class_of, values)
    np.maximum.at(high, class_of, values)
    return np.stack([low, high])


def loss(table: CodedTable, partition: Partition) -> float:
    """NCP: the mean over cells of the interval's share of the range, or of the leaves under the common ancestor."""
    class_of, n_classes = partition.class_of, partition.n_classes
    total = 0.0
    for column in table.numbers:
        low, high = ends(column.values, class_of, n_classes)[:, class_of]
        total += float((high - low).sum() / (column.high - column.low))
    for category in table.categories:
        levels = range(category.nodes.shape[1])
        bounds = [ends(category.nodes[category.codes, level], class_of, n_classes) for level in levels]
        common = np.sum([low != high for low, high in bounds], axis=0)
        total += float(category.costs[category.codes, common[class_of]].sum())
    return total / (table.n_rows * len(table.quasi))


# Figures of an earlier implementation with cuts at the median only. Further cuts were chosen on this table,
# so this guards against a change for the worse; it is no independent measure. At l = 5 both are .564, rounded.
@pytest.mark.parametrize(("l", "classic"), [(2, 0.022), (3, 0.043), (4, 0.062), (5, 0.082), (6, 0.102), (7, 0.125)])
def test_loss_with_distinct_values_is_below_that_of_median_cuts_alone(
    table: CodedTable, l: int, classic: float
) -> None:
    partition = Mondrian(model=f"distinct:{l}").group(table, GroupingRun()).partitions[0]

    assert loss(table, partition) <= classic


@pytest.mark.parametrize(("l", "classic"), [(2, 0.041), (3, 0.196), (4, 0.366), (5, 0.565), (6, 0.761), (7, 0.878)])
def test_loss_with_frequencies_is_at_most_that_of_median_cuts_alone(table: CodedTable, l: int, classic: float) -> None:
    partition = Mondrian(l=l).group(table, GroupingRun()).partitions[0]

    assert loss(table, partition) <= classic
