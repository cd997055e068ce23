"""Numbers that count as different only beyond a gap: the line, its classes, and what methods make of it."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.methods import BSGI, LLMSU, Anatomy, CodedTable, GroupingRun, NumberColumn, SensitiveColumn
from ldiversity.methods._gaps import Line, divide_line
from ldiversity.models import GapDiversity, Population

RUN = GroupingRun(workers=1)
ONE: list[Any] = [Anatomy, LLMSU, BSGI]


def numbers(values: Any, *, edges: Any = None, missing: bool = False) -> ld.Domain:
    positions = tuple(map(float, values))
    if missing:
        return ld.Domain((*values, None), positions=(*positions, float("nan")), edges=edges)
    return ld.Domain(tuple(values), ordered=True, positions=positions, edges=edges)


def table(*columns: tuple[str, Any, ld.Domain], person: Any = None) -> CodedTable:
    rng = np.random.default_rng(0)
    sensitive = [SensitiveColumn(name, np.asarray(codes, dtype=np.int32), domain) for name, codes, domain in columns]
    n = len(sensitive[0].codes)
    return CodedTable((NumberColumn("age", rng.integers(20, 80, n), 20, 80),), tuple(sensitive), person)


def fullest(values: list[float], gap: float) -> int:
    """The most numbers in an interval shorter than the gap, one by one."""
    return max(sum(low <= value and value - low < gap for value in values) for low in values)


def most_classes(values: list[float], gap: float, l: int) -> int:
    """The largest number of classes of l numbers that are pairwise the gap apart, by trying all divisions."""

    def search(left: tuple[float, ...]) -> int:
        if len(left) < l:
            return 0
        first, rest = left[0], left[1:]
        best = search(rest)
        for others in combinations(range(len(rest)), l - 1):
            own = [first, *(rest[place] for place in others)]
            if all(abs(a - b) >= gap for a, b in combinations(own, 2)):
                best = max(best, 1 + search(tuple(x for place, x in enumerate(rest) if place not in others)))
        return best

    return search(tuple(sorted(values)))


@pytest.mark.parametrize("seed", range(25))
def test_a_line_is_divided_into_as_many_classes_as_any_division_has(seed: int) -> None:
    rng = np.random.default_rng(seed)
    l, gap = int(rng.integers(2, 4)), float(rng.integers(1, 5))
    domain = numbers(range(9))
    codes = rng.integers(0, 9, 9).astype(np.int32)

    partition = divide_line(codes, Line.of("Anatomy", "pay", domain, gap), l)

    values = codes.astype(float).tolist()
    assert partition.n_classes == most_classes(values, gap, l)
    for own in range(partition.n_classes):
        members = codes[partition.class_of == own].tolist()
        assert len(members) >= l
        assert all(abs(a - b) >= gap for a, b in combinations(members, 2))
    # Everything is placed exactly when no interval shorter than the gap has more than 1/l.
    assert (partition.suppressed == 0) == (fullest(values, gap) * l <= len(values))


@pytest.mark.parametrize("seed", range(10))
def test_as_few_records_as_possible_are_left_out(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    values, gap, k = rng.integers(0, 8, 8), 3.0, 2
    line = Line.of("Anatomy", "pay", numbers(range(8)), gap)

    kept = int(line.kept(np.bincount(values, minlength=8), k).sum())

    best = max(
        sum(chosen)
        for chosen in product((0, 1), repeat=8)
        if not any(chosen) or fullest([v for v, one in zip(values.tolist(), chosen, strict=True) if one], gap) <= k
    )
    assert kept == best


@pytest.mark.parametrize("seed", range(6))
def test_the_model_counts_intervals_as_a_slow_count_does_and_finds_l_values_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = numbers(np.cumsum(rng.integers(1, 4, 8)).tolist())
    counts = rng.integers(0, 3, (40, 8))
    counts[:, 0] += counts.sum(axis=1) == 0
    everyone = Population(domain, counts.sum(axis=0))
    model = GapDiversity(2, 4.5)

    reached, holds = model.reached(counts, everyone), model.holds(counts, everyone)

    apart = ld.SemanticClassDiversity(2, 4.5, "numeric").reached(counts, everyone)
    for own, size, kept, n_apart in zip(counts, reached, holds, apart, strict=True):
        values = np.repeat(domain.positions, own).tolist()
        assert size == pytest.approx(len(values) / fullest(values, 4.5))
        assert kept == (fullest(values, 4.5) * 2 <= len(values))
        assert n_apart >= size or n_apart >= int(size)


def test_bins_are_apart_when_no_numbers_of_theirs_are_nearer_than_the_gap() -> None:
    domain = numbers((5, 15, 25, 35), edges=(0.0, 10.0, 20.0, 30.0, 40.0))
    everyone = Population(domain, np.array([4, 4, 4, 4]))
    pairs = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]])

    assert GapDiversity(2, 10).holds(pairs, everyone).tolist() == [False, True, True]
    assert GapDiversity(2, 15).holds(pairs, everyone).tolist() == [False, False, True]
    assert Line.of("BSGI", "pay", domain, 10).last.tolist() == [1, 2, 3, 3]


def test_a_missing_value_is_apart_from_every_number_and_near_itself() -> None:
    domain = numbers((1, 2), missing=True)
    everyone = Population(domain, np.array([2, 2, 2]))

    assert GapDiversity(2, 5).holds(np.array([[1, 0, 1], [1, 1, 0], [0, 0, 2]]), everyone).tolist() == [
        True,
        False,
        False,
    ]
    assert divide_line(np.array([0, 2, 1, 2], dtype=np.int32), Line.of("BSGI", "pay", domain, 5), 2).n_classes == 2


def breaks(table: CodedTable, class_of: np.ndarray, column: int, gap: float, l: int) -> bool:
    """Whether an interval shorter than the gap has too much of a class."""
    own = table.sensitive[column]
    values = np.asarray(own.domain.positions)[own.codes]
    return any(
        fullest(values[class_of == one].tolist(), gap) * l > int((class_of == one).sum())
        for one in range(class_of.max() + 1)
    )


@pytest.mark.parametrize("method", ONE)
@pytest.mark.parametrize("seed", range(3))
def test_no_interval_shorter_than_the_gap_has_more_than_its_share_of_a_class(method: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    own = table(("pay", rng.integers(0, 60, 150), numbers(range(0, 600, 10))))
    chosen = method(l=3, gap={"pay": 45})

    (partition,) = chosen.group(own, RUN).partitions

    assert partition.suppressed == 0
    assert partition.n_classes > (30 if method is not BSGI else 10)
    assert not breaks(own, partition.class_of, 0, 45, 3)
    assert chosen.promises_of("pay", own.sensitive[0].domain) == (GapDiversity(3, 45),)


@pytest.mark.parametrize("method", [LLMSU, BSGI])
@pytest.mark.parametrize("l", [3, {"pay": 4, "job": 2}])
def test_several_columns_keep_gaps_and_levels(method: Any, l: Any) -> None:
    rng = np.random.default_rng(3)
    own = table(
        ("pay", rng.integers(0, 50, 300), numbers(range(50))),
        ("job", rng.integers(0, 5, 300), ld.Domain(tuple("abcde"))),
    )

    (partition,) = method(l=l, gap={"pay": 4}).group(own, RUN).partitions

    levels = l if isinstance(l, dict) else {"pay": 3, "job": 3}
    assert not breaks(own, partition.class_of, 0, 4, levels["pay"])
    jobs = [np.bincount(own.sensitive[1].codes[partition.class_of == one]) for one in range(partition.n_classes)]
    assert all(counts.max() * levels["job"] <= counts.sum() for counts in jobs)
    assert partition.suppressed < 60


@pytest.mark.parametrize(
    "method",
    [
        Anatomy(l=3, gap={"pay": 4}, overflow="suppress"),
        LLMSU(l=3, gap={"pay": 4}),
        BSGI(l=3, gap={"pay": 4}, overflow="suppress"),
    ],
)
def test_rows_of_one_person_never_share_a_class(method: Any) -> None:
    rng = np.random.default_rng(3)
    own = table(("pay", rng.integers(0, 50, 200), numbers(range(50))), person=np.arange(200) % 150)

    (partition,) = method.group(own, RUN).partitions

    kept = partition.class_of >= 0
    pairs = list(zip(partition.class_of[kept].tolist(), (np.arange(200) % 150)[kept].tolist(), strict=True))
    assert len(set(pairs)) == len(pairs) > 150
    assert not breaks(own, partition.class_of, 0, 4, 3)


@pytest.mark.parametrize("method", [Anatomy, BSGI])
def test_an_interval_that_is_too_full_is_refused_with_ways_out_that_work(method: Any) -> None:
    codes = [0] * 5 + [1] * 5 + [5] * 5 + [9] * 5
    own = table(("pay", codes, numbers(range(10))))

    with pytest.raises(ld.InfeasibleError, match="an interval shorter than 2 has 10 of 20 records") as refused:
        method(l=3, gap={"pay": 2}).group(own, RUN)

    assert refused.value.nearest == [{"l": 2}]
    assert "l=2" in str(refused.value.hint)
    assert "overflow='suppress'" in str(refused.value.hint)
    assert method(l=2, gap={"pay": 2}).group(own, RUN).partitions[0].suppressed == 0
    assert method(l=3, gap={"pay": 1}).group(own, RUN).partitions[0].suppressed == 0
    assert method(l=3, gap={"pay": 2}, overflow="suppress").group(own, RUN).partitions[0].suppressed == 5


@pytest.mark.parametrize("method", [Anatomy, BSGI])
def test_bins_that_touch_are_near_by_every_gap_so_none_is_the_way_out(method: Any) -> None:
    own = table(("pay", [0] * 8 + [1] * 8 + [2] * 4, numbers((5, 15, 25), edges=(0.0, 10.0, 20.0, 30.0))))

    with pytest.raises(ld.InfeasibleError, match="cannot be reached with all records") as refused:
        method(l=2, gap={"pay": 0.1}).group(own, RUN)

    assert str(refused.value.hint).startswith("Use a smaller gap, or none; overflow='suppress'")
    assert method(l=2).group(own, RUN).partitions[0].suppressed == 0


@pytest.mark.parametrize("method", [Anatomy, BSGI])
def test_no_smaller_gap_is_advised_where_one_value_alone_is_too_frequent(method: Any) -> None:
    own = table(("pay", [0] * 12 + [5] * 8, numbers(range(10))))

    with pytest.raises(ld.InfeasibleError, match="has 12 of 20") as refused:
        method(l=2, gap={"pay": 2}).group(own, RUN)

    assert str(refused.value.hint) == "overflow='suppress' leaves out as few records as needed."
    assert method(l=2, gap={"pay": 2}, overflow="suppress").group(own, RUN).partitions[0].suppressed == 4


def test_bsgi_with_a_gap_does_not_advise_itself_for_several_rows_of_a_person() -> None:
    own = table(("pay", [0] * 12 + [5] * 9, numbers(range(10))), person=np.arange(21) // 2)

    with pytest.raises(ld.InfeasibleError, match="all records together, divided into 2 classes") as refused:
        BSGI(l=2, gap={"pay": 2}, overflow="suppress").group(own, RUN)

    assert "or BSGI" not in str(refused.value.hint)
    assert BSGI(l=2, overflow="suppress").group(own, RUN).partitions[0].n_classes


@pytest.mark.parametrize("method", ONE)
@pytest.mark.parametrize("gap", [{}, {"pay": 0}, {"pay": -1}, {"pay": "wide"}, 5])
def test_gaps_that_are_none_are_refused(method: Any, gap: Any) -> None:
    with pytest.raises(ld.ParameterError, match="gap"):
        method(l=2, gap=gap)


@pytest.mark.parametrize("method", ONE)
def test_gaps_of_texts_and_of_other_columns_are_refused(method: Any) -> None:
    texts = table(("job", [0, 1, 2, 3], ld.Domain(tuple("abcd"))))

    with pytest.raises(ld.SchemaError, match="must be a column of numbers to have a gap"):
        method(l=2, gap={"job": 2}).group(texts, RUN)
    with pytest.raises(ld.ParameterError, match="must name sensitive columns"):
        ld.Publication(quasi="age", sensitive="job", method=method(l=2, gap={"age": 2}))


def test_what_a_gap_excludes_is_said() -> None:
    with pytest.raises(ld.ParameterError, match="gap must be left out with selection='paper'"):
        BSGI(l=2, gap={"pay": 2}, selection="paper")
    with pytest.raises(ld.ParameterError, match="merge must be False with gap"):
        LLMSU(l=2, gap={"pay": 2}, merge=True)
