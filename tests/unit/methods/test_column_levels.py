"""A level for each sensitive column: sizes of classes, slots, and what L-LMSU and BSGI make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.methods import BSGI, LLMSU, CodedTable, GroupingRun, NumberColumn, SensitiveColumn
from ldiversity.methods._column_levels import in_slots, smallest_size, thriftiest_size
from ldiversity.models import FrequencyDiversity, UniqueDiversity

RUN = GroupingRun(workers=1)
METHODS: list[Any] = [BSGI, LLMSU]


def drawn(seed: int, n: int, shares: tuple[list[float], ...], *, people: int | None = None) -> CodedTable:
    """A table of one number and sensitive columns with these shares of their values."""
    rng = np.random.default_rng(seed)
    columns = [
        SensitiveColumn(f"s{place}", rng.choice(len(own), n, p=own).astype(np.int32), ld.Domain(tuple(range(len(own)))))
        for place, own in enumerate(shares)
    ]
    age = NumberColumn("age", rng.integers(20, 80, n), 20, 80)
    return CodedTable((age,), tuple(columns), None if people is None else rng.integers(0, people, n))


def breaks_a_share(table: CodedTable, class_of: np.ndarray, levels: dict[str, int]) -> bool:
    """Whether a value has more than its column's share of a class, counted one by one."""
    for own in range(class_of.max() + 1):
        rows = np.flatnonzero(class_of == own)
        for column in table.sensitive:
            codes = column.codes[rows].tolist()
            if any(codes.count(code) * levels[column.name] > len(codes) for code in codes):
                return True
    return False


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("levels", [{"s0": 2, "s1": 4}, {"s0": 3, "s1": 5}, {"s0": 5, "s1": 2}])
def test_no_value_has_more_than_the_share_of_its_column(method: Any, seed: int, levels: dict[str, int]) -> None:
    table = drawn(seed, 240, ([0.16, 0.16, 0.16, 0.16, 0.16, 0.1, 0.1], [0.15] * 6 + [0.1]))

    (partition,) = method(l=levels).group(table, RUN).partitions

    assert not breaks_a_share(table, partition.class_of, levels)
    assert partition.n_classes > 10
    assert (partition.suppressed == 0) or method is LLMSU


@pytest.mark.parametrize("seed", range(12))
def test_bsgi_places_every_record_wherever_each_column_alone_allows_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = {"s0": int(rng.integers(2, 4)), "s1": int(rng.integers(2, 6))}
    n = int(rng.integers(30, 90))
    first = np.arange(n) % levels["s0"]  # as tight as can be
    second = rng.permutation(np.arange(n) % (levels["s1"] + 1))
    columns = [
        SensitiveColumn(name, codes.astype(np.int32), ld.Domain(tuple(range(7))))
        for name, codes in (("s0", first[: n - n % levels["s0"]]), ("s1", second[: n - n % levels["s0"]]))
    ]
    table = CodedTable((NumberColumn("age", rng.integers(20, 80, columns[0].codes.size), 20, 80),), tuple(columns))
    possible = all(int(one.counts.max()) * levels[one.name] <= table.n_rows for one in columns)

    try:
        (partition,) = BSGI(l=levels).group(table, RUN).partitions
    except ld.InfeasibleError:
        assert not possible
    else:
        assert possible
        assert partition.suppressed == 0
        assert not breaks_a_share(table, partition.class_of, levels)


@pytest.mark.parametrize("method", [LLMSU(l={"s0": 2, "s1": 4}), BSGI(l={"s0": 2, "s1": 4}, overflow="suppress")])
def test_rows_of_one_person_never_share_a_class(method: Any) -> None:
    table = drawn(5, 300, ([0.4, 0.3, 0.3], [0.2] * 5), people=220)

    (partition,) = method.group(table, RUN).partitions

    kept = partition.class_of >= 0
    pairs = list(zip(partition.class_of[kept].tolist(), table.person[kept].tolist(), strict=True))  # type: ignore[index]
    assert len(set(pairs)) == len(pairs) > 200
    assert not breaks_a_share(table, partition.class_of, {"s0": 2, "s1": 4})


def test_a_smaller_level_of_one_column_hides_fewer_records() -> None:
    table = drawn(7, 600, ([0.45, 0.25, 0.15, 0.1, 0.05], [0.2] * 5))

    hidden = [LLMSU(l=l).group(table, RUN).facts["hidden"] for l in (4, {"s0": 2, "s1": 4})]

    assert hidden[1] == 0 < hidden[0]


@pytest.mark.parametrize("method", METHODS)
def test_columns_with_levels_of_their_own_promise_them(method: Any) -> None:
    domain = ld.Domain(("a", "b", "c"))
    different, equal = method(l={"s0": 2, "s1": 4}), method(l={"s0": 3, "s1": 3})

    assert [different.promises_of(name, domain) for name in ("s0", "s1")] == [
        (FrequencyDiversity(2),),
        (FrequencyDiversity(4),),
    ]
    assert different.promises(domain) == (FrequencyDiversity(2),)
    assert equal.promises_of("s0", domain) == method(l=3).promises(domain) == (UniqueDiversity(3),)


def test_partitions_of_their_own_have_different_values() -> None:
    table = drawn(7, 300, ([0.3, 0.3, 0.2, 0.2], [0.2] * 5))
    method = LLMSU(l={"s0": 2, "s1": 4}, joint=False)

    first, second = method.group(table, RUN).partitions

    assert method.promises_of("s1", table.sensitive[1].domain) == (UniqueDiversity(4),)
    assert first.sizes.min() == 2
    assert second.sizes.min() == 4


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("l", [{}, {"s0": 1}, {"s0": 2.5}, {3: 2}, {"s0": True}, "s0=2"])
def test_levels_that_are_none_are_refused(method: Any, l: Any) -> None:
    with pytest.raises(ld.ParameterError, match="must"):
        method(l=l)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("l", [{"s0": 2}, {"s0": 2, "s1": 2, "s2": 2}, {"s0": 2, "other": 2}])
def test_levels_of_other_columns_are_refused_before_a_table_is_read(method: Any, l: Any) -> None:
    with pytest.raises(ld.ParameterError, match="must name every sensitive column") as refused:
        ld.Publication(quasi="age", sensitive=["s0", "s1"], method=method(l=l))

    assert refused.value.hint == "Sensitive are 's0', 's1'."


@pytest.mark.parametrize("method", METHODS)
def test_a_column_that_allows_less_is_named_with_what_it_allows(method: Any) -> None:
    table = drawn(1, 100, ([0.34, 0.33, 0.33], [0.2] * 5))

    with pytest.raises(ld.InfeasibleError, match="'s0'") as refused:
        method(l={"s0": 4, "s1": 2}).group(table, RUN)

    largest = 3 if method is LLMSU else 100 // int(table.sensitive[0].counts.max())
    assert f"l={{'s0': {largest}, 's1': 2}}" in str(refused.value.hint)
    method(l={"s0": largest, "s1": 2}).group(table, RUN)  # the way out works


@pytest.mark.parametrize("n_slots", [1, 2, 3])
def test_slots_divide_each_value_evenly(n_slots: int) -> None:
    codes = np.random.default_rng(0).integers(0, 4, 50).astype(np.int32)

    slots = in_slots(codes, n_slots)

    assert np.array_equal(slots // n_slots, codes)
    for code in range(4):
        dealt = np.bincount(slots[codes == code] % n_slots, minlength=n_slots)
        assert dealt.max() - dealt.min() <= 1


def fits(size: int, n: int, most: list[int], levels: list[int], people: int) -> bool:
    classes = n // size
    return people <= classes and all(count <= (size // l) * classes for count, l in zip(most, levels, strict=True))


@pytest.mark.parametrize("seed", range(30))
def test_the_smallest_size_is_the_first_that_fits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, levels = int(rng.integers(10, 60)), rng.integers(2, 6, 2).tolist()
    most, people = rng.integers(1, n // 2, 2).tolist(), int(rng.integers(1, 4))

    reference = next((size for size in range(max(levels), n + 1) if fits(size, n, most, levels, people)), None)

    assert smallest_size(n, most, levels, people) == reference


def test_the_thriftiest_size_leaves_out_as_few_as_a_slow_search_finds() -> None:
    counts, levels = [np.array([34, 10, 8, 4]), np.array([14] * 4)], [2, 3]

    def left_out(size: int) -> int:
        worst = 0
        for own, l in zip(counts, levels, strict=True):
            slots = [len(range(first, n, size // l)) for n in own.tolist() for first in range(size // l)]
            kept = max(sum(min(n, k) for n in slots) for k in range(60) if sum(min(n, k) for n in slots) >= k * size)
            worst += sum(slots) - kept
        return worst

    found = thriftiest_size(counts, levels)

    assert left_out(found) == min(left_out(size) for size in range(3, 13))
