"""Every method that takes parts keeps its promise when each part is grouped by itself; found through the catalog."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.base.randomness import Key, KeyedWords, row_identities
from ldiversity.catalog import CATALOG
from ldiversity.methods import (
    AlikeParts,
    Candidates,
    CategoryColumn,
    CodedTable,
    Cuts,
    ExactMoves,
    GroupingMethod,
    GroupingRun,
    Moves,
    NumberColumn,
    PartCounts,
    Parts,
    RandomParts,
    SensitiveColumn,
    eligible_cell_moves,
    eligible_moves,
    join_parts,
    leave_out,
    number_combinations,
)
from ldiversity.models import Population, count_classes
from ldiversity.schema import Domain

N, N_PARTS, F = 4000, 7, 8
DOMAIN = Domain(tuple(range(F)))
TREE = ld.Hierarchy.from_rows([(str(value), f"group-{value % 4}") for value in range(F)])
TEXTS = Domain(tuple(str(value) for value in range(F)))
REQUIRED: dict[str, dict[str, Any]] = {"le-anatomy": {"e": 1, "tree": TREE}}


def made(name: str, **given: Any) -> GroupingMethod:
    module, _, class_name = CATALOG[name].home.partition(":")
    method: GroupingMethod = getattr(import_module(module), class_name).of_level(3, **REQUIRED.get(name, {}), **given)
    return method


CLASSES = {name: made(name) for name, entry in CATALOG.items() if entry.family == "classes"}
OF_FEWEST = {"bsgi"}
"""Those whose classes have as few records as they can."""

NAMES = [name for name, one in CLASSES.items() if one.parts is not None and not one.decides_by_counts]


def table(seed: int = 0, n_columns: int = 1, *, person: bool = False, skew: float = 0.0) -> CodedTable:
    """Values that go with age, so that parts of near records are not eligible by themselves."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, N)
    columns = []
    for column in range(n_columns):
        related = rng.random(N) < 0.75
        codes = np.where(related, (age // 7 + column) % F, rng.integers(0, F, N))
        codes = np.where(rng.random(N) < skew, 0, codes)
        columns.append(SensitiveColumn(f"s{column}", codes.astype(np.int32), TEXTS))
    quasi = (
        NumberColumn("age", age, 18, 79, missing=rng.random(N) < 0.03),
        CategoryColumn("sex", rng.integers(0, 2, N).astype(np.int32), ("F", "M")),
    )
    # Some people have many rows: a few with 1 in 40 of all.
    people = np.where(rng.random(N) < 0.1, rng.integers(0, 4, N), 10 + rng.integers(0, N, N))
    return CodedTable(quasi, tuple(columns), people if person else None)


def taken(given: CodedTable, rows: NDArray[np.int64], wholes: list[NDArray[np.int64]]) -> CodedTable:
    quasi = tuple(
        replace(column, values=column.values[rows], missing=None if column.missing is None else column.missing[rows])
        if isinstance(column, NumberColumn)
        else replace(column, codes=column.codes[rows])
        for column in given.quasi
    )
    sensitive = tuple(
        replace(column, codes=column.codes[rows], whole=whole)
        for column, whole in zip(given.sensitive, wholes, strict=True)
    )
    return CodedTable(quasi, sensitive, None if given.person is None else given.person[rows])


@dataclass(frozen=True, eq=False)
class Cut:
    """A table in parts: the part of each row, -1 for those that are left out; and what was done for it."""

    part_of: NDArray[np.int32]
    moved: int
    wholes: list[NDArray[np.int64]]

    @property
    def parts(self) -> list[int]:
        return np.unique(self.part_of[self.part_of >= 0]).tolist()


def exact(moves: Moves, counts: Any, parts: Any, values: Any, words: Any) -> NDArray[np.int32]:
    chosen = Candidates.of(moves, counts).choose(parts, values, words)
    settled = ExactMoves.settle(moves, counts, parts[chosen], values[chosen], words[chosen])
    assert settled is not None
    return settled.apply(parts, values, words)


def counted(parts: Any, cells: Any, shape: tuple[int, int]) -> NDArray[np.int64]:
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, (parts, cells), 1)
    return counts


def cut(method: GroupingMethod, given: CodedTable) -> Cut:
    """Cut a table as publishing does, in the plainest way."""
    rule = method.part_rule(len(given.sensitive))
    rows = row_identities(0, 0, given.n_rows)
    levels = [method.part_levels(own.domain, own.counts)[own.codes] for own in given.sensitive]
    cell_of, n_cells = number_combinations([(own, int(own.max()) + 1) for own in levels], given.n_rows)
    cell_of = cell_of.astype(np.int32)
    first_of_cell = np.unique(cell_of, return_index=True)[1]
    cells = np.column_stack(levels)[first_of_cell].astype(np.int32)
    words = KeyedWords(Key.from_insecure_seed(1), b"rows").for_records(rows, 2)
    kept = np.ones(given.n_rows, dtype=bool)
    nowhere = np.zeros(given.n_rows, dtype=np.int32)
    if rule.leave_out and rule.level is not None:
        counts = counted(nowhere, cell_of, (1, n_cells))
        gone = leave_out(counts[0], rule.level, cells)
        kept = exact(gone, counts, nowhere, cell_of, words[:, 0]) >= 0
    ways: dict[str, Parts] = {"random": RandomParts(N_PARTS), "alike": AlikeParts(N_PARTS)}
    if method.parts == "near":
        ways["near"] = Cuts.of_sample("test", given, N_PARTS, l=rule.level)
    way = ways[str(method.parts)]
    route_words = KeyedWords(Key.from_insecure_seed(1), b"route").for_records(way.identities(given, rows), 1)[:, 0]
    parts = way.route(given, route_words)
    moved = 0
    wholes = [np.bincount(own.codes[kept], minlength=F).astype(np.int64) for own in given.sensitive]
    if rule.level is not None:
        counts = counted(parts[kept], cell_of[kept], (way.tree.n_parts, n_cells))
        one = cells.shape[1] == 1
        moves = (
            eligible_moves(counts, rule.level, way.tree)
            if one
            else eligible_cell_moves(counts, rule.level, way.tree, cells)
        )
        moved = moves.n_rows
        parts[kept] = exact(moves, counts, parts[kept], cell_of[kept], words[kept, 1])
    parts[~kept] = -1
    home = join_parts(
        way.tree, lambda first, last: method.feasible(counts_of(given, (parts >= first) & (parts < last), wholes))
    )
    return Cut(np.where(parts >= 0, home[parts], -1).astype(np.int32), moved, wholes)


def counts_of(given: CodedTable, rows: NDArray[np.bool_], wholes: list[NDArray[np.int64]]) -> PartCounts:
    values = tuple(np.bincount(own.codes[rows], minlength=F).astype(np.int64) for own in given.sensitive)
    populations = tuple(Population(own.domain, whole) for own, whole in zip(given.sensitive, wholes, strict=True))
    most = 1 if given.person is None else int(np.bincount(given.person[rows]).max(initial=1))
    return PartCounts(values, populations, most)


def grouped(method: GroupingMethod, given: CodedTable, done: Cut) -> tuple[NDArray[np.int64], int]:
    """The classes of all parts together; rows without one are -1."""
    class_of, n_classes = np.full(given.n_rows, -1, dtype=np.int64), 0
    for part in done.parts:
        rows = np.flatnonzero(done.part_of == part)
        found = method.group(taken(given, rows, done.wholes), GroupingRun(workers=1)).partitions[0]
        class_of[rows] = np.where(found.class_of >= 0, found.class_of + n_classes, -1)
        n_classes += found.n_classes
    return class_of, n_classes


def check(method: GroupingMethod, given: CodedTable, class_of: NDArray[np.int64], n_classes: int) -> None:
    assert sorted(set(class_of[class_of >= 0].tolist())) == list(range(n_classes))
    for column in given.sensitive:
        classes = count_classes(class_of, column.codes, n_classes, column.domain)
        for model in method.promises(column.domain):
            assert model.failing(classes).size == 0
    if given.person is not None:
        own = class_of >= 0
        pairs = np.column_stack([class_of[own], given.person[own]])
        assert len(np.unique(pairs, axis=0)) == len(pairs)


@pytest.mark.parametrize("name", NAMES)
def test_classes_of_all_parts_keep_the_promise(name: str) -> None:
    method, given = made(name), table()

    done = cut(method, given)
    class_of, n_classes = grouped(method, given, done)

    check(method, given, class_of, n_classes)
    assert (class_of >= 0).all()
    assert len(done.parts) > 3
    if method.parts == "near" and method.part_rule(1).level is not None:
        assert done.moved > 0
        assert n_classes <= N // 3
    if name in OF_FEWEST:
        assert N // 3 - len(done.parts) <= n_classes <= N // 3


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {"anatomy", "le-anatomy", "tp"}])
def test_several_columns_keep_the_promise(name: str) -> None:
    method, given = made(name), table(n_columns=2)
    method = replace(method, overflow="suppress") if name == "bsgi" else method  # type: ignore[type-var]

    class_of, n_classes = grouped(method, given, cut(method, given))

    check(method, given, class_of, n_classes)
    assert np.count_nonzero(class_of >= 0) >= 0.99 * N


def taking_people(name: str) -> GroupingMethod:
    """A method, unless it refuses people with several rows."""
    method, given = made(name), table(person=True)
    try:
        method.group(given, GroupingRun(workers=1))
    except ld.UnsupportedError:
        pytest.skip(f"{name} refuses people with several rows")
    return method


@pytest.mark.parametrize("name", NAMES)
def test_people_with_many_rows_are_kept_apart(name: str) -> None:
    method, given = taking_people(name), table(person=True)

    done = cut(method, given)
    class_of, n_classes = grouped(method, given, done)

    check(method, given, class_of, n_classes)
    assert len(done.parts) > 1


@pytest.mark.parametrize("name", ["bsgi", "anatomy", "le-anatomy", "llmsu", "mbf"])
def test_no_more_is_left_out_than_in_one_piece(name: str) -> None:
    given = table(skew=0.6)
    hides = name in {"llmsu", "mbf"}
    method = made(name) if hides else made(name, overflow="suppress")

    class_of, n_classes = grouped(method, given, cut(method, given))

    check(method, given, class_of, n_classes)
    whole = method.group(given, GroupingRun(workers=1)).partitions[0]
    assert whole.suppressed > 0
    assert np.count_nonzero(class_of < 0) == whole.suppressed


def test_models_that_compare_with_all_records_are_judged_by_all_records() -> None:
    method = ld.Mondrian(model=["t-closeness:0.25", "k-anonymity:20"])
    given = table()

    done = cut(method, given)
    class_of, n_classes = grouped(method, given, done)

    check(method, given, class_of, n_classes)
    assert n_classes > len(done.parts) > 1


@pytest.mark.parametrize("name", NAMES)
def test_a_part_in_which_the_promise_cannot_be_kept_is_noticed(name: str) -> None:
    method, given = made(name), table()
    wholes = [given.sensitive[0].counts]
    spoiled = np.flatnonzero(given.sensitive[0].codes == 0)
    spoiled = np.concatenate([spoiled, np.flatnonzero(given.sensitive[0].codes == 1)[:5]])
    among = np.zeros(N, dtype=bool)
    among[spoiled] = True

    assert method.feasible(counts_of(given, np.ones(N, dtype=bool), wholes))
    assert method.feasible(counts_of(given, np.zeros(N, dtype=bool), wholes))
    if all(rule.of_people for rule in method.promises(given.sensitive[0].domain)):
        assert method.feasible(counts_of(given, among, wholes))  # whatever the values are
        return
    assert not method.feasible(counts_of(given, among, wholes))
    with pytest.raises(ld.InfeasibleError):
        method.group(taken(given, spoiled, wholes), GroupingRun(workers=1))


@pytest.mark.parametrize("name", NAMES)
def test_a_person_with_too_much_of_a_part_is_noticed(name: str) -> None:
    method, given = taking_people(name), table()
    known = counts_of(given, np.ones(N, dtype=bool), [given.sensitive[0].counts])

    assert method.feasible(replace(known, most_of_person=N // 3))
    assert not method.feasible(replace(known, most_of_person=N // 3 + 1))


def test_methods_that_decide_by_counts_take_no_parts_before() -> None:
    assert "incognito" not in NAMES
    assert CLASSES["incognito"].decides_by_counts
