"""BSGI on any table: every class diverse, every record placed, as many classes as there can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldiversity.errors import InfeasibleError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import BSGI, CategoryColumn, CodedTable, GroupingRun, NumberColumn, SensitiveColumn
from ldiversity.schema import Domain

RUN = GroupingRun(workers=1)
TREE = Hierarchy.from_rows([("a", "ab", "*"), ("c", "cd", "*"), ("b", "ab", "*"), ("d", "cd", "*")])


def number(rng: np.random.Generator, n: int, distinct: int) -> NumberColumn:
    missing = rng.random(n) < 0.1
    return NumberColumn("number", rng.integers(0, distinct, n), 0, max(1, distinct - 1), missing)


def flat(rng: np.random.Generator, n: int, distinct: int) -> CategoryColumn:
    labels = tuple(f"v{i}" for i in range(distinct))
    return CategoryColumn("flat", rng.integers(0, distinct, n).astype(np.int32), labels)


def deep(rng: np.random.Generator, n: int, distinct: int) -> CategoryColumn:
    return CategoryColumn("deep", rng.integers(0, min(distinct, 4), n).astype(np.int32), TREE.leaves, TREE)


def sensitive(codes: np.ndarray, n_values: int) -> SensitiveColumn:
    return SensitiveColumn("disease", codes.astype(np.int32), Domain(tuple(range(n_values))))


@st.composite
def quasi(draw: Any, rng: np.random.Generator, n: int) -> tuple[NumberColumn | CategoryColumn, ...]:
    makers = draw(st.lists(st.sampled_from([number, flat, deep]), max_size=3))
    return tuple(maker(rng, n, draw(st.integers(1, 30))) for maker in makers)


@st.composite
def eligible_tables(draw: Any) -> tuple[CodedTable, int]:
    """Tables in which no value has more than 1/l of the records; often several values have exactly as many."""
    l = draw(st.integers(2, 6))
    k = draw(st.integers(1, 40))
    n_tight = draw(st.integers(0, l))
    rest = (l - n_tight) * k + draw(st.integers(0, l - 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_values = n_tight + l + draw(st.integers(1, 80))
    counts = np.zeros(n_values, dtype=np.int64)
    counts[:n_tight] = k
    for value in rng.permutation(np.repeat(np.arange(n_tight, n_values), k))[:rest]:
        counts[value] += 1
    codes = rng.permutation(np.repeat(np.arange(n_values), counts))
    return CodedTable(draw(quasi(rng, len(codes))), (sensitive(codes, n_values),)), l


@st.composite
def any_tables(draw: Any) -> tuple[CodedTable, int]:
    """Any values, one or two sensitive columns, people with several rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 120))
    columns = tuple(
        sensitive(rng.integers(0, n_values, n), n_values)
        for n_values in draw(st.lists(st.integers(1, 12), min_size=1, max_size=2))
    )
    person = rng.integers(0, draw(st.integers(1, 2 * n)), n) if draw(st.booleans()) else None
    return CodedTable(draw(quasi(rng, n)), columns, person), draw(st.integers(2, 5))


def keys_of(table: CodedTable) -> list[np.ndarray]:
    return [column.codes for column in table.sensitive] + ([] if table.person is None else [table.person])


def repeats(class_of: np.ndarray, key: np.ndarray) -> int:
    pairs = list(zip(class_of[class_of >= 0].tolist(), key[class_of >= 0].tolist(), strict=True))
    return len(pairs) - len(set(pairs))


@pytest.mark.parametrize("method", [{}, {"effort": 0}, {"selection": "paper"}], ids=str)
@settings(max_examples=60)
@given(data=st.data())
def test_an_eligible_table_is_published_whole_in_as_many_classes_as_can_be(
    method: dict[str, Any], data: st.DataObject
) -> None:
    table, l = data.draw(eligible_tables())

    partition = BSGI(l, **method).group(table, RUN).partitions[0]

    assert partition.suppressed == 0
    assert partition.n_classes == table.n_rows // l
    assert partition.sizes.min() >= l
    assert repeats(partition.class_of, table.sensitive[0].codes) == 0


@settings(max_examples=60)
@given(case=eligible_tables(), part=st.integers(8, 40))
def test_parts_keep_what_makes_a_table_eligible(case: tuple[CodedTable, int], part: int) -> None:
    table, l = case

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ldiversity.methods._bsgi_near._PART", part)
        partition = BSGI(l).group(table, RUN).partitions[0]

    assert partition.suppressed == 0
    assert partition.n_classes == table.n_rows // l
    assert repeats(partition.class_of, table.sensitive[0].codes) == 0


@pytest.mark.parametrize("method", [{}, {"effort": 0}, {"selection": "paper"}], ids=str)
@settings(max_examples=60)
@given(data=st.data())
def test_with_suppression_classes_differ_in_every_key(method: dict[str, Any], data: st.DataObject) -> None:
    table, l = data.draw(any_tables())

    try:
        partition = BSGI(l, overflow="suppress", **method).group(table, RUN).partitions[0]
    except InfeasibleError:
        assert min(len(np.unique(key)) for key in keys_of(table)) < l or len(keys_of(table)) > 1
        return

    assert set(partition.class_of[partition.class_of >= 0].tolist()) == set(range(partition.n_classes))
    assert (partition.sizes >= l).all()
    assert [repeats(partition.class_of, key) for key in keys_of(table)] == [0] * len(keys_of(table))


@settings(max_examples=60)
@given(case=any_tables())
def test_what_is_not_refused_is_published_whole(case: tuple[CodedTable, int]) -> None:
    table, l = case

    try:
        partition = BSGI(l).group(table, RUN).partitions[0]
    except InfeasibleError:
        return

    assert partition.suppressed == 0
    assert (partition.sizes >= l).all()
    assert [repeats(partition.class_of, key) for key in keys_of(table)] == [0] * len(keys_of(table))
