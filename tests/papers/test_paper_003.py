"""BSGI: Table 5, Theorem 2, Corollaries 1 to 3 and the example of Tables 1 to 4; and the loss on Adult."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ldiversity.errors import InfeasibleError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import (
    BSGI,
    CategoryColumn,
    CodedTable,
    GroupingRun,
    NumberColumn,
    Partition,
    SensitiveColumn,
    most_classes,
)
from ldiversity.methods._bsgi_near import group_paper
from ldiversity.methods._bsgi_space import make_keys, make_space
from ldiversity.schema import Domain

RUN = GroupingRun()
NUMBERS = {0: "age", 2: "final weight", 4: "education", 12: "hours per week"}
MARITAL, OCCUPATION, RACE, SEX = 5, 6, 8, 9
WITH_SPOUSE = ("Married-civ-spouse", "Married-AF-spouse")


def coded(texts: list[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    labels, codes = np.unique(texts, return_inverse=True)
    return codes.astype(np.int32), tuple(labels.tolist())


def category(name: str, texts: list[str], groups: dict[str, str] | None = None) -> CategoryColumn:
    codes, labels = coded(texts)
    rows = [(label, groups[label], "*") for label in labels] if groups else []
    return CategoryColumn(name, codes, labels, Hierarchy.from_rows(rows) if groups else None)


def read_adult(folder: Path, seed: int) -> CodedTable:
    """The 30,162 complete records of the training part, in a random order."""
    with gzip.open(folder / "adult.csv.gz", "rt") as stream:
        rows = [row for row in csv.reader(stream) if row[-1] == "train" and "?" not in row]
    rows = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
    columns = list(zip(*rows, strict=True))
    values = {name: np.array(columns[i], dtype=np.int64) for i, name in NUMBERS.items()}
    numbers = [NumberColumn(name, column, column.min(), column.max()) for name, column in values.items()]
    groups = {status: "with" if status in WITH_SPOUSE else "without" for status in set(columns[MARITAL])}
    categories = [
        category("marital", columns[MARITAL], groups),
        category("race", columns[RACE]),
        category("sex", columns[SEX]),
    ]
    codes, labels = coded(columns[OCCUPATION])
    return CodedTable((*numbers, *categories), (SensitiveColumn("occupation", codes, Domain(labels)),))


@pytest.fixture(scope="module")
def adult(public_data: Path) -> CodedTable:
    return read_adult(public_data, 0)


Formed = Callable[[int, str], Partition]


@pytest.fixture(scope="module")
def formed(adult: CodedTable) -> Formed:
    """The classes for an l and a selection, which are formed once."""
    return cache(lambda l, selection: BSGI(l, selection, effort=0).group(adult, RUN).partitions[0])


def loss_of(table: CodedTable, class_of: np.ndarray) -> float:
    """The mean loss of a cell, class by class, from the columns themselves."""
    order = np.argsort(class_of, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(class_of[order]) > 0])
    sizes = np.diff(np.r_[starts, len(order)])
    total = 0.0
    for number in table.numbers:
        values = number.values[order]
        spans = np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
        total += float((sizes * spans).sum() / (number.high - number.low))
    for column in table.categories:
        codes = column.codes[order]
        losses = np.full(len(starts), np.nan)
        for level in range(column.nodes.shape[1]):
            nodes = column.nodes[codes, level]
            one = np.maximum.reduceat(nodes, starts) == np.minimum.reduceat(nodes, starts)
            losses = np.where(np.isnan(losses) & one, column.costs[codes[starts], level], losses)
        total += float((sizes * losses).sum())
    return total / (len(class_of) * len(table.quasi))


def as_lists(table: CodedTable) -> CodedTable:
    """The table without trees: classes list their categories."""
    quasi = [replace(one, hierarchy=None) if isinstance(one, CategoryColumn) else one for one in table.quasi]
    return replace(table, quasi=tuple(quasi))


def released_loss(table: CodedTable, class_of: np.ndarray) -> float:
    """The mean loss of a cell as the release is charged it: lists by their length."""
    lists = 0.0
    for column in table.categories:
        listed = np.unique(class_of * np.int64(len(column.labels)) + column.codes) // len(column.labels)
        lengths = np.bincount(listed)
        lists += float(np.bincount(class_of) @ np.where(lengths > 1, lengths / len(column.labels), 0.0))
    numbers = loss_of(replace(table, quasi=table.numbers), class_of) * len(table.numbers)
    return (numbers + lists / len(class_of)) / len(table.quasi)


# --- Table 5, Theorem 2, Corollaries -------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["near", "paper"])
@pytest.mark.parametrize("l", range(2, 8))
def test_average_class_sizes_are_those_of_table_5(formed: Formed, l: int, selection: str) -> None:
    assert round(formed(l, selection).sizes.mean(), 2) == l


@pytest.mark.parametrize("l", range(2, 8))
def test_corollary_1_leaves_n_mod_l_records_of_different_values(adult: CodedTable, l: int) -> None:
    keys = make_keys(adult)

    class_of, n_classes = group_paper(
        make_space("test", adult, None), keys, np.arange(adult.n_rows, dtype=np.int32), l, RUN
    )

    residual = keys.codes[class_of < 0, 0]
    assert n_classes == adult.n_rows // l
    assert len(residual) == len(set(residual.tolist())) == adult.n_rows % l


@pytest.mark.parametrize("l", range(2, 8))
def test_corollary_2_only_residual_records_make_a_class_larger(adult: CodedTable, formed: Formed, l: int) -> None:
    sizes = formed(l, "paper").sizes

    assert sizes.min() == l
    assert (sizes - l).sum() == adult.n_rows % l


def test_corollary_3_suggests_seven_for_occupation(adult: CodedTable) -> None:
    assert BSGI.suggest_l(adult.sensitive[0].counts) == 7


def test_eight_is_refused_for_occupation(adult: CodedTable) -> None:
    with pytest.raises(InfeasibleError, match="at most 7") as caught:
        BSGI(8).group(adult, RUN)

    assert caught.value.nearest == [{"l": 7}]


def test_eight_is_reached_when_the_fewest_records_are_left_out(adult: CodedTable) -> None:
    counts = adult.sensitive[0].counts
    k = most_classes(counts, 8)

    partition = BSGI(8, effort=1, overflow="suppress").group(adult, RUN).partitions[0]

    assert partition.n_classes == k
    assert partition.suppressed == np.maximum(counts - k, 0).sum()


# --- Loss ----------------------------------------------------------------------------------------------

# Three digits, so each may exceed the printed figure by half a unit of the last.
HALF = 0.0005


@pytest.mark.parametrize(("l", "loss"), [(2, 0.109), (3, 0.166), (4, 0.211), (5, 0.245), (6, 0.292), (7, 0.300)])
def test_the_published_greedy_loses_as_measured_before(adult: CodedTable, formed: Formed, l: int, loss: float) -> None:
    # Another order of the rows moves the figure by about 1 %; the tolerance is 3 %.
    assert loss_of(adult, formed(l, "paper").class_of) == pytest.approx(loss, rel=0.03)


@pytest.mark.parametrize(("l", "loss"), [(2, 0.012), (3, 0.029), (4, 0.052), (5, 0.098), (6, 0.162), (7, 0.246)])
def test_near_records_lose_little(adult: CodedTable, formed: Formed, l: int, loss: float) -> None:
    assert loss_of(adult, formed(l, "near").class_of) < loss + HALF


@pytest.mark.parametrize("seed", [7, 9, 15])
def test_four_values_lose_little_in_other_orders(public_data: Path, seed: int) -> None:
    table = read_adult(public_data, seed)

    class_of = BSGI(4, effort=0).group(table, RUN).partitions[0].class_of

    # Twenty orders gave .0515 to .0526: two cuts nearly tie, and the order decides which is taken.
    assert loss_of(table, class_of) < 0.053


@pytest.mark.parametrize(("l", "loss"), [(2, 0.0115), (4, 0.0465), (7, 0.170)])
def test_effort_loses_less(adult: CodedTable, l: int, loss: float) -> None:
    partition = BSGI(l).group(as_lists(adult), RUN).partitions[0]

    assert released_loss(as_lists(adult), partition.class_of) < loss


# --- Tables 1 to 4 -------------------------------------------------------------------------------------


def test_the_seven_patients_form_three_classes_one_of_them_of_three() -> None:
    disease, diseases = coded(["Cancer", "Obesity", "Flu", "Cancer", "Flu", "Obesity", "Obesity"])
    postcode = NumberColumn("postcode", np.array([10075, 10075, 10076, 10075, 10077, 10077, 10076]), 10075, 10077)
    age = NumberColumn("age", np.array([50, 50, 30, 40, 20, 25, 25]), 20, 50)
    patients = CodedTable(
        (category("gender", list("FMMFFFM")), postcode, age), (SensitiveColumn("disease", disease, Domain(diseases)),)
    )

    partition = BSGI(2, "paper").group(patients, RUN).partitions[0]

    assert sorted(partition.sizes.tolist()) == [2, 2, 3]
