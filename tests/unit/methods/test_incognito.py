"""Incognito: the node it finds is the best of the whole lattice; what it leaves out, and what it refuses."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldiversity.errors import InfeasibleError, ParameterError, UnsupportedError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import (
    CategoryColumn,
    CodedTable,
    Grouping,
    GroupingRun,
    Incognito,
    NumberColumn,
    SensitiveColumn,
)
from ldiversity.methods._incognito import _Large
from ldiversity.methods._incognito_counts import combine
from ldiversity.methods._incognito_search import Search
from ldiversity.methods._parts_route import LevelParts
from ldiversity.methods._rule import rules_of
from ldiversity.models import MODELS, FrequencyDiversity, Population, PrivacyModel, count_classes, parse_model
from ldiversity.schema import Domain

RUN = GroupingRun(workers=1)
EVERYONE = Population(Domain(tuple("abcdef")), np.full(6, 100))
ZIPS = Hierarchy.from_rows([("131", "13*", "*"), ("132", "13*", "*"), ("148", "14*", "*"), ("149", "14*", "*")])
SEX = Hierarchy.from_rows([("F", "*"), ("M", "*")])
AGES = Hierarchy.from_rows([(str(i), f"{i // 2}", f"{i // 4}", "*") for i in range(8)])


def category(name: str, codes: list[int], tree: Hierarchy) -> CategoryColumn:
    return CategoryColumn(name, np.array(codes, dtype=np.int32), tree.leaves, tree)


def sensitive(codes: list[int]) -> SensitiveColumn:
    return SensitiveColumn("disease", np.array(codes, dtype=np.int32), Domain(tuple("abcdef")))


def random_table(seed: int, n: int) -> CodedTable:
    rng = np.random.default_rng(seed)
    columns = (("zip", ZIPS), ("sex", SEX), ("age", AGES))
    quasi = tuple(category(name, rng.integers(0, len(tree), n).tolist(), tree) for name, tree in columns)
    return CodedTable(quasi, (sensitive(rng.integers(0, 6, n).tolist()),))


def loss_of(table: CodedTable, levels: tuple[int, ...]) -> float:
    pairs = zip(table.categories, levels, strict=True)
    return sum(float(column.costs[column.codes, level].mean(dtype=float)) for column, level in pairs)


def classes_of(table: CodedTable, levels: tuple[int, ...]) -> np.ndarray:
    pairs = zip(table.categories, levels, strict=True)
    generalized = np.column_stack([column.nodes[column.codes, level] for column, level in pairs])
    return np.unique(generalized, axis=0, return_inverse=True)[1].ravel()


def left_out_slowly(table: CodedTable, levels: tuple[int, ...], rule: PrivacyModel) -> int:
    """Leave out failing classes until none fails, and count their records."""
    class_of = classes_of(table, levels)
    column = table.sensitive[0]
    while (class_of >= 0).any():
        found, numbered = np.unique(class_of[class_of >= 0], return_inverse=True)
        counted = count_classes(numbered.astype(np.int32), column.codes[class_of >= 0], len(found), column.domain)
        failing = rule.failing(counted)
        if not failing.size:
            return int((class_of < 0).sum())
        class_of = np.where(np.isin(class_of, found[failing]), -1, class_of)
    return table.n_rows + 1


def best_of_all(table: CodedTable, rule: PrivacyModel, suppression: float) -> float:
    """The least loss of all nodes that will do."""
    nodes = product(*(range(column.nodes.shape[1]) for column in table.categories))
    most = suppression * table.n_rows
    return min(loss_of(table, node) for node in nodes if left_out_slowly(table, node, rule) <= most)


def levels_of(grouping: Grouping) -> tuple[int, ...]:
    return tuple(grouping.levels.values())


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["frequency:2", "frequency:3", "distinct:3", "k-anonymity:5", "entropy:2"])
@pytest.mark.parametrize("suppression", [0.0, 0.05, 0.2])
def test_no_node_of_the_whole_lattice_loses_less(seed: int, text: str, suppression: float) -> None:
    table = random_table(seed, 40 + 40 * (seed % 3))

    grouping = Incognito(model=text, suppression=suppression).group(table, RUN)

    best = best_of_all(table, parse_model(text), suppression)
    assert loss_of(table, levels_of(grouping)) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize(
    "models",
    [
        ["frequency:2"],
        ["k-anonymity:4"],
        ["distinct:3"],
        ["entropy:2"],
        ["t-closeness:0.4"],
        ["frequency:2", "k-anonymity:6"],
        ["alpha-k:alpha=0.5:k=3", "distinct:2"],
    ],
)
@pytest.mark.parametrize("n_sensitive", [1, 2])
def test_ruling_nodes_out_changes_no_answer(models: list[str], n_sensitive: int) -> None:
    for seed in range(3):
        table = random_table(seed, 30 + 60 * seed)
        more = sensitive(
            np.random.default_rng(9 + seed).choice(6, table.n_rows, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1]).tolist()
        )
        table = CodedTable(table.quasi, (*table.sensitive, more)[:n_sensitive])
        full, _ = combine(table, table.categories)
        rules = rules_of("Incognito", None, models)
        nodes = list(product(*(range(column.nodes.shape[1]) for column in table.categories)))
        for most in (1, 3, table.n_rows // 5):
            search = Search(full, rules, most)
            for node in np.random.default_rng(seed).permutation(nodes):
                slowly = full.suppressed(tuple(node), rules, most)
                found = search.left_out(tuple(node.tolist()))
                assert (found is None) == (slowly is None)
                assert found is None or (found == slowly).all()
        assert search.looked_at <= len(nodes)


@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name].fails_in_parts])
def test_no_part_of_a_class_with_too_little_satisfies_the_rule(name: str) -> None:
    rule = parse_model(MODELS[name].example)
    rng = np.random.default_rng(2)
    whole = rng.integers(0, 3, (300, 6)) * (rng.random((300, 6)) < 0.4)
    whole[:, 0] += whole.sum(axis=1) == 0
    part = rng.integers(0, whole + 1)
    broken, some = ~rule.holds(whole, EVERYONE), part.sum(axis=1) > 0

    assert broken.any()
    assert not broken.all()
    assert not rule.holds(part[broken & some], EVERYONE).any()


@pytest.mark.parametrize("text", ["frequency:3", "k-anonymity:5", "distinct:3", "alpha-k:0.5:5", "unique:3"])
def test_no_class_with_fewer_than_the_least_records_satisfies_the_rule(text: str) -> None:
    rule = parse_model(text)
    rows = np.random.default_rng(5).integers(0, 6, (200, rule.least_records - 1))
    counts = (rows[:, :, None] == np.arange(6)).sum(axis=1)

    assert rule.least_records > 1
    assert not rule.holds(counts, EVERYONE).any()


@pytest.mark.parametrize("seed", range(8))
def test_classes_are_the_records_that_agree_at_the_levels(seed: int) -> None:
    table = random_table(seed, 60)

    grouping = Incognito(l=2).group(table, RUN)

    expected = classes_of(table, levels_of(grouping))
    pairs = set(zip(grouping.partitions[0].class_of.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == grouping.partitions[0].n_classes == expected.max() + 1


def test_records_that_stand_in_the_way_may_be_left_out() -> None:
    table = CodedTable((category("zip", [0, 0, 1, 1, 3], ZIPS),), (sensitive([0, 1, 0, 1, 0]),))

    grouping = Incognito(l=2, suppression=0.2).group(table, RUN)

    assert grouping.levels == {"zip": 0}
    assert grouping.partitions[0].class_of.tolist() == [0, 0, 1, 1, -1]


def test_no_more_than_the_limit_is_left_out() -> None:
    table = CodedTable((category("zip", [0, 0, 1, 2, 3], ZIPS),), (sensitive([0, 1, 0, 1, 2]),))

    grouping = Incognito(l=2, suppression=0.2).group(table, RUN)

    assert grouping.partitions[0].suppressed <= 1


def test_what_is_left_is_checked_against_what_is_left() -> None:
    table = random_table(3, 200)
    rule = parse_model("t-closeness:0.2")

    partition = Incognito(model=rule, suppression=0.3).group(table, RUN).partitions[0]

    column = table.sensitive[0]
    assert not rule.failing(count_classes(partition.class_of, column.codes, partition.n_classes, column.domain)).size


def test_leaving_records_out_may_make_a_rule_possible() -> None:
    table = CodedTable((category("zip", [0, 0, 2, 2, 2], ZIPS),), (sensitive([0, 1, 0, 0, 0]),))

    assert Incognito(l=2, suppression=0.6).group(table, RUN).partitions[0].class_of.tolist() == [0, 0, -1, -1, -1]


def test_no_more_is_left_out_than_was_written() -> None:
    table = CodedTable((category("zip", [0, 0, 2, 2, 2], ZIPS),), (sensitive([0, 1, 0, 0, 0]),))

    with pytest.raises(InfeasibleError):
        Incognito(l=2, suppression=0.5999999999).group(table, RUN)


def test_a_column_without_a_hierarchy_has_two_levels() -> None:
    plain = CategoryColumn("sex", np.array([0, 1], dtype=np.int32), ("F", "M"))

    assert Incognito(l=2).group(CodedTable((plain,), (sensitive([0, 1]),)), RUN).levels == {"sex": 1}


def test_every_sensitive_column_must_satisfy_the_rule() -> None:
    table = CodedTable((category("sex", [0, 0, 1, 1], SEX),), (sensitive([0, 1, 0, 1]), sensitive([0, 0, 1, 1])))

    assert Incognito(l=2).group(table, RUN).levels == {"sex": 1}


def test_a_table_without_quasi_identifiers_is_one_class() -> None:
    grouping = Incognito(l=2).group(CodedTable((), (sensitive([0, 1]),)), RUN)

    assert grouping.partitions[0].class_of.tolist() == [0, 0]


def test_many_values_are_counted_without_a_dense_table() -> None:
    n = 3000
    tree = Hierarchy.from_rows([(str(i), str(i // 2), "*") for i in range(n)])
    disease = SensitiveColumn("s", np.arange(n, dtype=np.int32) % 2, Domain(tuple(range(4000))))

    assert Incognito(l=2).group(CodedTable((category("x", list(range(n)), tree),), (disease,)), RUN).levels == {"x": 1}


def test_a_model_that_is_not_monotone_is_refused_with_the_name_of_a_method_that_takes_it() -> None:
    with pytest.raises(ParameterError, match="Mondrian"):
        Incognito(model="unique:2")


@pytest.mark.parametrize("options", [{}, {"model": [3]}, {"l": 2, "suppression": 1.5}, {"l": 1}])
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Incognito(**options)


def test_numbers_need_a_hierarchy() -> None:
    table = CodedTable((NumberColumn("age", np.array([1, 2]), 1, 2),), (sensitive([0, 1]),))

    with pytest.raises(UnsupportedError, match="'age' has none"):
        Incognito(l=2).group(table, RUN)


def test_the_level_search_counts_people() -> None:
    # Exact sexes give two classes of two values, but of one person each.
    sexes, values = (category("sex", [0, 0, 1, 1], SEX),), (sensitive([0, 1, 0, 1]),)

    rows = Incognito(l=2).group(CodedTable(sexes, values), RUN)
    people = Incognito(l=2).group(CodedTable(sexes, values, np.array([4, 4, 5, 5])), RUN)

    assert rows.levels["sex"] == 0
    assert people.levels["sex"] > 0
    assert people.partitions[0].n_classes == 2


@pytest.mark.parametrize("suppression", [0.0, 0.1])
def test_an_infeasible_rule_names_what_the_whole_table_reaches(suppression: float) -> None:
    table = CodedTable((category("sex", [0, 1, 0, 1, 0], SEX),), (sensitive([0, 0, 1, 1, 2]),))

    with pytest.raises(InfeasibleError, match=r"reach 2\.5") as caught:
        Incognito(l=4, suppression=suppression).group(table, RUN)

    assert caught.value.nearest == [{"l": 2}]


def test_a_lattice_that_is_too_large_is_refused() -> None:
    deep = Hierarchy.from_rows([("a", *map(str, range(20)), "*"), ("b", *map(str, range(20, 40)), "*")])
    table = CodedTable(tuple(category(str(k), [0, 1], deep) for k in range(5)), (sensitive([0, 1]),))

    with pytest.raises(UnsupportedError, match="lattice must have at most"):
        Incognito(l=2).group(table, RUN)


def test_parameters_name_the_rule_and_the_limit() -> None:
    assert Incognito(l=2, suppression=0.1).parameters() == {"l": 2, "suppression": 0.1}


def test_promise_is_the_rule() -> None:
    assert Incognito(l=3).promises(Domain(("a",))) == (FrequencyDiversity(3),)


def test_a_piece_of_a_class_must_satisfy_the_model_as_the_whole_does() -> None:
    tree = Hierarchy.from_rows([("a", "*"), ("b", "*")])
    domain = Domain(("flu", "cut"))

    def table(codes: list[int]) -> CodedTable:
        zips = CategoryColumn("zip", np.zeros(len(codes), dtype=np.int32), tree.leaves, tree)
        disease = SensitiveColumn("disease", np.array(codes, dtype=np.int32), domain, whole=np.array([5, 5]))
        return CodedTable((zips,), (disease,))

    decided = Incognito(l=2).decided(table([0, 1]), np.array([5, 5]))

    assert decided.group(table([0, 1, 1, 0]), GroupingRun()).partitions[0].n_classes == 1
    with pytest.raises(InfeasibleError, match="a class that is divided"):
        decided.group(table([0, 1, 1]), GroupingRun())


@given(st.integers(2, 9), st.lists(st.integers(1, 400), min_size=1, max_size=5))
def test_classes_are_divided_evenly_over_parts(n_parts: int, sizes: list[int]) -> None:
    labels = tuple(f"{i}" for i in range(len(sizes)))
    tree = Hierarchy.from_rows([(label, "*") for label in labels])
    codes = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    people = CodedTable((CategoryColumn("zip", codes, labels, tree),), ())
    numbers, counts = np.unique(LevelParts(1, (0,)).combinations(people), return_counts=True)
    parts = LevelParts(n_parts, (0,), _Large(numbers, counts, len(codes)).dealt(n_parts))
    rows = np.column_stack([np.zeros(len(codes)), np.arange(len(codes)) << 32]).astype(np.uint64)
    identities = parts.identities(people, rows)
    words = np.random.default_rng(0).integers(0, 2**63, len(codes), dtype=np.uint64) * np.uint64(2)
    words = words[np.unique(identities, axis=0, return_inverse=True)[1].ravel()]  # equal identities have equal words
    routed = parts.route(people, words)

    assert routed.min() >= 0
    assert routed.max() < n_parts
    half = max(len(codes) // (2 * n_parts), 1)
    for code, size in enumerate(sizes):
        used = len(set(routed[codes == code].tolist()))
        assert used == 1 if size <= half else used <= min(-(-size // half), n_parts)
    dealt = np.bincount([(at + k) % n_parts for _, n, at in parts.dealt for k in range(n)], minlength=n_parts)
    assert dealt.max() - dealt.min() <= 1
