"""BSGI's effort: moves against a slow and obvious reference, and what comes of them against exact optima."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

import ldiversity as ld
from ldiversity._kernels.bsgi_anneal import Charge, Limits, Seats, anneal_classes, find_near
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import (
    BSGI,
    CategoryColumn,
    CodedTable,
    Grouping,
    GroupingRun,
    NumberColumn,
    Partition,
    SensitiveColumn,
)
from ldiversity.methods import _bsgi_anneal as annealing
from ldiversity.methods._bsgi_space import Space, make_space
from ldiversity.methods._gaps import Line
from ldiversity.schema import Domain

N = 96
RUN = GroupingRun(workers=2)
TREE = Hierarchy.from_rows([(f"leaf {i}", f"low {i % 4}", f"high {i % 2}", "*") for i in range(12)])
WEIGHTS = {"age": 1.0, "income": 2.0, "place": 0.5, "job": 3.0}


def table(n: int = N, seed: int = 0, n_values: int = 8, *, n_jobs: int = 70) -> CodedTable:
    """Numbers, some of them missing; categories with a tree, and some without one; of 70, two may share a bit."""
    rng = np.random.default_rng(seed)
    age = NumberColumn("age", rng.integers(0, 40, n), 0, 39, rng.random(n) < 0.1)
    income = NumberColumn("income", rng.exponential(1.0, n), 0.0, 12.0)
    place = CategoryColumn("place", rng.integers(0, 12, n).astype(np.int32), TREE.leaves, TREE)
    jobs = tuple(f"job {i}" for i in range(n_jobs))
    job = CategoryColumn("job", rng.choice([1, 2, n_jobs - 5, n_jobs - 4], n).astype(np.int32), jobs)
    codes = rng.permutation(n).astype(np.int32) % n_values
    return CodedTable((age, income, place, job), (SensitiveColumn("pay", codes, numbers(n_values)),))


def numbers(n_values: int) -> Domain:
    values = tuple(10 * i for i in range(n_values))
    return Domain(values, ordered=True, positions=tuple(map(float, values)))


def slow_charge(given: CodedTable, rows: list[int], weights: dict[str, float]) -> float:
    """What the records of a class are charged together, as `ld.ncp` says it."""
    total = 0.0
    for column in given.quasi:
        weight = weights[column.name]
        if isinstance(column, NumberColumn):
            unknown = column.missing is not None and column.missing[rows].any()
            total += weight * (1.0 if unknown else float(np.ptp(column.values[rows])) / (column.high - column.low))
        elif column.hierarchy is None:
            listed = len(set(column.codes[rows].tolist()))
            total += weight * (listed / len(column.labels) if listed > 1 else 0.0)
        else:
            nodes = column.nodes[column.codes[rows]]
            level = int(np.argmax((nodes == nodes[0]).all(axis=0)))
            total += weight * float(column.costs[column.codes[rows[0]], level])
    return total * len(rows)


def total_charge(given: CodedTable, class_of: NDArray[np.int32]) -> float:
    weights = {column.name: 1.0 for column in given.quasi}
    rows = [np.flatnonzero(class_of == g).tolist() for g in range(class_of.max() + 1)]
    return sum(slow_charge(given, one, weights) for one in rows)


def charge_with(given: CodedTable, method: BSGI) -> float:
    return total_charge(given, method.group(given, RUN).partitions[0].class_of)


class Moved:
    """Classes of l records in the order of the rows, on seats; every record is near every other."""

    def __init__(self, given: CodedTable, keys: NDArray[np.int32], limits: Limits, starts: list[int]) -> None:
        self.space: Space = make_space("test", given, WEIGHTS)
        self.charge, self.limits = Charge(self.space.loss, self.space.shares), limits
        n, sizes = given.n_rows, np.diff(starts)
        everyone = np.arange(n, dtype=np.int32)
        self.seats = Seats(
            np.array(starts), np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), self.space.points.copy(),
            keys.copy(), everyone.copy(), everyone.copy(), np.empty(len(sizes), dtype=np.float32),
        )  # fmt: skip
        self.near = np.array([np.delete(everyone, row) for row in range(n)], dtype=np.int32)

    def go(self, temperature: float, word: int = 5, sweeps: int = 1) -> int:
        hot = np.full(sweeps, temperature, dtype=np.float32)
        spreads = np.linspace(0.001, 3, 16, dtype=np.float32)
        return anneal_classes(self.charge, self.limits, self.seats, self.near, hot, spreads, np.uint64(word))

    @property
    def classes(self) -> list[list[int]]:
        starts = self.seats.starts
        return [self.seats.who[a:b].tolist() for a, b in pairwise(starts)]


def unique(keys: NDArray[np.int32], n_classes: int) -> Limits:
    n_keys = keys.shape[1]
    return Limits(np.full((n_keys, 1), -1, dtype=np.int32), np.ones((n_classes, n_keys), dtype=np.int32))


def by_value(given: CodedTable, l: int) -> CodedTable:
    """The rows so that l in a row have different values."""
    order = np.argsort(given.sensitive[0].codes, kind="stable")
    return given.only(order.reshape(l, -1).T.ravel())


# --- One move ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [64, 70])
@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_the_charge_of_moved_classes_is_that_of_their_columns(temperature: float, n_jobs: int) -> None:
    given = by_value(table(n_jobs=n_jobs), 4)
    keys = given.sensitive[0].codes.reshape(-1, 1)
    moved = Moved(given, keys, unique(keys, N // 4), list(range(0, N + 1, 4)))

    swaps = [moved.go(temperature, word) for word in range(1, 9)]

    slow = [slow_charge(given, rows, WEIGHTS) for rows in moved.classes]
    assert sum(swaps) > 10
    # Each entry is the sum of what up to hundreds of accepted moves left there, in single precision.
    assert moved.seats.cost.tolist() == pytest.approx(slow, abs=1e-4)
    assert sorted(moved.seats.who.tolist()) == list(range(N))
    assert moved.seats.seat[moved.seats.who].tolist() == list(range(N))
    assert moved.seats.points.tolist() == moved.space.points[moved.seats.who].tolist()


def test_without_heat_every_move_lowers_the_charge() -> None:
    given = by_value(table(), 4)
    keys = given.sensitive[0].codes.reshape(-1, 1)
    moved = Moved(given, keys, unique(keys, N // 4), list(range(0, N + 1, 4)))
    moved.go(0.0, sweeps=0)
    charges = [float(moved.seats.cost.sum())]

    for word in range(1, 6):
        moved.go(0.0, word)
        charges.append(float(moved.seats.cost.sum()))

    assert charges == sorted(charges, reverse=True)
    assert charges[-1] < 0.9 * charges[0]


def test_heat_lets_bad_moves_stand() -> None:
    given = by_value(table(), 4)
    keys = given.sensitive[0].codes.reshape(-1, 1)
    cold = Moved(given, keys, unique(keys, N // 4), list(range(0, N + 1, 4)))
    hot = Moved(given, keys, unique(keys, N // 4), list(range(0, N + 1, 4)))

    cold.go(0.0, sweeps=20)
    hot.go(100.0, sweeps=20)

    assert hot.seats.cost.sum() > 1.2 * cold.seats.cost.sum()


def test_classes_are_valid_after_every_sweep() -> None:
    given = by_value(table(), 4)
    people = np.arange(N, dtype=np.int32) % 60
    keys = np.column_stack([given.sensitive[0].codes, people]).astype(np.int32)
    moved = Moved(given, keys, unique(keys, N // 4), list(range(0, N + 1, 4)))

    for word in range(1, 20):
        moved.go(1.0, word)
        assert [len(set(keys[rows, k].tolist())) for rows in moved.classes for k in (0, 1)] == [4] * (N // 2)


@pytest.mark.parametrize("l", [2, 3])
def test_no_interval_shorter_than_the_gap_gets_more_than_its_share(l: int) -> None:
    given = table(n_values=12)
    codes = given.sensitive[0].codes
    line = Line.of("test", "pay", numbers(12), 25)
    # Classes of several sizes, dealt by rank, which keeps values apart.
    given = given.only(np.argsort(codes, kind="stable").reshape(12, 8).T.ravel())
    ranks = line.rank[given.sensitive[0].codes].astype(np.int32).reshape(-1, 1)
    starts = [0, 12, 36, 48, 60, 96]
    most = (np.diff(starts) // l).astype(np.int32).reshape(-1, 1)
    moved = Moved(given, ranks, Limits(line.last.astype(np.int32).reshape(1, -1), most), starts)

    def within() -> bool:
        owned = [np.bincount(given.sensitive[0].codes[rows], minlength=12) for rows in moved.classes]
        return all(line.most(counts) * l <= counts.sum() for counts in owned)

    assert within()
    swaps = 0
    for word in range(1, 20):
        swaps += moved.go(5.0, word)
        assert within()
    assert swaps > 100


def people(n: int, missing: float) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": pa.array(rng.integers(20, 60, n), mask=rng.random(n) < missing),
            "job": rng.choice(["a", "b", "c", "d", "e"], n),
            "disease": [f"disease {i % 6}" for i in range(n)],
        }
    )


def published(known: pa.Table, effort: int, grid: object, monkeypatch: pytest.MonkeyPatch) -> tuple[float, float]:
    """What `ld.ncp` says of a release, and the slow charge of its classes as the method saw the table."""
    seen: list[float] = []
    group = BSGI.group

    def watched(method: BSGI, given: CodedTable, run: GroupingRun) -> Grouping:
        found = group(method, given, run)
        seen.append(total_charge(given, found.partitions[0].class_of) / (given.n_rows * len(given.quasi)))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(BSGI, "group", watched)
        release = ld.anonymize(
            known,
            quasi=["age", "job"],
            sensitive="disease",
            method=BSGI(3, effort=effort),
            grid=grid,  # type: ignore[arg-type]
            insecure_seed=1,
        )
    return ld.ncp(known, release), seen[-1]


def test_what_is_optimized_is_what_the_release_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    ncp, charge = published(people(60, missing=0.1), 20, "exact", monkeypatch)

    assert ncp == pytest.approx(charge, rel=1e-6)


def test_on_a_grid_less_charge_is_less_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    known = people(60, missing=0.0)

    greedy, annealed = (published(known, effort, {"age": 5}, monkeypatch) for effort in (0, 20))

    # Rounding outward adds the same to every interval.
    assert annealed[0] < greedy[0]
    assert greedy[0] - annealed[0] == pytest.approx(greedy[1] - annealed[1], abs=1e-6)


# --- Who is near ---------------------------------------------------------------------------------------


def test_candidates_are_the_nearest_within_the_windows() -> None:
    given = table(60)
    space = make_space("test", given, WEIGHTS)
    rng = np.random.default_rng(2)
    orders = np.array([rng.permutation(60), rng.permutation(60)], dtype=np.int32)
    where = np.argsort(orders, axis=1).astype(np.int32)
    near = np.empty((60, 6), dtype=np.int32)

    find_near(Charge(space.loss, space.shares), space.points, orders, where, 4, near, np.empty(6, dtype=np.float32))

    for row in range(60):
        around = {
            int(other)
            for order, place in zip(orders, where[:, row], strict=True)
            for other in order[max(0, place - 4) : place + 5]
        } - {row}
        away = {other: _pair(given, row, other) for other in around}
        assert len(set(near[row].tolist())) == 6
        assert [away[other] for other in near[row].tolist()] == pytest.approx(sorted(away.values())[:6], abs=1e-5)


def _pair(given: CodedTable, row: int, other: int) -> float:
    """As the charge of two records, but two missing numbers are near each other."""
    total = slow_charge(given, [row, other], WEIGHTS) / 2
    age = given.numbers[0].missing
    return total - WEIGHTS["age"] * bool(age is not None and age[row] and age[other])


def test_where_there_are_fewer_candidates_it_is_said() -> None:
    space = make_space("test", table(3), WEIGHTS)
    orders = np.arange(3, dtype=np.int32).reshape(1, 3)
    near = np.empty((3, 4), dtype=np.int32)

    find_near(Charge(space.loss, space.shares), space.points, orders, orders, 9, near, np.empty(4, dtype=np.float32))

    assert [sorted(row) for row in near.tolist()] == [[-1, -1, 1, 2], [-1, -1, 0, 2], [-1, -1, 0, 1]]


# --- All moves -----------------------------------------------------------------------------------------


def optimum(given: CodedTable, l: int) -> float:
    """The least charge of all divisions into classes of l different values, as an integer program."""
    codes, n = given.sensitive[0].codes, given.n_rows
    weights = {column.name: 1.0 for column in given.quasi}
    sets = [list(rows) for rows in combinations(range(n), l) if len(set(codes[list(rows)].tolist())) == l]
    charges = [slow_charge(given, rows, weights) for rows in sets]
    holds = np.zeros((n, len(sets)))
    for place, rows in enumerate(sets):
        holds[rows, place] = 1
    found = milp(
        charges, constraints=LinearConstraint(holds, 1, 1), integrality=np.ones(len(sets)), bounds=Bounds(0, 1)
    )
    return float(found.fun)


@pytest.mark.parametrize(("l", "n"), [(2, 20), (3, 15), (4, 12)])
def test_much_effort_is_near_the_optimum_of_small_patches(l: int, n: int) -> None:
    patches = [table(n, seed) for seed in range(4)]

    exact = [optimum(given, l) for given in patches]
    found = {
        effort: [
            total_charge(given, BSGI(l, effort=effort).group(given, RUN).partitions[0].class_of) for given in patches
        ]
        for effort in (0, 2000)
    }

    assert all(one >= least - 1e-5 for effort in found for one, least in zip(found[effort], exact, strict=True))
    assert sum(found[2000]) <= 1.01 * sum(exact)
    # The patches are hard enough to tell the two apart.
    assert sum(found[0]) > 1.03 * sum(exact)


def test_classes_are_the_same_for_any_number_of_threads_and_differ_by_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annealing, "_BLOCK", 40)
    given = table(240)

    one, two = (BSGI(3).group(given, GroupingRun(workers=n)).partitions[0].class_of for n in (1, 2))
    other = BSGI(3).group(given.only(np.arange(240)[::-1]), RUN).partitions[0].class_of[::-1]

    assert one.tolist() == two.tolist()
    assert len(set(zip(one.tolist(), other.tolist(), strict=True))) > len(set(one.tolist()))


@pytest.mark.parametrize("effort", [1, 7, 150])
@pytest.mark.parametrize("block", [30, 10_000])
def test_effort_never_loses_more_and_keeps_sizes_and_who_is_left_out(
    effort: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annealing, "_BLOCK", block)
    given = table(242, n_values=11)
    space = make_space("test", given, None)
    class_of = np.append(np.arange(240, dtype=np.int32) // 3, [-1, -1]).astype(np.int32)
    keys = np.column_stack([np.arange(242) % 3]).astype(np.int32)
    valid = annealing.Valid(keys, np.full((1, 1), -1, dtype=np.int32), (0,))

    found = annealing.anneal(space, valid, Partition(class_of, 80), effort, RUN)

    assert found.sizes.tolist() == [3] * 80
    assert np.flatnonzero(found.class_of < 0).tolist() == [240, 241]
    assert len(set(zip(found.class_of.tolist(), keys[:, 0].tolist(), strict=True))) >= 240
    assert total_charge(given, found.class_of) < total_charge(given, class_of)


def test_residual_records_join_the_classes_that_there_are_at_last() -> None:
    given = table(98)

    sizes = BSGI(4).group(given, RUN).partitions[0].sizes

    assert sorted(sizes.tolist()) == [4] * 22 + [5] * 2


def test_nothing_is_moved_where_nothing_can_be_won() -> None:
    alike = CodedTable((), table().sensitive)
    one = table(4)

    assert BSGI(4).group(alike, RUN).partitions[0].n_classes == N // 4
    assert BSGI(4).group(one, RUN).partitions[0].class_of.tolist() == [0] * 4


def test_weights_of_zero_leave_classes_valid() -> None:
    given = table()

    partition = BSGI(4, weights=dict.fromkeys(WEIGHTS, 0.0)).group(given, RUN).partitions[0]

    codes = given.sensitive[0].codes
    assert len(set(zip(partition.class_of.tolist(), codes.tolist(), strict=True))) == N


@pytest.mark.parametrize("given", [{"effort": 2**63}, {"effort": 1_000_001}, {"swaps": 20_001}], ids=str)
def test_effort_that_would_never_end_is_refused(given: dict[str, int]) -> None:
    with pytest.raises(ld.ParameterError, match="must be an integer from 0 to"):
        BSGI(4, **given)


# --- The former name -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("swaps", "moves"), [(0, 0), (1, 50), (3, 150)])
def test_swaps_is_read_as_effort(swaps: int, moves: int) -> None:
    method = BSGI(4, swaps=swaps)

    assert (method.moves, method.parameters()["effort"]) == (moves, moves)
    assert method == BSGI(4, effort=moves)
    assert method.at(3) == BSGI(3, effort=moves)
    assert BSGI.from_options({"l": 4, "swaps": swaps}) == method


def test_a_policy_that_names_swaps_is_read(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[table]\nquasi = ["age"]\n[method]\nname = "bsgi"\nl = 4\nswaps = 3\n[sensitive.disease]\n')
    former = ld.Publication.load(policy)

    assert former == ld.Publication(quasi="age", sensitive="disease", method=BSGI(4, effort=150))


@pytest.mark.parametrize(
    ("given", "said"), [({}, "effort 150, 4.5 million moves"), ({"effort": 0}, "(effort 0): on Adult")]
)
def test_plans_say_what_effort_costs_and_buys(given: dict[str, int], said: str) -> None:
    (note,) = BSGI(4, **given).plan_notes(30_000)

    assert said in note
    assert "1000 loses" in note
    assert BSGI(4, "paper").plan_notes(30_000) == ()
