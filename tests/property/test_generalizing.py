"""Mondrian, Incognito and TP keep their promise on any table, or say that it cannot be kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ldiversity.errors import InfeasibleError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import (
    TP,
    CategoryColumn,
    CodedTable,
    GroupingMethod,
    GroupingRun,
    Incognito,
    Mondrian,
    NumberColumn,
    SensitiveColumn,
)
from ldiversity.methods._combinations import codes_of
from ldiversity.models import count_classes
from ldiversity.schema import Domain

RUN = GroupingRun(workers=1)
TREES = [
    Hierarchy.from_rows([("a", "*"), ("b", "*")]),
    Hierarchy.from_rows([("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*"), ("d", "y", "*"), ("e", "z", "*")]),
    Hierarchy.from_rows([("a", "a", "x", "*"), ("b", "u", "x", "*"), ("c", "u", "x", "*"), ("d", "v", "y", "*")]),
]


def _numbers(draw: Any, name: str, n: int) -> NumberColumn:
    values = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 7.0, 100.0]), min_size=n, max_size=n))
    missing = draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n))
    absent = None if missing is None else np.array(missing)
    known = np.array(values) if absent is None else np.where(absent, 0, values)
    return NumberColumn(name, known, 0.0, 100.0, absent)


def _category(draw: Any, name: str, n: int) -> CategoryColumn:
    tree = draw(st.sampled_from(TREES))
    codes = draw(st.lists(st.integers(0, len(tree) - 1), min_size=n, max_size=n))
    return CategoryColumn(name, np.array(codes, dtype=np.int32), tree.leaves, draw(st.sampled_from([tree, None])))


def _sensitive(draw: Any, name: str, n: int) -> SensitiveColumn:
    """Any values, or a tight table: three or four values, each equally often."""
    n_values = draw(st.integers(2, 5))
    tight = np.arange(n) % n_values
    codes = draw(st.lists(st.integers(0, n_values - 1), min_size=n, max_size=n) | st.permutations(tight.tolist()))
    return SensitiveColumn(name, np.array(codes, dtype=np.int32), Domain(tuple(range(n_values))))


@st.composite
def tables(draw: Any, *, numbers: bool = True, n_sensitive: int = 1) -> CodedTable:
    n = draw(st.integers(1, 40))
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=3))
    quasi = tuple(
        _numbers(draw, str(k), n) if number and numbers else _category(draw, str(k), n)
        for k, number in enumerate(kinds)
    )
    return CodedTable(quasi, tuple(_sensitive(draw, f"s{s}", n) for s in range(n_sensitive)))


def check(table: CodedTable, method: GroupingMethod) -> None:
    try:
        grouping = method.group(table, RUN)
    except InfeasibleError:
        assume(False)
    partition = grouping.partitions[0]

    assert np.array_equal(np.unique(partition.class_of[partition.class_of >= 0]), np.arange(partition.n_classes))
    for column in table.sensitive:
        counted = count_classes(partition.class_of, column.codes, partition.n_classes, column.domain)
        assert not any(rule.failing(counted).size for rule in method.promises(column.domain))


MODELS = ["frequency:2", "frequency:3", "unique:2", "distinct:2", "k-anonymity:3", "entropy:2", "t-closeness:0.3"]


@settings(max_examples=60)
@given(tables(n_sensitive=2), st.sampled_from(MODELS), st.booleans())
def test_mondrian_keeps_its_promise(table: CodedTable, model: str, strict: bool) -> None:  # noqa: FBT001
    check(table, Mondrian(model=model, strict=strict))


@settings(max_examples=60)
@given(tables(), st.sampled_from(MODELS))
def test_mondrian_publishes_every_record(table: CodedTable, model: str) -> None:
    try:
        partition = Mondrian(model=model).group(table, RUN).partitions[0]
    except InfeasibleError:
        assume(False)

    assert partition.suppressed == 0


@settings(max_examples=60)
@given(tables(numbers=False, n_sensitive=2), st.sampled_from(MODELS), st.sampled_from([0.0, 0.1, 0.5]))
def test_incognito_keeps_its_promise(table: CodedTable, model: str, suppression: float) -> None:
    assume(model != "unique:2")

    check(table, Incognito(model=model, suppression=suppression))


def _moved(counts: Counter[int], overall: Counter[int]) -> float:
    sizes = counts.total(), overall.total()
    return sum(abs(counts[value] / sizes[0] - overall[value] / sizes[1]) for value in overall) / 2


SLOWLY: dict[str, Callable[[Counter[int], Counter[int]], bool]] = {
    "k-anonymity:3": lambda counts, overall: counts.total() >= 3,  # noqa: ARG005 - the class alone decides
    "distinct:2": lambda counts, overall: len(counts) >= 2,  # noqa: ARG005 - the class alone decides
    "frequency:2": lambda counts, overall: 2 * max(counts.values()) <= counts.total(),  # noqa: ARG005 - as above
    "unique:2": lambda counts, overall: max(counts.values()) == 1 < counts.total(),  # noqa: ARG005 - as above
    "t-closeness:0.3": lambda counts, overall: _moved(counts, overall) <= 0.3 + 1e-12,
}
"""Each rule again, value by value."""
SEVERAL = st.lists(st.sampled_from([*SLOWLY]), min_size=2, max_size=4, unique=True)


def keeps_all(table: CodedTable, class_of: Sequence[int], models: list[str]) -> bool:
    """Whether every class of every sensitive column satisfies every model, by a slow count of published records."""
    kept = [row for row, number in enumerate(class_of) if number >= 0]
    for column in table.sensitive:
        overall = Counter(int(column.codes[row]) for row in kept)
        for number in {class_of[row] for row in kept}:
            counts = Counter(int(column.codes[row]) for row in kept if class_of[row] == number)
            if not all(SLOWLY[model](counts, overall) for model in models):
                return False
    return bool(kept)


@settings(max_examples=80)
@given(tables(n_sensitive=2), SEVERAL)
def test_mondrian_keeps_several_promises(table: CodedTable, models: list[str]) -> None:
    try:
        partition = Mondrian(model=models).group(table, RUN).partitions[0]
    except InfeasibleError:
        assert not keeps_all(table, [0] * table.n_rows, models)
    else:
        assert keeps_all(table, partition.class_of.tolist(), models)


@settings(max_examples=60)
@given(tables(numbers=False, n_sensitive=2), SEVERAL, st.sampled_from([0.0, 0.3]))
def test_incognito_takes_the_least_loss_of_all_that_keep_several_promises(
    table: CodedTable, models: list[str], suppression: float
) -> None:
    assume("unique:2" not in models)
    try:
        grouping = Incognito(model=models, suppression=suppression).group(table, RUN)
    except InfeasibleError:
        assert not keeps_all(table, [0] * table.n_rows, models)
        return
    assert keeps_all(table, grouping.partitions[0].class_of.tolist(), models)
    if suppression:
        return
    columns = table.categories

    def loss(levels: Sequence[int]) -> float:
        return sum(
            float(column.costs[column.codes, level].mean(dtype=np.float64))
            for column, level in zip(columns, levels, strict=True)
        )

    def classes(levels: Sequence[int]) -> list[int]:
        cells = [column.nodes[column.codes, level].tolist() for column, level in zip(columns, levels, strict=True)]
        numbers: dict[tuple[int, ...], int] = {}
        return [numbers.setdefault(cell, len(numbers)) for cell in zip(*cells, strict=True)]

    nodes = product(*(range(column.nodes.shape[1]) for column in columns))
    least = min(loss(levels) for levels in nodes if keeps_all(table, classes(levels), models))
    assert loss([grouping.levels[column.name] for column in columns]) <= least + 1e-6


@settings(max_examples=60)
@given(tables(), st.integers(2, 4))
def test_tp_keeps_its_promise(table: CodedTable, l: int) -> None:
    check(table, TP(l=l))


@settings(max_examples=60)
@given(tables(), st.integers(2, 4))
def test_classes_of_tp_agree_on_everything_except_one(table: CodedTable, l: int) -> None:
    try:
        partition = TP(l=l).group(table, RUN).partitions[0]
    except InfeasibleError:
        assume(False)
    cells = np.column_stack([codes_of(column)[0] for column in table.quasi])
    differing = [c for c in range(partition.n_classes) if len(np.unique(cells[partition.class_of == c], axis=0)) > 1]

    assert len(differing) <= 1


@pytest.mark.parametrize("n_groups", [1, 7])
def test_tight_tables_are_grouped(n_groups: int) -> None:
    """Every value has exactly 1/l of the table, so every class must have them all equally often."""
    codes = np.tile(np.arange(3, dtype=np.int32), 14)
    column = NumberColumn("x", np.arange(42) // 3 % n_groups, 0, 7)
    table = CodedTable((column,), (SensitiveColumn("s", codes, Domain((0, 1, 2))),))

    assert TP(l=3).group(table, RUN).partitions[0].n_classes == n_groups
    assert Mondrian(l=3).group(table, RUN).partitions[0].n_classes == n_groups
